"""Scorers by name: ``rouge_l``, ``date[encoder=minilm,subtask=speech]``, and lists of them."""

import re
from typing import NamedTuple

from audiocapbench.errors import MetricError

_FAMILIES = ("bleu", "bleu_coco")
"""Names that stand for the four orders of a family."""

_NAME = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<options>[^\[\]]*)\])?")


class ScorerName(NamedTuple):
    """A scorer's name and its options, as written."""

    name: str
    options: dict[str, str]

    def __str__(self) -> str:
        if not self.options:
            return self.name
        return f"{self.name}[{','.join(f'{key}={value}' for key, value in self.options.items())}]"


def split_names(text: str) -> list[str]:
    """Split a list on commas that stand outside brackets, each name written in one way.

    ``bleu`` and ``bleu_coco`` stand for their four orders.

    Raises:
        MetricError: A name makes no sense, or there is none.
    """
    parts = split_list(text)
    if not parts:
        raise MetricError("no metric is named; 'audiocapbench metrics' lists them")
    names: list[str] = []
    for name in (str(parse_name(part)) for part in parts):
        names += [f"{name}_{order}" for order in range(1, 5)] if name in _FAMILIES else [name]
    return list(dict.fromkeys(names))


def split_list(text: str) -> list[str]:
    """The parts of a list that are not blank, split on commas that stand outside brackets."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text) if part.strip()]


def parse_name(text: str, what: str = "a scorer") -> ScorerName:
    """Read one name with its options; ``what`` it names is said where it is none.

    Raises:
        MetricError: It is not written as ``name`` or ``name[option=value,…]``.
    """
    found = _NAME.fullmatch(text.strip())
    if found is None:
        raise MetricError(f"{text!r} is not {what}; write name or name[option=value]")
    options: dict[str, str] = {}
    for part in filter(None, (found["options"] or "").split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise MetricError(f"{text!r}: {part!r} is not an option; write option=value")
        options[key.strip()] = value.strip()
    return ScorerName(found["name"], options)
