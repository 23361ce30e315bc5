"""The score table: whatever shows an estimate of a scorer and a group reads it here."""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from shlex import quote
from statistics import median
from typing import Any

from audiocapbench.benchmarks import Traits, stored_traits
from audiocapbench.benchmarks.corpora import leaves_null_out, without_null
from audiocapbench.benchmarks.traits import Aggregation
from audiocapbench.data import Sample
from audiocapbench.data.outcome import Outcome, Status, total_cost
from audiocapbench.errors import JudgeError, ReportError, StoreError
from audiocapbench.grouping import grouped
from audiocapbench.judges.aggregation import OVERALL, Scores, by_judge
from audiocapbench.models.model import REPEAT
from audiocapbench.scores import compute, estimate
from audiocapbench.scores.compute import ALL, CATEGORY, Group, GroupKey, SampleScores, category
from audiocapbench.scores.estimate import HAVE_TEXT, Coverage, Estimate, Missing, Replies, Scorer
from audiocapbench.signature import Signature
from audiocapbench.stats import Interval
from audiocapbench.store import Dataset, Run, Store
from audiocapbench.store.records import Judgement, RunHead, StoredEstimate, overall_of
from audiocapbench.table import Row

Estimates = dict[str, Estimate]
"""By metric, or by a judge's dimension."""

Computed = dict[tuple[Scorer, GroupKey], Estimate]
_WHY = "missing: "
"""Stands before a reason among an estimate's counts, which know an empty answer already."""


@dataclass(eq=False, repr=False)
class ScoreTable:
    """Scores of one set of answers.

    ``replies`` says what each sample that was asked lacks, ``kept`` has estimates that are known by
    the scorer's label and the group as text, ``computed`` others, ``texts`` the answers of files.
    """

    samples: Sequence[Sample]
    aggregation: Aggregation | None
    scores: Mapping[Scorer, SampleScores]
    replies: Replies
    kept: Mapping[tuple[str, str], Estimate] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    computed: Computed = field(default_factory=dict, init=False)
    points: Computed = field(default_factory=dict, init=False)

    @cached_property
    def groups(self) -> dict[GroupKey, Group]:
        return compute.group_samples(self.samples, self.aggregation)

    @cached_property
    def facet_groups(self) -> dict[GroupKey, Group]:
        """Other views of the samples: each place of each facet, such as a domain, as one corpus."""
        if self.aggregation is None:
            return {}
        views = ((one, self.aggregation.facets(one).items()) for one in self.samples)
        members = grouped((GroupKey(*view), one) for one, own in views for view in own)
        return compute.make_groups(members, self.aggregation)

    @property
    def categories(self) -> list[str]:
        """The categories, those first that count towards a total."""
        return [key.place for key in self.groups if key.facet == CATEGORY]

    @property
    def facets(self) -> dict[str, list[GroupKey]]:
        return grouped((key.facet, key) for key in self.facet_groups)

    def sample_scores(self, scorer: Scorer) -> SampleScores:
        return self.scores.get(scorer, compute.NO_SCORES)

    def group(self, scorer: Scorer, key: GroupKey = ALL) -> Group:
        group = self.groups[key] if key in self.groups else self.facet_groups[key]
        return group.asked_by(scorer, self.aggregation)

    def alike(self, key: GroupKey) -> GroupKey:
        """The whole, for a category that has all samples: the same ones have the same estimate."""
        group = self.groups.get(key) if self.aggregation is None else None
        return ALL if group is not None and len(group.samples) == len(self.samples) else key

    def point(self, scorer: Scorer, key: GroupKey = ALL) -> Estimate:
        """An estimate that may lack its interval, for those who want none."""
        key = self.alike(key)
        place = (scorer, key)
        if place not in self.points:
            found = self.kept.get((scorer.label, str(key)))
            if found is None:
                scores = self.sample_scores(scorer)
                found = self.group(scorer, key).point(scorer, scores, self.replies)
            self.points[place] = found
        return self.points[place]

    def estimate(self, scorer: Scorer, key: GroupKey = ALL) -> Estimate:
        key = self.alike(key)
        place = (scorer, key)
        if (scorer.label, str(key)) in self.kept:
            return self.point(scorer, key)
        if place not in self.computed:
            group, scores = self.group(scorer, key), self.sample_scores(scorer)
            self.computed[place] = group.with_interval(self.point(*place), scorer, scores)
        return self.computed[place]

    def prepare(self, scorers: Iterable[Scorer], keys: Sequence[GroupKey]) -> None:
        """Compute estimates together, as far as they are not known."""
        keys = list(dict.fromkeys(map(self.alike, keys)))
        places = [
            (one, key)
            for one in scorers
            for key in keys
            if (one, key) not in self.computed and (one.label, str(key)) not in self.kept
        ]
        groups = {place: self.group(*place) for place in places}
        made: Computed = {}
        for group, own in grouped((group, place) for place, group in groups.items()).items():
            asked = [(self.point(*place), place[0], self.sample_scores(place[0])) for place in own]
            made |= zip(own, group.with_intervals(asked), strict=True)
        self.computed |= {place: made[place] for place in places}

    def take_over(self, known: "ScoreTable") -> None:
        """Take over what another table of the same samples has computed of the same scores."""
        if self.replies != known.replies:
            return
        same = {one: own for one, own in known.scores.items() if own.is_as(self.sample_scores(one))}
        self.scores = {**self.scores, **same}
        taken = [place for place in known.computed if place[0] in same]
        self.computed |= {place: known.computed[place] for place in taken}
        self.points |= {place: known.points[place] for place in taken}

    def of_metrics(self, metrics: Iterable[str], key: GroupKey = ALL) -> Estimates:
        return {name: self.estimate(Scorer(name), key) for name in metrics}

    def null_references(self, metrics: Sequence[str]) -> dict[str, tuple[int, int, Estimates]]:
        """Of categories with null references: samples, null ones, and metrics without these."""
        if self.aggregation is None:
            return {}
        found = {}
        names = [without_null(name) for name in metrics if not leaves_null_out(name)]
        for name in self.categories:
            key = category(name)
            samples = self.groups[key].samples
            null, ids = sum(map(self.aggregation.null, samples)), {one.id for one in samples}
            told = [one for one in names if ids & self.sample_scores(Scorer(one)).values.keys()]
            if null:
                found[name] = (len(samples), null, self.of_metrics(told, key))
        return found

    def to_dict(
        self, metrics: Sequence[str], unscored: Sequence[dict[str, str]] = ()
    ) -> dict[str, Any]:
        """Metrics as a JSON object; where corpora make a total, with other views of them."""
        own = {name: self.of_metrics(metrics, category(name)) for name in self.categories}
        groups = {name: documents(one) for name, one in own.items()}
        document = {"metrics": documents(self.of_metrics(metrics)), "by_group": groups}
        if self.aggregation is None:
            return document
        for facet, keys in self.facets.items():
            places = {key.place: documents(self.of_metrics(metrics, key)) for key in keys}
            document[f"by_{facet}"] = places
        nulls = {
            name: {"n": total, "null": null, "without": documents(without)}
            for name, (total, null, without) in self.null_references(metrics).items()
        }
        return {**document, "null_references": nulls, "unscored": list(unscored)}


