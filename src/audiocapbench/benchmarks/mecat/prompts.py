"""The captioning prompts of MECAT (paper, appendix I), kept word for word.

Table I.1 is for Audio-Flamingo 2 and Kimi-Audio, table I.2 for all other models. A question of
MECAT-QA is asked alone.
"""

import json
from functools import cache
from importlib.resources import files

from audiocapbench.errors import BenchmarkError

I1, I2 = "i1", "i2"
TABLES = (I1, I2)


def caption_prompt(subtask: str, prompts: str = I2) -> str:
    """The prompt that asks for a caption of one kind.

    Raises:
        BenchmarkError: There is no such table.
    """
    if prompts not in TABLES:
        raise BenchmarkError(f"MECAT has no prompts {prompts!r}; it has {', '.join(TABLES)}")
    return _tables()[prompts][subtask]


@cache
def _tables() -> dict[str, dict[str, str]]:
    text = files("audiocapbench.benchmarks").joinpath("prompts/mecat.json").read_text("utf-8")
    tables: dict[str, dict[str, str]] = json.loads(text)
    return tables
