"""Agreement statistics against published worked examples."""

import numpy as np
import pytest

from audiocapbench.stats.correlation import (
    auc,
    category_counts,
    fleiss_kappa,
    krippendorff_alpha,
    rank_correlation,
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
    assert fleiss_kappa(FLEISS) == pytest.approx(0.210, abs=5e-4)


def test_alpha_gives_the_published_interval_values() -> None:
    assert krippendorff_alpha(FOUR_OBSERVERS) == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha(THREE_CODERS) == pytest.approx(0.811, abs=5e-4)


def test_alpha_gives_the_published_values_for_names() -> None:
    assert krippendorff_alpha(FOUR_OBSERVERS, nominal=True) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(THREE_CODERS, nominal=True) == pytest.approx(0.691, abs=5e-4)


def test_alpha_equals_its_definition_pair_by_pair() -> None:
    ratings = np.random.default_rng(3).integers(0, 11, (4, 30)).astype(float)
    ratings[np.random.default_rng(4).random((4, 30)) < 0.3] = np.nan
    units = [[v for v in column if not np.isnan(v)] for column in ratings.T]
    units = [unit for unit in units if len(unit) > 1]
    pool = [value for unit in units for value in unit]
    observed = sum(
        sum((a - b) ** 2 for a in unit for b in unit) / (len(unit) - 1) for unit in units
    )
    expected = sum((a - b) ** 2 for a in pool for b in pool) / (len(pool) - 1)
    assert krippendorff_alpha(ratings) == pytest.approx(1 - observed / expected, abs=1e-12)
    assert krippendorff_alpha(ratings + 1e6) == pytest.approx(1 - observed / expected, abs=1e-8)


def test_full_agreement_is_one() -> None:
    ratings = np.array([[1.0, 5.0, 9.0]] * 3)
    assert krippendorff_alpha(ratings) == pytest.approx(1.0)
    assert fleiss_kappa(category_counts(ratings)) == pytest.approx(1.0)


@pytest.mark.parametrize("ratings", [np.full((3, 4), 7.0), np.full((1, 4), 7.0), np.zeros((3, 0))])
def test_nothing_to_agree_on_is_no_number(ratings: np.ndarray) -> None:
    assert krippendorff_alpha(ratings) is None
    if len(ratings) > 1:
        assert fleiss_kappa(category_counts(ratings)) is None


def test_units_without_all_ratings_do_not_count_for_kappa() -> None:
    ratings = np.array([[1.0, 2.0, N], [1.0, 3.2, 4.0]])
    assert category_counts(ratings).tolist() == [[2, 0, 0], [0, 1, 1]]


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
