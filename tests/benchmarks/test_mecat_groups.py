"""MECAT's arithmetic: which answer counts where, and totals that never hide a missing group."""

import pytest

from audiocapbench.benchmarks.mecat.groups import (
    CAPTION_AGGREGATION,
    DIFFICULTIES,
    DOMAINS,
    GROUPS,
    QA_AGGREGATION,
    QA_CATEGORIES,
    SUBTASKS,
    WEIGHTINGS,
    cap_weights,
    corpus_of,
    score_cap,
    score_qa,
    subtask_of,
)
from audiocapbench.errors import BenchmarkError


def test_the_groups_have_as_many_clips_as_published() -> None:
    counts = dict.fromkeys(GROUPS, 0)
    for domain, clips in DOMAINS.items():
        for subtask in SUBTASKS:
            group = corpus_of(subtask, domain)
            if group in counts:
                counts[group] += clips
    assert counts == {
        "long": 20052,
        "short": 20052,
        "pure_speech": 7839,
        "mixed_speech": 8593,
        "pure_music": 2593,
        "mixed_music": 8593,
        "pure_sound": 848,
        "mixed_sound": 8593,
        "environment": 20052,
    }


def test_an_answer_outside_the_groups_says_so() -> None:
    assert corpus_of("speech", "0M0") == "outside_speech"
    assert corpus_of("music", "0M0") == "pure_music"
    assert [subtask_of(group) for group in GROUPS[2:5]] == ["speech", "speech", "music"]


def test_words_that_mecat_does_not_have_are_refused() -> None:
    with pytest.raises(BenchmarkError, match="no sub-task 'loud'"):
        corpus_of("loud", "000")
    with pytest.raises(BenchmarkError, match="no domain 'XYZ'"):
        corpus_of("long", "XYZ")
    with pytest.raises(BenchmarkError, match="no weighting 'mine'"):
        score_cap({}, "mine")


def test_score_cap_is_the_papers_formula() -> None:
    scores = {group: 0.1 * place for place, group in enumerate(GROUPS, start=1)}
    speech, music, sound = (
        (scores[f"pure_{kind}"] + scores[f"mixed_{kind}"]) / 2
        for kind in ("speech", "music", "sound")
    )
    by_hand = (
        0.4 * (0.8 * scores["long"] + 0.2 * scores["short"])
        + 0.4 * (0.6 * speech + 0.3 * music + 0.1 * sound)
        + 0.2 * scores["environment"]
    )
    assert score_cap(scores) == pytest.approx(by_hand, abs=1e-12)
    equal = by_hand + 0.4 * (
        -0.6 * speech - 0.3 * music - 0.1 * sound + (speech + music + sound) / 3
    )
    assert score_cap(scores, "equal") == pytest.approx(equal, abs=1e-12)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_weights_add_up_to_one(weighting: str) -> None:
    assert sum(cap_weights(weighting).values()) == pytest.approx(1, abs=1e-12)


def test_the_published_pengi_row_gives_the_recomputed_total() -> None:
    row = (43.5, 46.8, 27.2, 29.5, 29.3, 13.1, 42.8, 14.6, 7.1)
    assert score_cap(dict(zip(GROUPS, row, strict=True))) == pytest.approx(29.58, abs=0.005)


def test_a_missing_group_leaves_no_total() -> None:
    scores = dict.fromkeys(GROUPS, 0.5)
    del scores["mixed_sound"], scores["short"]
    assert score_cap(scores) is None
    assert score_qa(dict.fromkeys(QA_CATEGORIES[1:], 1.0)) is None


def test_score_qa_is_the_mean_of_six() -> None:
    scores = {name: place / 10 for place, name in enumerate(QA_CATEGORIES)}
    assert score_qa(scores) == pytest.approx(0.25)
    assert sum(DIFFICULTIES.values()) == pytest.approx(1)


def test_each_corpus_gives_date_its_own_sub_task() -> None:
    assert CAPTION_AGGREGATION.metric_options.get("mixed_music", {}) == {"subtask": "music"}
    assert CAPTION_AGGREGATION.metric_options.get("outside_speech", {}) == {"subtask": "speech"}
    assert QA_AGGREGATION.metric_options.get("direct_perception", {}) == {"subtask": "qa"}
