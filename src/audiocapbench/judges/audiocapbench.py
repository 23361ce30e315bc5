"""AudioCapBench's judge: three scores, with the prompt as its paper or its tool lays it out."""

import math
from functools import partial

from audiocapbench.errors import JudgeError, ReplyError
from audiocapbench.judges.contract import (
    MAX_SCORE,
    REASONING,
    Contract,
    JudgeInput,
    ReplyField,
    Verdict,
    published_prompts,
)
from audiocapbench.judges.quoting import fill
from audiocapbench.judges.reply_json import whole_object

NAME = "audiocapbench"
DIMENSIONS = ("accuracy", "completeness", "hallucination")
MAX_TOKENS = 300
LAYOUTS = {"paper": NAME, "tool": f"{NAME}-tool"}
"""The prompt's layouts, and the files that have them."""

PROTOCOLS = ("ours", "published")


def contract(prompt: str | None = None, protocol: str = "ours") -> Contract:
    """Three scores from 0 to 10 and the reasoning, in the layout ``paper`` or ``tool``.

    Protocol ``ours``: integers within bounds, a schema where the model takes one, texts that cannot
    play the reply. ``published``: what the published tool does.
    """
    if protocol not in PROTOCOLS:
        raise JudgeError(f"protocol is {' or '.join(PROTOCOLS)}, not {protocol!r}")
    prompt = prompt or ("tool" if protocol == "published" else "paper")
    if prompt not in LAYOUTS:
        raise JudgeError(f"prompt is {' or '.join(LAYOUTS)}, not {prompt!r}")
    published = protocol == "published"
    kind = "number" if published else "integer"
    return Contract(
        NAME,
        (*(ReplyField(name, kind) for name in DIMENSIONS), ReplyField(REASONING, "text")),  # type: ignore[arg-type]
        partial(_assemble, prompt),
        published_prompts(LAYOUTS[prompt])[0],
        MAX_TOKENS,
        description="AudioCapBench's prompt: a caption against references, by category",
        reader=_as_published if published else None,
        quotes=not published,
        asked_at_most=1 if published else 3,
        made_with=(("reading", "published"), ("overall", "rounded")) if published else (),
    )


def _assemble(layout: str, case: JudgeInput) -> str:
    _, prompts = published_prompts(LAYOUTS[layout])
    # A category that the paper does not have gets the guidance of sound, as its instruction does.
    category = case.category if case.category in prompts["guidance"] else "sound"
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

    A score that is missing counts 0, one out of bounds is moved to the nearest; decimals stay.
    """
    values = whole_object(text)
    try:
        scores = {name: float(values.get(name, 0)) for name in DIMENSIONS}
    except (ValueError, TypeError, OverflowError):
        raise ReplyError("the reply is no JSON object with three numbers") from None
    if not all(map(math.isfinite, scores.values())):
        raise ReplyError("a score of the reply is no number")
    bounded = {name: min(max(score, 0.0), float(MAX_SCORE)) for name, score in scores.items()}
    return Verdict(bounded, str(values.get(REASONING, "")))
