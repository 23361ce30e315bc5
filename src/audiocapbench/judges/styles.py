"""The right answer in other styles: what it says stays, so a judge's score should stay too."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.models import Question
from audiocapbench.models.controls import ControlModel

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SIDES = re.compile(r"(?P<first>[^,]+?),? (?P<joint>while|with) (?P<second>[^,]+)", re.IGNORECASE)
# What these words say about the order would no longer be true.
_ORDER = re.compile(r"\b(?:then|before|after|followed|finally|first|next|later)\b", re.IGNORECASE)
_LITTLE_WORDS = re.compile(
    r"\b(?:there (?:is|are)|can be heard|an?|the|is|are|was|were|being)\b\s*", re.IGNORECASE
)


def padded(text: str) -> str:
    """The same between two sentences that say nothing."""
    return (
        f"In this recording, the following can be heard. {text.strip()} "
        "That is what the recording contains from its beginning to its end."
    )


def reordered(text: str) -> str | None:
    """Its sentences, or what "while" or "with" joins, the other way round; None without these."""
    if _ORDER.search(text):
        return None
    sentences = _SENTENCE_END.split(text.strip())
    if len(sentences) > 1:
        return " ".join(reversed(sentences))
    sides = _SIDES.fullmatch(text.strip().rstrip("."))
    if sides is None:
        return None
    first = f"{sides['first'][0].lower()}{sides['first'][1:]}"
    return f"{sides['joint'].capitalize()} {sides['second']}, {first}."


def shortened(text: str) -> str | None:
    """The same without articles and auxiliaries, as in a telegram; None if nothing changes."""
    short = _LITTLE_WORDS.sub("", text).strip()
    return short if short and short != text.strip() else None


STYLES: Mapping[str, Callable[[str], str | None]] = {
    "padded": padded,
    "reordered": reordered,
    "shortened": shortened,
}


class StyledControl(ControlModel):
    """``control/right`` in another style."""

    def __init__(self, style: str) -> None:
        super().__init__("right")
        self._style = STYLES[style]
        self.name = f"control/right+{style}"
        self.parameters = {**self.parameters, "style": style}

    async def answer(self, question: Question) -> Reply:
        """The control's answer in the other style, where it can be put so."""
        reply = await super().answer(question)
        if reply.status is not Status.OK:
            return reply
        text = self._style(reply.text)
        if text is None:
            return Reply("", Status.SKIPPED, "cannot be said in this style")
        return replace(reply, text=text)
