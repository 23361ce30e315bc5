"""Subsets by rule: what is chosen, in which order, and that it depends on nothing else."""

import csv
from pathlib import Path

import pytest

from audiocapbench.data.build.id_lists import read_id_lists
from audiocapbench.data.build.subset import Longest, Random, parse_rule
from audiocapbench.errors import DatasetError

POOL = {"b": "four", "a": "four", "d": "longest of all", "c": "", "e": "twelve chars"}


def test_the_longest_come_first_and_ties_by_the_alphabet() -> None:
    assert Longest(4).choose(POOL) == ["d", "e", "a", "b"]


def test_the_order_of_the_pool_does_not_matter() -> None:
    backwards = dict(reversed(POOL.items()))
    assert Longest(5).choose(backwards) == Longest(5).choose(POOL)
    assert Random(3).choose(backwards) == Random(3).choose(POOL)


def test_a_random_choice_stays_within_the_lengths() -> None:
    pool = {f"clip{length}": "x" * length for length in range(400)}
    chosen = Random(100, 86, 350).choose(pool)
    assert len(set(chosen)) == 100
    assert all(86 <= len(pool[one]) <= 350 for one in chosen)
    assert sorted(Random(265, 86, 350).choose(pool)) == sorted(f"clip{n}" for n in range(86, 351))


def test_a_seed_is_a_choice_and_another_seed_another() -> None:
    pool = {str(number): "text" for number in range(1000)}
    assert Random(5, seed=42).choose(pool) == ["726", "344", "637", "960", "471"]
    assert len(set(Random(500, seed=1).choose(pool)) & set(Random(500, seed=2).choose(pool))) < 350


def test_a_clip_that_leaves_the_pool_changes_only_its_own_place() -> None:
    pool = {str(number): "text" for number in range(100)}
    before = Random(20).choose(pool)
    del pool[before[3]]
    after = Random(20).choose(pool)
    assert after[:19] == before[:3] + before[4:]


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("longest 200", Longest(200)),
        ("random 300 in 86-350 seed 42", Random(300, 86, 350, 42)),
        ("random 5", Random(5)),
        ("random 5  seed 7", Random(5, seed=7)),
    ],
)
def test_rules_are_written_in_words(words: str, rule: Longest | Random) -> None:
    assert parse_rule(words) == rule


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("shortest 5", "is no rule; write 'longest 200'"),
        ("longest", "is no rule"),
        ("random 5 in 90-80", "no length is within 90 to 80"),
        ("longest 9", "9 clips are wanted, but the pool has 5"),
        ("longest 0", "the least is 1"),
        ("random 2 in 100-200", "within 100 to 200 characters the pool has 0"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_explained(words: str, reason: str) -> None:
    with pytest.raises(DatasetError, match=reason):
        parse_rule(words).choose(POOL)


def test_the_rule_gives_the_published_list_of_audiocaps(shared: Path) -> None:
    """The published pool is the 883 of the 975 test clips that could still be downloaded.

    Which 92 are gone is not recorded. Those that the rule would put before the last listed clip
    must be among them; without these, the rule has to give the list, ties and all.
    """
    with (shared / "audiocaps" / "test.csv").open(encoding="utf-8", newline="") as stream:
        pool: dict[str, str] = {}
        for row in csv.DictReader(stream):
            pool.setdefault(row["youtube_id"], row["caption"])
    entries = read_id_lists(shared / "audiocapbench")[1].entries
    published = [one.key for one in entries]
    assert [pool[one.key] for one in entries] == [one.fields["sample_caption"] for one in entries]
    ranked = Longest(len(pool)).choose(pool)
    last = ranked.index(published[-1])
    gone = set(ranked[:last]) - set(published)
    assert len(gone) <= 975 - 883
    left = {key: text for key, text in pool.items() if key not in gone}
    assert Longest(200).choose(left) == published
