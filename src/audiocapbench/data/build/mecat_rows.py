"""Rows of MECAT's dataset folders, made from the JSON that stands beside each clip in a shard.

The words that the JSON may use are given, and nothing here reads or writes a file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from audiocapbench.data.build.ledger import BadFieldsError
from audiocapbench.data.problems import Problem
from audiocapbench.data.records import parse_json
from audiocapbench.data.row import Text

MecatPart = Literal["caption", "qa"]

REPOSITORIES: Mapping[MecatPart, str] = {
    "caption": "mispeech/MECAT-Caption",
    "qa": "mispeech/MECAT-QA",
}
NAMES: Mapping[MecatPart, str] = {"caption": "mecat-caption", "qa": "mecat-qa"}

_QUESTION = re.compile(r"(?P<clip>.+)_[0-9a-f]{8}")
_TEXT: TypeAdapter[str] = TypeAdapter(Text)
_TEXTS: TypeAdapter[list[str]] = TypeAdapter(list[Text])


@dataclass(frozen=True, slots=True)
class MecatWords:
    """The words of MECAT.

    Attributes:
        domains: The domains, and how many clips of the test set each has.
        subtasks: The kinds of caption that each clip has.
        categories, difficulties: What a question may be called.
    """

    domains: Mapping[str, int]
    subtasks: tuple[str, ...]
    categories: tuple[str, ...]
    difficulties: tuple[str, ...]

    def expected(self, part: MecatPart, domain: str) -> int:
        """How many rows of a domain the published test set has; five questions a clip."""
        return self.domains[domain] * (5 if part == "qa" else 1)


def clip_of(part: MecatPart, key: str) -> str:
    """The clip that a key is about: questions add eight hexadecimal digits to it."""
    found = _QUESTION.fullmatch(key) if part == "qa" else None
    return found["clip"] if found else key


def fields_of(content: bytes, key: str) -> dict[str, Any]:
    """The JSON object beside a clip, with or without its key around it.

    Raises:
        BadFieldsError: It is not a JSON object.
    """
    value = parse_json(content, key)
    if isinstance(value, Problem):
        raise BadFieldsError(f"its JSON {value.what.replace('is not JSON', 'cannot be read')}")
    if isinstance(value, dict) and list(value) == [key]:
        value = value[key]
    if not isinstance(value, dict):
        raise BadFieldsError("its JSON is not an object")
    return value


def domain_of(fields: Mapping[str, Any], words: MecatWords) -> str:
    """The domain that the JSON names.

    Raises:
        BadFieldsError: It names none that there is.
    """
    return _one_of(fields, "domain", tuple(words.domains))


def row_of(
    part: MecatPart, key: str, fields: Mapping[str, Any], words: MecatWords, suffix: str
) -> dict[str, Any]:
    """A row of the metadata; the place in the benchmark is added later.

    Raises:
        BadFieldsError: A field is missing or is not what it should be.
    """
    domain = domain_of(fields, words)
    row: dict[str, Any] = {
        "file_name": f"{domain}/{clip_of(part, key)}{suffix}",
        "id": key,
        "category": domain,
        "source": REPOSITORIES[part],
    }
    if part == "caption":
        captions = {subtask: _texts(fields, subtask) for subtask in words.subtasks}
        row |= {"references": captions["long"], "captions": captions}
    else:
        question = _text(fields, "question")
        row |= {
            "references": [_text(fields, "answer")],
            "instruction": question,
            "question": question,
            "clip": clip_of(part, key),
            "qa_category": _one_of(fields, "category", words.categories),
            "difficulty": _one_of(fields, "difficulty", words.difficulties),
        }
    return row | {"domain": domain}


def _text(fields: Mapping[str, Any], name: str) -> str:
    return str(_checked(_TEXT, fields, name))


def _texts(fields: Mapping[str, Any], name: str) -> list[str]:
    found: list[str] = _checked(_TEXTS, fields, name)
    if not found:
        raise BadFieldsError(f"its {name!r} has no caption")
    return found


def _one_of(fields: Mapping[str, Any], name: str, known: tuple[str, ...]) -> str:
    value = _text(fields, name)
    if value not in known:
        raise BadFieldsError(f"its {name} is {value[:40]!r}, not one of {', '.join(known)}")
    return value


def _checked(adapter: TypeAdapter[Any], fields: Mapping[str, Any], name: str) -> Any:
    if name not in fields:
        raise BadFieldsError(f"its JSON has no {name!r}")
    try:
        return adapter.validate_python(fields[name], strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = str(first.get("ctx", {}).get("error", first["msg"]))
        raise BadFieldsError(f"its {name!r} cannot be used ({what})") from None
