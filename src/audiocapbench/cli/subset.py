"""``audiocapbench subset``: fewer clips that say the same of models that were not looked at."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import print_json, say, show, show_result
from audiocapbench.cli.outputs import refuse_overwriting, store_file
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.table import Findings, Table, ValueWithInterval

if TYPE_CHECKING:
    from audiocapbench.study.subset import Subset, SubsetEstimate


@options.command(app.command)
def subset(
    runs: options.RunsArgument,
    *,
    size: Annotated[int, Option(min=2)] = 100,
    metric: str | None = None,
    judge: str | None = None,
    seed: Annotated[int, Option(min=0, metavar="N", help="Decides what is drawn.")] = 0,
    out: options.Out = None,
    use: Path | None = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Choose clips that rank models as the whole benchmark would, and say how well they do.

    How far the subset is off is measured on each of the runs in turn, chosen by the others. Then
    'audiocapbench run --only FILE' asks a new model about these clips alone, and 'audiocapbench
    subset RUN --use FILE' says what it would score on all, within an honest interval.

    Args:
        size (N): How many clips.
        metric (M): Choose by this metric. [default: the benchmark's headline]
        judge (JUDGE): Choose by this judge's overall score instead.
        out (FILE): Write the subset as JSON.
        use (FILE): Estimate runs by this subset instead of choosing one.
    """
    from audiocapbench.judges.aggregation import OVERALL
    from audiocapbench.scores.run_table import TableReader
    from audiocapbench.scores.scorer import Scorer
    from audiocapbench.store import Store
    from audiocapbench.study.subset import choose_subset, estimate_by, read_subset, write_subset

    refuse_overwriting(out, [store_file(store)])
    if metric is not None and judge is not None:
        raise AudioCapBenchError("a subset is chosen by one score: --metric or --judge")
    kept = Store.open(store, create=False)
    reader = TableReader(kept)
    tables = [reader.read(kept.run(number)) for number in dict.fromkeys(runs)]
    if use is not None:
        if out is not None:
            raise AudioCapBenchError("--out writes what is chosen; --use only estimates")
        chosen = read_subset(use)
        found = estimate_by(chosen, tables)
        _show_estimates(chosen, found, json=json)
        return
    own = tables[0].traits.headline
    scorer = Scorer(judge, OVERALL) if judge is not None else Scorer(metric or own)
    chosen = choose_subset(tables, scorer, size, seed=seed)
    if out is not None:
        write_subset(out, chosen)
        say(f"Written: {out}")
    if json:
        print_json(chosen.to_dict())
    else:
        _show(chosen)


def _show(chosen: "Subset") -> None:

    rows = [
        {
            "way": name,
            "error": one.error,
            "rank_error": one.rank_error,
            "kendall": one.kendall,
            "": "chosen" if name == chosen.method else "",
        }
        for name, one in chosen.held_out.items()
    ]
    what = f"{len(chosen.ids):,} of {chosen.of:,} clips of {chosen.benchmark}"
    many = len(chosen.models)
    title = f"{what}, by {chosen.scorer}: {many} models, each left out in turn"
    off = chosen.held_out[chosen.method].rank_error
    notes = (
        f"A model that was not looked at is {off:.2f} places off on average; its score on the "
        f"subset stands for that on all clips within ±{chosen.half_width:.3g} (95 %).",
        f"Signature: {chosen.signature}",
    )
    show(Table(title, rows, notes=notes))


def _show_estimates(chosen: "Subset", found: "list[SubsetEstimate]", *, json: bool) -> None:

    rows = [
        {
            "model": one.label,
            "by_the_subset": ValueWithInterval(one.value, one.interval),
            "on_all_clips": ValueWithInterval(one.whole),
            "missing": one.missing,
        }
        for one in found
    ]
    title = f"{chosen.scorer} on all clips, by {len(chosen.ids):,} of {chosen.of:,}"
    notes = [f"Signature: {chosen.signature}"]
    table = Table(title, rows, notes=notes, name="models")
    show_result(Findings([table], {"subset": chosen.to_dict()}), json=json)
