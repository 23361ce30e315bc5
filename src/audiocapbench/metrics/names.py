"""Scorers by name: ``rouge_l``, ``date[encoder=minilm,subtask=speech]``, and lists of them."""

import re
from typing import NamedTuple

from audiocapbench.errors import MetricError, read_options

_FAMILIES = ("bleu", "bleu_coco")  # names that stand for the four orders of a family
_NAME = re.compile(r"(?P<name>[\w.-]+|[^\[\],]+\.py:\w+)(?:\[(?P<options>[^\[\]]*)\])?")


class ScorerName(NamedTuple):
    """A scorer's name and its options, as written."""

    name: str
    options: dict[str, str]

    def __str__(self) -> str:
        if not self.options:
            return self.name
        return f"{self.name}[{','.join(f'{key}={value}' for key, value in self.options.items())}]"


def split_names(text: str) -> list[str]:
    """The names of a list, each written in one way; a family stands for its four orders."""
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
    """Read ``name`` or ``name[option=value,…]``; MetricError says where it is not ``what``."""
    match = _NAME.fullmatch(text.strip())
    if match is None:
        raise MetricError(f"{text!r} is not {what}; write name or name[option=value]")
    return ScorerName(match["name"], read_options(text, match["options"], MetricError))
