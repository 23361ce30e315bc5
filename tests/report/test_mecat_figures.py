"""Figures of the MECAT paper made anew from its published rows: F.4, F.5, K.1 and K.2.

F.1 and F.3 are in test_ratings.py, beside the command that makes them.
"""

import json

import pytest

from audiocapbench.benchmarks.mecat.groups import (
    DOMAINS,
    GROUPS,
    WEIGHTINGS,
    corpus_of,
    score_cap,
    score_qa,
    subtask_of,
)
from audiocapbench.report.mecat.published import published
from command import run_command

# Ranks of table F.4, by Original, Audio-Centric and Equal.
RANKS = {
    "Gemini-3-Pro": (1, 2, 2),
    "Qwen3-Omni-Flash-1201": (2, 1, 1),
    "Gemini-2.5-Flash": (3, 3, 3),
    "Gemini-3-Flash": (4, 5, 5),
    "Gemini-2.5-Pro": (5, 4, 4),
    "Qwen2.5-Omni 7B": (6, 7, 6),
    "Qwen2.5-Omni 3B": (7, 6, 7),
    "Step-Audio-2-mini": (8, 8, 8),
    "Qwen3-Omni": (9, 10, 11),
    "Audio Flamingo 3": (10, 9, 9),
    "MiMo-Audio": (11, 11, 10),
    "Baichuan-Omni": (12, 12, 12),
    "Baichuan-Audio": (13, 14, 14),
    "Kimi-Audio-7B": (14, 13, 13),
    "Phi-4-Multimodal": (15, 15, 15),
}


def test_table_f4_and_its_tau_follow_from_table_2() -> None:
    said = json.loads(run_command("mecat", "weights", "--json").stdout)
    lalm = [one["name"] for one in published().models if one["kind"] == "lalm"]
    scores = {one["model"]: one["scores"] for one in said["models"] if one["model"] in lalm}
    printed = published().tables["F.4"]
    for model in lalm:
        for weighting in ("audio-centric", "equal"):
            assert scores[model][weighting] == pytest.approx(printed[model][weighting], abs=5e-3)
        assert scores[model]["original"] == pytest.approx(printed[model]["original"], abs=0.06)
    for place, weighting in enumerate(WEIGHTINGS):
        # The paper breaks its tie at 40.4 in no order that the groups give.
        own = sorted(RANKS, key=lambda model: -printed[model][weighting])
        assert [RANKS[model][place] for model in own] == list(range(1, 16))
    taus = {(one["of"], one["first"], one["second"]): one["tau"] for one in said["kendall_tau"]}
    for other in ("audio-centric", "equal"):
        assert taus["as table F.4 prints them", "original", other] == pytest.approx(
            0.9187, abs=5e-5
        )
        assert taus["audio-language models", "original", other] == pytest.approx(0.9048, abs=5e-5)
    assert taus["all", "original", "equal"] == pytest.approx(0.9118, abs=5e-5)


def test_table_f5_fits_the_test_set_table_2_and_table_f6() -> None:
    """The answers are not published; what the rows say of each other holds to the last digit."""
    stability = published().stability
    row = published().tables["2"][stability["model"]]
    assert list(stability["whole"]) == list(GROUPS)
    for group, one in stability["whole"].items():
        sizes = [
            n for domain, n in DOMAINS.items() if corpus_of(subtask_of(group), domain) == group
        ]
        assert one["size"] == sum(sizes)
        assert one["mean"] == pytest.approx(row[group], abs=0.15)
        assert one["cv"] == stability["cv"][group]["100"]
        deviation = one["mean"] * one["cv"] / 100
        half = (one["high"] - one["low"]) / 2
        assert half == pytest.approx(1.96 * deviation, abs=0.11), "printed with one digit"
        assert one["low"] < one["mean"] < one["high"]
        assert 1.9 < one["largest_deviation"] / deviation < 2.9, "of 50 rounds"
    assert sum(one["cv"] < 1 for one in stability["whole"].values()) == 8
    assert max(one["largest_deviation"] for one in stability["whole"].values()) == 1.4


@pytest.mark.parametrize(
    ("benchmark", "table", "total", "misprints"),
    [
        ("mecat-caption", "K.1", score_cap, {"Pengi", "Qwen2.5-Omni 3B", "Gemini-3-Pro"}),
        ("mecat-qa", "K.2", score_qa, set()),
    ],
)
def test_tables_k_are_the_standings_by_similarity(
    benchmark: str, table: str, total: object, misprints: set[str]
) -> None:
    assert callable(total)
    words = ("mecat", "standings", "--by", "similarity", "--benchmark", benchmark, "--json")
    shown = json.loads(run_command(*words).stdout)["standings"]
    rows = published().tables[table]
    assert {one["model"]: one["figures"] for one in shown} == rows
    assert [one["figures"]["score"] for one in shown] == sorted(
        (row["score"] for row in rows.values()), reverse=True
    )
    wrong = {model for model, row in rows.items() if abs(total(row) - row["score"]) > 0.1}
    assert wrong == misprints
    noted = {one["model"] for one in shown if "own groups is" in one["note"]}
    assert noted == misprints
