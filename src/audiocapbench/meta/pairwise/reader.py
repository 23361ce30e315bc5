"""A small model that reads free-text answers and says one word: 0, 1, tie or unknown.

It decides what the parser could not, or everything where asked to; its work is counted apart.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, Sample
from audiocapbench.judges.quoting import as_data, fill
from audiocapbench.meta.answers.marks import Labels
from audiocapbench.meta.answers.parser import ends_of
from audiocapbench.meta.errors import TrialError
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.pairwise.prompts import document
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.models import Model, ModelSettings, create_model
from audiocapbench.models.model import without_audio
from audiocapbench.models.thoughts import without_thoughts

_OPTION = re.compile(r"(?P<model>.+?)(?:\[read=(?P<read>\w+)\])?", re.DOTALL)
_WORDS = {str(choice.value): choice for choice in Choice}
_LONGEST_ANSWER = 6_000


class AnswerReader(NamedTuple):
    """A model that reads every answer, or only those that the parser cannot; it hears nothing."""

    model: Model
    reads_all: bool = False


def reading_questions(
    unread: Sequence[tuple[CaptionPair, str]], labels: Labels, name: str
) -> Benchmark:
    """What a reader is asked about pairs and the answers to them, of the run of this name."""
    template = "\n".join(document()["reader"])
    samples = []
    for position, (pair, answer) in enumerate(unread):
        instruction = fill(
            template,
            first_label=f"“{labels.first}”",
            second_label=f"“{labels.second}”",
            first=as_data(pair.first),
            second=as_data(pair.second),
            answer=as_data(ends_of(answer, _LONGEST_ANSWER, " … ")),
        )
        clip = Clip(Path(pair.id), pair.id, "0" * 64, 0.0, 0, 1)
        said = (answer or "nothing",)
        samples.append(Sample(pair.id, clip, instruction, said, "reading", position))
    full = f"{TRIAL}reading/{name.removeprefix(TRIAL)}"
    return Benchmark(full, Path(), tuple(samples), kind="trial")


def create_reader(text: str, read: str = "uncertain", timeout: float | None = None) -> AnswerReader:
    """Make the reader of a model's name; ``MODEL[read=all]`` reads everything too."""
    if text.strip() in ("all", "uncertain"):
        raise TrialError(f"--reader names a model: write --reader MODEL --read {text.strip()}")
    found = _OPTION.fullmatch(text.strip())
    if found is None or found["read"] not in (None, "all", "unknown"):
        raise TrialError(f"{text!r} is not a reader; write MODEL, and --read all beside it")
    reads_all = "all" in (found["read"], read)
    model = create_model(found["model"], ModelSettings(timeout=timeout))
    return AnswerReader(without_audio(model), reads_all)


def read_word(reply: str) -> Choice | None:
    """The choice of a reply of one word; None where it is anything else."""
    return _WORDS.get((without_thoughts(reply) or "").strip().strip("\"'“”*`.").strip().casefold())
