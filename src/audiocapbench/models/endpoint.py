"""``endpoint/NAME@URL``: any server that speaks OpenAI's protocol (vLLM, SGLang, llama.cpp)."""

import os
import re

from audiocapbench.errors import ModelError
from audiocapbench.models import contracts
from audiocapbench.models.access import checked_key, checked_url
from audiocapbench.models.http_errors import Provider
from audiocapbench.models.openai_chat import (
    ChatDialect,
    ChatModel,
    request_options,
    text_then_audio,
)
from audiocapbench.models.settings import ModelSettings

KEY_NAME = "ENDPOINT_API_KEY"

_NAME = re.compile(r"endpoint/(?P<model>.+?)@(?P<url>[a-z]+://.*)", re.IGNORECASE | re.DOTALL)
_EXAMPLE = "endpoint/Qwen/Qwen2-Audio-7B-Instruct@http://127.0.0.1:8000/v1"


def create(name: str, settings: ModelSettings) -> ChatModel:
    """Make the model that a server at an address serves under a name.

    The key is optional and comes from ENDPOINT_API_KEY; no other key is ever sent there.

    Raises:
        ModelError: The SDK is missing, or the name or its address is not understood.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise ModelError(f"{name!r} is not endpoint/NAME@URL; write for example {_EXAMPLE}")
    address = checked_url(found["url"], "the address after @")
    said = os.environ.get(KEY_NAME, "").strip()
    key = checked_key(said, KEY_NAME) if said else None
    hint = "the address, which usually ends in /v1"
    secrets = (key,) if key else ()
    return ChatModel(
        Provider(name, found["model"], address.host, KEY_NAME, hint, secrets),
        address.url,
        key,
        request_options(name, settings, limit_name="max_tokens"),
        contracts.ENDPOINT,
        settings.timeout_s,
        ChatDialect(text_then_audio, {}),
        settings.system,
    )
