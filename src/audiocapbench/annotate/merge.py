"""The second stage: a model merges what experts said; what breaks the contract is asked again."""

import json
from collections.abc import Mapping
from typing import Any

from audiocapbench.annotate.contract import field_names, read_annotation
from audiocapbench.annotate.stage import StageContext, StageResult, prompt
from audiocapbench.data.outcome import Outcome, Status, total_cost
from audiocapbench.errors import ReplyError
from audiocapbench.judges.contract import as_data, fill
from audiocapbench.models import Model
from audiocapbench.models.model import without_audio
from audiocapbench.store.annotations import Finding, StageRecord

_FIELDS = {
    "speech": ("speech", "asr"),
    "music": ("music",),
    "sound": ("tags",),
    "environment": ("signal", "quality"),
}
_PROMPTS = ("mecat_merge", "input", "repair")
_AGAIN = frozenset({Status.OK, Status.EMPTY, Status.TRUNCATED})
_LONGEST_TEXT, _MOST_ITEMS, _LONGEST_REPLY = 2_000, 50, 20_000


def clip_input(record: StageRecord, said: Mapping[str, Finding]) -> dict[str, Any]:
    """What the model is told of a clip, in appendix D's fields; what is absent is null."""
    good = {name: one.document for name, one in said.items() if one.status == "ok"}
    made: dict[str, Any] = {
        field: {name: good.pop(name) for name in experts if name in good} or None
        for field, experts in _FIELDS.items()
    }
    about = record.document["about"]
    told = {key: about[key] for key in ("title", "description") if key in about}
    made |= {"other": good or None, "domain": record.document["domain"], "meta_info": told or None}
    return {key: _harmless(value) for key, value in made.items()}


def _harmless(value: Any) -> Any:
    """Text of others as data; what is very long is cut, as a clip of seconds needs no more."""
    if isinstance(value, dict):
        return {as_data(str(key)): _harmless(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_harmless(one) for one in value[:_MOST_ITEMS]]
    if isinstance(value, float):
        return round(value, 4)
    return as_data(value[:_LONGEST_TEXT]) if isinstance(value, str) else value


def merge(context: StageContext, model: Model, repairs: int = 2) -> StageResult:
    """Have what experts said merged, clip by clip, as far as it has not been."""
    heard = context.passed("hear")
    found, fields = context.findings(heard), ", ".join(field_names())
    (rules, _), (frame, _) = prompt("mecat_merge"), prompt("input")
    asked = {}
    for clip, record in heard.items():
        told = json.dumps(clip_input(record, found[clip]), ensure_ascii=False, indent=1)
        asked[clip] = f"{rules}\n\n{fill(frame, input=told, fields=fields)}"
    questions, silent = context.questions("merge", asked), without_audio(model)
    # How often is asked again is not known before.
    again = f", each again up to {repairs} times where its reply cannot be used" if repairs else ""
    what = f"{{}} clips to merge{again}"
    context.agree(context.asking.preview([questions], silent, model.name, what))
    records: dict[str, StageRecord] = {}
    costs, rounds = list[float | None](), list[int]()
    for turn in range(repairs + 1):
        if not questions.samples:
            break
        name = f"{model.name}: {f'repair {turn}' if turn else 'merge'}"
        outcomes = context.asking.ask(questions, silent, name)
        rounds.append(len(outcomes))
        costs += [one.reply.cost_usd for one in outcomes.values()]
        repeated = {}
        for clip, outcome in outcomes.items():
            records[clip] = record = _record(clip, outcome, model, turn)
            if record.status != "ok" and outcome.reply.status in _AGAIN:
                # As a JSON text, which is one line; marks of chat templates are broken up.
                before = outcome.reply.text[:_LONGEST_REPLY].replace("<|", "< |")
                values = {"question": asked[clip], "problems": as_data(str(record.error))}
                values["reply"] = json.dumps(before, ensure_ascii=False)
                repeated[clip] = fill(prompt("repair")[0], **values)
        questions = context.questions(f"repair-{turn + 1}", repeated)
    cost, hashes = total_cost(costs), {name: prompt(name)[1] for name in _PROMPTS}
    settings = {"llm": model.name, "parameters": dict(model.parameters), "repairs": repairs}
    settings |= {"prompts": hashes, "cost_usd": cost}
    left_out = context.keep("merge", [records[clip] for clip in asked], settings)
    good = sum(one.status == "ok" for one in records.values())
    document = {"clips": len(records), "merged": good, "asked": rounds, "cost_usd": cost}
    return StageResult(document | {"left_out": left_out}, good == len(records))


def _record(clip: str, outcome: Outcome, model: Model, turn: int) -> StageRecord:
    """What a reply comes to: an annotation, or a status with its reason."""
    reply = outcome.reply
    document: dict[str, Any] = {"llm": model.name, "asked": turn + 1}
    document["prompts"] = {name: prompt(name)[1] for name in _PROMPTS}
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
