"""``endpoint/NAME@URL``: any server that speaks OpenAI's protocol (vLLM, SGLang, llama.cpp)."""

import re

from audiocapbench.credentials import without_query
from audiocapbench.errors import ModelError
from audiocapbench.models.model import AudioContract, ModelSettings
from audiocapbench.models.openai_chat import CHAT_SETTINGS, ChatDialect, ChatModel, request_options
from audiocapbench.models.provider import Provider
from audiocapbench.models.remote import RemoteModel, checked_url, key_of

_NAME = re.compile(r"endpoint/(?P<model>.+?)@(?P<url>[a-z]+://.*)", re.IGNORECASE | re.DOTALL)
_EXAMPLE = "endpoint/Qwen/Qwen2-Audio-7B-Instruct@http://127.0.0.1:8000/v1"
_AUDIO = AudioContract("wav")


def create(name: str, settings: ModelSettings) -> ChatModel:
    """Make the model that a server at an address serves under a name.

    The key is optional and comes from ENDPOINT_API_KEY; no other key is ever sent there.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        shown = without_query(name)
        raise ModelError(f"{shown!r} is not endpoint/NAME@URL; write for example {_EXAMPLE}")
    address = checked_url(found["url"], "the address after @")
    hint = "the address, which usually ends in /v1"
    (key_name,) = PROVIDER.key_names
    remote = RemoteModel(name, found["model"], *address, key_name, hint, key_of(PROVIDER))
    return ChatModel(remote, _AUDIO, settings, request_options(settings, None), ChatDialect())


PROVIDER = Provider(
    "endpoint",
    "NAME@URL: any OpenAI-compatible server",
    create,
    contract=_AUDIO,
    settings=CHAT_SETTINGS,
    key_names=("ENDPOINT_API_KEY",),
    key_optional=True,
)
