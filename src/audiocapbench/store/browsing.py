"""For whoever looks into a store: parts of runs, a page at a time, and what goes on."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    Float,
    Integer,
    Text,
    cast,
    false,
    func,
    literal,
    or_,
    select,
    type_coerce,
)

from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Outcome, Status
from audiocapbench.signature import Signature
from audiocapbench.store import schema
from audiocapbench.store.catalog import read_dataset
from audiocapbench.store.connect import StoreRepository, fetch, reading
from audiocapbench.store.records import Dataset
from audiocapbench.store.rows import outcome_of, signatures_by_number
from audiocapbench.store.schema import DamagedCellError, read_json

_LATEST = 500


class SampleHead(NamedTuple):
    """What a list needs to know of a sample."""

    id: str
    dataset: str
    category: str
    seconds: float


class RoundScores(NamedTuple):
    """What a judge gave samples in one of its rounds."""

    samples: Sequence[str]
    repeat: int
    signature: Signature
    scores: Mapping[str, float]


class BrowsingRepository(StoreRepository):
    """Parts of runs, as pages need them."""

    def revisions(self) -> dict[int, int]:
        """A number of each run that grows with whatever changes in it."""
        found = fetch(self._engine, select(schema.runs.c.id, schema.runs.c.revision))
        return {row.id: row.revision for row in found}

    def typical_latency(self, who: str) -> float | None:
        """Seconds that a model's or judge's latest answers took on average; None for none."""
        runs, outcomes, judgements = schema.runs.c, schema.outcomes.c, schema.judgements.c
        good = outcomes.status.in_(SCORED) & (outcomes.latency_s > 0)
        answered = select(outcomes.latency_s).join(schema.runs, runs.id == outcomes.run)
        answered = answered.where(runs.model == who, good).order_by(outcomes.answered_at.desc())
        asked = (judgements.judge == who) & (judgements.latency_s > 0)
        judged = select(judgements.latency_s).where(asked)
        for query in (answered, judged.order_by(judgements.judged_at.desc())):
            latest = query.limit(_LATEST).subquery()
            with reading(self._engine) as connection:
                took = connection.execute(select(func.avg(latest.c.latency_s))).scalar_one()
            if took is not None:
                return float(took)
        return None

    def dataset_head(self, fingerprint: str, benchmark: str) -> Dataset:
        """A dataset without its samples."""
        with reading(self._engine) as connection:
            return read_dataset(connection, fingerprint, benchmark, false())

    def scored_by(self, run_ids: Iterable[int]) -> dict[int, list[str]]:
        """Names of the metrics and judges that scored each of the runs, of those that have any."""
        table, found = schema.scorings.c, dict[int, list[str]]()
        query = select(table.run, table.scorer).where(table.run.in_(set(run_ids))).distinct()
        for row in fetch(self._engine, query.order_by(table.run, table.scorer)):
            found.setdefault(row.run, []).append(row.scorer)
        return found

    def dimensions(self, run_ids: Iterable[int], judge: str) -> list[str]:
        """What a judge scores, in its order; nothing where it judged none of the runs."""
        own = schema.judgements.c
        same = (own.run.in_(set(run_ids)), own.judge == judge, own.status == "ok")
        found = fetch(self._engine, select(own["values"].label("made")).where(*same).limit(1))
        return list(found[0].made) if found else []

    def sample_heads(self, run_ids: Sequence[int]) -> list[SampleHead]:
        """The samples that any of the runs asks about, in the benchmark's order."""
        runs, chosen, table = schema.runs.c, schema.run_samples.c, schema.samples.c
        of_runs = select(runs.dataset, runs.id, runs.sample_count).where(runs.id.in_(run_ids))
        columns = (table.id, table.dataset, table.category, table.duration_s, table.position)
        with reading(self._engine) as connection:
            asked = connection.execute(of_runs).all()
            own = select(*columns).where(table.dataset.in_({row.dataset for row in asked}))
            found = connection.execute(own.order_by(table.position)).all()
            wanted: set[str] | None = None
            if any(row.sample_count < len(found) for row in asked):
                ids = select(chosen.sample).where(chosen.run.in_(run_ids)).distinct()
                wanted = set(connection.execute(ids).scalars())
        first = {row.id: row for row in reversed(found) if wanted is None or row.id in wanted}
        return [
            SampleHead(row.id, row.dataset, row.category, row.duration_s)
            for row in sorted(first.values(), key=lambda row: row.position)
        ]

    def some_samples(self, heads: Iterable[SampleHead]) -> dict[str, Sample]:
        """Samples in full, by id."""
        wanted: dict[str, list[str]] = defaultdict(list)
        for one in heads:
            wanted[one.dataset].append(one.id)
        samples: dict[str, Sample] = {}
        with reading(self._engine) as connection:
            for dataset, ids in wanted.items():
                part = read_dataset(connection, dataset, None, schema.samples.c.id.in_(ids))
                samples |= {one.id: one for one in part.samples}
        return samples

    def outcomes_of(self, run_ids: Iterable[int], sample: str) -> dict[int, Outcome]:
        """Outcomes of one sample, by run."""
        table = schema.outcomes
        query = select(table).where(table.c.run.in_(set(run_ids)), table.c.sample == sample)
        return {row.run: outcome_of(row) for row in fetch(self._engine, query)}

    def ended(self, run_ids: Iterable[int], status: str | None = None) -> set[str]:
        """Samples that ended so, or in any way, in any of the runs."""
        own = schema.outcomes.c
        query = select(own.sample).where(own.run.in_(set(run_ids))).distinct()
        query = query if status is None else query.where(own.status == status)
        return {row.sample for row in fetch(self._engine, query)}

    def sample_texts(self, heads: Iterable[SampleHead]) -> dict[tuple[str, str], str]:
        """What a search looks through of samples, in small letters, by dataset and id."""
        own = schema.samples.c
        columns = (own.dataset, own.id, own.category, own.file_name, own.references, own.details)
        query = select(*columns).where(own.dataset.in_({one.dataset for one in heads}))
        texts = {}
        for row in fetch(self._engine, query):
            details = json.dumps(row.details, ensure_ascii=False) if row.details else ""
            texts[row.dataset, row.id] = "\n".join((*row[1:4], *row.references, details)).lower()
        return texts

    def score_values(
        self,
        run_ids: Iterable[int],
        metrics: Iterable[str] | None = None,
        ids: Iterable[str] | None = None,
    ) -> Sequence[Any]:
        """Runs, samples, metrics and values: of single samples and metrics, or of all."""
        own, wanted = schema.scores.c, {"run": run_ids, "metric": metrics, "sample": ids}
        kinds: dict[Any, Any] = {own.run: Integer, own.sample: Text, own.metric: Text}
        plain = [type_coerce(one, kind) for one, kind in (kinds | {own.value: Float}).items()]
        same = (own[name].in_(set(given)) for name, given in wanted.items() if given is not None)
        with reading(self._engine) as connection:
            found = connection.execute(select(*plain).where(*same)).all()
            # There may be very many: they are checked together.
            if strange := {type(row[3]) for row in found} - {float, int}:
                raise DamagedCellError(f"{strange} stand where scores should")
            return found

    def judge_column(self, run_ids: Iterable[int], judge: str) -> dict[int, list[RoundScores]]:
        """What a judge scored of all samples of runs, without its words; equal scores together."""
        own, between = schema.judgements.c, "\x1f\x1e"
        keys = (own.run, own.repeat, own.signature, cast(own["values"], Text))
        samples = func.aggregate_strings(own.sample, between)
        same = (own.run.in_(set(run_ids)), own.judge == judge, own.status == str(Status.OK))
        query = select(*keys, samples).where(*same).group_by(*keys).order_by(own.run, own.repeat)
        kind: Any = own["values"].type
        found: dict[int, list[RoundScores]] = defaultdict(list)
        known: dict[str, dict[str, float]] = {}
        with reading(self._engine) as connection:
            signatures = signatures_by_number(connection)
            for run, repeat, number, text, names in connection.execute(query):
                if text not in known:
                    known[text] = kind.process_result_value(read_json(text), connection.dialect)
                verdict = RoundScores(names.split(between), repeat, signatures[number], known[text])
                found[run].append(verdict)
        return found

    def mentions(
        self, run_ids: Sequence[int], word: str, ids: Iterable[str] | None = None
    ) -> set[str]:
        """Samples whose answers, errors or judges' reasons have a word, in letters of any size.

        Of all samples, or of those with one of the ids.
        """
        made, judged = schema.outcomes.c, schema.judgements.c
        # SQLite folds letters by itself, but only ASCII's.
        forms = {word} if word.isascii() else {word, word.lower(), word.upper(), word.capitalize()}
        safe = [re.sub(r"([%_/])", r"/\1", form) for form in forms]
        like = "like" if self._engine.dialect.name == "sqlite" else "ilike"
        found: set[str] = set()
        for own, texts in ((made, (made.text, made.error)), (judged, (judged.reasoning,))):
            has = (getattr(one, like)(f"%{form}%", escape="/") for one in texts for form in safe)
            query = select(own.sample).where(own.run.in_(run_ids), or_(*has)).distinct()
            if ids is not None:
                query = query.where(own.sample.in_(ids))
            found.update(row.sample for row in fetch(self._engine, query))
        return found

    def counted(self, run_ids: Iterable[int], since: str) -> list[Any]:
        """Outcomes and judgements by run, judge (none for the run's own model) and status.

        With what they cost, and how many of them came since a moment.
        """
        found: list[Any] = []
        made, judged = schema.outcomes.c, schema.judgements.c
        for own, judge, at in (
            (made, literal("").label("judge"), made.answered_at),
            (judged, judged.judge, judged.judged_at),
        ):
            recent = func.count().filter(at > since).label("recent")
            counts = (func.count().label("number"), func.sum(own.cost_usd).label("cost"), recent)
            query = select(own.run, judge, own.status, *counts).where(own.run.in_(set(run_ids)))
            found += fetch(self._engine, query.group_by(own.run, judge, own.status))
        return found

    def newest(self, run_ids: Iterable[int], limit: int) -> list[Any]:
        """The newest outcomes of runs, newest first."""
        own = schema.outcomes.c
        columns = (own.run, own.sample, own.status, own.text, own.error, own.answered_at)
        query = select(*columns).where(own.run.in_(set(run_ids)))
        return list(fetch(self._engine, query.order_by(own.answered_at.desc()).limit(limit)))
