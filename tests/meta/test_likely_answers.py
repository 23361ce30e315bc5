"""Answers that the parser is not certain of: how many a balance of their clauses reads, and how."""

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.meta.answers.likely import GradedChoice, read_graded, read_likely
from audiocapbench.meta.answers.marks import Labels
from audiocapbench.meta.scorers.scorer import Choice

CAT = "A cat meows repeatedly"
BABY = "A baby laughs and a woman sings softly"


@functools.cache
def graded() -> list[tuple[dict[str, Any], GradedChoice]]:
    """Answers by people and models in many styles and eleven languages, each written unseen."""
    text = Path(__file__).with_name("answers_likely.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [(one, read_graded(one["answer"], *one["captions"])) for one in rows]


@pytest.mark.parametrize(("kind", "least"), [("ordinary", 0.95), ("awkward", 0.85)])
def test_deciding_answers_are_read_and_likely_ones_are_right(kind: str, least: float) -> None:
    found = [both for both in graded() if both[0]["kind"] == kind]
    read = [(one, own) for one, own in found if own.grade != "unread"]
    assert len(read) >= least * len(found)
    assert not [one["answer"] for one, own in read if own.choice.name.lower() != one["choice"]]


def test_ties_and_refusals_choose_no_caption() -> None:
    undecided = [both for both in graded() if both[0]["kind"] == "undecided"]
    assert len(undecided) >= 50
    chosen = (Choice.FIRST, Choice.SECOND)
    assert not [one["answer"] for one, own in undecided if own.choice in chosen]


@pytest.mark.parametrize(
    ("answer", "choice"),
    [
        ("A: 4/10, B: 9/10", Choice.SECOND),
        ("Caption A gets 0,8 and caption B 0,3", Choice.FIRST),
        ("Errors: A 1, B 4", Choice.UNKNOWN),
        ("A: 5, B: 5", Choice.UNKNOWN),
        ("1. Caption B 2. Caption A", Choice.SECOND),
        ("The one with the cat.", Choice.FIRST),
        ('"A baby laughs and a woman sings" is more faithful.', Choice.SECOND),
        ("I hear a laughing baby, not a cat.", Choice.SECOND),
        ("The second one lacks the cat.", Choice.FIRST),
        ("Beschreibung B passt nicht, A schon eher.", Choice.FIRST),
        ("Je préfère la seconde.", Choice.SECOND),
        ("比起第一个描述，第二个更准确。", Choice.SECOND),
        ("AよりBの方が正確です。", Choice.SECOND),
        ("B보다 A가 더 정확합니다.", Choice.FIRST),
        ("A is better for cats, B is better for babies.", Choice.UNKNOWN),
        ("A\nB", Choice.UNKNOWN),
        ("B\n\nActually A", Choice.UNKNOWN),
        ("Caption A is better, or so I thought until the baby.", Choice.UNKNOWN),
        ('{"answer": "A", "correct": false}', Choice.UNKNOWN),
        ("A more accurately describes it than B, which invents a baby.", Choice.FIRST),
        ('"A baby laughs and a woman sings softly" ← this one', Choice.SECOND),
        ("If there is a cat, A is better.", Choice.UNKNOWN),
        ("A is the more convincing fake.", Choice.UNKNOWN),
        ("The audio has a cat.", Choice.UNKNOWN),
        ("A mentions the cat. Still, both captions are equally good.", Choice.UNKNOWN),
        ("A is the better match. B is general, so it is less specific and accurate.", Choice.FIRST),
    ],
)
def test_likely_answers_are_read_as_they_are_meant(answer: str, choice: Choice) -> None:
    assert read_likely(answer, CAT, BABY, Labels()) is choice
