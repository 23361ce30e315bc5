"""Estimates: intervals where they mean something; totals hide nothing and draw clips whole."""

from dataclasses import replace

import numpy as np
import pytest

from audiocapbench.benchmarks.mecat.groups import CAPTION_AGGREGATION, GROUPS, score_cap
from audiocapbench.data import Clip, Sample
from audiocapbench.library.captions import samples_of
from audiocapbench.scores.compute import SampleScores, category
from audiocapbench.scores.estimate import (
    Coverage,
    Estimate,
    Missing,
    Scorer,
    default_scorer,
    interval_words,
)
from audiocapbench.scores.table import ScoreTable
from audiocapbench.signature import Signature, sign
from audiocapbench.stats import FEWEST_FOR_INTERVAL

CLIPS = 40
ROUGE = Scorer("rouge_l")


def made(
    values: dict[str, np.ndarray], total: int = CLIPS, clip: str = "clip{row:03}"
) -> ScoreTable:
    """So many samples in each group, the first of which have a score."""
    samples, scores = [], SampleScores()
    for group, own in values.items():
        for row in range(total):
            key = f"{group} {row}"
            place = {"clip": clip.format(group=group, row=row)}
            samples.append(Sample(key, Clip.absent(key), "", ("A bell.",), group, row, place))
            if row < len(own):
                scores.add(key, own[row], [own[row]], sign("m", subtask=group))
    replies = {one.id: None if one.id in scores.values else Missing.FAILED for one in samples}
    return ScoreTable(samples, CAPTION_AGGREGATION, {ROUGE: scores}, replies)


def test_models_are_ranked_by_what_most_of_them_have() -> None:
    meteor, bleu, judge = Scorer("meteor"), Scorer("bleu_1"), Scorer("elements", "overall")
    ranking = {
        bleu: ({bleu: 13, meteor: 1}, {meteor: 5, judge: 2, bleu: 14}),
        meteor: ({bleu: 14, meteor: 8}, {bleu: 7, meteor: 7}, {bleu: 1, meteor: 1}),
        judge: ({bleu: 14, meteor: 14, judge: 8}, {judge: 3}),
    }
    for wanted, every in ranking.items():
        for counts in every:
            assert default_scorer(counts, 14, "meteor") == wanted, counts


def total_of(table: ScoreTable) -> Estimate:
    return table.estimate(ROUGE)


def values(seed: int = 0, count: int = CLIPS) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {group: generator.random(count) for group in GROUPS}


def test_too_few_samples_get_a_score_but_no_interval() -> None:
    for count in (FEWEST_FOR_INTERVAL - 1, FEWEST_FOR_INTERVAL):
        numbers = np.linspace(0.1, 0.5, count).tolist()
        given = {f"s{row}": value for row, value in enumerate(numbers)}
        samples = samples_of(dict.fromkeys(given, ("A bell.",)))
        scores = {ROUGE: SampleScores.of_values(given, sign("rouge_l"), {})}
        estimate = ScoreTable(samples, None, scores, dict.fromkeys(given)).estimate(ROUGE)
        assert estimate.value == pytest.approx(0.3)
        assert (estimate.interval is not None) is (count == FEWEST_FOR_INTERVAL)
        assert str(estimate).startswith("0.300")
        assert str(estimate).endswith(f"n={count}/{count}")


def test_the_total_is_score_cap_of_the_groups() -> None:
    total = total_of(made(values()))
    means = {group: own.mean() for group, own in values().items()}
    assert total.value == pytest.approx(score_cap(means))
    assert total.interval is not None
    assert total.interval.low < (total.value or 0) < total.interval.high
    assert (total.n, total.coverage) == (9 * CLIPS, Coverage(9 * CLIPS, 9 * CLIPS, 0))
    assert total.lacks == ()
    assert total.to_dict()["lacks"] == []
    assert total.signature == sign("m", subtask="by-group", total="Score_Cap")


