"""``vllm/…`` against a stand-in for vLLM: what it is given, and what becomes of what it returns.

vLLM needs a GPU and is not installed where tests run. The stand-in takes the arguments that vLLM
documents and refuses others; it answers by transformers, so that answers must be those of
``local/…``.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.data.outcome import Status
from audiocapbench.errors import FatalError, ModelError
from audiocapbench.models import ModelSettings, Question, SentAudio, create_model
from audiocapbench.models.probabilities import LOGPROBS, token_shares
from needs import needs

needs("torch", "transformers")

from tiny_audio_models import qwen2_audio

VLLM = '''
"""As much of vLLM's offline API as is used, with its names."""
from dataclasses import dataclass, field

calls = []


@dataclass
class SamplingParams:
    temperature: float = 1.0
    max_tokens: int | None = 16
    repetition_penalty: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int | None = None
    logprobs: int | None = None


@dataclass
class CompletionOutput:
    index: int
    text: str
    token_ids: list
    finish_reason: str | None = None
    logprobs: list | None = None


@dataclass
class Logprob:
    logprob: float
    decoded_token: str


@dataclass
class RequestOutput:
    request_id: str
    prompt: str
    prompt_token_ids: list
    outputs: list = field(default_factory=list)


class LLM:
    def __init__(self, model, *, dtype="auto", seed=None, trust_remote_code=False,
                 tensor_parallel_size=1, gpu_memory_utilization=0.9, max_model_len=None,
                 limit_mm_per_prompt=None):
        import torch
        from transformers import AutoProcessor, Qwen2AudioForConditionalGeneration

        assert limit_mm_per_prompt == {"audio": 1}
        if gpu_memory_utilization < 0.1:
            raise ValueError("No available memory for the cache blocks.")
        self.processor = AutoProcessor.from_pretrained(model)
        network = Qwen2AudioForConditionalGeneration
        self.model = network.from_pretrained(model, dtype=getattr(torch, dtype)).eval()
        calls.append(("LLM", model, dtype, seed, trust_remote_code, max_model_len))

    def get_default_sampling_params(self):
        return SamplingParams(temperature=0.7, top_p=0.5)

    def generate(self, prompts, sampling_params=None, *, use_tqdm=True):
        assert not use_tqdm
        calls.append(("generate", len(prompts), sampling_params))
        return [self._one(number, one, sampling_params) for number, one in enumerate(prompts)]

    def _one(self, number, asked, chosen):
        assert set(asked) <= {"prompt", "multi_modal_data"}
        assert chosen.temperature == 0
        if "too long" in asked["prompt"]:
            raise ValueError("The decoder prompt is longer than the maximum model length")
        clips = [clip for clip, rate in asked.get("multi_modal_data", {}).get("audio", [])]
        inputs = self.processor(
            text=asked["prompt"], audio=clips or None, return_tensors="pt"
        )
        end = self.processor.tokenizer.eos_token_id
        made = self.model.generate(**inputs, do_sample=False, max_new_tokens=chosen.max_tokens,
                                   eos_token_id=end, return_dict_in_generate=True,
                                   output_logits=True)
        new = made.sequences[0, inputs["input_ids"].shape[1]:].tolist()
        likely = [one[0].log_softmax(-1).topk(chosen.logprobs or 1) for one in made.logits]
        decode = self.processor.tokenizer.decode
        told = [{one: Logprob(value, decode([one]))
                 for value, one in zip(own.values.tolist(), own.indices.tolist())}
                for own in likely]
        ended = "stop" if end in new else "length"
        text = self.processor.tokenizer.decode(new, skip_special_tokens=True)
        out = CompletionOutput(0, text, new, "abort" if "break off" in asked["prompt"] else ended,
                               told if chosen.logprobs else None)
        ids = inputs["input_ids"][0].tolist()
        return RequestOutput(str(number), asked["prompt"], ids, [out])
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return qwen2_audio(tmp_path_factory.mktemp("qwen2-audio"))


@pytest.fixture(autouse=True)
def vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import sys

    (tmp_path / "vllm.py").write_text(VLLM)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("vllm", None)


def question(number: int, seconds: float | None, words: str = "What is heard?") -> Question:
    if seconds is None:
        return Question(str(number), words, None)
    clip = np.sin(np.arange(round(seconds * 16_000)) * 0.1 * (number + 1)).astype(np.float32)
    sent = SentAudio(clip.tobytes(), "float32", 16_000, 1, seconds, "")
    return Question(str(number), words, sent)


ASKED = [question(0, 0.5), question(1, None), question(2, 1.2, "And now?")]


def test_vllm_is_asked_what_local_asks_and_its_answers_are_kept(folder: Path) -> None:
    settings = ModelSettings(max_tokens=5)
    model = create_model(f"vllm/{folder}[dtype=fp32,context=2048]", settings)
    same = create_model(f"local/{folder}[dtype=fp32]", settings)
    made, wanted = (one.answer_many(ASKED) for one in (model, same))  # type: ignore[attr-defined]
    assert [one.text for one in made] == [one.text for one in wanted]
    assert [one.status for one in made] == [one.status for one in wanted]
    assert [one.input_tokens for one in made] == [one.input_tokens for one in wanted]
    assert model.parameters == {**same.parameters, "device": "vllm"}
    assert model.contract == same.contract
    probable = [one.with_options(LOGPROBS).answer_many(ASKED) for one in (model, same)]  # type: ignore[attr-defined]
    for ours, theirs in zip(*probable, strict=True):
        (one, shares), (two, others) = token_shares(ours.raw)[0], token_shares(theirs.raw)[0]
        assert one == two
        assert shares == pytest.approx(others, rel=1e-4)
    vllm = import_module("vllm")  # the fixture's
    loaded, asked, *_ = vllm.calls
    assert loaded == ("LLM", str(folder), "float32", 0, False, 2048)
    assert asked[1] == 3
    assert asked[2].max_tokens == 5


def test_an_answer_that_vllm_breaks_off_or_refuses_is_no_answer(folder: Path) -> None:
    import anyio

    model = create_model(f"vllm/{folder}[dtype=fp32]", ModelSettings(max_tokens=3))
    (failed,) = model.answer_many([question(0, 0.3, "break off")])  # type: ignore[attr-defined]
    assert failed.status is Status.FAILED
    assert "'abort'" in (failed.error or "")
    statuses: dict[str, str] = {}

    async def ask(one: Question) -> None:
        try:
            statuses[one.sample_id] = str((await model.answer(one)).status)
        except ValueError as error:
            statuses[one.sample_id] = str(error)

    async def ask_all() -> None:
        async with anyio.create_task_group() as tasks:
            for one in (question(0, 0.3), question(1, 0.3, "too long"), question(2, 0.3)):
                tasks.start_soon(ask, one)

    anyio.run(ask_all)
    assert "longer than the maximum model length" in statuses.pop("1")
    assert set(statuses) == {"0", "2"}
    assert "failed" not in statuses.values()


def test_an_engine_that_cannot_be_loaded_ends_the_run(folder: Path) -> None:
    model = create_model(f"vllm/{folder}[memory=5]")
    with pytest.raises(FatalError, match="No available memory for the cache blocks"):
        model.answer_many(ASKED[:1])  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="has no option 'device'; it has revision, dtype"):
        create_model(f"vllm/{folder}[device=cpu]")


def test_without_vllm_its_extra_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "vllm.py").unlink()
    with pytest.raises(ModelError, match=r"pip install 'audiocapbench\[vllm\]'"):
        create_model(f"vllm/{folder}")
