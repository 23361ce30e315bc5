"""Races are right at any time, and cheap where models are as far apart as published ones."""

import numpy as np
import pytest
from numpy.typing import NDArray

from audiocapbench.stats.racing import Race, deal_rounds

CATEGORIES = ["sound"] * 400 + ["music"] * 300 + ["speech"] * 300
PUBLISHED = [6.00, 5.88, 5.74, 5.65, 5.53, 5.30, 5.24, 4.73, 4.68, 4.41, 4.40, 3.93, 3.65]
"""Overall scores in table 1 of AudioCapBench's paper."""


def is_over(race: Race) -> bool:
    """Whether the best are known, or nothing is left to ask."""
    return race.models - len(race.out) <= race.top or race.seen >= race.clips


def scores(means: list[float], generator: np.random.Generator) -> NDArray[np.float64]:
    """A judge's whole numbers from 0 to 10 on clips that are easier or harder for all models."""
    levels = {"sound": 0.0, "music": -0.5, "speech": 1.0}
    clips = generator.normal(0, 1.2, 1000) + np.array([levels[one] for one in CATEGORIES])
    noise = generator.normal(0, 2.2, (len(means), 1000))
    found: NDArray[np.float64] = (np.array(means)[:, np.newaxis] + clips + noise).round() / 10
    return found.clip(0, 1)


def race(table: NDArray[np.float64], seed: int, top: int = 1) -> tuple[Race, float]:
    """A race by known scores, and which share of all questions it took."""
    found = Race(len(table), table.shape[1], top)
    asked = 0
    for dealt in deal_rounds(CATEGORIES, 40, seed):
        part = table[:, list(dealt.places)]
        asked += part.shape[1] * (found.models - len(found.out))
        found.add(part, part, dealt.weights)
        if is_over(found):
            break
    return found, asked / table.size


def test_rounds_deal_every_clip_once_and_keep_the_categories_shares() -> None:
    rounds = deal_rounds(CATEGORIES, 40, 3)
    places = [place for one in rounds for place in one.places]
    assert sorted(places) == list(range(1000))
    for one in rounds[:-1]:
        drawn = [CATEGORIES[place] for place in one.places]
        counts = {name: drawn.count(name) for name in set(drawn)}
        assert counts == {"sound": 16, "music": 12, "speech": 12}
    assert deal_rounds(CATEGORIES, 40, 3) == rounds != deal_rounds(CATEGORIES, 40, 4)


def test_a_tiny_category_is_weighed_down_to_its_share() -> None:
    categories = ["rare"] * 2 + ["sound"] * 98
    for one in deal_rounds(categories, 20, 0)[:2]:
        rare = [w for p, w in zip(one.places, one.weights, strict=True) if categories[p] == "rare"]
        assert len(rare) == 1
        assert rare[0] < 1 / 2
        assert np.mean(one.weights) == pytest.approx(1)


@pytest.mark.slow
def test_a_wrong_winner_is_named_in_at_most_five_of_a_hundred_races() -> None:
    generator = np.random.default_rng(11)
    wrong = 0
    for seed in range(300):
        # Nearly alike, where luck is most likely to mislead.
        table = scores([6.0, 6.0, 5.97, 5.9][: 2 + seed % 3], generator)
        best = table.mean(axis=1).argmax()
        wrong += best in race(table, seed)[0].out
    assert wrong <= 15


@pytest.mark.slow
def test_the_published_spread_takes_less_than_two_fifths_of_the_questions() -> None:
    generator = np.random.default_rng(12)
    shares, wrong = [], 0
    for seed in range(60):
        table = scores(PUBLISHED, generator)
        found, share = race(table, seed)
        wrong += int(table.mean(axis=1).argmax()) in found.out
        shares.append(share)
    assert np.mean(shares) < 0.4
    assert wrong <= 3


def test_a_race_that_is_never_decided_ends_with_the_whole_benchmark() -> None:
    table = np.tile(np.random.default_rng(0).random(1000), (2, 1))
    found, share = race(table, 0)
    assert share == 1
    assert is_over(found)
    assert not found.out


def test_clear_differences_are_decided_early_and_several_best_are_found() -> None:
    table = scores([8.0, 7.0, 3.0, 2.5, 2.0], np.random.default_rng(5))
    found, share = race(table, 0, top=2)
    assert found.out == {2, 3, 4}
    assert share < 0.3


def test_what_has_no_score_decides_nothing() -> None:
    found = Race(2, 100)
    for dealt in deal_rounds(["a"] * 100, 20, 0):
        size = len(dealt.places)
        low = np.vstack([np.full(size, 0.9), np.zeros(size)])
        high = np.vstack([np.full(size, 0.9), np.ones(size)])
        found.add(low, high, dealt.weights)
    assert not found.out


def test_the_same_scores_in_another_order_are_a_tie() -> None:
    # .1 + .2 - .3 is not 0 in binary.
    table = np.tile([[0.1, 0.2, 0.3, 0.0], [0.3, 0.0, 0.1, 0.2]], 10)
    for seed in range(20):
        found = Race(2, 40)
        for dealt in deal_rounds(["a"] * 40, 20, seed):
            part = table[:, list(dealt.places)]
            found.add(part, part, dealt.weights)
        assert not found.out


def test_many_small_categories_do_not_make_one_round_of_everything() -> None:
    categories = [f"kind {number // 2}" for number in range(1000)]
    rounds = deal_rounds(categories, 40, 0)
    assert max(len(one.places) for one in rounds) <= 41
    assert sorted(place for one in rounds for place in one.places) == list(range(1000))
