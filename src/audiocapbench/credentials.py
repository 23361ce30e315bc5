"""Keys of providers, from the environment or a credentials file; never shown to anyone.

Replies and error texts of providers are kept without keys and without the audio they may echo.
"""

import base64
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Set
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from audiocapbench.errors import AudioCapBenchError, ModelError
from audiocapbench.files import storable

HIDDEN = "[secret]"
LONGEST_ERROR = 300
"""Characters of a provider's message that people get to see."""

_asked_for: set[str] = set()

_LONG, _SHORT = 8, 4
# Behind these even a word is a key.
_PLACE = (
    r"((?i:bearer|basic|key|token|secret|password|provided|authorization)"
    r"""["']?\s?[=:]?\s?["']?|://|:(?=[^/\s]*@))"""
)

_SECRET = re.compile(r".+_API_KEY|HF_TOKEN")
_ENCODED = re.compile(r"(?:data:[\w/+.;=-]*,)?[A-Za-z0-9+/_-]{200,}={0,2}")
_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.*)")


def load_credentials(path: Path) -> list[str]:
    """Put the KEY=value lines of a file into the environment; what is set already stays.
    Returns warnings for the user, such as that others can read the file."""
    try:
        text = path.read_text(encoding="utf-8")
        mode = path.stat().st_mode
        if "\0" in text:
            raise ValueError
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text in UTF-8"
        raise AudioCapBenchError(f"{path}: cannot be read ({reason})") from None
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        found = _LINE.fullmatch(content)
        if found is None:
            raise AudioCapBenchError(f"{path} line {number}: is not KEY=value")
        value = found["value"].strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        else:
            value = value.split(" #")[0].rstrip()
        os.environ.setdefault(found["name"], value)
    if mode & (stat.S_IRGRP | stat.S_IROTH):
        return [f"{path} can be read by others on this machine; run: chmod 600 {path}"]
    return []


def credential(*names: str) -> str:
    """The first of these variables that is set; its value is hidden wherever text is kept."""
    _asked_for.update(names)
    for name in names:
        if value := os.environ.get(name, "").strip():
            return value
    wanted = " or ".join(names)
    raise ModelError(f"{wanted} is not set; export it, or, in a command, name a --credentials file")


def known_secrets() -> set[str]:
    """Values of all variables that are named like a key, or that were asked for as one."""
    names = {*filter(_SECRET.fullmatch, os.environ), *_asked_for}
    return {os.environ.get(name, "").strip() for name in names}


def without_query(address: str) -> str:
    """An address, or a name with one, without the places where secrets stand in addresses."""
    return re.sub(r"//[^/?#]*@", "//", re.split(r"[?#]", address, maxsplit=1)[0])


def redacted(text: str) -> str:
    return without(text, known_secrets())


def without(text: str, secrets: Iterable[str]) -> str:
    """Text in which these secrets are hidden, however a URL, JSON or base64 writes them.

    A short one is hidden where it stands alone; one that may be a word, such as ``none``, only
    behind a word for keys or in an address.
    """
    for pattern, shown in _hiding(frozenset(secret for secret in secrets if secret)):
        text = pattern.sub(shown, text)
    return text


@lru_cache(maxsize=64)
def _hiding(secrets: frozenset[str]) -> list[tuple[re.Pattern[str], str]]:
    """Patterns of what is hidden, each with what is shown in its place."""
    whole, alone, words = set[str](), set[str](), set[str]()
    for secret in secrets:
        forms = {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
        if len(secret) >= _LONG:
            whole |= forms | set(_in_base64(secret))
        else:
            (words if len(secret) < _SHORT or secret.isalpha() else alone).update(forms)
    bounded = r"(?<![A-Za-z0-9])(?:{})(?![A-Za-z0-9])"
    return [
        (re.compile(pattern.replace("{}", "|".join(map(re.escape, longest_first)))), shown)
        for forms, pattern, shown in (
            (whole, "{}", HIDDEN),
            (alone, bounded, HIDDEN),
            (words, _PLACE + bounded, rf"\1{HIDDEN}"),
        )
        if (longest_first := sorted(forms, key=len, reverse=True))
    ]


def _in_base64(secret: str) -> Iterator[str]:
    """The letters that stand for a secret at any of the three places that it can begin at."""
    for before in range(3):
        data = b"\0" * before + secret.encode("utf-8", "surrogatepass")
        first, last = -(-before * 8 // 6), len(data) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(data).decode("ascii")[first:last]


def short(text: str, secrets: Iterable[str] = ()) -> str:
    """A provider's message on one line: no key, no audio that it echoes, not too long."""
    line = " ".join(storable(_scrubbed(text, known_secrets() | set(secrets))).split())
    return line if len(line) <= LONGEST_ERROR else line[: LONGEST_ERROR - 1] + "…"


def raw_json(reply: Any, secrets: Iterable[str] = ()) -> str:
    """A reply as compact JSON in ASCII, which every database keeps, without keys and audio."""
    return json.dumps(_scrubbed(reply, known_secrets() | set(secrets)), separators=(",", ":"))


def _scrubbed(value: Any, secrets: Set[str]) -> Any:
    match value:
        case str():
            return _ENCODED.sub("[data]", without(value, secrets))
        case list():
            return [_scrubbed(one, secrets) for one in value]
        case dict():
            return {key: _scrubbed(one, secrets) for key, one in value.items()}
        case _:
            return value
