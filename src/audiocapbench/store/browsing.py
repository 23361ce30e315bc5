"""For whoever looks into a store: parts of runs, a page at a time, and what goes on."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Text, func, or_, select, type_coerce

from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Outcome, Status
from audiocapbench.signature import Signature
from audiocapbench.store import schema
from audiocapbench.store.catalog import read_dataset
from audiocapbench.store.connect import StoreRepository, fetch, reading
from audiocapbench.store.records import Dataset
from audiocapbench.store.rows import matching, outcome_of, signatures_by_number
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
        rows = fetch(self._engine, select(schema.runs.c.id, schema.runs.c.revision))
        return {row.id: row.revision for row in rows}

    def typical_latency(self, who: str) -> float | None:
        """Seconds that a model's or judge's latest answers took on average; None for none."""
        runs, made, judged = schema.runs.c, schema.outcomes.c, schema.judgements.c
        answers = select(made.latency_s).join(schema.runs, runs.id == made.run)
        answers = answers.where(runs.model == who, made.status.in_(SCORED), made.latency_s > 0)
        verdicts = select(judged.latency_s).where(judged.judge == who, judged.latency_s > 0)
        for query, at in ((answers, made.answered_at), (verdicts, judged.judged_at)):
            latest = query.order_by(at.desc()).limit(_LATEST).subquery()
            (row,) = fetch(self._engine, select(func.avg(latest.c.latency_s)))
            if row[0] is not None:
                return float(row[0])
        return None

    def dataset_head(self, fingerprint: str, benchmark: str) -> Dataset:
        """A dataset without its samples."""
        with reading(self._engine) as connection:
            return read_dataset(connection, fingerprint, benchmark, sa.false())

    def scored_by(self, run_ids: Iterable[int]) -> dict[int, list[str]]:
        """Names of the metrics and judges that scored each of the runs, of those that have any."""
        table, scorers = schema.scorings.c, dict[int, list[str]]()
        query = select(table.run, table.scorer).where(table.run.in_(set(run_ids))).distinct()
        for row in fetch(self._engine, query.order_by(table.run, table.scorer)):
            scorers.setdefault(row.run, []).append(row.scorer)
        return scorers

    def dimensions(self, run_ids: Iterable[int], judge: str) -> list[str]:
        """What a judge scores, in its order; nothing where it judged none of the runs."""
        table = schema.judgements
        same = matching(table, run=run_ids, judge=judge, status="ok")
        query = select(table.c["values"].label("made")).where(*same).limit(1)
        return [name for row in fetch(self._engine, query) for name in row.made]

    def sample_heads(self, run_ids: Sequence[int]) -> list[SampleHead]:
        """The samples that any of the runs asks about, in the benchmark's order."""
        runs, chosen, table = schema.runs.c, schema.run_samples.c, schema.samples.c
        of_runs = select(runs.dataset, runs.id, runs.sample_count).where(runs.id.in_(run_ids))
        columns = (table.id, table.dataset, table.category, table.duration_s, table.position)
        with reading(self._engine) as connection:
            asked = connection.execute(of_runs).all()
            own = select(*columns).where(table.dataset.in_({row.dataset for row in asked}))
            rows = connection.execute(own.order_by(table.position)).all()
            wanted: set[str] | None = None
            if any(row.sample_count < len(rows) for row in asked):
                ids = select(chosen.sample).where(chosen.run.in_(run_ids)).distinct()
                wanted = set(connection.execute(ids).scalars())
        first = {row.id: row for row in reversed(rows) if wanted is None or row.id in wanted}
        return [
            SampleHead(row.id, row.dataset, row.category, row.duration_s)
            for row in sorted(first.values(), key=lambda row: row.position)
        ]

    def some_samples(self, heads: Iterable[SampleHead]) -> dict[str, Sample]:
        """Samples in full, by id."""
        wanted: dict[str, list[str]] = defaultdict(list)
        for head in heads:
            wanted[head.dataset].append(head.id)
        samples: dict[str, Sample] = {}
        with reading(self._engine) as connection:
            for dataset, ids in wanted.items():
                part = read_dataset(connection, dataset, None, schema.samples.c.id.in_(ids))
                samples |= {sample.id: sample for sample in part.samples}
        return samples

    def outcomes_of(self, run_ids: Iterable[int], sample: str) -> dict[int, Outcome]:
        """Outcomes of one sample, by run."""
        table = schema.outcomes
        query = select(table).where(*matching(table, run=run_ids, sample=sample))
        return {row.run: outcome_of(row) for row in fetch(self._engine, query)}

    def ended(self, run_ids: Iterable[int], status: str | None = None) -> set[str]:
        """Samples that ended so, or in any way, in any of the runs."""
        table = schema.outcomes
        same = matching(table, run=run_ids, status=status)
        query = select(table.c.sample).where(*same).distinct()
        return {row.sample for row in fetch(self._engine, query)}

    def sample_texts(self, heads: Iterable[SampleHead]) -> dict[tuple[str, str], str]:
        """What a search looks through of samples, in small letters, by dataset and id."""
        own = schema.samples.c
        columns = (own.dataset, own.id, own.category, own.file_name, own.references, own.details)
        query = select(*columns).where(own.dataset.in_({head.dataset for head in heads}))
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
        table, own = schema.scores, schema.scores.c
        kinds = {own.run: sa.Integer, own.sample: Text, own.metric: Text, own.value: sa.Float}
        plain: list[Any] = [type_coerce(column, kind) for column, kind in kinds.items()]
        same = matching(table, run=run_ids, metric=metrics, sample=ids)
        with reading(self._engine) as connection:
            rows = connection.execute(select(*plain).where(*same)).all()
            # There may be very many: they are checked together.
            if strange := {type(row[3]) for row in rows} - {float, int}:
                raise DamagedCellError(f"{strange} stand where scores should")
            return rows

    def judge_column(self, run_ids: Iterable[int], judge: str) -> dict[int, list[RoundScores]]:
        """What a judge scored of all samples of runs, without its words; equal scores together."""
        table, own, between = schema.judgements, schema.judgements.c, "\x1f\x1e"
        keys = (own.run, own.repeat, own.signature, sa.cast(own["values"], Text))
        samples = func.aggregate_strings(own.sample, between)
        same = matching(table, run=run_ids, judge=judge, status=str(Status.OK))
        query = select(*keys, samples).where(*same).group_by(*keys).order_by(own.run, own.repeat)
        kind: Any = own["values"].type
        column: dict[int, list[RoundScores]] = defaultdict(list)
        known: dict[str, dict[str, float]] = {}
        with reading(self._engine) as connection:
            signatures = signatures_by_number(connection)
            for run, repeat, number, text, names in connection.execute(query):
                if text not in known:
                    known[text] = kind.process_result_value(read_json(text), connection.dialect)
                verdict = RoundScores(names.split(between), repeat, signatures[number], known[text])
                column[run].append(verdict)
        return column

    def mentions(
        self, run_ids: Sequence[int], word: str, ids: Iterable[str] | None = None
    ) -> set[str]:
        """Samples, or some, whose answers, errors or judges' reasons have a word in any case."""
        made, judged = schema.outcomes, schema.judgements
        # SQLite folds letters by itself, but only ASCII's.
        forms = {word} if word.isascii() else {word, word.lower(), word.upper(), word.capitalize()}
        safe = [re.sub(r"([%_/])", r"/\1", form) for form in forms]
        like = "like" if self._engine.dialect.name == "sqlite" else "ilike"
        samples: set[str] = set()
        for table, texts in ((made, (made.c.text, made.c.error)), (judged, (judged.c.reasoning,))):
            has = (getattr(one, like)(f"%{form}%", escape="/") for one in texts for form in safe)
            some = matching(table, run=run_ids, sample=ids)
            query = select(table.c.sample).where(*some, or_(*has)).distinct()
            samples.update(row.sample for row in fetch(self._engine, query))
        return samples

    def counted(self, run_ids: Iterable[int], since: str) -> list[Any]:
        """Outcomes and judgements by run, judge and status: number, cost, and how many since."""
        rows: list[Any] = []
        made, judged = schema.outcomes.c, schema.judgements.c
        for own, judge, at in (
            (made, sa.literal("").label("judge"), made.answered_at),
            (judged, judged.judge, judged.judged_at),
        ):
            recent = func.count().filter(at > since).label("recent")
            counts = (func.count().label("number"), func.sum(own.cost_usd).label("cost"), recent)
            query = select(own.run, judge, own.status, *counts).where(own.run.in_(set(run_ids)))
            rows += fetch(self._engine, query.group_by(own.run, judge, own.status))
        return rows

    def newest(self, run_ids: Iterable[int], limit: int) -> list[Any]:
        """The newest outcomes of runs, newest first."""
        own = schema.outcomes.c
        columns = (own.run, own.sample, own.status, own.text, own.error, own.answered_at)
        query = select(*columns).where(own.run.in_(set(run_ids)))
        return list(fetch(self._engine, query.order_by(own.answered_at.desc()).limit(limit)))
