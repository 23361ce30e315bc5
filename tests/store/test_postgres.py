"""The store on PostgreSQL: a real server on loopback, started for the test and ended after it."""

import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import old_store
from audiocapbench.errors import StoreAwayError
from audiocapbench.signature import sign
from audiocapbench.store import Store
from audiocapbench.store.claims import TaskKey, Worker
from audiocapbench.store.connect import patience, reading, writing
from audiocapbench.store.ratings import Rating, RatingLoad
from audiocapbench.store.records import StoredEstimate
from audiocapbench.web.app import LiveFeed
from command import run_command
from fakes.http_server import Request
from fakes.openai_batches import Batch, OpenAIBatchServer
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from forks import run_at_once
from four_models import IDS, JUDGE, put_models, put_unscored
from made_store import MadeRun, columns, made_samples, put_run
from needs import needs, needs_program
from postgres_server import PostgresServer
from showing import showing
from whole_run import finish, interrupt, run_words, said, start, start_patient, wait_until

psycopg = needs("psycopg")


@pytest.fixture(scope="module")
def cluster() -> Iterator[PostgresServer]:
    """A fresh cluster."""
    needs_program("postgresql")
    with PostgresServer() as server:
        yield server


@pytest.fixture
def server(cluster: PostgresServer) -> str:
    """The URL of its first database."""
    return cluster.url()


def test_runs_are_kept_resumed_and_listed(server: str, tmp_path: Path) -> None:
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", 6)

    def call(*words: str) -> Any:
        done = run_command(*words, "--store", server, "--json", cwd=tmp_path)
        assert "hunter2" not in done.stdout + done.stderr
        return json.loads(done.stdout)

    first = call("run", "tones", "--model", "listener", "--model", "control/right")
    assert [run["answered"] for run in first["runs"]] == [6, 6]
    assert call("run", "tones", "--model", "listener", "--model", "control/right") == first
    assert [line["model"] for line in call("runs")["runs"]] == ["listener", "control/right"]
    assert call("score", "1", "--metrics", "similarity")["metrics"]["similarity"]["score"] > 0


def test_batches_are_kept_and_what_they_lose_is_sent_again(
    cluster: PostgresServer, tmp_path: Path
) -> None:
    write_folder(tmp_path / "tones", 4)
    url = cluster.create("batches")
    with OpenAIBatchServer() as provider:

        def expire(one: Batch) -> None:
            provider.answer(one, one.lines[1])
            one.status, provider.work = "expired", provider.answer_all

        provider.work = expire
        told = ("--batch", "--store", url)
        ended = finish(tmp_path, "openai/gpt-audio", *told, **provider.settings)
        assert ended.code == 0, ended.err
        assert [len(one.lines) for one in provider.batches.values()] == [4, 3]
        assert list(provider.billed.values()) == [1] * 4
    with Store.open(url) as store:
        assert [one["count"] for one in store.batches.of_run(1)] == [4, 3]
        assert store.batches.awaited(1) == set()


def test_a_store_of_the_first_version_shows_the_same_leaderboard(
    cluster: PostgresServer, tmp_path: Path
) -> None:
    url = cluster.create("old")
    old_store.make_postgres(url, tmp_path / "old.db")
    dying = (
        "import os, sys\n"
        "from audiocapbench.store import Store, upgrades\n"
        "whole = upgrades.upgrade\n"
        "upgrades.upgrade = lambda one: (whole(one), os.kill(os.getpid(), 9))\n"
        "Store.open(sys.argv[1])\n"
    )
    assert run_at_once(dying, [url]) == [-signal.SIGKILL]
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        assert connection.execute("SELECT version FROM schema_version").fetchall() == [(1,)]
        assert connection.execute("SELECT count(selected) FROM runs").fetchall() == [(14,)]
    old_store.check_upgraded(url)
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        types = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE data_type = 'timestamp with time zone' AND table_schema = 'public'"
        ).fetchall()
    assert {"runs", "outcomes", "judgements", "responses", "embeddings", "judge_checks"} <= {
        table for table, _ in types
    }


def test_a_store_of_the_second_version_shows_the_same_leaderboard(
    cluster: PostgresServer, tmp_path: Path
) -> None:
    url = cluster.create("second")
    old_store.make_postgres(url, tmp_path / "second.db", 2)
    old_store.check_upgraded(url)


