"""``audiocapbench annotate``: a benchmark from a folder of audio, stage by stage or all the way."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Option
from typer.core import TyperGroup

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, app
from audiocapbench.cli.console import print_json, say, show, show_lines, some, table
from audiocapbench.errors import AudioCapBenchError

if TYPE_CHECKING:
    from audiocapbench.annotate.check import CheckResult
    from audiocapbench.annotate.clips import ClipFolder
    from audiocapbench.annotate.hear import HearingResult
    from audiocapbench.annotate.merge import MergeResult
    from audiocapbench.annotate.split import SplitResult
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
Clap = Annotated[
    str,
    Option(
        metavar="NAME",
        help="Audio-text encoder that compares clip and caption, such as laion[path=DIR]; 'none' "
        "for no comparison.",
    ),
]
Margin = Annotated[
    float,
    Option(
        metavar="X", help="How much more a clip is like its caption than like 6 others, by lot."
    ),
]
MarginUnit = Annotated[
    Literal["points", "sd"],
    Option(help="Of --margin: hundredths of a cosine, or standard deviations of the six."),
]
Duplicate = Annotated[
    float, Option(min=0, max=1, metavar="X", help="Cosine from which captions are near-duplicates.")
]
SharesText = Annotated[
    str, Option("--shares", metavar="NAME=X,…", help="Splits, and what share of clips each gets.")
]
Licence = Annotated[
    str | None, Option(metavar="TEXT", help="Licence of the clips, for the datasheet.")
]
Name = Annotated[
    str | None, Option(metavar="NAME", help="The benchmark's name. [default: the folder's]")
]
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
    result = merge_all(project, model, settings, repairs)
    settings.store.put_settings(project, "merge", told | {"cost_usd": result.cost_usd})
    return result


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


@options.command(annotate_app.command)
def check(
    folder: Path,
    *,
    clap: Clap = "laion",
    margin: Margin = 6.0,
    margin_unit: MarginUnit = "points",
    duplicate: Duplicate = 0.98,
    seed: _DRAW = 0,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Hold annotations to the rules; every rejection has its reason.

    Confidence, domain, transcripts, appendix D's rules of wording, questions, near-duplicates, and
    the similarity of clip and caption, which is not run, and said to be, where CLAP is not there.

    Args:
        folder: A folder that 'annotate merge' has merged.
    """
    with _settings(store) as settings:
        result = _check(folder, settings, clap, margin, margin_unit, duplicate, seed)
    if json:
        print_json(_check_document(result))
    else:
        _show_check(result)
    if not result.kept:
        raise typer.Exit(SOME_FAILED)


def _check(
    folder: Path,
    settings: "TrialSettings",
    clap: str,
    margin: float,
    unit: Literal["points", "sd"],
    duplicate: float,
    seed: int,
) -> "CheckResult":
    from audiocapbench.annotate.check import CheckSettings
    from audiocapbench.annotate.check import check as check_all

    how = CheckSettings(
        clap=None if clap == "none" else clap,
        margin=margin,
        unit=unit,
        duplicate=duplicate,
        seed=seed,
    )
    return check_all(folder, settings.store, how, settings.progress)


def _check_document(result: "CheckResult") -> dict[str, Any]:
    return {
        "kept": len(result.kept),
        "survival": [
            {"step": name, "left": left, "went": gone} for name, left, gone in result.survival
        ],
        "reasons": {name: dict(own.most_common()) for name, own in result.reasons.items()},
        "rejected": {clip: one.error for clip, one in result.records.items() if one.error},
        "not_run": dict(result.not_run),
        "difficulties": {
            name: {"share": share, "wanted": wanted}
            for name, (share, wanted) in result.difficulties.items()
        },
    }


def _show_check(result: "CheckResult") -> None:
    rows = [[name, f"{left:,}", f"{gone:,}"] for name, left, gone in result.survival]
    show(table(["step", "left", "went"], rows, right=["left", "went"]))
    for name, own in result.reasons.items():
        for reason, count in own.most_common():
            say(f"  {count:,} {name}: {reason}")
    for name, reason in result.not_run.items():
        say(f"{name} was not run: {reason}")
    if result.difficulties:
        parts = (f"{n} {100 * s:.0f} ({100 * w:.0f})" for n, (s, w) in result.difficulties.items())
        say(f"Questions by difficulty, in percent, and as asked for: {', '.join(parts)}.")
    kept, whole = len(result.kept), result.survival[0][1]
    say(f"{kept:,} of {whole:,} clips are left ({100 * kept / whole:.0f} %).")


