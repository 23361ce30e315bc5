"""``local/ORG/NAME``: open-weight models on this machine, by transformers."""

import logging
import re
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from itertools import takewhile
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import AudioCapBenchError, FatalError, ModelError
from audiocapbench.models import AudioContract, BatchModel, ModelSettings, Provider, Question
from audiocapbench.models import checkpoint as checkpoints
from audiocapbench.models.batch_size import FIRST, BatchSize
from audiocapbench.models.checkpoint import ChatProcessor, LocalName
from audiocapbench.models.model import REMOTE_EXECUTION
from audiocapbench.models.price import FREE
from audiocapbench.models.probabilities import LOGPROBS, as_raw
from audiocapbench.models.replies import ending_as
from audiocapbench.plugins import failure_words

_DTYPES = {"auto": "", "bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
_MAX_TOKENS = 256
# A thread that launches kernels gives the interpreter's lock away at each of them, thousands for a
# token, and gets it back when who has it must let go: after 5 ms, as Python has it, the card waits.
_SWITCH_S = 1e-4
# From so many questions on, a card computes for longer than it takes to be told what. Then room for
# all tokens of an answer from its beginning pays: else what is kept of earlier tokens is copied for
# each new one, and cuDNN plans attention anew for every length, seconds in all, not a part of one.
_LARGE = 64
_LENGTHS = 64  # room, and a compiled model's prompts, are a multiple: each length is planned anew


class CheckpointModel(BatchModel):
    """A model made of a checkpoint on this machine, whatever computes its answers."""

    cacheable = True
    patience_s = 1.0  # its weights take longer to load
    options: tuple[str, ...] = ("revision", "dtype", "batch", "download", "code")
    seed = 0  # of what is drawn where the temperature is above 0
    top = 0  # how many of the likeliest tokens come with each that is written

    def __init__(self, name: LocalName, settings: ModelSettings, runtime: str, dtype: str) -> None:
        super().__init__(name.name, settings)
        self.checkpoint = checkpoints.find_checkpoint(name)
        self.config = checkpoints.load_config(name.name, self.checkpoint)
        self.dtype = _DTYPES[name.choice("dtype", *_DTYPES)] or dtype
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
        self.contract = AudioContract("none")
        if self.processor.rate is not None:
            longest, rate = self.processor.longest_s, self.processor.rate
            self.contract = AudioContract("float32", rate, True, longest, past_limit="truncate")
        folder = self.processor.own.adapter and self.checkpoint.folder / self.processor.own.adapter
        self.adapter = folder if folder and folder.is_dir() else None
        self.is_adapted = bool(self.adapter or getattr(self.config, "has_lora_adapter", False))

    def reseed(self, seed: int) -> None:
        """Draw other words from now on."""
        import torch

        self.seed = seed
        torch.manual_seed(seed)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel by name: another machine has the weights on its own disk."""
        own = {name: getattr(self, name) for name in ("top", "max_tokens", "parameters")}
        return type(self), (self.name, self.given), own

    def with_options(self, options: Mapping[str, Any], most_tokens: int | None = None) -> Self:
        """The same model, whose replies come with the probabilities of their tokens."""
        for name in options.keys() - LOGPROBS.keys():
            raise ModelError(f"{self.name} takes no {name}: no provider is asked")
        variant = copy(self)
        variant.top, variant.max_tokens = options["top_logprobs"], most_tokens or self.max_tokens
        variant.parameters = {**self.parameters, **options, "max_tokens": variant.max_tokens}
        return variant


class LocalModel(CheckpointModel):
    """A model of transformers; its weights are loaded when it is first asked."""

    options = (*CheckpointModel.options, "device", "compile")
    lanes = 2  # one prepares its tensors while the other has the device
    _is_on_card = False

    def __init__(self, name: str, settings: ModelSettings) -> None:
        import torch
        import transformers

        written = checkpoints.parse_name(name, self.options)
        if not hasattr(transformers, "AutoModelForMultimodalLM"):
            old = f"transformers {transformers.__version__} is too old"
            raise ModelError(f"{name}: {old}: pip install --upgrade 'audiocapbench[local]'")
        self.device = _device(written)
        several = self.device == "split" and torch.cuda.device_count()
        self.num_gpus = several or int(self.device not in ("cpu", "mps"))
        if self.device.startswith("cuda") or self.device == "split":
            self._is_on_card, self.lanes = True, 3  # short answers take less than their tensors
        usual = "bfloat16" if self._is_on_card else "float32"
        super().__init__(written, settings, self.device.partition(":")[0], usual)
        self._is_compiled = written.choice("compile", "no", "yes") == "yes"
        if self._is_compiled:
            self.parameters = {**self.parameters, "compile": True}
            self.processor.pad_to = _LENGTHS
        self._size = self._find_batch_size(written)
        if self.is_adapted and find_spec("peft") is None:
            raise ModelError(f"{name}: its adapter, with which it hears, needs: pip install peft")
        self._network: Any = None
        self._ends: set[int] = set()  # tokens after which an answer is whole
        self._device_thread, self._one = _device_thread(self.device), threading.Lock()
        # The first batch is prepared alone, and so the sooner; then there is a place for each lane
        # but the one that has the device.
        self._preparing, self._has_begun = threading.Semaphore(1), False
        self._threads = torch.get_num_threads()
        self._stops: weakref.WeakSet[threading.Event] = weakref.WeakSet()

    @property
    def batch(self) -> int:  # type: ignore[override]
        return self._size.now

    @property
    def first_batch(self) -> int:
        return self.batch if self._is_compiled else min(self.batch, max(FIRST, self.batch // 4))

    @property
    def largest_batch(self) -> int:
        """What ``batch`` may become: a copy on another machine is given as many questions."""
        return self._size.largest

    def _find_batch_size(self, name: LocalName) -> BatchSize:
        """As it is written; else what suits the device: a card shows it by itself."""
        import torch

        if "batch" in name.options or self._is_compiled or not self._is_on_card:
            # Compiled for one size: at 32 a card of 2024 has nearly all that larger ones bring.
            return BatchSize(name.number("batch", 32 if self._is_compiled else 4))
        if not torch.cuda.is_available():  # the cards are elsewhere, and so is what they showed
            return BatchSize(None)
        card = torch.cuda.get_device_name(None if self.device == "split" else self.device)
        return BatchSize(None, f"{self.checkpoint.revision} {self.dtype} {self.max_tokens} {card}")

    def answer_many(self, questions: Sequence[Question]) -> list[Reply]:
        """Answer questions in batches of clips of about one length."""
        stop = threading.Event()
        self._stops.add(stop)
        replies: dict[int, Reply] = {}

        def length(number: int) -> tuple[float, int]:
            audio, instruction = questions[number].audio, questions[number].instruction
            return audio.duration_s if audio else 0.0, len(instruction)

        left = sorted(range(len(questions)), key=length)
        while left:
            kind = self._kind(questions[left[0]])
            part = [one for one in left if self._kind(questions[one]) == kind][: self.batch]
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
        self._network = None
        self._one.release()
        return True

    def _answer(self, questions: Sequence[Question], stop: threading.Event) -> list[Reply] | None:
        """Replies to one batch; None where the memory of the device did not hold it."""
        import torch

        size = len(questions)
        try:
            with self._preparing:
                with self._few_threads():
                    inputs, most, counts = self._prepare(questions)
                size = len(counts)  # a compiled model's batch is filled up
                if not self._has_begun:
                    self._has_begun = True
                    for _ in range(self.lanes - 2):
                        self._preparing.release()
            made = self._device_thread.submit(self._generate, inputs, most, stop).result()
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            if size > 1:
                self._size.ran_out(size)
                words = f"a batch of {size} does not fit into memory; now {self.batch}"
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
            hint = "; it may answer without compile=yes" if self._is_compiled else ""
            raise ModelError(f"{self.name}: {failure_words(error)}{hint}") from error
        replies = [self._told(one, *count) for one, count in zip(made, counts, strict=True)]
        return replies[: len(questions)]

    @contextmanager
    def _few_threads(self) -> Iterator[None]:
        """Once the device is at work, a quarter of them: with all cores a batch is prepared hardly
        sooner, and the thread that launches the kernels of the one before waits for a core."""
        import torch

        if self._is_on_card and self._has_begun:
            torch.set_num_threads(max(1, self._threads // 4))
        try:
            yield
        finally:
            if self._is_on_card:
                torch.set_num_threads(self._threads)

    def _prepare(
        self, questions: Sequence[Question]
    ) -> tuple[Any, int, list[tuple[int, int | None]]]:
        """What can be done for a batch while the device has another: tensors in the machine's own
        memory, the most tokens to write, and of each question how many are read and heard."""
        import torch
        from transformers import BatchFeature

        asked = [(one.instruction, samples_of(one)) for one in questions]
        if self._is_compiled:  # for one size: what is too few is filled up
            asked += [asked[-1]] * (self.batch - len(asked))
        inputs = BatchFeature(dict(self.processor.inputs(asked))).to(getattr(torch, self.dtype))
        if self._is_on_card:
            # From pinned memory a card copies by itself.
            inputs.data = {
                key: value.pin_memory() if hasattr(value, "pin_memory") else value
                for key, value in inputs.items()
            }
        text = getattr(self.config, "get_text_config", lambda: self.config)()
        room = getattr(text, "max_position_embeddings", None)
        length = int(inputs["input_ids"].shape[1])
        if room and length >= room:
            words = f"the prompt is {length:,} tokens, and the model reads {room:,}"
            raise ModelError(f"{self.name}: {words}")
        most = min(self.max_tokens, room - length) if room else self.max_tokens
        read: list[int] = inputs["attention_mask"].sum(1).tolist()
        heard: list[int | None] = [None] * len(read)
        if (sound := self.processor.audio_token_id) is not None:
            heard = (inputs["input_ids"] == sound).sum(1).tolist()
        return inputs, most, list(zip(read, heard, strict=True))

    def _generate(self, ready: Any, most: int, stop: threading.Event) -> list[tuple[Any, ...]]:
        """The tokens of each reply, those likeliest in the place of each, and their logarithms."""
        import torch
        from transformers import BatchFeature, StaticCache, StoppingCriteriaList

        likeliest: list[Any] = []

        def keep(_ids: Any, scores: Any) -> Any:
            likeliest.append(torch.log_softmax(scores.float(), -1).topk(self.top))
            return scores

        chosen: dict[str, Any] = {"do_sample": self.temperature > 0}
        chosen |= {"temperature": self.temperature} if self.temperature > 0 else {}
        chosen |= {"logits_processor": [keep], "num_beams": 1} if self.top else {}
        chosen |= {"cache_implementation": "static"} if self._is_compiled else {}
        size, length = ready["input_ids"].shape
        with self._one:
            network = self._loaded()
            copied = {"device": network.device, "non_blocking": self._is_on_card}
            inputs = BatchFeature(dict(ready)).to(**copied)
            if size >= _LARGE and not self._is_compiled and not self.checkpoint.trusted:
                room = -(-(length + most) // _LENGTHS) * _LENGTHS
                chosen["past_key_values"] = StaticCache(network.config, room)
                chosen["disable_compile"] = True
            with torch.inference_mode(), self._measured(network.device, size) as measured:
                made = network.generate(
                    **inputs,
                    **chosen,
                    max_new_tokens=most,
                    eos_token_id=sorted(self._ends),
                    pad_token_id=self.processor.tokenizer.pad_token_id,
                    stopping_criteria=StoppingCriteriaList([lambda *_, **__: stop.is_set()]),
                )
        if stop.is_set():
            raise FatalError(f"{self.name}: was stopped while it wrote")
        rows = getattr(made, "sequences", made)[:, length:].tolist()
        measured(len(rows[0]))
        if not likeliest:
            return [(row, (), ()) for row in rows]
        values, ids = (torch.stack(one, 1).tolist() for one in zip(*likeliest, strict=True))
        return list(zip(rows, ids, values, strict=True))

    @contextmanager
    def _measured(self, device: Any, rows: int) -> Iterator[Callable[[int], None]]:
        """What a batch takes of a card, for the size of the next ones."""
        import torch

        if not self._is_on_card:
            yield lambda _: None
            return
        held, switch_s = torch.cuda.memory_allocated(device), sys.getswitchinterval()
        planned = torch.backends.cuda.cudnn_sdp_enabled()
        torch.cuda.reset_peak_memory_stats(device)
        sys.setswitchinterval(min(switch_s, _SWITCH_S))
        torch.backends.cuda.enable_cudnn_sdp(planned and rows == self.batch >= _LARGE)
        began = time.perf_counter()

        def answered(tokens: int) -> None:
            took_s = time.perf_counter() - began
            room = torch.cuda.get_device_properties(device).total_memory - held
            used = torch.cuda.max_memory_allocated(device) - held
            self._size.answered(rows, rows * tokens / took_s, used / room)

        try:
            yield answered
        finally:
            sys.setswitchinterval(switch_s)
            torch.backends.cuda.enable_cudnn_sdp(planned)

    def _told(self, made: tuple[Any, ...], read: int, heard: int | None) -> Reply:
        row, ids, values = made
        said = list(takewhile(lambda token: token not in self._ends, row))
        has_ended = len(said) < len(row)
        words = self.processor.tokenizer
        text = words.decode(said, skip_special_tokens=True).strip()
        tokens = (
            (words.decode([token]), zip(map(words.decode, likely), own, strict=True))
            for token, likely, own in zip(said, ids, values, strict=False)
        )
        return replace(
            ending_as("stop" if has_ended else "length", text, self.name),
            raw=as_raw(tokens),
            input_tokens=read,
            output_tokens=len(said) + has_ended,
            audio_tokens=heard,
        )

    def _loaded(self) -> Any:
        """The network, on its device; what other models hold there is given back if need be."""
        import torch

        if self._network is None:
            try:
                self._network = self._load()
            except torch.OutOfMemoryError as error:
                others = [one for one in list(_models) if one is not self and one.release()]
                torch.cuda.empty_cache()
                if not others:
                    words = f"its weights do not fit into the memory of {self.device}"
                    raise FatalError(f"{self.name}: {words}; try device=split") from error
                self._network = self._load()
        return self._network

    def _load(self) -> Any:
        import torch

        place = "auto" if self.device == "split" else {"": self.device}
        with checkpoints.loading(self.name, self.checkpoint.folder) as said:
            auto = checkpoints.auto_class(self.name, self.config, self.checkpoint)
            network = auto.from_pretrained(
                self.checkpoint.folder,
                config=self.config,
                dtype=getattr(torch, self.dtype),
                device_map=None if self.device == "cpu" else place,
                trust_remote_code=self.checkpoint.trusted,
                local_files_only=True,
            )
            if self.adapter:
                network.load_adapter(self.adapter, adapter_name=self.adapter.name)
                network.set_adapter(self.adapter.name)
        # What is missing was made up.
        if missing := next((one for one in said if "MISSING" in one), None):
            where = f"{self.name} cannot be loaded from {self.checkpoint.folder}"
            raise FatalError(f"{where} (weights are missing: {' '.join(missing.split())[:200]})")
        # Omni models speak, too: only what thinks writes text.
        network = getattr(network, "thinker", network).eval()
        if self._is_compiled:
            words = f"is compiled for {self.batch} clips at once: its first answers take minutes"
            logging.getLogger("audiocapbench").warning(f"{self.name} {words}")
        settings = network.generation_config
        if self.temperature == 0:
            settings.temperature = settings.top_p = settings.top_k = None
        ends = settings.eos_token_id
        listed = ends if isinstance(ends, list) else [ends]
        self._ends = {*listed, self.processor.tokenizer.eos_token_id} - {None}
        if not self._ends:
            raise FatalError(f"{self.name}: neither model nor tokenizer says how an answer ends")
        torch.manual_seed(self.seed)
        _models.add(self)
        return network


@cache
def _device_thread(device: str) -> ThreadPoolExecutor:
    """CUDA libraries plan their kernels anew, for seconds, in every thread: a device has one."""
    return ThreadPoolExecutor(1, device)


_models: "weakref.WeakSet[LocalModel]" = weakref.WeakSet()


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
    if not is_here and not REMOTE_EXECUTION.get():
        has = "no MPS device" if given == "mps" else f"{cards or 'no'} CUDA devices"
        raise ModelError(f"{name.name}: device is {given}, and this machine has {has}")
    return given


def samples_of(question: Question) -> NDArray[np.float32] | None:
    """A question's clip, as an array that may be written to; None where it has none."""
    return np.frombuffer(question.audio.content, "<f4").copy() if question.audio else None


def local_provider(
    name: str, by: str, model: Callable[..., Any], options: tuple[str, ...], *packages: str
) -> Provider:
    return Provider(
        name,
        f"ORG/NAME or FOLDER: an open-weight model on this machine, by {by}",
        model,
        settings=("temperature", "max_tokens", "system"),
        options=options,
        extra=name,
        packages=("torch", "transformers", *packages),
        price=FREE,
    )


PROVIDER = local_provider("local", "transformers", LocalModel, LocalModel.options, "accelerate")
