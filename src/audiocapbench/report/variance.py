"""Where the noise of a score comes from, what more money buys, and what a run could see."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from math import sqrt
from statistics import fmean, median
from typing import NamedTuple

from audiocapbench.data.opinions import Opinions
from audiocapbench.errors import ReportError
from audiocapbench.grouping import grouped
from audiocapbench.report.leaderboard.build import ranking_scorer
from audiocapbench.scores.estimate import Scorer, default_scorer
from audiocapbench.scores.paired import PairedScores
from audiocapbench.scores.summary import why_unscored
from audiocapbench.scores.table import RunTable, TableReader, labels, repeats
from audiocapbench.stats import power
from audiocapbench.stats.power import Component, variance_components
from audiocapbench.store import Store
from audiocapbench.table import Column, Findings, Row, Table, dollars

_MORE = {"clips": "clips", "decoding": "repeats", "judge": "rounds", "raters": "raters"}
_UNKNOWN = {
    "decoding": "not measured, and part of clips: 'run … --repeats 3' asks the model again",
    "judge": "not measured: 'score RUN --judge … --repeats 3' asks the judge again",
}
_HUNDRED = 100.0  # questions or ratings, where these cost nothing
_FARTHEST = 1e6
_FEW = 5


class Noise(NamedTuple):
    """What scores vary by, the coarsest first, and the ``prices`` of what can be bought more of.

    A price is how many there are, and what one more costs in a ``unit``: $, or what is free.
    """

    label: str
    mean: float
    parts: Mapping[str, Component]
    prices: Mapping[str, tuple[float, float]]
    unit: str
    unknown: Mapping[str, str] = {}

    def error(self, more: str = "", times: float = 1.0) -> float:
        """The standard error of the mean, from all parts; with so many times more of one."""
        names = list(self.parts)
        finer = names[names.index(more) :] if more else []
        # Raters are crossed with clips: more clips are heard by the same people.
        divided = {name for name in finer if name != "raters" or more == "raters"}
        parts = self.parts.items()
        return sqrt(sum(one.of_mean / (times if name in divided else 1) for name, one in parts))


def read_entries(
    store: Store, runs: Sequence[int], metric: str | None, judge: str | None
) -> tuple[list[RunTable], Scorer]:
    """Runs, repeats as one, or each model's newest on the newest data; and what scores them."""
    lines = [one.id for one in store.runs() if not one.is_trial]
    given = [store.run(number) for number in dict.fromkeys(runs or lines)]
    given = [one for one in given if runs or one.dataset == given[-1].dataset]
    if len({one.dataset for one in given}) != 1:
        raise ReportError("name runs of one benchmark; 'audiocapbench runs' lists them")
    groups = repeats(given)
    groups = groups if runs else list({own[0].model: own for own in groups}.values())
    tables = [TableReader(store).read_together(own) for own in groups]
    if raced := [f"run {one.run.id}" for one in tables if one.raced]:
        left = f"a race left clips of {', '.join(raced)} out"
        raise ReportError(f"{left}; name other runs, or ask the rest with 'run'")
    counts = Counter(one for table in tables for one in table.scorers if table.signature(one))
    usual = default_scorer(counts, len(tables), tables[0].traits.headline)
    scorer = ranking_scorer(metric, judge) or usual
    if unscored := [one for one in tables if scorer is None or not one.signature(scorer)]:
        raise ReportError(why_unscored(unscored[0], scorer))
    return tables, scorer  # type: ignore[return-value]


