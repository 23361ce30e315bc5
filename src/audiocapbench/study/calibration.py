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
from audiocapbench.judges.aggregation import MAX_VALUE, OVERALL
from audiocapbench.scores.compute import ALL, CATEGORY, GroupKey
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.table import RunTable, TableReader, labels
from audiocapbench.signature import Signature, sign
from audiocapbench.stats import Interval, predicted
from audiocapbench.stats.multiple import Correction, corrected
from audiocapbench.stats.power import ALPHA
from audiocapbench.stats.units import student
from audiocapbench.store import Run, Store
from audiocapbench.store.records import overall_of
from audiocapbench.study.choice import choose, strata_of

SCALE = (0.0, MAX_VALUE)
_ADDS = 1.05
"""A judge that makes fewer than 5 % more of the ratings adds nothing worth saying."""
_RANDOM = 0.01  # so often is a random part taken for none, over all tests of a calibration
OneRun = Mapping[tuple[str, str], float]  # ratings by person and sample
Ratings = Mapping[str, OneRun]  # by run, as people name it
_Answers = tuple[Mapping[str, float], Mapping[str, str]]


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
    ratings: int
    rated: int
    total: int
    chosen: bool  # what was rated, by 'next_answers'
    people: predicted.Calibrated
    judge: float
    found: predicted.Calibrated
    correlation: float | None
    needed: int | None
    off: Mapping[tuple[str, str], float]  # judge less people, by person and answer
    groups: Mapping[str, tuple[str, str]]  # category and family of an answer


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
        known = [(one.found.worth, one.ratings) for one in self.runs if one.found.worth is not None]
        worth, ratings = (sum(each) for each in zip(*known, strict=True)) if known else (0, 0)
        return worth >= _ADDS * ratings if known else None


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
    tables = _tables(store, runs, scorer)
    by, opinions, notes = scorer.dimension or dimension, store.ratings.opinions(people), list[str]()
    if len(tables) == 1 and not any(one.run for one in opinions.opinions):
        of = str(tables[0].run.id)  # who is rated needs no saying
        opinions = opinions._replace(opinions=[one._replace(run=of) for one in opinions.opinions])
    ratings = _read_ratings(opinions, by, scale, notes)
    unrated = [one.run for one in tables if partly and not _names(one, ratings)]
    if len(unrated) < len(tables):
        tables = [one for one in tables if one.run not in unrated]
    notes += _unused(tables, scorer, ratings)
    if unrated:
        notes.append(f"Nobody rated {', '.join(f'{one.model} (run {one.id})' for one in unrated)}.")
    calibrated, rate = [], _RANDOM / len(tables)
    for label, table in zip(labels([one.run for one in tables]), tables, strict=True):
        key, known = _name_of(table, tables, ratings), _answers(table, scorer, category)
        chosen = {one.item: one.chosen for one in opinions.opinions if one.run == key}
        calibrated.append(_calibrated(label, table.run, known, ratings[key], chosen, width))
        notes += [f"{label}: {one}" for one in _warnings(calibrated[-1], known, ratings[key], rate)]
    ordered = tuple(sorted(calibrated, key=lambda one: -one.found.value))
    judge = str(tables[0].signature(scorer))
    how = "ppi++ crossed strata" if any(one.chosen for one in calibrated) else "ppi++ crossed"
    signature = sign("calibrated", judge=judge, by=by, ratings=opinions.digest, how=how)
    if category:
        signature = signature.with_fields(category=category)
    biases, own = _biases(calibrated, scorer) if scorer.judge else ((), None)
    return Calibration(scorer, ordered, _better(ordered), biases, own, signature, tuple(notes))


def next_answers(
    store: Store, runs: Sequence[int], scorer: Scorer, count: int, category: str | None, seed: int
) -> list[dict[str, object]]:
    """Rows of so many answers of each run that people should rate, with room for what they say."""
    rows: list[dict[str, object]] = []
    for table in _tables(store, runs, scorer):
        scores, categories = _answers(table, scorer, category)
        for key, said in choose(table.run, scores, categories, count, seed).items():
            about = {"item": key, "run": table.run.id, "category": categories[key]}
            rows.append(about | {"person": "", "value": "", "chosen": said})
    return rows


def _tables(store: Store, runs: Sequence[int], scorer: Scorer) -> list[RunTable]:
    reader = TableReader(store)
    tables = [reader.read(store.run(number)) for number in runs]
    if len({one.run.dataset for one in tables}) > 1:
        raise ReportError("the runs are of different data; calibrate those of one benchmark")
    if not scorer.is_mean:
        raise ReportError(f"{scorer.name} is a number of the whole corpus, not a mean")
    return tables


