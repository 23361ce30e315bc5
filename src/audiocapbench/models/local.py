"""``local/ORG/NAME``: open-weight models of transformers on this machine, in batches.

One way for all of them: the processor's own chat template, its feature extractor's rate, greedy
answers. Where architectures really differ, ``_Differences`` says how.
"""

import base64
import logging
import re
import threading
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.audio import Waveform, wav
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import AudioCapBenchError, FatalError, ModelError
from audiocapbench.models.batching import BatchModel
from audiocapbench.models.checkpoint import Checkpoint, LocalName, find_checkpoint, parse_name
from audiocapbench.models.model import ELSEWHERE, AudioContract, Question
from audiocapbench.models.price import FREE
from audiocapbench.models.provider import Provider
from audiocapbench.models.settings import ModelSettings
from audiocapbench.plugins import failure_words

_DTYPES = {"auto": "", "bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
_AUTO_CLASSES = "MultimodalLM Seq2SeqLM ImageTextToText CausalLM".split()
_MAX_TOKENS = 256
_PROBE = "7f3a what is heard"

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Differences:
    """What one architecture does otherwise than all others.

    Attributes:
        longest_s: Where its processor cuts clips without saying so anywhere.
        encoded: Whether its processor takes audio as an encoded file only.
        hears_padding: Whether the end of a clip sounds otherwise where a longer one is beside it:
            then only clips of one length make a batch.
        adapter: Folder of the weights that it hears with, beside its own.
    """

    longest_s: float | None = None
    encoded: bool = False
    hears_padding: bool = False
    adapter: str = ""


_DIFFERENCES = {
    "gemma3n": _Differences(longest_s=30.0),
    "granite_speech": _Differences(hears_padding=True),
    "phi4_multimodal": _Differences(hears_padding=True, adapter="speech-lora"),
    "voxtral": _Differences(encoded=True),
}


class ChatProcessor:
    """A checkpoint's processor: conversations in, tensors out, as its model card shows.

    Attributes:
        rate: Sampling rate of its feature extractor; None where it hears nothing.
        longest_s: Seconds after which it cuts a clip; None where it takes any.
    """

    def __init__(self, name: str, checkpoint: Checkpoint, kind: str, system: str | None) -> None:
        from transformers import AutoProcessor

        with loading(name, checkpoint):
            self.processor: Any = AutoProcessor.from_pretrained(
                checkpoint.folder, trust_remote_code=checkpoint.trusted, local_files_only=True
            )
        self._name, self._system = name, system
        self.own = _DIFFERENCES.get(kind, _Differences())
        self.tokenizer: Any = getattr(self.processor, "tokenizer", self.processor)
        self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        if self.processor.chat_template is None:
            self.processor.chat_template = self.tokenizer.chat_template
        hearing = ("audio_processor", "feature_extractor")
        found = [getattr(self.processor, one, None) for one in hearing]
        self._extractor: Any = next((one for one in found if one is not None), None)
        rate = getattr(self._extractor, "sampling_rate", None)
        if self._extractor is not None and not rate:
            raise ModelError(f"{name}: its feature extractor does not say its sampling rate")
        self.rate: int | None = rate
        self._in_parts = self._takes_parts()
        with loading(name, checkpoint):
            self.longest_s = None if rate is None else self._longest_s(rate)

    @property
    def audio_token_id(self) -> int | None:
        """The token that stands for a piece of audio, where the processor names one."""
        token = getattr(self.processor, "audio_token", None)
        return None if token is None else int(self.tokenizer.convert_tokens_to_ids(token))

    def conversation(self, instruction: str, audio: NDArray[np.float32] | None) -> list[Message]:
        """What the model is told: the clip first, then the instruction."""
        if not self._in_parts:
            place = getattr(self.processor, "audio_token", "") if audio is not None else ""
            system = [{"role": "system", "content": self._system}] if self._system else []
            return [*system, {"role": "user", "content": f"{place}{instruction}"}]
        content: list[Message] = [{"type": "text", "text": instruction}]
        if audio is not None:
            content.insert(0, self._audio_part(audio))
        asked: list[Message] = [{"role": "user", "content": content}]
        if self._system:
            told = [{"type": "text", "text": self._system}]
            asked.insert(0, {"role": "system", "content": told})
        return asked

    def prompt(self, conversation: list[Message]) -> str:
        """A conversation as the template writes it."""
        written: str = self.processor.apply_chat_template(
            conversation, tokenize=False, add_generation_prompt=True
        )
        return written

    def inputs(self, asked: Sequence[tuple[str, NDArray[np.float32] | None]]) -> Any:
        """Tensors for questions that all have a clip, or all have none."""
        conversations = [self.conversation(*one) for one in asked]
        audio = [one for _, one in asked if one is not None]
        text = {"padding": True, "padding_side": "left"}
        if self._in_parts or not audio:
            heard = {"audio_kwargs": {"sampling_rate": self.rate}} if audio else {}
            more: dict[str, Any] = {"text_kwargs": text, **heard}
            if self.processor is self.tokenizer:
                more = text
            elif "processor_kwargs" in signature(self.processor.apply_chat_template).parameters:
                more = {"processor_kwargs": more}
            return self.processor.apply_chat_template(
                conversations,
                tokenize=True,
                add_generation_prompt=True,
                return_dict=True,
                return_tensors="pt",
                **more,
            )
        prompts = [self.prompt(one) for one in conversations]
        return self.processor(text=prompts, audio=audio, return_tensors="pt", text_kwargs=text)

    def _audio_part(self, audio: NDArray[np.float32]) -> Message:
        if not self.own.encoded:
            return {"type": "audio", "audio": audio}
        clip = wav(Waveform(audio[:, None], self.rate or 0))
        return {"type": "audio", "base64": base64.b64encode(clip).decode("ascii")}

    def _takes_parts(self) -> bool:
        """Whether the template writes lists of audio and text, or only text around a token."""
        if self.own.encoded:
            return True
        clip = None if self._extractor is None else np.zeros(1, np.float32)
        token = None if clip is None else getattr(self.processor, "audio_token", None)
        for in_parts in (False,) if clip is None else (True, False):
            self._in_parts = in_parts
            try:
                written = self.prompt(self.conversation(_PROBE, clip))
            except Exception as error:  # a template may raise anything
                problem = failure_words(error)
                continue
            problem = "it leaves out what is asked, or writes no place for audio"
            if _PROBE in written and (token is None or written.count(token) == 1):
                return in_parts
        about = "" if clip is None else " about a clip"
        raise ModelError(f"{self._name}: its chat template cannot ask{about} ({problem})")

    def _longest_s(self, rate: int) -> float | None:
        said = getattr(self.processor, "max_audio_len", None)
        if said:
            piece = getattr(self._extractor, "chunk_length", None) or 1
            return float(said // piece * piece)
        if self.own.longest_s:
            return self.own.longest_s
        samples = getattr(self._extractor, "n_samples", None)
        if not samples:
            return None
        # Some processors cut at this length, others go on in pieces: one more second tells.
        shapes = []
        for length in (samples, samples + rate):
            made = self.inputs([("", np.zeros(length, np.float32))])
            shapes.append({key: tuple(value.shape) for key, value in made.items()})
        return samples / rate if shapes[0] == shapes[1] else None


class _Ready(NamedTuple):
    """Questions as tensors."""

    inputs: Any
    most_tokens: int


class CheckpointModel(BatchModel):
    """A model made of a checkpoint on this machine, whatever computes its answers.

    Attributes:
        options: What may stand in brackets after its name.
        is_adapted: Whether it hears with an adapter beside its own weights.
    """

    cacheable = True
    options: tuple[str, ...] = ("revision", "dtype", "batch", "download", "code")

    def __init__(
        self, name: LocalName, settings: ModelSettings, runtime: str, dtype: str, batch: int
    ) -> None:
        super().__init__(name.name, settings)
        self.checkpoint = find_checkpoint(name)
        self.config = load_config(name.name, self.checkpoint)
        self.dtype = _DTYPES[name.choice("dtype", *_DTYPES)] or dtype
        self.batch = name.count("batch", batch)
        kind = str(self.config.model_type)
        self.processor = ChatProcessor(name.name, self.checkpoint, kind, settings.system)
        self.max_tokens = settings.max_tokens or _MAX_TOKENS
        self.temperature = settings.temperature or 0.0
        self.parameters = {
            "revision": self.checkpoint.revision,
            "dtype": self.dtype,
            "device": runtime,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            **({"system": settings.system} if settings.system else {}),
        }
        rate, longest = self.processor.rate, self.processor.longest_s
        cut: dict[str, Any] = {"longest_s": longest, "past_limit": "truncate"}
        hears = rate is not None
        self.contract = AudioContract("float32", rate, **cut) if hears else AudioContract("none")
        beside = self.processor.own.adapter
        self.is_adapted = bool(beside) and (self.checkpoint.folder / beside).is_dir()
        self.is_adapted |= bool(getattr(self.config, "has_lora_adapter", False))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel by name: another machine has the weights on its own disk."""
        return type(self), (self.name, self.given)


class LocalModel(CheckpointModel):
    """A model of transformers; its weights are loaded when it is first asked."""

    options = (*CheckpointModel.options, "device")
    lanes = 2  # one prepares its tensors while the other has the device

    def __init__(self, name: str, settings: ModelSettings) -> None:
        import transformers

        written = parse_name(name, self.options)
        if not hasattr(transformers, "AutoModelForMultimodalLM"):
            old = f"transformers {transformers.__version__} is too old"
            raise ModelError(f"{name}: {old}: pip install --upgrade 'audiocapbench[local]'")
        self.device = _device(written)
        self.num_gpus = _cards(self.device)
        on_card = self.device.startswith("cuda") or self.device == "split"
        usual = ("bfloat16", 16) if on_card else ("float32", 4)
        super().__init__(written, settings, self.device.partition(":")[0], *usual)
        if self.is_adapted and find_spec("peft") is None:
            raise ModelError(f"{name}: its adapter, with which it hears, needs: pip install peft")
        self._network: Any = None
        # CUDA libraries plan their kernels anew, for seconds, in every thread: there is only one.
        self._device_thread = ThreadPoolExecutor(1, "device")
        self._most, self._one = self.batch, threading.Lock()
        self._stops: weakref.WeakSet[threading.Event] = weakref.WeakSet()
        _models.add(self)

    def answer_many(self, questions: Sequence[Question]) -> list[Reply]:
        """Answer questions in batches of clips of about one length."""
        stop = threading.Event()
        self._stops.add(stop)
        replies: dict[int, Reply] = {}
        left = sorted(range(len(questions)), key=lambda number: _length(questions[number]))
        while left:
            kind = self._kind(questions[left[0]])
            part = [one for one in left if self._kind(questions[one]) == kind][: self._most]
            answered = self._answer([questions[number] for number in part], stop)
            if answered is not None:  # else memory did not hold them: fewer are asked now
                replies |= dict(zip(part, answered, strict=True))
                left = [number for number in left if number not in replies]
        return [replies[number] for number in range(len(questions))]

    def _kind(self, question: Question) -> float:
        """What questions of one batch share: that they have a clip, or its length."""
        if question.audio is None:
            return 0.0
        return question.audio.duration_s if self.processor.own.hears_padding else 1.0

    async def aclose(self) -> None:
        """End what is still being written."""
        for stop in list(self._stops):
            stop.set()

    def release(self) -> bool:
        """Give the memory of the weights back, unless they are in use; whether it did."""
        if self._network is None or not self._one.acquire(blocking=False):
            return False
        try:
            self._network = None
        finally:
            self._one.release()
        return True

    def _answer(self, questions: Sequence[Question], stop: threading.Event) -> list[Reply] | None:
        """Replies to one batch; None where the memory of the device did not hold it."""
        import torch

        try:
            ready = self._prepare(questions)
            rows = self._device_thread.submit(self._generate, ready, stop).result()
        except torch.OutOfMemoryError as error:
            _empty_cache()
            if len(questions) > 1:
                self._most = max(1, min(self._most, len(questions)) // 2)
                words = f"a batch of {len(questions)} does not fit into memory; now {self._most}"
                logging.getLogger("audiocapbench").warning(f"{self.name}: {words}")
                return None
            said = f"{self.name}: out of memory with this clip alone ({failure_words(error)})"
            return [Reply("", Status.FAILED, said)]
        except AudioCapBenchError:
            raise
        except Exception as error:
            if "CUDA error" in str(error):
                words = f"{self.name}: the device failed ({failure_words(error)}); start again"
                raise FatalError(words) from error
            raise ModelError(f"{self.name}: {failure_words(error)}") from error
        return [self._reply(ready, number, row) for number, row in enumerate(rows)]

    def _prepare(self, questions: Sequence[Question]) -> _Ready:
        inputs = self.processor.inputs([(one.instruction, samples_of(one)) for one in questions])
        text = getattr(self.config, "get_text_config", lambda: self.config)()
        room = getattr(text, "max_position_embeddings", None)
        length = int(inputs["input_ids"].shape[1])
        if room and length >= room:
            words = f"the prompt is {length:,} tokens, and the model reads {room:,}"
            raise ModelError(f"{self.name}: {words}")
        return _Ready(inputs, min(self.max_tokens, room - length) if room else self.max_tokens)

    def _generate(self, ready: _Ready, stop: threading.Event) -> list[list[int]]:
        with self._one:
            return self._generate_alone(ready, stop)

    def _generate_alone(self, ready: _Ready, stop: threading.Event) -> list[list[int]]:
        import torch
        from transformers import StoppingCriteriaList

        network = self._loaded()
        inputs = ready.inputs.to(network.device, getattr(torch, self.dtype))
        chosen: dict[str, Any] = {"do_sample": False}
        if self.temperature > 0:
            chosen = {"do_sample": True, "temperature": self.temperature}
        with torch.inference_mode():
            made = network.generate(
                **inputs,
                **chosen,
                max_new_tokens=ready.most_tokens,
                eos_token_id=sorted(self._ends(network)),
                pad_token_id=self.processor.tokenizer.pad_token_id,
                stopping_criteria=StoppingCriteriaList([lambda *_, **__: stop.is_set()]),
            )
        if stop.is_set():
            raise FatalError(f"{self.name}: was stopped while it wrote")
        made = getattr(made, "sequences", made)
        rows: list[list[int]] = made[:, ready.inputs["input_ids"].shape[1] :].tolist()
        return rows

    def _reply(self, ready: _Ready, number: int, row: list[int]) -> Reply:
        ends = self._ends(self._loaded())
        end = next((place for place, token in enumerate(row) if token in ends), None)
        tokenizer, said = self.processor.tokenizer, row if end is None else row[:end]
        text = tokenizer.decode(said, skip_special_tokens=True).strip()
        status = Status.TRUNCATED if end is None else Status.OK if text else Status.EMPTY
        mask, ids = ready.inputs["attention_mask"][number], ready.inputs["input_ids"][number]
        heard = self.processor.audio_token_id
        return Reply(
            text,
            status,
            "the answer reached the limit of output tokens" if end is None else None,
            input_tokens=int(mask.sum()),
            output_tokens=len(said) + (end is not None),
            audio_tokens=None if heard is None else int((ids == heard).sum()),
        )

    def _ends(self, network: Any) -> set[int]:
        """Tokens after which an answer is whole."""
        said = network.generation_config.eos_token_id
        listed = said if isinstance(said, list) else [said]
        known = {*listed, self.processor.tokenizer.eos_token_id} - {None}
        if not known:
            raise FatalError(f"{self.name}: neither model nor tokenizer says how an answer ends")
        return known

    def _loaded(self) -> Any:
        """The network, on its device; what other models hold there is given back if need be."""
        import torch

        if self._network is None:
            try:
                self._network = self._load()
            except torch.OutOfMemoryError as error:
                others = [one for one in list(_models) if one is not self and one.release()]
                _empty_cache()
                if not others:
                    words = f"its weights do not fit into the memory of {self.device}"
                    raise FatalError(f"{self.name}: {words}; try device=split") from error
                self._network = self._load()
        return self._network

    def _load(self) -> Any:
        import torch

        place = "auto" if self.device == "split" else {"": self.device}
        with loading(self.name, self.checkpoint):
            network = _auto_class(self.name, self.config, self.checkpoint).from_pretrained(
                self.checkpoint.folder,
                config=self.config,
                dtype=getattr(torch, self.dtype),
                device_map=None if self.device == "cpu" else place,
                trust_remote_code=self.checkpoint.trusted,
                local_files_only=True,
            )
            adapter = self.processor.own.adapter
            if adapter and (self.checkpoint.folder / adapter).is_dir():
                network.load_adapter(self.checkpoint.folder / adapter, adapter_name=adapter)
                network.set_adapter(adapter)
        # Omni models speak, too: only what thinks writes text.
        network = getattr(network, "thinker", network).eval()
        settings = network.generation_config
        if self.temperature == 0:
            settings.temperature = settings.top_p = settings.top_k = None
        torch.manual_seed(0)
        return network


_models: "weakref.WeakSet[LocalModel]" = weakref.WeakSet()


@contextmanager
def loading(name: str, checkpoint: Checkpoint) -> Iterator[None]:
    """Load quietly, and say what fails in one sentence: a damaged folder can fail in any way.

    Raises:
        FatalError: It cannot be loaded, or weights are missing, which would be made up: no clip
            can be answered.
    """
    from transformers.utils import logging as theirs

    said, logger = list[str](), logging.getLogger("transformers")
    hearing = logging.Handler()
    hearing.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    shown, handlers = theirs.is_progress_bar_enabled(), logger.handlers
    theirs.disable_progress_bar()
    logger.handlers = [hearing]
    where = f"{name} cannot be loaded from {checkpoint.folder}"
    try:
        yield
    except Exception as error:
        if isinstance(error, AudioCapBenchError) or type(error).__name__ == "OutOfMemoryError":
            raise
        why = failure_words(error)
        if "trust_remote_code" in str(error):
            why = "it needs code of its own; read that, then write code=trust and its revision"
        raise FatalError(f"{where} ({why})") from error
    finally:
        logger.handlers = handlers
        if shown:
            theirs.enable_progress_bar()
    missing = next((one for one in said if "MISSING" in one), None)
    if missing is not None:
        raise FatalError(f"{where} (weights are missing: {' '.join(missing.split())[:200]})")


def load_config(name: str, checkpoint: Checkpoint) -> Any:
    import transformers

    with loading(name, checkpoint):
        config = transformers.AutoConfig.from_pretrained(
            checkpoint.folder, trust_remote_code=checkpoint.trusted, local_files_only=True
        )
    if hasattr(config, "enable_audio_output"):
        config.enable_audio_output = False
    return config


def _auto_class(name: str, config: Any, checkpoint: Checkpoint) -> Any:
    import transformers

    own = getattr(config, "auto_map", None) or {}
    for kind in _AUTO_CLASSES:
        auto = getattr(transformers, f"AutoModelFor{kind}", None)
        mapping = getattr(auto, "_model_mapping", ())
        if type(config) in mapping or (checkpoint.trusted and f"AutoModelFor{kind}" in own):
            return auto
    named = getattr(transformers, (getattr(config, "architectures", None) or ["-"])[0], None)
    if named is not None:
        return named
    raise FatalError(
        f"{name}: transformers {transformers.__version__} has no model that answers with text for "
        f"{getattr(config, 'model_type', 'this')!r}; ask a server with endpoint/NAME@URL"
    )


def _device(name: LocalName) -> str:
    import torch

    given = name.options.get("device", "auto")
    if given == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    found = re.fullmatch(r"cpu|mps|split|(cuda)(?::(\d{1,3}))?", given)
    if found is None:
        known = "auto, cpu, cuda, cuda:1, mps, or split for all cards together"
        raise ModelError(f"{name.name}: device is {given!r}; it is {known}")
    cards, has_mps = torch.cuda.device_count(), torch.backends.mps.is_available()
    is_here = given == "cpu" or (has_mps if given == "mps" else int(found[2] or 0) < cards)
    if not is_here and not ELSEWHERE.get():
        has = "no MPS device" if given == "mps" else f"{cards or 'no'} CUDA devices"
        raise ModelError(f"{name.name}: device is {given}, and this machine has {has}")
    return given


def _cards(device: str) -> int:
    import torch

    several = device == "split" and torch.cuda.device_count()
    return several or int(device not in ("cpu", "mps"))


def samples_of(question: Question) -> NDArray[np.float32] | None:
    """A question's clip, as an array that may be written to; None where it has none."""
    return np.frombuffer(question.audio.content, "<f4").copy() if question.audio else None


def _length(question: Question) -> tuple[float, int]:
    return (question.audio.duration_s if question.audio else 0.0, len(question.instruction))


def _empty_cache() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


PROVIDER = Provider(
    "local",
    "ORG/NAME or FOLDER: an open-weight model on this machine, by transformers",
    LocalModel,
    settings=("temperature", "max_tokens", "system"),
    options=LocalModel.options,
    extra="local",
    packages=("torch", "transformers", "accelerate"),
    price=FREE,
)
