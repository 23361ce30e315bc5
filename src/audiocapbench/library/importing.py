"""Captions that were made elsewhere, as a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.corpora import check_metrics
from audiocapbench.benchmarks.reference_files import subject
from audiocapbench.bridges.inspect_logs import as_results
from audiocapbench.engine import score_run
from audiocapbench.engine.importing import ImportEnd, model_name, read_files
from audiocapbench.engine.importing import import_run as keep_predictions
from audiocapbench.library.arguments import check_options, in_thread, metric_names
from audiocapbench.library.running import Names, RunResult, StoreLike, opened_store
from audiocapbench.scores.run_table import keep_estimates
from audiocapbench.scores.summary import summarise
from audiocapbench.store import DEFAULT_STORE
from audiocapbench.table import Table

Files = str | PathLike[str] | Sequence[str | PathLike[str]]


@dataclass(frozen=True, repr=False)
class ImportResult(RunResult):
    """An imported run and its scores; ``end`` says what did not fit, ``notes`` what was guessed."""

    end: ImportEnd = field(kw_only=True)
    notes: tuple[str, ...] = ()

    def tables(self) -> list[Table]:
        """Every score with its interval, and what did not fit."""
        (table,) = super().tables()
        counts = {"bad lines": len(self.end.bad), "about no sample": len(self.end.surplus)}
        notes = [f"{count:,} {what}" for what, count in counts.items() if count]
        return [replace(table, notes=[*table.notes, *notes])]

    def to_dict(self) -> dict[str, Any]:
        """As ``audiocapbench import --json`` prints it."""
        return self.summary.to_dict() | self.end.to_dict()


class ImportSettings(TypedDict, total=False):
    """What imported captions are about, and how they are kept.

    Attributes:
        benchmark: A benchmark's name, a folder, or a benchmark of your own.
        references: A file of references in the place of a benchmark; of MECAT its folder.
        model: Whose captions they are; a file may say it itself.
        judge: Who judged, where a result file with scores does not say it.
        data: The folder that ``audiocapbench build`` made, for a benchmark that needs one.
        follow_links: Whether clips may be links that lead out of the folder.
        metrics: Names in a list or between commas; the benchmark's own by default.
        store: Where the run is kept: a file, a database URL or an open store.
        progress: Told how many of how many steps are done: reading, keeping and scoring.
    """

    benchmark: str | PathLike[str] | Benchmark | None
    references: str | PathLike[str] | None
    model: str | None
    judge: str | None
    data: str | PathLike[str] | None
    follow_links: bool
    metrics: Names | None
    store: StoreLike
    progress: Callable[[int, int], None] | None


def import_run(files: Files, **options: Unpack[ImportSettings]) -> ImportResult:
    """Make a run of captions that you already have; ``judge`` and the others take it as any other.

    Args:
        files: One file or several of CSV, TSV, JSONL, JSON or Parquet; a result JSON; or a log of
            inspect_ai.
        **options: See ``ImportSettings``.

    Raises:
        AudioCapBenchError: A file cannot be read, or nothing in it is about the samples.
    """
    check_options(options, ImportSettings)
    tell = options.get("progress") or (lambda _done, _total: None)
    names = [str(one) for one in ([files] if isinstance(files, str | PathLike) else files)]
    benchmark = options.get("benchmark")
    references = _path(options.get("references"))
    with as_results(names) as (read, own):
        if benchmark is None and references is None:
            benchmark = own
        if not isinstance(benchmark, Benchmark):
            benchmark = subject(
                read,
                None if benchmark is None else str(benchmark),
                _path(options.get("data")),
                references,
                follow_links=options.get("follow_links", False),
            )
        tell(1, 4)
        given = read_files(read, benchmark, options.get("model"))
        tell(2, 4)
    metrics = options.get("metrics")
    chosen = list(benchmark.traits.metrics) if metrics is None else metric_names(metrics)
    heard = not any(one.clip.is_absent for one in benchmark.samples)
    check_metrics(benchmark.traits.aggregation, chosen, audio=heard)
    model = model_name(options.get("model"), given)
    with opened_store(options.get("store", DEFAULT_STORE)) as store:
        end = keep_predictions(store, benchmark, given, model, options.get("judge"))
        tell(3, 4)
        score_run(store, end.run, chosen)
        tell(4, 4)
        judges = list(dict.fromkeys(one.judge for one in store.judgements(end.run.id)))
        result = ImportResult(
            summarise(store, end.run, chosen, judges), end=end, notes=benchmark.notes
        )
        result.records()
        keep_estimates(store, [result.summary.table])
        return result


aimport_run = in_thread(import_run)


def _path(given: str | PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given)
