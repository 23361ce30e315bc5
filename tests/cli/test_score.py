"""``audiocapbench score``: files in, figures out, nothing dropped in silence."""

import csv
import json
import subprocess
from pathlib import Path

import pytest

from audiocapbench.metrics import compute
from command import run_command

REFERENCES = {
    f"clip{i}": [f"a dog barks {i} times", f"a dog is barking {i} times in a row"]
    for i in range(12)
}
PREDICTIONS = {key: refs[0].replace("barks", "howls") for key, refs in REFERENCES.items()}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with (tmp_path / "predictions.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("id", "prediction"), *PREDICTIONS.items()])
    with (tmp_path / "references.jsonl").open("w") as stream:
        for number, (key, texts) in enumerate(REFERENCES.items()):
            category = "even" if number % 2 == 0 else "odd"
            line = {"id": key, "references": texts, "category": category}
            stream.write(json.dumps(line) + "\n")
    return tmp_path


def score(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    files = ["--predictions", "predictions.csv", "--references", "references.jsonl"]
    chosen = words if words and words[0].isdigit() else (*files, *words)
    return run_command("score", *chosen, cwd=place)


def test_the_document_is_as_designed(place: Path) -> None:
    done = score(place, "--metrics", "rouge_l,bleu_2", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["n"] == 12
    assert document["missing"] == 0
    assert list(document["metrics"]) == ["rouge_l", "bleu_2"]
    assert list(document["by_group"]) == ["even", "odd"]
    (direct,) = compute(["rouge_l"], list(PREDICTIONS.values()), list(REFERENCES.values()))
    figure = document["metrics"]["rouge_l"]
    assert figure["score"] == direct.score
    assert figure["signature"] == str(direct.signature)
    assert figure["coverage"] == 1.0
    low, high = figure["ci"]
    assert low <= figure["score"] <= high


def test_the_default_is_the_published_recipe(place: Path) -> None:
    done = score(place)
    assert done.returncode == 0, done.stderr
    for name in ("meteor", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l"):
        assert name in done.stdout


def test_a_file_that_is_given_for_a_run_is_said_how_it_is_scored(place: Path) -> None:
    done = run_command("score", "predictions.csv", cwd=place)
    assert done.returncode == 2
    assert "score --predictions predictions.csv --references FILE" in done.stderr


def test_ids_in_one_file_only_are_counted_both_ways(place: Path) -> None:
    rows = (place / "predictions.csv").read_text().replace("clip3,", "stranger,")
    (place / "predictions.csv").write_text(rows + "{not a row\n")
    done = score(place, "--metrics", "rouge_l", "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["n"], document["missing"], document["surplus"]) == (11, 1, 1)
    assert document["missing_ids"] == ["clip3"]
    assert document["surplus_ids"] == ["stranger"]
    assert len(document["bad_lines"]) == 1
    figure = document["metrics"]["rouge_l"]
    assert figure["coverage"] == 11 / 12
    assert figure["as_zero"] == pytest.approx(figure["score"] * 11 / 12)
    assert "1 sample without a prediction: clip3" in done.stderr


def test_empty_predictions_are_said_beside_what_they_score(place: Path) -> None:
    rows = (place / "predictions.csv").read_text().splitlines()
    rows[1:3] = ["clip0,", "clip1,  "]
    (place / "predictions.csv").write_text("\n".join(rows))
    done = score(place, "--metrics", "rouge_l")
    assert done.returncode == 0, done.stderr
    assert "2 of 12 predictions are empty; they score 0." in done.stderr


def test_scores_of_single_samples_are_written(place: Path) -> None:
    done = score(place, "--metrics", "rouge_l,bleu_1", "--per-sample", "samples.csv")
    assert done.returncode == 0, done.stderr
    with (place / "samples.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    (direct,) = compute(["rouge_l"], list(PREDICTIONS.values()), list(REFERENCES.values()))
    assert [row["id"] for row in rows] == list(REFERENCES)
    assert [float(row["rouge_l"]) for row in rows] == direct.samples.tolist()


def test_an_old_run_gets_more_scores_without_being_asked_again(place: Path) -> None:
    words = "run demo --limit 6 --model control/safe --metrics bleu_1".split()
    run_command(*words, cwd=place)
    done = score(place, "1", "--metrics", "rouge_l", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["run"], document["model"]) == (1, "control/safe")
    assert document["metrics"]["rouge_l"]["score"] > 0
    assert "Leaderboard" in score(place, "1", "--metrics", "rouge_l").stdout
    missing = score(place, "7", "--metrics", "rouge_l")
    assert missing.returncode == 2
    assert "has no run 7" in missing.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--metrics", "blue"], "there is no metric 'blue'"),
        (["--metrics", "bleu_1["], "is not a scorer"),
        (["--metrics", "bleu_1[x]"], "is not an option"),
        (["--metrics", "date[encoder=minilm,encoder=tinybert]"], "encoder is given twice"),
        (["--references", "nowhere.csv"], "nowhere.csv: cannot be read"),
        (["--per-sample", "no/where.csv", "--metrics", "bleu_1"], "cannot be written"),
    ],
)
def test_wrong_use_is_one_sentence(place: Path, words: list[str], reason: str) -> None:
    done = score(place, *words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""  # refused before anything is computed


def test_score_without_anything_says_what_it_needs(place: Path) -> None:
    done = run_command("score", cwd=place)
    assert done.returncode == 2
    assert "score needs a RUN, or --predictions and --references" in done.stderr


def test_missing_predictions_stand_as_zero_beside_the_score(place: Path) -> None:
    lines = (place / "predictions.csv").read_text().splitlines(keepends=True)
    assert "as zero" not in score(place, "--metrics", "rouge_l").stdout
    (place / "predictions.csv").write_text("".join(lines[:7]))
    done = score(place, "--metrics", "rouge_l")
    assert done.returncode == 1
    document = json.loads(score(place, "--metrics", "rouge_l", "--json").stdout)
    figure = document["metrics"]["rouge_l"]
    assert "as zero" in done.stdout
    assert f"{figure['score']:.3f}" in done.stdout
    assert f"{figure['score'] / 2:.3f}" in done.stdout


def test_ids_with_an_extension_meet_and_it_is_said(place: Path) -> None:
    text = (place / "predictions.csv").read_text()
    (place / "predictions.csv").write_text(
        text.replace("clip", "audio/clip").replace(",a", ".WAV,a")
    )
    done = score(place, "--metrics", "rouge_l")
    assert done.returncode == 0, done.stderr
    assert "12 predictions were taken for the references that differ" in done.stderr
    assert "such as 'audio/clip0.WAV' for 'clip0'" in done.stderr
    (place / "predictions.csv").write_text("id,prediction\nclip0.wav,x\nother,y\n")
    done = score(place, "--metrics", "rouge_l")
    assert done.returncode == 2
    assert "'clip0.wav' has no references, and 'clip0' differs from it only by" in done.stderr


def test_what_was_read_is_said_before_the_scores(place: Path) -> None:
    rows = "".join(f"{n},{key},{text}\n" for n, (key, text) in enumerate(PREDICTIONS.items()))
    (place / "predictions.csv").write_text(f",where,output\n{rows}")
    done = score(place, "--metrics", "rouge_l", "--map", "id=where", "--json")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert lines[0] == (
        "Read predictions.csv: 12 rows (id in 'where', prediction in 'output'); its first column "
        "numbers the rows, and was left out."
    )
    assert lines[2] == "12 of 12 samples have a prediction; references a sample: 2."
    assert lines[3].startswith("  'clip0': 'a dog howls 0 times' beside 'a dog barks 0 times'")
    read = json.loads(done.stdout)["read"]
    assert read["predictions"][0]["columns"] == {"id": "where", "prediction": "output"}
    assert read["references_per_sample"] == {"min": 2, "median": 2, "max": 2}
    assert len(read["pairs"]) == 3
    lost = score(place, "--metrics", "rouge_l", "--map", "id=whre")
    assert lost.returncode == 2
    assert "no file has a column 'whre'; did you mean 'where'?" in lost.stderr
    (place / "predictions.csv").write_text("id,prediction,output\nclip0,A dog.,A cat.\n")
    assert "say which: --map prediction=prediction or --map" in score(place).stderr


def test_a_set_too_small_to_hold_captions_to_is_said(place: Path) -> None:
    clips = [f"clip{n},A {word} sounds.\n" for n, word in enumerate("abcdefgh")]
    for count, names, told in ((7, "preference", 1), (8, "preference", 0), (7, "rouge_l", 0)):
        (place / "few.csv").write_text("id,reference\n" + "".join(clips[:count]))
        (place / "predictions.csv").write_text("id,prediction\n" + "".join(clips[:count]))
        done = score(place, "--metrics", names, "--references", "few.csv")
        assert done.stderr.count("holds no caption to other clips") == told, done.stderr
    asked = ("--metrics", "preference[contrast=none]", "--references", "few.csv")
    assert "to other clips" not in score(place, *asked).stderr


def test_an_import_doubts_scores_as_a_scoring_does(tmp_path: Path) -> None:
    rows = [(f"clip{n}", f"A tune {n}") for n in range(12)]
    write = {"own.csv": ("prediction", ""), "refs.csv": ("reference", ".")}
    for name, (column, stop) in write.items():
        lines = "".join(f"{key},{text}{stop}\n" for key, text in rows)
        (tmp_path / name).write_text(f"id,{column}\n{lines}")
    words = ("--references", "refs.csv", "--metrics", "meteor,bleu_1")
    scored = run_command("score", "--predictions", "own.csv", *words, cwd=tmp_path)
    kept = run_command("import", "own.csv", "--model", "m", *words, cwd=tmp_path)
    doubts = [line for line in scored.stderr.splitlines() if line.startswith("Warning: ")]
    assert any("only references end with a full stop" in line for line in doubts)
    assert set(doubts) <= set(kept.stderr.splitlines())


def test_groups_and_doubts_are_the_same_in_words_and_in_json(place: Path) -> None:
    kinds = ["music", "Music", "MUSIC ", "songs", "NA", ""] * 2
    rows = "".join(f"clip{n},{kind},A tune {n}.\n" for n, kind in enumerate(kinds))
    (place / "other.csv").write_text(f"id,category,reference\n{rows}")
    said = "".join(f"clip{n},{'' if n < 3 else 'A tune.'}\n" for n in range(12))
    (place / "predictions.csv").write_text(f"id,prediction\n{said}")
    done = score(place, "--metrics", "rouge_l", "--json", "--references", "other.csv")
    document = json.loads(done.stdout)
    assert {name: one["rouge_l"]["n"] for name, one in document["by_group"].items()} == {"music": 8}
    assert "category 'songs' is read as music" in done.stderr
    assert "Warning: 3 of 12 predictions are empty; they score 0." in done.stderr
    assert document["warnings"][0] == "3 of 12 predictions are empty; they score 0"
    files = ("predictions.csv", "--references", "other.csv", "--model", "m")
    told = run_command("import", *files, cwd=place)
    assert "Read other.csv: 12 rows" in told.stderr
