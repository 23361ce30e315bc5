"""What a question will likely cost. What an answer did cost, its price says."""

from audiocapbench.models import Model
from audiocapbench.models.price import Price, tokens_of

_TOKENS_OF_INSTRUCTION = 60
_TOKENS_OF_ANSWER = 120


def likely_cost(
    price: Price | None, model: Model, audio_s: float, text: str | None = None
) -> float | None:
    """Dollars that one question will likely cost; None where no price is known.

    A thinking model is billed for its thoughts.

    Args:
        audio_s: Seconds of audio that go along.
        text: The whole prompt, such as a judge's; an instruction of usual length by default.
    """
    if price is None:
        return None
    system = tokens_of(str(model.parameters.get("system", "")))
    asked = _TOKENS_OF_INSTRUCTION if text is None else tokens_of(text)
    thoughts = max(0, int(model.parameters.get("thinking_budget", 0)))
    return price.estimate(audio_s, system + asked, _TOKENS_OF_ANSWER + thoughts)
