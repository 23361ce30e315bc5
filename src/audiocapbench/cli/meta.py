"""``audiocapbench meta``: put metrics, judges and models on trial against what people prefer."""

from collections.abc import Callable, Sequence
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer
from typer import Option

from audiocapbench.asking import RequestOptions
from audiocapbench.cli import options
from audiocapbench.cli.app import app, leave
from audiocapbench.cli.console import print_json, say, show
from audiocapbench.cli.examples import ExampleGroup
from audiocapbench.cli.outputs import read_to_ask, refuse_overwriting
from audiocapbench.errors import AudioCapBenchError, FatalError

if TYPE_CHECKING:
    from audiocapbench.errors import TrialStoppedError
    from audiocapbench.meta.pairs.pair import CaptionPair, PairSet
    from audiocapbench.meta.scorers.scorer import PairScorer, TrialSettings
    from audiocapbench.meta.trial import ScorerTrial

Result = TypeVar("Result")

# Repeated here because reading them takes longer than printing a help text may.
PROMPTS = tuple(
    f"{style}{more}"
    for style in ("naive", "simple", "complex")
    for more in ("", "-ref", "-tie", "-tie-ref")
)
AnswerForm = Literal["text", "schema", "logprobs"]
_KINDS = {
    "human": "FENSE's pairs",
    "brace-main": "BRACE-Main",
    "brace-hallucination": "BRACE-Hallucination, or what 'corrupt' made",
    "csv": "a table of your own pairs",
}

meta_app = typer.Typer(
    cls=ExampleGroup,
    help="Put scorers on trial: metrics, judges and models against what people say.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(meta_app, name="meta")


def _for_each_kind(trial: Callable[..., None]) -> Callable[..., None]:
    """Add a command for each kind of pairs; all have the same options."""
    _, *shared = signature(trial).parameters.values()

    def add(kind: str, words: str) -> None:
        def one_kind(**given: Any) -> None:
            trial(kind, **given)

        vars(one_kind)["__signature__"] = Signature(shared)
        one_kind.__doc__ = (trial.__doc__ or "").replace("WHICH", words)
        options.command(meta_app.command, kind)(one_kind)

    for kind, words in _KINDS.items():
        add(kind, words)
    return trial


@_for_each_kind
def _try_on_pairs(
    kind: str,
    *,
    pairs: list[Path],
    scorer: list[str],
    votes_from: list[Path] | None = None,
    least_votes: Annotated[int | None, Option(min=1, show_default=False)] = None,
    as_is: Annotated[bool | None, Option("--as-is/--normalise", show_default=False)] = None,
    data: Path | None = None,
    follow_links: options.FollowLinks = False,
    prompt: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help=f"How a model: scorer is asked to compare: {', '.join(PROMPTS)}, or all in "
            "turn. [default: simple]",
            show_default=False,
        ),
    ] = None,
    prompt_file: Path | None = None,
    swap: bool = False,
    answer: AnswerForm = "text",
    reader: str | None = None,
    read: Annotated[Literal["uncertain", "all"] | None, Option(show_default=False)] = None,
    asking: RequestOptions,
    seed: Annotated[int, Option(min=0)] = 42,
    html: Path | None = None,
    per_pair: Path | None = None,
    session: options.Session,
    json: options.Json = False,
) -> None:
    """On WHICH: see how often a scorer picks the caption that people picked.

    The published measure comes first; beside it stand measures that a constant answer cannot game.

    Args:
        pairs (FILE): Pairs with answers; may be repeated.
        scorer (KIND:NAME): metric:NAME, judge:NAME, clap:NAME, model:NAME, choices:FILE or
            scores:FILE of your own, or control:always-0, always-1, random, longer, shorter,
            rarer-noun, likelier; may be repeated.
        votes_from (FILE): Pairs before filtering, to measure how far people agree.
        least_votes (N): Keep a pair, and count it for kappa, when its votes add up to so many one
            way or the other. [default: 2 for brace-main, else 1]
        as_is: Leave captions as written, or drop stray white space and the final full stop.
            [default: as written for human and brace-main]
        data (DIR): Folder with the clips, for who hears them.
        prompt_file (FILE): A prompt of your own instead.
        swap: Ask model: and control: scorers in both orders; show each, their mean and where
            both agree.
        answer (FORM): How model: scorers give their choice: text, as published, schema (JSON, where
            the provider takes response_format) or logprobs (the likelier token).
        reader (MODEL): Reads answers of model: scorers that the parser is not certain of.
        read (ANSWERS): What the reader reads: uncertain or all. [default: uncertain]
        seed (N): For lots.
        html (FILE): Write a report page.
        per_pair (FILE): Write every choice as CSV.
    """
    from audiocapbench.cli.progress import explain_spending
    from audiocapbench.engine import Asking
    from audiocapbench.meta.pairs.files import KINDS, pair_set, read_pairs
    from audiocapbench.meta.pairs.pair import agreement
    from audiocapbench.meta.scorers.scorer import TrialSettings
    from audiocapbench.meta.trial import control_notes, trial_document, try_controls, write_choices
    from audiocapbench.report.trial import trial_tables, write_trials

    if read is not None and reader is None:
        raise AudioCapBenchError("--read says what the reader reads; name one with --reader MODEL")
    for_models = {
        "--prompt": prompt,
        "--prompt-file": prompt_file,
        "--reader": reader,
        "--answer": None if answer == "text" else answer,
    }
    kinds = {name.strip().partition(":")[0] for name in scorer}
    idle = [option for option, value in for_models.items() if value is not None]
    if idle and "model" not in kinds:
        raise AudioCapBenchError(f"{idle[0]} is for model: scorers, and none is given")
    if swap and not kinds & {"model", "control"}:
        raise AudioCapBenchError("--swap is for model: and control: scorers, and none is given")
    if prompt is not None and prompt_file is not None:
        raise AudioCapBenchError("--prompt and --prompt-file are two ways to say one thing")
    named = [name.strip().partition(":") for name in scorer]
    files = [Path(path) for kind, _, path in named if kind in ("choices", "scores")]
    given = [*pairs, *(votes_from or ()), *files, *read_to_ask(asking, session)]
    for out in (html, per_pair):
        refuse_overwriting(out, [*given, *filter(None, [prompt_file])])
    found = read_pairs(kind, pairs, least_votes)
    judged = pair_set(kind, found, as_is=as_is)
    agreed = agreement(
        read_pairs(kind, votes_from) if votes_from else found, least_votes or KINDS[kind].least
    )
    settings = TrialSettings(
        data=data,
        follow_links=follow_links,
        store_url=session.store,
        prompt=prompt or "simple",
        prompt_file=prompt_file,
        swap=swap,
        answer=answer,
        reader=reader,
        read=read or "uncertain",
        protocol=judged.protocol,
        seed=seed,
        **vars(Asking.of(asking)),
    )
    refused: list[FatalError] = []
    trials, stopped = _try_all(scorer, judged, settings, refused, yes=session.yes)
    controls = try_controls(judged, settings, [one.scorer for one in trials]) if trials else []
    if trials and per_pair is not None:
        write_choices(per_pair, trials)
    if trials and html is not None:
        write_trials(html, trials, controls, judged, agreed)
    if trials and json:
        left = judged.left_out
        print_json(trial_document(trials, left_out=left, agreement=agreed, controls=controls))
    elif trials:
        show(*trial_tables(trials, controls, judged, agreed))
    for trial in trials:
        say(*(f"{trial.scorer}: {note}" for note in trial.diagnostics.notes))
        say(*(f"Warning: {warning}." for warning in trial.warnings))
    say(*(f"Note: {note}." for note in control_notes(trials, controls)))
    explain_spending(settings.budget)
    failed = sum(trial.diagnostics.failed for trial in trials)
    if failed and stopped is None and not refused:
        say(f"{failed:,} captions, clips or questions got no answer; they count as unknown.")
    if stopped is not None:
        leave(stopped.stop, [*refused, stopped])
    leave(refusals=refused, failed=bool(failed))


