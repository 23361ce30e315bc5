"""Races are right at any time, of these clips and of clips like these, and take few questions."""

from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from audiocapbench.stats.racing import FEWEST_A_ROUND, Bets, deal_clips

PUBLISHED = (6.00, 5.88, 5.74, 5.65, 5.53, 5.30, 5.24, 4.73, 4.68, 4.41, 4.40, 3.93, 3.65)
"""Overall scores in table 1 of AudioCapBench's paper."""

Tables = NDArray[np.float64]  # races, models, clips


def grades(means: tuple[float, ...], races: int, clips: int, seed: int = 0) -> Tables:
    """A judge's whole numbers from 0 to 10 on clips that are easier or harder for all models."""
    generator = np.random.default_rng(seed)
    ease = generator.normal(0, 1.2, (races, 1, clips))
    noise = generator.normal(0, 2.2, (races, len(means), clips))
    found: Tables = (np.array(means)[:, np.newaxis] + ease + noise).round() / 10
    return found.clip(0, 1)


def answers(shares: tuple[float, ...], races: int, clips: int, seed: int = 0) -> Tables:
    """Right or wrong."""
    drawn = np.random.default_rng(seed).random((races, len(shares), clips))
    return (drawn < np.array(shares)[:, np.newaxis]).astype(float)


def overlaps(ahead: float, races: int, clips: int, seed: int = 0) -> Tables:
    """A metric of words: most of a score is the clip's, and differences are small."""
    generator = np.random.default_rng(seed)
    ease = generator.beta(2, 4, (races, 1, clips))
    found: Tables = ease + generator.normal(0, 0.08, (races, 2, clips))
    found[:, 0] += ahead
    return found.clip(0, 1)


def few_changes(races: int, clips: int, seed: int = 0) -> Tables:
    """One answer in ten is another; three in four of these are better."""
    generator = np.random.default_rng(seed)
    better = np.where(generator.random((races, clips)) < 0.75, 0.3, -0.3)
    first = 0.5 + better * (generator.random((races, clips)) < 0.1)
    return np.stack([first, np.full_like(first, 0.5)], axis=1)


def by_kind(races: int, clips: int, seed: int = 0) -> Tables:
    """Equal models, of which one is better with one kind of clip and worse with another."""
    generator = np.random.default_rng(seed)
    found: Tables = generator.normal(0.5, 0.1, (races, 2, clips))
    found[:, 0] += np.where(generator.random((races, clips)) < 0.5, 0.25, -0.25)
    return found.clip(0, 1)


def rare_failures(races: int, clips: int, seed: int = 0) -> Tables:
    """Equal models, of which one is a little better and fails one time in twenty."""
    fails = np.random.default_rng(seed).random((races, clips)) < 0.05
    return np.stack([np.where(fails, 0, 0.5 / 0.95), np.full(fails.shape, 0.5)], axis=1)


def race(
    tables: Tables, *, alike: bool = False, top: int = 1
) -> tuple[Bets, float, NDArray[np.bool_]]:
    """Races by known scores: their bets, the share of questions asked, and which were decided."""
    races, models, clips = tables.shape
    bets = Bets(models, None if alike else clips, top)
    asked, over = np.zeros(races), np.zeros(races, dtype=bool)
    start = 0
    for places in deal_clips([f"{one:05}" for one in range(clips)], 0):
        out = np.broadcast_to(bets.out, (races, models))
        asked += np.where(over, 0, len(places) * (models - out.sum(axis=-1)))
        for place in range(start, start + len(places)):
            scores = np.where(out, np.nan, tables[..., place])
            bets.add(scores, scores)
        start += len(places)
        over = models - bets.out.sum(axis=-1) <= top
        if over.all():
            break
    return bets, float(asked.mean() / models / clips), over


def wrong(tables: Tables, bets: Bets) -> float:
    """How often the best of the whole table was put out."""
    best = tables.mean(axis=-1).argmax(axis=-1)
    return float(bets.out[np.arange(len(best)), best].mean())


def test_rounds_deal_every_clip_once_whatever_their_order() -> None:
    ids = [f"clip {one}" for one in range(1000)]
    rounds = deal_clips(ids, 3)
    dealt = [[ids[place] for place in one] for one in rounds]
    assert sorted(name for one in dealt for name in one) == sorted(ids)
    assert len(rounds[0]) == FEWEST_A_ROUND
    assert len(rounds) <= 60
    turned = ids[::-1]
    assert [[turned[place] for place in one] for one in deal_clips(turned, 3)] == dealt
    assert deal_clips(ids, 4) != rounds


