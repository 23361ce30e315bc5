"""Thoughts in a model's answer are no caption, and neither is what nobody can see."""

from collections.abc import Callable
from pathlib import Path

import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine import run_benchmark
from audiocapbench.models import AudioContract, Model, Question
from audiocapbench.models.registry import PublishedModel
from audiocapbench.store import Store
from folders import write_folder


class Saying:
    """Says one thing about every clip."""

    name = "saying"
    contract = AudioContract("wav")
    cacheable = True
    concurrency = 1

    def __init__(self, text: str, status: Status = Status.OK) -> None:
        self.reply = Reply(text, status)
        self.parameters = {"text": repr(text)}

    async def answer(self, question: Question) -> Reply:
        return self.reply


@pytest.fixture
def kept(tmp_path: Path, store: Store) -> Callable[[Model], Reply]:
    (tmp_path / "tones").mkdir()
    tones = open_benchmark(str(write_folder(tmp_path / "tones", 1)))

    def asked(model: Model) -> Reply:
        run = run_benchmark(tones, model, store).run
        return store.outcomes(run.id)["tone_0"].reply

    return asked


@pytest.mark.parametrize(
    "text",
    [
        "<think>A cat? No.</think>\n\nA dog barks.",
        "A cat? No.</think> A dog barks.",
        "<thinking>A cat?</thinking><think>No.</think>A dog barks.",
        "[THINK]A cat?[/THINK]A dog barks.",
    ],
)
def test_thoughts_are_no_part_of_a_caption_and_stay_to_be_looked_into(
    kept: Callable[[Model], Reply], text: str
) -> None:
    reply = kept(Saying(text))
    assert (reply.text, reply.status, reply.raw) == ("A dog barks.", Status.OK, text)


@pytest.mark.parametrize("status", [Status.OK, Status.TRUNCATED])
def test_an_answer_that_ends_within_its_thoughts_is_truncated(
    kept: Callable[[Model], Reply], status: Status
) -> None:
    reply = kept(Saying("<think>A dog, or", status))
    assert (reply.text, reply.status) == ("", Status.TRUNCATED)
    assert "within its thoughts" in str(reply.error)


def test_the_published_protocol_takes_answers_as_they_are(kept: Callable[[Model], Reply]) -> None:
    text = "<think>A cat? No.</think> A dog barks."
    assert kept(PublishedModel(Saying(text))).text == text


@pytest.mark.parametrize(
    "text",
    ["\u200b\u200d", "\ufeff", "\u2060\u00ad \n", "\u3164", "\ufe0f", "<think>x</think>\u200b"],
)
def test_a_caption_that_nobody_can_see_is_empty(kept: Callable[[Model], Reply], text: str) -> None:
    reply = kept(Saying(text))
    assert (reply.text, reply.status) == ("", Status.EMPTY)


@pytest.mark.parametrize("text", ["A dog < a cat.", "犬が吠える", "5 > 4", "🐕"])
def test_what_can_be_seen_is_kept(kept: Callable[[Model], Reply], text: str) -> None:
    assert kept(Saying(text)).text == text
