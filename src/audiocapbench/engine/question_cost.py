"""What a question will likely cost, and the most that it can. What it did cost, a bill says."""

from typing import NamedTuple

from audiocapbench.models import Model
from audiocapbench.models.price import Price, tokens_of

_TOKENS_OF_INSTRUCTION = 60
_TOKENS_OF_ANSWER = 120
# What a provider puts around a prompt, and a schema that answers are held to.
_TOKENS_AROUND = 512
# What an answer may have where neither the request nor the price says: no model here writes more.
_LONGEST_ANSWER = 32_768
_LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")


class QuestionCost(NamedTuple):
    """Dollars that asking once will likely cost, the most that it may, and that without its limit.

    The last is what a server may bill that does not heed the request's limit of tokens.
    """

    likely_usd: float = 0.0
    most_usd: float = 0.0
    unlimited_usd: float = 0.0


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
    asked = _TOKENS_OF_INSTRUCTION if text is None else tokens_of(text)
    written = min(_TOKENS_OF_ANSWER, _longest_answer(price, model)) + thoughts(model)
    return price.estimate(audio_s, tokens_of(system_of(model)) + asked, written)


def question_cost(price: Price | None, model: Model, audio_s: float, text: str) -> QuestionCost:
    """What asking once costs, likely and at most; nothing where no price is known.

    At most, a byte of the prompt is a token, which holds for every byte-level tokenizer, and the
    answer is as long as the request allows, else the price's ``longest_answer``, else 32,768
    tokens; thoughts come on top.
    """
    likely = likely_cost(price, model, audio_s, text)
    if price is None or likely is None:
        return QuestionCost()
    read = len((system_of(model) + text).encode("utf-8", "replace")) + _TOKENS_AROUND
    longest, unlimited = _longest_answer(price, model), price.longest_answer or _LONGEST_ANSWER
    most, beyond = (
        max(likely, price.estimate(audio_s, read, written + thoughts(model)))
        for written in (longest, max(longest, unlimited))
    )
    return QuestionCost(likely, most, beyond)


def thoughts(model: Model) -> int:
    """Tokens that a model may think with beside its answer."""
    return max(0, int(model.parameters.get("thinking_budget", 0)))


def system_of(model: Model) -> str:
    """What the model is told before every question."""
    return str(model.parameters.get("system", ""))


def _longest_answer(price: Price, model: Model) -> int:
    given = [model.parameters.get(name) for name in _LIMITS]
    limits = [one for one in given if isinstance(one, int) and one is not True and one > 0]
    return limits[0] if limits else price.longest_answer or _LONGEST_ANSWER
