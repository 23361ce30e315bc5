"""``audiocapbench meta``: put metrics, judges and models on trial against what people prefer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from inspect import Signature, signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from audiocapbench.asking import TrialOptions
from audiocapbench.cli import collect_as_usual, options
from audiocapbench.cli.app import add_group, leave
from audiocapbench.cli.console import say, show_result
from audiocapbench.errors import (
    AudioCapBenchError,
    DatasetError,
    FatalError,
    StoppedError,
    TrialError,
)
from audiocapbench.files import csv_text, write_file
from audiocapbench.table import Column, Findings, Table, signature_notes

if TYPE_CHECKING:
    from audiocapbench.meta.blind import SearchedScorer
    from audiocapbench.meta.cheat import CheatTrial
    from audiocapbench.meta.corrupt.captions import CaptionedClip
    from audiocapbench.meta.pairs import CaptionPair, PairSet
    from audiocapbench.meta.scorers.scorer import PairScorer, TrialSettings
    from audiocapbench.meta.trial import ScorerTrial

_KINDS = {
    "human": "FENSE's pairs",
    "brace-main": "BRACE-Main",
    "brace-hallucination": "BRACE-Hallucination, or what 'corrupt' made",
    "csv": "a table of your own pairs",
}

meta_app = add_group(
    "meta", help="Put scorers on trial: metrics, judges and models against what people say."
)


def _try_on_pairs(
    kind: str,
    *,
    pairs: list[Path],
    columns: options.Columns = None,
    scorer: list[str],
    votes_from: list[Path] | None = None,
    least_votes: Annotated[int | None, Option(min=1, show_default=False)] = None,
    as_is: Annotated[bool | None, Option("--as-is/--normalise", show_default=False)] = None,
    data: options.ClipFolder = None,
    follow_links: bool = False,
    asked: TrialOptions,
    html: options.MaybeNewFile = None,
    per_pair: options.MaybeNewFile = None,
    session: options.Session,
    json: bool = False,
) -> None:
    """On WHICH: see how often a scorer picks the caption that people picked.

    The published measure comes first; beside it stand measures that a constant answer cannot game.

    Args:
        pairs (FILE): Pairs with answers; may be repeated.
        columns (ROLE=COLUMN): Which column of a table is what, such as audio=clip,caption_a=left.
        scorer (KIND:NAME): metric:NAME, judge:NAME, rate:MODEL, clap:NAME, model:NAME, choices:FILE
            or scores:FILE of your own, or control:always-0, always-1, random, longer, shorter,
            rarer-noun, likelier; may be repeated.
        votes_from (FILE): Pairs before filtering, to measure how far people agree.
        least_votes (N): Keep a pair, and count it for kappa, when its votes add up to so many one
            way or the other. [default: 2 for brace-main, else 1]
        as_is: Leave captions as written, or drop stray white space and the final full stop.
            [default: as written for human and brace-main]
        html (FILE): Write a report page.
        per_pair (FILE): Write every choice as CSV, with its scores and margin or how it was read.
    """
    from audiocapbench.data.columns import mapped_columns
    from audiocapbench.meta import trial as trying
    from audiocapbench.meta.pairs import KINDS, ROLES, pair_set, read_pairs
    from audiocapbench.meta.scorers.scorer import TrialSettings
    from audiocapbench.meta.votes import one_against_rest
    from audiocapbench.report.trial import trial_tables, write_trials

    if asked.read is not None and asked.reader is None:
        raise AudioCapBenchError("--read says what the reader reads; name one with --reader MODEL")
    named = [name.strip().partition(":") for name in scorer]
    kinds = {kind for kind, _, _ in named}
    for_models = ("prompt", "prompt_file", "reader", "answer")
    idle = [name for name in for_models if getattr(asked, name) != getattr(TrialOptions, name)]
    if idle and "model" not in kinds:
        raise AudioCapBenchError(f"`{idle[0]}` is for model: scorers, and none is given")
    if asked.swap and not kinds & {"model", "control"}:
        raise AudioCapBenchError("--swap is for model: and control: scorers, and none is given")
    if asked.prompt is not None and asked.prompt_file is not None:
        raise AudioCapBenchError("--prompt and --prompt-file are two ways to say one thing")
    files = [Path(path) for kind, _, path in named if kind in ("choices", "scores")]
    inputs = [*pairs, *(votes_from or ()), *files, *session.files]
    for out in (html, per_pair):
        options.refuse_overwriting(out, [*inputs, *filter(None, [asked.prompt_file])])
    if columns and kind != "csv":
        raise AudioCapBenchError("--map names columns of a table; these files have their own")
    mapped, notes = mapped_columns(columns or (), ROLES), list[str]()
    read = read_pairs(kind, pairs, least_votes, mapped, notes)
    say(*(f"Note: {one}." for one in notes))
    judged = pair_set(kind, read, as_is=as_is)
    voted = read_pairs(kind, votes_from, columns=mapped) if votes_from else read
    agreed = trying.agreement(voted, least_votes or KINDS[kind])
    how: Any = vars(asked) | vars(session.asking()) | {"store_url": session.store}
    settings = TrialSettings(protocol=judged.protocol, data=data, follow_links=follow_links, **how)
    trials, errors, stop = _try_scorers(scorer, judged, settings, yes=session.yes)
    person = one_against_rest(voted, judged.headline)
    controls = (
        trying.try_controls(judged, settings, [one.scorer for one in trials]) if trials else []
    )
    if trials and per_pair is not None:
        trying.write_choices(per_pair, trials)
    if trials:
        tables = trial_tables(trials, controls, judged, agreed, person)
        if html is not None:
            write_trials(html, judged.name, tables, [*trials, *controls], person)
        facts = trying.trial_document(trials, judged.left_out, agreed, controls, person)
        show_result(Findings(tables, facts), json=json)
    for trial in trials:
        say(*(f"{trial.scorer}: {note}" for note in trial.diagnostics.notes))
        say(*(f"Warning: {warning}." for warning in trial.warnings))
    say(*(f"Note: {note}." for note in trying.control_notes(trials, controls)))
    failed = sum(trial.diagnostics.failed for trial in trials)
    if failed and not errors:
        say(f"{failed:,} captions, clips or questions got no answer; they count as unknown.")
    leave(stop, errors, failed=bool(failed))


def _try_scorers(
    names: Sequence[str], pairs: "PairSet", settings: "TrialSettings", *, yes: bool
) -> "tuple[list[ScorerTrial], list[AudioCapBenchError], str | None]":
    """Try every scorer in turn: the trials, the errors, and why it stopped, if it did.

    A model is asked with all prompts in turn where the settings say so.
    """
    from audiocapbench.meta.build import refuse_filters
    from audiocapbench.meta.scorers.prompts import document
    from audiocapbench.meta.trial import try_scorer

    prompts = list(document()["prompts"]) if settings.prompt == "all" else [""]
    if len(prompts) > 1 and not all(
        pair.references_first and pair.references_second for pair in pairs.decided
    ):
        say("--prompt all: pairs without references are not asked with the prompts that show some")
        prompts = [name for name in prompts if not name.endswith("-ref")]
    swept = [
        (name, prompt)
        for name in dict.fromkeys(names)
        for prompt in (prompts if name.strip().startswith("model:") else [""])
    ]
    wanted = [(name, replace(settings, prompt=prompt or settings.prompt)) for name, prompt in swept]
    trials: list[ScorerTrial] = []
    errors: list[AudioCapBenchError] = []
    try:
        check = refuse_filters(pairs.decided)
        with _agreed_scorers(wanted, pairs.decided, check, yes=yes) as scorers:
            for scorer, (_, prompt) in zip(scorers, swept, strict=True):
                try:
                    trial = try_scorer(scorer, pairs, swap=settings.swap)
                    trials.append(replace(trial, scorer=f"{trial.scorer} {prompt}".rstrip()))
                except (FatalError, TrialError, DatasetError) as error:
                    errors.append(error)  # what others chose is shown
    except StoppedError as error:
        return trials, [*errors, error], error.stop
    return trials, errors, None


def _add_trial(kind: str, words: str) -> None:
    def trial(**options_given: Any) -> None:
        _try_on_pairs(kind, **options_given)

    _, *shared = signature(_try_on_pairs).parameters.values()
    vars(trial)["__signature__"] = Signature(shared)
    trial.__doc__ = (_try_on_pairs.__doc__ or "").replace("WHICH", words)
    options.command(meta_app.command, kind)(trial)


for _kind, _words in _KINDS.items():
    _add_trial(_kind, _words)


@contextmanager
def _agreed_scorers(
    wanted: "Sequence[tuple[str, TrialSettings]]",
    pairs: "Sequence[CaptionPair]",
    check: "Callable[[PairScorer], PairScorer]" = lambda one: one,
    *,
    yes: bool,
) -> "Iterator[list[PairScorer]]":
    """Scorers, each with its settings, once their cost is agreed to.

    All are made and checked before the first is asked: a wrong name must not cost an hour.
    """
    from audiocapbench.cli.progress import Terminal
    from audiocapbench.meta.scorers.scorer import create_scorer

    collect_as_usual()
    with Terminal(yes=yes) as host:
        scorers = [
            check(create_scorer(name, replace(settings, progress=host.advance)))
            for name, settings in wanted
        ]
        previews = chain.from_iterable(one.preview(pairs) for one in scorers)
        host.agree(map(wanted[0][1].priced, previews), wanted[0][1].budget)
        yield scorers


@options.command(meta_app.command)
def cheat(
    *,
    captions: str,
    scorer: list[str],
    predictions: Path | None = None,
    limit: Annotated[int, Option(min=2)] = 200,
    search: bool = False,
    evaluations: Annotated[int | None, Option(min=20, show_default=False)] = None,
    data: options.ClipFolder = None,
    seed: int = 42,
    session: options.Session,
    json: bool = False,
) -> None:
    """Attack a scorer with captions that say nothing new, and see whether they gain.

    The honest caption of a clip is one of its references, held to the others, or --predictions.
    With --search, sentences and affixes that hear nothing are climbed on half of the clips, and
    what they score is measured on the other half.

    Args:
        captions (FILE): What people wrote, as for 'corrupt': two captions a clip or more; or a
            benchmark, such as mecat-caption=DIR, or the number of a run, whose answers are then the
            --predictions.
        scorer (KIND:NAME): metric:NAME, judge:NAME, rate:MODEL or clap:NAME; may be repeated.
        predictions (FILE): Honest captions by a model, id,prediction.
        limit (N): At most so many clips, drawn by the seed; a search takes all.
        search: Search for the best blind captions of a metric or of judge:elements.
        evaluations (N): So many texts are tried in a --search. [default: 1000]
    """
    from audiocapbench.benchmarks.registry import named_benchmark
    from audiocapbench.data.predictions import read_predictions
    from audiocapbench.meta.blind import EVALUATIONS, searched_scorer
    from audiocapbench.meta.cheat import attack_pairs, pointwise
    from audiocapbench.meta.cheat import cheat as attack
    from audiocapbench.meta.corrupt.captions import caption_set, read_captions
    from audiocapbench.meta.over_blind import answers_of
    from audiocapbench.meta.scorers.scorer import TrialSettings
    from audiocapbench.report.trial import cheat_tables
    from audiocapbench.scores.table import TableReader

    honest = None if predictions is None else read_predictions(predictions).texts
    if Path(captions).exists() or Path(captions).suffix:
        clips = read_captions(Path(captions)).clips
    else:
        if captions.isdecimal():
            store = options.open_store(session.store)
            table = TableReader(store).read(store.run(int(captions)))
            samples, honest = table.samples, dict(answers_of(table)) if honest is None else honest
        else:
            samples = named_benchmark(captions).samples
        clips = caption_set([(one.id, one.clip.file_name, one.references) for one in samples]).clips
    if search:
        searched = [searched_scorer(name) for name in dict.fromkeys(scorer)]
        how = {"evaluations": evaluations or EVALUATIONS, "seed": seed}
        return _search_blind(clips, honest, searched, json=json, **how)
    if evaluations is not None:
        raise AudioCapBenchError("--evaluations bounds a --search; add that")
    pairs = attack_pairs(clips, honest, limit=limit, seed=seed)
    asking = vars(session.asking())
    settings = TrialSettings(data=data, store_url=session.store, seed=seed, **asking)
    trials: list[CheatTrial] = []
    try:
        wanted = [(name, settings) for name in dict.fromkeys(scorer)]
        with _agreed_scorers(wanted, pairs, pointwise, yes=session.yes) as scorers:
            trials.extend(attack(one, pairs) for one in scorers)
    finally:
        if trials:
            facts = {"n": len({pair.clip for pair in pairs}), "scorers": trials}
            show_result(Findings(cheat_tables(trials), facts), json=json)
    for trial in trials:
        say(*(f"{trial['scorer']}: {note}" for note in trial["notes"]))
        say(*(f"Warning: {warning}." for warning in trial["warnings"]))
    return None


def _search_blind(
    clips: "Sequence[CaptionedClip]",
    honest: "Mapping[str, str] | None",
    scorers: "Sequence[SearchedScorer]",
    *,
    json: bool,
    **how: Any,
) -> None:
    from audiocapbench.cli.progress import Terminal
    from audiocapbench.meta.blind import blind_play

    answered = [one for one in clips if honest is None or honest.get(one.id, "").strip()]
    held_to = [one.references for one in answered]
    captions = None if honest is None else [honest[one.id] for one in answered]
    columns = ("caption", "score", Column("gain", form="+.3f"), Column("text", wraps=True))
    tables, facts, warnings = [], list[dict[str, Any]](), list[str]()
    try:
        for name, score, of_corpus in scorers:
            with Terminal() as host:
                how["progress"] = partial(host.advance, f"texts for {name}")
                played = blind_play(score, held_to, captions, of_corpus=of_corpus, **how)
            rows = [
                {"caption": f"best {kind}", **one._asdict()} for kind, one in played.best.items()
            ]
            others = {"a person's": played.person, "a model's": honest and played.honest}
            others["another clip's"] = played.other
            rows += [{"caption": who, "score": one} for who, one in others.items() if one]
            title = f"{name}: blind captions, on {played.n:,} clips that the search did not see"
            tables.append(Table(title, rows, columns, signature_notes([played.signature])))
            facts.append({"scorer": name, **played.to_dict()})
            warnings += [
                f"Warning: {name} can be cheated by the {kind} {one.text!r}: "
                f"{one.gain.value:+.3f} over {'a person' if honest is None else 'the model'}'s."
                for kind, one in played.best.items()
                if one.gain is not None and one.succeeds
            ]
    finally:
        if tables:
            show_result(Findings(tables, {"clips": len(held_to), "scorers": facts}), json=json)
    say(*warnings)


@options.command(meta_app.command)
def build(
    *,
    out: options.NewFile,
    captions: Path | None = None,
    machine: list[str] | None = None,
    votes: Path | None = None,
    least_votes: Annotated[int, Option(min=1)] = 2,
    voters: Annotated[int, Option(min=1)] = 3,
    scorer: Annotated[str | None, Option("--filter")] = None,
    sources: options.MaybeNewFile = None,
    data: options.ClipFolder = None,
    seed: int = 42,
    session: options.Session,
    json: bool = False,
) -> None:
    """Build a trial as BRACE did: pairs for people to vote on; then those that they agree about.

    First with --captions and --machine: pairs of what people and machines wrote of a clip (HH, HM,
    MM), some with a caption broken on purpose (HM_2, MM_2), and blank columns for votes. Then with
    --votes: the pairs that are kept, for 'meta csv' or 'meta brace-main', and Fleiss' kappa.

    Args:
        out (FILE): The table to vote in as .csv, .tsv or .jsonl; what is kept also as .json,
            BRACE-Main's.
        captions (FILE): What people wrote, as for 'corrupt'.
        machine (SYSTEM=FILE): What a system wrote, id,prediction; may be repeated.
        votes (FILE): The table with votes: a, b or tie.
        least_votes (N): Keep a pair when its votes add up to so many one way.
        voters (N): Columns for votes.
        scorer (KIND:NAME): Leaves out what it cannot tell apart: model:NAME, asked in both orders,
            or metric:NAME, judge:NAME, rate:MODEL, clap:NAME, which loses the closest quarter. It
            cannot be on trial on what it left.
        sources (FILE): Also write who wrote each caption; voters must not see it.
    """
    if (votes is None) == (captions is None or not machine):
        raise AudioCapBenchError("give --captions and --machine SYSTEM=FILE, or --votes, not both")
    from audiocapbench.meta.corrupt.make import TABLES, check_form

    check_form(out, (*TABLES, ".json") if votes else TABLES)
    named = [one.partition("=")[::2] for one in machine or ()]
    if wrong := [one for one, both in zip(machine or (), named, strict=True) if not all(both)]:
        raise AudioCapBenchError(f"--machine {wrong[0]!r} is not SYSTEM=FILE")
    inputs = [*filter(None, (captions, votes)), *(Path(file) for _, file in named)]
    for path in (out, sources):
        options.refuse_overwriting(path, [*inputs, *session.files])
    if votes is not None:
        _keep_agreed(votes, out, least_votes, seed, json=json)
        return
    from audiocapbench.data import predictions, problems
    from audiocapbench.meta.build import build_pairs, count_types, filter_pairs, vote_table
    from audiocapbench.meta.corrupt.captions import read_captions
    from audiocapbench.meta.scorers.scorer import TrialSettings

    captioned = read_captions(captions or out)
    how: Any = {"data": data, "store_url": session.store, **vars(session.asking())}
    settings = TrialSettings(prompt="simple-ref", swap=True, **how)
    machines = {name: predictions.read_predictions(Path(file)) for name, file in named}
    for (_, file), read in zip(named, machines.values(), strict=True):
        if read.bad:
            raise problems.InvalidDataError(Path(file), read.bad)
    pairs, wrote = build_pairs(captioned, {name: one.texts for name, one in machines.items()}, seed)
    kept: Sequence[CaptionPair] = pairs
    if scorer is not None:
        with _agreed_scorers([(scorer, settings)], pairs, yes=session.yes) as [filtering]:
            kept = filter_pairs(pairs, filtering)
    write_file(out, vote_table(out.suffix.lower(), kept, voters))
    if sources is not None:
        rows = [["id", "source_a", "source_b"], *([one.id, *wrote[one.id]] for one in kept)]
        write_file(sources, csv_text(rows))
    counts, before = count_types(kept), count_types(pairs)
    types = [{"type": name, "made": n, "kept": counts.get(name, 0)} for name, n in before.items()]
    facts = {"pairs": str(out), "made": before, "kept": counts, "filter": scorer}
    show_result(Findings([Table("", types)], facts), json=json)
    set_already = sum(pair.answer_set for pair in kept)
    if scorer is not None:
        left = f"{len(pairs) - len(kept):,} of {len(pairs):,} pairs that it cannot tell apart"
        say(f"{scorer} left out {left}; it cannot be on trial on the others.")
    say(
        f"{len(kept) - set_already:,} pairs to vote on and {set_already:,} with a broken caption, "
        f"to try voters with, are in {out}. Then: audiocapbench meta build --votes {out} --out FILE"
    )


def _keep_agreed(votes: Path, out: Path, least: int, seed: int, *, json: bool) -> None:
    from audiocapbench.meta.build import read_votes, vote_table, write_brace
    from audiocapbench.report.trial import votes_report

    read = read_votes(votes, least)
    kept = [pair for pair in read if pair.answer is not None]
    if out.suffix.lower() == ".json":
        write_brace(out, kept)
    else:
        voters = max(len(pair.votes) for pair in read)
        write_file(out, vote_table(out.suffix.lower(), kept, voters))
    report, lines = votes_report(read, kept, least, seed)
    show_result(replace(report, facts={"pairs": str(out), **report.facts}), json=json)
    say(*lines, f"{len(kept):,} of {len(read):,} pairs written to {out}.")
