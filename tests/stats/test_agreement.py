"""Agreement statistics against published worked examples."""

import numpy as np
import pytest

from audiocapbench.stats import correlation
from audiocapbench.stats.correlation import (
    Level,
    auc,
    fleiss_kappa,
    intraclass,
    krippendorff_alpha,
    rank_correlation,
    rated_kappa,
)

# Fourteen raters, ten units, five categories: the example of Fleiss' kappa in most textbooks.
FLEISS = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)
N = float("nan")
# Krippendorff (2011), "Computing Krippendorff's alpha-reliability": four observers, twelve units.
FOUR_OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
        [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
    ]
)
THREE_CODERS = np.array(
    [
        [N, N, N, N, N, 3, 4, 1, 2, 1, 1, 3, 3, N, 3],
        [1, N, 2, 1, 3, 3, 4, 3, N, N, N, N, N, N, N],
        [N, N, 2, 1, 3, 4, 4, N, 2, 1, 1, 3, 3, N, 4],
    ]
)


def test_fleiss_kappa_gives_the_textbook_value() -> None:
    assert fleiss_kappa(FLEISS).value == pytest.approx(0.210, abs=5e-4)


def test_alpha_gives_the_published_interval_values() -> None:
    assert krippendorff_alpha(FOUR_OBSERVERS).value == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha(THREE_CODERS).value == pytest.approx(0.811, abs=5e-4)


def test_alpha_gives_the_published_values_for_names() -> None:
    assert krippendorff_alpha(FOUR_OBSERVERS, "nominal").value == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(THREE_CODERS, "nominal").value == pytest.approx(0.691, abs=5e-4)


def test_alpha_gives_the_published_values_for_orders_and_ratios() -> None:
    assert krippendorff_alpha(FOUR_OBSERVERS, "ordinal").value == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(FOUR_OBSERVERS, "ratio").value == pytest.approx(0.797, abs=5e-4)


def test_intraclass_correlations_are_those_of_shrout_and_fleiss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four judges, six targets (1979, table 2); intervals as R's psych prints them."""
    monkeypatch.setattr(correlation, "FEWEST_UNITS", 6)
    judges = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    single, mean = intraclass(np.array(judges, float))
    assert (single.value, *(single.interval or ())) == pytest.approx((0.29, 0.019, 0.761), abs=5e-3)
    assert (mean.value, *(mean.interval or ())) == pytest.approx((0.62, 0.071, 0.927), abs=5e-3)
    holed = np.concatenate([np.array(judges, float), np.full((4, 1), np.nan)], axis=1)
    holed[0, -1] = 5
    assert intraclass(holed) == (single, mean), "what somebody did not rate does not count"


def test_raters_who_contradict_each_other_have_no_reliable_mean() -> None:
    ratings = np.random.default_rng(0).integers(1, 6, 25).astype(float)
    single, mean = intraclass(np.stack([ratings, 6 - ratings]))
    assert single.value is not None
    assert single.value < -0.5
    assert (single.interval, mean.value, mean.interval) == (None, None, None)
    for seed in range(20):
        single, mean = intraclass(np.random.default_rng(seed).integers(1, 6, (3, 30)).astype(float))
        for one in (single, mean):
            low, high = one.interval or (-1.0, 1.0)
            assert low < (one.value or 0.0) < high < 1


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_equals_its_definition_pair_by_pair(level: Level) -> None:
    ratings = np.random.default_rng(3).integers(0, 11, (4, 30)).astype(float)
    ratings[np.random.default_rng(4).random((4, 30)) < 0.3] = np.nan
    units = [[v for v in column if not np.isnan(v)] for column in ratings.T]
    units = [unit for unit in units if len(unit) > 1]
    pool = [value for unit in units for value in unit]
    ranks = {value: 2 * sum(one < value for one in pool) + pool.count(value) for value in pool}

    def apart(one: float, other: float) -> float:
        if level == "nominal":
            return float(one != other)
        if level == "ordinal":
            return float(ranks[one] - ranks[other]) ** 2
        return (one - other) ** 2 / ((one + other or 1) ** 2 if level == "ratio" else 1)

    def distance(units: list[list[float]]) -> float:
        return sum(sum(apart(a, b) for a in one for b in one) / (len(one) - 1) for one in units)

    alpha = 1 - distance(units) / distance([pool])
    assert krippendorff_alpha(ratings, level).value == pytest.approx(alpha, abs=1e-12)
    if level == "interval":
        assert krippendorff_alpha(ratings + 1e6).value == pytest.approx(alpha, abs=1e-8)


def graded(seed: int, units: int, raters: int, noise: float, cuts: list[float]) -> np.ndarray:
    draw = np.random.default_rng(seed)
    heard = draw.normal(size=units) + noise * draw.normal(size=(raters, units))
    return np.digitize(heard, cuts).astype(float)


