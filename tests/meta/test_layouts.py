"""Every public layout of the same pairs: one answer, the references, and the published figures."""

import json
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.errors import DatasetError
from audiocapbench.meta.pairs import CaptionPair, pair_set, read_pairs
from audiocapbench.meta.scorers.scorer import Choice, create_scorer
from pair_files import main_clip, write

MAIN, MADE = "brace-main", "brace-hallucination"


def told(pairs: list[CaptionPair]) -> dict[str, Any]:
    return {one.id: (one.first, one.second, one.answer, one.type) for one in pairs}


def test_one_number_is_the_better_caption_in_one_part_and_the_first_ones_truth_in_the_other(
    tmp_path: Path,
) -> None:
    main = [{"file_name": "1.wav", "references": ["a hound"], "Human-Human": ["a", "b", 1]}]
    made = [{"file_name": "1.wav", "caption_1": ["a dog", "a cow", 1], "caption_2": ["x", "y", 0]}]
    (pair,) = read_pairs(MAIN, [write(tmp_path / "m.json", main)])
    assert (pair.answer, pair.votes, pair.references_first) == (1, (), ("a hound",))
    first, second = read_pairs(MADE, [write(tmp_path / "h.json", made)])
    assert (first.answer, second.answer) == (0, 1)
    # What people wrote of the clip beside the pair's own captions.
    assert (first.references_first, second.references_first) == (("y",), ("a dog",))


def test_pairs_of_the_other_part_are_told_of_in_one_line(tmp_path: Path) -> None:
    made = [{"file_name": "1.wav", "caption_1": ["a dog", "a cow", 1]}]
    with pytest.raises(DatasetError, match=f"holds pairs of the kind {MADE}, not {MAIN}"):
        read_pairs(MAIN, [write(tmp_path / "h.json", made)])
    main = [{"file_name": "1.wav", "references": ["a"], "Human-Human": ["a", "b", 1]}]
    with pytest.raises(DatasetError, match=f"holds pairs of the kind {MAIN}, not {MADE}"):
        read_pairs(MADE, [write(tmp_path / "m.json", main)])


def test_errors_of_a_file_are_ten_lines_and_a_count(tmp_path: Path) -> None:
    clips = [main_clip(f"{n}.wav", **{"Human-Human": ["a", "b", n, [n]]}) for n in range(400)]
    clips += [
        main_clip(f"x{n}", **{f"Dog-{chr(97 + n)}": ["a", "b", "", "", [1]]}) for n in range(20)
    ]
    with pytest.raises(DatasetError) as error:
        read_pairs(MAIN, [write(tmp_path / "m.json", clips)])
    lines = str(error.value).splitlines()
    assert len(lines) <= 12
    assert "problems" in lines[0]


def test_processed_files_hold_the_pairs_of_the_raw_ones(shared: Path) -> None:
    folder = shared / "brace"
    for kind, part in ((MAIN, "Main"), (MADE, "Hallu")):
        raw = read_pairs(kind, [folder / f"AudioCaps_{part}.json"])
        same = read_pairs(kind, [folder / f"BRACE_AudioCaps_{part}_Processed.json"])
        assert told(same) == told([one for one in raw if one.answer is not None])
        assert [one.references_first for one in same] == [one.references_first for one in raw]
        assert [one.answer_set for one in same] == [one.answer_set for one in raw]


def test_a_models_answers_hold_the_pairs_that_it_was_asked_about(shared: Path) -> None:
    raw = read_pairs(MAIN, [shared / "brace/meta_AudioCaps_Main_v0.json"])
    asked = read_pairs(MAIN, [shared / "brace/res_AudioCaps_Main_v0_LTU.json"])
    decided = {one.id.partition("/")[2]: one for one in raw if one.answer is not None}
    found = {one.id.partition("/")[2]: one for one in asked if one.answer is not None}
    assert found.keys() == decided.keys()
    for key, one in found.items():
        assert (one.first, one.answer) == (decided[key].first, decided[key].answer)


@pytest.mark.parametrize(
    ("kind", "part", "names"),
    [
        (MAIN, "Main", ["audioflamingo3_laionclap"]),
        pytest.param(MADE, "Hallu", ["qwen3omni_laionclap"], marks=pytest.mark.slow),
    ],
)
def test_published_accuracies_of_caf_score_come_out_to_the_digit(
    shared: Path, kind: str, part: str, names: list[str]
) -> None:
    raw = pair_set(kind, read_pairs(kind, [shared / f"brace/AudioCaps_{part}.json"])).decided
    for name in names:
        file = shared / f"caf/audiocaps_{part.lower()}/{name}.json"
        own = pair_set(kind, read_pairs(kind, [file])).decided
        printed = json.loads(file.read_text("utf-8"))[0]["Result_Metric"]
        # The printed figures of raw scores of made captions are not those of the scores themselves.
        options = [("CAF", ""), ("CAF", "[score=caf]")]
        options += [("Raw CAF", "[score=raw_csf]")] if kind == MAIN else []
        for words, option in options:
            scorer = create_scorer(f"scores:{file}{option}")
            for pairs in (raw, own):
                choices = scorer.choose(pairs)
                right = [one.value == pair.answer for one, pair in zip(choices, pairs, strict=True)]
                for group in ("Overall", *(("HH", "HM", "MM") if kind == MAIN else ())):
                    both = zip(right, pairs, strict=True)
                    some = [one for one, pair in both if group in ("Overall", pair.type)]
                    assert sum(some) / len(some) == printed[f"{words} {group} Accuracy"]


def test_scores_of_a_file_are_compared_as_written(tmp_path: Path) -> None:
    pair = CaptionPair("p", "c", "a dog", "a cat", 0, "HH", "HH")
    file = tmp_path / "s.csv"
    file.write_text("id,score_a,score_b,fine_a,fine_b\np,0.123456789012,0.123456789,1,2\n")
    assert list(create_scorer(f"scores:{file}").choose([pair])) == [Choice.FIRST]
    assert list(create_scorer(f"scores:{file}[score=fine]").choose([pair])) == [Choice.SECOND]
