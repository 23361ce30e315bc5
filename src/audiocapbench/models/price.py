"""What a model's tokens cost, as reported by a provider or estimated from seconds and text."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from numbers import Integral, Real
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, PositiveInt, model_validator
from pydantic.dataclasses import dataclass

from audiocapbench.data.outcome import Reply
from audiocapbench.errors import ModelError

PRICED = date(2026, 11, 15)  # when the prices in this package were looked up
_PER = 1_000_000
_LETTERS_PER_TOKEN = 4
_LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
_MOST_TOKENS, _MOST_DOLLARS = 100_000_000, 100_000.0
_MOST_AROUND, _MOST_PER_S = 1_000, 100  # tokens of audio: no model here makes more than 32 a second
CONTRADICTION = "its usage contradicts itself"
_THOUGHTS = re.compile(
    r'"(?:reasoning(?:_content)?|thinking)":"[^"]|"thought":true'
    r'|"(?:reasoning_tokens|thoughtsTokenCount)":[1-9]'
)
_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def tokens_of(text: str) -> int:
    """Tokens of a text, about: four ASCII letters, any other character, at least one a word."""
    plain = len(text.encode("ascii", "ignore"))
    return max(len(text.split()), -(-plain // _LETTERS_PER_TOKEN) + len(text) - plain)


def token_limit(parameters: Mapping[str, Any]) -> int | None:
    """The longest answer that a model's requests allow, in tokens; None where they set no limit."""
    return next((one for one in map(parameters.get, _LIMITS) if type(one) is int and one > 0), None)


def checked_usage(reply: Reply, audio_s: float | None = None) -> Reply:
    """The reply without usage that cannot be true, of its clip or at all: it was not reported."""

    def sane(value: Any, kind: Any, most: float, number: type) -> Any:
        is_one = isinstance(value, kind) and not isinstance(value, bool) and 0 <= value <= most
        return number(value) if is_one else None

    cost = sane(reply.cost_usd, Real, _MOST_DOLLARS, float)
    told = (reply.input_tokens, reply.output_tokens, reply.audio_tokens)
    read, written, heard = found = [sane(one, Integral, _MOST_TOKENS, int) for one in told]
    most = _MOST_TOKENS if audio_s is None else _MOST_AROUND + _MOST_PER_S * audio_s
    if found.count(None) > told.count(None) or (heard or 0) > min(most, read or most):
        read = written = heard = None
        reply = replace(reply, usage_note=CONTRADICTION)
    if written == 0 and reply.text.strip():
        written = None
    tokens = {"output_tokens": written, "audio_tokens": heard}
    return replace(reply, input_tokens=read or None, cost_usd=cost, **tokens)


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid", strict=True))
class Price:
    """Dollars for 1,000,000 tokens of one model, read, heard and written."""

    text_in: _Amount
    out: _Amount
    source: Annotated[str, Field(min_length=1)]
    as_of: date
    audio_in: _Amount | None = None  # a model without it hears nothing
    audio_tokens_per_s: _Amount | None = None
    longest_answer: PositiveInt | None = None  # in tokens, where the request sets no limit

    @model_validator(mode="after")
    def _audio_is_whole(self) -> Self:
        if (self.audio_in is None) != (self.audio_tokens_per_s is None):
            raise ValueError("audio_in and audio_tokens_per_s go together: give both or neither")
        return self

    def __str__(self) -> str:
        """A million tokens of each kind, as a listing shows it."""
        if self.text_in == self.out == 0:
            return "free"
        heard = "" if self.audio_in is None else f"${self.audio_in:g} heard, "
        return f"${self.text_in:g} read, {heard}${self.out:g} written, {self.as_of}"

    def in_batches(self) -> "Price":
        """What the same costs in a batch: half."""
        source, heard = f"{self.source}, half of it in a batch", self.audio_in and self.audio_in / 2
        text_in, out = self.text_in / 2, self.out / 2
        return replace(self, text_in=text_in, audio_in=heard, out=out, source=source)

    def cost(
        self, reply: Reply, audio_s: float, prompt: str = "", thoughts: int = 0, limit: int = 0
    ) -> float | None:
        """Dollars of an answer, and what was not reported of it; None where audio has no price."""
        if self.text_in == self.out == self.audio_in == 0:
            return 0.0
        usage = checked_usage(reply, audio_s)
        read, written, heard = usage.input_tokens, usage.output_tokens, usage.audio_tokens
        audio = self._audio_tokens(audio_s) if heard is None else heard
        if audio is None or (audio > 0 and self.audio_in is None):
            return None
        text = tokens_of(prompt) if read is None else max(0.0, read - audio)
        if written is None:
            written = tokens_of(reply.text or reply.error or "") + thoughts
            if not thoughts and _THOUGHTS.search(reply.raw or ""):
                written = max(written, limit)  # what is shown of thoughts may be a part of them
        return self._dollars(text, audio, written)

    def estimate(self, audio_s: float, text_tokens: int = 60, answer_tokens: int = 120) -> float:
        """Dollars that one question will likely cost; thinking counts as part of the answer."""
        audio = self._audio_tokens(audio_s)
        if audio is None:
            to_do = "give audio_in and audio_tokens_per_s in a price file"
            raise ModelError(f"no price for {audio_s:g} s of audio in {self.source}; {to_do}")
        return self._dollars(text_tokens, audio, answer_tokens)

    def _audio_tokens(self, audio_s: float) -> float | None:
        if audio_s <= 0:
            return 0.0
        return None if self.audio_tokens_per_s is None else audio_s * self.audio_tokens_per_s

    def _dollars(self, text: float, audio: float, written: float) -> float:
        heard = audio * (self.audio_in or 0)
        return (text * self.text_in + heard + written * self.out) / _PER


def example_of_prices(model: str) -> str:
    """A price file in one line for this model, with … where its user fills in numbers."""
    price = dict.fromkeys(("text_in", "out", "audio_in", "audio_tokens_per_s"), "…")
    price |= {"source": "who says so", "as_of": "YYYY-MM-DD"}
    file = {"currency": "USD", "unit": "per 1,000,000 tokens", "models": {model: price}}
    return json.dumps(file, ensure_ascii=False).replace('"…"', "…")


FREE = Price(0, 0, "answers on this machine, by construction free", PRICED, 0, 0)
SAID_FREE = replace(FREE, source="free, as was said with --free")