def _read_ratings(
    people: Opinions, dimension: str, scale: tuple[float, float], notes: list[str]
) -> Ratings:
    """Ratings on the judge's scale; ``overall`` is what people call so, or their mean over all."""
    low, high = scale
    problems: list[Problem] = []
    rows: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    known = people.numbers(low, high, f" from {low:g} to {high:g}")
    notes += (f"{people.source}: {note}." for note in people.notes)
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
    ratings: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    partial = 0
    for (run, item, person), given in rows.items():
        if dimension in given:
            ratings[run][person, item] = given[dimension]
        elif dimension == OVERALL and set(given) == dimensions - {OVERALL}:
            ratings[run][person, item] = overall_of(given)
        else:
            partial += 1
    numbers = [value for _, value in known]
    if partial:
        notes.append(f"Ratings that do not give all of {dimension} are not used: {partial:,}.")
    if scale == SCALE and max(numbers) <= MAX_VALUE / 2:
        reach = f"{min(numbers):g} to {max(numbers):g}"
        notes.append(f"The ratings reach from {reach}: if that is their scale, say so, as 1:5.")
    return ratings


def _name_of(table: RunTable, tables: Sequence[RunTable], ratings: Ratings) -> str:
    run, known = table.run, _names(table, ratings)
    alike = [str(one.run.id) for one in tables if known and _names(one, ratings) == known]
    if len(known) > 1 or len(alike) > 1:
        whose = f"ratings of {', '.join(known)} may be of runs {', '.join(alike)}"
        raise ReportError(f"{whose}; a rating is of one answer: name runs by number")
    if not known:
        near = did_you_mean(run.model, [key for key in ratings if key], "it has")
        raise ReportError(f"the ratings have none of run {run.id} ({run.model}){near}")
    return known[0]


def _unused(tables: Sequence[RunTable], scorer: Scorer, ratings: Ratings) -> Iterator[str]:
    known = {name: table for table in tables for name in _names(table, ratings)}
    others = {name or "no model": own for name, own in ratings.items() if name not in known}
    rated = ((table, key) for name, table in known.items() for _, key in ratings[name])
    unscored = sum(key not in table.sample_scores(scorer).values for table, key in rated)
    for of, count in (
        (", ".join(others), sum(map(len, others.values()))),
        (f"answers without {scorer.label}", unscored),
    ):
        if count:
            yield f"Ratings that are of {of} are not used: {count:,}."


def _names(table: RunTable, ratings: Ratings) -> list[str]:
    run = table.run
    return [key for key in (str(run.id), run.name, run.model) if key and key in ratings]


def _answers(table: RunTable, scorer: Scorer, category: str | None) -> _Answers:
    """The judge's scores of a run, and categories of what has one, by sample."""
    if category and category not in table.categories:
        there = did_you_mean(category, table.categories, "it has")
        raise ReportError(f"{table.run.benchmark} has no category {category!r}{there}")
    group = table.group(scorer, GroupKey(CATEGORY, category) if category else ALL)
    if group.aggregation is not None or group.clusters is not None:
        why = "clips have several samples, or corpora have weights; calibrate one --category"
        raise ReportError(f"run {table.run.id}: {why}")
    known = table.sample_scores(scorer).values
    if not known:
        table.current_judgements(scorer.name)
        raise ReportError(f"run {table.run.id} has no score of {scorer.label}")
    categories = {one.id: one.category for one in group.samples if one.id in known}
    return {key: known[key] for key in categories}, categories


def _calibrated(
    name: str, run: Run, known: _Answers, given: OneRun, said: dict[str, str], width: float | None
) -> CalibratedRun:
    scores, categories = known
    if strange := [key for _, key in given if key not in run.sample_ids]:
        raise ReportError(f"run {run.id} has no sample {some(strange)}, which people rated")
    ratings = {key: value for key, value in given.items() if key[1] in scores}
    if not ratings:
        raise ReportError(f"run {run.id} has no sample with a score that people rated")
    rated = dict.fromkeys(key for _, key in ratings)
    strata = strata_of(run, {key: said[key] for key in rated}, len(scores))
    plain, tuned_mean = (
        predicted.calibrated_mean(ratings, scores, bounds=SCALE, strata=strata, tuned=tuned)
        for tuned in (False, True)
    )
    people, judged = np.array([(value, scores[key]) for (_, key), value in ratings.items()]).T
    varies = len(people) > 2 and people.std() > 0 and judged.std() > 0
    most, family = len(ratings) * len(scores) // len(rated), family_of(run.model)
    counts = len(ratings), len(rated), len(scores)
    return CalibratedRun(
        *(name, *counts, strata is not None, plain, float(np.mean([*scores.values()]))),
        tuned_mean,
        float(np.corrcoef(people, judged)[0, 1]) if varies else None,
        predicted.ratings_needed(tuned_mean, len(ratings), most, width) if width else None,
        {(who, f"{name}/{key}"): scores[key] - one for (who, key), one in ratings.items()},
        {f"{name}/{key}": (categories[key], family) for key in rated},
    )


