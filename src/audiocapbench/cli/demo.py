"""``audiocapbench demo``: the whole way, offline, on the embedded clips."""

from pathlib import Path
from typing import Annotated

import typer

from audiocapbench.cli.app import INTERRUPTED, SOME_FAILED, app
from audiocapbench.cli.options import DEFAULT_STORE, StoreOption

JUDGE = "elements"
MODELS = ("listener", "control/right", "control/safe", "control/wrong", "control/empty")

NEXT = """
Next (after . .venv/bin/activate, if make installed it):
  audiocapbench run FOLDER --model listener   your own clips: audio files beside
      a metadata.jsonl of {"file_name": "…", "references": ["…"]}, a line each
  audiocapbench models                        other models to put after --model
  audiocapbench runs                          what was asked so far"""


@app.command("demo")
def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where to write the report.")
    ] = Path("demo-report.html"),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ask everything again, answered or not.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Run the embedded captioner and four controls on 30 clips, offline; write a report."""
    from audiocapbench.benchmarks import Selection, open_benchmark
    from audiocapbench.cli.console import say
    from audiocapbench.cli.progress import ask_and_score, explain_end, relative
    from audiocapbench.cli.results import print_tables
    from audiocapbench.engine import Budget, RateLimits
    from audiocapbench.judges import create_judge
    from audiocapbench.models import create_model
    from audiocapbench.report.page.html import write_report
    from audiocapbench.report.page.report_data import gather
    from audiocapbench.scores.summary import summarise
    from audiocapbench.store import Store

    benchmark = open_benchmark("demo")
    kept = Store.open(store)
    seconds = sum(sample.clip.duration_s for sample in benchmark.samples)
    say(f"{len(benchmark.samples)} clips, {seconds / 60:.1f} minutes; {len(MODELS)} models.")
    ends = ask_and_score(
        benchmark,
        [create_model(name) for name in MODELS],
        kept,
        benchmark.traits.metrics,
        judges=[create_judge(JUDGE)],
        selection=Selection(),
        rate_limits=RateLimits(),
        budget=Budget(),
        prices=None,
        fresh=fresh,
    )
    for end in ends:
        explain_end(end, kept)
    if ends[-1].stop is not None:
        raise typer.Exit(INTERRUPTED)
    summaries = [summarise(kept, end.run, benchmark.traits.metrics, [JUDGE]) for end in ends]
    print_tables(summaries, benchmark.traits.columns, benchmark.traits.headline)
    write_report(kept, gather(summaries), out, title="Demo", audio="embed")
    say(f"Report: {relative(out)}   Answers: {kept.name}")
    say(NEXT)
    if any(summary.table.coverage.failed for summary in summaries):
        raise typer.Exit(SOME_FAILED)
