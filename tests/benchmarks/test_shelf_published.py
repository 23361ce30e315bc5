"""Published rows of the shelf beside runs, and answers in the layouts that others publish."""

import json
from pathlib import Path
from typing import Any

import pytest

from audiocapbench import open_benchmark
from audiocapbench.benchmarks.benchmark_file import read_benchmark_file, shelf
from audiocapbench.data.predictions import read_predictions
from audiocapbench.data.row import read_references
from audiocapbench.metrics import compute
from command import run_command

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="there is no ../shared")
CLOTHO = "clotho/evaluation_captions.csv"


def imported(tmp_path: Path, file: Path, references: Path, *more: str) -> dict[str, Any]:
    done = run_command(
        *("import", str(file), "--references", str(references), "--json"),
        *("--store", str(tmp_path / "s.db"), *more),
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "system", "file", "references"),
    [
        ("audiocaps", "CoNeTTE", "conette/outputs_audiocaps_test.csv", None),
        ("clotho", "DCASE 2023 baseline", "aces/2023-baseline-evaluation-preds.csv", CLOTHO),
        ("clotho", "PANNs of ACES", "aces/panns-evaluation-preds.csv", CLOTHO),
    ],
)
def test_published_scores_are_what_their_captions_score(
    name: str, system: str, file: str, references: str | None
) -> None:
    [row] = [one for one in read_benchmark_file(shelf()[name]).published if one.system == system]
    here = [one for one in row.scores if one not in ("spice", "spider")]
    texts = read_predictions(SHARED / file).texts
    samples = read_references(SHARED / (references or file))
    assert {one.id for one in samples} == texts.keys()
    assert len(samples) == row.samples
    said, held_to = [texts[one.id] for one in samples], [one.references for one in samples]
    for one, made in zip(here, compute(here, said, held_to), strict=True):
        assert made.score == pytest.approx(row.scores[one], abs=1e-4)
        assert made.score == pytest.approx(row.recomputed.get(one, row.scores[one]), abs=1e-6)


@needs_shared
def test_the_published_list_of_musiccaps_has_as_many_clips_as_its_file_says() -> None:
    place = SHARED / "musiccaps/musiccaps-public.csv"
    made = open_benchmark("musiccaps", references=place)
    assert len(made.samples) == 2858
    assert {one.category for one in made.samples} == {"music"}


@needs_shared
@pytest.mark.slow
def test_published_rows_stand_beside_runs_of_the_same_clips_and_metric_alone(
    tmp_path: Path,
) -> None:
    file, texts = SHARED / "aces/panns-evaluation-preds.csv", SHARED / CLOTHO
    imported(
        tmp_path,
        file,
        texts,
        "--benchmark",
        "clotho",
        "--model",
        "m",
        "--metrics",
        "cider_d,meteor",
    )
    board = ("leaderboard", "--published", "--store", str(tmp_path / "s.db"), "--json")
    done = run_command(*board, "--metric", "cider_d")
    assert "do not fit its tables" not in done.stdout + done.stderr  # another paper's
    shown = json.loads(done.stdout)["boards"]
    (first,) = [one for one in shown if one["benchmark"] == "clotho"]
    assert [one["model"] for one in first["published"]] == ["DCASE 2023 baseline", "PANNs of ACES"]
    assert first["runs"][0]["departures"][0]["name"] == "metric"
    shown = json.loads(run_command(*board, "--metric", "meteor").stdout)["boards"]
    (other,) = [one for one in shown if one["benchmark"] == "clotho"]
    assert other["published"] == []


ANSWERS = [f"A dog barks {at}." for at in range(4)]


def as_audiobench(path: Path) -> None:
    rows = [
        {"instruction": "Caption it.", "reference": one, "task_type": "AC", "model_prediction": one}
        for one in ANSWERS
    ]
    path.write_text(json.dumps(rows))


def as_lmms_eval(path: Path) -> None:
    rows = [
        {"doc_id": at, "doc": {"question": "?"}, "target": one, "resps": [[one]]}
        | {"filtered_resps": [one], "doc_hash": "a", "arguments": {"gen_args_0": {}}}
        for at, one in enumerate(ANSWERS)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))


def as_conette(path: Path) -> None:
    rows = [f'"[1.5]",{one},"[{one!r}, {one!r}]",{at}.wav,{at}' for at, one in enumerate(ANSWERS)]
    path.write_text("\n".join(["losses,cands,mrefs,fname,index", *rows]))


@pytest.mark.parametrize(
    ("write", "ending"),
    [(as_audiobench, "json"), (as_lmms_eval, "jsonl"), (as_conette, "csv")],
)
def test_import_knows_how_others_write_answers(write: Any, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"answers.{ending}"
    write(path)
    found = imported(tmp_path, path, path, "--model", "m", "--metrics", "rouge_l")
    assert found["metrics"]["rouge_l"]["score"] == 1.0
    assert found["n"] == 4


def test_rows_of_predictions_and_answers_are_about_a_benchmark_of_the_shelf(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    as_audiobench(path)
    found = imported(tmp_path, path, path, "--model", "m", "--benchmark", "wavcaps-test")
    assert found["n"] == 4
    assert found["metrics"]["rouge_l_coco"]["score"] == 1.0
    given = ("--predictions", str(path), "--references", str(path), "--benchmark", "wavcaps-test")
    done = run_command("score", *given, "--metrics", "rouge_l_coco", "--json")
    assert json.loads(done.stdout)["metrics"]["rouge_l_coco"]["score"] == 1.0
