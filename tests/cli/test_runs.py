"""``audiocapbench runs``: listing, showing, naming, tagging and deleting."""

import json
import os
import shutil
import sqlite3
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from audiocapbench.data.outcome import Status
from audiocapbench.errors import StoreError
from audiocapbench.store import Store
from audiocapbench.store.claims import TaskKey, Worker
from audiocapbench.store.ledger import Reservation, Scope
from command import run_command
from made_store import MadeRun, made_samples, put_run

SAMPLES = made_samples(4)
SCORES = {one.id: 0.5 for one in SAMPLES}
GRADES = {"gpt": {one.id: {"accuracy": 4.0} for one in SAMPLES}}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two runs and a trial, which is copied and never opened again."""
    path = tmp_path_factory.mktemp("made") / "made.db"
    with Store.open(str(path)) as kept:
        put_run(kept, MadeRun("first", {"rouge_l": SCORES}, GRADES, cost_usd=0.25), SAMPLES)
        put_run(kept, MadeRun("second", {"rouge_l": SCORES}), SAMPLES)
        put_run(kept, MadeRun("writer", kind="trial"), made_samples(2), "trial/captions")
    return path


@pytest.fixture
def store(made: Path, tmp_path: Path) -> str:
    """That store, to be changed."""
    return str(shutil.copy(made, tmp_path / "made.db"))


def call(*words: str, given: str = "") -> CompletedProcess[str]:
    return run_command("runs", *words, env=os.environ | {"COLUMNS": "200"}, given=given)


def listed(store: str, *words: str) -> list[str]:
    found = json.loads(call("--store", store, "--json", *words).stdout)["runs"]
    return [line["model"] for line in found]


def test_trials_are_known_by_their_kind_and_not_listed(store: str) -> None:
    assert listed(store) == ["first", "second"]
    assert listed(store, "--trials") == ["first", "second", "writer"]
    assert "1 run of trials not shown" in call("--store", store).stderr


def test_a_run_is_found_by_its_model_name_or_tag_and_the_one_taken_is_said(store: str) -> None:
    with Store.open(store) as kept:
        put_run(kept, MadeRun("second", {"rouge_l": SCORES}), SAMPLES)
        kept.catalog.rename(1, "the baseline")
        kept.catalog.tag(2, ["paper"])
    for text, number in (("second", 4), ("the baseline", 1), ("paper", 2), ("first", 1)):
        shown = call("show", text, "--store", store, "--json")
        assert json.loads(shown.stdout)["id"] == number
        assert f"{text}: run {number}" in shown.stderr
        assert call("--store", store, "show", text, "--json").stdout == shown.stdout
    assert ", the newest of 2, 4." in call("show", "second", "--store", store).stderr
    compared = run_command("compare", "first", "second", "--store", store, "--json")
    document = json.loads(compared.stdout)
    assert (document["a"]["run"], document["b"]["run"]) == (1, 4)


def test_a_run_that_is_not_clear_is_refused(store: str) -> None:
    with Store.open(store) as kept:
        put_run(kept, MadeRun("first"), made_samples(2), "another")
        for number in (1, 2):
            kept.catalog.tag(number, ["paper"])
    for text in ("first", "paper"):
        done = call("show", text, "--store", store)
        assert done.returncode == 2
        assert f"'{text}' may be any of these runs: 1 (first on made)" in done.stderr
    done = run_command("report", "secnd", "--store", store)
    assert done.returncode == 2
    assert "has no run of the name, tag or model 'secnd'" in done.stderr
    assert "second" in done.stderr
    with (
        pytest.raises(StoreError, match=r"run 1 is the number 1, without quotes"),
        Store.open(store) as kept,
    ):
        kept.run_called("1")
    assert "writer" not in call("show", "writer", "--store", store).stdout, "trials have numbers"


def test_no_name_takes_the_place_of_a_number_or_of_a_model(store: str) -> None:
    """A gate by model must not test another because somebody gave a run that model's name."""
    for words in (("rename", "1", "2"), ("tag", "1", "a,b"), ("tag", "1", "7")):
        done = call(*words, "--store", store)
        assert done.returncode == 2
        assert "would not be found again" in done.stderr
    with Store.open(store) as kept:
        kept.catalog.rename(1, "second")
        with pytest.raises(StoreError, match=r"'second' may be any of these runs: 1 .*, 2 "):
            kept.run_called("second")
        kept.catalog.rename(1, "first")
        assert kept.run_called("first") == (1, [1])


