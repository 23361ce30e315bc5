"""A real PostgreSQL server on loopback, with a fresh cluster of its own."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from needs import needs, postgres_binaries


class NoServerError(Exception):
    """Why there can be no server here."""


class PostgresServer:
    """Runs until the ``with`` block ends; may be restarted in between, gently or not."""

    def __init__(self) -> None:
        binaries = postgres_binaries()
        if binaries is None:
            raise NoServerError("no PostgreSQL server is installed")
        self._binaries = binaries
        # The server refuses to run as root, and its user must be able to reach the folder.
        self._user = "postgres" if os.getuid() == 0 else None
        if self._user is not None:
            try:
                pwd.getpwnam(self._user)
            except KeyError:
                raise NoServerError(
                    "PostgreSQL does not run as root and there is no user postgres"
                ) from None
        self.place = Path(tempfile.mkdtemp(prefix="audiocapbench-pg-"))
        if self._user is not None:
            shutil.chown(self.place, self._user)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._data = str(self.place / "data")

    def __enter__(self) -> Self:
        self._run("initdb", "-D", self._data, "-U", "tester", "-A", "trust", "-N")
        self.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.stop("immediate")
        shutil.rmtree(self.place)

    def url(self, database: str = "postgres") -> str:
        """Where a store in one of its databases is; the password is not needed but secret."""
        return f"postgresql+psycopg://tester:hunter2@127.0.0.1:{self._port}/{database}"

    def create(self, database: str) -> str:
        """Make an empty database; its URL."""
        needs("psycopg")
        import psycopg

        plain = self.url().replace("+psycopg", "")
        with psycopg.connect(plain, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {database}".encode())
        return self.url(database)

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        options = f"-h 127.0.0.1 -p {self._port} -k {self.place} -F"
        log = str(self.place / "log")
        self._run("pg_ctl", "-D", self._data, "-l", log, "-w", "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it: ``fast`` throws everybody out, ``immediate`` is as good as a crash."""
        self._run("pg_ctl", "-D", self._data, "-m", mode, "-w", "stop")

    def _run(self, program: str, *words: str) -> None:
        told = [str(self._binaries / program), *words]
        subprocess.run(
            told, user=self._user, cwd=self.place, capture_output=True, timeout=120, check=True
        )
