"""Promises of the Porter stemmer."""

import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiocapbench.metrics.porter import stem
from needs import needs

nltk_porter = needs("nltk.stem.porter")

ENDINGS = (
    "ed ing y ies ied eed s sses ss at bl iz ational tional enci izer alli entli eli ousli "
    "ization ation ator fulness aliti iviti biliti fulli logi icate ative alize iciti ical ful "
    "ness ance ement ment ent ion sion tion ou ism ize e ll *ding"
)
SUFFIXES = ENDINGS.split()


def assert_stems_as_nltk(words: Iterable[str]) -> None:
    stemmer = nltk_porter.PorterStemmer()
    assert {word: stem(word) for word in words} == {word: stemmer.stem(word) for word in words}


def test_made_up_words_stem_as_nltk() -> None:
    draw = random.Random(5)
    words = {
        "".join(draw.choices("aeiouylsztdbgnwx*", k=draw.randint(0, 6)))
        + draw.choice(SUFFIXES)
        + draw.choice(["", *SUFFIXES])
        for _ in range(10_000)
    }
    assert_stems_as_nltk(words)


@given(st.lists(st.text(max_size=12), max_size=50))
@settings(max_examples=60)
def test_any_text_stems_as_nltk(words: list[str]) -> None:
    assert_stems_as_nltk(words)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["noun", "verb", "adj", "adv"])
def test_every_word_of_wordnet_stems_as_nltk(shared: Path, part: str) -> None:
    lines = (shared / "wordnet-3.0" / f"index.{part}").read_text("utf-8").splitlines()
    found = (line.split()[0] for line in lines if not line.startswith(" "))
    assert_stems_as_nltk({word for word in found if "_" not in word})  # which are several words


@pytest.mark.slow
def test_every_word_of_real_captions_stems_as_nltk(shared: Path) -> None:
    texts = [path.read_text("utf-8") for path in shared.glob("*/*.csv")]
    texts += [
        json.dumps(json.loads(line), ensure_ascii=False)
        for path in shared.glob("mecat/caption_test/*.jsonl")
        for line in path.read_text("utf-8").splitlines()
    ]
    words = {word for text in texts for word in text.lower().split()}
    assert_stems_as_nltk(words | {word.strip(".,'\"") for word in words})


def test_a_word_of_a_hundred_thousand_letters_is_stemmed() -> None:
    assert stem("y" * 100_000 + "ings") == nltk_porter.PorterStemmer().stem("y" * 100_000 + "ings")
