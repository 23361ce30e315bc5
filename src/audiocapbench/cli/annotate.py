"""``audiocapbench annotate``: a benchmark from a folder of audio, stage by stage or all the way."""

from collections.abc import Callable
from functools import partial
from inspect import Parameter, Signature, getdoc, signature
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from audiocapbench.asking import ModelOptions, RequestOptions
from audiocapbench.cli import collect_as_usual, options
from audiocapbench.cli.app import ExampleGroup, add_group, leave
from audiocapbench.cli.console import print_json, say, show, show_facts
from audiocapbench.errors import AudioCapBenchError, ModelError, some
from audiocapbench.table import Table

if TYPE_CHECKING:
    from audiocapbench.annotate.stage import StageContext, StageResult
    from audiocapbench.models import Model

    _Stage = Callable[[], StageResult]

_WHOLE = "all"


class _Stages(ExampleGroup):
    """Stages by name; whatever else stands first is the folder of the whole way."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help", "-h"):
            args = [_WHOLE, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """In their order, the whole way last."""
        return sorted(self.commands, key=_WHOLE.__eq__)


annotate_app = add_group(
    "annotate",
    cls=_Stages,
    help="Make a benchmark from a folder of audio: experts hear, a model merges, rules check.",
)


def _add(*stages: Callable[..., "_Stage"], name: str = "", text: str = "") -> None:
    """Add a command that goes through stages, with the options of all of them; one of a single
    stage has its name and text. Whatever may ask models has the options of asking."""
    taken = [list(signature(one).parameters.values())[1:] for one in stages]
    docs = [(getdoc(one) or "").partition("\nArgs:\n") for one in stages]
    every = {one.name: one for parameters in taken for one in parameters}
    needed = sorted(every.values(), key=lambda one: (one.kind, one.default is not Parameter.empty))

    def command(
        *,
        session: options.Session | None = None,
        store: options.Store = options.DEFAULT_STORE,
        json: bool = False,
        **given: Any,
    ) -> None:
        from audiocapbench.annotate.stage import StageContext
        from audiocapbench.cli.progress import Terminal
        from audiocapbench.engine.runner import AskContext

        collect_as_usual()
        session = session or options.Session(RequestOptions(), store=store)
        how, results = session.asking(), {}
        with Terminal(yes=session.yes) as host:
            agree = lambda preview: host.agree([how.priced(preview)], how.budget)  # noqa: E731
            own: Any = {"store_url": session.store, "progress": host.advance, "agree": agree}
            settings = AskContext(**own, **vars(how))
            context, begun = StageContext(given["folder"], settings.store, settings), []
            # What is written wrongly is refused before the first stage begins.
            for stage, parameters in zip(stages, taken, strict=True):
                begun.append(stage(context, **{one.name: given[one.name] for one in parameters}))
            try:
                for stage, run in zip(stages, begun, strict=True):
                    results[stage.__name__[1:]] = made = run()
                    if stage is _hear and len(stages) > 1 and not made.document["domains"]:
                        _show_hearing(made.document)
                        why = "so that none would survive; nothing was asked"
                        raise AudioCapBenchError(f"{context.root}: no clip has a domain, {why}")
            except KeyboardInterrupt:
                say(f"What was done is kept in {settings.store.name}; the same command goes on.")
                raise
        documents = {name: result.document for name, result in results.items()}
        if json:
            print_json(documents if len(stages) > 1 else next(iter(documents.values())))
        else:
            for stage_name, document in documents.items():
                _SHOWN[stage_name](document)
        leave(failed=not all(result.whole for result in results.values()))

    asking, where, printed, _ = signature(command).parameters.values()
    asks = stages[0] in (_hear, _merge, _check)
    shared = asking.replace(annotation=options.Session, default=Parameter.empty) if asks else where
    command.__doc__ = "\n".join([text or docs[0][0], "", "Args:", *(one[2] for one in docs)])
    vars(command)["__signature__"] = Signature([*needed, shared, printed])
    options.command(annotate_app.command, name or stages[0].__name__[1:])(command)


def _hear(
    context: "StageContext",
    folder: Path,
    *,
    expert: list[str] | None = None,
    threshold: list[str] | None = None,
    describe: str | None = None,
    sample: Annotated[int | None, Option(min=1)] = None,
    seed: int = 0,
    follow_links: bool = False,
) -> "_Stage":
    """Have experts hear every clip, and decide which of the eight domains it is of.

    Each clip is decoded once. An expert that lacks a package or a model is 'not run', with the
    reason; one that fails on a clip fails there alone. The same command hears what is missing.

    Args:
        folder: Audio files; metadata.jsonl or .csv in it may give file_name, title, description,
            source, licence, domain and what people wrote.
        expert (NAME): An expert, with options in brackets such as asr[model=DIR]; may be repeated.
            [default: signal, speech, tags, asr, quality, music]
        threshold (NAME=X): When something counts as heard: speech_share=0.1, speech_label=0.5,
            music_label=0.4, sound_label=0.3, silence_dbfs=-60, and without labels music_share=0.3,
            background_db=-20; may be repeated.
        describe (MODEL): A model that hears, to describe every clip.
        sample (N): Only so many clips, by lot.
    """
    from audiocapbench.annotate.experts import BUILT_IN, DomainRules, set_up
    from audiocapbench.annotate.hear import hear
    from audiocapbench.data.loose import open_clips

    rules, panel, model = DomainRules.of(threshold or ()), set_up(expert or BUILT_IN), None
    if describe is not None:
        model = _create_model(context, describe, ModelOptions())
        if model.contract.container == "none":
            raise ModelError(f"{describe} does not hear, so it cannot describe clips")
    watch = partial(context.progress, "clips found")
    chosen: Any = {"sample": sample, "seed": seed, "follow_links": follow_links}

    def run() -> "StageResult":
        clips, unreadable = open_clips(folder, **chosen, progress=watch)
        return hear(context, clips, unreadable, panel, rules, model, sample)

    return run


def _show_hearing(document: dict[str, Any]) -> None:
    from audiocapbench.data.loose import counted_kinds

    rows = [
        {"expert": name} | {one: counts.get(one, 0) for one in ("ok", "failed", "not_run")}
        for name, counts in document["experts"].items()
    ]
    show(Table("", rows))
    say(*(f"{name} was not run: {reason}" for name, reason in document["not_run"].items()))
    if adds := document["would_add"]:
        say(f"Would add: {'; '.join(f'{name} {what}' for name, what in adds.items())}.")
    parts = ", ".join(f"{name} {count:,}" for name, count in document["domains"].items())
    good, whole = sum(document["domains"].values()), document["clips"]
    say(f"{good:,} of {whole:,} clips have a domain{': ' if parts else ''}{parts}.")
    if document["skipped"]:
        say(f"Skipped, as no audio: {counted_kinds(document['skipped'])}.")
    _say_reasons(document)


def _say_reasons(document: dict[str, Any]) -> None:
    for status, reasons in document["left_out"].items():
        for reason, clips in sorted(reasons.items(), key=lambda one: -len(one[1])):
            say(f"  {len(clips):,} {status}: {reason}: {some(clips)}")


def _merge(
    context: "StageContext",
    folder: Path,
    *,
    llm: str,
    repairs: Annotated[int, Option(min=0)] = 2,
    max_tokens: Annotated[int | None, Option(min=1)] = None,
    temperature: Annotated[float | None, Option(min=0)] = None,
) -> "_Stage":
    """Have a language model merge what experts said: six views in three wordings, five questions.

    It is asked with appendix D of the MECAT paper, word for word. A reply that breaks the contract
    is asked for again with what is wrong with it, never mended.

    Args:
        llm (MODEL): The language model that merges.
        repairs (N): How often a reply that cannot be used is asked for again.
        max_tokens (N): Most tokens of a reply.
        temperature (T): How freely it writes.
    """
    from audiocapbench.annotate.merge import merge

    model = _create_model(context, llm, ModelOptions(temperature, max_tokens))
    return partial(merge, context, model, repairs)


def _show_merge(document: dict[str, Any]) -> None:
    again = ", then again ".join(f"{count:,}" for count in document["asked"])
    merged, clips = document["merged"], document["clips"]
    say(f"{merged:,} of {clips:,} clips merged; asked about {again or 'none'}.")
    _say_reasons(document)


def _create_model(context: "StageContext", name: str, told: ModelOptions) -> "Model":
    from audiocapbench.models import create_model

    return create_model(name, context.asking.model_settings(told))


def _check(
    context: "StageContext",
    folder: Path,
    *,
    clap: str = "laion",
    margin: Annotated[float, Option(min=-1e6, max=1e6)] = 6.0,
    margin_unit: Literal["points", "sd"] = "points",
    duplicate: Annotated[float, Option(min=0, max=1)] = 0.98,
    verify: str | None = None,
    self_test: bool = False,
    seed: int = 0,
) -> "_Stage":
    """Hold annotations to the rules; every rejection has its reason.

    Confidence, domain, claims that experts deny, transcripts, language, wording, titles,
    repetition, questions, near-duplicates, and the similarity of clip and caption, which is not
    run, and said to be, without CLAP. Errors of our own are planted to tell what is caught.

    Args:
        clap (NAME): Audio-text encoder that compares clip and caption, such as laion[path=DIR];
            'none' for no comparison.
        margin (X): How much more a clip must be like its caption than like 6 others, by lot.
        margin_unit (UNIT): Hundredths of a cosine (points), or standard deviations of the six (sd).
        duplicate (X): Cosine from which captions are near-duplicates.
        verify (MODEL): A second language model, which holds each claim to the experts' findings.
        self_test: Show which planted errors are caught, and fail where too few are.
    """
    from audiocapbench.annotate.check import check
    from audiocapbench.annotate.self_test import below_bar
    from audiocapbench.metrics.clap.encoder import encoder_name

    encoder = None if clap == "none" else encoder_name(clap)
    second = _create_model(context, verify, ModelOptions()) if verify else None

    def run() -> "StageResult":
        result = check(context, encoder, margin, margin_unit, duplicate, seed, second)
        if self_test:
            result.document["below_bar"] = below_bar(result.document["self_test"])
        return result._replace(whole=result.whole and not result.document.get("below_bar"))

    return run


def _show_check(document: dict[str, Any]) -> None:
    show(Table("", document["survival"], ("step", "left", "went")))
    for row in document["survival"]:
        say(*(f"  {count:,} {row['step']}: {why}" for why, count in row["reasons"].items()))
    say(*(f"{name} was not run: {reason}" for name, reason in document["not_run"].items()))
    if "below_bar" in document:
        from audiocapbench.report.datasheet import self_test_table

        show(self_test_table(document["self_test"]))
        say(*([f"Below the bar: {document['below_bar']}."] if document["below_bar"] else ()))
    kept, whole = document["kept"], document["survival"][0]["left"]
    say(f"{kept:,} of {whole:,} clips are left ({100 * kept / max(1, whole):.0f} %).")


def _split(
    context: "StageContext",
    folder: Path,
    *,
    out: Path,
    shares: str = "train=0.8,test=0.2",
    name: str | None = None,
    licence: str | None = None,
    accept_quality: bool = False,
    seed: int = 0,
) -> "_Stage":
    """Write what passed as datasets that 'run' takes, with a datasheet.

    No source is in two splits, and each has its share of every domain, as far as whole sources
    allow. Each is caption and qa for 'run mecat-caption' and 'mecat-qa', and MECAT's JSON lines.

    Args:
        out (DIR): Where the splits are written, a folder each.
        shares (NAME=X,…): Splits, and what share of the clips each gets.
        name (NAME): The benchmark's name. [default: the folder's]
        licence (TEXT): Licence of the clips, for the datasheet.
        accept_quality: Publish although the checks catch too few planted errors.
    """
    from audiocapbench.annotate.split import check_out, read_shares, split
    from audiocapbench.files import write_file
    from audiocapbench.report.datasheet import datasheet

    check_out(folder, out)
    parts = read_shares(shares)

    def run() -> "StageResult":
        how: Any = {"name": name, "accept_quality": accept_quality, "seed": seed}
        clips, result = split(context, out, parts, **how)
        if clips:
            write_file(out / "DATASHEET.md", datasheet(context, clips, out, licence))
        return result

    return run


def _show_split(document: dict[str, Any]) -> None:
    if document["out"] is None:
        say("No annotation passed the checks; nothing was written.")
        return
    counts, out = document["splits"], Path(document["out"])
    domains = sorted({domain for own in counts.values() for domain in own})
    rows = [
        {"domain": one} | {part: own.get(one, 0) for part, own in counts.items()} for one in domains
    ]
    show(Table("", rows))
    test = out / ("test" if "test" in counts else next(iter(counts)))
    say(
        f"{document['clips']:,} clips and a datasheet are in {out}. Then: "
        f"audiocapbench run mecat-caption --data {test} --model MODEL"
    )


_SHOWN = {"hear": _show_hearing, "merge": _show_merge, "check": _show_check, "split": _show_split}
_TEXT = (
    "The whole way: hear, merge, check and split; 'annotate FOLDER --llm M --out DIR' for short."
)

for _stage in (_hear, _merge, _check, _split):
    _add(_stage)
_add(_hear, _merge, _check, _split, name=_WHOLE, text=_TEXT)


@options.command(annotate_app.command)
def audit(
    folder: Path,
    *,
    out: Path | None = None,
    ratings: list[str] | None = None,
    pairs: Annotated[int, Option(min=0)] = 150,
    per_domain: Annotated[int, Option(min=0)] = 100,
    doubts: Annotated[int, Option(min=0)] = 0,
    person: list[str] | None = None,
    seed: int = 0,
    at: options.StoreOptions,
) -> None:
    """Have people say how good annotations are: first with --out, then with --ratings.

    ab.csv sets captions against safe, wrong and people's ones, blind: put a, b or tie into
    'preferred'. rel.csv has a 'rating' from 1 to 5 for all views of a clip. What people reject
    leaves the next 'annotate split'.

    Args:
        folder: A folder that 'annotate check' has checked.
        out (DIR): Where the sheets are written.
        ratings (FILE): A sheet with ratings, or a rating project of the store; may be repeated.
        pairs (N): Items of the A/B sheet.
        per_domain (N): Clips of each domain on the REL sheet.
        doubts (N): Clips of each domain besides, on which experts, model and filter disagree most.
        person (NAME): Who rates, to have projects for 'view --rate' too; may be repeated.
    """
    from audiocapbench.annotate.audit import write_sheets
    from audiocapbench.annotate.stage import StageContext
    from audiocapbench.data.loose import open_clips
    from audiocapbench.report.ratings import audit_report

    if out is not None and not ratings:
        clips, _ = open_clips(folder, follow_links=True)
        counts = pairs, per_domain, doubts
        with at.open() as kept:
            context = StageContext(folder, kept)
            made = write_sheets(context, clips, out, *counts, person or (), seed)
        words = (f"{out / name}: {n:,} items." for name, n in made.document["files"].items())
        show_facts(made.document, *words, json=at.json)
        for name in ("ab", "rel") if person else ():
            say(f"In browsers: audiocapbench view --rate {out / f'{name}.toml'}")
    elif ratings and out is None:
        with at.open() as kept:
            at.show(audit_report(StageContext(folder, kept), ratings))
    else:
        raise AudioCapBenchError("give --out DIR for sheets, or --ratings FILE, not both")


@options.command(annotate_app.command, "show")
def show_clip(folder: Path, clip: str, *, at: options.StoreOptions) -> None:
    """Show all that is known of a clip: how far it got and why, and which expert said what.

    Args:
        folder: A folder that 'annotate hear' has heard.
        clip: The file's name in the folder, or its key in a split.
    """
    from audiocapbench.annotate import audit, stage

    with at.open() as kept:
        found = audit.clip_history(stage.StageContext(folder, kept), clip)
    parts = (*found["stages"].items(), *found["experts"].items())
    show_facts(
        found, *(f"{name}: {dumps(one, ensure_ascii=False)}" for name, one in parts), json=at.json
    )
