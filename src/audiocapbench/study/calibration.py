"""What people would have given every model, from a judge of everything and ratings of a part."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from audiocapbench.data.opinions import Opinions
from audiocapbench.data.problems import Problem
from audiocapbench.errors import ReportError, did_you_mean, some
from audiocapbench.judges.aggregation import MAX_VALUE, OVERALL, overall
from audiocapbench.scores.compute import ALL, CATEGORY, GroupKey
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.table import RunTable, TableReader, labels
from audiocapbench.signature import Signature, sign
from audiocapbench.stats import Interval, predicted
from audiocapbench.stats.bootstrap import FloatArray
from audiocapbench.stats.multiple import Correction, corrected
from audiocapbench.stats.power import ALPHA
from audiocapbench.store import Store

SCALE = (0.0, MAX_VALUE)
_ADDS = 1.05
"""A judge that makes fewer than 5 % more of the ratings adds nothing worth saying."""
_LOPSIDED = 0.8
_ENOUGH_LOPSIDED = 100
Ratings = Mapping[str, Mapping[str, float]]
"""People's mean ratings by run (as they name it) and sample."""


class Bias(NamedTuple):
    """How far a judge is above people on the samples that both rated; None for too few."""

    group: str
    n: int
    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class CalibratedRun:
    """One model: as people rated it, as the judge did, and as people would have (``found``)."""

    label: str
    rated: int
    total: int
    people: float
    people_interval: Interval | None
    judge: float
    found: predicted.Calibrated
    correlation: float | None
    needed: int | None
    influence: Mapping[str, float]
    differences: Sequence[tuple[str, str, float]]  # category, family, judge less people


@dataclass(frozen=True, slots=True)
class Calibration:
    """A judge's scores, put right by people: runs best first, and pairs of them surely better."""

    scorer: Scorer
    runs: tuple[CalibratedRun, ...]
    better: tuple[tuple[int, int], ...]
    biases: tuple[Bias, ...]
    own_family: Bias | None
    signature: Signature
    notes: tuple[str, ...]

    @property
    def adds(self) -> bool | None:
        """Whether the judge is worth anything beside the ratings; None for too few to tell."""
        known = [one for one in self.runs if one.found.error is not None]
        rated = sum(one.rated for one in known)
        return sum(one.found.worth for one in known) >= _ADDS * rated if known else None


def calibrate_runs(
    store: Store,
    runs: Sequence[int],
    people: str,
    scorer: Scorer,
    *,
    dimension: str = OVERALL,
    scale: tuple[float, float] = SCALE,
    width: float | None = None,
    category: str | None = None,
    partly: bool = False,
) -> Calibration:
    """What people would have given the answers of each run, from ratings of a part.

    ``people`` is a file of ratings, or a rating project; ``dimension`` what of it a metric is put
    right by (a judge's is its own), ``scale`` the lowest and highest rating, ``width`` that of an
    interval; runs that nobody rated are left out if ``partly``, with a note.
    """
    reader = TableReader(store)
    tables = [reader.read(store.run(number)) for number in runs]
    if len({one.run.dataset for one in tables}) > 1:
        raise ReportError("the runs are of different data; calibrate those of one benchmark")
    if not scorer.is_mean:
        raise ReportError(f"{scorer.name} is a number of the whole corpus, not a mean")
    by, opinions, notes = scorer.dimension or dimension, store.ratings.opinions(people), list[str]()
    ratings = _mean_ratings(opinions, by, scale, notes)
    if len(tables) == 1 and set(ratings) == {""}:  # who is rated needs no saying
        ratings = {str(tables[0].run.id): ratings[""]}
    unrated = [one.run for one in tables if partly and not _names(one, ratings)]
    if len(unrated) < len(tables):
        tables = [one for one in tables if one.run not in unrated]
    notes += _unused(tables, scorer, ratings)
    if unrated:
        notes.append(f"Nobody rated {', '.join(f'{one.model} (run {one.id})' for one in unrated)}.")
    found = []
    for name, table in zip(labels([one.run for one in tables]), tables, strict=True):
        given = _ratings_of(table, tables, ratings)
        found.append(_calibrated(name, table, scorer, given, width, category, notes))
    ordered = tuple(sorted(found, key=lambda one: -one.found.value))
    judge = str(tables[0].signature(scorer))
    signature = sign("calibrated", judge=judge, by=by, ratings=opinions.digest, how="ppi++")
    if category:
        signature = signature.with_fields(category=category)
    differences = [one for run in found for one in run.differences]
    biases, own = _biases(differences, scorer) if scorer.judge else ((), None)
    return Calibration(scorer, ordered, _better(ordered), biases, own, signature, tuple(notes))


