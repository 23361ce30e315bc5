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
    """Answers by people and models in many styles and sixteen languages, each written unseen."""
    text = Path(__file__).with_name("answers_likely.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [(one, read_row(one)) for one in rows]


def read_row(row: dict[str, Any]) -> GradedChoice:
    first, second = row["captions"]
    return read_graded(row["answer"], first, second, Labels(*row.get("labels", "AB")))


@pytest.mark.parametrize(("kind", "least"), [("ordinary", 0.95), ("awkward", 0.85)])
def test_deciding_answers_are_read_and_likely_ones_are_right(kind: str, least: float) -> None:
    found = [both for both in graded() if both[0]["kind"] == kind]
    read = [(one, own) for one, own in found if own.grade != "unread"]
    assert len(read) >= least * len(found)
    assert not [one["answer"] for one, own in read if own.choice.name.lower() != one["choice"]]


def test_answers_written_to_mislead_are_not_read_the_other_way_round() -> None:
    found = [both for both in graded() if both[0]["kind"] == "misleading"]
    assert len(found) >= 20
    read = [(one, own) for one, own in found if own.grade != "unread"]
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
        ("Beschriftung 2 trifft es besser als 1.", Choice.SECOND),
        ("比起第一个描述，第二个更准确。", Choice.SECOND),
        ("AよりBの方が正確です。", Choice.SECOND),
        ("B보다 A가 더 정확합니다.", Choice.FIRST),
        ("A is better for cats, B is better for babies.", Choice.UNKNOWN),
        ("A\nB", Choice.UNKNOWN),
        ("B\n\nActually A", Choice.UNKNOWN),
        ("Caption A is better, or so I thought until the baby.", Choice.UNKNOWN),
        ('{"answer": "A", "correct": false}', Choice.UNKNOWN),
        ('{"answer": "A", "negated": true}', Choice.UNKNOWN),
        ("A more accurately describes it than B, which invents a baby.", Choice.FIRST),
        ('"A baby laughs and a woman sings softly" ← this one', Choice.SECOND),
        ("If there is a cat, A is better.", Choice.UNKNOWN),
        ("A is the more convincing fake.", Choice.UNKNOWN),
        ("The audio has a cat.", Choice.UNKNOWN),
        ("A mentions the cat. Still, both captions are equally good.", Choice.UNKNOWN),
        ("A is the better match. B is general, so it is less specific and accurate.", Choice.FIRST),
        ("In the clip a woman is heard with her baby. So B is better.", Choice.SECOND),
        ("At first I leaned towards A, but the song made me change my mind to B.", Choice.SECOND),
        ("Neither is perfect, but if I had to pick, I'd lean slightly towards A.", Choice.FIRST),
        ("| | A | B |\n|---|---|---|\n| Sounds | 4 | 2 |\n| Order | 5 | 3 |", Choice.FIRST),
        ("| | A | B |\n|---|---|---|\n| Sounds | ✗ | ✓ |\n| Style | ✓ | ✓ |", Choice.SECOND),
        ('{"caption_a_score": 2, "caption_b_score": 4}', Choice.SECOND),
        ("A slight issue with A is its length; B's singing is simply false.", Choice.FIRST),
        ("Were it a cat, A would win; it is a baby.", Choice.SECOND),
        ("Meowing is not what can be heard. Somebody sings softly.", Choice.SECOND),
        ("A woman sings softly as her baby laughs.", Choice.SECOND),
        ("Al principio pensé en la segunda, pero el gato me hace elegir la primera.", Choice.FIRST),
        ("The cat mentioned in A is not audible.", Choice.SECOND),
        ("A's cat is not in the recording.", Choice.SECOND),
        ("A? No. B? Yes.", Choice.SECOND),
        ("A's cat isn't the only sound.", Choice.UNKNOWN),
        ("A sounds nicer, but it is B that tells what happens.", Choice.SECOND),
        ("A woman sings softly while her baby laughs and a cat purrs.", Choice.UNKNOWN),
        ("When A is compared with B, it is A that falls short.", Choice.UNKNOWN),
        ("It depends: if a cat is heard, A is better; if a baby is, B is better.", Choice.UNKNOWN),
        ("I wouldn't pick A over B, nor B over A.", Choice.UNKNOWN),
        ("Δεν μπορώ να ακούσω το αρχείο. Ίσως η Α.", Choice.UNKNOWN),
        ("Η Α δεν ταιριάζει: δεν ακούγεται γάτα.", Choice.SECOND),
        ("Και οι δύο λεζάντες είναι εξίσου καλές.", Choice.UNKNOWN),
        ("תיאור A לא נכון.", Choice.SECOND),
        ("קשה להחליט בין A ל-B.", Choice.UNKNOWN),
        ("A ไม่ถูกต้อง", Choice.SECOND),
        ("ไม่แน่ใจว่า A หรือ B", Choice.UNKNOWN),
        ("First place: B\nSecond place: A", Choice.SECOND),
        ("It is too shrill to be a cat.", Choice.SECOND),
        ("I choose A as the caption to throw away.", Choice.UNKNOWN),
        ("I choose A for the bin.", Choice.UNKNOWN),
        ("A is more accurate than nothing, and less accurate than B.", Choice.UNKNOWN),
        ("A is as good a guess as B.", Choice.UNKNOWN),
        ("A more accurately describes what I cannot hear.", Choice.UNKNOWN),
        ("A is better... said nobody who heard the baby.", Choice.UNKNOWN),
        ("A exceeds B in made-up content.", Choice.UNKNOWN),
        ("A rating higher than B's in style is all A gets.", Choice.UNKNOWN),
    ],
)
def test_likely_answers_are_read_as_they_are_meant(answer: str, choice: Choice) -> None:
    assert read_likely(answer, CAT, BABY, Labels()) is choice


@pytest.mark.parametrize("what", ["representation of the audio", "match", "description", "fit"])
def test_an_article_in_small_letters_is_no_caption(what: str) -> None:
    graded = read_graded(f"caption_2 is a better {what}.", CAT, BABY, Labels("1", "2", "tie"))
    assert graded == (Choice.SECOND, "certain")
