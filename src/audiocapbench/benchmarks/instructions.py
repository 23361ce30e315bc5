"""What models are asked, word for word: AudioCapBench (appendix A.3) and MECAT (appendix I)."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from audiocapbench.errors import BenchmarkError

I1, I2 = "i1", "i2"
"""MECAT's tables I.1, for Audio-Flamingo 2 and Kimi-Audio, and I.2, for all other models."""


def instruction_for(category: str, position: int) -> str:
    """The instruction of a sample: two a category, alternated by position in the full benchmark.

    A category that the paper does not have gets the instructions of ``sound``, which ask for
    whatever can be heard.
    """
    prompts = _prompts("audiocapbench")
    choices: list[str] = prompts[category if category in ("music", "speech") else "sound"]
    return choices[position % len(choices)]


def caption_prompt(subtask: str, prompts: str = I2) -> str:
    """The prompt of MECAT that asks for a caption of one kind."""
    if prompts not in (I1, I2):
        raise BenchmarkError(f"MECAT has no prompts {prompts!r}; it has {I1}, {I2}")
    return str(_prompts("mecat")[prompts][subtask])


@cache
def _prompts(benchmark: str) -> dict[str, Any]:
    folder = files("audiocapbench.benchmarks").joinpath("prompts")
    prompts: dict[str, Any] = json.loads(folder.joinpath(f"{benchmark}.json").read_text("utf-8"))
    return prompts
