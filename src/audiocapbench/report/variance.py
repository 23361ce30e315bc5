"""Where the noise of a score comes from, what more money buys, and what a run could see."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from math import sqrt
from statistics import fmean, median
from typing import NamedTuple

from audiocapbench.data.opinions import Opinions
from audiocapbench.data.outcome import Status
from audiocapbench.errors import ReportError
from audiocapbench.report.compare.compute import pair_scores
from audiocapbench.report.leaderboard.build import default_scorer
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.summary import why_unscored
from audiocapbench.scores.table import RepeatedTable, RunTable, TableReader, labels, repeats
from audiocapbench.stats import power
from audiocapbench.stats.bootstrap import paired_spread
from audiocapbench.stats.components import Component, variance_components
from audiocapbench.store import Store
from audiocapbench.table import Column, Findings, Row, Table, dollars

_MORE = {"clips": "clips", "decoding": "repeats", "judge": "rounds", "raters": "raters"}
_HUNDRED = 100.0  # questions or ratings, where these cost nothing
_FARTHEST = 1e6


class Noise(NamedTuple):
    """What scores vary by, the coarsest first; ``unknown`` says why of what was not repeated.

    ``prices`` have of what can be bought how many there are, and what one more costs.
    """

    label: str
    mean: float
    parts: Mapping[str, Component]
    prices: Mapping[str, tuple[float, float]]
    unit: str  # of the prices: $, or what is free
    unknown: Mapping[str, str] = {}

    def error(self, more: str = "", times: float = 1.0) -> float:
        """The standard error of the mean, from all parts; with so many times more of one."""
        names = list(self.parts)
        finer = names[names.index(more) :] if more else []
        # Raters are crossed with clips: more clips are heard by the same people.
        divided = {name for name in finer if name != "raters" or more == "raters"}
        parts = self.parts.items()
        return sqrt(sum(one.of_mean / (times if name in divided else 1) for name, one in parts))

    def rows(self, spend: float) -> list[Row]:
        whole, rows = self.error() ** 2 or 1.0, list[Row]()
        for name, part in self.parts.items():
            now, price = self.prices.get(name, (1.0, 0.0))
            bought = (spend if self.unit == "$" else _HUNDRED) / (price or 1.0)
            count = int(bought + 1e-9) if price else None
            then = None if count is None else self.error(name, 1 + count / now)
            note = "estimated below 0, shown as 0" if part.variance < 0 else ""
            row = {"of": self.label, "source": name, "n": part.levels, "variance": part.variance}
            row |= {"sd": sqrt(max(part.variance, 0.0)), "share": part.of_mean / whole}
            rows.append(row | {"buys": count, "then": then, "note": note})
        lacking = dict.fromkeys(rows[0]) | {"of": self.label}
        return rows + [lacking | {"source": key, "note": why} for key, why in self.unknown.items()]


def read_entries(
    store: Store, runs: Sequence[int], scorer: Scorer | None
) -> tuple[list[RunTable], Scorer]:
    """Runs, repeats as one, or each model's newest on the newest data; and what scores them."""
    lines = [one.id for one in store.runs() if not one.is_trial]
    given = [store.run(number) for number in dict.fromkeys(runs or lines)]
    given = [one for one in given if runs or one.dataset == given[-1].dataset]
    if len({one.dataset for one in given}) != 1:
        raise ReportError("name runs of one benchmark; 'audiocapbench runs' lists them")
    groups = sorted(repeats(given), key=lambda own: own[-1].id)
    groups = groups if runs else list({own[0].model: own for own in groups}.values())
    tables = [TableReader(store).read_together(own) for own in groups]
    if raced := [f"run {one.run.id}" for one in tables if one.raced]:
        raise ReportError(f"a race left clips of {', '.join(raced)} out; 'run' asks the rest")
    counts = Counter(one for table in tables for one in table.scorers if table.signature(one))
    scorer = scorer or default_scorer(counts, len(tables), tables[0].traits.headline)
    if unscored := [one for one in tables if scorer is None or not one.signature(scorer)]:
        raise ReportError(why_unscored(unscored[0], scorer))
    return tables, scorer  # type: ignore[return-value]