def _mean_ratings(
    people: Opinions, dimension: str, scale: tuple[float, float], notes: list[str]
) -> Ratings:
    """Ratings on the judge's scale; ``overall`` is what people call so, or their mean over all."""
    low, high = scale
    problems: list[Problem] = []
    rows: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    known = people.numbers(low, high, f" from {low:g} to {high:g}")
    for one, value in known:
        given, name = rows[one.run, one.item, one.person], one.dimension or OVERALL
        if not one.item:
            problems.append(Problem(one.where, "item", "is missing"))
        elif name in given:
            who = f" by {one.person}" if one.person else ""
            problems.append(Problem(one.where, "item", f"{one.item} is rated twice{who}"))
        given[name] = (value - low) / (high - low) * MAX_VALUE
    people.refuse(problems)
    dimensions = {name for given in rows.values() for name in given}
    if dimension not in {OVERALL, *dimensions}:
        near = did_you_mean(dimension, dimensions)
        raise ReportError(f"{people.source}: nobody rated {dimension!r}{near}")
    means: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    partial = 0
    for (run, item, _), given in rows.items():
        if dimension in given:
            means[run][item].append(given[dimension])
        elif dimension == OVERALL and set(given) == dimensions - {OVERALL}:
            means[run][item].append(overall(given))
        else:
            partial += 1
    numbers = [value for _, value in known]
    if partial:
        notes.append(f"Ratings that do not give all of {dimension} are not used: {partial:,}.")
    if scale == SCALE and max(numbers) <= MAX_VALUE / 2:
        reach = f"{min(numbers):g} to {max(numbers):g}"
        notes.append(f"The ratings reach from {reach}: if that is their scale, say so, as 1:5.")
    return {
        run: {item: float(np.mean(each)) for item, each in items.items()}
        for run, items in means.items()
    }


def _ratings_of(
    table: RunTable, tables: Sequence[RunTable], ratings: Ratings
) -> Mapping[str, float]:
    run, known = table.run, _names(table, ratings)
    alike = [str(one.run.id) for one in tables if known and _names(one, ratings) == known]
    if len(known) > 1 or len(alike) > 1:
        whose = f"ratings of {', '.join(known)} may be of runs {', '.join(alike)}"
        raise ReportError(f"{whose}; a rating is of one answer: name runs by number")
    if not known:
        near = did_you_mean(run.model, [key for key in ratings if key], "it has")
        raise ReportError(f"the ratings have none of run {run.id} ({run.model}){near}")
    return ratings[known[0]]


def _unused(tables: Sequence[RunTable], scorer: Scorer, ratings: Ratings) -> Iterator[str]:
    known = {name: table for table in tables for name in _names(table, ratings)}
    others = {name or "no model": own for name, own in ratings.items() if name not in known}
    unscored = sum(
        key not in table.sample_scores(scorer).values
        for name, table in known.items()
        for key in ratings[name]
    )
    for of, count in (
        (", ".join(others), sum(map(len, others.values()))),
        (f"answers without {scorer.label}", unscored),
    ):
        if count:
            yield f"Ratings that are of {of} are not used: {count:,}."


def _names(table: RunTable, ratings: Ratings) -> list[str]:
    run = table.run
    return [key for key in (str(run.id), run.name, run.model) if key and key in ratings]


def _calibrated(
    name: str,
    table: RunTable,
    scorer: Scorer,
    given: Mapping[str, float],
    width: float | None,
    category: str | None,
    notes: list[str],
) -> CalibratedRun:
    if category and category not in table.categories:
        there = did_you_mean(category, table.categories, "it has")
        raise ReportError(f"{table.run.benchmark} has no category {category!r}{there}")
    group = table.group(scorer, GroupKey(CATEGORY, category) if category else ALL)
    if group.aggregation is not None or group.clusters is not None:
        why = "clips have several samples, or corpora have weights; calibrate one --category"
        raise ReportError(f"run {table.run.id}: {why}")
    scores = table.sample_scores(scorer).values
    samples = {one.id: one for one in group.samples}
    if not scores:
        table.current_judgements(scorer.name)
        raise ReportError(f"run {table.run.id} has no score of {scorer.label}")
    if strange := [key for key in given if key not in table.run.sample_ids]:
        raise ReportError(f"run {table.run.id} has no sample {some(strange)}, which people rated")
    rated = [key for key in samples if key in given and key in scores]
    others = [key for key in samples if key not in given and key in scores]
    if not rated:
        raise ReportError(f"run {table.run.id} has no sample that people rated and {scorer.label}")
    people = np.array([given[key] for key in rated])
    judged, rest = (np.array([scores[key] for key in keys]) for keys in (rated, others))
    found = predicted.calibrated_mean(people, judged, rest)
    notes += [f"{name}: {one}" for one in _warnings(found, people, judged, rest)]
    total = len(rated) + len(others)
    mean, by_judge = float(people.mean()), float(np.concatenate([judged, rest]).mean())
    varies = len(rated) > 2 and people.std() > 0 and judged.std() > 0
    correlation = float(np.corrcoef(people, judged)[0, 1]) if varies else None
    alone = needed = None
    if found.plain_error is not None:
        alone = predicted.around(mean, found.plain_error, len(rated) - 1)
        if width:
            needed = predicted.ratings_needed(
                float(people.std(ddof=1)), correlation or 0.0, total, width
            )
    clips, moved = dict(zip(samples, group.clips, strict=True)), found.influence.tolist()
    influence = {clips[key]: one for key, one in zip((*rated, *others), moved, strict=True)}
    family = family_of(table.run.model)
    off = [(samples[key].category, family, scores[key] - given[key]) for key in rated]
    means = (mean, alone, by_judge, found, correlation, needed)
    return CalibratedRun(name, len(rated), total, *means, influence, off)


