"""``audiocapbench export``: a run as a file that other tools read."""

import json
from pathlib import Path
from typing import Literal

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import show_lines
from audiocapbench.cli.outputs import refuse_overwriting, store_file
from audiocapbench.errors import AudioCapBenchError


@options.command(app.command)
def export(
    run: options.RunArgument,
    *,
    to: Literal["published", "hf"],
    out: Path,
    judge: str | None = None,
    metrics: str | None = None,
    push: str | None = None,
    credentials: options.Credentials = None,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Write a run in another tool's form.

    A run that was imported from a result JSON is written as it was there, unless a judge or
    metrics are chosen.

    Args:
        to: The published tool's result JSON, or a dataset folder of Hugging Face with the clips,
            references, answers, all scores and a card.
        out (PATH): The file or folder to write.
        judge (JUDGE): Whose scores to write. [default: the only one]
        metrics (A,B): Comma-separated. [default: all that the run has]
        push (ORG/NAME): With hf: also put the folder into this dataset repository, which is made
            private where it is new; needs HF_TOKEN.
    """
    from audiocapbench.files import write_file
    from audiocapbench.metrics.names import split_names
    from audiocapbench.report.published_result import export_result
    from audiocapbench.store import Store

    refuse_overwriting(out, [store_file(store)])
    if to == "hf":
        if judge is not None or metrics is not None:
            raise AudioCapBenchError("--to hf has every score; leave out --judge and --metrics")
        _as_dataset(run, out, push, store)
        return
    if push is not None:
        raise AudioCapBenchError("--push is for --to hf")
    with Store.open(store, create=False) as kept:
        names = None if metrics is None else split_names(metrics)
        document = export_result(kept, kept.run(run), names, judge)
    # As the published tool writes it, to the last byte.
    write_file(out, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
    show_lines(f"Run {run} with {len(document['results']):,} results was written to {out}.")


def _as_dataset(run: int, out: Path, push: str | None, store: str) -> None:
    from audiocapbench.bridges.hugging_face import FILES, write_dataset
    from audiocapbench.credentials import credential
    from audiocapbench.data.build.hub import Hub
    from audiocapbench.scores.run_table import TableReader
    from audiocapbench.store import Store

    if push is not None:
        credential("HF_TOKEN")
    with Store.open(store, create=False) as kept:
        table = TableReader(kept).read(kept.run(run))
        lost = write_dataset(table, out)
    gone = f"; {lost:,} clips are not on this disk as they were" if lost else ""
    show_lines(f"Run {run} with {len(table.samples):,} samples was written to {out}{gone}.")
    if push is not None:
        title = f"{table.run.model} on {table.run.benchmark}"
        show_lines(f"It is at {Hub().upload(push, out, FILES, title)}.")
