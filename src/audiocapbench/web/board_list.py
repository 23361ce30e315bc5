"""Single samples of a board: listed by filters and orders a page at a time, and one in full."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from threading import RLock
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from audiocapbench.errors import AudioCapBenchError, AudioError
from audiocapbench.grouping import grouped
from audiocapbench.judges.aggregation import OVERALL, together
from audiocapbench.report.page.board import compared
from audiocapbench.report.page.html import (
    DIGITS,
    MEDIA_TYPES,
    NOT_ASKED,
    clip_document,
    shown_answer,
)
from audiocapbench.report.runs import words_of
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.table import TableReader
from audiocapbench.signature import Signature
from audiocapbench.store import Store
from audiocapbench.store.catalog import RoundScores
from audiocapbench.store.records import overall_of

Column = NDArray[np.float64]
_LONGEST_SEARCH, _MOST_RUNS = 500, 1_000
_ORDERS_KEPT, _WAYS_KEPT = 16, 256
_MOST_SOUND = 200_000_000
_FEW = 2_000
_NONE = (None, None)
Number = Annotated[int, Field(ge=0, lt=10**12)]
ScorerLabel = Annotated[Scorer, BeforeValidator(lambda label: Scorer(*label.split("\t", 1)))]
"""A metric by its name, or a judge's name, a tab and its dimension."""

_Value = Annotated[float, Field(gt=-1e12, lt=1e12)]


class QueryError(AudioCapBenchError):
    """A request that cannot be answered."""


class ListQuery(BaseModel, frozen=True):
    """What is listed, and in which order; ``run`` is whose scores count, None for all shown."""

    score: ScorerLabel = Scorer("")
    runs: Annotated[
        tuple[Number, ...],
        Field(max_length=_MOST_RUNS),
        BeforeValidator(lambda text: [one for one in text.split(",") if one]),
    ] = ()
    search: Annotated[str, AfterValidator(lambda text: text[:_LONGEST_SEARCH])] = ""
    category: str = ""
    status: str = ""
    run: Number | None = None
    low: _Value = -np.inf
    high: _Value = np.inf
    sort: Literal["order", "lowest", "highest", "differ", "shortest", "longest"] = "order"

    @property
    def scored(self) -> tuple[int, ...]:
        return self.runs if self.run is None else (self.run,)