def test_runs_are_estimated_tagged_checked_and_deleted(cluster: PostgresServer) -> None:
    url = cluster.create("made")
    samples = made_samples(3)
    scores = {one.id: 0.5 for one in samples}
    grades = {"gpt": {one.id: {"accuracy": 4.0} for one in samples}}
    with Store.open(url) as store:
        for model in ("one", "two"):
            put_run(store, MadeRun(model, {"meteor": scores}, grades, cost_usd=0.5), samples)
        numbers = (0.5, 0.4, 0.6, 0.3, 0.2, 0.7)
        one = StoredEstimate("meteor", "all", *numbers, {"total": 3}, None, sign("meteor"))
        state = store.state(1)
        assert store.put_estimates(1, state, [one])
        assert store.estimates(1) == [one]
        store.put_scores(1, {"meteor": columns([])})
        assert store.estimates(1) == []
        assert not store.put_estimates(1, state, [one])
        store.put_judge_check("gpt", "made", "judge-gpt", {"warning": "lax"})
        assert [check.warning for check in store.judge_checks([1, 2], ["gpt"])] == ["lax"]
        store.catalog.tag(2, ["paper", "paper"])
        store.catalog.rename(2, "the good one")
        (line,) = store.runs(["paper"])
        assert (line.name, line.cost_usd, line.statuses) == ("the good one", 1.5, {"ok": 3})
        assert [found.count for found in store.catalog.scorers([2])] == [3, 3]
        store.catalog.delete([2])
        assert [found.id for found in store.runs()] == [1]
        assert store.outcomes(2) == {}


def test_processes_may_make_the_store_at_once(cluster: PostgresServer) -> None:
    url = cluster.create("together")
    opening = "import sys; from audiocapbench.store import Store; Store.open(sys.argv[1])"
    assert run_at_once(opening, *[[url]] * 4) == [0] * 4
    store = Store.open(url)
    assert store.runs() == []
    store.close()


def test_a_restart_between_two_calls_is_not_noticed(cluster: PostgresServer) -> None:
    with Store.open(cluster.create("restarted")) as store:
        for mode in ("fast", "immediate"):
            assert store.runs() == []
            cluster.stop(mode)
            with patience(0), pytest.raises(StoreAwayError, match="refused"):
                store.runs()
            cluster.start()
            assert store.runs() == []


def test_a_restart_within_a_call_is_away_and_no_traceback(cluster: PostgresServer) -> None:
    with Store.open(cluster.create("cut_off")) as store:
        for mode in ("fast", "immediate"):
            with reading(store._engine):  # a ROLLBACK that nobody hears is none
                cluster.stop(mode)
                cluster.start()
            with pytest.raises(StoreAwayError):
                _cut_off(store, cluster, mode)
            assert store.runs() == []


def _cut_off(store: Store, cluster: PostgresServer, mode: str) -> None:
    with writing(store._engine) as connection:
        cluster.stop(mode)
        cluster.start()
        connection.execute(text("SELECT 1"))


