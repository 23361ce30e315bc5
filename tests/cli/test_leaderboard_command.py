"""``audiocapbench leaderboard`` and ``compare`` as users type them."""

import csv
import io
import json
import os
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from audiocapbench.data.outcome import Status
from audiocapbench.store import Store
from command import run_command
from made_store import MadeRun, made_samples, put_run
from needs import needs

SAMPLES = made_samples(24, categories=("sound", "music"))
NAMES = ("plain", "=cmd|x", "best_of_all & more")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of three models, of which the third is better and left one clip out."""
    path = tmp_path_factory.mktemp("made") / "made.db"
    kept = Store.open(str(path))
    for place, name in enumerate(NAMES):
        drawn = np.random.default_rng(place).normal(0.7 if place == 2 else 0.3, 0.05, 24)
        scores = dict(zip((one.id for one in SAMPLES), drawn.tolist(), strict=True))
        statuses = {SAMPLES[0].id: Status.FILTERED} if place == 2 else {}
        given = {key: value for key, value in scores.items() if key not in statuses}
        put_run(kept, MadeRun(name, {"rouge_l": given}, statuses=statuses), SAMPLES)
    kept.close()
    return str(path)


def run(*words: str) -> CompletedProcess[str]:
    return run_command(*words, env=os.environ | {"COLUMNS": "80"})


def test_the_table_shows_ranks_ties_coverage_and_the_signature(store: str) -> None:
    shown = run("leaderboard", "--store", store)
    assert shown.returncode == 0
    lines = shown.stdout.splitlines()
    verdict = "best_of_all & more beats the other 2 in rouge_l on 24 samples (Holm, 3 tests)."
    assert lines[0] == verdict
    assert lines[1].startswith("made: rouge_l, 24 samples")
    (best,) = [line.split() for line in lines if "best_of_all" in line and "/24" in line]
    assert best[0] == "1"
    assert "23/24" in best
    assert "a" in best
    assert "best_of_all & more: 1 refused." in shown.stdout
    assert "Models that share a letter cannot be told apart: 3 paired" in shown.stdout
    assert "Signature: rouge_l|protocol:1" in shown.stdout


def test_json_is_one_document_and_nothing_else(store: str) -> None:
    shown = run("leaderboard", "--store", store, "--by-category", "--json")
    (board,) = json.loads(shown.stdout)["boards"]
    assert board["runs"][0]["model"] == NAMES[2]
    assert board["categories"] == {"sound": 12, "music": 12}


def test_every_form_can_be_printed_or_written(store: str, tmp_path: Path) -> None:
    for form in ("csv", "md", "latex", "json"):
        shown = run("leaderboard", "--store", store, "--format", form)
        file = tmp_path / f"board.{form}"
        written = run("leaderboard", "--store", store, "--format", form, "--out", str(file))
        assert (shown.returncode, written.returncode) == (0, 0)
        assert written.stdout == ""
        assert file.read_text("utf-8") == shown.stdout
    rows = list(csv.DictReader(io.StringIO((tmp_path / "board.csv").read_text("utf-8"))))
    assert {row["model"] for row in rows} == {"plain", "'=cmd|x", "best_of_all & more"}
    assert r"best\_of\_all \& more" in (tmp_path / "board.latex").read_text("utf-8")
    assert r"=cmd\|x" in (tmp_path / "board.md").read_text("utf-8")


def test_latex_has_model_score_interval_and_n_and_what_tests_show_is_bold(store: str) -> None:
    shown = run("leaderboard", "--store", store, "--format", "latex").stdout
    head = next(line for line in shown.splitlines() if line.startswith("{}model"))
    found = [one.strip(" {}\\") for one in head.split("&")]
    assert found == ["model", "score", "95 \\%", "n", "as zero"], "by which a refusal makes it rank"
    board = json.loads(run("leaderboard", "--store", store, "--json").stdout)["boards"][0]
    first = [one["different"] for one in board["pairs"] if board["runs"][0]["run"] in one["runs"]]
    assert (r"\textbf" in shown) == all(first)
    assert "share a letter" not in shown


def test_parquet_is_written_to_a_file(store: str, tmp_path: Path) -> None:
    parquet = needs("pyarrow.parquet")
    file = tmp_path / "board.parquet"
    assert run("leaderboard", "--store", store, "--format", "parquet").returncode == 2
    done = run("leaderboard", "--store", store, "--format", "parquet", "--out", str(file))
    assert done.returncode == 0
    assert set(parquet.read_table(file)["model"].to_pylist()) == set(NAMES)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--metric", "rouge_l", "--judge", "gpt"), "a metric or a judge, not both"),
        (("--metric", "nonsense"), "there is no metric 'nonsense'"),
        (("--out", "x.csv"), "--out needs a --format"),
        (("--benchmark", "demo"), "has no run of demo"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_code_2(
    store: str, words: tuple[str, ...], reason: str
) -> None:
    shown = run("leaderboard", "--store", store, *words)
    assert shown.returncode == 2
    assert reason in shown.stderr
    assert shown.stdout == ""


def test_a_score_that_no_run_has_leaves_no_board_but_says_what_adds_it(store: str) -> None:
    shown = run("leaderboard", "--store", store, "--judge", "elements")
    assert shown.returncode == 2
    assert "no run has a score of elements" in shown.stderr
    assert f"audiocapbench score 3 --judge elements --store {store}" in shown.stderr


def test_compare_shows_differences_and_what_moved(store: str) -> None:
    shown = run("compare", "1", "3", "--clips", "2", "--store", store)
    assert shown.returncode == 0
    assert "A = run 1 (plain) to B = run 3 (best_of_all & more)" in shown.stdout
    paper = run("compare", "1", "3", "--paper", "--store", store).stdout
    assert paper.startswith("On made, best_of_all & more beats plain by")
    for more in ("--json", "--format=csv"):  # which a paragraph is not
        refused = run("compare", "1", "3", "--paper", more, "--store", store)
        assert (refused.returncode, refused.stdout) == (2, "")
    many = run("compare", "1", "2", "3", "--store", store).stdout
    assert "A = run 1 (plain) to 2 runs: B less A" in many
    assert "24 samples in common; 24 of them with rouge_l." in shown.stdout
    assert "best_of_all & more beats plain by" in shown.stdout
    assert "Moved most in rouge_l" in shown.stdout
    assert shown.stdout.count("A: plain on") == 2


def test_compare_speaks_json_and_csv(store: str) -> None:
    said = json.loads(run("compare", "1", "3", "--store", store, "--json").stdout)
    assert said["differences"][0]["p_adjusted"] < 0.05
    assert len(said["moved"]) == 5
    text = run("compare", "1", "3", "--store", store, "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["category"] for row in rows] == ["all", "sound", "music"]
    assert float(rows[0]["difference"]) == said["differences"][0]["difference"]


def test_compare_names_runs_that_are_not_there(store: str) -> None:
    shown = run("compare", "1", "9", "--store", store)
    assert shown.returncode == 2
    assert "has no run 9" in shown.stderr


def test_both_are_commands_of_the_program(store: str) -> None:
    done = run_command("leaderboard", "--store", store, "--published")
    assert done.returncode == 0, done.stderr
    assert "audiocapbench: as published, judged by GPT-4.1, 1,000 samples" in done.stdout
    assert "gemini/gemini-3-pro-preview" in done.stdout
    assert "statements of the paper do not fit its tables" in done.stderr
    assert "compare" in run_command("--help").stdout


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of two runs that two judges have seen, of which one was checked and fails."""
    path = tmp_path_factory.mktemp("judged") / "judged.db"
    kept = Store.open(str(path))
    for place, name in enumerate(("one", "two")):
        grades = {one.id: {"accuracy": 4.0 + place, "recall": 5.0} for one in SAMPLES}
        put_run(kept, MadeRun(name, grades={"gpt": grades, "lax": grades}), SAMPLES)
    kept.put_judge_check(
        "lax", "made", "judge-lax", {"warning": "lax does not tell right from safe"}
    )
    kept.close()
    return str(path)


