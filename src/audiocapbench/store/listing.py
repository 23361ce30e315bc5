"""The store's part about runs as a list: how far each got, its name and tags, and its end."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Engine, Table, delete, exists, func, literal, select

from audiocapbench.data import Sample
from audiocapbench.data.outcome import total_cost
from audiocapbench.errors import StoreError, meant
from audiocapbench.store import rows, schema
from audiocapbench.store.claims import holders_of
from audiocapbench.store.connect import fetch, reading, shown, store_option, writing
from audiocapbench.store.records import ChangedSamples, RunLine, ScorerLine
from audiocapbench.store.writes import insert_new, signatures_by_number


class RunListing:
    """What a store can do with runs as a whole."""

    _engine: Engine

    def run_called(self, text: str) -> tuple[int, list[int]]:
        """The run of a name, tag or model, of a model the newest; and all that it could be.

        Raises:
            StoreError: There is none, or it is not clear which is meant.
        """
        lines = [one for one in self.runs() if not one.is_trial]
        named = [one for one in lines if text in (one.name, *one.tags)]
        found = named or [one for one in lines if text == one.model]
        several = ", ".join(f"{one.id} ({one.model} on {one.benchmark})" for one in found)
        if len(named) > 1 or len({one.benchmark for one in found}) > 1:
            raise StoreError(f"{text!r} may be any of these runs: {several}; give a number")
        if not found:
            known = [name for one in lines for name in (one.name, one.model, *one.tags) if name]
            near = meant(text, known)
            lists = f"'audiocapbench runs{store_option(self._engine.url)}' lists them"
            store = shown(self._engine.url)
            raise StoreError(
                f"{store} has no run of the name, tag or model {text!r}{near}; {lists}"
            )
        numbers = sorted(one.id for one in found)
        return numbers[-1], numbers

    def runs(self, tags: Iterable[str] = (), only: Collection[int] | None = None) -> list[RunLine]:
        """Runs, or some of them, that have all these tags, oldest first, with how far each got."""
        counted, marked = schema.outcomes.c, schema.run_tags
        counting = select(
            counted.run,
            counted.status,
            func.count().label("number"),
            func.sum(counted.cost_usd).label("cost"),
        ).group_by(counted.run, counted.status)
        listed = select(schema.runs).order_by(schema.runs.c.id)
        if only is not None:
            counting = counting.where(counted.run.in_(only))
            listed = listed.where(schema.runs.c.id.in_(only))
        with reading(self._engine) as connection:
            found = connection.execute(listed).all()
            counts = connection.execute(counting).all()
            tagged = connection.execute(select(marked).order_by(marked.c.tag)).all()
            by_run: dict[int, list[Any]] = defaultdict(list)
            for row in counts:
                by_run[row.run].append(row)
            own: dict[int, list[str]] = defaultdict(list)
            for row in tagged:
                own[row.run].append(row.tag)
            wanted = set(tags)
            return [
                rows.run_line(row, by_run[row.id], own[row.id])
                for row in found
                if wanted <= set(own[row.id])
            ]

    def changed_samples(
        self, benchmark: str, root: str, fingerprint: str, now: Sequence[Sample]
    ) -> ChangedSamples | None:
        """How a benchmark's folder differs from when it was last run; None if it does not."""
        runs, known = schema.runs.c, schema.datasets.c
        same = (runs.benchmark == benchmark, known.root == root)
        latest = (
            select(runs.id, runs.dataset)
            .join_from(schema.runs, schema.datasets, runs.dataset == known.fingerprint)
            .where(*same)
            .order_by(runs.id.desc())
            .limit(1)
        )
        table = schema.samples
        with reading(self._engine) as connection:
            run = connection.execute(latest).first()
            if run is None or run.dataset == fingerprint:
                return None
            query = select(table).where(table.c.dataset == run.dataset)
            before = {row.id: row for row in connection.execute(query)}
        pairs = [(before[one.id], one) for one in now if one.id in before]
        clips = (new.clip.file_name for old, new in pairs if old.clip_sha256 != new.clip.sha256)
        texts = (new.id for old, new in pairs if _words(old) != _words(new))
        others = sorted(before.keys() ^ {one.id for one in now})
        return ChangedSamples(run.id, tuple(dict.fromkeys(clips)), tuple(texts), tuple(others))

    def scorers(self, run_ids: Iterable[int]) -> list[ScorerLine]:
        """Metrics and judges of runs, with what they made of them; metrics first."""
        chosen, judged = set(run_ids), schema.judgements
        metrics = self._lines(schema.scores, schema.scores.c.metric, literal(None), chosen)
        return metrics + self._lines(judged, judged.c.judge, func.sum(judged.c.cost_usd), chosen)

    def _lines(
        self, table: Table, scorer: ColumnElement[str], cost: ColumnElement[Any], chosen: set[int]
    ) -> list[ScorerLine]:
        made, own = schema.scorings, table.c
        query = select(
            scorer.label("scorer"),
            own.signature,
            func.count().label("number"),
            cost.label("cost"),
            func.max(made.c.made_by).label("made_by"),
        )
        query = query.join(made, (made.c.run == own.run) & (made.c.scorer == scorer))
        query = query.where(own.run.in_(chosen)).group_by(scorer, own.signature).order_by(scorer)
        with reading(self._engine) as connection:
            found = connection.execute(query).all()
            signatures = signatures_by_number(connection)
            by_scorer: dict[str, list[Any]] = defaultdict(list)
            for row in found:
                by_scorer[row.scorer].append(row)
            return [
                ScorerLine(
                    name,
                    table is schema.judgements,
                    sum(row.number for row in several),
                    total_cost(row.cost for row in several),
                    tuple(signatures[row.signature] for row in several),
                    max(row.made_by for row in several),
                )
                for name, several in by_scorer.items()
            ]

    def rename_run(self, run_id: int, name: str | None) -> None:
        """Give a run a name of its own, or take it away."""
        self._check([run_id])
        _check_text(name or "")
        with writing(self._engine) as connection:
            same = schema.runs.update().where(schema.runs.c.id == run_id)
            connection.execute(same.values(name=name))

    def tag_run(self, run_id: int, tags: Sequence[str], *, remove: bool = False) -> None:
        """Put tags on a run, or take them off; one that is there already stays."""
        self._check([run_id])
        _check_text(*tags)
        table = schema.run_tags
        with writing(self._engine) as connection:
            if remove:
                same = (table.c.run == run_id, table.c.tag.in_(tags))
                connection.execute(delete(table).where(*same))
            else:
                values = [{"run": run_id, "tag": tag} for tag in dict.fromkeys(tags)]
                insert_new(connection, table, values)

    def delete_runs(self, run_ids: Sequence[int]) -> None:
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

    def _check(self, run_ids: Iterable[int]) -> None:
        known = {row.id for row in fetch(self._engine, select(schema.runs.c.id))}
        for run_id in run_ids:
            if run_id not in known:
                raise no_such_run(self._engine, run_id)


def no_such_run(engine: Engine, run_id: int) -> StoreError:
    """What to say of a run that is not there."""
    lists = f"'audiocapbench runs{store_option(engine.url)}' lists them"
    return StoreError(f"{shown(engine.url)} has no run {run_id}; {lists}")


def _words(sample: Any) -> list[Any]:
    """What is asked and compared with, as a benchmark's fingerprint counts it."""
    return [sample.instruction, sample.category, sample.position, list(sample.references)]


def _check_text(*texts: str) -> None:
    if any(one == "\0" or "\ud800" <= one <= "\udfff" for text in texts for one in text):
        raise StoreError("a name or tag holds bytes that are no text; write it in UTF-8")
