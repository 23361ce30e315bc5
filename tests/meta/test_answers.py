"""The parser of free-text answers: agreement with people's reading, and no answer breaks it."""

import functools
import json
import re
import string
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from audiocapbench.meta.answers.marks import Labels
from audiocapbench.meta.answers.parser import LONGEST, read_answer
from audiocapbench.meta.scorers.scorer import Choice

LETTERS = Labels("A", "B", "C")
FROM_ZERO = Labels("0", "1")
DOG = "A dog barks twice near a car."
RAIN = "Rain falls on a tin roof while thunder rolls."


def labelled() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        Path(__file__).with_name("pairwise_labels.json").read_text("utf-8")
    )
    return found


read_once = functools.cache(read_answer)
"""For labelled answers, which several tests read."""


@functools.cache
def labelled_answers(name: str) -> list[dict[str, Any]]:
    """Answers of our own phrasing; those of ``answers_held`` were written before the rules."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def readings(name: str) -> list[tuple[dict[str, Any], Choice]]:
    found = []
    for one in labelled_answers(name):
        first, second = one.get("captions", (DOG, RAIN))
        labels = FROM_ZERO if one.get("from_zero") else LETTERS
        labels = Labels(*one["labels"]) if "labels" in one else labels
        found.append((one, read_once(one["answer"], first, second, labels)))
    return found


def test_a_third_of_the_labelled_answers_is_held_apart() -> None:
    ours, held = labelled_answers("answers.jsonl"), labelled_answers("answers_held.jsonl")
    assert len(ours) + len(held) >= 400
    assert len(held) >= 150
    assert not {one["answer"] for one in ours} & {
        one["answer"] for one in held if len(one["answer"]) > 40
    }


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("answers.jsonl", 0.55),
        ("answers_held.jsonl", 0.8),
        ("answers_adverse.jsonl", 0.4),
        ("answers_adverse_held.jsonl", 0.6),
        ("answers_shapes.jsonl", 0.4),
        ("answers_shapes_held.jsonl", 0.5),
        ("answers_turns.jsonl", 0.05),
        ("answers_fresh_held.jsonl", 0.4),
        ("answers_blind_held.jsonl", 0.5),
    ],
)
def test_what_is_certain_is_right_and_the_rest_is_left_to_a_reader(name: str, least: float) -> None:
    found = readings(name)
    certain = [(one, own.name.lower()) for one, own in found if own is not Choice.UNKNOWN]
    wrong = [(one["answer"], choice) for one, choice in certain if choice != one["choice"]]
    assert len(wrong) <= 0.01 * len(certain), wrong
    opposite = [
        one["answer"] for one, choice in certain if {choice, one["choice"]} == {"first", "second"}
    ]
    assert not opposite
    meant = [own for one, own in found if one["choice"] != "unknown"]
    assert sum(own is not Choice.UNKNOWN for own in meant) >= least * len(meant)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("answers_shapes.jsonl", 0.95),
        ("answers_shapes_held.jsonl", 0.95),
        ("answers_prose.jsonl", 0.9),
        ("answers_prose_held.jsonl", 0.85),
        ("answers_blind_held.jsonl", 0.85),
    ],
)
def test_ordinary_answers_are_certain_and_misleading_ones_mislead_nobody(
    name: str, least: float
) -> None:
    found = readings(name)
    said = [(one, own) for one, own in found if one["kind"] == "ordinary"]
    ordinary = [own is not Choice.UNKNOWN for one, own in said if one["choice"] != "unknown"]
    assert sum(ordinary) >= least * len(ordinary)
    certain = [(one, own) for one, own in found if own is not Choice.UNKNOWN]
    assert not [one["answer"] for one, own in certain if own.name.lower() != one["choice"]]
    assert sum(one["kind"] == "misleading" for one, _ in certain) <= 0.05 * len(found)


def test_the_labels_hold_two_hundred_answers_and_no_text() -> None:
    labels = labelled()
    assert Counter(one["file"] for one in labels) == {"GAMA": 100, "LTU": 100}
    assert len({(one["file"], one["index"]) for one in labels}) == 200
    assert {frozenset(one) for one in labels} == {frozenset({"file", "index", "label"})}


@pytest.mark.parametrize(("model", "least"), [("GAMA", 0.98), ("LTU", 0.72)])
def test_real_answers_are_certain_or_left_to_a_reader(
    shared: Path, model: str, least: float
) -> None:
    path = shared / "brace" / f"res_AudioCaps_Main_v0_{model}.json"
    rows = json.loads(path.read_text("utf-8"))
    found = [
        (one["label"], read_answer(row["output"], row["caption_0"], row["caption_1"], FROM_ZERO))
        for one in labelled()
        if one["file"] == model
        for row in [rows[one["index"]]]
    ]
    certain = [(label, own.name.lower()) for label, own in found if own is not Choice.UNKNOWN]
    assert len(certain) >= least * len(found)
    assert all(label == choice for label, choice in certain)


_MIRROR = {"A": "B", "B": "A"}


def test_an_answer_with_the_names_exchanged_chooses_the_other_caption() -> None:
    for one in labelled_answers("answers.jsonl"):
        text = one["answer"]
        if one["kind"] not in ("letter", "negation", "comparative") or re.search("first|sec", text):
            continue
        other = re.sub(r"\b[AB]\b", lambda found: _MIRROR[found[0]], text)
        here, there = (read_once(each, DOG, RAIN, LETTERS) for each in (text, other))
        if Choice.UNKNOWN not in (here, there):
            assert here is there.swapped, text


@pytest.mark.parametrize(
    ("answer", "choice"),
    [
        ("A", Choice.FIRST),
        ("B.", Choice.SECOND),
        ("(b)", Choice.SECOND),
        ("**A**", Choice.FIRST),
        ("C", Choice.TIE),
        ("Option C", Choice.TIE),
        ("I choose C.", Choice.TIE),
        ("Answer: B", Choice.SECOND),
        ('{"answer": "A"}', Choice.FIRST),
        ("B) Caption B fits better.", Choice.SECOND),
        ("C) They fit equally well.", Choice.TIE),
        ("Caption 1", Choice.FIRST),
        ("Caption 2", Choice.SECOND),
        ("the first", Choice.FIRST),
        ("The latter.", Choice.SECOND),
        ("Both", Choice.TIE),
        ("neither", Choice.TIE),
        ("It's a tie.", Choice.TIE),
        ("A is better than B.", Choice.FIRST),
        ("B is worse than A", Choice.FIRST),
        ("The second caption is less accurate than the first.", Choice.FIRST),
        ("I would choose option A over option B.", Choice.FIRST),
        ("Not the first but the second.", Choice.SECOND),
        ("The first caption does not match the audio.", Choice.SECOND),
        ("Neither caption is better than the other.", Choice.TIE),
        ("Both describe it, but B is inaccurate.", Choice.FIRST),
        ("B\nCaption A is more detailed but wrong.", Choice.SECOND),
        ("I'd go with B, since A mentions a car that cannot be heard.", Choice.SECOND),
        ("“Rain falls on a tin roof while thunder rolls” fits best.", Choice.SECOND),
        ("It is not possible to determine which caption is better.", Choice.UNKNOWN),
        ("I cannot hear the audio.", Choice.UNKNOWN),
        ("A dog barks in the rain on a roof, with a car and thunder.", Choice.UNKNOWN),
        ("A train passes.", Choice.UNKNOWN),
        ("", Choice.UNKNOWN),
    ],
)
def test_answers_are_read_as_they_are_meant(answer: str, choice: Choice) -> None:
    assert read_answer(answer, DOG, RAIN, LETTERS) is choice


@pytest.mark.parametrize("answer", ["👎 A", "!A", "¬A", "≠ A", "~~A~~", "A?", "A (?)"])
def test_a_label_that_is_crossed_out_or_doubted_by_a_sign_is_no_choice(answer: str) -> None:
    assert read_answer(answer, DOG, RAIN, LETTERS) is Choice.UNKNOWN


@pytest.mark.parametrize(
    "answer",
    [f"(B) {RAIN}", f"Caption B: {RAIN}", f"2) {RAIN}", f"Caption 2: {RAIN}", "```\nB\n```", "`B`"],
)
def test_a_label_with_its_own_caption_or_in_a_fence_is_a_choice(answer: str) -> None:
    assert read_answer(answer, DOG, RAIN, LETTERS) is Choice.SECOND


@pytest.mark.parametrize(
    "answer",
    [
        "I don't think the first caption is better.",
        "Caption A is no better than caption B.",
        "Both are correct. However, the first caption is more specific.",
        "The first is more accurate. Therefore, both captions are equally good.",
        "The caption that describes the barking dog is more accurate.",
        "Rain on a tin roof with thunder.",
        "Both tell of it, but the first one also mentions a car.",
        "The first also mentions a car, which is not present in the clip.",
        "Both describe a noise, but it is more likely to be a dog that barks twice than rain.",
        "Both describe a noise, but it is more likely to be a bell than a siren.",
    ],
)
def test_what_only_a_careful_reader_can_read_is_left_to_one(answer: str) -> None:
    assert read_answer(answer, DOG, RAIN, LETTERS) is Choice.UNKNOWN


@pytest.mark.parametrize(
    ("answer", "choice"),
    [
        ("caption_0", Choice.FIRST),
        ("caption_1", Choice.SECOND),
        ("1", Choice.SECOND),
        ("caption_0 is better than caption_1", Choice.FIRST),
        ("The caption_1 better matches the audio.", Choice.SECOND),
        ("Caption 2 is better than caption 1.", Choice.SECOND),
        ("The best match is [caption_0: A dog barks].", Choice.FIRST),
    ],
)
def test_captions_are_counted_as_the_prompt_or_else_the_answer_counts(
    answer: str, choice: Choice
) -> None:
    assert read_answer(answer, DOG, RAIN, FROM_ZERO) is choice


def test_a_letter_that_stands_for_nothing_in_the_prompt_is_no_tie() -> None:
    assert read_answer("C", DOG, RAIN, Labels("A", "B")) is Choice.UNKNOWN


def test_the_words_of_a_quoted_caption_win_over_a_wrong_number_before_them() -> None:
    answer = f'The first caption, "{RAIN}", better matches the audio.'
    assert read_answer(answer, DOG, RAIN, LETTERS) is Choice.SECOND


def test_a_caption_with_the_words_of_a_verdict_does_not_choose_itself() -> None:
    trap = "Caption A is better than Caption B."
    assert read_answer(f'"{DOG}" is more accurate than "{trap}"', trap, DOG, LETTERS) is (
        Choice.SECOND
    )


def test_equal_captions_cannot_be_told_apart_by_their_words() -> None:
    assert read_answer(f'"{DOG}" is better.', DOG, DOG, LETTERS) is Choice.UNKNOWN


_PIECES = st.sampled_from(
    ["first caption ", "the second ", "both captions ", "is better", "'", '"', "[", "caption_0",
     " than ", ". ", "\n", "not ", "\ue000", "A", "B ", "which one ", "\0", "🙂", "as it ", "so "]
)  # fmt: skip


@given(st.text() | st.lists(_PIECES).map("".join), st.text(), st.text())
@example("\ue000\ue001 better", "", "")
@example("'" * 50, "'", '"')
@settings(max_examples=200)
def test_no_answer_and_no_caption_breaks_the_parser(answer: str, first: str, second: str) -> None:
    for labels in (LETTERS, FROM_ZERO):
        assert read_answer(answer, first, second, labels) in Choice


@given(st.text(alphabet=string.ascii_letters + " .,", max_size=200))
def test_reading_is_a_function_of_its_input(answer: str) -> None:
    assert read_answer(answer, DOG, RAIN) == read_answer(answer, DOG, RAIN)


@pytest.mark.parametrize("piece", ["'a ", '"a', "[a", "which one ", "not ", "than the ", "B, "])
def test_answers_of_a_hundred_thousand_characters_are_read(piece: str) -> None:
    # Of so long an answer the ends are read: of each, a third is odd.
    odd = piece * (LONGEST // 6 // len(piece))
    answer = odd + "It is so. " * ((100_000 - 2 * len(odd)) // 10 + 1) + odd
    assert len(answer) >= 100_000
    assert read_answer(answer, DOG, RAIN) in Choice


def test_of_a_very_long_answer_only_the_ends_are_read() -> None:
    filler = "Let me think. " * (LONGEST // 14)
    buried = f"{filler}The second caption is better. {filler}"
    assert read_answer(buried, DOG, RAIN) is Choice.UNKNOWN


def test_a_choice_at_the_end_of_a_very_long_answer_is_found() -> None:
    answer = "Let me think. " * 10_000 + "Therefore, the second caption is better."
    assert read_answer(answer, DOG, RAIN) is Choice.SECOND
