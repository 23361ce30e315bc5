"""Keys of providers, from the environment or a credentials file; never shown to anyone."""

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from audiocapbench.errors import AudioCapBenchError, ModelError

SECRET_NAMES = (
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "DASHSCOPE_API_KEY",
    "ENDPOINT_API_KEY",
    "HF_TOKEN",
)
HIDDEN = "[secret]"

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.*)")


def load_credentials(path: Path) -> list[str]:
    """Put the KEY=value lines of a file into the environment; what is set already stays.

    Returns:
        Warnings for the user, such as that others can read the file.

    Raises:
        AudioCapBenchError: The file cannot be read, or a line is not KEY=value.
    """
    try:
        text = path.read_text(encoding="utf-8")
        mode = path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise AudioCapBenchError(f"{path}: cannot be read ({reason})") from None
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        found = _LINE.fullmatch(content)
        if found is None:
            raise AudioCapBenchError(f"{path} line {number}: is not KEY=value")
        os.environ.setdefault(found["name"], _unquoted(found["value"]))
    if mode & (stat.S_IRGRP | stat.S_IROTH):
        return [f"{path} can be read by others on this machine; run: chmod 600 {path}"]
    return []


def credential(*names: str) -> str:
    """The first of these variables that is set.

    Raises:
        ModelError: None is set.
    """
    for name in names:
        value = os.environ.get(name, "").strip()
        if value:
            return value
    wanted = " or ".join(names)
    raise ModelError(f"{wanted} is not set; export it, or put it into a file for --credentials")


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """Text without any key that the environment or the caller knows."""
    known = {os.environ.get(name, "").strip() for name in SECRET_NAMES} | set(secrets)
    for secret in sorted(known, key=len, reverse=True):
        if len(secret) >= 8:
            text = text.replace(secret, HIDDEN)
    return text


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.split(" #")[0].rstrip()