EQUAL = {
    "grades": partial(grades, (6.0, 6.0), 400, 200),
    "answers": partial(answers, (0.5, 0.5), 400, 200),
    "three answers": partial(answers, (0.5, 0.5, 0.5), 300, 100),
    "two of four": partial(answers, (0.7, 0.7, 0.4, 0.4), 200, 100),
    "kinds": partial(by_kind, 400, 200),
    "failures": partial(rare_failures, 400, 200),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", EQUAL)
def test_of_equal_models_none_is_named_too_often(shape: str) -> None:
    tables = EQUAL[shape]()
    _, _, named = race(tables, alike=True)
    assert named.mean() <= 0.05  # on clips like these
    bets, _, _ = race(tables)
    assert wrong(tables, bets) <= 0.05  # on these clips, where one is ahead by chance


@pytest.mark.slow
@pytest.mark.parametrize("shares", [(0.505, 0.5), (0.5, 0.49, 0.45)])
def test_of_models_that_are_nearly_alike_the_worse_is_rarely_named(
    shares: tuple[float, ...],
) -> None:
    tables = answers(shares, 300, 200)
    bets, _, _ = race(tables)
    assert wrong(tables, bets) <= 0.05
    bets, _, _ = race(tables, alike=True)
    assert bets.out[:, 0].mean() <= 0.05


SHAPES = {
    "published": (partial(grades, PUBLISHED, 4, 1000), 0.306),
    "clear": (partial(grades, (8.0, 7.0, 3.0, 2.5, 2.0), 40, 1000), 0.087),
    "grades": (partial(grades, (6.0, 5.5), 60, 1000), 0.309),
    "near grades": (partial(grades, (6.0, 5.8), 60, 1000), 0.739),
    "few clips": (partial(grades, (6.0, 5.0), 100, 200), 0.432),
    "near answers": (partial(answers, (0.55, 0.5), 30, 2000), 0.524),
    "near overlaps": (partial(overlaps, 0.008, 60, 1000), 0.708),
    "far overlaps": (partial(overlaps, 0.15, 100, 1000), 0.045),
    "few changes": (partial(few_changes, 60, 1000), 0.365),
}
"""Scores, and the share of questions that bets on a fixed grid of stakes took of them."""


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_bets_that_learn_take_fewer_questions_than_fixed_ones(shape: str) -> None:
    make, before = SHAPES[shape]
    tables = make()
    bets, share, _ = race(tables)
    assert share <= 0.92 * before
    assert wrong(tables, bets) <= 0.05


def test_what_holds_on_these_clips_takes_fewer_than_what_holds_on_clips_like_these() -> None:
    tables = grades((6.0, 5.0), 20, 300)
    _, share, decided = race(tables)
    _, alike, known = race(tables, alike=True)
    assert share < alike
    assert decided.all()
    assert known.mean() > 0.8


def test_a_race_that_is_never_decided_ends_with_the_whole_benchmark() -> None:
    tables = np.tile(np.random.default_rng(0).random(100), (1, 2, 1))
    bets, share, _ = race(tables)
    assert share == 1
    assert not bets.out.any()


def test_who_is_ahead_on_all_clips_is_known_when_all_are_asked() -> None:
    tables = np.stack([[[0.5] * 40, [0.5] * 39 + [0.49]]])
    assert race(tables)[0].out.tolist() == [[False, True]]
    assert not race(tables, alike=True)[0].out.any()


def test_what_all_clips_say_stands_above_an_earlier_bet() -> None:
    tables = np.zeros((1, 2, 60))
    tables[0, 0, :20] = tables[0, 1, 20:] = 1
    bets = Bets(2, 60)
    for place in range(60):
        bets.add(tables[..., place], tables[..., place])
        if place == 19:
            assert bets.out.tolist() == [[False, True]]
    assert bets.out.tolist() == [[True, False]]


def test_clear_differences_are_decided_early_and_several_best_are_found() -> None:
    bets, share, _ = race(grades((8.0, 7.0, 3.0, 2.5, 2.0), 1, 1000), top=2)
    assert bets.out.tolist() == [[False, False, True, True, True]]
    assert share < 0.1


def test_what_has_no_score_decides_nothing() -> None:
    bets = Bets(2, 100)
    for _ in range(100):
        bets.add(np.array([0.9, 0.0]), np.array([0.9, 1.0]))
    assert not bets.out.any()


def test_the_same_scores_in_another_order_are_a_tie() -> None:
    # .1 + .2 - .3 is not 0 in binary.
    tables = np.tile([[0.1, 0.2, 0.3, 0.0], [0.3, 0.0, 0.1, 0.2]], 10)[np.newaxis]
    orders = np.array([np.random.default_rng(seed).permutation(40) for seed in range(20)])
    assert not race(np.take_along_axis(np.repeat(tables, 20, 0), orders[:, np.newaxis], 2))[
        0
    ].out.any()
