"""Totals of groups: the weighted sum, nothing hidden, and clips that are drawn whole."""

from dataclasses import replace

import numpy as np
import pytest

from audiocapbench.benchmarks.mecat.groups import GROUPS, score_cap
from audiocapbench.benchmarks.mecat.traits import CAPTION_AGGREGATION
from audiocapbench.report.figures import Coverage, Figure, figure_of
from audiocapbench.report.groups.total import Scored, joined, total_figure
from audiocapbench.signature import sign

CLIPS = 40


def made(
    values: dict[str, np.ndarray], total: int = CLIPS, metric: str = "rouge_l"
) -> tuple[dict[str, Figure], list[Scored]]:
    figures, scored = {}, []
    for group, own in values.items():
        coverage = Coverage(total, len(own), 0)
        signature = sign("m", subtask=group)
        figures[group] = figure_of(metric, signature, own[:, np.newaxis], coverage)
        scored += [Scored(group, f"clip{row:03}", [value]) for row, value in enumerate(own)]
    return figures, scored


def values(seed: int = 0, count: int = CLIPS) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {group: generator.random(count) for group in GROUPS}


def test_the_total_is_score_cap_of_the_groups() -> None:
    figures, scored = made(values())
    total = total_figure("rouge_l", CAPTION_AGGREGATION, figures, scored)
    means = {group: own.mean() for group, own in values().items()}
    assert total.score == pytest.approx(score_cap(means).score)
    assert total.interval is not None
    assert total.interval.low < (total.score or 0) < total.interval.high
    assert total.coverage == Coverage(9 * CLIPS, 9 * CLIPS, 0)
    assert total.lacks == ()
    assert total.document()["lacks"] == []
    assert total.signature == sign("m", subtask="by-group", total="Score_Cap")


def test_answers_about_one_clip_are_drawn_together() -> None:
    own = np.random.default_rng(1).random(CLIPS)
    together, scored = made(dict.fromkeys(GROUPS, own))
    whole = total_figure("rouge_l", CAPTION_AGGREGATION, together, scored).interval
    apart = [one._replace(clip=f"{one.corpus}{one.clip}") for one in scored]
    single = total_figure("rouge_l", CAPTION_AGGREGATION, together, apart).interval
    assert whole is not None
    assert single is not None
    # Nine copies of one clip are no nine clips: the interval is that of a single group.
    group = together["long"].interval
    assert group is not None
    assert tuple(whole) == pytest.approx(tuple(group), abs=1e-9)
    assert (single.high - single.low) < 0.7 * (whole.high - whole.low)


def test_failures_count_in_the_group_that_they_happened_in() -> None:
    full, half = made(values()), made(values(count=CLIPS // 2))
    figures = {**full[0], "environment": half[0]["environment"]}
    scored = [one for one in full[1] if one.corpus != "environment"]
    scored += [one for one in half[1] if one.corpus == "environment"]
    total = total_figure("rouge_l", CAPTION_AGGREGATION, figures, scored)
    lost = 0.2 * (figures["environment"].score or 0) / 2
    assert total.score is not None
    assert total.as_zero == pytest.approx(total.score - lost)
    assert tuple(total.bounds or ()) == pytest.approx(
        (total.score - lost, total.score - lost + 0.1)
    )


def test_without_a_group_there_is_no_total_and_the_group_is_named() -> None:
    figures, scored = made(values())
    figures["mixed_sound"] = replace(figures["mixed_sound"], score=None)
    del figures["short"]
    total = total_figure("rouge_l", CAPTION_AGGREGATION, figures, scored)
    assert (total.score, total.interval, total.as_zero) == (None, None, None)
    assert total.lacks == ("short", "mixed_sound")


def test_too_small_a_group_leaves_the_total_without_an_interval() -> None:
    few = {**values(), "pure_sound": np.array([0.1, 0.2])}
    total = total_figure("rouge_l", CAPTION_AGGREGATION, *made(few))
    assert total.score is not None
    assert total.interval is None


def test_a_small_group_that_a_round_misses_does_not_drag_the_total_down() -> None:
    """Ten questions about one clip of many: every third round has no sample of that group."""
    same = {group: np.full(400, 0.5) for group in GROUPS} | {"pure_sound": np.full(10, 0.5)}
    figures, scored = made(same, 400)
    scored = [one._replace(clip="clip000") if one.corpus == "pure_sound" else one for one in scored]
    total = total_figure("rouge_l", CAPTION_AGGREGATION, figures, scored)
    assert tuple(total.interval or ()) == pytest.approx((0.5, 0.5))


def test_a_group_without_any_answer_counts_as_zero_or_anything_up_to_the_best() -> None:
    figures, scored = made(values())
    whole = total_figure("rouge_l", CAPTION_AGGREGATION, figures, scored)
    none = figure_of("rouge_l", "", np.zeros((0, 1)), Coverage(CLIPS, 0, 0))
    lost = total_figure("rouge_l", CAPTION_AGGREGATION, {**figures, "environment": none}, scored)
    assert (lost.score, lost.interval, lost.lacks) == (None, None, ("environment",))
    left = (whole.score or 0) - 0.2 * (figures["environment"].score or 0)
    assert lost.as_zero == pytest.approx(left)
    assert tuple(lost.bounds or ()) == pytest.approx((left, left + 0.2))
    assert lost.coverage == Coverage(9 * CLIPS, 8 * CLIPS, 0)


def test_signatures_that_differ_are_joined_field_by_field() -> None:
    assert joined([sign("a", x=1), sign("a", x=2)]) == sign("a", x="by-group")
    assert joined([sign("a", x=1)] * 3) == sign("a", x=1)
    assert joined([sign("a"), sign("a", x=2)], "sum") == sign("a", x="by-group", total="sum")
    assert not joined([])
