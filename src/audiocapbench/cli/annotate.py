"""``audiocapbench annotate``: a benchmark from a folder of audio, stage by stage or all the way."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, app
from audiocapbench.cli.console import print_json, say, show, some, table

if TYPE_CHECKING:
    from audiocapbench.annotate.clips import ClipFolder
    from audiocapbench.annotate.hear import HearingResult
    from audiocapbench.annotate.merge import MergeResult
    from audiocapbench.meta.settings import TrialSettings
    from audiocapbench.models import Model
    from audiocapbench.store.annotations import StageRecord

_WHOLE = "all"


class _Stages(TyperGroup):
    """Stages by name; whatever else stands first is the folder of the whole way."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the whole way in where no stage is named."""
        if args and args[0] not in (*self.commands, "--help", "-h"):
            args = [_WHOLE, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """In their order."""
        return list(self.commands)


annotate_app = typer.Typer(
    cls=_Stages,
    help="Make a benchmark from a folder of audio: experts hear, a model merges, rules check.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(annotate_app, name="annotate")

Experts = Annotated[
    list[str] | None,
    Option(
        "--expert",
        metavar="NAME",
        help="An expert, with options in brackets, such as asr[model=DIR]; may be repeated. "
        "[default: signal, speech, tags, asr, quality, music]",
        show_default=False,
    ),
]
Thresholds = Annotated[
    list[str] | None,
    Option(
        "--threshold",
        metavar="NAME=X",
        help="When something counts as heard: speech_share=0.1, speech_label=0.5, "
        "music_label=0.4, sound_label=0.3, silence_dbfs=-60; may be repeated.",
        show_default=False,
    ),
]
Describe = Annotated[
    str | None, Option(metavar="MODEL", help="A model that hears and describes every clip.")
]
SampleClips = Annotated[int | None, Option(min=1, metavar="N", help="Only so many clips, by lot.")]
_DRAW = options.Seed
Llm = Annotated[str, Option(metavar="MODEL", help="The language model that merges.")]
Repairs = Annotated[
    int, Option(min=0, metavar="N", help="How often a reply that cannot be used is asked again.")
]
MaxTokens = Annotated[int | None, Option(min=1, metavar="N", help="Most tokens of a reply.")]
Temperature = Annotated[float | None, Option(min=0, metavar="T", help="How freely it writes.")]


@contextmanager
def _settings(
    store: str,
    budget: float | None = None,
    prices: Path | None = None,
    concurrency: int | None = None,
    seed: int = 0,
) -> "Iterator[TrialSettings]":
    """What a stage is asked and kept with, and bars while it is at work."""
    from audiocapbench.cli.progress import TrialBars, explain_spending
    from audiocapbench.engine import Budget, RateLimits
    from audiocapbench.meta.settings import TrialSettings

    with TrialBars() as bars:
        settings = TrialSettings(
            store_url=store,
            budget=Budget(budget),
            prices=prices,
            rate_limits=RateLimits(concurrency),
            progress=bars.advance,
            seed=seed,
        )
        try:
            yield settings
        except KeyboardInterrupt:
            say(f"What was done is kept in {settings.store.name}; the same command goes on.")
            raise
    explain_spending(settings.budget)


@options.command(annotate_app.command)
def hear(
    folder: Path,
    *,
    expert: Experts = None,
    threshold: Thresholds = None,
    describe: Describe = None,
    sample: SampleClips = None,
    seed: _DRAW = 0,
    follow_links: options.FollowLinks = False,
    budget: options.Budget = None,
    prices: options.Prices = None,
    concurrency: options.Concurrency = None,
    credentials: options.Credentials = None,
    yes: options.Yes = False,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Have experts hear every clip, and decide which of the eight domains it is of.

    Each clip is decoded once. An expert that lacks a package or a model is 'not run', with the
    reason; one that fails on a clip fails there alone. The same command hears only what is missing.

    Args:
        folder: Audio files; metadata.jsonl or .csv in it may give file_name, title, description,
            source, licence, domain and what people wrote.
    """
    with _settings(store, budget, prices, concurrency) as settings:
        result = _hear(
            _open(folder, settings, sample, seed, follow_links),
            settings,
            expert,
            threshold,
            _hearing_model(describe),
            yes=yes,
        )
    if json:
        print_json(_hearing_document(result))
    else:
        _show_hearing(result)
    if _lost(result.records.values()) or any(one["failed"] for one in result.experts.values()):
        raise typer.Exit(SOME_FAILED)


@options.command(annotate_app.command)
def merge(
    folder: Path,
    *,
    llm: Llm,
    repairs: Repairs = 2,
    max_tokens: MaxTokens = None,
    temperature: Temperature = None,
    timeout: options.Timeout = None,
    budget: options.Budget = None,
    prices: options.Prices = None,
    concurrency: options.Concurrency = None,
    credentials: options.Credentials = None,
    yes: options.Yes = False,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Have a language model merge what experts said: six views in three wordings, five questions.

    It is asked with appendix D of the MECAT paper, word for word. A reply that breaks the contract
    is asked for again with what is wrong with it, never mended.

    Args:
        folder: A folder that 'annotate hear' has heard.
    """
    with _settings(store, budget, prices, concurrency) as settings:
        result = _merge(folder, settings, _llm(llm, max_tokens, temperature, timeout), repairs, yes)
    if json:
        print_json(_merge_document(result))
    else:
        _show_merge(result)
    if _lost(result.records.values()):
        raise typer.Exit(SOME_FAILED)


def _llm(
    name: str, max_tokens: int | None, temperature: float | None, timeout: float | None
) -> "Model":
    from audiocapbench.models import ModelSettings, create_model

    return create_model(name, ModelSettings(temperature, max_tokens, timeout))


def _merge(
    folder: Path, settings: "TrialSettings", model: "Model", repairs: int, yes: bool
) -> "MergeResult":
    from audiocapbench.annotate.merge import merge as merge_all
    from audiocapbench.annotate.merge import preview_merge
    from audiocapbench.annotate.prompts import prompt
    from audiocapbench.cli.preview import confirm

    project = str(folder.resolve())
    spent = preview_merge(project, model, settings, repairs)
    confirm([spent], budget_usd=settings.budget.limit_usd, yes=yes)
    told = {
        "llm": model.name,
        "parameters": dict(model.parameters),
        "repairs": repairs,
        "prompts": {one: prompt(one).hash for one in ("mecat_merge", "input", "repair")},
    }
    settings.store.put_settings(project, "merge", told)
    return merge_all(project, model, settings, repairs)


def _merge_document(result: "MergeResult") -> dict[str, Any]:
    return {
        "clips": len(result.records),
        "merged": len(result.records) - len(_lost(result.records.values())),
        "asked": list(result.rounds),
        "cost_usd": result.cost_usd,
        "left_out": _reasons(result.records.values()),
    }


def _show_merge(result: "MergeResult") -> None:
    good = len(result.records) - len(_lost(result.records.values()))
    again = ", then again ".join(f"{count:,}" for count in result.rounds)
    say(f"{good:,} of {len(result.records):,} clips merged; asked about {again or 'none'}.")
    _say_reasons(result.records.values())


def _open(
    folder: Path, settings: "TrialSettings", sample: int | None, seed: int, follow_links: bool
) -> "ClipFolder":
    from audiocapbench.annotate.clips import open_clips

    return open_clips(
        folder,
        sample=sample,
        seed=seed,
        follow_links=follow_links,
        progress=lambda done, total: settings.progress("clips found", done, total),
    )


def _hearing_model(name: str | None) -> "Model | None":
    from audiocapbench.errors import ModelError
    from audiocapbench.models import create_model

    if name is None:
        return None
    model = create_model(name)
    if model.contract.container == "none":
        raise ModelError(f"{name} does not hear, so it cannot describe clips")
    return model


def _hear(
    folder: "ClipFolder",
    settings: "TrialSettings",
    experts: list[str] | None,
    thresholds: list[str] | None,
    describe: "Model | None",
    *,
    yes: bool,
    more: Sequence[Any] = (),
) -> "HearingResult":
    from dataclasses import asdict

    from audiocapbench.annotate.domain import DomainRules
    from audiocapbench.annotate.expert import signature_of
    from audiocapbench.annotate.experts import BUILT_IN, set_up
    from audiocapbench.annotate.hear import hear as hear_all
    from audiocapbench.annotate.hear import preview_describe
    from audiocapbench.cli.preview import confirm

    rules, panel = DomainRules.of(thresholds or ()), set_up(experts or BUILT_IN)
    spent = [preview_describe(folder, describe, settings)] if describe else []
    confirm([*spent, *more], budget_usd=settings.budget.limit_usd, yes=yes)
    told = {
        "experts": {one.name: signature_of(one) for one in panel.experts},
        "not_run": panel.not_run,
        "describe": describe.name if describe else None,
        "thresholds": asdict(rules),
    }
    settings.store.put_settings(folder.project, "hear", told)
    return hear_all(folder, panel, rules, settings, describe)


def _lost(records: "Sequence[StageRecord] | Any") -> "list[StageRecord]":
    return [one for one in records if one.status not in ("ok", "duplicate")]


def _hearing_document(result: "HearingResult") -> dict[str, Any]:
    return {
        "clips": len(result.records),
        "domains": dict(sorted(result.domains.items())),
        "experts": {name: dict(one) for name, one in result.experts.items()},
        "not_run": dict(result.not_run),
        "cost_usd": result.cost_usd,
        "left_out": _reasons(result.records.values()),
    }


def _reasons(records: "Any") -> dict[str, dict[str, Any]]:
    """Clips that a stage did not let through, by status and reason."""
    found: dict[str, dict[str, Any]] = {}
    for one in records:
        if one.status != "ok":
            own = found.setdefault(one.status, {})
            own.setdefault(one.error or "no reason given", []).append(one.clip)
    return found


def _show_hearing(result: "HearingResult") -> None:
    columns = ["ok", "failed", "not run"]
    rows = [
        [name, *(str(one[status.replace(" ", "_")]) for status in columns)]
        for name, one in result.experts.items()
    ]
    show(table(["expert", *columns], rows, right=columns))
    for name, reason in result.not_run.items():
        say(f"{name} was not run: {reason}")
    good = sum(result.domains.values())
    parts = ", ".join(f"{name} {count:,}" for name, count in sorted(result.domains.items()))
    say(f"{good:,} of {len(result.records):,} clips have a domain{': ' if parts else ''}{parts}.")
    _say_reasons(result.records.values())


def _say_reasons(records: "Any") -> None:
    for status, reasons in _reasons(records).items():
        for reason, clips in sorted(reasons.items(), key=lambda one: -len(one[1])):
            say(f"  {len(clips):,} {status}: {reason}: {some(clips)}")
