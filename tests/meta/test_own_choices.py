"""Choices and scores that were made elsewhere, on trial like any other scorer."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from audiocapbench.data.problems import InvalidDataError
from audiocapbench.errors import TrialError
from audiocapbench.meta.pairs import CaptionPair, PairSet, pair_set, read_pairs
from audiocapbench.meta.scorers.scorer import Choice, create_scorer
from audiocapbench.meta.trial import trial_document, try_scorer, write_choices

PAIRS = [
    CaptionPair(f"p{n}", f"c{n}", f"a dog {n}", f"a cat {n}", n % 2, "HH", "HH")  # type: ignore[arg-type]
    for n in range(6)
]


def write_csv(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def test_choices_are_found_by_id_and_read_in_any_words(tmp_path: Path) -> None:
    said = ["0", "1", "tie", "I prefer caption A to caption B.", "second", ""]
    rows = [["id", "choice"], *([f"p{n}", text] for n, text in enumerate(said))]
    file = write_csv(tmp_path / "mine.csv", rows)
    chosen = create_scorer(f"choices:{file}").choose(PAIRS)
    first, second, tie, unknown = Choice
    assert list(chosen) == [first, second, tie, first, second, unknown]


def test_choices_are_found_by_their_captions_too(tmp_path: Path) -> None:
    rows = [
        {"caption_0": f"{pair.first}.", "caption_1": pair.second, "output": f"caption_{n % 2}"}
        for n, pair in enumerate(PAIRS[:4])
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    trial = try_scorer(create_scorer(f"choices:{file}"), PairSet("csv", tuple(PAIRS)))
    assert trial.answers == {"first": 2, "second": 2, "tie": 0, "unknown": 2}
    assert trial.diagnostics.failed == 2
    assert trial.diagnostics.notes == ("2 pairs are not in the file",)
    assert trial.scorer == "choices:mine.jsonl"


@pytest.mark.slow
def test_the_published_answers_of_a_model_are_a_scorer(shared: Path) -> None:
    answers = shared / "brace/res_AudioCaps_Main_v0_GAMA.json"
    found = read_pairs("brace-main", [shared / "brace/meta_AudioCaps_Main_v0.json"])
    trial = try_scorer(create_scorer(f"choices:{answers}"), pair_set("brace-main", found[::4]))
    assert trial.answers["unknown"] < 0.1 * trial.n
    assert trial.answers["first"] > 0.75 * trial.n


def test_scores_are_a_pairs_or_a_captions(tmp_path: Path) -> None:
    rows: list[Sequence[object]] = [["id", "score_a", "score_b"]]
    rows += [[f"p{n}", 1 - n % 2, n % 2] for n in range(6)]
    by_pair = create_scorer(f"scores:{write_csv(tmp_path / 'pairs.csv', rows)}")
    assert [one.value for one in by_pair.choose(PAIRS)] == [pair.answer for pair in PAIRS]
    rows = [["caption", "score"]]
    rows += [[pair.first, n] for n, pair in enumerate(PAIRS)]
    rows += [[pair.second, 2.5] for pair in PAIRS[:5]]
    by_caption = create_scorer(f"scores:{write_csv(tmp_path / 'captions.csv', rows)}")
    trial = try_scorer(by_caption, PairSet("csv", tuple(PAIRS)))
    assert trial.answers == {"first": 2, "second": 3, "tie": 0, "unknown": 1}
    assert trial.diagnostics.failed == 1


def test_what_a_trial_writes_is_read_again(tmp_path: Path) -> None:
    made = PairSet("csv", tuple(PAIRS))
    trial = try_scorer(create_scorer("control:always-1"), made)
    write_choices(tmp_path / "per_pair.csv", [trial])
    again = try_scorer(create_scorer(f"choices:{tmp_path / 'per_pair.csv'}"), made)
    assert again.choices == trial.choices


def test_a_trial_writes_scores_margins_and_readings_of_every_pair(tmp_path: Path) -> None:
    made = PairSet("csv", tuple(PAIRS))
    rows: list[Sequence[object]] = [["id", "choice", "score_a", "score_b"]]
    rows += [["p0", "A", 0.5, 0.25], ["p1", "A: 4/10, B: 9/10", 1, 2], ["p2", "Who knows.", 0, 0]]
    file = write_csv(tmp_path / "mine.csv", rows)
    trials = [try_scorer(create_scorer(f"{kind}:{file}"), made) for kind in ("choices", "scores")]
    write_choices(tmp_path / "per_pair.csv", trials)
    with (tmp_path / "per_pair.csv").open(newline="", encoding="utf-8") as written:
        first, second, third, last = list(csv.DictReader(written))[:4]
    graded = [one["reading choices:mine.csv"] for one in (first, second, third, last)]
    assert graded == ["certain", "likely", "unread", "missing"]
    assert second["choices:mine.csv"] == "1"
    assert (first["score_a scores:mine.csv"], first["margin scores:mine.csv"]) == ("0.5", "0.25")


def test_a_trial_shows_what_likely_readings_and_unread_answers_change(tmp_path: Path) -> None:
    said = ["A", "B", "A: 9/10, B: 4/10", "A: 4/10, B: 9/10", "Who knows.", "B"]
    rows = [["id", "choice"], *([f"p{n}", text] for n, text in enumerate(said))]
    file = write_csv(tmp_path / "mine.csv", rows)
    trial = try_scorer(create_scorer(f"choices:{file}"), PairSet("csv", tuple(PAIRS)))
    by = trial.readings
    assert by is not None
    assert by["certain"] < by["likely"] == by["others_wrong"] == trial.score < by["others_right"]
    assert by["others_right"] == 100.0
    assert trial.signature.get("headline") == "likely-5"
    assert any("with certain readings alone" in one for one in trial.warnings)
    assert trial_document([trial])["readings"] == by


@pytest.mark.parametrize(
    ("said", "prompt", "chosen"),
    [
        (["caption_1", "caption_0"], "", "10"),
        (["Caption 1 is better.", "Caption 2 is better."], "", "01"),
        (["caption_1", "1"], "caption_0: {0}\ncaption_1: {1}\nWhich?", "11"),
        (["caption_1", "2"], "Caption 1 is “{0}”\nCaption 2 is “{1}”\nWhich?", "01"),
        (["The caption_1 is better.", "b"], "", ""),
        (["1", "2"], "", ""),
        (["1", "tie"], "", ""),
    ],
)
def test_numbers_count_as_the_prompt_does_or_all_answers_together_or_not_at_all(
    tmp_path: Path, said: list[str], prompt: str, chosen: str
) -> None:
    rows: list[Sequence[object]] = [["id", "caption_a", "caption_b", "prompt", "choice"]]
    for pair, text in zip(PAIRS, said, strict=False):
        asked = prompt.format(pair.first, pair.second)
        rows.append([pair.id, pair.first, pair.second, asked, text])
    scorer = create_scorer(f"choices:{write_csv(tmp_path / 'mine.csv', rows)}")
    if chosen:
        assert [one.value for one in scorer.choose(PAIRS[:2])] == [*map(int, chosen)]
    else:
        with pytest.raises(TrialError, match=r"whether 0 or 1 is the first: from 0, \d of 2"):
            scorer.choose(PAIRS[:2])


def test_files_that_cannot_be_used_are_told_of(tmp_path: Path) -> None:
    with pytest.raises(TrialError, match="cannot be read"):
        create_scorer(f"choices:{tmp_path / 'none.csv'}")
    other = write_csv(tmp_path / "other.csv", [["id", "choice"], ["q", "a"]])
    with pytest.raises(TrialError, match="none of these pairs"):
        create_scorer(f"choices:{other}").choose(PAIRS)
    twice = write_csv(tmp_path / "twice.csv", [["id", "choice"], ["p0", "a"], ["p0", "b"]])
    with pytest.raises(InvalidDataError, match="a second time"):
        create_scorer(f"choices:{twice}").choose(PAIRS)
    words = write_csv(tmp_path / "words.csv", [["id", "score_a", "score_b"], ["p0", "high", "low"]])
    with pytest.raises(InvalidDataError, match="score_a"):
        create_scorer(f"scores:{words}").choose(PAIRS)
    single = write_csv(tmp_path / "single.csv", [["id", "score"], ["p0", 1]])
    with pytest.raises(InvalidDataError, match="score_a"):
        create_scorer(f"scores:{single}").choose(PAIRS)
    counted = write_csv(tmp_path / "counted.csv", [["id", "choice"], ["p0", 1], ["p1", 2]])
    with pytest.raises(TrialError, match="from 0, 0 of 6 are as people chose, from 1, 2"):
        create_scorer(f"choices:{counted}").choose(PAIRS)
    rows = [["id", "caption_a", "caption_b", "choice"], ["p0", "a cow", "a hen", "a"]]
    with pytest.raises(TrialError, match="captions of 'p0'"):
        create_scorer(f"choices:{write_csv(tmp_path / 'cow.csv', rows)}").choose(PAIRS)


@pytest.mark.parametrize("name", ["id", "note"])
def test_captions_in_the_other_order_turn_their_choices_and_scores(
    tmp_path: Path, name: str
) -> None:
    rows: list[Sequence[object]] = [
        [name, "caption_a", "caption_b", "choice", "score_a", "score_b"]
    ]
    rows += [["p0", "a cat 0", "a dog 0", "A", 1, 0], ["p1", "a dog 1", "a cat 1", "A", 1, 0]]
    rows += [["p2", "a cat 2", "a dog 2", "The second caption is better.", 0, 1]]
    file = write_csv(tmp_path / "turned.csv", rows)
    for kind in ("choices", "scores"):
        chosen = create_scorer(f"{kind}:{file}").choose(PAIRS[:3])
        assert list(chosen) == [Choice.SECOND, Choice.FIRST, Choice.FIRST]


def test_scores_of_captions_may_name_their_pair_too(tmp_path: Path) -> None:
    rows: list[Sequence[object]] = [
        ["id", "caption", "score"],
        ["p0", "a dog 0", 1],
        ["p0", "a cat 0", 2],
    ]
    file = write_csv(tmp_path / "long.csv", rows)
    assert list(create_scorer(f"scores:{file}").choose(PAIRS[:1])) == [Choice.SECOND]
