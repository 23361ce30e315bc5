"""The audio that each provider takes: one table, enforced by the runner and shown to users."""

from audiocapbench.models.model import AudioContract

OPENAI = AudioContract("wav", largest_bytes=20_000_000)
OPENAI_REALTIME = AudioContract("pcm16", rate=24_000, longest_s=2_400.0)
GEMINI = AudioContract("wav", longest_s=34_200.0, largest_bytes=2_000_000_000)
# Vertex AI has no file service: what does not fit into a request cannot be sent.
GEMINI_ON_VERTEX = AudioContract("wav", longest_s=34_200.0, largest_bytes=14_000_000)
# DashScope takes 10 MB of base64; both families listen at 16 kHz.
QWEN_AUDIO = AudioContract("wav", rate=16_000, longest_s=30.0, largest_bytes=7_500_000)
QWEN_OMNI = AudioContract("wav", rate=16_000, largest_bytes=7_500_000)
ENDPOINT = AudioContract("wav")

BY_PROVIDER = {
    "openai": OPENAI,
    "openai-realtime": OPENAI_REALTIME,
    "gemini": GEMINI,
    "dashscope": QWEN_OMNI,
    "endpoint": ENDPOINT,
}
BY_MODEL = {"dashscope/qwen-audio-turbo": QWEN_AUDIO}


def contract_of(name: str) -> AudioContract | None:
    """The contract of a model or of its provider, where it is known beforehand."""
    return BY_MODEL.get(name) or BY_PROVIDER.get(name.partition("/")[0])
