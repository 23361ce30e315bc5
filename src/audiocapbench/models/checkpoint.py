"""Checkpoints on this machine: how they are named, found and pinned, and how they are asked.

All are asked by their processor's own chat template; ``_Differences`` has the exceptions.
"""

import base64
import hashlib
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench import errors
from audiocapbench.audio import Waveform, wav
from audiocapbench.errors import AudioCapBenchError, FatalError, ModelError
from audiocapbench.plugins import failure_words, require_packages

_NAME = re.compile(r"(?P<target>[^\[\]]+)(?:\[(?P<options>[^\[\]]*)\])?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_WEIGHTS = (".safetensors", ".bin")
_UNUSED = "*.gguf *.onnx onnx/* openvino/* *.h5 *.ot *.msgpack *.pth original/*".split()
_BLOCKS, _BLOCK = 256, 4096
_PROBE = "7f3a what is heard"
_SEEING = {"image_processor", "video_processor"}

Message = dict[str, Any]

_AUTO_CLASSES = "MultimodalLM Seq2SeqLM ImageTextToText CausalLM".split()


class LocalName(NamedTuple):
    """``provider/ORG/NAME[option=value,…]`` or ``provider/FOLDER[…]`` in its parts."""

    name: str
    target: str
    options: Mapping[str, str]

    def choice(self, option: str, *choices: str) -> str:
        """The value of an option that has few; the first is the default."""
        value = self.options.get(option, choices[0])
        if value not in choices:
            raise ModelError(f"{self.name}: {option} is {value!r}; it is {' or '.join(choices)}")
        return value

    def number(self, option: str, default: int) -> int:
        """The value of an option that is a number above 0."""
        value = self.options.get(option, str(default))
        if not re.fullmatch(r"[1-9]\d{0,8}", value):
            raise ModelError(f"{self.name}: {option} is {value!r}; it is a whole number above 0")
        return int(value)


class Checkpoint(NamedTuple):
    """A folder of weights; code that comes with them may run where they are trusted."""

    folder: Path
    revision: str  # the hub's commit, or a hash of what the folder holds
    trusted: bool


def parse_name(name: str, known: tuple[str, ...]) -> LocalName:
    """Read the name of a model on this machine, with options of those that are known."""
    provider, _, rest = name.partition("/")
    found = _NAME.fullmatch(rest)
    if found is None:
        example = f"{provider}/Qwen/Qwen2-Audio-7B-Instruct[batch=8]"
        raise ModelError(f"{name!r} is not {provider}/ORG/NAME[option=value]; write {example}")
    options = errors.read_options(name, found["options"], ModelError)
    errors.check_options(name, options, known, ModelError)
    return LocalName(name, found["target"], options)


def find_checkpoint(name: LocalName) -> Checkpoint:
    """Where the weights are, all of them; nothing is downloaded unless the name says so."""
    trusted = name.choice("code", "refuse", "trust") == "trust"
    try:
        folder = Path(name.target).expanduser()
        is_folder = folder.is_dir()
    except (OSError, RuntimeError) as error:  # nobody's home, or a name that no disk takes
        raise ModelError(f"{name.name[:200]}: is no folder's name ({str(error)[:80]})") from None
    if is_folder:
        if "revision" in name.options:
            raise ModelError(f"{name.name}: a folder has no revision; its files are hashed")
        _check_whole(name, folder)
        return Checkpoint(folder, f"sha256:{folder_digest(folder)}", trusted)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name.target):
        raise ModelError(f"{name.name}: there is no folder {name.target!r}, nor is that ORG/NAME")
    if trusted and not _COMMIT.fullmatch(name.options.get("revision", "")):
        raise ModelError(
            f"{name.name}: code=trust runs code of strangers; pin what you have read with "
            "revision= and the 40 digits of its commit"
        )
    revision, download = name.options.get("revision"), name.choice("download", "no", "yes") == "yes"
    found = snapshot(name.target, ModelError, revision, download=download)
    if found is None:
        from huggingface_hub.constants import HF_HUB_CACHE

        at = f" at {revision}" if revision else ""
        provider = name.name.partition("/")[0]
        raise ModelError(
            f"{name.target}{at} is not on this machine (looked in {HF_HUB_CACHE}), and nothing is "
            f"downloaded unasked: allow it with {provider}/{name.target}[download=yes], name a "
            f"folder that holds it with {provider}/FOLDER, or ask a server with "
            f"endpoint/{name.target}@http://HOST:8000/v1"
        )
    _check_whole(name, found)
    return Checkpoint(found, found.name, trusted)


