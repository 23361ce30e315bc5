"""What a model thinks before it answers is no answer, however its server spells the thought."""

import pytest

from audiocapbench.errors import ReplyError
from audiocapbench.judges.published import audiocapbench_contract
from audiocapbench.meta.answers.parser import read_answer
from audiocapbench.meta.scorers.prompts import read_word
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.models.replies import without_thoughts

CONTRACT = audiocapbench_contract()
DRAFT = '{"accuracy": 1, "completeness": 1, "hallucination": 1, "reasoning": "A draft."}'
GOOD = DRAFT.replace("1", "8")
SPELLINGS = {
    "think": ("<think>", "</think>"),
    "capitals": ("<THINK>", "</Think >"),
    "thinking": ("<thinking>", "</thinking>"),
    "thought": ("<thought>", "</thought>"),
    "attributes": ('<think budget="10">', "</think>"),
    "reasoning": ("<reasoning>", "</reasoning>"),
    "prefixed": ("<seed:think>", "</seed:think>"),
    "marks": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "triangles": ("◁think▷", "◁/think▷"),
    "channels": ("<|channel|>analysis<|message|>", "<|end|><|channel|>final<|message|>"),
    "square": ("[THINK]", "[/THINK]"),
}


@pytest.mark.parametrize(("begin", "end"), SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("before", ["", "\n ", "Let me see.\n"])
def test_a_draft_in_a_thought_is_no_verdict(begin: str, end: str, before: str) -> None:
    if begin == "[THINK]" and before.strip():
        before = ""
    thought = f"{before}{begin}Perhaps {DRAFT}, or A?{end}"
    assert CONTRACT.parse(f"{thought}\n{GOOD}").scores["accuracy"] == 8
    assert read_answer(f"{thought}\nB", "A dog.", "A cat.") is Choice.SECOND
    assert read_word(f"{thought}\n1") is read_word("1")
    with pytest.raises(ReplyError, match="no JSON object"):
        CONTRACT.parse(thought)
    assert read_answer(thought, "A dog.", "A cat.") is Choice.UNKNOWN
    unclosed = f"{before}{begin}Perhaps {DRAFT}. The answer is A."
    with pytest.raises(ReplyError, match="before its thinking does"):
        CONTRACT.parse(unclosed)
    assert read_answer(unclosed, "A dog.", "A cat.") is Choice.UNKNOWN


def test_several_thoughts_nested_ones_and_one_begun_in_the_prompt_are_left_out() -> None:
    for thought in (
        f"<think>{DRAFT}</think> so <think>{DRAFT}</think>",
        f"<think>{DRAFT}<think>{DRAFT}</think>{DRAFT}</think>",
        f"Perhaps {DRAFT}.\n</think>",
        f"<think>{DRAFT}</thinking>",
    ):
        assert CONTRACT.parse(thought + GOOD).scores["accuracy"] == 8, thought
    with pytest.raises(ReplyError, match="before its thinking does"):
        CONTRACT.parse(f"<think>{DRAFT}</think><think>{GOOD}")


def test_a_tag_that_the_prompt_asks_for_is_part_of_the_reply() -> None:
    reply = "<reasoning>Right.</reasoning><score>8</score>"
    assert without_thoughts(reply, "Write <reasoning>why</reasoning> first.") == reply


def test_a_verdict_that_speaks_of_thinking_is_read() -> None:
    assert CONTRACT.parse(GOOD.replace("A draft", "I think so < or >")).scores["accuracy"] == 8


def test_a_flood_of_tags_costs_one_pass() -> None:
    assert without_thoughts("<think>" * 100_000 + "</think>" * 100_000 + "B") == "B"
    assert without_thoughts("<think" * 200_000) == "<think" * 200_000
