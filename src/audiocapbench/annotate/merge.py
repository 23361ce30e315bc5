"""The second stage: a language model merges what experts said, held to the contract.

It is asked through the engine like any model: answers are kept, and only what is missing is asked.
A reply that breaks the contract is asked for again with what is wrong, a few times, and then is a
status with its reason; nothing is mended here.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audiocapbench.annotate.contract import Annotation, field_names, read_annotation
from audiocapbench.annotate.prompts import prompt
from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Status, total_cost
from audiocapbench.engine import Preview
from audiocapbench.engine.ask_context import AskContext
from audiocapbench.errors import AnnotationError, ReplyError
from audiocapbench.judges.quoting import as_data, fill
from audiocapbench.models import Model
from audiocapbench.models.model import without_audio
from audiocapbench.store import Store
from audiocapbench.store.annotations import Finding, StageRecord

REPAIRS = 2
"""How often a reply that cannot be used is asked for again."""

_FIELDS = {
    "speech": ("speech", "asr"),
    "music": ("music",),
    "sound": ("tags",),
    "environment": ("signal", "quality"),
}
_AGAIN = frozenset({Status.OK, Status.EMPTY, Status.TRUNCATED})
_LONGEST_TEXT, _MOST_ITEMS, _LONGEST_REPLY = 2_000, 50, 20_000


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What the stage came to: every clip that was heard, how often was asked, and for how much."""

    records: Mapping[str, StageRecord]
    rounds: tuple[int, ...] = ()
    cost_usd: float | None = None


def heard_clips(store: Store, project: str) -> dict[str, StageRecord]:
    """Clips with a domain.

    Raises:
        AnnotationError: The folder has not been heard yet, or no clip has a domain.
    """
    records = store.annotations.records(project, "hear")
    if not records:
        raise AnnotationError(
            f"{project}: has not been heard; run 'audiocapbench annotate hear' on it first"
        )
    return {clip: one for clip, one in sorted(records.items()) if one.status == "ok"}


def findings_of(store: Store, heard: Mapping[str, StageRecord]) -> dict[str, dict[str, Finding]]:
    """What experts said of clips, by the clips' names, as the stage before recorded it."""
    found: dict[str, dict[str, Finding]] = {clip: {} for clip in heard}
    wanted: dict[tuple[str, str], list[str]] = {}
    for clip, one in heard.items():
        for expert, own in one.document["experts"].items():
            wanted.setdefault((expert, own["signature"]), []).append(clip)
    for (expert, signature), clips in wanted.items():
        hashes = {heard[clip].document["sha256"]: clip for clip in clips}
        known = store.annotations.findings({expert: signature}, list(hashes))
        for digest, said in known.items():
            found[hashes[digest]][expert] = said[expert]
    return found


def clip_input(record: StageRecord, said: Mapping[str, Finding]) -> dict[str, Any]:
    """What the model is told of a clip, in appendix D's fields; what is absent is null."""
    good = {name: one.document for name, one in said.items() if one.status == "ok"}
    made: dict[str, Any] = {}
    for field, experts in _FIELDS.items():
        own = {name: good.pop(name) for name in experts if name in good}
        made[field] = own or None
    about = {key: one for key, one in record.document["about"].items() if key != "domain"}
    told = {key: about[key] for key in ("title", "description") if key in about}
    made |= {"other": good or None, "domain": record.document["domain"], "meta_info": told or None}
    return {key: _harmless(value) for key, value in made.items()}


def _harmless(value: Any) -> Any:
    """Text of others as data; what is very long is cut, as a clip of seconds needs no more."""
    if isinstance(value, dict):
        return {as_data(str(key)): _harmless(one) for key, one in list(value.items())}
    if isinstance(value, list):
        return [_harmless(one) for one in value[:_MOST_ITEMS]]
    if isinstance(value, float):
        return round(value, 4)
    return as_data(value[:_LONGEST_TEXT]) if isinstance(value, str) else value


def merge_questions(
    heard: Mapping[str, StageRecord], found: Mapping[str, Mapping[str, Finding]]
) -> Benchmark:
    """What the model is asked first, of every clip."""
    own = prompt("mecat_merge").text, prompt("input").text
    fields = ", ".join(field_names())
    texts = {}
    for clip, record in heard.items():
        told = json.dumps(clip_input(record, found[clip]), ensure_ascii=False, indent=1)
        texts[clip] = f"{own[0]}\n\n{fill(own[1], input=told, fields=fields)}"
    return stage_benchmark("merge", texts)


