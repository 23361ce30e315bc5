"""The contracts with published prompts: AudioCapBench's in two layouts, MECAT's two, and a rating.

The rating is one digit by a model that hears, of clip and caption, without references. Where
probabilities come with a reply, it is the expected value over the digits that might have been
written; else it is the digit as written.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal

from audiocapbench.data.categories import fold_category
from audiocapbench.errors import JudgeError, ReplyError
from audiocapbench.files import shipped_place
from audiocapbench.judges.aggregation import MAX_VALUE
from audiocapbench.judges.contract import REASONING, Contract, JudgeInput, ReplyField, Verdict, fill
from audiocapbench.models.probabilities import bare, token_shares

AUDIOCAPBENCH = "audiocapbench"
DIMENSIONS = ("accuracy", "completeness", "hallucination")
LAYOUTS = {"paper": AUDIOCAPBENCH, "tool": f"{AUDIOCAPBENCH}-tool"}  # files of the prompt
_PROTOCOLS = ("ours", "published")
RATING = "rating"
AS_WRITTEN = "no probabilities came with the reply: the digit is as written"
_HIGHEST = 9
_DIGIT = re.compile("[0-9]")
_REPLY = re.compile(r"(?:(?:rating|score|answer)[\s:=*_`\"]*)?([0-9])", re.IGNORECASE)
_REASONING = ReplyField(REASONING, "text")
_MECAT = {
    "caption": "a caption against references, by sub-task",
    "qa": "an answer against the reference, by kind of question",
}


@cache
def prompts_in(name: str) -> tuple[str, dict[str, Any]]:
    """A file of ``prompts``: its text, word for word, and what it says."""
    text = shipped_place("audiocapbench.judges", f"prompts/{name}.json").read_text("utf-8")
    return text, json.loads(text)


def audiocapbench_contract(prompt: str | None = None, protocol: str = "ours") -> Contract:
    """Three scores from 0 to 10 and the reasoning, in the layout ``paper`` or ``tool``.

    Protocol ``ours``: integers within bounds, a schema where the model takes one, texts that cannot
    play the reply. ``published``: what the published tool does.
    """
    published = protocol == "published"
    prompt = prompt or ("tool" if published else "paper")
    chosen = {"protocol": (protocol, _PROTOCOLS), "prompt": (prompt, tuple(LAYOUTS))}
    for option, (value, known) in chosen.items():
        if value not in known:
            raise JudgeError(f"{option} is {' or '.join(known)}, not {value!r}")
    kind: Literal["number", "integer"] = "number" if published else "integer"
    return Contract(
        AUDIOCAPBENCH,
        (*(ReplyField(name, kind) for name in DIMENSIONS), _REASONING),
        partial(_assemble_audiocapbench, prompt),
        prompts_in(LAYOUTS[prompt])[0],
        max_tokens=300,
        description="AudioCapBench's prompt: a caption against references, by category",
        reader=_as_published if published else None,
        quotes=not published,
        asked_at_most=1 if published else 3,
        made_with=(("reading", "published"), ("overall", "rounded")) if published else (),
    )


def _assemble_audiocapbench(layout: str, case: JudgeInput) -> str:
    _, prompts = prompts_in(LAYOUTS[layout])
    # A category that the paper does not have gets the guidance of sound, as its instruction does.
    category = fold_category(case.category)
    category = category if category in prompts["guidance"] else "sound"
    guidance = prompts["guidance"][category]
    if category == "speech" and case.transcript:
        guidance += "\n" + fill(prompts["transcript"], transcript=case.transcript)
    return fill(
        "\n".join(prompts["template"]),
        category_guidance=guidance,
        refs_text="\n".join(f"  - {one}" for one in case.references),
        prediction=case.prediction,
    )


def _as_published(text: str) -> Verdict:
    """Read a reply as the published tool does: a fence is unwrapped, then it is plain JSON.

    A score that is missing counts 0, one out of bounds is moved to the nearest; decimals stay. What
    is no number compares with nothing, and counts 10.
    """
    fenced = re.search(r"```(?:json)?(.*?)```", text, re.DOTALL)
    try:
        values = json.loads((fenced[1] if fenced else text).strip())
        given = {name: float(values.get(name, 0)) for name in DIMENSIONS}
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise ReplyError("the reply is no JSON object with three numbers") from None
    scores = {name: max(0.0, min(MAX_VALUE, score)) for name, score in given.items()}
    return Verdict(scores, str(values.get(REASONING) or ""))


def mecat_contract(task: Literal["caption", "qa"]) -> Contract:
    """One number from 0 to 10 and the reasoning; the rest of the reply is an echo."""
    echo = (ReplyField(name, "text", required=False) for name in ("sample_id", "subtask"))
    return Contract(
        f"mecat-{task}",
        (*echo, ReplyField("fine_score", "number"), _REASONING),
        partial(_assemble_mecat, task),
        prompts_in("mecat")[0],
        max_tokens=1000,  # the paper does not say; its reasoning is to be detailed
        description=f"MECAT's prompt: {_MECAT[task]}",
    )


def _assemble_mecat(task: str, case: JudgeInput) -> str:
    """MECAT's prompt for a sub-category of captions, or a kind of question."""
    _, prompts = prompts_in("mecat")
    kind = str(case.details.get("subtask") or case.category)
    kind = kind.removeprefix("pure_").removeprefix("mixed_")
    subtask = prompts[task].get(kind)
    if subtask is None:
        known = ", ".join(prompts[task])
        raise JudgeError(f"{case.sample_id}: mecat-{task} judges {known}; this sample is {kind!r}")
    # The paper leaves this layout open: an id, the references, and what is judged.
    lines = [
        f"\nsample_id: {case.sample_id}",
        *([f"question: “{case.instruction}”"] if task == "qa" else []),
        "reference answers:",
        *(f"  - {one}" for one in case.references),
        f"candidate answer: “{case.prediction}”",
    ]
    return fill(
        "\n".join(prompts["template"]),
        tasks=prompts["tasks"][task],
        description=subtask["description"],
        subtask=subtask["name"],
        scoring_aspects="\n".join(subtask["aspects"]),
        ref_texts="\n".join(lines),
    )


