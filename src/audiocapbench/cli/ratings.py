"""``meta ratings``, ``wins`` and ``controls``: what people said, and answers of known quality."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from audiocapbench.asking import SampleOptions
from audiocapbench.cli import options
from audiocapbench.cli.console import show_result
from audiocapbench.cli.meta import meta_app
from audiocapbench.errors import StoreError

if TYPE_CHECKING:
    from audiocapbench.store import Store


@options.command(meta_app.command)
def ratings(
    file: str,
    *,
    against: float = 3.0,
    compare: list[str] | None = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Test ratings on a scale against a baseline, group by group, and groups against each other.

    Wilcoxon's test with rank-biserial correlation and Cohen's d, corrected by Bonferroni; of two
    groups Mann and Whitney's test with Cliff's delta.

    Args:
        file (FILE): A rating project of the store, or a table with a rating a line: rating, and
            where they are known group and item.
        against (X): The baseline.
        compare (A:B): Two groups, or two sets of them such as A+B:C+D; may be repeated.
    """
    from audiocapbench.data.opinions import read_opinions
    from audiocapbench.report.ratings import rating_report

    if Path(file).exists():
        people = read_opinions(Path(file))
    else:
        with _project_store(file, store) as kept:
            people = kept.ratings.opinions(file)
    show_result(rating_report(people, against, compare or ()), json=json)


@options.command(meta_app.command)
def wins(
    file: list[str],
    *,
    kind: Annotated[
        Literal["csv", "human", "brace-main"], Option(help="What the files are, as 'meta' has it.")
    ] = "csv",
    metrics: str | None = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Count how often people prefer the first caption of a pair, and score what they prefer.

    Args:
        file (FILE): Pairs with answers, or a rating project of the store whose kind is pairs.
        metrics (A,B): Metrics to score preferred captions with, and the others.
    """
    from audiocapbench.meta.pairs.files import project_pairs, read_pairs
    from audiocapbench.metrics.names import split_names
    from audiocapbench.report.ratings import win_report

    files = [Path(name) for name in file if Path(name).exists()]
    pairs = read_pairs(kind, files) if files else []
    for name in (one for one in file if not Path(one).exists()):
        with _project_store(name, store) as kept:
            pairs += project_pairs(kept, name)
    show_result(win_report(pairs, split_names(metrics) if metrics else ()), json=json)


def _project_store(name: str, store: str) -> "Store":
    """The store with the rating project of a name that is no file's."""
    from audiocapbench.store import Store

    try:
        return Store.open(store, create=False)
    except StoreError as error:
        raise StoreError(f"{name}: no such file, and no rating project: {error}") from None


@options.command(meta_app.command)
def controls(
    benchmark: str,
    *,
    metrics: str | None = None,
    samples: SampleOptions,
    figure: Path | None = None,
    json: options.Json = False,
) -> None:
    """See how far metrics set right answers apart from safe and wrong ones, on any benchmark.

    Right is one of the clip's references, safe a generic sentence, wrong another clip's reference.

    Args:
        benchmark (NAME): A benchmark, a folder, a file of references, or NAME=DIR such as
            mecat-caption=DIR.
        metrics (A,B): The benchmark's own by default.
        figure (FILE): Draw the distributions: FILE.svg, .png or .pdf.
    """
    from audiocapbench.benchmarks.reference_files import named_benchmark
    from audiocapbench.metrics.names import split_names
    from audiocapbench.plan import selected
    from audiocapbench.report.controls import control_report, control_sheet, score_controls
    from audiocapbench.report.page.plots import figure_writer

    draw = None if figure is None else figure_writer(figure)
    opened = named_benchmark(benchmark)
    names = split_names(metrics) if metrics else list(opened.traits.metrics)
    scores = score_controls(opened, names, selected(samples))
    show_result(control_report(scores), json=json)
    if draw is not None:
        draw(control_sheet(scores))