def test_a_run_is_shown_with_what_made_its_scores(store: str) -> None:
    shown = call("show", "1", "--store", store)
    assert shown.returncode == 0
    for part in ("first", "$1.00", "rouge_l|protocol:1", "judge-gpt|protocol:1"):
        assert part in shown.stdout
    document = json.loads(call("--store", store, "show", "1", "--json").stdout)
    assert [one["scorer"] for one in document["scorers"]] == ["rouge_l", "gpt"]
    assert document["scorers"][0]["made_by"].startswith("audiocapbench ")
    assert document["sample_count"] == 4
    assert call("show", "9", "--store", store).returncode == 2


def test_names_and_tags_are_listed_and_filtered_by(store: str) -> None:
    assert call("rename", "2", "the good one", "--store", store).returncode == 0
    assert call("tag", "2", "paper", "draft", "--store", store).returncode == 0
    assert call("tag", "1", "draft", "--store", store).returncode == 0
    assert call("tag", "1", "draft", "--store", store).returncode == 0
    assert listed(store, "--tag", "draft") == ["first", "second"]
    assert listed(store, "--tag", "draft", "--tag", "paper") == ["second"]
    shown = call("--store", store).stdout
    assert "the good one" in shown
    assert "draft, paper" in shown
    assert call("tag", "1", "draft", "--remove", "--store", store).returncode == 0
    assert listed(store, "--tag", "draft") == ["second"]
    assert "has no run tagged nothing" in call("--tag", "nothing", "--store", store).stdout
    assert call("rename", "2", "", "--store", store).returncode == 0
    assert "the good one" not in call("--store", store).stdout
    assert call("tag", "9", "draft", "--store", store).returncode == 2
    assert call("tag", "1", " ", "--store", store).returncode == 2


def test_deleting_says_what_is_lost_and_needs_a_yes(store: str) -> None:
    refused = call("delete", "1", "--store", store)
    assert refused.returncode == 2
    assert "without a terminal, give --yes" in refused.stderr
    assert "will be lost: 4 answers, 4 judgements, $1.00" in refused.stderr
    assert listed(store) == ["first", "second"]
    nobody = call("--store", store, "delete", "nobody", "--yes")
    assert "no run of the name, tag or model 'nobody'" in nobody.stderr
    unknown = call("delete", "1", "9", "--yes", "--store", store)
    assert unknown.returncode == 2
    assert "has no run 9" in unknown.stderr
    assert listed(store) == ["first", "second"]


def test_a_run_that_a_command_is_at_work_on_is_not_deleted(store: str) -> None:
    worker = Worker(30.0)
    with Store.open(store) as kept:
        task = TaskKey("", SAMPLES[0].id)
        kept.claims.take(2, worker, [task], kept.claims.states(2))
        refused = call("delete", "1", "2", "--yes", "--store", store)
        assert refused.returncode == 2
        assert f"pid {os.getpid()} on" in refused.stderr
        assert "is at work on run 2; end that first" in refused.stderr
        assert listed(store) == ["first", "second"]
        kept.claims.release(worker)
        # Whoever died holds nothing.
        kept.claims.take(2, worker, [task], kept.claims.states(2))
        ended = f"{worker.process.rpartition(':')[0]}:{2**22}.1"  # a number that no process has
        with sqlite3.connect(store) as direct:
            direct.execute("UPDATE workers SET process = ?", [ended])
    assert call("delete", "second", "--yes", "--store", store).returncode == 0
    assert listed(store) == ["first"]


