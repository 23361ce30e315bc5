"""MECAT's prompts: word for word, and the table that a name asks for."""

import re

import pytest

from audiocapbench.benchmarks.mecat.dataset import caption_prompt
from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.errors import BenchmarkError
from needs import needs_shared


def test_every_prompt_stands_in_the_paper_word_for_word() -> None:
    (paper,) = needs_shared(papers=True).glob("004*.txt")
    text = paper.read_text(encoding="utf-8")
    for table, name in (("i1", "Table I.1. Prompts"), ("i2", "Table I.2. Prompts")):
        printed = text[text.index(name) :].splitlines()[:10]
        rows = [re.split(r"\t", line) for line in printed if line.count("\t") == 2]
        found = {row[1].lower(): row[2] for row in rows[1:]}
        assert found == {subtask: caption_prompt(subtask, table) for subtask in SUBTASKS}


def test_the_two_tables_differ_everywhere() -> None:
    for subtask in SUBTASKS:
        assert caption_prompt(subtask) == caption_prompt(subtask, "i2")
        assert caption_prompt(subtask, "i1") != caption_prompt(subtask, "i2")


def test_a_table_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BenchmarkError, match="no prompts 'i3'; there are i1, i2"):
        caption_prompt("long", "i3")