class BoardList:
    """The samples of runs, as long as the runs do not change."""

    def __init__(self, store: Store, run_ids: Sequence[int]) -> None:
        self._store, self._runs = store, tuple(run_ids)
        self.heads = store.catalog.sample_heads(run_ids)
        self._places = {one.id: place for place, one in enumerate(self.heads)}
        self._categories = np.array([one.category for one in self.heads], dtype=object)
        self.categories = list(dict.fromkeys(one.category for one in self.heads))
        self._seconds = np.array([one.seconds for one in self.heads])
        self._columns: dict[tuple[int, Scorer], tuple[int, Column]] = {}
        self._one = RLock()  # what several requests wait for is read once
        self._filtered = lru_cache(_ORDERS_KEPT)(self._filter)
        self._ordered = lru_cache(_ORDERS_KEPT)(self._sort)
        self._pairs = lru_cache(_WAYS_KEPT)(self._compare)
        self._ways = lru_cache(_WAYS_KEPT)(self._find_way)

    def _states(self, runs: Iterable[int]) -> dict[int, int]:
        revisions = self._store.catalog.revisions()
        return {run: revisions.get(run, -1) for run in runs}

    def page(self, query: ListQuery, first: int, last: int) -> dict[str, Any]:
        order = self._order(query)
        chosen = [self.heads[place] for place in order[first:last]]
        lines = self._store.catalog.some_samples(chosen)
        values = self._values({*query.runs, *query.scored}, [one.id for one in chosen], query.score)
        rows = []
        for one in chosen:
            runs = query.runs + query.scored
            own = {run: values.get((run, one.id, query.score)) for run in runs}
            known = [value for run in query.scored if (value := own[run]) is not None]
            row = {"id": one.id, "category": one.category, "seconds": one.seconds}
            row |= {"line": next(iter(lines[one.id].references), "")}
            row |= {"scores": [own[run] for run in query.runs]}
            rows.append(row | {"value": sum(known) / len(known) if known else None})
        return {"total": len(order), "all": len(self.heads), "rows": rows}

    @cached_property
    def texts(self) -> list[str]:
        """What a search looks through of each sample, beside answers to it."""
        known = self._store.catalog.sample_texts(self.heads)
        return [known[one.dataset, one.id] for one in self.heads]

    def find(self, query: ListQuery, sample: str) -> int:
        """Where a sample stands in a list; -1 where it does not."""
        place = self._places.get(sample)
        found = np.flatnonzero(self._order(query) == (-1 if place is None else place))
        return int(found[0]) if len(found) else -1

    def compared(self, first: int, second: int) -> dict[str, Any]:
        if not {first, second} <= {*self._runs}:
            raise QueryError("a and b are numbers of runs that are shown")
        return self._pairs(first, second, tuple(self._states((first, second)).values()))

    def _compare(self, first: int, second: int, _states: tuple[int, ...]) -> dict[str, Any]:
        read = TableReader(self._store).read
        pair = read(self._store.run(first)), read(self._store.run(second))
        return compared([pair])[0].to_dict()

    def clip(self, sample: str, scorers: Sequence[Scorer]) -> dict[str, Any] | None:
        """One sample with what every run said of it; None where there is none of that id."""
        if sample not in self._places:
            return None
        head = self.heads[self._places[sample]]
        whole = self._store.catalog.some_samples([head])[sample]
        outcomes = self._store.catalog.outcomes_of(self._runs, sample)
        judged = self._store.some_judgements(self._runs, ids=[sample])
        values = self._values(self._runs, [sample])
        answers = {}
        for run in self._runs:
            said = grouped((one.judge, one) for one in judged.get(run, ()))
            scores = [values.get((run, sample, one)) for one in scorers]
            words = {judge: words_of(rounds) for judge, rounds in said.items()}
            answers[run] = shown_answer(outcomes.get(run), scores, words)
        kind = MEDIA_TYPES.get(whole.clip.path.suffix.lower(), "application/octet-stream")
        facts = {"kind": kind, "absent": whole.clip.is_absent, "answers": answers}
        return clip_document(whole) | facts

    def sound(self, sample: str) -> bytes:
        """The bytes of a sample's clip, as they were when it was asked about; else AudioError."""
        if sample not in self._places:
            raise AudioError("is of no sample that is shown")
        head = self.heads[self._places[sample]]
        return self._store.catalog.some_samples([head])[sample].clip.read(_MOST_SOUND)

    def columns(self, runs: Sequence[int], scorer: Scorer) -> Column:
        """Scores of every sample, a row a run; NaN where there is none."""
        with self._one:
            self._read_columns(runs, scorer)
            found = [self._columns[run, scorer][1] for run in runs]
        return np.array(found).reshape(len(runs), len(self.heads))

    def _read_columns(self, runs: Sequence[int], scorer: Scorer) -> None:
        states = self._states(runs)
        stale = [run for run in runs if self._columns.get((run, scorer), _NONE)[0] != states[run]]
        if scorer.judge is None and stale:
            values = {run: [np.nan] * len(self.heads) for run in stale}
            for run, sample, _, value in self._store.catalog.score_values(stale, [scorer.name]):
                if sample in self._places:
                    values[run][self._places[sample]] = value
            made = ((run, np.array(values[run])) for run in stale)
            self._columns |= {(run, scorer): (states[run], column) for run, column in made}
        elif stale:
            judged = self._store.catalog.rounds(stale, scorer.name)
            for run in stale:
                own = _scores(judged[run, scorer.name])
                sizes = [len(samples) for samples, _ in own]
                places = [self._places.get(one, -1) for samples, _ in own for one in samples]
                for name in {scorer.column}.union(*(scores for _, scores in own)):
                    column = np.full(len(self.heads) + 1, np.nan)  # the last is of no sample
                    verdicts = np.array([scores.get(name, np.nan) for _, scores in own])
                    column[places] = verdicts.repeat(sizes)
                    self._columns[run, Scorer(scorer.name, name)] = states[run], column[:-1]

    def _values(
        self, runs: Collection[int], ids: Sequence[str], only: Scorer | None = None
    ) -> dict[tuple[int, str, Scorer], float]:
        """Scores as pages show them."""
        values: dict[tuple[int, str, Scorer], float] = {}
        if only is None or only.judge is None:
            names = None if only is None else [only.name]
            for run, sample, metric, value in self._store.catalog.score_values(runs, names, ids):
                values[run, sample, Scorer(metric)] = round(value, DIGITS)
        if only is not None and only.judge is None:
            return values
        said = self._store.catalog.rounds(runs, None if only is None else only.judge, ids)
        states = self._states(runs)
        for (run, name), verdicts in said.items():
            for samples, own in _scores(verdicts, self._ways(run, name, states[run])):
                shown = {Scorer(name, column): round(own[column], DIGITS) for column in own}
                for sample in samples:
                    values |= {(run, sample, scorer): shown[scorer] for scorer in shown}
        return values

    def _find_way(self, run: int, judge: str, _state: int) -> Signature | None:
        """How most judgements of a run were made, from what is kept of it."""
        own = (one for one in self._store.estimates(run) if one.scorer.startswith(f"{judge}: "))
        return next((one.signature for one in own if one.signature), None)

    def _order(self, query: ListQuery) -> NDArray[np.int64]:
        with self._one:
            return self._ordered(query, tuple(self._states(self._runs).values()))

    def _filter(self, query: ListQuery, _states: tuple[int, ...]) -> NDArray[np.int64]:
        chosen = np.ones(len(self.heads), dtype=bool)
        runs = query.scored
        if query.category:
            chosen &= self._categories == query.category
        if query.status == NOT_ASKED:
            asked = self._store.catalog.ended(runs, least=len(set(runs)))
            chosen &= ~self._among(asked) if runs else False
        elif query.status:
            chosen &= self._among(self._store.catalog.ended(runs, query.status))
        if query.low > -np.inf or query.high < np.inf:
            table = self.columns(runs, query.score)
            chosen &= ((table >= query.low) & (table <= query.high)).any(axis=0)
        words = set(query.search.lower().split())
        words -= {one for one in words if any(one in other for other in words - {one})}
        texts = self.texts if words else []
        # The longest word is the rarest, most likely; the others are looked for where it is. A
        # sample may say it itself, an answer to it, or what a judge said of that.
        for word in sorted(words, key=len, reverse=True):
            few = np.flatnonzero(chosen) if chosen.sum() <= _FEW else None
            ids = None if few is None else [self.heads[place].id for place in few]
            said = self._among(self._store.catalog.mentions(self._runs, word, ids))
            chosen &= said | np.array([word in text for text in texts], dtype=bool)
        return np.flatnonzero(chosen)

    def _among(self, samples: Collection[str]) -> NDArray[np.bool_]:
        found = np.zeros(len(self.heads), dtype=bool)
        found[[self._places[one] for one in samples if one in self._places]] = True
        return found

    def _sort(self, query: ListQuery, states: tuple[int, ...]) -> NDArray[np.int64]:
        found = self._filtered(query.model_copy(update={"sort": "order"}), states)
        if query.sort == "order" or not len(found):
            return found
        runs = query.runs if query.sort == "differ" else query.scored
        if query.sort in ("shortest", "longest"):
            keys = self._seconds[found]
        elif not runs:
            return found
        else:
            there = np.ma.masked_invalid(self.columns(runs, query.score)[:, found])
            spread = there.max(axis=0) - there.min(axis=0)
            keys = (spread if query.sort == "differ" else there.mean(axis=0)).filled(np.nan)
        sign = -1 if query.sort in ("highest", "differ", "longest") else 1
        # Samples without the score come last, whichever way; equal ones in the benchmark's order.
        return found[np.argsort(np.where(np.isnan(keys), np.inf, sign * keys), kind="stable")]


def _scores(
    given: Sequence[RoundScores], made: Signature | None = None
) -> list[tuple[Sequence[str], Mapping[str, float]]]:
    """Samples with their scores by dimension, of verdicts made in one way, or in the usual one."""
    ways = Counter[Signature]()
    for one in given:
        ways[one.signature] += len(one.samples)
    way = made if made is not None else max(ways, key=ways.__getitem__, default=None)
    own = [one for one in given if one.signature == way]
    groups: list[tuple[Sequence[str], list[Mapping[str, float]]]]
    if len({one.repeat for one in own}) < 2:
        groups = [(one.samples, [one.scores]) for one in own]
    else:
        rounds = grouped((sample, one.scores) for one in own for sample in one.samples)
        groups = [((sample,), several) for sample, several in rounds.items()]
    if way is None:
        return []
    whole = ((samples, together(several)) for samples, several in groups)
    return [(samples, {**one, OVERALL: overall_of(one, way)}) for samples, one in whole]
