"""Runs for others: ``report``, ``figures``, ``view``, ``site``, ``submission`` and ``export``."""

import secrets
import sys
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from json import dumps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Option

from audiocapbench.cli import collect_as_usual, options
from audiocapbench.cli.app import WRONG_USE, add_group, app
from audiocapbench.cli.console import relative, say, say_bad, show_facts, show_lines, show_result
from audiocapbench.errors import SHOWN, AudioCapBenchError, ReportError
from audiocapbench.files import write_file
from audiocapbench.table import Findings, Table

if TYPE_CHECKING:
    from audiocapbench.report.site.submission import CheckedSubmission, Submission
    from audiocapbench.store import Store

site_app = add_group("site")


@options.command(app.command)
def report(
    runs: options.RunsArgument,
    *,
    out: options.NewFile = Path("report.html"),
    audio: Literal["auto", "none", "link", "embed"] = "auto",
    card: options.MaybeNewFile = None,
    title: str | None = None,
    by: str | None = None,
    published: bool = False,
    at: options.StoreOptions,
) -> None:
    """Write runs of one benchmark as a page: leaderboard, figures, and every sample to explore.

    Args:
        out (FILE): Where to write the page.
        audio: Leave clips out, link to them, or embed them; auto embeds up to 25 MB in all.
        card (FILE): Also draw verdict, board and signature, 1200 by 630: PNG (takes the extra
            plots), SVG or PDF.
        title (TEXT): [default: the benchmark's name]
    """
    from audiocapbench.report.page import html, report_data
    from audiocapbench.scores.estimate import counted

    store = at.open()
    data = report_data.gather(report_data.stored_tables(store, runs), by, published=published)
    options.refuse_overwriting(out, (sample.clip.path for sample in data.samples))
    name = title or data.benchmark
    written = html.write_report(store, data, out, title=name, audio=audio, card=card)
    of = f" of {data.clips:,} clips" if data.clips != len(data.samples) else ""
    words = f"{counted(len(data.samples), 'sample')}{of}, {written.size / 1e6:.1f} MB"
    document = {"report": str(out), "bytes": written.size, "samples": len(data.samples)}
    document |= {"clips": data.clips, "audio": written.audio, "unheard": written.unheard}
    document |= {"ranked_by": data.headline.label, "notes": list(data.notes)}
    document |= {"card": str(card)} if card else {}
    if at.json:
        whole = report_data.summaries_of([one.table for one in data.runs])
        document |= {"runs": [one.to_dict() for one in whole]}
    cards = [relative(card)] if card else []
    show_facts(document, f"{relative(out)}: {words}", *cards, json=at.json)
    say(*data.notes)
    if written.too_large:
        say("The sound is linked, not inside: the page would have more than 25 MB, and no mail.")
        say("--audio embed puts it in all the same.")
    if written.unheard:
        say(f"{counted(written.unheard, 'clip')} cannot be played; the page says why beside each.")


@options.command(app.command)
def figures(
    runs: options.RunsArgument,
    *,
    out: Path = Path("figures"),
    kinds: Annotated[str, Option("--format")] = "png,svg,pdf",
    by: str | None = None,
    published: bool = False,
    at: options.StoreOptions,
) -> None:
    """Draw durations, overall and per-category scores, and accuracy against hallucination.

    Args:
        out (DIR): The folder to write into.
        kinds (A,B): Comma-separated: png, svg, pdf.
    """
    from audiocapbench.report.page import plots, report_data
    from audiocapbench.report.page.board import board_document
    from audiocapbench.scores.departures import DEPARTS
    from audiocapbench.scores.table import keep_estimates

    wanted = plots.formats(kinds)
    store = at.open()
    data = report_data.gather(report_data.stored_tables(store, runs), by, published=published)
    board = board_document(store, data, data.benchmark)
    paths = plots.write_figures(board, data, out, wanted)
    keep_estimates(store, (one.table for one in data.runs))
    notes = [*data.notes, *(one for one in board.notes if one.startswith(DEPARTS))]
    facts = {"ranked_by": data.headline.label, "notes": notes}
    facts["figures"] = [str(path) for path in paths]
    show_facts(facts, *map(relative, paths), json=at.json)
    say(*notes)
    if not any(path.stem == "figure4_tradeoff" for path in paths):
        say("No judge scores accuracy and hallucination here, so there is no figure 4.")