def measures(ratings: np.ndarray) -> dict[str, correlation.Coefficient]:
    levels: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
    found = {one: krippendorff_alpha(ratings, one) for one in levels}
    single, mean = intraclass(ratings)
    return found | {"kappa": rated_kappa(ratings), "icc": single, "icc_mean": mean}


def test_intervals_do_not_depend_on_the_order_of_people_or_items() -> None:
    ratings = graded(1, 60, 3, 0.6, [-1, -0.3, 0.3, 1])
    mixed = np.random.default_rng(2).permutation(ratings, axis=1)[[2, 0, 1]]
    for (name, one), other in zip(measures(ratings).items(), measures(mixed).values(), strict=True):
        assert one.interval is not None, name
        assert one.value is not None
        assert one.interval.low < one.value < one.interval.high
        expected = (one.value, *one.interval)
        assert (other.value, *(other.interval or ())) == pytest.approx(expected, abs=1e-9)


def test_no_interval_where_items_are_few_or_all_but_alike() -> None:
    for ratings in (
        graded(1, 12, 3, 0.6, [-1, 0, 1]),
        graded(1, 40, 3, 0.1, [2.2]),
        np.tile([1.0, 2.0, 3.0, 4.0], (2, 20)),
    ):
        assert all(one.interval is None for one in measures(ratings).values())


def test_units_of_one_clip_are_left_out_together() -> None:
    ratings = graded(1, 40, 3, 0.6, [-1, 0, 1])
    alone = rated_kappa(ratings).interval
    fourfold = np.repeat(ratings, 4, axis=1)
    together = rated_kappa(fourfold, [str(n // 4) for n in range(160)])
    assert alone is not None
    assert together.interval == pytest.approx(alone, abs=1e-9)
    narrow = rated_kappa(fourfold).interval
    assert narrow is not None
    assert narrow.high - narrow.low < 0.6 * (alone.high - alone.low)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("raters", "noise", "cuts", "units", "least"),
    [
        (2, 0.5, [-1, -0.3, 0.3, 1], 40, 0.92),
        (4, 1.0, [-1, -0.3, 0.3, 1], 25, 0.90),
        (3, 0.7, [0], 30, 0.93),
        (2, 0.5, [1.3], 100, 0.93),
    ],
)
def test_intervals_of_agreement_hold_the_truth(
    raters: int, noise: float, cuts: list[float], units: int, least: float
) -> None:
    truth = measures(graded(99, 20_000, raters, noise, cuts))
    rounds = [measures(graded(seed, units, raters, noise, cuts)) for seed in range(250)]
    for name, true in truth.items():
        ends = [one[name].interval for one in rounds]
        held = [low <= (true.value or 0) <= high for low, high in filter(None, ends)]
        enough = least - 0.02 * (name == "ratio")  # where one 0 among small numbers weighs much
        assert len(held) < 50 or np.mean(held) >= enough, (name, np.mean(held), len(held))


def test_full_agreement_is_one() -> None:
    ratings = np.array([[1.0, 5.0, 9.0]] * 3)
    assert krippendorff_alpha(ratings).value == pytest.approx(1.0)
    assert rated_kappa(ratings).value == pytest.approx(1.0)


@pytest.mark.parametrize("ratings", [np.full((3, 4), 7.0), np.full((1, 4), 7.0), np.zeros((3, 0))])
def test_nothing_to_agree_on_is_no_number(ratings: np.ndarray) -> None:
    assert krippendorff_alpha(ratings).value is None
    assert rated_kappa(ratings).value is None


def test_units_without_all_ratings_do_not_count_for_kappa() -> None:
    ratings = np.array([[1.0, 2.0, N], [1.0, 3.2, 4.0]])
    assert rated_kappa(ratings) == fleiss_kappa(np.array([[2, 0, 0], [0, 1, 1]]))
    clustered = rated_kappa(np.tile(ratings, 20), list("abc") * 20)
    assert clustered == rated_kappa(np.tile(ratings[:, :2], 20), list("ab") * 20)


def test_kappa_refuses_units_with_different_numbers_of_ratings() -> None:
    with pytest.raises(ValueError, match="same number of ratings"):
        fleiss_kappa(np.array([[2, 0], [1, 0]]))


def test_auc_counts_pairs_and_ties_half() -> None:
    higher, lower = np.array([3.0, 2.0, 2.0]), np.array([1.0, 2.0])
    assert auc(higher, lower) == (1 + 1 + 1 + 0.5 + 1 + 0.5) / 6
    assert auc(lower, higher) == pytest.approx(1 - 5 / 6)
    assert auc(np.array([]), lower) is None


def test_rank_correlation_looks_within_groups_only() -> None:
    length = np.array([1.0, 2.0, 3.0, 11.0, 12.0, 13.0])
    score = np.array([3.0, 2.0, 1.0, 9.0, 8.0, 7.0])
    groups = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    assert rank_correlation(length, score, groups) == pytest.approx(-1)
    assert rank_correlation(length, score, np.zeros(6)) == pytest.approx(0.5428571)
    assert rank_correlation(length, np.ones(6), groups) is None
