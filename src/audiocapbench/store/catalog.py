"""Runs as a list, and parts of them a page at a time; names, tags and the end of runs; datasets."""

import json
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection, Text, delete, func, insert, select

from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import JUDGED, SCORED, Outcome, total_cost
from audiocapbench.errors import StoreError
from audiocapbench.grouping import grouped
from audiocapbench.signature import Signature
from audiocapbench.store import records as stored
from audiocapbench.store import schema
from audiocapbench.store.claims import ClaimRepository
from audiocapbench.store.connect import StoreRepository
from audiocapbench.store.ledger import lose
from audiocapbench.store.records import Dataset, ScorerLine, matching, record_of, row_of

_LATEST, _LOOK_AGAIN_S = 500, 1.0


class RoundScores(NamedTuple):
    """What a judge gave samples in one of its rounds."""

    samples: Sequence[str]
    repeat: int
    signature: Signature
    scores: Mapping[str, float]


class RunCatalog(StoreRepository):
    def latest_in(self, benchmark: str, root: str, dataset: str) -> Any:
        """Number and dataset of the newest run of a benchmark in a folder, of those on a dataset
        if there are any; None for none."""
        runs, known = schema.runs.c, schema.datasets.c
        query = select(runs.id, runs.dataset).join(schema.datasets)
        query = query.where(runs.benchmark == benchmark, known.root == root)
        query = query.order_by((runs.dataset == dataset).desc(), runs.id.desc())
        return next(iter(self._fetch(query.limit(1))), None)

    def scorers(self, run_ids: Iterable[int]) -> list[ScorerLine]:
        """Metrics and judges of runs, with what they made of them; metrics first."""
        made, chosen, lines = schema.scorings.c, set(run_ids), []
        for table, scorer, cost in (
            (schema.scores, schema.scores.c.metric, sa.literal(None)),
            (schema.judgements, schema.judgements.c.judge, func.sum(schema.judgements.c.cost_usd)),
        ):
            made_by, number = func.max(made.made_by).label("made_by"), func.count().label("number")
            whose = (scorer.label("scorer"), table.c.signature)
            query = select(*whose, number, cost.label("cost"), made_by)
            same = (made.run == table.c.run) & (made.scorer == scorer)
            query = query.join(schema.scorings, same).where(table.c.run.in_(chosen))
            query = query.group_by(scorer, table.c.signature).order_by(scorer)
            with self._reading() as connection:
                by_scorer = grouped((row.scorer, row) for row in connection.execute(query))
                signatures = stored.signatures_by_number(connection)
                lines += [
                    ScorerLine(
                        name,
                        table is schema.judgements,
                        sum(row.number for row in rows),
                        total_cost(row.cost for row in rows),
                        tuple(signatures[row.signature] for row in rows),
                        max(row.made_by for row in rows),
                    )
                    for name, rows in by_scorer.items()
                ]
        return lines

    def rename(self, run_id: int, name: str | None) -> None:
        self._check([run_id], [name or ""])
        with self._writing() as connection:
            same = schema.runs.update().where(schema.runs.c.id == run_id)
            connection.execute(same.values(name=name))

    def note_race(self, run_ids: Iterable[int], scorer: str, race: Mapping[str, Any]) -> None:
        """Mark runs as asked by a race; that of one by another scorer stays."""
        runs = schema.runs
        with self._writing() as connection:
            for run_id in run_ids:
                stored.note_change(connection, run_id)
                same = runs.c.id == run_id
                source = connection.execute(select(runs.c.source).where(same)).scalar() or {}
                source = source | {"race": source.get("race", {}) | {scorer: dict(race)}}
                connection.execute(runs.update().where(same).values(source=source))

    def tag(self, run_id: int, tags: Sequence[str], *, remove: bool = False) -> None:
        """Put tags on a run, or take them off; one that is there already stays."""
        self._check([run_id], tags, new=not remove)
        table = schema.run_tags
        with self._writing() as connection:
            if remove:
                same = (table.c.run == run_id, table.c.tag.in_(tags))
                connection.execute(delete(table).where(*same))
            else:
                values = [{"run": run_id, "tag": tag} for tag in dict.fromkeys(tags)]
                stored.insert_all(connection, table, values, new=True)

    def delete(self, run_ids: Sequence[int]) -> None:
        """Delete runs, unless one is at work, and datasets that no run is about any more."""
        self._check(run_ids)
        runs, kept, claims = schema.runs, schema.datasets, ClaimRepository(self._engine)
        while True:
            with self._writing(alone=True) as connection:
                if claims.are_idle(connection, run_ids):
                    lose(connection, "its run was deleted while its batch was out", run=run_ids)
                    connection.execute(delete(runs).where(runs.c.id.in_(run_ids)))
                    used = sa.exists().where(runs.c.dataset == kept.c.fingerprint)
                    connection.execute(delete(kept).where(~used))
                    return
            time.sleep(_LOOK_AGAIN_S)

    def revisions(self) -> dict[int, int]:
        """A number of each run that grows with whatever changes in it."""
        rows = self._fetch(select(schema.runs.c.id, schema.runs.c.revision))
        return {row.id: row.revision for row in rows}

    def typical_latency(self, who: str) -> float | None:
        """Seconds that a model's or judge's latest answers took on average; None for none."""
        runs, made, judged = schema.runs.c, schema.outcomes.c, schema.judgements.c
        answers = select(made.latency_s).join(schema.runs, runs.id == made.run)
        answers = answers.where(runs.model == who, made.status.in_(SCORED), made.latency_s > 0)
        verdicts = select(judged.latency_s).where(judged.judge == who, judged.latency_s > 0)
        for query, at in ((answers, made.answered_at), (verdicts, judged.judged_at)):
            latest = query.order_by(at.desc()).limit(_LATEST).subquery()
            (row,) = self._fetch(select(func.avg(latest.c.latency_s)))
            if row[0] is not None:
                return float(row[0])
        return None

    def dataset(
        self, fingerprint: str, benchmark: str | None = None, ids: Iterable[str] | None = None
    ) -> Dataset:
        """A dataset with its samples, or some, and its traits as of a benchmark (or the first)."""
        whole, table = schema.datasets, schema.samples
        query = select(table).where(*matching(table, dataset=fingerprint, id=ids))
        with self._reading() as connection:
            head = connection.execute(select(whole).where(whole.c.fingerprint == fingerprint)).one()
            name = head.benchmark if benchmark is None else benchmark
            traits = head.traits.get(name, {}) if isinstance(head.traits, dict) else None
            if not isinstance(traits, dict):
                words = f"the stored traits of {name} are damaged: they are no JSON object"
                raise StoreError(words)
            root, samples = Path(head.root), []
            for row in connection.execute(query.order_by(table.c.position)):
                clip = record_of(Clip, row, table, path=root / row.file_name)
                samples.append(record_of(Sample, row, table, clip=clip))
        return record_of(Dataset, head, benchmark=name, samples=tuple(samples), traits=traits)

    def scored_by(self, run_ids: Iterable[int]) -> dict[int, list[str]]:
        """Names of the metrics and judges that scored each of the runs, of those that have any."""
        table = schema.scorings.c
        query = select(table.run, table.scorer).where(table.run.in_(set(run_ids))).distinct()
        rows = self._fetch(query.order_by(table.run, table.scorer))
        return dict(grouped((row.run, row.scorer) for row in rows))

    def dimensions(self, run_ids: Iterable[int], judge: str) -> list[str]:
        """What a judge scores, in its order; nothing where it judged none of the runs."""
        table = schema.judgements
        same = matching(table, run=run_ids, judge=judge, status=JUDGED)
        query = select(table.c["values"].label("made")).where(*same).limit(1)
        return [name for row in self._fetch(query) for name in row.made]

    def sample_heads(self, run_ids: Sequence[int]) -> list[Any]:
        """Id, dataset, category and seconds of samples of any of the runs, in their order."""
        runs, chosen, table = schema.runs.c, schema.run_samples.c, schema.samples.c
        of_runs = select(runs.dataset, runs.id, runs.sample_count).where(runs.id.in_(run_ids))
        seconds = table.duration_s.label("seconds")
        columns = (table.id, table.dataset, table.category, seconds, table.position)
        with self._reading() as connection:
            asked = connection.execute(of_runs).all()
            own = select(*columns).where(table.dataset.in_({row.dataset for row in asked}))
            rows = connection.execute(own.order_by(table.position)).all()
            wanted: set[str] | None = None
            if any(row.sample_count < len(rows) for row in asked):
                ids = select(chosen.sample).where(chosen.run.in_(run_ids)).distinct()
                wanted = set(connection.execute(ids).scalars())
        first = {row.id: row for row in reversed(rows) if wanted is None or row.id in wanted}
        return sorted(first.values(), key=lambda row: row.position)

    def some_samples(self, heads: Iterable[Any]) -> dict[str, Sample]:
        wanted = grouped((head.dataset, head.id) for head in heads)
        parts = (self.dataset(name, ids=ids).samples for name, ids in wanted.items())
        return {sample.id: sample for part in parts for sample in part}

    def outcomes_of(self, run_ids: Iterable[int], sample: str) -> dict[int, Outcome]:
        with self._reading() as connection:
            return stored.outcomes_by("run", connection, run=run_ids, sample=sample)

    def ended(self, run_ids: Iterable[int], status: str | None = None, least: int = 1) -> set[str]:
        """Samples that so many of the runs or more have an outcome of, or one of a status."""
        table = schema.outcomes
        same = matching(table, run=run_ids, status=status)
        query = select(table.c.sample).where(*same).group_by(table.c.sample)
        return {row.sample for row in self._fetch(query.having(func.count() >= least))}

    def sample_texts(self, heads: Iterable[Any]) -> dict[tuple[str, str], str]:
        """What a search looks through of samples, in small letters, by dataset and id."""
        own, texts = schema.samples.c, {}
        lists = (sa.cast(own.references, Text), sa.cast(own.details, Text))
        columns = (own.dataset, own.id, own.category, own.file_name, *lists)
        query = select(*columns).where(own.dataset.in_({head.dataset for head in heads}))
        with self._reading() as connection:
            for dataset, *names, references, details in connection.execute(query):
                said = "" if details == "{}" else details
                if "\\" in said:  # JSON without escapes reads as it is kept
                    said = json.dumps(schema.read_json(said), ensure_ascii=False)
                said = "\n".join((*names, *schema.read_json(references), said))
                texts[dataset, names[0]] = said.lower()
        return texts

    def score_values(
        self,
        run_ids: Iterable[int],
        metrics: Iterable[str] | None,
        ids: Iterable[str] | None = None,
    ) -> Sequence[Any]:
        """Runs, samples, metrics and values: of single samples and metrics, or of all."""
        table, own = schema.scores, schema.scores.c
        kinds = {own.run: sa.Integer, own.sample: Text, own.metric: Text, own.value: sa.Float}
        plain: list[Any] = [sa.type_coerce(column, kind) for column, kind in kinds.items()]
        same = matching(table, run=run_ids, metric=metrics, sample=ids)
        with self._reading() as connection:
            rows = stored.plain_rows(connection, select(*plain).where(*same))
            if strange := {type(row[3]) for row in rows} - {float, int}:
                raise schema.DamagedCellError(f"{strange} stand where scores should")
            return rows

    def rounds(
        self, run_ids: Iterable[int], judge: str | None, ids: Iterable[str] | None = None
    ) -> dict[tuple[int, str], list[RoundScores]]:
        """What a judge or all scored of samples, by run and judge, without its words; equal scores
        together."""
        table, own = schema.judgements, schema.judgements.c
        columns = (own.run, own.judge, own.repeat, own.signature, sa.cast(own["values"], Text))
        same = matching(table, run=run_ids, judge=judge, sample=ids, status=JUDGED)
        kind: Any = own["values"].type
        found: dict[tuple[int, str], list[RoundScores]] = defaultdict(list)
        with self._reading() as connection:
            signatures = stored.signatures_by_number(connection)
            rows = stored.plain_rows(connection, select(*columns, own.sample).where(*same))
            alike = grouped((row[:5], row[5]) for row in rows)
            texts = {text for *_, text in alike}
            scores = {text: kind.check(schema.read_json(text)) for text in texts}
            for key in sorted(alike, key=itemgetter(0, 2)):
                run, name, repeat, number, text = key
                verdict = RoundScores(alike[key], repeat, signatures[number], scores[text])
                found[run, name].append(verdict)
        return found

    def mentions(
        self, run_ids: Sequence[int], word: str, ids: Iterable[str] | None = None
    ) -> set[str]:
        """Samples, or some, whose answers, errors or judges' reasons have a word in any case."""
        made, judged = schema.outcomes, schema.judgements
        safe = re.sub(r"([%_/])", r"/\1", word)

        def has(column: Any) -> Any:
            if self._engine.dialect.name != "sqlite":
                return column.ilike(f"%{safe}%", escape="/")
            # SQLite folds letters by itself, but only ASCII's.
            if word.isascii() or word.upper() == word.lower():
                return column.like(f"%{safe}%", escape="/")
            return func.says(column, word)

        def said(table: Any, *texts: Any) -> set[str]:
            some = matching(table, run=run_ids, sample=ids)
            query = select(table.c.sample).where(*some, sa.or_(*map(has, texts))).distinct()
            return {row.sample for row in self._fetch(query)}

        with ThreadPoolExecutor(1) as beside:  # most of the time is the database's own
            reasons = beside.submit(copy_context().run, said, judged, judged.c.reasoning)
            return said(made, made.c.text, made.c.error) | reasons.result()

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
            rows += self._fetch(query.group_by(own.run, judge, own.status))
        return rows

    def newest(self, run_ids: Iterable[int], limit: int) -> list[Any]:
        own = schema.outcomes.c
        columns = (own.run, own.sample, own.status, own.text, own.error, own.answered_at)
        query = select(*columns).where(own.run.in_(set(run_ids)))
        return list(self._fetch(query.order_by(own.answered_at.desc()).limit(limit)))

    def _check(
        self, run_ids: Iterable[int], texts: Sequence[str] = (), *, new: bool = True
    ) -> None:
        known = {row.id for row in self._fetch(select(schema.runs.c.id))}
        for run_id in run_ids:
            if run_id not in known:
                raise self._no_such_run(run_id)
        if any(one == "\0" or "\ud800" <= one <= "\udfff" for text in texts for one in text):
            raise StoreError("a name or tag holds bytes that are no text; write it in UTF-8")
        if wrong := [text for text in texts if new and (text.isdecimal() or "," in text)]:
            what = f"{wrong[0]!r:.80} would not be found again as a name or tag"
            raise StoreError(f"{what}: a number is a run's own, and commas stand between runs")


