"""The captioning instructions of AudioCapBench (paper, appendix A.3), kept word for word."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


def instruction_for(category: str, position: int) -> str:
    """The instruction of a sample: two a category, alternated by position in the full benchmark.

    A category that the paper does not have gets the instructions of ``sound``, which ask for
    whatever can be heard.
    """
    prompts = _prompts()
    choices: list[str] = prompts[category if category in ("music", "speech") else "sound"]
    return choices[position % len(choices)]


@cache
def _prompts() -> dict[str, Any]:
    text = (
        files("audiocapbench.benchmarks").joinpath("prompts/audiocapbench.json").read_text("utf-8")
    )
    prompts: dict[str, Any] = json.loads(text)
    return prompts
