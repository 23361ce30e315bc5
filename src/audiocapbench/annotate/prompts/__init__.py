"""Prompts as data files; ``mecat_merge.txt`` is appendix D of the MECAT paper, word for word."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class PromptFile(NamedTuple):
    """A prompt and what tells it from any other."""

    name: str
    text: str

    @property
    def hash(self) -> str:
        """Changes with every letter."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]


@cache
def prompt(name: str) -> PromptFile:
    """The prompt of a name."""
    path = files("audiocapbench.annotate.prompts").joinpath(f"{name}.txt")
    return PromptFile(name, path.read_text("utf-8").strip())
