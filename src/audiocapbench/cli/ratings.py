"""``audiocapbench ratings``, ``meta ratings``, ``wins`` and ``controls``: what people said."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from audiocapbench.asking import SampleOptions
from audiocapbench.cli import options
from audiocapbench.cli.app import add_group
from audiocapbench.cli.console import say, show_lines, show_result, show_text
from audiocapbench.cli.meta import meta_app
from audiocapbench.errors import StoreError
from audiocapbench.files import write_file
from audiocapbench.table import Column, Findings, Table

if TYPE_CHECKING:
    from audiocapbench.store import Store

ratings_app = add_group("ratings")


@options.command(meta_app.command, "ratings")
def rating_tests(
    file: str,
    *,
    against: float = 3.0,
    compare: list[str] | None = None,
    at: options.StoreOptions,
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
        with _project_store(file, at.store) as kept:
            people = kept.ratings.opinions(file)
    at.show(rating_report(people, against, compare or ()))


@options.command(meta_app.command)
def wins(
    file: list[str],
    *,
    kind: Annotated[
        Literal["csv", "human", "brace-main"], Option(help="What the files are, as 'meta' has it.")
    ] = "csv",
    metrics: options.Metrics = None,
    at: options.StoreOptions,
) -> None:
    """Count how often people prefer the first caption of a pair, and score what they prefer.

    Args:
        file (FILE): Pairs with answers, or a rating project of the store whose kind is pairs.
        metrics (A,B): Metrics to score preferred captions with, and the others.
    """
    from audiocapbench.meta.pairs.files import project_pairs, read_pairs
    from audiocapbench.report.ratings import win_report

    files = [Path(name) for name in file if Path(name).exists()]
    pairs = read_pairs(kind, files) if files else []
    for name in (one for one in file if not Path(one).exists()):
        with _project_store(name, at.store) as kept:
            pairs += project_pairs(kept, name)
    at.show(win_report(pairs, metrics or ()))


def _project_store(name: str, store: str) -> "Store":
    """The store with the rating project of a name that is no file's."""
    try:
        return options.open_store(store)
    except StoreError as error:
        raise StoreError(f"{name}: no such file, and no rating project: {error}") from None


@options.command(meta_app.command)
def controls(
    benchmark: str,
    *,
    metrics: options.Metrics = None,
    samples: SampleOptions,
    figure: Path | None = None,
    json: options.Json = False,
) -> None:
    """See how far metrics set right answers apart from safe and wrong ones, on any benchmark.

    Right is one of the clip's references, safe a generic sentence, wrong another clip's reference.

    Args:
        benchmark (NAME): A benchmark, a folder, a file of references, or NAME=DIR such as
            mecat-caption=DIR.
        figure (FILE): Draw the distributions: FILE.svg, .png or .pdf.
    """
    from audiocapbench.benchmarks.registry import named_benchmark
    from audiocapbench.plan import selected
    from audiocapbench.report.benchmark_reports import control_report, control_sheet, score_controls
    from audiocapbench.report.page.plots import figure_writer

    draw = None if figure is None else figure_writer(figure)
    opened = named_benchmark(benchmark)
    names = metrics or list(opened.traits.metrics)
    scores = score_controls(opened, names, selected(samples))
    show_result(control_report(scores), json=json)
    if draw is not None:
        draw(control_sheet(scores))


@options.command(ratings_app.callback)
def ratings(*, at: options.StoreOptions) -> None:
    """List the rating projects in the store; export one, or invite somebody anew."""
    with at.open() as kept:
        lines = kept.ratings.projects()
    if not lines and not at.json:
        show_lines("There are no rating projects; 'audiocapbench view --rate FILE' makes one.")
    columns = (Column("name", "project"), "kind", "people", "items", "ratings")
    table = Table("", [one._asdict() for one in lines], columns, name="projects")
    at.show(Findings([table]))


@options.command(ratings_app.command)
def export(
    project: str,
    *,
    out: options.Out = None,
    form: Annotated[
        Literal["csv", "jsonl", "votes"],
        Option(help="A row a rating, or of pairs one with all votes, for 'meta csv'."),
    ] = "csv",
    dimension: str | None = None,
    gold: bool = False,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Write what people said, for 'judges calibrate', 'meta ratings', 'meta csv' and others.

    A row has item, run, model, group, person, dimension, value, and how it came about.

    Args:
        project: Its name.
        dimension (NAME): Only this one, such as accuracy.
        gold: Also answers to gold questions.
    """
    from audiocapbench.web.rating.items import export_ratings

    with options.open_store(store) as kept:
        text = export_ratings(kept, project, form, dimension, gold=gold)
    if out is None:
        show_text(text)
    else:
        write_file(out, text)
        say(f"Ratings of {project} were written to {out}.")


@options.command(ratings_app.command)
def invite(
    project: str,
    person: str = "",
    *,
    url: str = "http://127.0.0.1:8000",
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Make another link for a person, or for the administrator; the one before ends.

    Args:
        project: Its name.
        person: Whose link; without a name it is the administrator's.
        url (URL): Where the project is open.
    """
    from audiocapbench.cli.report import links
    from audiocapbench.web.rating.routes import PATH

    with options.open_store(store) as kept:
        token = kept.ratings.renew_invitation(project, person)
    show_lines(*links(url.rstrip("/") + PATH, {person: token}))