@pytest.mark.parametrize("words", [("leaderboard",), ("compare", "1", "2")])
def test_judges_that_fail_their_check_are_warned_about(judged: str, words: tuple[str, ...]) -> None:
    unchecked = run(*words, "--judge", "gpt", "--store", judged)
    assert "has not been checked" not in unchecked.stderr
    failing = run(*words, "--judge", "lax", "--store", judged)
    assert "Warning: lax does not tell right from safe." in failing.stderr
    assert failing.returncode == 0


@pytest.mark.parametrize("words", [("leaderboard",), ("compare", "1", "2")])
def test_tables_fit_into_80_columns(judged: str, words: tuple[str, ...]) -> None:
    shown = run(*words, "--clips", "0", "--store", judged) if len(words) > 1 else None
    shown = shown or run(*words, "--by-category", "--store", judged)
    table = [line for line in shown.stdout.splitlines() if line.startswith("  ") or "─" in line]
    assert shown.returncode == 0
    assert max(map(len, table)) <= 80


@pytest.mark.parametrize("words", [("leaderboard",), ("compare", "1", "3")])
def test_the_correction_is_chosen_and_named(store: str, words: tuple[str, ...]) -> None:
    shown = run(*words, "--correction", "bh", "--store", store)
    assert "Benjamini" in shown.stdout
    assert run(*words, "--correction", "none", "--store", store).returncode == 2