def _warnings(
    found: predicted.Calibrated, people: FloatArray, judged: FloatArray, rest: FloatArray
) -> Iterator[str]:
    most = max(np.unique(people, return_counts=True)[1]) / len(people)
    if found.interval is None:
        few = f"an interval takes {predicted.FEWEST_RATED} ratings"
        why = few if len(people) < predicted.FEWEST_RATED else "all its ratings are the same"
        yield f"no interval; {why}."
    elif most > _LOPSIDED and len(people) < _ENOUGH_LOPSIDED:
        yield f"{most:.0%} of the ratings are the same; of so few the interval is too narrow."
    if len(people) < 2 or len(rest) < 2:
        return
    spread = np.sqrt(judged.var(ddof=1) / len(judged) + rest.var(ddof=1) / len(rest))
    if (
        spread > 0
        and abs(judged.mean() - rest.mean()) > predicted.student(len(judged) - 1, 0.99) * spread
    ):
        given = f"the judge gives it {judged.mean():.2f}, and the rest {rest.mean():.2f}"
        yield f"what people rated is not like a random part: {given}."


def _better(runs: Sequence[CalibratedRun]) -> tuple[tuple[int, int], ...]:
    """Pairs of which the first is surely better; what clips share is counted once, by Holm."""
    from scipy.special import stdtr

    known = [place for place, one in enumerate(runs) if one.found.error is not None]
    pairs, values = list(combinations(known, 2)), []
    for first, second in ((runs[one], runs[other]) for one, other in pairs):
        a, b = first.influence, second.influence
        error = np.sqrt(sum((a.get(key, 0.0) - b.get(key, 0.0)) ** 2 for key in {*a, *b}))
        difference = first.found.value - second.found.value
        freedom = min(first.rated, second.rated) - 2
        p = 2 * float(stdtr(freedom, -difference / error)) if error else float(difference == 0)
        values.append(p)
    adjusted = corrected(np.array(values, dtype=np.float64), Correction.HOLM)
    return tuple(pair for pair, p in zip(pairs, adjusted.tolist(), strict=True) if p < ALPHA)


def _biases(
    differences: Sequence[tuple[str, str, float]], scorer: Scorer
) -> tuple[tuple[Bias, ...], Bias | None]:
    """How far the judge is above people: in all, by category and family; and on its own family."""

    def bias(group: str, values: Sequence[float]) -> Bias:
        n, value = len(values), float(np.mean(values))
        error = float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else None
        return Bias(
            group, n, value, None if error is None else predicted.around(value, error, n - 1)
        )

    found = [bias("all", [off for _, _, off in differences])]
    for place, kind in enumerate(("category", "family")):
        groups: dict[str, list[float]] = defaultdict(list)
        for one in differences:
            groups[str(one[place])].append(one[2])
        if len(groups) > 1:
            found += [bias(f"{kind} {name}", values) for name, values in groups.items()]
    family = family_of(scorer.name)
    mine = np.array([off for _, whose, off in differences if whose == family])
    theirs = np.array([off for _, whose, off in differences if whose != family])
    if len(mine) < 2 or len(theirs) < 2:
        return tuple(found), None
    error = float(np.sqrt(mine.var(ddof=1) / len(mine) + theirs.var(ddof=1) / len(theirs)))
    value = float(mine.mean() - theirs.mean())
    reach = predicted.around(value, error, min(len(mine), len(theirs)) - 1)
    return tuple(found), Bias(family, len(mine), value, reach)


def family_of(name: str) -> str:
    """Whose model it is: ``openai`` for ``openai-realtime/gpt-realtime``."""
    return name.partition("/")[0].partition("-")[0]
