"""``vllm/ORG/NAME``: open-weight models on this machine, by vLLM within this process."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from audiocapbench.data.outcome import Reply
from audiocapbench.errors import FatalError, ModelError
from audiocapbench.models import ModelSettings, Question
from audiocapbench.models import checkpoint as checkpoints
from audiocapbench.models.local import CheckpointModel, local_provider, samples_of
from audiocapbench.models.probabilities import as_raw
from audiocapbench.models.replies import ending_as
from audiocapbench.plugins import failure_words


class VllmModel(CheckpointModel):
    """A model that vLLM serves within this process; it is loaded when it is first asked.

    ``gpus`` are tensor parallel, ``memory`` is percent of each card's, ``context`` the longest
    prompt and answer together in tokens.
    """

    options = (*CheckpointModel.options, "gpus", "memory", "context")

    def __init__(self, name: str, settings: ModelSettings) -> None:
        written = checkpoints.parse_name(name, self.options)
        super().__init__(written, settings, "vllm", "bfloat16")
        self.batch = written.number("batch", 128)
        if self.is_adapted:
            raise ModelError(f"{name}: hears with an adapter, which only local/… loads")
        self.num_gpus = written.number("gpus", 1)
        self._loading: dict[str, Any] = {
            "tensor_parallel_size": self.num_gpus,
            "gpu_memory_utilization": min(100, written.number("memory", 90)) / 100,
        }
        if "context" in written.options:
            self._loading["max_model_len"] = written.number("context", 1)
        self._llm: Any = None
        self._one = threading.Lock()  # its engine is made for one caller

    def answer_many(self, questions: Sequence[Question]) -> list[Reply]:
        with self._one:
            llm = self._loaded()
            chosen = llm.get_default_sampling_params()
            chosen.temperature, chosen.max_tokens = self.temperature, self.max_tokens
            chosen.seed, chosen.logprobs = self.seed or None, self.top or None
            if self.processor.own.encoded:
                told = [self._messages(one) for one in questions]
                made = llm.chat(told, sampling_params=chosen, use_tqdm=False)
            else:
                asked = [self._prompt(one) for one in questions]
                made = llm.generate(asked, sampling_params=chosen, use_tqdm=False)
        return [self._reply(one) for one in made]

    def _reply(self, made: Any) -> Reply:
        if not made.outputs:
            raise ModelError("vLLM returned no completion")
        first = made.outputs[0]
        ending = ending_as(first.finish_reason, first.text.strip(), f"{self.name}: vLLM")
        read = len(made.prompt_token_ids or ()) or None
        tokens = (
            (own[token].decoded_token, ((one.decoded_token, one.logprob) for one in own.values()))
            for token, own in zip(first.token_ids, first.logprobs or (), strict=False)
        )
        ending = replace(ending, raw=as_raw(tokens))
        return replace(ending, input_tokens=read, output_tokens=len(first.token_ids))

    def _prompt(self, question: Question) -> dict[str, Any]:
        clip = samples_of(question)
        prompt = self.processor.prompt(self.processor.conversation(question.instruction, clip))
        if clip is None:
            return {"prompt": prompt}
        return {"prompt": prompt, "multi_modal_data": {"audio": [(clip, self.processor.rate)]}}

    def _messages(self, question: Question) -> list[dict[str, Any]]:
        """What OpenAI's protocol says, for processors whose template only they can write."""
        content: list[dict[str, Any]] = [{"type": "text", "text": question.instruction}]
        clip = samples_of(question)
        if clip is not None:
            sent = {"data": self.processor.encoded(clip), "format": "wav"}
            content.insert(0, {"type": "input_audio", "input_audio": sent})
        system = self.parameters.get("system")
        told = [{"role": "system", "content": system}] if system else []
        return [*told, {"role": "user", "content": content}]

    def _loaded(self) -> Any:
        if self._llm is None:
            from vllm import LLM

            hears = {"limit_mm_per_prompt": {"audio": 1}} if self.processor.rate else {}
            try:
                self._llm = LLM(
                    model=str(self.checkpoint.folder),
                    dtype=self.dtype,
                    seed=0,
                    trust_remote_code=self.checkpoint.trusted,
                    **hears,
                    **self._loading,
                )
            except Exception as error:  # its engine fails in many ways, in other processes, too
                words = f"vLLM cannot load it ({failure_words(error)}); local/… may"
                raise FatalError(f"{self.name}: {words}") from error
        return self._llm


PROVIDER = local_provider("vllm", "vLLM", VllmModel, VllmModel.options, "vllm")
