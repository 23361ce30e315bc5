"""``audiocapbench corrupt`` as a person meets it: files in, pairs and a table out."""

import csv
import json
import os
import subprocess
from pathlib import Path

import pytest

from audiocapbench.meta.corrupt.make import RULES
from audiocapbench.meta.pairs import read_csv_pairs, read_pairs
from command import COMMAND, run_command
from folders import write_lines, write_tone

VERBS = ("speaks", "sings", "laughs", "coughs", "shouts", "whispers")


def call(place: Path, *words: str, hash_seed: str = "") -> subprocess.CompletedProcess[str]:
    if not hash_seed:
        return run_command("corrupt", *words, cwd=place)
    return subprocess.run(
        [*COMMAND, "corrupt", *words],
        cwd=place,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def references(tmp_path: Path) -> Path:
    """Twelve clips of people, two references each, as a table."""
    path = tmp_path / "captions.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "reference"])
        for person, place in (("man", "in a hall"), ("woman", "on a stage")):
            for verb in VERBS:
                writer.writerow([f"{person} {verb}.wav", f"A {person} {verb} {place}"])
                writer.writerow([f"{person} {verb}.wav", f"{person} {verb}"])
    return path


def test_pairs_are_written_and_shown(tmp_path: Path, references: Path) -> None:
    done = call(tmp_path, str(references), "--out", "pairs.csv")
    assert done.returncode == 0, done.stderr
    assert "likelier" in done.stdout
    assert "applicable" in done.stdout
    assert "pairs written to pairs.csv" in done.stderr
    pairs = read_csv_pairs(tmp_path / "pairs.csv")
    assert len(pairs) >= 3
    assert {pair.type for pair in pairs} <= {"noun", "attribute"}
    for pair in (pair for pair in pairs if pair.type == "noun"):
        texts = (pair.first, pair.second)
        assert pair.answer is not None
        assert pair.clip.split()[0] in texts[pair.answer].lower().split()
        assert pair.clip.split()[0] not in texts[1 - pair.answer].lower().split()
        assert pair.dataset == "captions"
        assert len(pair.references_first) == 1
    with (tmp_path / "pairs.csv").open(encoding="utf-8", newline="") as stream:
        first = next(csv.DictReader(stream))
    assert first["source"].partition("#")[0] == first["audio"]


@pytest.mark.slow
def test_the_same_seed_writes_the_same_file(tmp_path: Path, references: Path) -> None:
    # Here, where the seed of hashes is any, and in a process of another one.
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    for name, hash_seed in (("one.csv", ""), ("two.csv", other)):
        assert call(tmp_path, str(references), "--out", name, hash_seed=hash_seed).returncode == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_json_lines_hold_what_the_table_holds(tmp_path: Path, references: Path) -> None:
    for name in ("pairs.csv", "pairs.jsonl"):
        assert call(tmp_path, str(references), "--out", name).returncode == 0
    table, lines = (read_csv_pairs(tmp_path / name) for name in ("pairs.csv", "pairs.jsonl"))
    assert table == lines


def test_json_holds_counts_controls_and_the_trained_check(tmp_path: Path, references: Path) -> None:
    words = ["--out", "pairs.json", "--kinds", "noun,attribute", "--check", "--json"]
    done = call(tmp_path, str(references), *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert list(document["kinds"]) == ["noun", "attribute"]
    assert document["captions"] == 24
    assert document["kinds"]["attribute"]["not_applicable"] >= 0
    assert document["kinds"]["noun"]["share"] == document["kinds"]["noun"]["made"] / 24
    assert "likelier" in document["controls"]["noun"]
    assert {"accuracy", "ci", "ties", "turned_round", "within_3_points"} == set(
        document["controls"]["all"]["always-0"]
    )
    assert [f"Warning: {line}." for line in document["warnings"]] == [
        line for line in done.stderr.splitlines() if line.startswith("Warning: the true caption")
    ]
    pairs = read_pairs("brace-hallucination", [tmp_path / "pairs.json"])
    assert len(pairs) == document["n"]
    assert {pair.type for pair in pairs} <= {"noun", "attribute"}


def test_the_limit_of_a_kind_holds(tmp_path: Path, references: Path) -> None:
    words = ["--out", "pairs.csv", "--per-kind", "4", "--seed", "7", "--json"]
    document = json.loads(call(tmp_path, str(references), *words).stdout)
    assert 0 < document["kinds"]["noun"]["made"] <= 4


def test_a_dataset_folder_names_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    rows = []
    for person in ("man", "woman"):
        write_tone(folder / f"{person}.wav", 200.0 if person == "man" else 400.0)
        rows.append(
            {"file_name": f"{person}.wav", "id": person, "references": [f"A {person} talks"]}
        )
    write_lines(folder, rows)
    done = call(tmp_path, "people", "--out", "pairs.csv")
    assert done.returncode == 0, done.stderr
    pairs = read_csv_pairs(tmp_path / "pairs.csv")
    assert {pair.audio for pair in pairs} == {"man.wav", "woman.wav"}


def test_the_help_says_what_every_kind_means(tmp_path: Path) -> None:
    shown = " ".join(call(tmp_path, "--help").stdout.replace("│", " ").split())
    assert all(f"{kind}: " in shown for kind in RULES)


def test_captions_are_never_overwritten(tmp_path: Path, references: Path) -> None:
    before = references.read_bytes()
    done = call(tmp_path, str(references), "--out", "captions.csv")
    assert done.returncode == 2
    assert "captions.csv is read by this command" in done.stderr
    assert references.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "pairs.txt"], "pairs are written as .csv, .tsv, .json"),
        (["--out", "pairs.csv", "--kinds", "verb"], "there is no kind 'verb'"),
        (["--out", "nowhere/pairs.csv"], "cannot be written"),
        (["--out", "pairs.csv", "--model", "nobody/x"], "there is no model 'nobody/x'"),
    ],
)
def test_wrong_use_is_explained(
    tmp_path: Path, references: Path, words: list[str], message: str
) -> None:
    done = call(tmp_path, str(references), *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "pairs.csv").exists()


def test_captions_of_which_nothing_can_be_made_are_refused(tmp_path: Path) -> None:
    (tmp_path / "captions.csv").write_text("id,reference\na.wav,Rain\n")
    done = call(tmp_path, "captions.csv", "--out", "pairs.csv")
    assert done.returncode == 2
    assert "no pair could be made of its 1 captions" in done.stderr


def test_braces_form_needs_other_references(tmp_path: Path) -> None:
    path = tmp_path / "captions.jsonl"
    lines = [{"id": one, "references": [f"A {one} speaks"]} for one in ("man", "woman")]
    path.write_text("\n".join(map(json.dumps, lines)))
    done = call(tmp_path, str(path), "--out", "pairs.json")
    assert done.returncode == 2
    assert "write a .csv" in done.stderr
