"""The second stage: a model merges what experts said into appendix D's fields, read strictly.

What breaks that contract is asked for again.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from audiocapbench.annotate.experts import LISTENER, TASKS
from audiocapbench.annotate.stage import NONE, Annotation, StageContext, StageResult, prompt
from audiocapbench.benchmarks.mecat.groups import CONTENTS, DIFFICULTIES, SUBTASKS
from audiocapbench.data.outcome import Outcome, Status, total_cost
from audiocapbench.data.problems import problems_of
from audiocapbench.errors import ReplyError
from audiocapbench.files import read_lists
from audiocapbench.judges.contract import as_data, fill
from audiocapbench.judges.reply_json import find_objects, fold_key, shown
from audiocapbench.models import Model
from audiocapbench.store.cache import Finding, StageRecord

_FIELDS = {
    "speech": ("speech", "asr", "diarize", *TASKS["S"]),
    "music": ("music", *TASKS["M"]),
    "sound": ("tags",),
    "environment": ("signal", "quality"),
}
_PROMPTS = ("mecat_merge", "input", "repair")
_AGAIN = frozenset({Status.OK, Status.EMPTY, Status.TRUNCATED})
_LONGEST_TEXT, _MOST_ITEMS, _LONGEST_REPEATED = 2_000, 50, 20_000
_LONGEST_LINE, _LONGEST_REPLY, _SHOWN = 1_000, 200_000, 8
QUESTIONS = 5
_CATEGORIES: Mapping[str, str] = read_lists("audiocapbench.annotate", "experts.toml")["questions"]
"""Kinds of questions as appendix D has them, and as the benchmark does."""

_HEADS = {view: f"{'Main' if view == 'long' else view.title()}-Caption" for view in SUBTASKS}
_PARTS = ("category", "difficulty", "question", "answer")


def clip_input(record: StageRecord, said: Mapping[str, Finding]) -> dict[str, Any]:
    """What the model is told of a clip, in appendix D's fields; what is absent is null."""
    good = {
        name: one.document for name, one in said.items() if one.status == "ok" and name != LISTENER
    }
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


def _line(value: str) -> str:
    words = " ".join(value.split())
    if not words:
        raise ValueError("is blank")
    if not words.isprintable():
        raise ValueError("holds characters that cannot be seen")
    if len(words) > _LONGEST_LINE:
        raise ValueError(f"is longer than {_LONGEST_LINE:,} characters")
    return words


def _word(value: Any) -> Any:
    """One of some words, however it is written."""
    return re.sub(r"[\s_-]+", " ", value.strip().lower()) if isinstance(value, str) else value


def _null(value: Any) -> Any:
    return NONE if value is None or _word(value) in ("none", "none.") else value


def _conflicts(value: Any) -> Any:
    named = [] if _null(value) == NONE else value if isinstance(value, list) else [value]
    return [json.dumps(one) if isinstance(one, dict | list) else one for one in named]


def _asked(value: Any) -> Any:
    if _null(value) == NONE:
        raise ValueError(f"is None, and {QUESTIONS} pairs are asked for")
    return value


@cache
def _reply_model() -> type[BaseModel]:
    """Appendix D's fields, flat as it prints them."""
    line = Annotated[str, AfterValidator(_line)]
    level = Annotated[Literal[tuple(DIFFICULTIES)], BeforeValidator(_word)]  # type: ignore[valid-type]
    kind = Annotated[Literal[tuple(_CATEGORIES)], BeforeValidator(_word)]  # type: ignore[valid-type]
    fields: dict[str, Any] = {
        "Confidence": Annotated[Literal["high", "low"], BeforeValidator(_word)],
        "Possible Conflicts": Annotated[list[line], BeforeValidator(_conflicts)],
        "Reasoning": line,
    }
    for view, head in _HEADS.items():
        fields[head] = Annotated[line, BeforeValidator(_null)] if view in CONTENTS else line
        fields |= {f"{head}-Variants-{number}": line for number in (1, 2)}
    parts: dict[str, Any] = {"id": Annotated[Any, BeforeValidator(_asked)], "difficulty": level}
    parts |= {"category": kind, "question": line, "answer": line}
    for number in range(1, QUESTIONS + 1):
        fields |= {f"QA-Pair-{number}-{part}": form for part, form in parts.items()}
    needed: dict[str, Any] = {name: (form, ...) for name, form in fields.items()}
    return pydantic.create_model("MergeReply", __config__=ConfigDict(extra="forbid"), **needed)