def documents(estimates: Estimates) -> dict[str, Any]:
    return {name: one.to_dict() for name, one in estimates.items()}


def estimate_records(table: ScoreTable, scorers: Iterable[Scorer]) -> list[Row]:
    # A list, because a category may be called as the whole is.
    keys = [("all", ALL), *((name, category(name)) for name in table.categories)]
    scorers, rows = list(scorers), list[Row]()
    table.prepare(scorers, [key for _, key in keys])
    for scorer in scorers:
        for group, key in keys:
            one = table.estimate(scorer, key)
            row: Row = {"scorer": scorer.label, "group": group, **one.flat(), "n": one.n}
            rows.append(row | {"samples": one.coverage.total, "signature": str(one.signature)})
    return rows


class RunTable(ScoreTable):
    """Scores of one run, and what its answers came to; ``cost_estimated`` ones had no usage.

    ``race`` is the statement of races that asked it, and ``raced`` whether they left samples out.
    """

    samples: tuple[Sample, ...]
    state: int | None = None  # of a run of a store, when it was read
    store_option = ""
    _repeats: Sequence["RunTable"] = ()

    def __init__(
        self,
        run: Run,
        dataset: Dataset,
        traits: Traits,
        outcomes: Mapping[str, Outcome],
        judgements: Iterable[Judgement],
        scores: Mapping[str, Any],
    ) -> None:
        self.run, self.traits, self.missing, self.outcomes = run, traits, dataset.missing, outcomes
        self.judgements = dict(grouped((one.judge, one) for one in judgements))
        # The way in which most judgements of a judge were made; others are left out.
        self.judge_signatures = {
            judge: Counter(one.signature for one in own).most_common(1)[0][0]
            for judge, own in self.judgements.items()
        }
        self.verdicts: dict[str, dict[str, Scores]] = {}
        replies = {key: estimate.LACKING[one.reply.status] for key, one in self.outcomes.items()}
        self._add_up(self.outcomes.values(), replies)
        chosen = set(run.sample_ids)
        with_text = {key for key in chosen if replies.get(key) in HAVE_TEXT}
        judged = [{one.sample_id for one in self.judgements.get(name, ())} for name in run.races]
        self.race = " ".join(one["statement"] for one in run.races.values())
        self.raced = bool(run.races) and chosen > replies.keys()
        self.raced |= any(own and with_text - own for own in judged)
        samples = tuple(one for one in dataset.samples if one.id in chosen)
        columns: dict[Scorer, SampleScores] = {}
        have_text = {key for key, lacks in replies.items() if lacks in HAVE_TEXT}
        for metric, (ids, *cells) in scores.items():
            own = SampleScores(*(dict(zip(ids, one, strict=True)) for one in cells))
            for key in set(ids) - have_text:
                del own.values[key], own.statistics[key], own.signatures[key]
            columns[Scorer(metric)] = own
        super().__init__(samples, traits.aggregation, columns, replies)
        for judge in self.judgements:
            current, made = self.current_judgements(judge), self.judge_signatures[judge]
            verdicts = self.verdicts[judge] = by_judge(current).get(judge, {})
            lacking = [one for one in current if one.sample_id not in verdicts]
            missing = {one.sample_id: Missing.NOT_JUDGED for one in lacking}
            unreadable = (one.sample_id for one in lacking if one.status is Status.UNPARSED)
            missing |= dict.fromkeys(unreadable, Missing.UNREADABLE)
            for name in next(iter(verdicts.values()), {}):
                values = {key: one[name] for key, one in verdicts.items() if name in one}
                columns[Scorer(judge, name)] = SampleScores.of_values(values, made, missing)
            whole = {key: overall_of(one, made) for key, one in verdicts.items()}
            columns[Scorer(judge, OVERALL)] = SampleScores.of_values(whole, made, missing)

    def _add_up(self, outcomes: Collection[Outcome], replies: Replies) -> None:
        answers, lacks = [one.reply for one in outcomes], list(replies.values())
        self.statuses = Counter(str(one.status) for one in answers)
        self.cost_usd = total_cost(one.cost_usd for one in answers)
        self.cost_estimated = sum(one.cost_is_estimated for one in answers)
        # Where known: not of an answer from the cache or from a batch.
        times = [one.latency_s for one in outcomes if not one.cached and one.latency_s]
        self.latency_s = median(times) if times else None
        total, found = len(self.run.sample_ids), (lacks.count(None), lacks.count(Missing.EMPTY))
        self.coverage = Coverage(total, *found, total - len(lacks))
        self.has_no_answers = not any(found)

    def estimate(self, scorer: Scorer, key: GroupKey = ALL) -> Estimate:
        """As of any table; where a race stopped a run, its length hangs on its scores: no interval
        of a fixed number of samples holds."""
        if self.raced:
            return replace(self.point(scorer, key), interval=None)
        return super().estimate(scorer, key)

    def prepare(self, scorers: Iterable[Scorer], keys: Sequence[GroupKey]) -> None:
        super().prepare(() if self.raced else scorers, keys)

    def current_judgements(self, judge: str) -> list[Judgement]:
        """What a judge said of the samples, without what was made in another way."""
        if judge not in self.judgements:
            does = f"audiocapbench score {self.run.id} --judge {quote(judge)}{self.store_option}"
            raise JudgeError(f"{judge} has not judged run {self.run.id}; this asks it: {does}")
        made, chosen = self.judge_signatures[judge], set(self.run.sample_ids)
        own = self.judgements[judge]
        return [one for one in own if one.signature == made and one.sample_id in chosen]

    @property
    def tables(self) -> Sequence["RunTable"]:
        """The table, or those of all runs that an entry stands for."""
        return self._repeats or (self,)

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(one.run for one in self.tables)

    @property
    def scorers(self) -> list[Scorer]:
        """Judges' overall scores, our offline judge last; then metrics that are installed here."""
        judges = sorted(self.judgements, key=estimate.judge_order)
        names = (one.name for one in self.scores if one.dimension is None)
        metrics = estimate.metrics_in_order(names)
        return [*(Scorer(name, OVERALL) for name in judges), *map(Scorer, metrics)]

    @property
    def unknown_metrics(self) -> list[str]:
        """Metrics with scores that nothing here can add up: their plug-in is gone, or broken."""
        metrics = [one.name for one in self.scores if one.dimension is None]
        return sorted(name for name in metrics if not estimate.is_known(name))

    def dimensions(self, judge: str) -> list[Scorer]:
        return [one for one in self.scores if one.judge == judge and not one.is_overall]

    def signature(self, scorer: Scorer) -> Signature:
        return self.point(scorer).signature

    @property
    def unanswered(self) -> dict[Missing, int]:
        """How many samples have no text to score, for each reason."""
        got = Counter(self.replies.get(key, Missing.NOT_ASKED) for key in self.run.sample_ids)
        return {one: got[one] for one in Missing if got[one] and one not in HAVE_TEXT}

    def judging_cost(self, judge: str) -> float | None:
        return total_cost(one.cost_usd for one in self.judgements.get(judge, ()))