@options.command(annotate_app.command)
def split(
    folder: Path,
    *,
    out: Path,
    shares: SharesText = "train=0.8,test=0.2",
    name: Name = None,
    licence: Licence = None,
    seed: _DRAW = 0,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Write what passed as datasets that 'run' takes, with a datasheet.

    No source is in two splits, and each split has its share of every domain, as far as whole
    sources allow. Each is caption and qa for 'run mecat-caption' and 'run mecat-qa', and MECAT's
    JSON lines.

    Args:
        folder: A folder that 'annotate check' has checked.
        out (DIR): Where the splits are written, a folder each.
    """
    with _settings(store) as settings:
        result = _split(folder, out, settings, shares, name, licence, seed)
    if json:
        print_json(_split_document(result))
    else:
        _show_split(result)


def _split(
    folder: Path,
    out: Path,
    settings: "TrialSettings",
    shares: str,
    name: str | None,
    licence: str | None,
    seed: int,
) -> "SplitResult":
    from audiocapbench.annotate.check import survival
    from audiocapbench.annotate.datasheet import write_datasheet
    from audiocapbench.annotate.split import read_shares
    from audiocapbench.annotate.split import split as split_all

    parts, project, kept = read_shares(shares), str(folder.resolve()), settings.store
    kept.put_settings(project, "split", {"shares": parts, "seed": seed, "name": name})
    made = split_all(folder, out, kept, parts, name=name, seed=seed, progress=settings.progress)
    write_datasheet(made, kept, project, survival(kept, project), licence)
    return made


def _split_document(result: "SplitResult") -> dict[str, Any]:
    counts = {name: dict(sorted(own.items())) for name, own in result.counts.items()}
    return {"out": str(result.out), "clips": len(result.clips), "splits": counts}


def _show_split(result: "SplitResult") -> None:
    from audiocapbench.benchmarks.mecat.groups import DOMAINS

    names = list(result.counts)
    rows = [
        [domain, *(str(result.counts[name][domain]) for name in names)]
        for domain in DOMAINS
        if any(result.counts[name][domain] for name in names)
    ]
    show(table(["domain", *names], rows, right=names))
    test = result.out / ("test" if "test" in names else names[0])
    say(
        f"{len(result.clips):,} clips and a datasheet are in {result.out}. Then: "
        f"audiocapbench run mecat-caption --data {test} --model MODEL"
    )


@options.command(annotate_app.command)
def audit(
    folder: Path,
    *,
    out: Path | None = None,
    ratings: list[Path] | None = None,
    pairs: Annotated[int, Option(min=0)] = 150,
    per_domain: Annotated[int, Option(min=0)] = 100,
    person: list[str] | None = None,
    seed: _DRAW = 0,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Have people say how good annotations are: first with --out, then with --ratings.

    ab.csv sets captions against safe, wrong and people's ones, blind: put a, b or tie into
    'preferred'. rel.csv has a 'rating' from 1 to 5 for all views of a clip.

    Args:
        folder: A folder that 'annotate check' has checked.
        out (DIR): Where the sheets are written.
        ratings (FILE): A sheet with ratings, or what 'ratings export' wrote; may be repeated.
        pairs (N): Items of the A/B sheet.
        per_domain (N): Clips of each domain on the REL sheet.
        person (NAME): Who rates, to have projects for 'view --rate' too; may be repeated.
    """
    if (out is None) == (not ratings):
        raise AudioCapBenchError("give --out DIR for sheets, or --ratings FILE, not both")
    with _settings(store) as settings:
        if ratings:
            from audiocapbench.cli.tables import show_findings
            from audiocapbench.report.audit import audit_report

            show_findings(audit_report(settings.store, str(folder.resolve()), ratings), json=json)
            return
        from audiocapbench.annotate.audit import write_sheets

        clips = _open(folder, settings, None, 0, follow_links=True)
        how: dict[str, Any] = {"pairs": pairs, "per_domain": per_domain, "people": person or ()}
        made = write_sheets(clips, settings.store, out or Path(), **how, seed=seed)
    if json:
        print_json({"files": dict(made.files), "opponents": dict(made.opponents)})
        return
    kinds = ", ".join(f"{count} {name}" for name, count in sorted(made.opponents.items()))
    say(f"{out}: {made.files['ab.csv']} pairs ({kinds}), {made.files['rel.csv']} clips to rate.")
    for name in ("ab", "rel") if person else ():
        say(f"In browsers: audiocapbench view --rate {Path(out or '') / f'{name}.toml'}")


@options.command(annotate_app.command, "show")
def show_clip(
    folder: Path,
    clip: str,
    *,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Show all that is known of a clip: how far it got and why, and which expert said what.

    Args:
        folder: A folder that 'annotate hear' has heard.
        clip: The file's name in the folder, or its key in a split.
    """
    from audiocapbench.annotate.show import clip_history
    from audiocapbench.store import Store

    with Store.open(store, create=False) as kept:
        found = clip_history(kept, str(folder.resolve()), clip)
    if json:
        print_json(found)
    else:
        _show_history(found)


def _show_history(found: dict[str, Any]) -> None:
    from json import dumps

    lines = [f"{found['clip']}: domain {found['domain'] or 'unknown'}"]
    for stage, own in found["stages"].items():
        lines.append(
            f"  {stage}: {own['status']}{': ' if own['reason'] else ''}{own['reason'] or ''}"
        )
    lines.append(f"Domain by {dumps(found['evidence'], ensure_ascii=False)}")
    for name, own in found["experts"].items():
        said = own.get("error") or dumps(own["said"], ensure_ascii=False)
        lines.append(f"{name} ({own['signature']}) {own['status']}: {said}")
    why = found.get("provenance", {"words": {}, "model_only": {}})
    for view, texts in found.get("annotation", {}).get("captions", {}).items():
        lines += [f"{view}:", *(f"  {text}" for text in texts)]
        words = why["words"].get(view, {})
        parts = [f"{word} ({', '.join(by)})" for word, by in words.items()]
        lines += [f"  said by experts: {', '.join(parts)}"] if parts else []
        alone = why["model_only"].get(view)
        lines += [f"  the model's own words: {', '.join(alone)}"] if alone else []
    for one in found.get("annotation", {}).get("questions", ()):
        lines.append(f"{one['category']}, {one['difficulty']}: {one['question']} {one['answer']}")
    show_lines(*lines)


@options.command(annotate_app.command, _WHOLE)
def whole(
    folder: Path,
    *,
    llm: Llm,
    out: Path,
    expert: Experts = None,
    threshold: Thresholds = None,
    describe: Describe = None,
    sample: SampleClips = None,
    follow_links: options.FollowLinks = False,
    repairs: Repairs = 2,
    max_tokens: MaxTokens = None,
    temperature: Temperature = None,
    timeout: options.Timeout = None,
    clap: Clap = "laion",
    margin: Margin = 6.0,
    margin_unit: MarginUnit = "points",
    duplicate: Duplicate = 0.98,
    shares: SharesText = "train=0.8,test=0.2",
    name: Name = None,
    licence: Licence = None,
    seed: _DRAW = 0,
    budget: options.Budget = None,
    prices: options.Prices = None,
    concurrency: options.Concurrency = None,
    credentials: options.Credentials = None,
    yes: options.Yes = False,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """The whole way: hear, merge, check and split; 'annotate FOLDER --llm M --out DIR' for short.

    Args:
        folder: Audio files; metadata.jsonl or .csv in it may give file_name, title, description,
            source, licence, domain and what people wrote.
        out (DIR): Where the splits are written, a folder each.
    """
    from audiocapbench.annotate.split import read_shares

    read_shares(shares)
    model, hearing = _llm(llm, max_tokens, temperature, timeout), _hearing_model(describe)
    document: dict[str, Any] = {}
    with _settings(store, budget, prices, concurrency) as settings:
        clips = _open(folder, settings, sample, seed, follow_links)
        heard = _hear(clips, settings, expert, threshold, hearing, yes=yes)
        document["hear"] = _hearing_document(heard)
        merged = _merge(folder, settings, model, repairs, yes)
        document["merge"] = _merge_document(merged)
        checked = _check(folder, settings, clap, margin, margin_unit, duplicate, seed)
        document["check"] = _check_document(checked)
        made = None
        if checked.kept:
            made = _split(folder, out, settings, shares, name, licence, seed)
            document["split"] = _split_document(made)
    if json:
        print_json(document)
    else:
        _show_hearing(heard)
        _show_merge(merged)
        _show_check(checked)
        if made is not None:
            _show_split(made)
    if made is None:
        say("No annotation passed, so nothing was written; the reasons stand above.")
        raise typer.Exit(SOME_FAILED)
    if _lost(heard.records.values()) or _lost(merged.records.values()):
        raise typer.Exit(SOME_FAILED)


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
    result = hear_all(folder, panel, rules, settings, describe)
    settings.store.put_settings(folder.project, "hear", told | {"cost_usd": result.cost_usd})
    return result


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
