"""Scorers that hear: CAF-Score's published files, its blend, and what hearing adds to ours."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from audiocapbench.data.problems import InvalidDataError
from audiocapbench.errors import JudgeError, MetricError, TrialError
from audiocapbench.meta.pairs import CaptionPair, pair_set, read_pairs
from audiocapbench.meta.scorers.scorer import Choice, PointwiseScorer, create_scorer

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


@pytest.mark.parametrize("clip", ["1.wav", None])
def test_captions_that_differ_by_a_full_stop_have_scores_of_their_own(
    tmp_path: Path, clip: str | None
) -> None:
    rows = [{"caption": BARK, "score": 1}, {"caption": f"{BARK}.", "score": 0}]
    rows.append({"caption": "a cat", "score": 0.5})
    file = write_json(
        tmp_path / "s.json", [one | {"file_name": clip} if clip else one for one in rows]
    )
    asked = [
        pair(clip),
        pair(clip, f"{BARK}."),
        pair(clip, f" {BARK} ."),
        pair(clip, second="a cat."),
    ]
    assert list(create_scorer(f"scores:{file}").choose(asked)) == [FIRST, SECOND, UNKNOWN, FIRST]
    twice = write_json(tmp_path / "twice.json", [rows[0], rows[0] | {"score": 0.5}])
    with pytest.raises(InvalidDataError, match="a second time"):
        create_scorer(f"scores:{twice}").choose(asked)


@pytest.mark.parametrize("results", [["1.wav"], [{"file_name": "1.wav", "Human-Human": {}}]])
def test_a_result_file_without_its_pairs_is_refused(tmp_path: Path, results: object) -> None:
    file = write_json(tmp_path / "caf.json", [{"Result_Metric": {}}, {"Results": results}])
    with pytest.raises(InvalidDataError, match="score_a and score_b"):
        create_scorer(f"scores:{file}").choose([pair("1.wav")])


def score_file(path: Path, first: float, second: float) -> Path:
    rows = [{"file_name": "1.wav", "caption": BARK, "score": first}]
    return write_json(path, [*rows, {"file_name": "1.wav", "caption": "a cat", "score": second}])


def test_caf_is_the_published_blend(tmp_path: Path) -> None:
    clap = score_file(tmp_path / "clap.json", 0.5, 0.6)
    rate = score_file(tmp_path / "rate.json", 1.0, 0.5)
    scorer = create_scorer(f"metric:caf[clap={clap},rate={rate}]")
    assert isinstance(scorer, PointwiseScorer)
    first, second = scorer.score([pair("1.wav")])
    assert first[0] == pytest.approx(0.8 * 0.5 + 0.2 * 1.0, abs=1e-12)
    assert second[0] == pytest.approx(0.8 * 0.6 + 0.2 * 0.5, abs=1e-12)
    assert {"clap", "rate"} <= dict(scorer.signature.fields).keys()
    alone = create_scorer(f"metric:caf[clap={clap}]")
    with pytest.raises(MetricError, match="blends two scores"):
        alone.choose([pair("1.wav")])


@pytest.mark.parametrize("ears", ["clap", "rate", "caf", "clap={},rate"])
@pytest.mark.parametrize("references", ["all", "none"])
def test_what_is_heard_moves_preference(tmp_path: Path, ears: str, references: str) -> None:
    def scores(first: float) -> tuple[float, str]:
        file = score_file(tmp_path / f"{first}.json", first, 0.5)
        options = f"{ears.format(file)}={file},references={references}"
        scorer = create_scorer(f"metric:preference[{options}]")
        assert isinstance(scorer, PointwiseScorer)
        asked = pair("1.wav")
        if references == "none":
            asked = replace(asked, references_first=(), references_second=())
        return float(scorer.score([asked])[0][0]), str(scorer.signature)

    (low, signature), (high, _) = scores(0.1), scores(0.9)
    assert 0 <= low < high <= 1
    assert ears.partition("=")[0] in signature.partition("blend:")[2].partition("|")[0]


def test_ears_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    file = score_file(tmp_path / "ten.json", 7, 3)
    asked = [pair("1.wav")]
    with pytest.raises(MetricError, match="from 0 to 1, and one is 7"):
        create_scorer(f"metric:preference[rate={file}]").choose(asked)
    with pytest.raises(MetricError, match="leave out clap and rate"):
        create_scorer(f"metric:preference[caf={file},rate={file}]").choose(asked)
    with pytest.raises(MetricError, match=r"--scorer metric:caf\[clap=laion,rate=MODEL\]"):
        create_scorer("metric:caf")
    with pytest.raises(MetricError, match="must hear"):
        create_scorer("metric:preference[references=none]").choose(asked)
    with pytest.raises(JudgeError, match="there is no judge"):
        create_scorer("metric:preference[rate=nobody]")
    for missing in ("caf=nobody", "rate=out/ratings.csv", "clap=scores.json"):
        with pytest.raises(TrialError, match="no such file of scores"):
            create_scorer(f"metric:preference[{missing}]")


@pytest.mark.slow
def test_with_ears_preference_agrees_with_people_on_voted_pairs(shared: Path) -> None:
    pairs = read_pairs("brace-main", [shared / "brace/AudioCaps_Main.json"])
    voted = [one for one in pairs if one.answer is not None and not one.answer_set]
    file = shared / "caf/audiocaps_main/qwen3omni_mgaclap.json"
    chosen = create_scorer(f"metric:preference[caf={file}]").choose(voted)
    right = [choice.value == one.answer for choice, one in zip(chosen, voted, strict=True)]
    assert sum(right) / len(voted) >= 0.80