def variance_report(
    found: Sequence[Noise], scorer: Scorer, spend: float, benchmark: str
) -> Findings:
    form, rows, entries, notes = f".{scorer.digits}f", list[Row](), list[Row](), list[str]()
    finer = f".{scorer.digits + 1}f"
    for one in found:
        error, bought, start = one.error(), list[tuple[float, str, str]](), len(rows)
        for name, part in one.parts.items():
            row = {"of": one.label, "source": name, "n": part.levels, "variance": part.variance}
            row |= {"sd": sqrt(max(part.variance, 0.0)), "buys": None, "then": None}
            few = f"fewer than {_FEW}: hardly known" if part.levels < _FEW else ""
            note = "estimated below 0, shown as 0" if part.variance < 0 else few
            row |= {"share": part.of_mean / (error**2 or 1.0), "note": note}
            now, price = one.prices.get(name, (0.0, 0.0))
            if price:
                count = int((spend if one.unit == "$" else _HUNDRED) / price + 1e-9)
                row |= {"buys": count, "then": (then := one.error(name, 1 + count / now))}
                bought.append((then, name, f"{count:,} more {_MORE[name]} ({then:{finer}})"))
            rows.append(row)
        lacking = dict.fromkeys(rows[start]) | {"of": one.label}
        rows += [lacking | {"source": name, "note": why} for name, why in one.unknown.items()]
        amount = dollars(spend) if one.unit == "$" else f"{_HUNDRED:g} {one.unit}"
        advice = ", or ".join(words for *_, words in sorted(bought))
        error_words = f"{one.label}: mean {one.mean:{form}}, standard error {error:{finer}}"
        notes.append(f"{error_words}. The next {amount}: {advice}.")
        entry = {"of": one.label, "mean": one.mean, "standard_error": error, "unit": one.unit}
        entries.append(entry | {"next": min(bought)[1]})
    columns: list[Column | str] = ["of", "source", "n", Column("sd", form=form)]
    columns += [Column("share", "of the error", "%"), Column("note", wraps=True)]
    title = f"Where the noise in {scorer.label} comes from, on {benchmark}"
    facts = {"benchmark": benchmark, "scorer": scorer.label, "spend": spend}
    facts |= {"entries": entries, "notes": notes}
    return Findings([Table(title, rows, columns, notes, "variance")], facts)


def noise_of_runs(label: str, entry: RunTable, scorer: Scorer) -> Noise:
    """What a model's scores vary by, as far as its answers and their judging were repeated."""
    if not scorer.is_mean:
        raise ReportError(f"{scorer.label} is no mean of its samples; name a score that is")
    tables = entry.tables
    judged = [table.current_judgements(scorer.name) if scorer.judge else [] for table in tables]
    rows: list[tuple[str, str, tuple[str, int], float]] = []
    for repeat, (table, said) in enumerate(zip(tables, judged, strict=True)):
        group, scores, rounds = table.group(scorer), table.sample_scores(scorer), defaultdict(list)
        for one in (one for one in said if one.scores):
            value = one.overall if scorer.is_overall else one.scores[scorer.column]
            rounds[one.sample_id].append(value or 0.0)
        lost = group.failed(scores, table.replies).tolist()
        for clip, sample, failed in zip(group.clips, group.samples, lost, strict=True):
            known = [scores.values.get(sample.id, 0.0)] * (sample.id in scores.values or failed)
            own = (clip, sample.id, (sample.id, repeat))
            rows += [(*own, value) for value in rounds[sample.id] or known]
    clips, samples, answers, values = zip(*rows, strict=True) if rows else ((),) * 4
    count, asked, times = float(len(set(clips))), len(set(answers)), float(len(tables))
    if count < 2:
        raise ReportError(f"{label}: the noise of clips takes two with a score; there is {count:g}")
    factors: dict[str, Iterable[Hashable]] = {"clips": clips}
    finer = {"questions": samples, "decoding": answers, "judge": range(len(rows))}
    for name, levels in finer.items():  # what was not repeated adds no levels
        if len(set(levels)) > max(len(set(one)) for one in factors.values()):
            factors[name] = levels
    verdicts = [one for said in judged for one in said]
    by_model = any(one.output_tokens is not None or one.latency_s for one in verdicts)
    unknown = {name: why for name, why in _UNKNOWN.items() if name not in factors}
    if not by_model:
        unknown["judge"] = "none: the same answer has the same score"
    replies = [one for table in tables for one in table.outcomes.values() if not one.cached]
    answer = _mean(one.reply.cost_usd for one in replies)
    verdict = _mean(one.cost_usd for one in verdicts)
    unit = "$" if answer + verdict else "questions"
    answer, verdict = (answer, verdict) if unit == "$" else (1.0, float(by_model))
    each = asked * answer + len(rows) * verdict
    prices = {"clips": (count, each / count), "decoding": (times, each / times)}
    prices["judge"] = (len(rows) / asked, asked * verdict)
    parts = variance_components(values, factors)
    return Noise(label, fmean(values), parts, prices, unit, unknown)


