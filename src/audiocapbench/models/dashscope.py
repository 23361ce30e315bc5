"""``dashscope/…``: Qwen-Audio over DashScope's own HTTP API, Qwen-Omni over its OpenAI dialect."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from audiocapbench.data.outcome import Reply
from audiocapbench.errors import ModelError
from audiocapbench.models import replies
from audiocapbench.models.http_client import HttpModel
from audiocapbench.models.model import AudioContract, Model, ModelSettings, Question
from audiocapbench.models.openai_chat import CHAT_SETTINGS, ChatModel, request_options
from audiocapbench.models.provider import TOOL, KnownModel, Provider
from audiocapbench.models.remote import (
    SentBody,
    no_answer,
    remote_model,
    time_to_answer,
)

URL_NAME = "DASHSCOPE_HTTP_BASE_URL"
"""The variable that DashScope's own SDK reads, for its region outside China."""

# DashScope takes 10 MB of base64; both families listen at 16 kHz.
QWEN_AUDIO = AudioContract("wav", rate=16_000, longest_s=30.0, largest_bytes=7_500_000)
QWEN_OMNI = AudioContract("wav", rate=16_000, largest_bytes=7_500_000)

_NATIVE = re.compile(r"qwen\d*-audio\b.*", re.IGNORECASE)
_GENERATION = "/services/aigc/multimodal-generation/generation"


class QwenAudioModel(HttpModel):
    """A Qwen-Audio model over DashScope's own API, whose address goes up to and with /api/v1."""

    async def answer(self, question: Question) -> Reply:
        """Answer one question, cleaned as published."""

        def request(data: str) -> dict[str, Any]:
            content = [{"text": question.instruction}]
            if question.audio is not None:
                content.insert(0, {"audio": f"data:audio/wav;base64,{data}"})
            return {
                "model": self._remote.model_id,
                "input": {"messages": [{"role": "user", "content": content}]},
                "parameters": {"result_format": "message", **self._options},
            }

        with time_to_answer(self._remote, self._timeout_s):
            reply = await self.post(_GENERATION, SentBody(request, question.audio))
            if not reply.is_success:
                return replies.failed_reply(reply, self._remote)
            body = reply.json()
            output = replies.json_object(body).get("output")
            if not isinstance(output, dict):
                reason = "answered with something that is not a generation"
                raise no_answer(self._remote, reason, reply=replies.used_by(body))
            ending = replies.choice_ending(body, output.get("choices"), self._remote)
            return replies.cleaned(replies.metered(body, self._remote, ending))


class QwenOmniModel(ChatModel):
    """A Qwen-Omni model, which takes base64 behind an empty media type, before the text."""

    with_audio: Mapping[str, Any] = {"modalities": ["text"]}
    streamed = True

    def content(self, instruction: str, data: str) -> list[Mapping[str, Any]]:
        """The parts of a user's message."""
        return super().content(instruction, f"data:;base64,{data}")[::-1]


def create(name: str, settings: ModelSettings) -> Model:
    """Make the model of a name such as ``dashscope/qwen-audio-turbo``."""
    remote = remote_model(PROVIDER, name, "https://dashscope.aliyuncs.com/api/v1", URL_NAME)
    known = PROVIDER.known(name)
    if _NATIVE.fullmatch(remote.model_id):
        if settings.system is not None:
            raise ModelError(f"{name} takes no system prompt; the qwen-omni models do")
        options = request_options(settings, known, temperature=None)
        return QwenAudioModel(remote, QWEN_AUDIO, options, settings.timeout_s)
    url = remote.url.removesuffix("/api/v1") + "/compatible-mode/v1"
    remote = replace(remote, url=url)
    return QwenOmniModel(remote, QWEN_OMNI, settings, known)


PROVIDER = Provider(
    "dashscope",
    "Alibaba DashScope",
    create,
    contract=QWEN_OMNI,
    settings=CHAT_SETTINGS,
    key_names=("DASHSCOPE_API_KEY",),
    models=(KnownModel("dashscope/qwen-audio-turbo", TOOL, contract=QWEN_AUDIO),),
)
