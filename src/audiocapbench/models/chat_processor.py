"""A checkpoint's processor: how an audio-language model of transformers is asked.

One way for all of them, by the processor's own chat template; ``_Differences`` has the exceptions.
"""

import base64
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from inspect import signature
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.audio import Waveform, wav
from audiocapbench.errors import AudioCapBenchError, FatalError, ModelError
from audiocapbench.models.checkpoint import Checkpoint
from audiocapbench.plugins import failure_words

_PROBE = "7f3a what is heard"
_SEEING = {"image_processor", "video_processor"}

Message = dict[str, Any]


class _Differences(NamedTuple):
    """What one architecture does otherwise than all others."""

    longest_s: float | None = None  # where its processor cuts clips without saying so anywhere
    encoded: bool = False  # its processor takes audio as an encoded file only
    # The end of a clip sounds otherwise where a longer one is beside it: then only clips of one
    # length make a batch.
    hears_padding: bool = False
    adapter: str = ""  # folder of the weights that it hears with, beside its own


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
        with loading(name, checkpoint):
            self.processor: Any = _load_processor(checkpoint, kind)
        self._name, self._system = name, system
        self.own = _DIFFERENCES.get(kind, _Differences())
        self.tokenizer: Any = getattr(self.processor, "tokenizer", self.processor)
        self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        if self.processor.chat_template is None:
            self.processor.chat_template = self.tokenizer.chat_template
        self._extractor: Any = getattr(self.processor, "audio_processor", None)
        if self._extractor is None:
            self._extractor = getattr(self.processor, "feature_extractor", None)
        self.rate: int | None = getattr(self._extractor, "sampling_rate", None)
        if self._extractor is not None and not self.rate:
            raise ModelError(f"{name}: its feature extractor does not say its sampling rate")
        self._in_parts = self._takes_parts()
        with loading(name, checkpoint):
            self.longest_s = self._longest_s(self.rate) if self.rate else None

    @property
    def audio_token_id(self) -> int | None:
        """The token that stands for a piece of audio, where the processor names one."""
        token = getattr(self.processor, "audio_token", None)
        return None if token is None else int(self.tokenizer.convert_tokens_to_ids(token))

    def conversation(self, instruction: str, audio: NDArray[np.float32] | None) -> list[Message]:
        """What the model is told: the clip first, then the instruction."""
        system: Any
        content: Any
        if not self._in_parts:
            place = getattr(self.processor, "audio_token", "") if audio is not None else ""
            system, content = self._system, f"{place}{instruction}"
        else:
            system, content = [_part("text", self._system)], [_part("text", instruction)]
            if audio is not None and self.own.encoded:
                content.insert(0, {"type": "audio", "base64": self.encoded(audio)})
            elif audio is not None:
                content.insert(0, _part("audio", audio))
        told = [{"role": "system", "content": system}] if self._system else []
        return [*told, {"role": "user", "content": content}]

    def encoded(self, audio: NDArray[np.float32]) -> str:
        """A clip as a WAV file in base64."""
        return base64.b64encode(wav(Waveform(audio[:, None], self.rate or 0))).decode("ascii")

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


def _part(kind: str, value: Any) -> Message:
    return {"type": kind, kind: value}


def _load_processor(checkpoint: Checkpoint, kind: str) -> Any:
    """A checkpoint's processor; where torchvision is missing, only what hears and reads of it."""
    import transformers
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING_NAMES

    given = {"trust_remote_code": checkpoint.trusted, "local_files_only": True}
    named: Any = getattr(transformers, PROCESSOR_MAPPING_NAMES.get(kind) or "", None)
    parts = [] if named is None else named.get_attributes()
    if find_spec("torchvision") is not None or not _SEEING.intersection(parts):
        return transformers.AutoProcessor.from_pretrained(checkpoint.folder, **given)
    unchecked = {"check_argument_for_proper_class": lambda *_: None, "__repr__": object.__repr__}
    hearing: Any = type(named.__name__, (named,), unchecked)
    said, _ = hearing.get_processor_dict(checkpoint.folder, **given)
    loaded: list[Any] = []
    for part in parts:
        if part in _SEEING:
            loaded.append(SimpleNamespace(merge_size=1, model_input_names=[]))
            continue
        reads = "tokenizer" in part
        auto = transformers.AutoTokenizer if reads else transformers.AutoFeatureExtractor
        loaded.append(auto.from_pretrained(checkpoint.folder, **given))
    return hearing.from_args_and_dict(loaded, said)


@contextmanager
def loading(name: str, checkpoint: Checkpoint) -> Iterator[None]:
    """Load quietly; what fails, or weights that are missing and would be made up, is fatal."""
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
    """A checkpoint's configuration, for text out only."""
    import transformers

    with loading(name, checkpoint):
        config = transformers.AutoConfig.from_pretrained(
            checkpoint.folder, trust_remote_code=checkpoint.trusted, local_files_only=True
        )
    if hasattr(config, "enable_audio_output"):
        config.enable_audio_output = False
    return config
