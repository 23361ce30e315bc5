"""Promises of the shipped WordNet table."""

import importlib.util
import random
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from audiocapbench.metrics.wordnet import ARRAYS, TABLE, synonym_pairs

if TYPE_CHECKING:
    from nltk.corpus import WordNetCorpusReader

ROOT = Path(__file__).parents[2]
PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
ENDINGS = ("s", "es", "ses", "ies", "ves", "xes", "ches", "men", "ed", "ing", "er", "est")


def synonyms_by_word(words: list[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {word: set() for word in words}
    for word, synonym in synonym_pairs(words, words).tolist():
        found[words[word]].add(words[synonym])
    return found


def usable(names: set[str], vocabulary: set[str]) -> set[str]:
    """What METEOR can match of a synset's names."""
    return {name for name in names if "_" not in name and name in vocabulary}


@pytest.fixture(scope="module")
def forms(shared: Path) -> list[str]:
    """Every lemma and irregular form of WordNet and a large sample of regular inflections."""
    folder = shared / "wordnet-3.0"
    lines = [
        line
        for part in PARTS.values()
        for name in (f"index.{part}", f"{part}.exc")
        for line in (folder / name).read_text("utf-8").splitlines()
    ]
    known = {line.split()[0] for line in lines if not line.startswith(" ")}
    stems = random.Random(0).choices(sorted(known), k=8_000)
    cuts = random.Random(1).choices((0, 0, 1, 2), k=len(stems))
    endings = random.Random(2).choices(ENDINGS, k=len(stems))
    inflected = (
        stem[: len(stem) - cut] + ending
        for stem, cut, ending in zip(stems, cuts, endings, strict=True)
    )
    return sorted(known.union(inflected))


@pytest.fixture(scope="module")
def found(forms: list[str]) -> dict[str, set[str]]:
    """The synonyms of each form among the forms."""
    return synonyms_by_word(forms)


@pytest.fixture(scope="module")
def names_of_synsets(shared: Path) -> dict[tuple[str, int], set[str]]:
    """The names in WordNet's data files, which NLTK needs minutes to parse in full."""
    names = {}
    for part, file in PARTS.items():
        for line in (shared / "wordnet-3.0" / f"data.{file}").read_text("utf-8").splitlines():
            if not line.startswith(" "):
                fields = line.split()
                words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
                names[part, int(fields[0])] = {word.partition("(")[0] for word in words}
    return names


@pytest.mark.slow
def test_every_lemma_and_inflection_has_the_synonyms_that_nltk_finds(
    nltk_wordnet: "WordNetCorpusReader",
    forms: list[str],
    found: dict[str, set[str]],
    names_of_synsets: dict[tuple[str, int], set[str]],
) -> None:
    vocabulary = set(forms)
    index = nltk_wordnet._lemma_pos_offset_map
    for form in forms:
        names = {
            name
            for part in PARTS
            for lemma in nltk_wordnet._morphy(form, part)
            for offset in index[lemma][part]
            for name in names_of_synsets[part, offset]
        }
        assert found[form] == usable(names, vocabulary), form


@pytest.mark.slow
def test_synonyms_equal_the_names_of_nltk_synsets(
    nltk_wordnet: "WordNetCorpusReader", forms: list[str], found: dict[str, set[str]]
) -> None:
    vocabulary = set(forms)
    for form in random.Random(3).sample(forms, k=800):
        names = {name for synset in nltk_wordnet.synsets(form) for name in synset.lemma_names()}
        assert found[form] == usable(names, vocabulary), form


def test_words_are_found_by_base_form_but_bases_not_by_inflected_words() -> None:
    words = ["dogs", "dog", "hound", "geese", "goose", "zzz", "", "\0", "雨"]
    assert synonyms_by_word(words) == {
        "dogs": {"dog", "hound"},
        "dog": {"dog", "hound"},
        "hound": {"dog", "hound"},
        "geese": {"goose"},
        "goose": {"goose"},
        "zzz": set(),
        "": set(),
        "\0": set(),
        "雨": set(),
    }


def test_collocations_lead_to_one_word_synonyms() -> None:
    assert synonym_pairs(["domestic_dog"], ["cat", "dog"]).tolist() == [[0, 1]]


@pytest.mark.parametrize(("words", "others"), [([], []), (["dog"], []), ([], ["dog"])])
def test_no_words_have_no_synonyms(words: list[str], others: list[str]) -> None:
    assert synonym_pairs(words, others).shape == (0, 2)


@pytest.mark.slow
def test_the_shipped_table_is_what_the_tool_makes(shared: Path) -> None:
    path = ROOT / "tools" / "make_wordnet_table.py"
    spec = importlib.util.spec_from_file_location("make_wordnet_table", path)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    made = tool.make_table(shared / "wordnet-3.0")
    assert sorted(made) == sorted(ARRAYS)
    for name in ARRAYS:
        shipped = np.load(TABLE / f"{name}.npy", allow_pickle=False)
        np.testing.assert_array_equal(shipped, made[name])


def test_the_table_is_small_and_its_licence_lies_beside_it() -> None:
    assert sum(one.stat().st_size for one in TABLE.iterdir()) < 1_600_000
    assert "Princeton University" in (TABLE / "LICENSE").read_text("utf-8")
