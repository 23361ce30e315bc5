"""Weights that models on this machine are made of: how they are named, found and pinned."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from audiocapbench.errors import ModelError, did_you_mean

_NAME = re.compile(r"(?P<target>[^\[\]]+)(?:\[(?P<options>[^\[\]]*)\])?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_WEIGHTS = (".safetensors", ".bin")
_UNUSED = ["*.gguf", "*.onnx", "*.h5", "*.msgpack", "*.pth", "original/*"]
_BLOCKS, _BLOCK = 256, 4096


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
    options: dict[str, str] = {}
    for part in filter(None, (found["options"] or "").split(",")):
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in known or not value:
            near = did_you_mean(key, known, "its options are")
            raise ModelError(f"{name}: {part.strip()!r} is no option, written option=value{near}")
        if key in options:
            raise ModelError(f"{name}: {key} is given twice")
        options[key] = value
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
    folder = _snapshot(name)
    _check_whole(name, folder)
    return Checkpoint(folder, folder.name, trusted)


def _snapshot(name: LocalName) -> Path:
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    revision = name.options.get("revision")
    download = name.choice("download", "no", "yes") == "yes"
    try:
        return Path(snapshot_download(name.target, revision=revision, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        if not download:
            at = f" at {revision}" if revision else ""
            provider = name.name.partition("/")[0]
            raise ModelError(
                f"{name.target}{at} is not on this machine (looked in {constants.HF_HUB_CACHE}), "
                f"and nothing is downloaded unasked: allow it with {provider}/{name.target}"
                f"[download=yes], name a folder that holds it with {provider}/FOLDER, or ask a "
                f"server with endpoint/{name.target}@http://HOST:8000/v1"
            ) from None
    try:
        return Path(snapshot_download(name.target, revision=revision, ignore_patterns=_UNUSED))
    except (HfHubHTTPError, LocalEntryNotFoundError, HFValidationError, OSError) as error:
        said = str(error).strip().partition("\n")[0]
        to_do = "check its name, the network, HF_ENDPOINT, and HF_TOKEN where it is gated"
        raise ModelError(f"{name.target} cannot be downloaded ({said}): {to_do}") from error


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
