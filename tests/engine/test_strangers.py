"""Commands that share a run and cannot see each other: nothing is paid twice."""

import signal
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import strangers
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from forks import Forked
from needs import needs, needs_program
from postgres_server import PostgresServer
from whole_run import said, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(strangers.why_not() is not None, reason=str(strangers.why_not())),
]

CLIPS, LEASE_S = 32, 2.0
PIPES = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


class Held:
    """A provider that holds what it is asked until it is told to answer."""

    def __init__(self) -> None:
        self.answers = threading.Event()

    def reply(self, _request: Request) -> dict[str, Any]:
        self.answers.wait(120)
        return completion()


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def server(held: Held) -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None, reply=held.reply) as running:
        yield running


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "SQLite":
        yield str(tmp_path / "runs.db")
        return
    needs("psycopg")
    needs_program("postgresql")
    with PostgresServer() as running:
        yield running.url()


def words(server: OpenAIServer, store: str) -> list[str]:
    model = f"endpoint/fake@{server.base_url}"
    told = ["run", "tones", "--model", model, "--metrics", "rouge_l", "--json", "--yes"]
    return [*told, "--concurrency", "4", "--store", store]


def suspend(process: Forked, store: str) -> None:
    """Stop a process where it holds no lock of a SQLite file, which would stop all others."""
    for _ in range(100):
        process.send_signal(signal.SIGSTOP)
        if "://" in store:
            return
        with closing(sqlite3.connect(store, timeout=0.2)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError:
                process.send_signal(signal.SIGCONT)
    raise AssertionError("it holds the store at every look")


def test_a_suspended_command_of_another_user_is_replaced_when_its_lease_ends(
    tmp_path: Path, store: str, server: OpenAIServer, held: Held
) -> None:
    write_folder(tmp_path / "tones", CLIPS)
    told = words(server, store)

    def start(user: int) -> Forked:
        return strangers.start_hidden(user, *told, lease_s=LEASE_S, cwd=tmp_path, **PIPES)

    first = start(61001)
    wait_until(lambda: len(server.requests) == 4)
    server.reply = lambda _request: completion()
    second = start(61002)
    said(second, "waiting for 16 that are being asked: 16 by pid")
    wait_until(lambda: len(server.requests) == 4 + CLIPS // 2)
    suspend(first, store)
    _, err = second.communicate(timeout=120)
    assert second.returncode == 0, err
    assert len(server.requests) == 4 + CLIPS
    held.answers.set()
    first.send_signal(signal.SIGCONT)
    _, err = first.communicate(timeout=120)
    assert first.returncode == 0, err
    again = len(server.requests) - CLIPS
    assert again <= 4, "what was in flight"


def test_commands_in_namespaces_of_their_own_whose_clocks_disagree_pay_once(
    tmp_path: Path, server: OpenAIServer, held: Held
) -> None:
    write_folder(tmp_path / "tones", CLIPS)
    told = words(server, str(tmp_path / "runs.db"))

    def start(clock_s: float) -> Forked:
        return strangers.start_apart(clock_s, *told, cwd=tmp_path, **PIPES)

    commands = [start(0.0)]
    wait_until(lambda: len(server.requests) == 4)
    commands.append(start(3600.0))
    wait_until(lambda: len(server.requests) == 8)
    server.reply = lambda _request: completion()
    commands.append(start(-60.0))
    assert "waiting for 32" in said(commands[-1], "that are being asked")
    held.answers.set()
    for process in commands:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert len(server.requests) == CLIPS
