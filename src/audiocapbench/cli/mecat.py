"""``audiocapbench mecat``: the analyses of the MECAT paper, on runs and on files."""

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature, signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, app
from audiocapbench.cli.console import say, say_bad, show_lines
from audiocapbench.cli.examples import ExampleGroup
from audiocapbench.cli.outputs import reference_files, refuse_overwriting, store_file, write
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.table import Findings, signature_notes
from audiocapbench.table.forms import Format

if TYPE_CHECKING:
    from audiocapbench.report.mecat.scored import AnswerSet, ScoredAnswers

mecat_app = typer.Typer(
    cls=ExampleGroup,
    help="Analyses of MECAT: standings, weightings, stability, split, drop and silence.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(mecat_app, name="mecat")

ScoredRuns = Annotated[
    list[Any] | None,
    options.runs_argument("Runs", " Or files that 'score --per-sample' wrote."),
]
AnsweredRuns = Annotated[
    list[Any],
    options.runs_argument(
        "Runs",
        " Or prediction files with --references. A file is a model of its own; files given as "
        "SUBTASK=FILE, or with a sub-task in their names such as long_caption.csv, are one model "
        "together.",
    ),
]
Metric = Annotated[str, Option(metavar="DATE", help="Which DATE: date[encoder=…,variant=…].")]
Published = Annotated[
    bool, Option("--published/--no-published", help="Show the paper's models as well.")
]
References = Annotated[
    Path | None, Option(metavar="DIR", help="MECAT's references, where answers come from files.")
]
Benchmark = Annotated[Literal["mecat-caption", "mecat-qa"], Option(help="What the files answer.")]


def _add(report: Callable[..., Any], shared: Callable[..., None]) -> None:
    """Add a command: the options that all have, and those that the report has beside them."""
    both = [list(signature(one).parameters.values()) for one in (shared, report)]
    runs, *others = [one for one in both[0] if one.kind != Parameter.VAR_KEYWORD]
    own = [one for one in both[1] if one.kind == Parameter.KEYWORD_ONLY]
    vars(shared)["__signature__"] = Signature([runs, *own, *others])
    shared.__doc__ = report.__doc__
    options.command(mecat_app.command, report.__name__)(shared)


def _of_scores(report: Callable[..., Findings]) -> None:
    """A command on scores of runs and of files, with the published models or without."""

    def shared(
        runs: ScoredRuns = None,
        *,
        published: Published = True,
        metric: Metric = "date",
        form: options.Form = Format.TABLE,
        out: options.Out = None,
        store: options.Store = options.DEFAULT_STORE,
        json: options.Json = False,
        **own: Any,
    ) -> None:
        kind = own.get("by", "date")
        found = _scored(runs or [], store, kind if metric == "date" else metric, out, kind)
        _write([report(found, published, **own)], Format.JSON if json else form, out)
        if form is Format.TABLE and not json:
            show_lines(*signature_notes(one.signature for one in found))

    _add(report, shared)


def _of_answers(report: Callable[..., Findings]) -> None:
    """A command on answers of runs and of prediction files, a report a model."""

    def shared(
        runs: AnsweredRuns,
        *,
        references: References = None,
        benchmark: Benchmark = "mecat-caption",
        form: options.Form = Format.TABLE,
        out: options.Out = None,
        store: options.Store = options.DEFAULT_STORE,
        json: options.Json = False,
        **own: Any,
    ) -> None:
        models = _answered(runs, references, benchmark, store, out)
        found = [report(one, **own) for one in models]
        _write(found, Format.JSON if json else form, out, bad=[one.bad for one in models])

    _add(report, shared)


@_of_scores
def standings(
    scored: "Sequence[ScoredAnswers]",
    published: bool,
    *,
    benchmark: Literal["mecat-caption", "mecat-qa"] | None = None,
    by: Literal["date", "similarity"] = "date",
) -> Findings:
    """Show models in their places among the published ones, by group and in total.

    Args:
        benchmark: Whose published models are shown where no run is named.
        by: The metric, whose options --metric has; similarity weighs all words alike.
    """
    from audiocapbench.report.mecat.rankings import standings_report

    return standings_report(scored, benchmark, published=published, by=by)


@_of_scores
def weights(scored: "Sequence[ScoredAnswers]", published: bool) -> Findings:
    """Rank models under three weightings of speech, music and sound, with Kendall's tau."""
    from audiocapbench.report.mecat.rankings import weight_report

    return weight_report(scored, published=published)


@_of_scores
def split(
    scored: "Sequence[ScoredAnswers]", published: bool, *, group: str = "pure_speech"
) -> Findings:
    """Split DATE into similarity and discriminability, model by model.

    Args:
        group (GROUP): Which group of answers.
    """
    from audiocapbench.report.mecat.rankings import split_report

    return split_report(scored, group, published=published)


@_of_scores
def drop(scored: "Sequence[ScoredAnswers]", published: bool) -> Findings:
    """See what DATE loses from pure to mixed clips: speech, music and sound."""
    from audiocapbench.report.mecat.drop import drop_report

    return drop_report(scored, published=published)


@_of_answers
def stability(
    given: "AnswerSet",
    *,
    group: list[str] | None = None,
    percent: str = "1,2,5,10,20,50,100",
    rounds: Annotated[int, Option(min=2)] = 50,
    metric: Metric = "date",
) -> Findings:
    """Draw samples of the answers and see how far DATE moves, ranked anew each time.

    Args:
        group (GROUP): Only this group; may be repeated.
        percent (A,B): Sizes in percent of the group.
        rounds (N): Samples of each size.
    """
    from audiocapbench.report.mecat.stability import stability_report

    return stability_report(
        given,
        metric=metric,
        percents=_percents(percent),
        rounds=rounds,
        groups=group or (),
        on_group=lambda name: say(f"Resampling {name} …"),
    )


@_of_answers
def silence(
    given: "AnswerSet", *, list_at_most: Annotated[int, Option("--list", min=0)] = 20
) -> Findings:
    """Count answers about silent clips that claim speech, music or sound events.

    Args:
        list_at_most (N): Offending answers to show.
    """
    from audiocapbench.report.mecat.silence import silence_report

    return silence_report(given, list_at_most)


def _scored(
    runs: Sequence[int | Path], store: str, metric: str, out: Path | None, kind: str
) -> "list[ScoredAnswers]":
    from audiocapbench.report.mecat.scored import read_scored
    from audiocapbench.store import Store

    files = [run for run in runs if isinstance(run, Path)]
    refuse_overwriting(out, (*files, store_file(store)))
    kept = Store.open(store, create=False) if len(files) < len(runs) else None
    return [read_scored(run, kept, metric, kind) for run in dict.fromkeys(runs)]


def _answered(
    runs: Sequence[int | Path],
    references: Path | None,
    benchmark: str,
    store: str,
    out: Path | None,
) -> "list[AnswerSet]":
    from audiocapbench.benchmarks.mecat.predictions import source_of
    from audiocapbench.report.mecat.scored import answers_of_files, answers_of_run
    from audiocapbench.store import Store

    refuse_overwriting(out, [store_file(store)])
    if references is not None:
        files = list(map(str, runs))
        given = (source_of(benchmark, file).path for file in files)
        refuse_overwriting(out, chain(given, reference_files(references)))
        return answers_of_files(files, references, benchmark)
    kept = Store.open(store, create=False)
    found = []
    for run in dict.fromkeys(runs):
        if isinstance(run, Path):
            raise AudioCapBenchError(f"{str(run)!r} is not a run; files need --references")
        found.append(answers_of_run(run, kept))
    return found


def _percents(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise AudioCapBenchError(f"--percent {text!r} is not a list such as 1,10,100") from None


def _write(
    found: Sequence[Findings], form: Format, out: Path | None, bad: Sequence[Sequence[str]] = ()
) -> None:
    """Write one report as it is, several as a list; ``bad`` has the bad lines of each."""

    documents = [one.to_dict() for one in found]
    if bad:
        lines = zip(documents, bad, strict=True)
        documents = [one | {"bad_lines": list(own)} for one, own in lines]
    whole = Findings(
        [table for one in found for table in one.tables()],
        documents[0] if len(documents) == 1 else {"reports": documents},
        [row for one in found for row in one.records()],
    )
    write(whole, form, out)
    every = [line for lines in bad for line in lines]
    say_bad(every)
    if every:
        raise typer.Exit(SOME_FAILED)
