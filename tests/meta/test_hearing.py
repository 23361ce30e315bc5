"""Scorers that hear: CAF-Score's published files, its blend, and what hearing adds to ours."""

import json
from pathlib import Path

import pytest

from audiocapbench.data.problems import InvalidDataError
from audiocapbench.errors import TrialError
from audiocapbench.meta.pairs import CaptionPair, pair_set, read_pairs
from audiocapbench.meta.scorers.scorer import Choice, create_scorer

FIRST, SECOND, TIE, UNKNOWN = Choice
BARK = "a dog barks"


def pair(clip: str | None, first: str = BARK, second: str = "a cat") -> CaptionPair:
    held_to = ("a dog is barking", "a dog barks twice")
    name = clip or "unnamed"
    return CaptionPair(name, name, first, second, 0, "HH", "HH", "", held_to, held_to, audio=clip)


def write_json(path: Path, rows: object) -> Path:
    path.write_text(json.dumps(rows))
    return path


def published(path: Path) -> dict[tuple[str, str, str], tuple[float, float, int]]:
    """Both scores of CAF-Score and its prediction, by clip and captions."""
    found = {}
    for clip in json.loads(path.read_text())[1]["Results"]:
        for one in clip.values():
            if isinstance(one, dict):
                key = clip["file_name"], one["caption0"], one["caption1"]
                scores = one["caption0_caf_score"], one["caption1_caf_score"]
                found[key] = (*scores, one["caf_prediction"])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("part", ["main", "hallu"])
def test_every_choice_of_the_published_files_of_caf_score_is_met(shared: Path, part: str) -> None:
    kind = {"main": "brace-main", "hallu": "brace-hallucination"}[part]
    pairs = read_pairs(kind, [shared / f"brace/AudioCaps_{part.title()}.json"])
    files = sorted((shared / f"caf/audiocaps_{part}").glob("*.json"))
    assert len(files) == {"main": 8, "hallu": 2}[part]
    for file in files:
        known = published(file)
        chosen = create_scorer(f"scores:{file}").choose(pair_set(kind, pairs).pairs)
        for one, choice in zip(pairs, chosen, strict=True):
            first, second, predicted = known[str(one.audio), one.first, one.second]
            # Their 1 is the second caption, and in hallucination pairs that the first is right.
            theirs = FIRST if predicted == (part == "hallu") else SECOND
            assert choice is (TIE if first == second else theirs)


def test_scores_that_name_their_clip_are_of_that_clip_alone(tmp_path: Path) -> None:
    rows = [
        {"file_name": "x/1.wav", "caption": BARK, "score": 1},
        {"file_name": "2", "caption": BARK, "score": 0},
        {"file_name": "1.wav", "caption": "a cat", "score": 0.5},
        {"file_name": "2.wav", "caption": "a cat", "score": 0.5},
    ]
    scorer = create_scorer(f"scores:{write_json(tmp_path / 'clips.json', rows)}")
    asked = [pair("1.wav"), pair("2.wav"), pair("3.wav"), pair(None)]
    assert list(scorer.choose(asked)) == [FIRST, SECOND, UNKNOWN, UNKNOWN]
    alike = write_json(tmp_path / "alike.json", [rows[0], rows[2]])
    assert list(create_scorer(f"scores:{alike}").choose([pair(None)])) == [FIRST]
    with pytest.raises(TrialError, match="the clip's own name"):
        create_scorer(f"scores:{alike}").choose([pair("3.wav")])


@pytest.mark.parametrize("results", [["1.wav"], [{"file_name": "1.wav", "Human-Human": {}}]])
def test_a_result_file_without_its_pairs_is_refused(tmp_path: Path, results: object) -> None:
    file = write_json(tmp_path / "caf.json", [{"Result_Metric": {}}, {"Results": results}])
    with pytest.raises(InvalidDataError, match="score_a and score_b"):
        create_scorer(f"scores:{file}").choose([pair("1.wav")])