def test_an_unknown_judge_beside_published_rows_is_wrong_use(store: str) -> None:
    shown = run("leaderboard", "--published", "--judge", "nobody", "--store", store)
    assert shown.returncode == 2
    assert "no run has a score of nobody, and the published results have none" in shown.stderr


def test_an_imported_run_hides_no_run_of_the_same_name_and_rows_name_their_runs(
    tmp_path: Path,
) -> None:
    words = ("--store", str(tmp_path / "s.db"), "--metrics", "rouge_l")
    models = ("--model", "control/safe", "--model", "control/right")
    run("run", "demo", *models, *words, "--limit", "12")
    exported = str(tmp_path / "r.json")
    run("export", "1", "--to", "published", "--out", exported, *words[:2])
    run("import", exported, "--benchmark", "demo", "--model", "control/safe", *words)
    shown = run_command("leaderboard", *words[:2], env=os.environ | {"COLUMNS": "200"})
    rows = [line.split() for line in shown.stdout.splitlines() if "control/" in line]
    assert sorted(row[4] for row in rows if row[1] == "control/safe") == ["1", "3"]
    assert "Run 3: imported." in shown.stdout
    assert "corrected by Holm over the pairs of this table" in shown.stdout
    assert "not shown" not in shown.stderr
    compared = run("compare", "1", "2", *words[:2])
    assert "corrected over the runs alone, the others over their rows" in " ".join(
        compared.stdout.split()
    )


def test_long_names_are_broken_before_a_table_is(tmp_path: Path) -> None:
    kept = Store.open(str(tmp_path / "s.db"))
    name = "endpoint/a-model-of-some-length@http://gpu-17.cluster.internal:8000/v1"
    grades = {one.id: {"accuracy": 4.0, "completeness": 5.0} for one in SAMPLES}
    put_run(kept, MadeRun(name, grades={name: grades}), SAMPLES)
    kept.close()
    shown = run("leaderboard", "--store", str(tmp_path / "s.db"))
    lines = [one for one in shown.stdout.splitlines() if not one.startswith("Signature")]
    assert all(len(one) <= 80 or one.split()[0] in ("made:", "Not", name) for one in lines)
    assert name in shown.stdout.partition("samples")[0]
    assert "(continued)" not in shown.stdout
    for part in ("endpoint/", "a-model-of-some-length", "@http://", "gpu-17.cluster.internal"):
        assert part in shown.stdout.partition("samples")[2]


@pytest.mark.parametrize(
    ("runs", "code", "says"),
    [
        (("1", "3"), 0, "pass rouge_l: best_of_all & more (run 3) is not shown to be worse"),
        (("3", "1"), 1, "FAIL rouge_l: plain (run 1) is surely worse"),
        (("1", "2"), 0, "would be seen"),
    ],
)
def test_a_gate_closes_by_the_test_and_not_by_the_mean(
    store: str, runs: tuple[str, str], code: int, says: str
) -> None:
    shown = run("compare", *runs, "--fail-if-worse", "rouge_l", "--store", store)
    assert shown.returncode == code
    assert says in shown.stderr
    twice = ("--fail-if-worse", "rouge_l") * 2
    told = json.loads(run("compare", *runs, *twice, "--json", "--store", store).stdout)["gates"]
    assert (told["open"], told["tests"]) == (not code, 1)


