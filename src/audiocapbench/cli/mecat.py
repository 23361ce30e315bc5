"""``audiocapbench mecat``: the analyses of the MECAT paper, on runs and on files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import add_group, leave
from audiocapbench.cli.console import say, say_bad, show_lines
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.table import Findings, signature_notes
from audiocapbench.table.forms import Format

if TYPE_CHECKING:
    from audiocapbench.data import Sample
    from audiocapbench.report.mecat.answers import AnswerSet

mecat_app = add_group(
    "mecat", help="Analyses of MECAT: standings, weightings, stability, split, drop and silence."
)

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


@dataclass(frozen=True)
class ScoreOptions(options.Shown):
    published: Annotated[bool, Option("--published/--no-published")] = True
    metric: Metric = "date"


@dataclass(frozen=True)
class AnswerOptions(options.Shown):
    """Options of analyses of answers, of runs and of prediction files.

    Attributes:
        references (DIR): MECAT's references, where answers come from files.
        benchmark: What the files answer.
    """

    references: Path | None = None
    benchmark: Literal["mecat-caption", "mecat-qa"] = "mecat-caption"


@options.command(mecat_app.command)
def standings(
    runs: Annotated[
        list[Any] | None, options.runs_argument("Runs", " Or prediction files with --rescore.")
    ] = None,
    *,
    rescore: bool = False,
    references: Path | None = None,
    benchmark: Literal["mecat-caption", "mecat-qa"] | None = None,
    by: Literal["date", "similarity"] = "date",
    how: ScoreOptions,
) -> None:
    """Show models in their places among the published ones, by group and in total.

    Only what was scored by the paper's recipe on all clips has a place. With --rescore, files of
    predictions are scored by a recipe of our own, and placed by what they gain over answers that
    hear nothing.

    Args:
        rescore: The files are predictions, as 'score' takes them; score all of them in one way.
        references (DIR): MECAT's references, for --rescore.
        benchmark: Whose published models are shown where no run is named; what --rescore scores.
        by: The metric, whose options --metric has; similarity weighs all words alike.
    """
    from audiocapbench.report.mecat.rankings import standings_report

    if not rescore and references is None:
        for file in (run for run in runs or () if isinstance(run, Path)):
            how_else = "give --rescore, or make one with 'audiocapbench import'"
            raise AudioCapBenchError(f"{str(file)!r} is not a run; {how_else}")
        _of_scores(partial(standings_report, benchmark=benchmark, by=by), runs, how, by)
        return
    if not (runs and rescore and references) or (by, how.metric) != ("date", "date"):
        raise AudioCapBenchError(
            "--rescore takes files of predictions and --references DIR; it has one recipe, so "
            "leave --metric and --by out"
        )
    from audiocapbench.cli.progress import Terminal
    from audiocapbench.report.mecat.rescored import rescored_report

    models, items = _read_files(runs, references, benchmark or "mecat-caption", how.out)
    with Terminal() as host:
        report = rescored_report(models, items, progress=partial(host.advance, "blind answers"))
    how.write(report)
    _leave(models)


@options.command(mecat_app.command)
def weights(runs: options.MaybeRuns = None, *, how: ScoreOptions) -> None:
    """Rank models under three weightings of speech, music and sound, with Kendall's tau."""
    from audiocapbench.report.mecat.rankings import weight_report

    _of_scores(weight_report, runs, how)


@options.command(mecat_app.command)
def split(runs: options.MaybeRuns = None, *, group: str = "pure_speech", how: ScoreOptions) -> None:
    """Split DATE into similarity and discriminability, model by model.

    Args:
        group (GROUP): Which group of answers.
    """
    from audiocapbench.report.mecat.rankings import split_report

    _of_scores(partial(split_report, group=group), runs, how)


@options.command(mecat_app.command)
def drop(runs: options.MaybeRuns = None, *, how: ScoreOptions) -> None:
    """See what DATE loses from pure to mixed clips: speech, music and sound."""
    from audiocapbench.report.mecat.rankings import drop_report

    _of_scores(drop_report, runs, how)