def _warnings(one: CalibratedRun, known: _Answers, given: OneRun, rate: float) -> Iterator[str]:
    few = predicted.FEWEST_PEOPLE
    if one.found.interval is not None:
        pass
    elif one.rated < predicted.FEWEST_RATED:
        yield f"no interval; an interval takes {predicted.FEWEST_RATED} rated answers."
    elif len({*given.values()}) == 1:
        yield "no interval; all its ratings are the same."
    elif any(not who for who, _ in given):
        yield f"no interval; it takes {few} people: add a column person, who gave each rating."
    else:
        by = "1 person" if one.found.people == 1 else f"{one.found.people} people"
        yield f"rated by {by}: no interval, it takes {few}."
    if one.chosen:
        return
    (scores, categories), rated = known, {key for _, key in given}
    part = np.array([key in rated for key in scores])
    kinds, names = np.array([*categories.values()]), [*dict.fromkeys(categories.values())]
    features = np.column_stack([[*scores.values()], *(kinds == name for name in names)])
    p, far = predicted.unlike_part(features, part)
    if p < rate:
        mine, every = features[part, far].mean(), features[:, far].mean()
        how = f"the judge gives it {mine:.2f}, and all {every:.2f}"
        if far:
            how = f"{mine:.0%} of it is {names[far - 1]}, and {every:.0%} of all"
        often = f"a random part is called so in {_RANDOM:.0%} of calibrations"
        yield f"what people rated is not like a random part: {how} (p = {p:.2g}; {often})."


def _better(runs: Sequence[CalibratedRun]) -> tuple[tuple[int, int], ...]:
    """Pairs of which the first is surely better; what people and clips share counts once; Holm."""
    known = [place for place, one in enumerate(runs) if one.found.error is not None]
    pairs = list(combinations(known, 2))
    values = [_difference(runs[one].found, runs[other].found)[1] for one, other in pairs]
    adjusted = corrected(np.array(values, dtype=np.float64), Correction.HOLM)
    return tuple(pair for pair, p in zip(pairs, adjusted.tolist(), strict=True) if p < ALPHA)


def _difference(one: predicted.Calibrated, two: predicted.Calibrated) -> tuple[Interval, float]:
    """The interval of a difference, and its p-value."""
    from scipy.special import stdtr

    error = float(np.sqrt(sum(one.influence.less(two.influence).variances())))
    value, freedom = one.value - two.value, max(1.0, min(one.freedom, two.freedom))
    p = 2 * float(stdtr(freedom, -abs(value) / error)) if error else float(value == 0)
    half = student(freedom) * error
    return Interval(value - half, value + half), p


def _biases(runs: Sequence[CalibratedRun], scorer: Scorer) -> tuple[tuple[Bias, ...], Bias | None]:
    """How far the judge is above people: in all, by category and family; and on its own family."""
    off = {key: value for run in runs for key, value in run.off.items()}
    groups = {key: one for run in runs for key, one in run.groups.items()}

    def mean(place: int = 0, name: str = "", *, other: bool = False) -> predicted.Calibrated | None:
        part = {k: v for k, v in off.items() if not name or (groups[k[1]][place] == name) != other}
        scores, bounds = dict.fromkeys((key for _, key in part), 0.0), (-MAX_VALUE, MAX_VALUE)
        return predicted.calibrated_mean(part, scores, bounds=bounds) if part else None

    means = [("all", mean())]
    for place, kind in enumerate(("category", "family")):
        names = dict.fromkeys(one[place] for one in groups.values())
        if len(names) > 1:
            means += [(f"{kind} {name}", mean(place, name)) for name in names]
    biases = tuple(
        Bias(name, len(one.influence.ratings), one.value, one.interval)
        for name, one in means
        if one
    )
    family = family_of(scorer.name)
    mine, theirs = mean(1, family), mean(1, family, other=True)
    if mine is None or theirs is None or mine.interval is None or theirs.interval is None:
        return biases, None
    n, value = len(mine.influence.ratings), mine.value - theirs.value
    return biases, Bias(family, n, value, _difference(mine, theirs)[0])


def family_of(name: str) -> str:
    """Whose model it is: ``openai`` for ``openai-realtime/gpt-realtime``."""
    return name.partition("/")[0].partition("-")[0]
