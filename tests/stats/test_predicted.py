"""Prediction-powered means equal the authors' own, and their intervals cover what they promise."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from audiocapbench.stats.predicted import (
    Calibrated,
    calibrated_mean,
    ratings_needed,
    tuning_weight,
    unlike_part,
)
from needs import needs

FloatArray = NDArray[np.float64]
Generator = np.random.Generator


def drawn(kind: str, generator: Generator, count: int = 1000) -> tuple[FloatArray, FloatArray]:
    """What people and a judge give the same answers; the truth is 5, of skewed ones 7.99."""
    quality = generator.normal(5, 1.5, count)
    people = quality + generator.normal(0, 0.7, count)
    if kind == "skewed":
        zero = generator.random(count) < 0.06
        people = np.where(zero, 0.0, generator.uniform(8, 9, count))
        return people, np.where(
            zero, generator.uniform(2, 8, count), generator.uniform(6, 10, count)
        )
    if kind == "binary":
        right = generator.random(count) < 0.5
        return np.where(right, 10.0, 0.0), 10 * generator.beta(np.where(right, 6, 3), 3, count)
    if kind == "uneven":  # the lower the judge's score, the less people agree
        judge = generator.uniform(2, 8, count)
        return judge + generator.normal(0, (8.5 - judge) / 3), judge
    judge = {
        "good": quality + generator.normal(0, 0.7, count),
        "biased": 0.6 * quality + 3.5 + generator.normal(0, 0.7, count),
        "useless": generator.normal(5, 2, count),
        "opposite": 10 - quality,
    }[kind]
    return people, judge


def estimate(
    rated: FloatArray, judged: FloatArray, people: Sequence[int] | None = None
) -> Calibrated:
    """The first answers are rated, each by one of so many people, or by somebody of their own."""
    who = range(len(rated)) if people is None else people
    ratings = {(f"p{one}", f"s{n}"): float(rated[n]) for n, one in enumerate(who)}
    scores = {f"s{n}": float(one) for n, one in enumerate(judged)}
    return calibrated_mean(ratings, scores, bounds=(0, 10))


def hands(how: str, rated: int, people: int) -> Sequence[int]:
    """Who rates which answer: all alike, or one person all but a few."""
    if how == "alike":
        return [n % people for n in range(rated)]
    few = max(2, rated // 20)
    return [min(n // few, people - 1) for n in range(rated)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "rated", "people", "how", "offset"),
    [
        ("good", 20, 5, "alike", 0.5),
        ("good", 100, 5, "alike", 0.5),
        ("biased", 100, 100, "alike", 0.0),
        ("useless", 100, 10, "alike", 0.5),
        ("opposite", 100, 5, "one", 0.5),
        ("skewed", 20, 5, "alike", 0.0),
        ("skewed", 50, 10, "alike", 0.5),
        ("skewed", 100, 5, "one", 0.5),
        ("uneven", 20, 5, "one", 0.5),
        ("uneven", 60, 8, "alike", 0.5),
    ],
)
def test_intervals_cover_the_truth_whatever_the_judge_is_worth_and_whoever_rates(
    kind: str, rated: int, people: int, how: str, offset: float
) -> None:
    generator, rounds = np.random.default_rng(3), 500
    truth = 8.5 * 0.94 if kind == "skewed" else 5
    covered, who = 0, hands(how, rated, people)
    for _ in range(rounds):
        values, judge = drawn(kind, generator, 400)
        views = generator.normal(0, offset, people)[list(who)] if offset else 0.0
        found = estimate(values[:rated] + views, judge, who)
        assert found.interval is not None
        covered += found.interval.low <= truth <= found.interval.high
    assert covered / rounds >= 0.93


@pytest.mark.slow
def test_ratings_of_the_same_answers_by_several_people_are_of_as_many_answers_as_there_are() -> (
    None
):
    generator, rounds, covered = np.random.default_rng(4), 300, 0
    for _ in range(rounds):
        values, judge = drawn("good", generator, 200)
        views, noise = generator.normal(0, 0.5, 5), generator.normal(0, 0.5, (40, 5))
        ratings = {
            (f"p{who}", f"s{n}"): float(values[n] + views[who] + noise[n, who])
            for n in range(40)
            for who in range(5)
        }
        scores = {f"s{n}": float(one) for n, one in enumerate(judge)}
        found = calibrated_mean(ratings, scores, bounds=(0, 10)).interval
        assert found is not None
        covered += found.low <= 5 <= found.high
    assert 0.93 <= covered / rounds <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["good", "useless", "skewed", "binary"])
def test_what_ratings_are_worth_with_a_judge_is_no_more_than_it_is(kind: str) -> None:
    """However far people are from each other, which no judge can lessen."""
    generator, n, who = np.random.default_rng(5), 60, hands("alike", 60, 6)
    alone, values, said = [], [], []
    for _ in range(300):
        people, judge = drawn(kind, generator, 600)
        alone.append(people[:n].mean())
        values.append(estimate(people[:n], judge, who).value)
        views = generator.normal(0, 2, 6)[list(who)]
        said.append(estimate(people[:n] + views, judge, who).worth or n)
    true = n * np.var(alone) / np.var(values)
    assert n <= np.median(said) <= 1.15 * true
    if kind == "good":
        assert np.median(said) > 1.4 * n


@pytest.mark.parametrize("kind", ["good", "biased"])
def test_the_estimate_is_that_of_the_authors_package(kind: str) -> None:
    ppi = needs("ppi_py")
    people, judge = drawn(kind, np.random.default_rng(4))
    y, f, others = people[:120], judge[:120], judge[120:]
    found = estimate(y, judge)
    # Ours weighs the judge's mean of everything, theirs that of the others.
    lam = found.weight * len(others) / len(judge)
    ours = ppi.ppi_mean_pointestimate(y, f, others, lam=lam)
    assert found.value == pytest.approx(float(np.ravel(ours)[0]), abs=1e-9)
    low, high = ppi.ppi_mean_ci(y, f, others, alpha=0.05, lam=lam)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(float(np.ravel(low)[0]), abs=0.03)
    assert found.interval.high == pytest.approx(float(np.ravel(high)[0]), abs=0.03)
    theirs = ppi.ppi_mean_pointestimate(y, f, others)
    assert found.value == pytest.approx(float(np.ravel(theirs)[0]), abs=0.01)


def test_a_judge_that_says_nothing_or_the_opposite_gets_no_weight() -> None:
    people, judge = drawn("opposite", np.random.default_rng(5))
    each = np.full(50, 1 / 50)
    assert tuning_weight(people[:50], judge[:50], each) == 0
    assert tuning_weight(people[:50], np.full(50, 7.0), each) == 0
    found = estimate(people[:50], np.full(1000, 7.0))
    assert found.value == pytest.approx(people[:50].mean())
    assert found.worth == pytest.approx(50)


def test_a_good_judge_is_worth_many_ratings_and_says_how_many_are_needed() -> None:
    people, judge = drawn("good", np.random.default_rng(6), 2000)
    found = estimate(people[:120], judge)
    assert found.worth is not None
    assert found.worth > 200
    assert found.interval is not None
    width = found.interval.high - found.interval.low
    assert ratings_needed(found, 120, 2000, width) == pytest.approx(120, abs=15)
    more = ratings_needed(found, 120, 2000, width / 2)
    assert more is not None
    again = estimate(people[:more], judge).interval
    assert again is not None
    assert again.high - again.low == pytest.approx(width / 2, rel=0.15)
    assert ratings_needed(found, 120, 2000, 1e-6) is None


def test_few_ratings_or_people_have_no_interval_and_all_rated_need_no_judge() -> None:
    people, judge = drawn("good", np.random.default_rng(7), 60)
    assert estimate(people[:5], judge).interval is None
    for few in (1, 2, 4):
        found = estimate(people[:40], judge, hands("alike", 40, few))
        assert (found.interval, found.error, found.people) == (None, None, few)
    whole = estimate(people, judge)
    assert whole.value == pytest.approx(people.mean())
    assert whole.worth == pytest.approx(60)


def test_ratings_of_one_person_more_make_the_interval_no_narrower_than_that_person_differs() -> (
    None
):
    """Who gave most of the ratings has no more than twice the say of the median."""
    values = np.full(100, 6.0) + np.tile([-0.1, 0.1], 50)
    values[20:] += 2  # all but a few are from somebody who likes everything
    found = estimate(values, np.zeros(400), [n // 5 if n < 20 else 4 for n in range(100)])
    assert found.interval is not None
    assert found.interval.low < 6 < found.value < 8 < found.interval.high


def test_an_interval_keeps_to_the_scale_and_leaves_room_for_zeros_that_nobody_saw() -> None:
    found = estimate(np.tile([9.0, 10.0], 15), np.zeros(400)).interval
    assert found is not None
    assert found.low < 9.5 * 0.92
    spread = estimate(np.tile([10.0, 10.0, 10.0, 10.0, 5.0], 8), np.zeros(400), [*range(5)] * 8)
    assert spread.interval is not None
    assert spread.interval.high == 10


def test_a_part_unlike_the_rest_is_told_from_a_random_one_at_the_rate_that_is_said() -> None:
    generator = np.random.default_rng(8)
    kinds = generator.permutation(np.repeat([0, 1, 2], (200, 150, 50)))
    features = np.column_stack([generator.beta(8, 1, 400), *(kinds == one for one in range(3))])
    part = np.arange(400) < 40
    assert unlike_part(features[np.argsort(features[:, 0])], part)[0] < 1e-3
    p, far = unlike_part(features[np.argsort(-features[:, 3], kind="stable")], part)
    assert (p < 1e-3, far) == (True, 3)
    values = [unlike_part(generator.permutation(features), part)[0] for _ in range(4)]
    assert min(values) > 0.01