def read_annotation(reply: str) -> Annotation:
    """The annotation that a reply holds; a ReplyError says in words for the model what is wrong."""
    if len(reply) > _LONGEST_REPLY:
        raise ReplyError(f"the reply is longer than {_LONGEST_REPLY:,} characters")
    said = find_objects(reply, lambda name: field_names().get(_folded(name), _folded(name)))
    objects = said.having(("Confidence",))
    if said.is_cut or not objects:
        raise ReplyError("the reply holds no JSON object with the fields of Step 4")
    if any(one != objects[0] for one in objects):
        raise ReplyError("the reply holds two objects that differ; give one")
    try:
        found = dict(_reply_model().model_validate(objects[0]))
    except pydantic.ValidationError as error:
        wrong = problems_of(error, words={"extra_forbidden": "is no field of Step 4"})
        problems = sorted(f"{shown(one.field)}: {one.what}" for one in wrong)
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise ReplyError("; ".join(problems[:_SHOWN]) + more) from None
    pairs = [f"QA-Pair-{number}" for number in range(1, QUESTIONS + 1)]
    questions = [{part: found[f"{pair}-{part}"] for part in _PARTS} for pair in pairs]
    return Annotation(
        confidence=found["Confidence"],
        conflicts=found["Possible Conflicts"],
        reasoning=found["Reasoning"],
        captions={
            view: [text for name, text in found.items() if name.startswith(head)]
            for view, head in _HEADS.items()
        },
        questions=[one | {"category": _CATEGORIES[one["category"]]} for one in questions],
    )


@cache
def field_names() -> dict[str, str]:
    """Every field that a reply must have, as the prompt writes it, by how they all are read."""
    return {_folded(name): name for name in _reply_model().model_fields}


def _folded(name: str) -> str:
    return fold_key(name).replace("captions", "caption").replace("variants", "variant")


def merge(context: StageContext, model: Model, repairs: int = 2) -> StageResult:
    """Have what experts said merged, clip by clip, as far as it has not been."""
    heard = context.passed("hear")
    found, fields = context.findings(heard), ", ".join(field_names().values())
    asked = {}
    for clip, record in heard.items():
        told = json.dumps(clip_input(record, found[clip]), ensure_ascii=False, indent=1)
        frame = fill(prompt("input")[0], input=told, fields=fields)
        asked[clip] = f"{prompt('mecat_merge')[0]}\n\n{frame}"
    # How often is asked again is not known before.
    again = f", each again up to {repairs} times where its reply cannot be used" if repairs else ""
    what, texts = f"{{}} clips to merge{again}", asked
    records: dict[str, StageRecord] = {}
    costs, rounds, said = list[float | None](), list[int](), set[tuple[str, str]]()
    for turn in range(repairs + 1):
        if not texts:
            break
        name, about = (f"annotate/repair-{turn}", "") if turn else ("annotate/merge", what)
        outcomes = context.asking.ask_about(name, context.root, model, texts, what=about)
        rounds.append(sum(not one.cached for one in outcomes.values()))
        costs += [one.reply.cost_usd for one in outcomes.values()]
        texts = {}
        for clip, outcome in outcomes.items():
            records[clip] = record = _record(clip, outcome, model, turn)
            if record.status == "ok" or outcome.reply.status not in _AGAIN or turn == repairs:
                continue
            # As a JSON text, which is one line; marks of chat templates are broken up.
            before = outcome.reply.text[:_LONGEST_REPEATED].replace("<|", "< |")
            values = {"question": asked[clip], "problems": as_data(str(record.error))}
            values["reply"] = json.dumps(before, ensure_ascii=False)
            question = fill(prompt("repair")[0], **values)
            # The same question has the same answer, and is not asked twice.
            if (clip, question) in said:
                same = f"{record.error}; asked again, it gave a reply that it had given"
                records[clip] = replace(record, error=same)
            else:
                texts[clip] = question
        said |= texts.items()
    settings = {"llm": model.name, "parameters": dict(model.parameters), "repairs": repairs}
    left_out = context.keep("merge", [records[clip] for clip in asked], settings)
    good = sum(one.status == "ok" for one in records.values())
    document = {"clips": len(records), "merged": good, "asked": rounds, "left_out": left_out}
    return StageResult(document | {"cost_usd": total_cost(costs)}, good == len(records))


def _record(clip: str, outcome: Outcome, model: Model, turn: int) -> StageRecord:
    """What a reply comes to: an annotation, or a status with its reason."""
    reply = outcome.reply
    prompts = {name: prompt(name)[1] for name in _PROMPTS}
    document: dict[str, Any] = {"llm": model.name, "asked": turn + 1, "prompts": prompts}
    if reply.status is not Status.OK:
        reason = f"{reply.status}: {reply.error or 'no reason given'}"
        return StageRecord(clip, "merge", str(reply.status), document, reason)
    try:
        document["annotation"] = read_annotation(reply.text).model_dump()
    except ReplyError as error:
        return StageRecord(clip, "merge", "unparsed", document, str(error))
    return StageRecord(clip, "merge", "ok", document)


def written_caption(reply: str) -> str | None:
    """The long caption in a reply; None where it breaks the contract."""
    try:
        return read_annotation(reply).captions["long"][0]
    except ReplyError:
        return None
