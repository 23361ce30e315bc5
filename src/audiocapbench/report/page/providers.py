"""Who offers a model: the names and the order of colours on pages and in figures."""

from collections.abc import Iterable

# As in the paper: Gemini blue, Chat Completions green, Realtime orange; others follow.
PROVIDERS = {
    "gemini": "Google Gemini",
    "openai": "OpenAI Chat Completions",
    "openai-realtime": "OpenAI Realtime",
    "dashscope": "Alibaba DashScope",
    "endpoint": "Own endpoint",
    "listener": "Embedded listener",
    "control": "Controls",
}


def provider_of(model: str) -> str:
    """Who offers a model, by its name."""
    prefix = model.partition("/")[0]
    return PROVIDERS.get(prefix, prefix)


def colour_order(providers: Iterable[str]) -> list[str]:
    """Providers, each once, in the order of their colours."""
    present = dict.fromkeys(providers)
    known = [name for name in PROVIDERS.values() if name in present]
    return [*known, *(name for name in present if name not in known)]
