"""``audiocapbench site`` and ``submission``: a public leaderboard, and what people send to it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import WRONG_USE, app
from audiocapbench.cli.console import print_json, relative, say, show_lines
from audiocapbench.cli.outputs import refuse_overwriting, store_file
from audiocapbench.errors import AudioCapBenchError

if TYPE_CHECKING:
    from audiocapbench.report.site.submission import CheckedSubmission, Submission
    from audiocapbench.store import Store

site_app = typer.Typer(rich_markup_mode=None)
app.add_typer(site_app, name="site")


@options.command(app.command)
def submission(
    run: options.RunArgument,
    *,
    out: Annotated[Path, Option(metavar="FILE", help="The file to write.")],
    name: str | None = None,
    by: str | None = None,
    link: str | None = None,
    licence: str | None = None,
    weights: Literal["open", "closed"] | None = None,
    judgements: Annotated[bool, Option("--judgements/--no-judgements")] = True,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Write a run as a file for a leaderboard site: samples, answers, scores, and whose it is.

    Args:
        name (MODEL): What the model is called there. [default: as in the store]
        by (WHO): Its authors.
        link (URL): Where there is more about it.
        licence (TEXT): The model's.
        weights: Whether others have its weights.
        judgements: Add what judges said of each answer; without, their scores are claims.
    """
    from audiocapbench.files import write_file
    from audiocapbench.report.site.submission import make_submission
    from audiocapbench.store import Store

    refuse_overwriting(out, [store_file(store)])
    about = {"model": name, "by": by, "link": link, "licence": licence, "weights": weights}
    with Store.open(store, create=False) as kept:
        made = make_submission(kept, run, judgements=judgements, **about)
    out.parent.mkdir(parents=True, exist_ok=True)
    size = write_file(out, made.model_dump_json())
    dataset = f"dataset {made.dataset[:12]}"
    show_lines(f"{out}: {made.model}, {len(made.samples):,} samples, {dataset}, {size:,} bytes")


@options.command(site_app.callback, invoke_without_command=True)
def site(
    ctx: typer.Context,
    *,
    submissions: list[Path] | None = None,
    runs: options.RunList = None,
    out: Path | None = None,
    title: str = "Leaderboard",
    dataset: str | None = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Write a leaderboard of many submissions as a folder of pages that any web server shows.

    They are checked first, as 'site check' does; with one that is refused nothing is written.

    Args:
        submissions (FILE): A file of 'audiocapbench submission', or a folder of them.
        out (DIR): The folder to write.
        title (TEXT): What stands above it.
        dataset (HASH): Only samples with this hash; its first 12 digits will do.
    """
    from audiocapbench.report.site.pages import write_site
    from audiocapbench.report.site.submission import make_submission
    from audiocapbench.scores.estimate import counted
    from audiocapbench.store import Store

    if ctx.invoked_subcommand is not None:
        return
    if out is None or not (submissions or runs):
        raise AudioCapBenchError("say what to show and where: --submissions or --runs, and --out")
    given = []
    if runs:
        with Store.open(store, create=False) as kept:
            given = [(f"run {one}", make_submission(kept, one)) for one in runs]
    with _checked(submissions or (), given, dataset) as (checking, checked):
        size = write_site(checking, checked, out, title)
    page = out / "index.html"
    if json:
        print_json({"site": str(page), "models": len(checked), "bytes": size})
    else:
        models = counted(len(checked), "model")
        show_lines(f"{relative(page)}: {models}, {size / 1e6:.1f} MB")


@options.command(site_app.command, "check")
def check_site(
    files: Annotated[list[Path], typer.Argument(metavar="FILE")],
    *,
    dataset: str | None = None,
    json: options.Json = False,
) -> None:
    """Check submissions, or folders of them: what can be computed must be what they say.

    Args:
        dataset (HASH): Only samples with this hash; its first 12 digits will do.
    """
    from audiocapbench.report.site.pages import page_paths

    with _checked(files, (), dataset) as (_, checked):
        page_paths(checked)  # as the site has them, where no two may be of one model
        lines = [
            {"file": one.name, "model": one.submission.model, "dataset": one.submission.dataset}
            | {"samples": len(one.submission.samples), "answers": len(one.submission.answers)}
            | {"scores": len(one.submission.scores), "claimed": len(one.claims)}
            for one in checked
        ]
    if json:
        print_json({"submissions": lines})
        return
    for one in lines:
        answers = f"{one['answers']:,} answers to {one['samples']:,} samples"
        scores = f"{one['scores']:,} scores, {one['claimed']:,} of them claimed"
        show_lines(f"{one['file']}: {one['model']}, {answers}, {scores}")


@contextmanager
def _checked(
    places: Sequence[Path], given: "Sequence[tuple[str, Submission]]", dataset: str | None
) -> "Iterator[tuple[Store, list[CheckedSubmission]]]":
    """Submissions in a store of their own; ends the command with a line for each problem."""
    from audiocapbench.report.site.submission import check_submissions, look_alikes, read_submission
    from audiocapbench.store import Store

    if dataset is not None and len(dataset) < 12:
        raise AudioCapBenchError("--dataset takes 12 digits of the hash at least")
    found, problems = list(given), []
    for place in places:
        for path in sorted(place.glob("*.json")) if place.is_dir() else [place]:
            try:
                found.append((str(path), read_submission(path)))
            except AudioCapBenchError as error:
                problems.append(str(error))
    with TemporaryDirectory() as folder, Store.open(f"{folder}/checked.db") as store:
        checked = check_submissions(store, found, dataset)
        problems += [f"{one.name}: {words}" for one in checked for words in one.problems]
        if problems or not checked:
            say(*(problems or ["there is no submission; 'audiocapbench submission' writes one"]))
            raise typer.Exit(WRONG_USE)
        say(*look_alikes(checked))
        yield store, checked