def noise_of_people(people: Opinions, rating_usd: float = 0.0) -> Noise:
    numbers = people.numbers(-_FARTHEST, _FARTHEST)
    given = grouped(((one.run, one.item, one.person), value) for one, value in numbers)
    items, persons = [key[:2] for key in given], [key[2] for key in given]
    total, count, raters = len(given), len(set(items)), len(set(persons))
    if raters < 2 or "" in persons or total == count:
        takes = "the noise of raters takes clips that several people rated, by name"
        raise ReportError(f"{people.source}: {takes}")
    values, each = [fmean(own) for own in given.values()], total * (rating_usd or 1.0)
    parts = variance_components(values, {"clips": items, "raters": persons, "rest": range(total)})
    prices = {"clips": (count, each / count), "raters": (raters, each / raters)}
    return Noise(people.source, fmean(values), parts, prices, "$" if rating_usd else "ratings")


def _mean(costs: Iterable[float | None]) -> float:
    return fmean([one for one in costs if one is not None] or [0.0])


def power_report(
    entries: Sequence[RunTable],
    scorer: Scorer,
    *,
    difference: float | None,
    clips: int | None,
    tests: int = 1,
    times: int | None = None,
) -> Findings:
    """The clips that a difference takes, or the difference that clips show, by the median pair.

    ``times`` is how often each question is to be asked; without it, as often as it was.
    """
    widest, names = max(entries, key=lambda one: len(one.samples)), labels(entries)
    saved = [0.0] * len(entries)  # of the variance from clip to clip, by asking so often
    for place, one in enumerate(entries if times else ()):
        noise = noise_of_runs(names[place], one, scorer)
        if "decoding" not in noise.parts:
            raise ReportError(
                f"{noise.label} was asked once; 'run --repeats 3' on some clips tells"
            )
        then = noise.error("decoding", (times or 1) / len(one.runs))
        saved[place] = noise.parts["clips"].levels * (noise.error() ** 2 - then**2)
    group, rows = widest.group(scorer), list[Row]()
    tops: list[float] = []
    for first, second in combinations(range(len(entries)), 2):
        if (found := PairedScores(scorer, group, entries[first], entries[second])).testable:
            spread = found.spread**2 - saved[first] - saved[second]
            row = {"a": names[first], "b": names[second], "clips": found.clips}
            tops.append(max(found.scores or (0.0,)))
            rows.append(row | {"sd": sqrt(max(spread, 0.0))})
    if not rows:
        raise ReportError("power takes two models with scores of the same ten clips at least")
    sd, form, alpha = median(row["sd"] for row in rows), f".{scorer.digits}f", power.ALPHA / tests
    if difference is not None:
        clips = power.samples_needed(difference, sd, tests, median(tops))
    else:
        difference = power.visible(sd, clips or 0, alpha, median(tops))
    asked = f", each asked {times} times," if times else ""
    many = "More than a billion" if clips is None else f"{clips:,}"
    level = f"two-sided, alpha {power.ALPHA:g}{f' over {tests} tests' * (tests > 1)}"
    seen = f"a true difference of {difference:{form}} in {100 * power.POWER:g} % of cases"
    benchmark = widest.run.benchmark
    title = f"How far {scorer.label} of two models differs from clip to clip of {benchmark}: "
    title += f"median {sd:{form}}"
    facts = {"benchmark": benchmark, "scorer": scorer.label, "sd": sd, "clips": clips}
    facts |= {"difference": difference, "alpha": alpha, "power": power.POWER, "repeats": times}
    columns: list[Column | str] = ["a", "b", "clips", Column("sd", form=form)]
    notes = [f"{many} clips{asked} show {seen} ({level})."]
    return Findings([Table(title, rows, columns, notes, "pairs")], facts)
