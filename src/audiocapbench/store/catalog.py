"""Runs as a list: what a name stands for, who scored them, their names and tags, and their end."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Engine, Row, delete, exists, func, literal, select

from audiocapbench.data import Sample
from audiocapbench.data.outcome import total_cost
from audiocapbench.errors import StoreError
from audiocapbench.store import schema
from audiocapbench.store.claims import holders_of
from audiocapbench.store.connect import (
    StoreRepository,
    fetch,
    reading,
    shown,
    store_option,
    writing,
)
from audiocapbench.store.records import ChangedSamples, ScorerLine
from audiocapbench.store.rows import insert_new, signatures_by_number


class RunCatalog(StoreRepository):
    """What is known of runs as a whole."""

    def changes(
        self, benchmark: str, root: str, fingerprint: str, now: Sequence[Sample]
    ) -> ChangedSamples | None:
        """How a benchmark's folder differs from when it was last run; None if it does not."""
        runs, known, table = schema.runs.c, schema.datasets.c, schema.samples
        latest = (
            select(runs.id, runs.dataset)
            .join_from(schema.runs, schema.datasets, runs.dataset == known.fingerprint)
            .where(runs.benchmark == benchmark, known.root == root)
            .order_by(runs.id.desc())
            .limit(1)
        )
        with reading(self._engine) as connection:
            run = connection.execute(latest).first()
            if run is None or run.dataset == fingerprint:
                return None
            query = select(table).where(table.c.dataset == run.dataset)
            before = {row.id: row for row in connection.execute(query)}
        pairs = [(before[one.id], one) for one in now if one.id in before]
        clips = (new.clip.file_name for old, new in pairs if old.clip_sha256 != new.clip.sha256)
        texts = (new.id for old, new in pairs if _asked(old) != _asked(new))
        others = sorted(before.keys() ^ {one.id for one in now})
        return ChangedSamples(run.id, tuple(dict.fromkeys(clips)), tuple(texts), tuple(others))

    def scorers(self, run_ids: Iterable[int]) -> list[ScorerLine]:
        """Metrics and judges of runs, with what they made of them; metrics first."""
        made, chosen, lines = schema.scorings.c, set(run_ids), []
        for table, scorer, cost in (
            (schema.scores, schema.scores.c.metric, literal(None)),
            (schema.judgements, schema.judgements.c.judge, func.sum(schema.judgements.c.cost_usd)),
        ):
            query = select(
                scorer.label("scorer"),
                table.c.signature,
                func.count().label("number"),
                cost.label("cost"),
                func.max(made.made_by).label("made_by"),
            )
            same = (made.run == table.c.run) & (made.scorer == scorer)
            query = query.join(schema.scorings, same).where(table.c.run.in_(chosen))
            query = query.group_by(scorer, table.c.signature).order_by(scorer)
            by_scorer: dict[str, list[Row[Any]]] = defaultdict(list)
            with reading(self._engine) as connection:
                for row in connection.execute(query):
                    by_scorer[row.scorer].append(row)
                signatures = signatures_by_number(connection)
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
        """Give a run a name of its own, or take it away."""
        self._check([run_id], [name or ""])
        with writing(self._engine) as connection:
            same = schema.runs.update().where(schema.runs.c.id == run_id)
            connection.execute(same.values(name=name))

    def tag(self, run_id: int, tags: Sequence[str], *, remove: bool = False) -> None:
        """Put tags on a run, or take them off; one that is there already stays."""
        self._check([run_id], tags)
        table = schema.run_tags
        with writing(self._engine) as connection:
            if remove:
                same = (table.c.run == run_id, table.c.tag.in_(tags))
                connection.execute(delete(table).where(*same))
            else:
                values = [{"run": run_id, "tag": tag} for tag in dict.fromkeys(tags)]
                insert_new(connection, table, values)

    def delete(self, run_ids: Sequence[int]) -> None:
        """Delete runs with all that is known of them, and datasets that no run is about any more.

        Replies in the cache stay: they are of questions, not of runs.

        Raises:
            StoreError: There is no such run, or a command is at work on it; then none is deleted.
        """
        self._check(run_ids)
        runs, kept = schema.runs, schema.datasets
        with writing(self._engine, alone=True) as connection:
            for run, owner in holders_of(connection, run_ids):
                raise StoreError(
                    f"{shown(self._engine.url)}: {owner} is at work on run {run}; end that first"
                )
            connection.execute(delete(runs).where(runs.c.id.in_(run_ids)))
            used = exists().where(runs.c.dataset == kept.c.fingerprint)
            connection.execute(delete(kept).where(~used))

    def _check(self, run_ids: Iterable[int], texts: Iterable[str] = ()) -> None:
        known = {row.id for row in fetch(self._engine, select(schema.runs.c.id))}
        for run_id in run_ids:
            if run_id not in known:
                raise no_such_run(self._engine, run_id)
        if any(one == "\0" or "\ud800" <= one <= "\udfff" for text in texts for one in text):
            raise StoreError("a name or tag holds bytes that are no text; write it in UTF-8")


def no_such_run(engine: Engine, run_id: int) -> StoreError:
    """What to say of a run that is not there."""
    lists = f"'audiocapbench runs{store_option(engine.url)}' lists them"
    return StoreError(f"{shown(engine.url)} has no run {run_id}; {lists}")


def _asked(sample: Any) -> list[Any]:
    """What is asked and compared with, as a benchmark's fingerprint counts it."""
    return [sample.instruction, sample.category, sample.position, list(sample.references)]
