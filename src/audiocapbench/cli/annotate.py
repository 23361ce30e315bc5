"""``audiocapbench annotate``: a benchmark from a folder of audio, stage by stage or all the way."""

from collections.abc import Callable, Iterable, Sequence
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer
from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, app
from audiocapbench.cli.console import print_json, say, show, some
from audiocapbench.cli.examples import ExampleGroup

if TYPE_CHECKING:
    from audiocapbench.engine import Preview
    from audiocapbench.engine.ask_context import AskContext
    from audiocapbench.models import Model
    from audiocapbench.store.annotations import StageRecord

_WHOLE = "all"
_PROMPTS = ("mecat_merge", "input", "repair")


class _Stages(ExampleGroup):
    """Stages by name; whatever else stands first is the folder of the whole way."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the whole way in where no stage is named."""
        if args and args[0] not in (*self.commands, "--help", "-h"):
            args = [_WHOLE, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """In their order, the whole way last."""
        return sorted(self.commands, key=_WHOLE.__eq__)


annotate_app = typer.Typer(
    cls=_Stages,
    help="Make a benchmark from a folder of audio: experts hear, a model merges, rules check.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(annotate_app, name="annotate")


class StageReport(NamedTuple):
    """What a stage says: to programs, to people, and whether every clip got through."""

    document: dict[str, Any]
    show: Callable[[], None]
    whole: bool = True


class _Way(NamedTuple):
    """What all stages of a command share."""

    settings: "AskContext"
    yes: bool

    def confirm(self, *previews: "Preview") -> None:
        """Nothing is spent unseen."""
        from audiocapbench.cli.preview import confirm

        confirm(previews, budget_usd=self.settings.budget.limit_usd, yes=self.yes)


def _shared(
    *,
    budget: options.Budget = None,
    prices: options.Prices = None,
    concurrency: options.Concurrency = None,
    credentials: options.Credentials = None,
    yes: options.Yes = False,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Options of every stage that may ask a model."""


Stage = Callable[..., StageReport]
_UNPAID = ("store", "json")


def _add(name: str, stages: Sequence[Stage], text: str, *, paid: bool = True) -> None:
    """Add a command that goes through stages, with the options of all of them."""
    taken = [signature(one).parameters for one in stages]
    free = [one for key, one in signature(_shared).parameters.items() if paid or key in _UNPAID]
    own = {key: one for some in taken for key, one in list(some.items())[1:]}
    needed = sorted(own.values(), key=lambda one: (one.kind, one.default is not Parameter.empty))

    def command(**given: Any) -> None:
        reports = _run(stages, taken, given)
        if given["json"]:
            documents = {one.__name__[1:]: report.document for one, report in reports.items()}
            print_json(documents if len(stages) > 1 else next(iter(documents.values())))
        else:
            for report in reports.values():
                report.show()
        if not all(report.whole for report in reports.values()):
            raise typer.Exit(SOME_FAILED)

    helps = [(getdoc(one) or "").partition("\nArgs:\n")[2] for one in stages]
    command.__doc__ = "\n".join([text, "", "Args:", *helps])
    vars(command)["__signature__"] = Signature([*needed, *free])
    options.command(annotate_app.command, name)(command)


def _run(
    stages: Sequence[Stage], taken: Sequence[Any], given: dict[str, Any]
) -> dict[Stage, StageReport]:
    """Go through stages; what is written wrongly is refused before the first."""
    from audiocapbench.annotate.split import read_shares
    from audiocapbench.cli.progress import TrialBars, explain_spending
    from audiocapbench.engine import Budget, RateLimits
    from audiocapbench.engine.ask_context import AskContext

    if "shares" in given:
        read_shares(given["shares"])
    if "llm" in given:
        _merging_model(given)
    reports: dict[Stage, StageReport] = {}
    with TrialBars() as bars:
        settings = AskContext(
            store_url=given["store"],
            budget=Budget(given.get("budget")),
            prices=given.get("prices"),
            rate_limits=RateLimits(given.get("concurrency")),
            progress=bars.advance,
        )
        way = _Way(settings, given.get("yes", False))
        try:
            for stage, own in zip(stages, taken, strict=True):
                reports[stage] = stage(way, **{key: given[key] for key in list(own)[1:]})
        except KeyboardInterrupt:
            say(f"What was done is kept in {settings.store.name}; the same command goes on.")
            raise
    explain_spending(settings.budget)
    return reports


def _hear(
    way: _Way,
    folder: Path,
    *,
    expert: list[str] | None = None,
    threshold: list[str] | None = None,
    describe: str | None = None,
    sample: Annotated[int | None, Option(min=1)] = None,
    seed: int = 0,
    follow_links: options.FollowLinks = False,
    engine: options.Engine = "local",
) -> StageReport:
    """Hear a folder.

    Args:
        folder: Audio files; metadata.jsonl or .csv in it may give file_name, title, description,
            source, licence, domain and what people wrote.
        expert (NAME): An expert, with options in brackets such as asr[model=DIR]; may be repeated.
            [default: signal, speech, tags, asr, quality, music]
        threshold (NAME=X): When something counts as heard: speech_share=0.1, speech_label=0.5,
            music_label=0.4, sound_label=0.3, silence_dbfs=-60; may be repeated.
        describe (MODEL): A model that hears, to describe every clip.
        sample (N): Only so many clips, by lot.
        seed (N): Decides what is drawn by lot.
    """
    from audiocapbench.annotate.clips import open_clips
    from audiocapbench.annotate.domain import DomainRules
    from audiocapbench.annotate.expert import signature_of
    from audiocapbench.annotate.experts import BUILT_IN, set_up
    from audiocapbench.annotate.hear import hear, preview_describe

    settings, rules = way.settings, DomainRules.of(threshold or ())
    panel, model = set_up(expert or BUILT_IN), _hearing_model(describe)
    watch = lambda done, total: settings.progress("clips found", done, total)  # noqa: E731
    clips = open_clips(folder, sample=sample, seed=seed, follow_links=follow_links, progress=watch)
    way.confirm(*([preview_describe(clips, model, settings)] if model else []))
    result = hear(clips, panel, rules, settings, model, engine)
    told = {
        "experts": {one.name: signature_of(one) for one in panel.experts},
        "not_run": panel.not_run,
        "describe": describe,
        "thresholds": rules._asdict(),
        "cost_usd": result.cost_usd,
    }
    settings.store.annotations.put_settings(clips.project, "hear", told)
    document = {
        "clips": len(result.records),
        "domains": dict(sorted(result.domains.items())),
        "experts": {name: dict(one) for name, one in result.experts.items()},
        "not_run": panel.not_run,
        "cost_usd": result.cost_usd,
        "left_out": _reasons(result.records.values()),
    }
    lost = [one for one in result.records.values() if one.status not in ("ok", "duplicate")]
    whole = not lost and not any(one["failed"] for one in result.experts.values())
    return StageReport(document, lambda: _show_hearing(document), whole)


def _hearing_model(name: str | None) -> "Model | None":
    from audiocapbench.errors import ModelError
    from audiocapbench.models import create_model

    model = None if name is None else create_model(name)
    if model is not None and model.contract.container == "none":
        raise ModelError(f"{name} does not hear, so it cannot describe clips")
    return model


def _show_hearing(document: dict[str, Any]) -> None:
    from audiocapbench.table import Table

    rows = [
        {"expert": name} | {one: counts.get(one, 0) for one in ("ok", "failed", "not_run")}
        for name, counts in document["experts"].items()
    ]
    show(Table("", rows))
    for name, reason in document["not_run"].items():
        say(f"{name} was not run: {reason}")
    parts = ", ".join(f"{name} {count:,}" for name, count in document["domains"].items())
    good, whole = sum(document["domains"].values()), document["clips"]
    say(f"{good:,} of {whole:,} clips have a domain{': ' if parts else ''}{parts}.")
    _say_reasons(document)


def _reasons(records: "Iterable[StageRecord]") -> dict[str, dict[str, list[str]]]:
    """Clips that a stage did not let through, by status and reason."""
    found: dict[str, dict[str, list[str]]] = {}
    for one in records:
        if one.status != "ok":
            own = found.setdefault(one.status, {})
            own.setdefault(one.error or "no reason given", []).append(one.clip)
    return found


def _say_reasons(document: dict[str, Any]) -> None:
    for status, reasons in document["left_out"].items():
        for reason, clips in sorted(reasons.items(), key=lambda one: -len(one[1])):
            say(f"  {len(clips):,} {status}: {reason}: {some(clips)}")


def _merge(
    way: _Way,
    folder: Path,
    *,
    llm: str,
    repairs: Annotated[int, Option(min=0)] = 2,
    max_tokens: Annotated[int | None, Option(min=1)] = None,
    temperature: Annotated[float | None, Option(min=0)] = None,
    timeout: options.Timeout = None,
) -> StageReport:
    """Merge what was heard.

    Args:
        llm (MODEL): The language model that merges.
        repairs (N): How often a reply that cannot be used is asked for again.
        max_tokens (N): Most tokens of a reply.
        temperature (T): How freely it writes.
    """
    from audiocapbench.annotate.merge import merge, preview_merge
    from audiocapbench.annotate.prompts import prompt

    how = {"temperature": temperature, "max_tokens": max_tokens, "timeout": timeout}
    model = _merging_model({"llm": llm, **how})
    project, settings = str(folder.resolve()), way.settings
    way.confirm(preview_merge(project, model, settings, repairs))
    result = merge(project, model, settings, repairs)
    told = {
        "llm": model.name,
        "parameters": dict(model.parameters),
        "repairs": repairs,
        "prompts": {one: prompt(one).hash for one in _PROMPTS},
        "cost_usd": result.cost_usd,
    }
    settings.store.annotations.put_settings(project, "merge", told)
    good = sum(one.status == "ok" for one in result.records.values())
    document = {
        "clips": len(result.records),
        "merged": good,
        "asked": list(result.rounds),
        "cost_usd": result.cost_usd,
        "left_out": _reasons(result.records.values()),
    }

    def shown() -> None:
        again = ", then again ".join(f"{count:,}" for count in result.rounds)
        say(f"{good:,} of {len(result.records):,} clips merged; asked about {again or 'none'}.")
        _say_reasons(document)

    return StageReport(document, shown, good == len(result.records))


def _merging_model(given: dict[str, Any]) -> "Model":
    from audiocapbench.models import ModelSettings, create_model

    names = ("temperature", "max_tokens", "timeout")
    return create_model(given["llm"], ModelSettings(**{name: given[name] for name in names}))


def _check(
    way: _Way,
    folder: Path,
    *,
    clap: str = "laion",
    margin: Annotated[float, Option(min=-1e6, max=1e6)] = 6.0,
    margin_unit: Literal["points", "sd"] = "points",
    duplicate: Annotated[float, Option(min=0, max=1)] = 0.98,
    seed: int = 0,
) -> StageReport:
    """Check what was merged.

    Args:
        clap (NAME): Audio-text encoder that compares clip and caption, such as laion[path=DIR];
            'none' for no comparison.
        margin (X): How much more a clip must be like its caption than like 6 others, by lot.
        margin_unit (UNIT): Hundredths of a cosine (points), or standard deviations of the six (sd).
        duplicate (X): Cosine from which captions are near-duplicates.
        seed (N): Decides what is drawn by lot.
    """
    from audiocapbench.annotate.check import CheckSettings, check

    encoder = None if clap == "none" else clap
    how = CheckSettings(encoder, margin, margin_unit, duplicate=duplicate, seed=seed)
    result = check(folder, way.settings.store, how, way.settings.progress)
    document = {
        "kept": len(result.kept),
        "survival": [one._asdict() for one in result.survival],
        "reasons": {name: dict(own.most_common()) for name, own in result.reasons.items()},
        "rejected": {clip: one.error for clip, one in result.records.items() if one.error},
        "not_run": dict(result.not_run),
        "difficulties": {
            name: {"share": share, "wanted": wanted}
            for name, (share, wanted) in result.difficulties.items()
        },
    }
    return StageReport(document, lambda: _show_check(document), bool(result.kept))


def _show_check(document: dict[str, Any]) -> None:
    from audiocapbench.table import Table

    show(Table("", document["survival"], ("step", "left", "went")))
    for name, own in document["reasons"].items():
        for reason, count in own.items():
            say(f"  {count:,} {name}: {reason}")
    for name, reason in document["not_run"].items():
        say(f"{name} was not run: {reason}")
    shares = document["difficulties"].items()
    parts = (f"{name} {100 * one['share']:.0f} ({100 * one['wanted']:.0f})" for name, one in shares)
    if shares:
        say(f"Questions by difficulty, in percent, and as asked for: {', '.join(parts)}.")
    kept, whole = document["kept"], document["survival"][0]["left"]
    say(f"{kept:,} of {whole:,} clips are left ({100 * kept / max(1, whole):.0f} %).")


def _split(
    way: _Way,
    folder: Path,
    *,
    out: Path,
    shares: str = "train=0.8,test=0.2",
    name: str | None = None,
    licence: str | None = None,
    seed: int = 0,
) -> StageReport:
    """Split what passed.

    Args:
        out (DIR): Where the splits are written, a folder each.
        shares (NAME=X,…): Splits, and what share of the clips each gets.
        name (NAME): The benchmark's name. [default: the folder's]
        licence (TEXT): Licence of the clips, for the datasheet.
        seed (N): Decides what is drawn by lot.
    """
    from audiocapbench.annotate.check import survival
    from audiocapbench.annotate.datasheet import write_datasheet
    from audiocapbench.annotate.split import NothingPassedError, read_shares, split
    from audiocapbench.table import Table

    store, project, parts = way.settings.store, str(folder.resolve()), read_shares(shares)
    try:
        made = split(
            folder, out, store, parts, name=name, seed=seed, progress=way.settings.progress
        )
    except NothingPassedError as error:
        words = f"{error}; nothing was written."
        return StageReport({"out": None, "clips": 0}, lambda: say(words), False)
    store.annotations.put_settings(project, "split", {"shares": parts, "seed": seed, "name": name})
    write_datasheet(made, store, project, survival(store, project), licence)
    counts = {part: dict(sorted(own.items())) for part, own in made.counts.items()}
    document = {"out": str(out), "clips": len(made.clips), "splits": counts}

    def shown() -> None:
        domains = sorted({domain for own in counts.values() for domain in own})
        rows = [
            {"domain": one} | {part: own.get(one, 0) for part, own in counts.items()}
            for one in domains
        ]
        show(Table("", rows))
        test = out / ("test" if "test" in counts else next(iter(counts)))
        say(
            f"{len(made.clips):,} clips and a datasheet are in {out}. Then: "
            f"audiocapbench run mecat-caption --data {test} --model MODEL"
        )

    return StageReport(document, shown)


_add(
    "hear",
    [_hear],
    "Have experts hear every clip, and decide which of the eight domains it is of.\n\n"
    "Each clip is decoded once. An expert that lacks a package or a model is 'not run', with the "
    "reason; one that fails on a clip fails there alone. The same command hears what is missing.",
)
_add(
    "merge",
    [_merge],
    "Have a language model merge what experts said: six views in three wordings, five questions."
    "\n\nIt is asked with appendix D of the MECAT paper, word for word. A reply that breaks the "
    "contract is asked for again with what is wrong with it, never mended.",
)
_add(
    "check",
    [_check],
    "Hold annotations to the rules; every rejection has its reason.\n\n"
    "Confidence, domain, transcripts, appendix D's rules of wording, questions, near-duplicates, "
    "and the similarity of clip and caption, which is not run, and said to be, without CLAP.",
    paid=False,
)
_add(
    "split",
    [_split],
    "Write what passed as datasets that 'run' takes, with a datasheet.\n\n"
    "No source is in two splits, and each has its share of every domain, as far as whole sources "
    "allow. Each is caption and qa for 'run mecat-caption' and 'mecat-qa', and MECAT's JSON lines.",
    paid=False,
)
_add(
    _WHOLE,
    [_hear, _merge, _check, _split],
    "The whole way: hear, merge, check and split; 'annotate FOLDER --llm M --out DIR' for short.",
)
