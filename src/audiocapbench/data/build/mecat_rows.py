"""Rows of MECAT's dataset folders, made from the JSON that stands beside each clip in a shard.

The words that the JSON may use are given, and nothing here reads or writes a file.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from audiocapbench.data.build.ledger import BadFieldsError
from audiocapbench.data.json_text import parse_json
from audiocapbench.data.problems import Problem
from audiocapbench.data.row import Text

MecatPart = Literal["caption", "qa"]
MecatSplit = Literal["test", "train"]
TEST: Literal["test"] = "test"

REPOSITORIES: Mapping[MecatPart, str] = {
    "caption": "mispeech/MECAT-Caption",
    "qa": "mispeech/MECAT-QA",
}

_T = TypeVar("_T")
_TEXT: TypeAdapter[str] = TypeAdapter(Text)
_TEXTS: TypeAdapter[list[str]] = TypeAdapter(Annotated[list[Text], Field(min_length=1)])


@dataclass(frozen=True, slots=True)
class MecatWords:
    """The words of MECAT: domains and how many clips each has, kinds of captions and questions."""

    domains: Mapping[str, int]
    subtasks: tuple[str, ...]
    categories: tuple[str, ...]
    difficulties: tuple[str, ...]

    def expected(self, part: MecatPart, domain: str) -> int:
        """How many rows of a domain the published test set has; five questions a clip."""
        return self.domains[domain] * (5 if part == "qa" else 1)


def fields_of(content: bytes, key: str) -> dict[str, Any]:
    """The JSON object beside a clip, with or without its key around it."""
    value = parse_json(content, key)
    if isinstance(value, Problem):
        raise BadFieldsError(f"its JSON {value.what.replace('is not JSON', 'cannot be read')}")
    if isinstance(value, dict) and list(value) == [key]:
        value = value[key]
    if not isinstance(value, dict):
        raise BadFieldsError("its JSON is not an object")
    return value


def domain_of(fields: Mapping[str, Any], words: MecatWords) -> str:
    """The domain that the JSON names, if there is such a one."""
    return _one_of(words.domains, fields, "domain")


def row_of(
    part: MecatPart, key: str, fields: Mapping[str, Any], words: MecatWords, suffix: str
) -> dict[str, Any]:
    """A row of the metadata; the place in the benchmark is added later."""
    domain = domain_of(fields, words)
    # The key of a question adds eight hexadecimal digits to the clip's.
    clip = re.sub(r"(?<=.)_[0-9a-f]{8}$", "", key) if part == "qa" else key
    row: dict[str, Any] = {
        "file_name": f"{domain}/{clip}{suffix}",
        "id": key,
        "category": domain,
        "source": REPOSITORIES[part],
    }
    if part == "caption":
        captions = {subtask: _checked(_TEXTS, fields, subtask) for subtask in words.subtasks}
        row |= {"references": captions["long"], "captions": captions}
    else:
        question = _checked(_TEXT, fields, "question")
        row |= {
            "references": [_checked(_TEXT, fields, "answer")],
            "instruction": question,
            "question": question,
            "clip": clip,
            "qa_category": _one_of(words.categories, fields, "category"),
            "difficulty": _one_of(words.difficulties, fields, "difficulty"),
        }
    return row | {"domain": domain}


def _one_of(known: Collection[str], fields: Mapping[str, Any], name: str) -> str:
    value = _checked(_TEXT, fields, name)
    if value not in known:
        raise BadFieldsError(f"its {name} is {value[:40]!r}, not one of {', '.join(known)}")
    return value


def _checked(adapter: TypeAdapter[_T], fields: Mapping[str, Any], name: str) -> _T:
    if name not in fields:
        raise BadFieldsError(f"its JSON has no {name!r}")
    try:
        return adapter.validate_python(fields[name], strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = f"cannot be used ({first.get('ctx', {}).get('error', first['msg'])})"
        what = "has no caption" if first["type"] == "too_short" else what
        raise BadFieldsError(f"its {name!r} {what}") from None