def stage_benchmark(name: str, texts: Mapping[str, str]) -> Benchmark:
    """What is asked or looked at, clip by clip, without its sound."""
    samples = [
        Sample(clip, Clip.absent(clip), text, ("-",), "merge", place)
        for place, (clip, text) in enumerate(texts.items())
    ]
    return Benchmark(f"{TRIAL}annotate/{name}", Path(), samples, kind="trial")


def preview_merge(
    project: str, model: Model, settings: AskContext, repairs: int = REPAIRS
) -> Preview:
    """What the first round will likely cost; how often is asked again is not known before."""
    heard = heard_clips(settings.store, project)
    questions = merge_questions(heard, findings_of(settings.store, heard))
    again = f", each again up to {repairs} times where its reply cannot be used" if repairs else ""
    what = f"{{}} clips to merge{again}"
    return settings.preview([questions], without_audio(model), model.name, what)


def merge(project: str, model: Model, settings: AskContext, repairs: int = REPAIRS) -> MergeResult:
    """Have what experts said merged, clip by clip, as far as it has not been.

    Raises:
        AudioCapBenchError: As ``AskContext.ask`` does; answers are kept.
        AnnotationError: The folder has not been heard.
    """
    store = settings.store
    heard = heard_clips(store, project)
    first = merge_questions(heard, findings_of(store, heard))
    asked = {one.id: one.instruction for one in first.samples}
    silent, records, costs, rounds = without_audio(model), dict[str, StageRecord](), [], []
    questions = first
    for turn in range(repairs + 1):
        if not questions.samples:
            break
        name = f"{model.name}: {f'repair {turn}' if turn else 'merge'}"
        outcomes = settings.ask(questions, silent, name)
        rounds.append(len(outcomes))
        costs += [one.reply.cost_usd for one in outcomes.values()]
        again = {}
        for clip, outcome in outcomes.items():
            records[clip] = record = _record(clip, outcome, model, turn)
            if record.status != "ok" and outcome.reply.status in _AGAIN:
                again[clip] = _repair(asked[clip], outcome, str(record.error))
        questions = stage_benchmark(f"repair-{turn + 1}", again)
    store.annotations.put_stage(project, "merge", [records[clip] for clip in heard])
    return MergeResult(records, tuple(rounds), total_cost(costs))


def _repair(question: str, outcome: Outcome, problems: str) -> str:
    # As a JSON text, which is one line; marks of chat templates are broken up.
    reply = json.dumps(outcome.reply.text[:_LONGEST_REPLY].replace("<|", "< |"), ensure_ascii=False)
    return fill(prompt("repair").text, question=question, reply=reply, problems=as_data(problems))


def _record(clip: str, outcome: Outcome, model: Model, turn: int) -> StageRecord:
    """What a reply comes to: an annotation, or a status with its reason."""
    reply = outcome.reply
    document: dict[str, Any] = {
        "llm": model.name,
        "prompts": {name: prompt(name).hash for name in ("mecat_merge", "input", "repair")},
        "asked": turn + 1,
    }
    if reply.status is not Status.OK:
        reason = reply.error or "no reason given"
        return StageRecord(clip, "merge", str(reply.status), document, f"{reply.status}: {reason}")
    try:
        made = read_annotation(reply.text)
    except ReplyError as error:
        return StageRecord(clip, "merge", "unparsed", document, str(error))
    return StageRecord(clip, "merge", "ok", document | {"annotation": made.model_dump()})


def written_caption(reply: str) -> str | None:
    """The long caption in a reply; None where it breaks the contract."""
    try:
        return read_annotation(reply).captions["long"][0]
    except ReplyError:
        return None


def annotation_of(record: StageRecord) -> Annotation:
    """The annotation of a clip that was merged."""
    return Annotation.model_validate(record.document["annotation"])


def merged_clips(store: Store, project: str) -> dict[str, Annotation]:
    """Annotations by clip.

    Raises:
        AnnotationError: The folder has not been merged yet.
    """
    records = store.annotations.records(project, "merge")
    if "merge" not in store.annotations.settings(project):
        raise AnnotationError(
            f"{project}: has not been merged; run 'audiocapbench annotate merge' on it first"
        )
    good: Sequence[StageRecord] = [records[clip] for clip in sorted(records)]
    return {one.clip: annotation_of(one) for one in good if one.status == "ok"}
