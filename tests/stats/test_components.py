"""Variance components: the textbook's for balanced data, the truth on average for any other."""

import numpy as np
import pytest

from audiocapbench.errors import ReportError
from audiocapbench.stats.power import variance_components

DRAW = np.random.default_rng(7)


def test_balanced_nested_data_have_the_textbook_components() -> None:
    clips, repeats = 12, 3
    values = DRAW.normal(size=(clips, 1)) + 0.5 * DRAW.normal(size=(clips, repeats)) + 40
    found = variance_components(
        values.ravel(), {"clips": np.repeat(range(clips), repeats), "decoding": range(36)}
    )
    within = values.var(axis=1, ddof=1).mean()
    between = values.mean(axis=1).var(ddof=1)
    assert found["decoding"].variance == pytest.approx(within)
    assert found["clips"].variance == pytest.approx(between - within / repeats)
    assert [one.levels for one in found.values()] == [12, 36]
    assert [one.weight for one in found.values()] == pytest.approx([1 / 12, 1 / 36])
    assert sum(one.of_mean for one in found.values()) == pytest.approx(between / clips)


def test_no_variance_between_clips_is_below_0_and_counts_as_none() -> None:
    values = [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]
    found = variance_components(values, {"clips": [1, 1, 2, 2, 3, 3], "decoding": range(6)})
    assert found["clips"].variance == pytest.approx(-0.25)
    assert found["clips"].of_mean == 0.0


def test_what_cannot_be_told_apart_is_refused() -> None:
    with pytest.raises(ReportError, match="cannot tell these apart: clips, raters"):
        variance_components([1.0, 2.0, 3.0], {"clips": "abc", "raters": "abc"})


@pytest.mark.slow
def test_components_and_the_error_of_the_mean_are_recovered_from_unbalanced_data() -> None:
    # Three levels within each other, of unequal sizes, with a person's offset across them.
    truth = {"clips": 1.0, "raters": 0.5, "decoding": 0.3, "judge": 0.2}
    sizes = [(clip, answer) for clip in range(25) for answer in range(1 + clip % 3)]
    rows = [one for place, one in enumerate(sizes) for _ in range(1 + place % 2)]
    codes = {
        "clips": np.array([clip for clip, _ in rows]),
        "raters": np.arange(len(rows)) % 8,
        "decoding": np.array([sizes.index(one) for one in rows]),
        "judge": np.arange(len(rows)),
    }
    rounds, found, means = 1_500, [], []
    for _ in range(rounds):
        values = np.zeros(len(rows))
        for name, own in codes.items():
            values += DRAW.normal(0, truth[name] ** 0.5, own.max() + 1)[own]
        parts = variance_components(values, {name: own.tolist() for name, own in codes.items()})
        found.append([parts[name].variance for name in truth])
        means.append(values.mean())
    average, error = np.mean(found, axis=0), np.std(found, axis=0) / rounds**0.5
    assert np.all(np.abs(average - list(truth.values())) < 4 * error)
    of_mean = sum(truth[name] * parts[name].weight for name in truth)
    assert np.var(means) == pytest.approx(of_mean, rel=0.15)
