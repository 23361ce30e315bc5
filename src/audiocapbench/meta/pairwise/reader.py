"""A small model that reads free-text answers and says one word: 0, 1, tie or unknown.

It decides what the parser could not, or everything where asked to; its work is counted apart.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, Sample
from audiocapbench.judges.quoting import as_data, fill
from audiocapbench.meta.answers.marks import Labels
from audiocapbench.meta.errors import TrialError
from audiocapbench.meta.pairwise.prompts import document
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.models import Model, create_model
from audiocapbench.models.model import without_audio

_OPTION = re.compile(r"(?P<model>.+?)(?:\[read=(?P<read>\w+)\])?", re.DOTALL)
_WORDS = {
    "0": Choice.FIRST,
    "1": Choice.SECOND,
    "tie": Choice.TIE,
    "unknown": Choice.UNKNOWN,
}
_LONGEST_ANSWER = 6_000


class UnreadAnswer(NamedTuple):
    """An answer to be read: its sample, what it says and what it was asked about."""

    id: str
    answer: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """A model that reads answers.

    Attributes:
        model: Who is asked; it is sent no audio.
        reads_all: Whether it reads every answer, or only those that the parser cannot.
    """

    model: Model
    reads_all: bool = False

    def questions(self, unread: Sequence[UnreadAnswer], labels: Labels, name: str) -> Benchmark:
        """What it is asked about the answers of the run of this name."""
        template = "\n".join(document()["reader"])
        samples = tuple(
            Sample(
                id=one.id,
                clip=Clip(Path(one.id), one.id, "0" * 64, 0.0, 0, 1),
                instruction=fill(
                    template,
                    first_label=f"“{labels.first}”",
                    second_label=f"“{labels.second}”",
                    first=as_data(one.first),
                    second=as_data(one.second),
                    answer=as_data(_ends(one.answer)),
                ),
                references=(one.answer or "nothing",),
                category="reading",
                position=position,
            )
            for position, one in enumerate(unread)
        )
        return Benchmark(
            f"{TRIAL}reading/{name.removeprefix(TRIAL)}", Path(), samples, kind="trial"
        )


def create_reader(text: str) -> AnswerReader:
    """Make the reader that ``MODEL`` or ``MODEL[read=all]`` stands for.

    Raises:
        TrialError: The option is not understood.
        ModelError: There is no such model.
    """
    found = _OPTION.fullmatch(text.strip())
    if found is None or found["read"] not in (None, "all", "unknown"):
        raise TrialError(f"{text!r} is not a reader; write MODEL or MODEL[read=all]")
    return AnswerReader(without_audio(create_model(found["model"])), found["read"] == "all")


def read_word(reply: str) -> Choice | None:
    """The choice of a reply of one word; None where it is anything else."""
    return _WORDS.get(reply.strip().strip("\"'“”*`.").strip().casefold())


def _ends(answer: str) -> str:
    if len(answer) <= _LONGEST_ANSWER:
        return answer
    half = _LONGEST_ANSWER // 2
    return f"{answer[:half]} … {answer[-half:]}"
