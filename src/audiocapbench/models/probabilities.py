"""How probable the tokens of a reply were, in the form of OpenAI's protocol."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

LOGPROBS: Mapping[str, Any] = {"logprobs": True, "top_logprobs": 20}
"""The options of a request that ask for them."""

_MARKS = " \t\n\r▁ĠĊ()*_`\"'"
_ROUNDING = 1e-3  # of the logarithm of a probability above 1


def as_raw(tokens: Iterable[tuple[str, Iterable[tuple[str, float]]]]) -> str | None:
    """A reply of tokens, each with the likeliest in its place and the logarithms of these."""
    content = [
        {"token": token, "top_logprobs": [{"token": one, "logprob": value} for one, value in own]}
        for token, own in tokens
    ]
    return json.dumps({"choices": [{"logprobs": {"content": content}}]}) if content else None


def token_shares(raw: str) -> list[tuple[str, dict[str, float]]]:
    """The tokens of a reply, each with how probable the likeliest in its place were.

    Both without the marks around them. Nothing where no probabilities came, or none that are.
    """
    found = []
    try:
        for one in json.loads(raw)["choices"][0]["logprobs"]["content"]:
            shares: dict[str, float] = {}
            for other in one["top_logprobs"]:
                if not (value := float(other["logprob"])) <= _ROUNDING:
                    return []
                token = bare(other["token"])
                shares[token] = shares.get(token, 0.0) + math.exp(value)
            found.append((bare(one["token"]), shares))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []
    return found


def bare(token: str) -> str:
    return token.strip(_MARKS).rstrip(".").strip(_MARKS)