class RepeatedTable(RunTable):
    """Repeats of one run (``run --repeats``) as one entry: the mean of a sample's answers.

    A failed answer counts as 0, one that was never asked for not at all; a sample is missing where
    no repeat has a score of it, or any failed and the scorer is no mean of samples. What it shows
    of a run (``run``, ``outcomes``) is the first's; costs and statuses are of all.
    """

    def __init__(self, tables: Sequence[RunTable]) -> None:
        vars(self).update(vars(tables[0]))
        self._repeats = tables
        self.outcomes = {key: one for own in reversed(tables) for key, one in own.outcomes.items()}
        self.race = " ".join(dict.fromkeys(one.race for one in tables if one.race))
        self.raced = any(one.raced for one in tables)
        replies: dict[str, Missing | None] = {}
        for key, lack in (pair for one in tables for pair in one.replies.items()):
            if key not in replies or (lack in HAVE_TEXT and replies[key] is not None):
                replies[key] = lack
        self._add_up([one for own in tables for one in own.outcomes.values()], replies)
        self.judgements, self.verdicts = defaultdict(list), defaultdict(dict)
        for one in reversed(tables):
            self.judge_signatures = self.judge_signatures | one.judge_signatures
            for judge, own in one.judgements.items():
                self.judgements[judge] += own
                self.verdicts[judge] = {**self.verdicts[judge], **one.verdicts[judge]}
        scores = {
            one: self._mean(one) if one.judge or estimate.is_known(one.name) else SampleScores()
            for one in dict.fromkeys(scorer for own in tables for scorer in own.scores)
        }
        ScoreTable.__init__(self, self.samples, self.aggregation, scores, replies)

    def _mean(self, scorer: Scorer) -> SampleScores:
        parts = [(one.sample_scores(scorer), one.replies) for one in self.tables]
        missing: dict[str, Missing] = {}
        found = SampleScores(missing=missing)
        for key in (one.id for one in self.samples):
            scored = [own for own, _ in parts if key in own.values]
            lacks = [
                replies.get(key, Missing.NOT_ASKED) or own.missing.get(key, Missing.NOT_JUDGED)
                for own, replies in parts
                if key not in own.values
            ]
            got = [replies.get(key) for own, replies in parts if key not in own.values]
            failures = [one for one in got if one is not None and one.is_failure]
            if not scored or (failures and not scorer.is_mean):
                missing[key] = (failures or lacks)[0]
                continue
            count = len(scored) + len(failures)
            value = sum(own.values[key] for own in scored) / count
            columns = zip(*(own.statistics[key] for own in scored), strict=True)
            made = Signature.join({own.signatures[key] for own in scored})
            found.add(key, value, tuple(sum(one) / count for one in columns), made)
        return found


