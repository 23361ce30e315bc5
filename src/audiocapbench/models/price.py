"""What a model's tokens cost, as reported by a provider or estimated from seconds and text."""

from datetime import date
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from audiocapbench.data.outcome import Reply
from audiocapbench.errors import ModelError

_PER = 1_000_000
_BYTES_PER_TOKEN = 3
_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def tokens_of(text: str) -> int:
    """Tokens that a text becomes, about, and rather too many than too few.

    English has four bytes a token, other scripts one letter of three; a short word is one too.
    """
    size = len(text.encode("utf-8", "replace"))
    return max(len(text.split()), -(-size // _BYTES_PER_TOKEN))


class Price(BaseModel):
    """Dollars for 1,000,000 tokens of one model.

    Attributes:
        text_in, audio_in, out: Prices of text read, audio heard and text written; a model without
            ``audio_in`` hears nothing.
        audio_tokens_per_s: How many tokens a second of audio becomes, about.
        source: The page that the prices come from.
        as_of: Day on which the prices were looked up.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    text_in: _Amount
    out: _Amount
    audio_in: _Amount | None = None
    audio_tokens_per_s: _Amount | None = None
    source: Annotated[str, Field(min_length=1)]
    as_of: date

    @classmethod
    def of(
        cls,
        text_in: float,
        audio_in: float | None,
        out: float,
        per_s: float | None,
        source: str,
        as_of: str = "2026-11-15",
    ) -> Self:
        """A price in one line of a table."""
        day, heard = date.fromisoformat(as_of), {"audio_in": audio_in, "audio_tokens_per_s": per_s}
        return cls(text_in=text_in, out=out, source=source, as_of=day, **heard)

    @model_validator(mode="after")
    def _audio_is_whole(self) -> Self:
        if (self.audio_in is None) != (self.audio_tokens_per_s is None):
            raise ValueError("audio_in and audio_tokens_per_s go together: give both or neither")
        return self

    def cost(self, reply: Reply, audio_s: float) -> float | None:
        """Dollars that one answer cost; None where no usage is known, or audio has no price.

        Usage that is reported in part gives a lower bound: what is missing counts nothing, but
        for audio, whose tokens are estimated from the seconds sent.
        """
        if self.text_in == self.out == self.audio_in == 0:
            return 0.0
        usage = (reply.input_tokens, reply.output_tokens, reply.audio_tokens)
        # A count below zero is a provider's mistake and says nothing; it must not earn money.
        read, written, heard = (None if one is None or one < 0 else one for one in usage)
        if read is None and written is None and heard is None:
            return None
        audio = self._audio_tokens(audio_s) if heard is None else heard
        if audio is None or (audio > 0 and self.audio_in is None):
            return None
        return self._dollars(max(0.0, (read or 0) - audio), audio, written or 0)

    def estimate(self, audio_s: float, text_tokens: int = 60, answer_tokens: int = 120) -> float:
        """Dollars that one question will likely cost; thinking counts as part of the answer."""
        audio = self._audio_tokens(audio_s)
        if audio is None:
            raise ModelError(
                f"no price for {audio_s:g} s of audio in {self.source}; "
                "give audio_in and audio_tokens_per_s in a price file"
            )
        return self._dollars(text_tokens, audio, answer_tokens)

    def _audio_tokens(self, audio_s: float) -> float | None:
        if audio_s <= 0:
            return 0.0
        return None if self.audio_tokens_per_s is None else audio_s * self.audio_tokens_per_s

    def _dollars(self, text: float, audio: float, written: float) -> float:
        heard = audio * (self.audio_in or 0)
        return (text * self.text_in + heard + written * self.out) / _PER


FREE = Price.of(0, 0, 0, 0, "answers on this machine, by construction free")
"""The price of what answers on this machine."""
