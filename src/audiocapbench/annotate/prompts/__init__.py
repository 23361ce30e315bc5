"""Prompts as data files; ``mecat_merge.txt`` is appendix D of the MECAT paper, word for word."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class PromptFile(NamedTuple):
    """A prompt, and a hash that changes with every letter."""

    text: str
    hash: str


@cache
def prompt(name: str) -> PromptFile:
    """The prompt of a name."""
    text = files("audiocapbench.annotate.prompts").joinpath(f"{name}.txt").read_text("utf-8")
    return PromptFile(text.strip(), hashlib.sha256(text.strip().encode()).hexdigest()[:12])