def test_a_gate_closes_when_a_run_fails_what_the_other_answers(tmp_path: Path) -> None:
    scores = {"rouge_l": {one.id: place % 7 / 10 for place, one in enumerate(SAMPLES)}}
    kept = Store.open(str(tmp_path / "s.db"))
    for failed in (0, 2, 10):
        statuses = {one.id: Status.REFUSED for one in SAMPLES[:failed]}
        put_run(kept, MadeRun(f"made/{failed}", scores, statuses=statuses), SAMPLES)
    kept.close()
    words = ("--fail-if-worse", "rouge_l", "--store", str(tmp_path / "s.db"))
    assert run("compare", "1", "2", *words).returncode == 0
    assert run("compare", "3", "1", *words).returncode == 0
    shown = run("compare", "1", "3", *words)
    assert shown.returncode == 1
    assert "made/10 (run 3) is surely worse than made/0 (run 1)" in shown.stderr


def test_a_gate_that_cannot_close_is_an_error(store: str) -> None:
    shown = run("compare", "1", "3", "--fail-if-worse", "elements", "--store", store)
    assert shown.returncode == 2
    assert "not compared by 'elements'" in shown.stderr


def test_a_margin_opens_only_for_runs_that_are_surely_within(store: str) -> None:
    gate = ("--fail-if-worse", "rouge_l", "--store", store)
    assert run("compare", "1", "2", *gate, "--margin", "0.3").returncode == 0
    close = run("compare", "1", "2", "3", *gate, "--margin", "0.01")
    assert close.returncode == 1
    assert "FAIL rouge_l: =cmd|x (run 2) is perhaps 0.01 worse than plain (run 1)" in close.stderr
    assert "pass rouge_l: best_of_all & more (run 3) is surely not 0.01 worse" in close.stderr
    assert run("compare", "1", "2", "--margin", "0.1", "--store", store).returncode == 2


def test_a_gate_does_not_depend_on_what_else_is_compared(store: str) -> None:
    words = [
        run("compare", "1", *more, "--fail-if-worse", "rouge_l", "--store", store).stderr
        for more in (("2",), ("2", "--metrics", "rouge_l"), ("2", "--paper"))
    ]
    assert len(set(words)) == 1


def test_a_board_fails_when_a_model_is_surely_below(store: str) -> None:
    assert run("leaderboard", "--fail-under", "0.1", "--store", store).returncode == 0
    doubtful = run("leaderboard", "--fail-under", "0.3", "--store", store)
    assert doubtful.returncode == 0
    assert "UNSURE rouge_l: plain (run 1) is not surely" in doubtful.stderr
    failed = run("leaderboard", "--fail-under", "0.5", "--store", store)
    assert failed.returncode == 1
    assert "FAIL rouge_l: plain (run 1) is surely under 0.5" in failed.stderr
    assert "pass rouge_l: best_of_all & more (run 3) is surely above 0.5" in failed.stderr


def test_a_model_does_not_pass_by_leaving_out(store: str) -> None:
    # Of the clips that it answered the third model has .7; one of 24 was filtered.
    shown = run("leaderboard", "--fail-under", "0.69", "--store", store)
    assert "best_of_all & more (run 3) is not surely under 0.69 (0.6" in shown.stderr


def test_gates_of_a_file_decide_the_exit_code(store: str, tmp_path: Path) -> None:
    file, out = tmp_path / "gates.toml", [tmp_path / "gates.xml", tmp_path / "gates.md"]
    words = ("gate", str(file), "--store", store)
    gate = "[[gate]]\nkind = 'not-worse'\nmetric = 'rouge_l'\nagainst = '{}'\nrun = {}\n"
    file.write_text(gate.format("plain", 3))
    opened = run(*words)
    assert (opened.returncode, opened.stdout[:5], opened.stderr) == (0, "Open:", "")
    file.write_text(gate.format(NAMES[2], "['plain', 2]"))
    closed = run(*words, "--json", "--junit", str(out[0]), "--markdown", str(out[1]))
    document = json.loads(closed.stdout)
    assert (closed.returncode, document["open"], document["tests"]) == (1, False, 2)
    assert [one["verdict"] for one in document["gates"]] == ["fail", "fail"]
    assert out[0].read_text().count("<failure>") == 2
    assert out[1].read_text().startswith("## Closed: 2 of 2 gates failed")
    file.write_text(gate.format("plain", 2).replace("rouge_l", "meteor"))
    unknown = run(*words)
    assert unknown.returncode == 2
    assert "1 of 1 gate cannot be told" in unknown.stderr
    assert run("gate", str(tmp_path / "none.toml"), "--store", store).returncode == 2
    for option, read in (("--junit", store), ("--markdown", str(file))):
        assert "would be overwritten" in run(*words, option, read).stderr