@options.command(mecat_app.command)
def stability(
    runs: AnsweredRuns,
    *,
    group: list[str] | None = None,
    percent: str = "1,2,5,10,20,50,100",
    rounds: Annotated[int, Option(min=2)] = 50,
    metric: Metric = "date",
    how: AnswerOptions,
) -> None:
    """Draw samples of the answers and see how far DATE moves, ranked anew each time.

    Args:
        group (GROUP): Only this group; may be repeated.
        percent (A,B): Sizes in percent of the group.
        rounds (N): Samples of each size.
    """
    from audiocapbench.report.mecat.answers import stability_report

    try:
        percents = [float(part) for part in percent.split(",")]
    except ValueError:
        raise AudioCapBenchError(f"--percent {percent!r} is not a list such as 1,10,100") from None
    report = partial(
        stability_report,
        metric=metric,
        percents=percents,
        rounds=rounds,
        groups=group or (),
        on_group=lambda name: say(f"Resampling {name} …"),
    )
    _of_answers(report, runs, how)


@options.command(mecat_app.command)
def silence(
    runs: AnsweredRuns,
    *,
    list_at_most: Annotated[int, Option("--list", min=0)] = 20,
    how: AnswerOptions,
) -> None:
    """Count answers about silent clips that claim speech, music or sound events.

    Args:
        list_at_most (N): Offending answers to show.
    """
    from audiocapbench.report.mecat.silence import silence_report

    _of_answers(lambda given: silence_report(given, list_at_most), runs, how)


def _of_scores(
    report: Callable[..., Findings],
    runs: Sequence[int] | None,
    how: ScoreOptions,
    kind: str = "date",
) -> None:
    from audiocapbench.report.mecat.answers import read_scored

    metric = kind if how.metric == "date" else how.metric
    found = [read_scored(run, how.open(), metric, kind) for run in dict.fromkeys(runs or ())]
    how.write(report(found, published=how.published))
    if how.format is Format.TABLE:
        show_lines(*signature_notes(one.signature for one in found))


def _of_answers(
    report: "Callable[[AnswerSet], Findings]", runs: Sequence[int | Path], how: AnswerOptions
) -> None:
    """Report on answers of runs and of prediction files: a report as it is, several as a list."""
    from audiocapbench.report.mecat.answers import answers_of_run

    if how.references is not None:
        models, _ = _read_files(runs, how.references, how.benchmark, how.out)
    else:
        kept, models = how.open(), []
        for run in dict.fromkeys(runs):
            if isinstance(run, Path):
                raise AudioCapBenchError(f"{str(run)!r} is not a run; files need --references")
            models.append(answers_of_run(run, kept))
    found = [report(one) for one in models]
    pairs = zip(found, models, strict=True)
    documents = [one.to_dict() | {"bad_lines": list(model.bad)} for one, model in pairs]
    facts = documents[0] if len(documents) == 1 else {"reports": documents}
    tables = [table for one in found for table in one.tables()]
    how.write(Findings(tables, facts, [row for one in found for row in one.records()]))
    _leave(models)


def _leave(models: "Sequence[AnswerSet]") -> None:
    bad = [line for one in models for line in one.bad]
    say_bad(bad)
    leave(failed=bool(bad))


def _read_files(
    files: Sequence[object], references: Path, benchmark: str, out: Path | None
) -> "tuple[list[AnswerSet], list[Sample]]":
    """The answers of models, and all that they were asked."""
    from audiocapbench.benchmarks.mecat.dataset import read_items
    from audiocapbench.benchmarks.mecat.groups import PARTS
    from audiocapbench.data.predictions import PredictionFile, guessed_parts
    from audiocapbench.report.mecat.answers import answers_of_files

    names = list(map(str, files))
    given = [PredictionFile.named(name, PARTS[benchmark]).path for name in names]
    options.refuse_overwriting(out, [references, *given])
    say(*guessed_parts(names, PARTS[benchmark]))
    items = read_items(benchmark, references)
    return answers_of_files(names, items, benchmark), items