def repeats(runs: Iterable[Run]) -> list[list[Run]]:
    """Runs that repeat each other (``run --repeats``) in their order, the newest of each repeat.

    A run that nobody repeated is a group of its own; runs come oldest first, and groups likewise.
    """
    groups: dict[tuple[object, ...], dict[int, Run]] = {}
    for run in runs:
        alike = sorted((key, one) for key, one in run.parameters.items() if key != REPEAT)
        what = (run.benchmark, run.dataset, run.model, *alike, run.contract, run.kind)
        own = groups.setdefault((*what, frozenset(run.sample_ids)), {})
        own[int(run.parameters.get(REPEAT, 0))] = run
    found = ([own[repeat] for repeat in sorted(own)] for own in groups.values())
    return sorted(found, key=lambda own: own[-1].id)


def keep_estimates(store: Store, tables: Iterable[RunTable]) -> None:
    """Keep what was computed of runs, for whoever shows them next."""
    for table in tables:
        if len(table.runs) > 1 or table.state is None:
            continue
        new = []
        for (scorer, key), one in table.computed.items():
            numbers: Any = one.flat()
            counts = {"n": one.n, **one.coverage._asdict()}
            counts |= {f"{_WHY}{reason}": count for reason, count in one.missing.items()}
            numbers |= {"counts": counts, "lacks": one.lacks, "signature": one.signature}
            numbers["value"] = numbers.pop("score")
            new.append(StoredEstimate(scorer.label, str(key), **numbers))
        # A store that can only be read is shown all the same.
        with suppress(StoreError):
            if new:
                store.put_estimates(table.run.id, table.state, new)