def variance_report(found: Sequence[Noise], scorer: Scorer, spend: float) -> Findings:
    form, rows, notes, facts = f".{scorer.digits}f", list[Row](), list[str](), list[Row]()
    for one in found:
        own = one.rows(spend)
        best = sorted((row for row in own if row["buys"] is not None), key=lambda row: row["then"])
        buys = [
            f"{row['buys']:,} more {_MORE[row['source']]} ({row['then']:{form}})" for row in best
        ]
        amount = dollars(spend) if one.unit == "$" else f"{_HUNDRED:g} {one.unit}"
        error = f"{one.label}: mean {one.mean:{form}}, standard error {one.error():{form}}"
        notes.append(f"{error}. The next {amount}: {', or '.join(buys)}.")
        fact = {"of": one.label, "mean": one.mean, "standard_error": one.error()}
        facts.append(fact | {"unit": one.unit, "next": best[0]["source"]})
        rows += own
    columns: list[Column | str] = ["of", "source", "n", Column("sd", form=form)]
    columns += [Column("share", "of the error", "%"), Column("note", wraps=True)]
    title = f"Where the noise in {scorer.label} comes from"
    told = {"scorer": scorer.label, "spend": spend, "entries": facts, "notes": notes}
    return Findings([Table(title, rows, columns, notes, "variance")], told)


def noise_of_runs(label: str, entry: RunTable, scorer: Scorer) -> Noise:
    """What a model's scores vary by, as far as its answers and their judging were repeated."""
    if not scorer.is_mean:
        raise ReportError(f"{scorer.label} is no mean of its samples; name a score that is")
    tables = entry.tables if isinstance(entry, RepeatedTable) else [entry]
    judged = [table.current_judgements(scorer.name) if scorer.judge else [] for table in tables]
    rows: list[tuple[str, str, tuple[str, int], float]] = []
    for repeat, (table, said) in enumerate(zip(tables, judged, strict=True)):
        rounds = defaultdict(list)
        for one in said:
            if one.status is Status.OK:
                value = one.overall if scorer.is_overall else one.scores[scorer.column]
                rounds[one.sample_id].append(value or 0.0)
        group, scores = table.group(scorer), table.sample_scores(scorer)
        lost = group.failed(scores, table.replies).tolist()
        for clip, sample, failed in zip(group.clips, group.samples, lost, strict=True):
            known = [scores.values.get(sample.id, 0.0)] * (sample.id in scores.values or failed)
            own = (clip, sample.id, (sample.id, repeat))
            rows += [(*own, value) for value in rounds[sample.id] or known]
    clips, samples, answers, values = zip(*rows, strict=True) if rows else ((),) * 4
    count, asked, times = len(set(clips)), len(set(answers)), float(len(tables))
    if count < 2:
        raise ReportError(f"{label}: the noise of clips takes two with a score; there is {count}")
    factors: dict[str, Iterable[Hashable]] = {"clips": clips}
    finer = {"questions": samples, "decoding": answers, "judge": range(len(rows))}
    for name, levels in finer.items():  # what was not repeated adds no levels
        if len(set(levels)) > max(len(set(one)) for one in factors.values()):
            factors[name] = levels
    verdicts = [one for said in judged for one in said]
    by_model = any(one.output_tokens is not None or one.latency_s for one in verdicts)
    again = f"not measured: 'score {entry.run.id} --judge … --repeats 3' asks the judge again"
    unknown = {
        "decoding": "not measured, and part of clips: 'run … --repeats 3' asks the model again",
        "judge": again if by_model else "none: the same answer has the same score",
    }
    replies = [one for table in tables for one in table.outcomes.values() if not one.cached]
    answer = _mean(one.reply.cost_usd for one in replies)
    verdict = _mean(one.cost_usd for one in verdicts)
    unit = "$" if answer + verdict else "questions"
    answer, verdict = (answer, verdict) if unit == "$" else (1.0, float(by_model))
    each = asked * answer + len(rows) * verdict
    prices = {"clips": (float(count), each / count), "decoding": (times, each / times)}
    prices["judge"] = (len(rows) / asked, asked * verdict)
    lacking = {name: why for name, why in unknown.items() if name not in factors}
    parts = variance_components(values, factors)
    return Noise(label, fmean(values), parts, prices, unit, lacking)