def test_a_table_that_stays_locked_is_away(cluster: PostgresServer) -> None:
    url = cluster.create("held")
    samples = made_samples(2)
    with Store.open(url) as store, psycopg.connect(url.replace("+psycopg", "")) as other:
        put_run(store, MadeRun("one"), samples)
        other.execute("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
        with patience(0), pytest.raises(StoreAwayError, match="lock timeout"):
            store.catalog.rename(1, "another")
        other.rollback()
        store.catalog.rename(1, "another")


def test_a_run_outlives_a_restart_and_loses_no_paid_answer(
    cluster: PostgresServer, tmp_path: Path
) -> None:
    write_folder(tmp_path / "tones", 32)  # of which each takes sixteen
    go = threading.Event()

    def reply(_request: Request) -> dict[str, Any]:
        go.wait(120)
        return completion()

    url = cluster.create("outlived")
    with OpenAIServer(key=None, reply=reply) as fake:
        told = [f"endpoint/fake@{fake.base_url}", "--concurrency", "4", "--store", url]
        both = [start(tmp_path, *told) for _ in range(2)]
        wait_until(lambda: len(fake.requests) == 8)
        cluster.stop("immediate")
        go.set()
        said(both[0], "waiting for the store")
        cluster.start()
        ends = [process.communicate(timeout=120) for process in both]
        assert [process.returncode for process in both] == [0, 0], ends
        assert len(fake.requests) == 32
    assert all("Traceback" not in err and "hunter2" not in err for _, err in ends)


def test_ctrl_c_twice_ends_at_once_though_only_one_table_is_locked(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", 6)
    go = threading.Event()

    def reply(_request: Request) -> dict[str, Any]:
        go.wait(120)
        return completion()

    with OpenAIServer(key=None, reply=reply) as fake:
        options = [f"endpoint/fake@{fake.base_url}", "--concurrency", "4", "--store", server]
        process = start_patient(tmp_path, *run_words(options[0], options[1:]))
        wait_until(lambda: len(fake.requests) == 4)
        with psycopg.connect(server.replace("+psycopg", "")) as other:
            other.execute("LOCK TABLE outcomes IN ACCESS EXCLUSIVE MODE")
            go.set()
            said(process, "waiting for the store")
            interrupt(process)
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=120)
            assert time.monotonic() - began < 100, "one Ctrl-C alone is not the end"
        assert process.returncode == 130, err
        assert "4 answers could not be stored and are kept in" in err
        end = finish(tmp_path, *options)
        assert end.code == 0, end.err
        assert len(fake.requests) == 6


def test_pages_list_samples_and_tell_what_goes_on_as_on_sqlite(
    cluster: PostgresServer, tmp_path: Path
) -> None:
    needs("uvicorn")
    told = []
    for url in (cluster.create("pages"), str(tmp_path / "runs.db")):
        with Store.open(url) as store:
            put_models(store)
            with showing(store) as shown:
                told.append([shown.ask("list", **query) for query in page_queries()])
            run = put_unscored(store, "new/model")
            store.claims.take(run.id, Worker(30.0), [TaskKey("", IDS[0])], {})
            told[-1].append(LiveFeed(store).look()["tasks"])
    assert told[0] == told[1]
    assert [status for status, _ in told[0][:-1]] == [200] * len(page_queries())


def page_queries() -> list[dict[str, Any]]:
    base = {"score": f"{JUDGE}\toverall", "runs": "1,2,3,4", "first": 0, "last": 40}
    odd: list[dict[str, Any]] = [
        {"sort": "lowest"},
        {"sort": "differ"},
        {"search": "BARKS 2 times S0007"},
    ]
    odd += [{"search": "\0"}, {"search": "100%_"}, {"status": "refused"}, {"status": "a\0b"}]
    odd += [{"status": "not asked"}, {"low": 6, "high": 7, "run": 1}]
    return [base | one for one in [*odd, {"score": "rouge_l", "sort": "highest"}]]


def test_people_rate_at_once_and_nothing_is_lost_or_doubled(server: str) -> None:
    items = {f"item {n}": {"audio": "a", "captions": ["x"]} for n in range(6)}
    people = ["ana", "ben", "caro"]
    with Store.open(server) as store:
        _, tokens = store.ratings.begin("trial", "rel", 0, items, people)
        assert store.ratings.person("trial", tokens["ben"]) == "ben"

        def choose(load: RatingLoad) -> str | None:
            taken = load.done + load.claimed
            free = [one for one in items if one not in load.rated and taken[one] < 2]
            return load.current or next(iter(free), None)

        def rate(person: str) -> None:
            while (item := store.ratings.claim("trial", person, choose, 60)) is not None:
                store.ratings.note_heard("trial", person, item)
                rating = Rating(person, item, f"{person} {item}", {"rel": 3}, 0.0, 9.0, "")
                for _ in range(2):
                    store.ratings.put("trial", rating, None, 1e-9)

        threads = [threading.Thread(target=rate, args=[one]) for one in people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert Counter(one.item for one in store.ratings.of("trial")) == dict.fromkeys(items, 2)
        line = store.ratings.projects()[0]
        assert (line.people, line.items, line.ratings) == (3, 6, 12)


def test_a_pipeline_that_the_driver_lost_is_a_lost_connection(cluster: PostgresServer) -> None:
    """psycopg asserts that a pipeline has ended, where a server went away within it."""
    with Store.open(cluster.create("pipeline")) as store:
        put_run(store, MadeRun("a"), made_samples(3))
        with pytest.raises(StoreAwayError, match="the connection was lost"):  # noqa: SIM117
            with writing(store._engine):
                raise AssertionError
        assert len(store.runs()) == 1


def test_costs_by_day_and_corrections_are_as_in_a_file(cluster: PostgresServer) -> None:
    made: dict[str, Any] = dict.fromkeys(("worker", "start", "command", "owner", "judge"), "")
    made |= {"sample": "a", "run": 1, "repeat": 0, "model": "m", "held_usd": 4, "likely_usd": 1}
    made |= {"id": "one", "kind": "billed", "usd": 2, "made_at": "2026-03-01T23:59:59.000+00:00"}
    again = made | {"id": "two", "kind": "corrected", "made_at": "2026-03-02T00:00:00.000+00:00"}
    for url in (cluster.create("costs"), "sqlite:///:memory:"):
        with Store.open(url) as store:
            store.ledger.correct([made, again])
            store.ledger.correct([again])
            days = store.ledger.sums("day", model="m")
            assert [(one["day"], one["attempts"]) for one in days] == [
                ("2026-03-01", 1),
                ("2026-03-02", 0),
            ]
            assert [one["spent_usd"] for one in days] == [2.0, 2.0]
            assert [one["hour"] for one in store.ledger.sums("hour")] == [
                "2026-03-01T23",
                "2026-03-02T00",
            ]
