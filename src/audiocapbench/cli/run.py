"""``audiocapbench run``: ask models about a benchmark, score the answers, print the leaderboard."""

from pathlib import Path
from typing import TYPE_CHECKING

from audiocapbench.asking import JudgePanel, ModelOptions, RequestOptions, SampleOptions
from audiocapbench.cli import options
from audiocapbench.cli.app import app, leave
from audiocapbench.cli.console import print_json, say
from audiocapbench.cli.outputs import Outputs, refuse_overwriting, store_file
from audiocapbench.errors import AudioCapBenchError

if TYPE_CHECKING:
    from audiocapbench.benchmarks import Benchmark


@options.command(app.command)
def run(
    benchmark: str,
    *,
    model: list[str],
    data: Path | None = None,
    follow_links: options.FollowLinks = False,
    metrics: str | None = None,
    panel: JudgePanel,
    samples: SampleOptions,
    only: Path | None = None,
    told: ModelOptions,
    asking: RequestOptions,
    fresh: bool = False,
    session: options.Session,
    out: Outputs,
) -> None:
    """Ask models about a benchmark and score the answers.

    The same command goes on where it was stopped: only what is missing is asked. With --batch it
    costs half and may take a day: 'audiocapbench run demo --model gemini/gemini-2.5-flash --batch'
    sends what is missing, waits, and can be stopped and given again at any time.

    Args:
        benchmark: A benchmark's name, a folder with metadata.jsonl, or a dataset with a column of
            audio: hf://datasets/ORG/NAME:SPLIT, a parquet file, a folder that 'datasets' saved.
        model (MODEL): Model to ask; give it again for several.
        data (DIR): The folder that 'audiocapbench build' made.
        metrics (A,B): Comma-separated metrics. [default: the benchmark's own]
        only (FILE): Only the samples of a subset that 'audiocapbench subset' wrote.
        fresh: Begin a new run and ask everything again.
    """
    from audiocapbench.benchmarks import open_benchmark
    from audiocapbench.cli.progress import carry_out, explain_runs
    from audiocapbench.engine import Asking
    from audiocapbench.metrics.names import split_names
    from audiocapbench.models import create_models
    from audiocapbench.plan import RunPlan, selected

    refuse_overwriting(out.per_sample, [store_file(session.store)])
    how = Asking.of(asking, fresh=fresh)
    settings, published = how.model_settings(told), panel.protocol == "published"
    models = create_models(model, settings, published=published)
    opened = open_benchmark(benchmark, data, follow_links=follow_links)
    plan = RunPlan.of_models(
        session.store,
        opened,
        models,
        how,
        metrics=None if metrics is None else split_names(metrics),
        panel=panel,
        selection=selected(samples, _ids(only, opened)),
    )
    found = carry_out(plan, yes=session.yes)
    # Loaded by now, while answers were awaited; nothing before the first question needs them.
    from audiocapbench.cli.results import print_tables, warn_about
    from audiocapbench.scores.run_table import keep_estimates
    from audiocapbench.scores.summary import summarise

    kept, traits, spending = plan.store, opened.traits, how.budget.spending
    summaries = [
        summarise(kept, end.run, plan.metrics, plan.judge_names, stopped=end.stop is not None)
        for end in found.ends
    ]
    if out.json:
        document = {"store": kept.name, "runs": [one.to_dict() for one in summaries]}
        print_json(document | ({} if spending is None else {"budget": spending.to_dict()}))
    elif summaries:
        columns = traits.columns if metrics is None else plan.metrics
        print_tables(summaries, columns, traits.headline)
    keep_estimates(kept, (one.table for one in summaries))
    if opened.missing:
        say(f"{opened.presence}; manifest.json says why.")
    warn_about(kept, plan.judge_names, [one.id for one in found.runs], advise=True)
    explain_runs(found, kept, how.budget)
    out.write([(one.to_dict(), one.table) for one in summaries])
    leave(found.stop, found.refusals, failed=any(one.has_failures for one in summaries))


def _ids(only: Path | None, benchmark: "Benchmark") -> tuple[str, ...]:
    if only is None:
        return ()
    from audiocapbench.study.subset import read_subset

    chosen = read_subset(only)
    if chosen.dataset != benchmark.fingerprint:
        raise AudioCapBenchError(
            f"{only} is a subset of {chosen.benchmark} as it was then, not of this data; "
            "'audiocapbench subset' chooses another"
        )
    return chosen.ids