@options.command(app.command)
def view(
    runs: options.MaybeRuns = None,
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535)] = 8000,
    token: str | None = None,
    opened: Annotated[bool, Option("--open/--no-open")] = True,
    by: str | None = None,
    rate: Annotated[Path | None, Option(metavar="PROJECT.toml")] = None,
    arena: Annotated[Path | None, Option(metavar="PROJECT.toml")] = None,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Show a store in the browser, also while runs go on; or have people rate captions there.

    Without runs it shows the newest run of each model on the benchmark that was run last.

    Args:
        host (ADDRESS): 127.0.0.1 is for this machine only; others can reach any other address.
        port (N): 0 for any that is free.
        token (TEXT): What a link must have; made up where others can reach the address.
        opened: Whether to open a browser.
        rate (PROJECT.toml): What is rated, and by whom; nothing else is then shown.
        arena (PROJECT.toml): Have people choose between captions of two models, pair by pair where
            a vote tells most; models of runs that come later join.
    """
    from audiocapbench.plugins import require_packages
    from audiocapbench.report.page.report_data import check_benchmark
    from audiocapbench.web import server
    from audiocapbench.web.app import Boards, LiveFeed, make_app

    require_packages(ReportError, "serving pages", "web", "fastapi", "uvicorn")
    if rate is not None and arena is not None:
        raise ReportError("give --rate or --arena, each in a process of its own")
    if project := rate or arena:
        _rate(project, host, port, store, arena=rate is None)
        return
    if token is not None and not (token.isascii() and token.isalnum() and len(token) >= 20):
        raise ReportError("--token: give 20 letters and digits at least, which nobody guesses")
    if token is None and not server.is_loopback(host):
        token = secrets.token_hex(16)
    with server.listen(host, port) as taken, options.open_store(store) as kept:
        if runs:
            check_benchmark([kept.run(number) for number in runs])
        boards = Boards(kept, runs or (), by)
        boards.document()  # whatever cannot be shown is said here, not in the browser
        address = f"{server.address_of(taken)}/{f'?token={token}' if token else ''}"
        show_lines(address)
        if not server.is_loopback(host):
            say("Others can reach this address: whoever has the link sees the store's answers.")
        say(f"{kept.name} is shown there; Ctrl-C ends it.")
        if opened and sys.stdout.isatty():
            webbrowser.open(address)
        collect_as_usual()
        server.serve(
            server.GuardedApp(make_app(boards, LiveFeed(kept)), server.hosts_of(host), token), taken
        )


def _rate(path: Path, host: str, port: int, store: str, *, arena: bool) -> None:
    from audiocapbench.web import server
    from audiocapbench.web.rating.arena import ArenaDesk
    from audiocapbench.web.rating.project import read_arena, read_project
    from audiocapbench.web.rating.routes import PATH, RatingDesk, rating_app

    project: Any = read_arena(path) if arena else read_project(path)
    with server.listen(host, port) as taken, options.open_store(store, create=True) as opened:
        desk = (ArenaDesk if arena else RatingDesk)(project, opened)
        address = (project.url or server.address_of(taken)).rstrip("/") + PATH
        say(*desk.notes)
        show_lines(*links(address, desk.invited))
        if len(desk.invited) <= len(project.people):
            again = f"'audiocapbench ratings invite {project.name} NAME{opened.option}'"
            say(f"Links that were shown before still work; {again} makes another.")
        if not server.is_loopback(host):
            say(f"Others can reach {address}: whoever has a link can rate, and nobody else.")
        say(f"{project.name} is open at {address}; Ctrl-C ends it, and nothing is lost.")
        collect_as_usual()
        server.serve(server.GuardedApp(rating_app(desk), server.hosts_of(host, project.url)), taken)


def links(address: str, invited: dict[str, str]) -> list[str]:
    """The links of people, and of the administrator, whose name is empty."""
    width = max(map(len, ("(admin)", *invited)))
    return [
        f"{person or '(admin)':<{width}}  {address}{'' if person else 'admin'}#{token}"
        for person, token in invited.items()
    ]


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
    from audiocapbench.report.site.submission import make_submissions
    from audiocapbench.scores.estimate import counted

    about = {"model": name, "by": by, "link": link, "licence": licence, "weights": weights}
    with options.open_store(store) as opened:
        [sent] = make_submissions(opened, run, judgements=judgements, **about)
    out.parent.mkdir(parents=True, exist_ok=True)
    size = write_file(out, sent.model_dump_json())
    facts = f"{counted(len(sent.samples), 'sample')}, dataset {sent.dataset[:12]}, {size:,} bytes"
    show_lines(f"{out}: {sent.model}, {facts}")


@options.command(site_app.callback)
def site(
    *,
    submissions: list[Path] | None = None,
    runs: options.RunList = None,
    out: Path | None = None,
    title: str = "Leaderboard",
    dataset: str | None = None,
    votes: list[str] | None = None,
    clips: str | None = None,
    at: options.StoreOptions,
) -> None:
    """Write a leaderboard of many submissions as a folder of pages that any web server shows.

    They are checked first, as 'site check' does; with one that is refused nothing is written.

    Args:
        submissions (FILE): A file of 'audiocapbench submission', or a folder of them.
        out (DIR): The folder to write.
        title (TEXT): What stands above it.
        votes (FILE): Add how often people prefer each model: a table of pairs with votes, or a
            rating project of the store; may be repeated.
        clips (BENCHMARK): A folder, or NAME=DIR, with clips that can be heard on the pages where
            their field 'licence' says CC0, public domain, CC BY or CC BY-SA.
    """
    from audiocapbench.benchmarks.registry import named_benchmark
    from audiocapbench.meta.votes import named_votes
    from audiocapbench.report.site import pages, submission
    from audiocapbench.scores.estimate import counted

    if out is None or not (submissions or runs):
        raise AudioCapBenchError("say what to show and where: --submissions or --runs, and --out")
    from_runs, projects = [], [one for one in votes or () if not Path(one).exists()]
    cast = []
    if runs or projects:
        with at.open() as store:
            given = submission.make_submissions(store, *runs or ())
            from_runs = [(f"run {one}", own) for one, own in zip(runs or (), given, strict=True)]
            cast = named_votes(store, projects)
    known = named_benchmark(clips).samples if clips else ()
    with _checked(submissions or (), from_runs, dataset, brief=True) as (checking, checked):
        cast += named_votes(checking, [one for one in votes or () if one not in projects])
        size, heard = pages.write_site(checking, checked, out, title, cast, known)
    page, models = out / "index.html", counted(len(checked), "model")
    facts = {"site": str(page), "models": len(checked), "bytes": size, "heard": heard}
    told = f", {counted(heard, 'clip')} can be heard" * bool(clips)
    show_facts(facts, f"{relative(page)}: {models}, {size / 1e6:.1f} MB{told}", json=at.json)


@options.command(site_app.command, "check")
def check_site(
    files: Annotated[list[Path], typer.Argument(metavar="FILE")],
    *,
    dataset: str | None = None,
    json: bool = False,
) -> None:
    """Check submissions, or folders of them: what can be computed must be what they say."""
    from audiocapbench.report.site.pages import page_paths

    with _checked(files, (), dataset) as (_, checked):
        page_paths(checked)  # as the site has them, where no two may be of one model
        rows = [
            {"file": one.name, "model": one.submission.model, "dataset": one.submission.dataset}
            | {"samples": len(one.submission.samples), "answers": len(one.submission.answers)}
            | {"scores": len(one.submission.scores), "claimed": len(one.claims)}
            for one in checked
        ]
    columns = ("file", "model", "samples", "answers", "scores", "claimed")
    show_result(Findings([Table("", rows, columns, name="submissions")]), json=json)


@contextmanager
def _checked(
    places: Sequence[Path],
    from_runs: "Sequence[tuple[str, Submission]]",
    dataset: str | None,
    *,
    brief: bool = False,
) -> "Iterator[tuple[Store, list[CheckedSubmission]]]":
    """Submissions in a store of their own; ends the command with a line for each problem, or with
    how many there are and the first of them."""
    from audiocapbench.report.site.submission import check_submissions, look_alikes, read_submission

    if dataset is not None and len(dataset) < 12:
        raise AudioCapBenchError("--dataset takes 12 digits of the hash at least")
    submissions, problems = list(from_runs), []
    for place in places:
        for path in sorted(place.glob("*.json")) if place.is_dir() else [place]:
            try:
                submissions.append((str(path), read_submission(path)))
            except AudioCapBenchError as error:
                problems.append(str(error))
    with (
        TemporaryDirectory() as folder,
        options.open_store(f"{folder}/checked.db", create=True) as store,
    ):
        checked = check_submissions(store, submissions, dataset)
        problems += [f"{one.name}: {words}" for one in checked for words in one.problems]
        if brief and len(problems) > SHOWN:
            say(f"{len(problems):,} problems; nothing was written")
            say_bad(problems, "kinds; 'audiocapbench site check' lists all of a submission")
            raise typer.Exit(WRONG_USE)
        if problems or not checked:
            say(*(problems or ["there is no submission; 'audiocapbench submission' writes one"]))
            raise typer.Exit(WRONG_USE)
        say(*look_alikes(checked))
        yield store, checked


@options.command(app.command)
def export(
    run: options.RunArgument,
    *,
    to: Literal["published", "hf"],
    out: Path,
    judge: str | None = None,
    metrics: options.Metrics = None,
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
    from audiocapbench.bridges.hugging_face import FILES, write_dataset
    from audiocapbench.credentials import credential
    from audiocapbench.data.build.hub import Hub
    from audiocapbench.report.runs import export_result
    from audiocapbench.scores.estimate import counted
    from audiocapbench.scores.table import TableReader

    if to == "hf" and not (judge is None and metrics is None):
        raise AudioCapBenchError("--to hf has every score; leave out --judge and --metrics")
    if to != "hf" and push is not None:
        raise AudioCapBenchError("--push is for --to hf")
    if push is not None:
        credential("HF_TOKEN")
    with options.open_store(store) as opened:
        if to == "published":
            document = export_result(opened, opened.run(run), metrics, judge)
            # As the published tool writes it, to the last byte.
            write_file(out, dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
            show_lines(f"Run {run} with {len(document['results']):,} results was written to {out}.")
            return
        table = TableReader(opened).read(opened.run(run))
        lost = write_dataset(table, out)
    gone = f"; without {counted(lost, 'clip')} not on this disk as before" if lost else ""
    samples = counted(len(table.samples), "sample")
    show_lines(f"Run {run} with {samples} was written to {out}{gone}.")
    if push is not None:
        title = f"{table.run.model} on {table.run.benchmark}"
        show_lines(f"It is at {Hub().upload(push, out, FILES, title)}.")
