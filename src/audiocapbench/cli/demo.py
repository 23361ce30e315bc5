"""``audiocapbench demo``: the whole way, offline, on the embedded clips."""

from pathlib import Path

import typer

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, app, code_of
from audiocapbench.cli.console import relative, say

JUDGE = "elements"
MODELS = ("listener", "control/right", "control/safe", "control/wrong", "control/empty")

NEXT = """
Next (after . .venv/bin/activate, if make installed it):
  audiocapbench run FOLDER --model listener   your own clips: audio files beside
      a metadata.jsonl of {"file_name": "…", "references": ["…"]}, a line each
  audiocapbench models                        other models to put after --model
  RUNS what was asked so far"""


@options.command(app.command)
def demo(
    *,
    out: Path = Path("demo-report.html"),
    fresh: bool = False,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Run the embedded captioner and four controls on 30 clips, offline; write a report.

    Args:
        out (FILE): Where to write the report.
        fresh: Ask everything again, answered or not.
    """
    from audiocapbench.benchmarks import open_benchmark
    from audiocapbench.cli.progress import ask_and_score, explain_end
    from audiocapbench.cli.results import print_tables
    from audiocapbench.judges import create_judge
    from audiocapbench.models import create_model
    from audiocapbench.report.page.html import write_report
    from audiocapbench.report.page.report_data import gather
    from audiocapbench.scores.summary import summarise
    from audiocapbench.store import Store

    benchmark = open_benchmark("demo")
    traits, kept = benchmark.traits, Store.open(store)
    seconds = sum(sample.clip.duration_s for sample in benchmark.samples)
    say(f"{len(benchmark.samples)} clips, {seconds / 60:.1f} minutes; {len(MODELS)} models.")
    models, judges = [create_model(name) for name in MODELS], [create_judge(JUDGE)]
    ends = ask_and_score(
        benchmark, models, kept, traits.metrics, judges=judges, fresh=fresh, refused=[]
    )
    for end in ends:
        explain_end(end, kept)
    if ends[-1].stop is not None:
        raise typer.Exit(code_of(ends[-1].stop))
    summaries = [summarise(kept, end.run, traits.metrics, [JUDGE]) for end in ends]
    print_tables(summaries, traits.columns, traits.headline)
    write_report(kept, gather(summaries), out, title="Demo", audio="embed")
    say(f"Report: {relative(out)}   Answers: {kept.name}")
    say(*NEXT.replace("RUNS", f"{f'audiocapbench runs{kept.option}':<43}").split("\n"))
    if any(summary.table.coverage.failed for summary in summaries):
        raise typer.Exit(SOME_FAILED)
