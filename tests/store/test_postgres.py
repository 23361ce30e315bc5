"""The store on PostgreSQL: a real server on loopback, started for the test and ended after it."""

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import old_store
from audiocapbench.signature import sign
from audiocapbench.store import Store, StoredEstimate
from command import run_command
from folders import write_folder
from made_store import MadeRun, made_samples, put_run

psycopg = pytest.importorskip("psycopg", reason="the extra postgres is not installed")


def _binaries() -> Path:
    on_path = shutil.which("initdb")
    places = [Path(on_path).parent] if on_path else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in places:
        if (place / "initdb").exists() and (place / "pg_ctl").exists():
            return place
    pytest.skip("no PostgreSQL server is installed")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A fresh cluster; yields its URL."""
    binaries = _binaries()
    # The server refuses to run as root, and its user must be able to reach the folder.
    user = "postgres" if os.getuid() == 0 else None
    if user is not None:
        try:
            pwd.getpwnam(user)
        except KeyError:
            pytest.skip("PostgreSQL does not run as root and there is no user postgres")
    place = Path(tempfile.mkdtemp(prefix="audiocapbench-pg-"))
    if user is not None:
        shutil.chown(place, user)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(*words: str) -> None:
        subprocess.run(words, user=user, cwd=place, capture_output=True, timeout=120, check=True)

    data, log = str(place / "data"), str(place / "log")
    run(str(binaries / "initdb"), "-D", data, "-U", "tester", "-A", "trust", "-N")
    options = f"-h 127.0.0.1 -p {port} -k {place} -F"
    run(str(binaries / "pg_ctl"), "-D", data, "-l", log, "-w", "-o", options, "start")
    try:
        yield f"postgresql+psycopg://tester:hunter2@127.0.0.1:{port}/postgres"
    finally:
        run(str(binaries / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(place)


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


def test_a_store_of_the_first_version_shows_the_same_leaderboard(
    server: str, tmp_path: Path
) -> None:
    url = server.replace("/postgres", "/old")
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("CREATE DATABASE old")
    old_store.make_postgres(url, tmp_path / "old.db")
    dying = (
        "import os, sys\n"
        "from audiocapbench.store import Store, upgrades\n"
        "whole = upgrades.UPGRADES[1]\n"
        "upgrades.UPGRADES[1] = lambda one: (whole(one), os.kill(os.getpid(), 9))\n"
        "Store.open(sys.argv[1])\n"
    )
    assert subprocess.run([sys.executable, "-c", dying, url], check=False).returncode == -9
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
    server: str, tmp_path: Path
) -> None:
    url = server.replace("/postgres", "/second")
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("CREATE DATABASE second")
    old_store.make_postgres(url, tmp_path / "second.db", 2)
    old_store.check_upgraded(url)


def test_runs_are_estimated_tagged_checked_and_deleted(server: str) -> None:
    url = server.replace("/postgres", "/made")
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("CREATE DATABASE made")
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
        store.put_scores(1, "meteor", [])
        assert store.estimates(1) == []
        assert not store.put_estimates(1, state, [one])
        store.put_judge_check("gpt", "made", "judge-gpt", {"warning": "lax"})
        assert [check.warning for check in store.judge_checks([1, 2], ["gpt"])] == ["lax"]
        store.tag_run(2, ["paper", "paper"])
        store.rename_run(2, "the good one")
        (line,) = store.runs(["paper"])
        assert (line.name, line.cost_usd, line.statuses) == ("the good one", 1.5, {"ok": 3})
        assert [found.count for found in store.scorers([2])] == [3, 3]
        store.delete_runs([2])
        assert [found.id for found in store.runs()] == [1]
        assert store.outcomes(2) == {}


def test_processes_may_make_the_store_at_once(server: str, tmp_path: Path) -> None:
    url = server.replace("/postgres", "/together")
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("CREATE DATABASE together")
    opening = "import sys; from audiocapbench.store import Store; Store.open(sys.argv[1])"
    makers = [subprocess.Popen([sys.executable, "-c", opening, url]) for _ in range(4)]
    assert [maker.wait(60) for maker in makers] == [0] * 4
    store = Store.open(url)
    assert store.runs() == []
    store.close()