def snapshot(
    repository: str, error: type[AudioCapBenchError], revision: str | None = None, *, download: bool
) -> Path | None:
    """The folder of a model's files; None where it is not on disk and may not be fetched."""
    require_packages(error, "The Hugging Face hub", "hub", "huggingface_hub")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(repository, revision=revision, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        if not download:
            return None
    try:
        return Path(snapshot_download(repository, revision=revision, ignore_patterns=_UNUSED))
    except (HfHubHTTPError, LocalEntryNotFoundError, HFValidationError, OSError) as failure:
        said = str(failure).strip().partition("\n")[0]
        to_do = "check its name, the network, HF_ENDPOINT, and HF_TOKEN where it is gated"
        raise error(f"{repository} cannot be downloaded ({said}): {to_do}") from failure


def _check_whole(name: LocalName, folder: Path) -> None:
    """Refuse a folder of which something is missing, before anything is asked."""
    missing = [] if (folder / "config.json").is_file() else ["config.json"]
    if not any(path.suffix in _WEIGHTS for path in folder.iterdir()):
        missing.append("*.safetensors")
    for index in sorted(folder.glob("*.index.json")):
        try:
            shards = set(map(str, json.loads(index.read_bytes())["weight_map"].values()))
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            missing.append(f"what {index.name} lists")
            continue
        missing += sorted(one for one in shards if not (folder / one).is_file())
    if missing:
        few = ", ".join(missing[:3]) + (" and more" if len(missing) > 3 else "")
        again = "fetch it again, on the hub with [download=yes]"
        raise ModelError(f"{name.name}: {few} is missing in {folder}; {again}")


def folder_digest(folder: Path) -> str:
    """A hash of all files: whole where they are small, else their size and blocks all over them.

    Training changes weights everywhere, so that the blocks of two checkpoints differ.
    """
    whole = hashlib.sha256()
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        size = path.stat().st_size
        whole.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        if size <= _BLOCKS * _BLOCK:
            whole.update(path.read_bytes())
            continue
        with path.open("rb") as file:
            for number in range(_BLOCKS):
                file.seek(number * (size - _BLOCK) // (_BLOCKS - 1))
                whole.update(file.read(_BLOCK))
    return whole.hexdigest()


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
    """A checkpoint's processor: conversations in, tensors out, as its model card shows."""

    pad_to: int | None = None  # a multiple that prompts are padded to

    def __init__(self, name: str, checkpoint: Checkpoint, kind: str, system: str | None) -> None:
        with loading(name, checkpoint.folder):
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
        with loading(name, checkpoint.folder):
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
            system = [{"type": "text", "text": self._system}]
            content = [{"type": "text", "text": instruction}]
            if audio is not None and self.own.encoded:
                content.insert(0, {"type": "audio", "base64": self.encoded(audio)})
            elif audio is not None:
                content.insert(0, {"type": "audio", "audio": audio})
        told = [{"role": "system", "content": system}] if self._system else []
        return [*told, {"role": "user", "content": content}]

    def encoded(self, audio: NDArray[np.float32]) -> str:
        return base64.b64encode(wav(Waveform(audio[:, None], self.rate or 0))).decode("ascii")

    def prompt(self, conversation: list[Message]) -> str:
        how = {"tokenize": False, "add_generation_prompt": True}
        return str(self.processor.apply_chat_template(conversation, **how))

    def inputs(self, asked: Sequence[tuple[str, NDArray[np.float32] | None]]) -> Any:
        """Tensors for questions that all have a clip, or all have none."""
        conversations = [self.conversation(*one) for one in asked]
        audio = [one for _, one in asked if one is not None]
        text: dict[str, Any] = {"padding": True, "padding_side": "left"}
        text |= {"pad_to_multiple_of": self.pad_to} if self.pad_to else {}
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
def loading(
    what: str, folder: Path, error: type[AudioCapBenchError] = FatalError
) -> Iterator[list[str]]:
    """Load quietly from a folder, which may fail in any way; what transformers logs is noted."""
    from transformers.utils import logging as theirs

    said, logger = list[str](), logging.getLogger("transformers")
    hearing = logging.Handler()
    hearing.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    shown, handlers = theirs.is_progress_bar_enabled(), logger.handlers
    theirs.disable_progress_bar()
    logger.handlers = [hearing]
    try:
        yield said
    except Exception as failure:
        if isinstance(failure, AudioCapBenchError) or type(failure).__name__ == "OutOfMemoryError":
            raise
        why = f"({failure_words(failure)}): fetch the folder again"
        if "trust_remote_code" in str(failure):
            why = "(it needs code of its own; read that, then write code=trust and its revision)"
        raise error(f"{what} cannot be loaded from {folder} {why}") from failure
    finally:
        logger.handlers = handlers
        if shown:
            theirs.enable_progress_bar()


def load_config(name: str, checkpoint: Checkpoint) -> Any:
    """A checkpoint's configuration, for text out only."""
    import transformers

    with loading(name, checkpoint.folder):
        config = transformers.AutoConfig.from_pretrained(
            checkpoint.folder, trust_remote_code=checkpoint.trusted, local_files_only=True
        )
    if hasattr(config, "enable_audio_output"):
        config.enable_audio_output = False
    return config


def auto_class(name: str, config: Any, checkpoint: Checkpoint) -> Any:
    """What loads a checkpoint as a model that answers with text."""
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
