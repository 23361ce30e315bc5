"""A checkpoint's processor: how an audio-language model of transformers is asked.

One way for all of them: the processor's own chat template, its feature extractor's rate. Where
architectures really differ, ``_Differences`` says how.
"""

import base64
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import signature
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.audio import Waveform, wav
from audiocapbench.errors import AudioCapBenchError, FatalError, ModelError
from audiocapbench.models.checkpoint import Checkpoint
from audiocapbench.plugins import failure_words

_PROBE = "7f3a what is heard"
_SEEING = {"image_processor", "video_processor"}

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
            heard: Message = {"type": "audio", "audio": audio}
            if self.own.encoded:
                clip = wav(Waveform(audio[:, None], self.rate or 0))
                heard = {"type": "audio", "base64": base64.b64encode(clip).decode("ascii")}
            content.insert(0, heard)
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


def _load_processor(checkpoint: Checkpoint, kind: str) -> Any:
    """The processor of a checkpoint; of one that also sees, where torchvision is not installed,
    only what hears and reads."""
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
    made = []
    for part in parts:
        if part in _SEEING:
            made.append(SimpleNamespace(merge_size=1, model_input_names=[]))
            continue
        reads = "tokenizer" in part
        auto = transformers.AutoTokenizer if reads else transformers.AutoFeatureExtractor
        made.append(auto.from_pretrained(checkpoint.folder, **given))
    return hearing.from_args_and_dict(made, said)


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
    """A checkpoint's configuration, for text out only."""
    import transformers

    with loading(name, checkpoint):
        config = transformers.AutoConfig.from_pretrained(
            checkpoint.folder, trust_remote_code=checkpoint.trusted, local_files_only=True
        )
    if hasattr(config, "enable_audio_output"):
        config.enable_audio_output = False
    return config