def noise_of_people(people: Opinions, rating_usd: float = 0.0) -> Noise:
    given: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for one, value in people.numbers(-_FARTHEST, _FARTHEST):
        given[one.run, one.item, one.person].append(value)
    items, persons = [key[:2] for key in given], [key[2] for key in given]
    total, count, raters = len(given), len(set(items)), len(set(persons))
    if raters < 2 or "" in persons or total == count:
        who = "takes clips that several people rated, each named in 'person'"
        raise ReportError(f"{people.source}: the noise of raters {who}")
    values, each = [fmean(own) for own in given.values()], total * (rating_usd or 1.0)
    parts = variance_components(values, {"clips": items, "raters": persons, "rest": range(total)})
    prices = {"clips": (count, each / count), "raters": (raters, each / raters)}
    return Noise(people.source, fmean(values), parts, prices, "$" if rating_usd else "ratings")


def _mean(costs: Iterable[float | None]) -> float:
    known = [one for one in costs if one is not None]
    return fmean(known) if known else 0.0


def power_report(
    entries: Sequence[RunTable],
    scorer: Scorer,
    *,
    difference: float | None = None,
    clips: int | None = None,
    tests: int = 1,
    times: int | None = None,
) -> Findings:
    """The clips that a difference takes, or the difference that clips show, by the median pair.

    ``times`` is how often each question is to be asked; without it, as often as it was.
    """
    widest, names = max(entries, key=lambda one: len(one.samples)), labels(entries)
    pair, rows = pair_scores(scorer, widest.group(scorer), entries), list[Row]()
    saved = [0.0] * len(entries)  # of the variance from clip to clip, by asking so often
    for place, (name, one) in enumerate(zip(names, entries, strict=True) if times else ()):
        noise = noise_of_runs(name, one, scorer)
        if times is None or "decoding" not in noise.parts:
            raise ReportError(f"{name} was asked once; 'run --repeats 3' on a few clips tells")
        then = noise.error("decoding", times / len(one.runs))
        saved[place] = noise.parts["clips"].levels * (noise.error() ** 2 - then**2)
    for first, second in combinations(range(len(entries)), 2):
        if (found := pair(first, second)).testable:
            spread = (paired_spread(*found.resampled()) or 0.0) ** 2 - saved[first] - saved[second]
            row = {"a": names[first], "b": names[second], "clips": found.clips}
            rows.append(row | {"sd": sqrt(max(spread, 0.0))})
    if not rows:
        raise ReportError("power takes two models with scores of the same ten clips at least")
    sd, form = median(row["sd"] for row in rows), f".{scorer.digits}f"
    if difference is not None:
        clips = power.samples_needed(difference, sd, tests)
    else:
        difference = power.minimum_detectable_difference(sd, clips or 0, power.ALPHA / tests)
    many = "More than a billion clips" if clips is None else f"{clips:,} clips"
    often = f", each asked {times} times," if times else ""
    level = f"two-sided, alpha {power.ALPHA:g}{f' over {tests} tests' * (tests > 1)}"
    seen = f"a true difference of {difference:{form}} in {100 * power.POWER:g} % of cases"
    title = f"How far {scorer.label} of two models differs from clip to clip: median {sd:{form}}"
    facts = {"scorer": scorer.label, "sd": sd, "difference": difference, "clips": clips}
    facts |= {"alpha": power.ALPHA / tests, "power": power.POWER, "repeats": times}
    columns: list[Column | str] = ["a", "b", "clips", Column("sd", form=form)]
    return Findings(
        [Table(title, rows, columns, [f"{many}{often} show {seen} ({level})."], "pairs")], facts
    )
