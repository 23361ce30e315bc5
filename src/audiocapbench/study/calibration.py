"""What people would have given every model, from a judge of everything and ratings of a part."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import read_records, renamed
from audiocapbench.data.tables import IDS
from audiocapbench.errors import ReportError, meant
from audiocapbench.judges.aggregation import MAX_VALUE, OVERALL, overall
from audiocapbench.scores.groups import ALL, CATEGORY, GroupKey
from audiocapbench.scores.run_table import RunTable, TableReader, labels
from audiocapbench.scores.scorer import Scorer
from audiocapbench.signature import Signature, sign
from audiocapbench.stats import Interval
from audiocapbench.stats.multiple import Correction, corrected
from audiocapbench.stats.power import ALPHA
from audiocapbench.stats.predicted import Calibrated, calibrated_mean, ratings_needed, student
from audiocapbench.stats.units import FloatArray
from audiocapbench.store import Store

NAMES = {
    "item": ("item", "sample", *IDS),
    "run": ("run", "model", "system"),
    "person": ("person", "rater", "annotator"),
    "dimension": ("dimension", "criterion", "aspect"),
    "value": ("value", "rating", "score"),
}
SCALE = (0.0, MAX_VALUE)
_ADDS = 1.05
"""A judge that makes fewer than 5 % more of the ratings adds nothing worth saying."""
_LOPSIDED = 0.8
_ENOUGH_LOPSIDED = 100


class Ratings(NamedTuple):
    """People's ratings by run (as the file names it) and sample, each the mean over people.

    Attributes:
        people: How many persons there are; 0 where the file does not say.
        given: How many ratings the file has.
        lowest: The lowest rating as given, and ``highest`` the highest.
    """

    values: Mapping[str, Mapping[str, float]]
    people: int
    given: int
    lowest: float
    highest: float
    digest: str


class CalibrationOptions(TypedDict, total=False):
    """How runs are calibrated.

    Attributes:
        scale: The lowest and the highest rating that there is.
        width: How wide an interval is wanted.
        category: Only samples of this category.
        partly: Whether runs that nobody rated are left out, with a note.
    """

    scale: tuple[float, float]
    width: float | None
    category: str | None
    partly: bool


class Bias(NamedTuple):
    """How far a judge is above people on the samples that both rated; None for too few."""

    group: str
    n: int
    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class CalibratedRun:
    """One model: as people rated it, as the judge did, and as people would have.

    Attributes:
        rated: Samples that people rated and the judge has scored; ``total`` are all it scored.
        unjudged: Samples that people rated and that have no score.
        people: The mean of the ratings alone.
        judge: The judge's mean over everything.
        correlation: Of the two on the rated samples; None where one of them does not vary.
        needed: Ratings in all for the wanted width; None where rating all would not do.
    """

    label: str
    run: int
    rated: int
    total: int
    unjudged: int
    people: float
    people_interval: Interval | None
    judge: float
    found: Calibrated
    correlation: float | None
    needed: int | None
    family: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """A judge's scores, put right by people.

    Attributes:
        runs: Best first.
        better: Pairs of places in ``runs``, the first surely better.
        biases: By category and by family of models; empty for a metric, which has another scale.
    """

    scorer: Scorer
    dimension: str
    runs: tuple[CalibratedRun, ...]
    better: tuple[tuple[int, int], ...]
    biases: tuple[Bias, ...]
    own_family: Bias | None
    signature: Signature
    notes: tuple[str, ...]

    @property
    def adds(self) -> bool:
        """Whether the judge is worth anything beside the ratings."""
        rated = sum(one.rated for one in self.runs)
        return sum(one.found.worth for one in self.runs) >= _ADDS * rated


def read_ratings(path: Path, dimension: str, scale: tuple[float, float] = SCALE) -> Ratings:
    """Ratings of a file with item, value and, where there are several, run, person and dimension.

    Values are put on the judge's scale. ``overall`` is what the file calls so, or each person's
    mean over the dimensions.

    Raises:
        InvalidDataError: What is wrong, line by line.
        ReportError: Nobody rated that dimension.
    """
    problems: list[Problem] = []
    rows: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    people, values, dimensions = set[str](), list[float](), set[str]()
    low, high = scale
    for where, fields in read_records(path, problems, (NAMES["item"], NAMES["value"])):
        row = renamed(fields, NAMES)
        value, item = _number(row.get("value")), str(row.get("item") or "")
        if not low <= value <= high:
            said = f"is {row.get('value')!r:.40}, no number from {low:g} to {high:g}"
            problems.append(Problem(where, "value", said))
            continue
        if not item:
            problems.append(Problem(where, "item", "is missing"))
            continue
        person, name = str(row.get("person") or ""), str(row.get("dimension") or OVERALL)
        key = str(row.get("run") or ""), item, person
        if name in rows[key]:
            who = f" by {person}" if person else ""
            problems.append(Problem(where, "item", f"{item} is rated twice{who}"))
            continue
        rows[key][name] = (value - low) / (high - low) * MAX_VALUE
        people.add(person)
        values.append(value)
        dimensions.add(name)
    if problems or not rows:
        raise InvalidDataError(path, problems or [Problem(path.name, "", "holds no ratings")])
    if dimension not in {OVERALL, *dimensions}:
        raise ReportError(f"{path.name}: nobody rated {dimension!r}{meant(dimension, dimensions)}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    count = len(people - {""})
    return Ratings(
        _means(rows, dimension, dimensions), count, len(values), min(values), max(values), digest
    )


def _number(given: object) -> float:
    try:
        return float(str(given))
    except ValueError:
        return float("nan")


def _means(
    rows: Mapping[tuple[str, str, str], Mapping[str, float]],
    dimension: str,
    dimensions: set[str],
) -> dict[str, dict[str, float]]:
    whole = dimensions - {OVERALL}
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (run, item, _), given in rows.items():
        if dimension in given:
            found[run, item].append(given[dimension])
        elif dimension == OVERALL and set(given) == whole:
            found[run, item].append(overall(given))
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for (run, item), each in found.items():
        values[run][item] = float(np.mean(each))
    return values


def calibrate(
    tables: Sequence[RunTable],
    scorer: Scorer,
    ratings: Ratings,
    *,
    width: float | None = None,
    category: str | None = None,
) -> Calibration:
    """What people would have given the answers of each run.

    Args:
        tables: The runs, all of one benchmark.
        scorer: One dimension of a judge, or a metric that is a mean over samples.
        width: How wide an interval is wanted.
        category: Only samples of this category.

    Raises:
        ReportError: The ratings are of other runs or samples, or the scores are no plain mean.
    """
    names, notes = labels(tables), list[str]()
    runs, influences, pairs = [], [], list[_RatedSample]()
    for name, table in zip(names, tables, strict=True):
        given = _ratings_of(table, tables, ratings)
        found, influence, rated = _calibrated(name, table, scorer, given, width, category, notes)
        runs.append(found)
        influences.append(influence)
        pairs += rated
    order = sorted(range(len(runs)), key=lambda place: -runs[place].found.value)
    better = _better([runs[place] for place in order], [influences[place] for place in order])
    signature = sign(
        "calibrated",
        judge=str(tables[0].signature(scorer)),
        by=scorer.dimension or "",
        ratings=ratings.digest,
        how="ppi++",
    )
    if category:
        signature = signature.with_fields(category=category)
    biases, own = _biases(pairs, scorer) if scorer.judge else ((), None)
    return Calibration(
        scorer,
        scorer.dimension or OVERALL,
        tuple(runs[place] for place in order),
        better,
        biases,
        own,
        signature,
        tuple(notes),
    )


def calibrate_runs(
    store: Store, runs: Sequence[int], path: Path, scorer: Scorer, **how: Unpack[CalibrationOptions]
) -> Calibration:
    """``calibrate`` runs of a store by a file of ratings."""
    reader = TableReader(store)
    tables = [reader.read(store.run(number)) for number in runs]
    if len({one.run.dataset for one in tables}) > 1:
        raise ReportError("the runs are of different data; calibrate those of one benchmark")
    if not scorer.is_mean:
        raise ReportError(f"{scorer.name} is a number of the whole corpus, not a mean")
    scale = how.get("scale", SCALE)
    ratings = read_ratings(path, scorer.dimension or OVERALL, scale)
    unrated = [one.run for one in tables if how.get("partly") and not _names(one, ratings)]
    if len(unrated) < len(tables):
        tables = [one for one in tables if one.run not in unrated]
    width, category = how.get("width"), how.get("category")
    found = calibrate(tables, scorer, ratings, width=width, category=category)
    if scale == SCALE and ratings.highest <= MAX_VALUE / 2:
        low, high = ratings.lowest, ratings.highest
        said = (
            f"The ratings reach from {low:g} to {high:g}: if that is their scale, say so, as 1:5."
        )
        found = replace(found, notes=(said, *found.notes))
    if unrated:
        names = ", ".join(f"{run.model} (run {run.id})" for run in unrated)
        found = replace(found, notes=(*found.notes, f"Nobody rated {names}."))
    return found


def _ratings_of(
    table: RunTable, tables: Sequence[RunTable], ratings: Ratings
) -> Mapping[str, float]:
    run, values, known = table.run, ratings.values, _names(table, ratings)
    alike = [str(one.run.id) for one in tables if known and _names(one, ratings) == known]
    if len(known) > 1 or len(alike) > 1:
        raise ReportError(
            f"ratings of {', '.join(known)} may be of runs {', '.join(alike)}: a rating is of one "
            "answer; let the file name runs by number, each in one way"
        )
    if known:
        return values[known[0]]
    if len(tables) == 1 and set(values) == {""}:
        return values[""]
    near = meant(run.model, [key for key in values if key], "it has")
    raise ReportError(f"the ratings have none of run {run.id} ({run.model}){near}")


def _names(table: RunTable, ratings: Ratings) -> list[str]:
    """What the ratings call a run; nothing where nobody rated it."""
    run = table.run
    return [key for key in (str(run.id), run.name, run.model) if key and key in ratings.values]


class _RatedSample(NamedTuple):
    category: str
    family: str
    difference: float


def _calibrated(
    name: str,
    table: RunTable,
    scorer: Scorer,
    given: Mapping[str, float],
    width: float | None,
    category: str | None,
    notes: list[str],
) -> tuple[CalibratedRun, dict[str, float], list[_RatedSample]]:
    group = table.group(scorer, GroupKey(CATEGORY, category) if category else ALL)
    if group.aggregation is not None or group.clusters is not None:
        raise ReportError(
            f"run {table.run.id}: clips have several samples, or corpora have weights; "
            "calibrate one category of it with --category"
        )
    scores = table.sample_scores(scorer).values
    samples = {one.id: one for one in group.samples}
    if not scores:
        table.current_judgements(scorer.name)
        raise ReportError(f"run {table.run.id} has no score of {scorer.label}")
    strange = [key for key in given if key not in table.run.sample_ids]
    if strange:
        shown = ", ".join(strange[:3])
        raise ReportError(f"run {table.run.id} has no sample {shown}; {len(strange):,} are unknown")
    rated = [key for key in samples if key in given and key in scores]
    others = [key for key in samples if key not in given and key in scores]
    if not rated:
        raise ReportError(f"run {table.run.id} has no sample that people rated and {scorer.label}")
    unjudged = sum(key in samples and key not in scores for key in given)
    people = np.array([given[key] for key in rated])
    judged, rest = (np.array([scores[key] for key in keys]) for keys in (rated, others))
    found = calibrated_mean(people, judged, rest)
    _warn(name, people, judged, rest, notes)
    total = len(rated) + len(others)
    plain = found.plain_error
    reach = student(len(rated) - 1) * plain if plain is not None else 0.0
    mean = float(people.mean())
    varies = len(rated) > 2 and people.std() > 0 and judged.std() > 0
    correlation = float(np.corrcoef(people, judged)[0, 1]) if varies else None
    needed = None
    if width and len(rated) > 1:
        needed = ratings_needed(float(people.std(ddof=1)), correlation or 0.0, total, width)
    family = family_of(table.run.model)
    run = CalibratedRun(
        name,
        table.run.id,
        len(rated),
        total,
        unjudged,
        mean,
        Interval(mean - reach, mean + reach) if plain is not None else None,
        float(np.concatenate([judged, rest]).mean()),
        found,
        correlation,
        needed,
        family,
    )
    clips = dict(zip(samples, group.clips, strict=True))
    moved = found.influence.tolist()
    influence = {clips[key]: one for key, one in zip((*rated, *others), moved, strict=True)}
    differences = [
        _RatedSample(samples[key].category, family, scores[key] - given[key]) for key in rated
    ]
    return run, influence, differences


def _warn(
    name: str, people: FloatArray, judged: FloatArray, rest: FloatArray, notes: list[str]
) -> None:
    most = max(np.unique(people, return_counts=True)[1]) / len(people)
    if most > _LOPSIDED and len(people) < _ENOUGH_LOPSIDED:
        notes.append(
            f"{name}: {most:.0%} of the ratings are the same; of so few the interval is too narrow."
        )
    if len(people) < 2 or len(rest) < 2:
        return
    spread = np.sqrt(judged.var(ddof=1) / len(judged) + rest.var(ddof=1) / len(rest))
    if spread > 0 and abs(judged.mean() - rest.mean()) > student(len(judged) - 1, 0.99) * spread:
        notes.append(
            f"{name}: what people rated is not like a random part: the judge gives it "
            f"{judged.mean():.2f}, and the rest {rest.mean():.2f}."
        )


def _better(
    runs: Sequence[CalibratedRun], influences: Sequence[Mapping[str, float]]
) -> tuple[tuple[int, int], ...]:
    """Pairs of which the first is surely better; what clips share is counted once, by Holm."""
    from scipy.special import stdtr

    pairs, values = [], []
    for one, two in combinations(range(len(runs)), 2):
        first, second = runs[one], runs[two]
        if first.found.error is None or second.found.error is None:
            continue
        a, b = influences[one], influences[two]
        error = np.sqrt(sum((a.get(key, 0.0) - b.get(key, 0.0)) ** 2 for key in {*a, *b}))
        difference = first.found.value - second.found.value
        freedom = min(first.rated, second.rated) - 2
        pairs.append((one, two))
        values.append(
            2 * float(stdtr(freedom, -difference / error)) if error else float(difference == 0)
        )
    adjusted = corrected(np.array(values, dtype=np.float64), Correction.HOLM)
    return tuple(pair for pair, p in zip(pairs, adjusted.tolist(), strict=True) if p < ALPHA)


def _biases(pairs: Iterable[_RatedSample], scorer: Scorer) -> tuple[tuple[Bias, ...], Bias | None]:
    """How far the judge is above people: in all, by category and family; and on its own family."""
    every = list(pairs)
    groups: dict[str, list[float]] = {"all": [one.difference for one in every]}
    for kind in ("category", "family"):
        names = dict.fromkeys(getattr(one, kind) for one in every)
        if len(names) > 1:
            groups |= {
                f"{kind} {name}": [one.difference for one in every if getattr(one, kind) == name]
                for name in names
            }
    found = tuple(_bias(name, np.array(values)) for name, values in groups.items())
    own = family_of(scorer.name)
    mine, theirs = (
        np.array([one.difference for one in every if (one.family == own) is same])
        for same in (True, False)
    )
    if len(mine) < 2 or len(theirs) < 2:
        return found, None
    error = float(np.sqrt(mine.var(ddof=1) / len(mine) + theirs.var(ddof=1) / len(theirs)))
    value = float(mine.mean() - theirs.mean())
    reach = student(min(len(mine), len(theirs)) - 1) * error
    return found, Bias(own, len(mine), value, Interval(value - reach, value + reach))


def _bias(group: str, values: FloatArray) -> Bias:
    value = float(values.mean())
    if len(values) < 2:
        return Bias(group, len(values), value, None)
    reach = student(len(values) - 1) * float(values.std(ddof=1)) / np.sqrt(len(values))
    return Bias(group, len(values), value, Interval(value - reach, value + reach))


def family_of(name: str) -> str:
    """Whose model it is: ``openai`` for ``openai-realtime/gpt-realtime``."""
    return name.partition("/")[0].partition("-")[0]