def _try_all(
    names: Sequence[str],
    pairs: "PairSet",
    settings: "TrialSettings",
    refused: list[FatalError],
    *,
    yes: bool,
) -> "tuple[list[ScorerTrial], TrialStoppedError | None]":
    """Try every scorer in turn; what was finished before a stop is kept.

    The error of a scorer that refuses all questions is put among the ``refused``.
    """
    from dataclasses import replace

    from audiocapbench.errors import TrialStoppedError
    from audiocapbench.meta.trial import try_scorer

    trials: list[ScorerTrial] = []
    named = [
        (name, prompt) for name in dict.fromkeys(names) for prompt in _swept(name, settings, pairs)
    ]
    wanted = [(name, replace(settings, prompt=prompt or settings.prompt)) for name, prompt in named]

    def try_each(scorers: "Sequence[PairScorer]") -> TrialStoppedError | None:
        for scorer, (_, prompt) in zip(scorers, named, strict=True):
            try:
                trial = try_scorer(scorer, pairs, swap=settings.swap)
                name = f"{trial.scorer} {prompt}" if prompt else trial.scorer
                trials.append(replace(trial, scorer=name))
            except FatalError as error:
                refused.append(error)
            except TrialStoppedError as error:
                return error
        return None

    return trials, ask_scorers(wanted, pairs.decided, try_each, yes=yes)


def ask_scorers(
    wanted: "Sequence[tuple[str, TrialSettings]]",
    pairs: "Sequence[CaptionPair]",
    work: "Callable[[list[PairScorer]], Result]",
    check: "Callable[[PairScorer], PairScorer]" = lambda one: one,
    *,
    yes: bool,
) -> Result:
    """Do something with scorers, each with its settings, once their cost is agreed to.

    All are made and checked before the first is asked: a wrong name must not cost an hour.
    """
    from dataclasses import replace
    from itertools import chain

    from audiocapbench.cli.progress import Terminal
    from audiocapbench.meta.scorers.scorer import create_scorer
    from audiocapbench.plan import TaskPlan, execute

    with Terminal(yes=yes) as host:
        made = [
            check(create_scorer(name, replace(settings, progress=host.advance)))
            for name, settings in wanted
        ]
        plan = TaskPlan(
            wanted[0][1],
            lambda: chain.from_iterable(one.preview(pairs) for one in made),
            lambda _host: work(made),
        )
        return execute(plan, host)


def _swept(scorer: str, settings: "TrialSettings", pairs: "PairSet") -> tuple[str | None, ...]:
    """The prompts that a scorer is asked with in turn: all that can be, or none by name."""
    if settings.prompt != "all" or not scorer.strip().startswith("model:"):
        return (None,)
    if all(pair.references_first and pair.references_second for pair in pairs.decided):
        return PROMPTS
    say("--prompt all: pairs without references are not asked with the prompts that show some")
    return tuple(name for name in PROMPTS if not name.endswith("-ref"))