def labels(runs: Sequence[RunHead | RunTable], *, numbered: bool = False) -> list[str]:
    """What runs, or entries of several repeats, are called beside each other, or at any time."""
    groups = [one.runs if isinstance(one, RunTable) else (one,) for one in runs]
    names, found = Counter(own[0].model for own in groups), []
    for own in groups:
        ids, name = [one.id for one in own], own[0].model
        in_row = len(ids) > 1 and ids == list(range(ids[0], ids[-1] + 1))
        which = f"{ids[0]}–{ids[-1]}" if in_row else ", ".join(map(str, ids))
        is_alone = len(ids) == names[name] == 1 and not numbered
        found.append(name if is_alone else f"{name} (run{'s'[: len(ids) - 1]} {which})")
    return found


class TableReader:
    """Reads runs from a store, and each dataset once, but those that are ``known``."""

    def __init__(self, store: Store, *known: Dataset, only: str | None = None) -> None:
        self._store, self._only = store, only
        self._datasets = {
            (one.fingerprint, one.benchmark): (one, stored_traits(one)) for one in known
        }
        self._groups: dict[Hashable, dict[GroupKey, Group]] = {}

    def read(self, run: Run, **kept: Mapping[str, Any]) -> RunTable:
        """The table of a run; its ``outcomes`` and ``scores`` may just have been ``kept``."""
        store, key, only = self._store, (run.dataset, run.benchmark), self._only
        if key not in self._datasets:
            found = store.dataset(*key)
            self._datasets[key] = (found, stored_traits(found))
        # Before anything else: what changes while a run is read must not pass for known.
        state = store.state(run.id)
        known = kept_estimates(store, run.id)
        outcomes = kept["outcomes"] if kept else store.outcomes(run.id)
        read = outcomes, store.judgements(run.id, only)
        scores = kept["scores"] if kept else store.score_columns(run.id, only)
        table = RunTable(run, *self._datasets[key], *read, scores)
        table.kept, table.state, table.store_option = known, state, store.option
        # Runs of the same samples are of the same groups, which are put in order once.
        same = key, frozenset(run.sample_ids)
        if same in self._groups:
            table.groups = self._groups[same]
        self._groups[same] = table.groups
        return table

    def read_together(self, runs: Sequence[Run]) -> RunTable:
        tables = [self.read(run) for run in runs]
        return tables[0] if len(tables) == 1 else RepeatedTable(tables)

    def read_repeats(self, run: Run) -> RunTable:
        alike = [line.id for line in self._store.runs() if line.model == run.model]
        for own in repeats(map(self._store.run, alike)):
            if run in own:
                return self.read_together(own)
        raise ReportError(f"run {run.id} was asked anew; name the newer one, or leave repeats out")


def kept_estimates(store: Store, run: int) -> dict[tuple[str, str], Estimate]:
    """What is known of a run, by the scorer's label and the group as text."""
    found = {}
    for one in store.estimates(run):
        counts = one.counts
        found[one.scorer, one.group] = Estimate(
            one.value,
            counts["n"],
            Coverage(counts["total"], counts["answered"], counts["empty"], counts["not_asked"]),
            one.as_zero,
            None if one.worst is None or one.best is None else Interval(one.worst, one.best),
            None if one.low is None or one.high is None else Interval(one.low, one.high),
            one.signature,
            one.lacks,
            {reason: counts[key] for reason in Missing if (key := f"{_WHY}{reason}") in counts},
        )
    return found
