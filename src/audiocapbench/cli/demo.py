"""``audiocapbench demo``: the whole way, offline, on the embedded clips."""

from pathlib import Path

from audiocapbench.cli import options
from audiocapbench.cli.app import app, leave
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
    from audiocapbench.asking import JudgePanel
    from audiocapbench.benchmarks import open_benchmark
    from audiocapbench.cli.progress import carry_out, explain_end
    from audiocapbench.cli.results import print_tables
    from audiocapbench.engine import Asking
    from audiocapbench.models import create_models
    from audiocapbench.plan import RunPlan
    from audiocapbench.report.page.html import write_report
    from audiocapbench.report.page.report_data import gather
    from audiocapbench.scores.summary import summarise

    benchmark = open_benchmark("demo")
    models, panel = create_models(MODELS), JudgePanel([JUDGE])
    plan = RunPlan.of_models(store, benchmark, models, Asking(fresh=fresh), panel=panel)
    seconds = sum(sample.clip.duration_s for sample in benchmark.samples)
    say(f"{len(benchmark.samples)} clips, {seconds / 60:.1f} minutes; {len(MODELS)} models.")
    found = carry_out(plan)
    kept, traits = plan.store, benchmark.traits
    for end in found.ends:
        explain_end(end, kept)
    leave(found.stop)
    summaries = [summarise(kept, run, plan.metrics, [JUDGE]) for run in found.runs]
    print_tables(summaries, traits.columns, traits.headline)
    write_report(kept, gather(summaries), out, title="Demo", audio="embed")
    say(f"Report: {relative(out)}   Answers: {kept.name}")
    say(*NEXT.replace("RUNS", f"{f'audiocapbench runs{kept.option}':<43}").split("\n"))
    leave(failed=any(summary.table.coverage.failed for summary in summaries))