def test_a_deleted_run_is_gone_with_all_that_was_known_of_it(store: str) -> None:
    with Store.open(store) as kept:
        trial, dataset = kept.run(3), kept.run(1).dataset
    assert call("delete", "1", "3", "1", "--yes", "--store", store).returncode == 0
    with Store.open(store) as kept:
        assert [line.id for line in kept.runs()] == [2]
        assert kept.outcomes(1) == {}
        assert kept.score_columns(1) == {}
        assert kept.judgements(1) == []
        assert len(kept.dataset(dataset).samples) == 4
        with pytest.raises(Exception, match=r"[Nn]o row"):
            kept.dataset(trial.dataset)
        put_run(kept, MadeRun("third"), SAMPLES)
        assert [line.id for line in kept.runs()] == [2, 4]


def test_what_is_out_for_a_deleted_run_is_no_longer_promised_but_lost(store: str) -> None:
    row: dict[str, Any] = dict.fromkeys(("worker", "start", "owner", "judge"), "")
    row |= {"command": "c", "project": "P", "model": "second", "sample": "s0000", "repeat": 0}
    row |= {"kind": "held", "held_usd": 4.0, "likely_usd": 0.5, "made_at": "2026-01-01T00:00:00Z"}
    scope = Scope("project", "P", "mine", 100.0)
    with Store.open(store) as kept:
        for run in (1, 2):
            own = Reservation(row | {"id": f"{run}", "run": run, "batch": f"b{run}"}, 4.0, 4.0)
            lines = {f"k{run}": ("s0000", 0)}
            kept.batches.add({"mark": f"b{run}", "judge": ""}, run, lines, [own], scope)
        live = row | {"id": "3", "run": 2, "batch": None, "worker": "gone"}
        kept.ledger.reserve([Reservation(live, 4.0, 4.0)], scope)
        assert kept.ledger.standing(scope).batches_usd == 8.0
    assert call("delete", "2", "--yes", "--store", store).returncode == 0
    with Store.open(store) as kept:
        stood = kept.ledger.standing(scope)
        assert (stood.spent_usd, stood.batches_usd, stood.lost_usd) == (1.0, 4.0, 8.0)
        rows = {one.id: (one.state, one.usd, one.why) for one in kept.ledger.entries(project="P")}
    assert rows == {
        "1": ("in a batch", None, None),
        "2": ("lost", 0.5, "its run was deleted while its batch was out"),
        "3": ("lost", None, None),
    }


def test_a_run_shows_why_samples_failed_and_some_answers(tmp_path: Path) -> None:
    path = str(tmp_path / "failing.db")
    statuses = {"s0000": Status.FAILED, "s0001": Status.REFUSED}
    with Store.open(path) as kept:
        put_run(
            kept, MadeRun("weak", statuses=statuses, texts={"s0002": "A dog\x1b[31m."}), SAMPLES
        )
    said = call("show", "1", "--store", path).stdout
    assert "1 × failed: no reason given" in said
    assert "1 × refused: no reason given" in said
    assert "s0002: A dog\\x1b[31m." in said
    document = json.loads(call("show", "1", "--store", path, "--json").stdout)
    assert sum(document["failures"].values()) == 2
    assert list(document["answers"]) == ["s0002", "s0003"]


def test_naming_and_tagging_say_what_they_did(store: str) -> None:
    assert call("rename", "1", "best", "--store", store).stdout == "Run 1 is called 'best'.\n"
    assert call("rename", "1", "", "--store", store).stdout == "Run 1 has no name.\n"
    assert call("tag", "1", "b", "a", "--store", store).stdout == "Run 1 is tagged a, b.\n"
    assert call("tag", "1", "a", "b", "--remove", "--store", store).stdout == "Run 1 has no tags.\n"


@pytest.mark.parametrize("words", [(), ("show", "1")])
def test_runs_fit_a_terminal_of_80_columns(store: str, words: tuple[str, ...]) -> None:
    long = MadeRun("a-provider/some-model-of-a-long-name", {"rouge_l": SCORES}, GRADES)
    with Store.open(store) as kept:
        put_run(kept, long, SAMPLES)
        kept.catalog.tag(1, ["first-tag", "another-tag"])
    shown = run_command("runs", "--store", store, *words, env=os.environ | {"COLUMNS": "80"}).stdout
    lines = [one for one in shown.splitlines() if store not in one]
    assert [one for one in lines if len(one.rstrip()) > 80] == []
    assert "rouge_l|protocol:1" in shown or not words