def keep_dataset(connection: Connection, dataset: Dataset) -> None:
    """Keep a dataset, or follow what changed in one that is kept without being asked anew."""
    table, samples, runs = schema.datasets, schema.samples, schema.runs.c
    same = table.c.fingerprint == dataset.fingerprint
    known = connection.execute(select(table.c.traits).where(same)).first()
    if known is None:
        traits = {dataset.benchmark: dict(dataset.traits)}
        connection.execute(insert(table), row_of(table, dataset, traits=traits))
        clips = [one.clip for one in dataset.samples]
        kept = dataset.fingerprint
        stored.insert_records(connection, samples, dataset.samples, clips, dataset=kept)
        return
    moved: dict[str, Any] = {"root": dataset.root, "missing": dataset.missing}
    traits = dict(known.traits) | {dataset.benchmark: dict(dataset.traits)}
    if traits != known.traits:
        moved["traits"] = traits
        asked = (runs.dataset == dataset.fingerprint, runs.benchmark == dataset.benchmark)
        for run_id in connection.execute(select(runs.id).where(*asked)).scalars().all():
            stored.note_change(connection, run_id)
    connection.execute(table.update().where(same).values(**moved))
    mine = samples.c.dataset == dataset.fingerprint
    query = select(samples.c.id, samples.c.file_name, samples.c.details).where(mine)
    before = {row.id: (row.file_name, row.details) for row in connection.execute(query)}
    for sample in dataset.samples:
        name, details = sample.clip.file_name, dict(sample.details)
        if before.get(sample.id) != (name, details):
            change = samples.update().where(mine, samples.c.id == sample.id)
            connection.execute(change.values(file_name=name, details=details))