def test_answers_about_one_clip_are_drawn_together() -> None:
    own = np.random.default_rng(1).random(CLIPS)
    together = made(dict.fromkeys(GROUPS, own))
    whole = total_of(together).interval
    single = total_of(made(dict.fromkeys(GROUPS, own), clip="{group}{row:03}")).interval
    assert whole is not None
    assert single is not None
    # Nine copies of one clip are no nine clips: the interval is that of a single group.
    group = together.estimate(ROUGE, category("long")).interval
    assert group is not None
    assert tuple(whole) == pytest.approx(tuple(group), abs=1e-9)
    assert (single.high - single.low) < 0.7 * (whole.high - whole.low)


def test_failures_count_in_the_group_that_they_happened_in() -> None:
    table = made({**values(), "environment": values(count=CLIPS // 2)["environment"]})
    total = total_of(table)
    lost = 0.2 * (table.estimate(ROUGE, category("environment")).value or 0) / 2
    assert total.value is not None
    assert total.as_zero == pytest.approx(total.value - lost)
    assert tuple(total.bounds or ()) == pytest.approx(
        (total.value - lost, total.value - lost + 0.1)
    )


def test_without_a_group_there_is_no_total_and_the_group_is_named() -> None:
    given = {**values(), "mixed_sound": np.zeros(0)}
    del given["short"]
    total = total_of(made(given))
    assert (total.value, total.interval, total.as_zero) == (None, None, None)
    assert total.lacks == ("short", "mixed_sound")


def test_too_small_a_group_leaves_the_total_without_an_interval() -> None:
    total = total_of(made({**values(), "pure_sound": np.array([0.1, 0.2])}))
    assert total.value is not None
    assert total.interval is None


def test_a_group_of_one_clip_leaves_the_total_without_an_interval_however_many_questions() -> None:
    table = made(values(), clip="{group}{row:03}")
    assert total_of(table).interval is not None
    few = [
        replace(one, details={"clip": "one"}) if one.category == "pure_sound" else one
        for one in table.samples
        if isinstance(one, Sample)
    ]
    total = total_of(ScoreTable(few, table.aggregation, table.scores, table.replies))
    assert (total.value is not None, total.interval) == (True, None)
    assert "of a category, that are worth fewer than 10: no intervals" in interval_words([total])


def test_a_group_without_any_answer_counts_as_zero_or_anything_up_to_the_best() -> None:
    table = made(values())
    whole, environment = total_of(table), table.estimate(ROUGE, category("environment"))
    lost = total_of(made({**values(), "environment": np.zeros(0)}))
    assert (lost.value, lost.interval, lost.lacks) == (None, None, ("environment",))
    left = (whole.value or 0) - 0.2 * (environment.value or 0)
    assert lost.as_zero == pytest.approx(left)
    assert tuple(lost.bounds or ()) == pytest.approx((left, left + 0.2))
    assert lost.coverage == Coverage(9 * CLIPS, 8 * CLIPS, 0)


def test_signatures_that_differ_are_joined_field_by_field() -> None:
    assert Signature.join([sign("a", x=1), sign("a", x=2)]) == sign("a", x="by-group")
    assert Signature.join([sign("a", x=1)] * 3) == sign("a", x=1)
    assert not Signature.join([])
    assert f"total:{CAPTION_AGGREGATION.total}" in str(made(values()).point(ROUGE).signature)


def test_what_nobody_asked_or_judged_is_no_failure() -> None:
    """A stop or a race leaves samples out, a judge may not be done: no model has failed these."""
    samples = samples_of({f"s{row}": ("A bell.",) for row in range(40)})
    given = {f"s{row}": 0.5 for row in range(20)}
    replies = dict.fromkeys(given) | {f"s{row}": Missing.FAILED for row in range(20, 25)}
    replies |= dict.fromkeys([f"s{row}" for row in range(25, 30)])  # answered, and never judged
    scores = {ROUGE: SampleScores.of_values(given, sign("rouge_l"), {})}
    found = ScoreTable(samples, None, scores, replies).estimate(ROUGE)
    assert found.value == 0.5
    assert found.as_zero == pytest.approx(0.5 * 20 / 25)
    assert tuple(found.bounds or ()) == pytest.approx((0.4, 0.6))
    assert (found.coverage.failed, found.coverage.not_asked) == (5, 10)
    assert found.missing == {Missing.NOT_ASKED: 10, Missing.FAILED: 5, Missing.NOT_JUDGED: 5}