def rating_contract() -> Contract:
    wording, prompts = prompts_in(RATING)
    return Contract(
        RATING,
        (ReplyField(RATING, "number"),),
        lambda case: fill("\n".join(prompts["template"]), caption=case.prediction),
        wording,
        max_tokens=300,
        description="one digit by a model that hears: clip and caption, without references",
        reader=_read,
        listens=True,
        weigh=_weigh,
        made_with=(("shown", "plain"), ("digits", "expected-where-given")),
    )


def _read(text: str) -> Verdict:
    found = _REPLY.fullmatch(bare(text))
    if found is None:
        raise ReplyError("the reply is not one digit from 0 to 9")
    return Verdict({RATING: int(found[1]) * MAX_VALUE / _HIGHEST}, "")


def _weigh(verdict: Verdict, raw: str) -> Verdict:
    """The verdict with the expected value in the place of the last digit that was written."""
    written = str(round(verdict.scores[RATING] * _HIGHEST / MAX_VALUE))
    places = [one for one in token_shares(raw) if _DIGIT.search(one[0])]
    token, likely = places[-1] if places else ("", {})
    shares = {int(one): share for one, share in likely.items() if _DIGIT.fullmatch(one)}
    if token != written or not shares.get(int(written)):
        return replace(verdict, note=AS_WRITTEN)
    expected = sum(digit * share for digit, share in shares.items()) / sum(shares.values())
    return replace(verdict, scores={RATING: expected * MAX_VALUE / _HIGHEST})


CONTRACTS: Mapping[str, Callable[[], Contract]] = {
    AUDIOCAPBENCH: audiocapbench_contract,
    "mecat-caption": partial(mecat_contract, "caption"),
    "mecat-qa": partial(mecat_contract, "qa"),
    RATING: rating_contract,
}
