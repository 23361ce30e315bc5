"""Files of tests side by side: one process collects all tests, and forks of it run a file each.

What every file imports is imported once, and tests are collected once. A fork that is through with
a file takes the next; its reports are told to the process that shows them.
"""

import atexit
from collections.abc import Callable, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from threading import enumerate as threads_now
from typing import Any

import pytest

_FORKS = get_context("fork")


class Telling:
    """In a fork: what is to be shown goes to the process that shows it."""

    def __init__(self, config: pytest.Config, end: Connection) -> None:
        self._config, self._end = config, end

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say which test begins, should the process not outlive it."""
        self._end.send(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hand a report on."""
        hook = self._config.hook
        self._end.send(hook.pytest_report_to_serializable(config=self._config, report=report))


class SideBySide:
    """Runs the tests in so many forks; ``together`` names what a test must not be parted from."""

    def __init__(self, count: int, together: Callable[[pytest.Item], str]) -> None:
        self._count, self._together = count, together

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Give each fork that asks the next file, and show what they tell."""
        if session.testsfailed or session.config.option.collectonly:
            return None
        files: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            files.setdefault(self._together(item), []).append(item)
        waiting, running = [*files][::-1], dict[Connection, _Fork]()
        _import_what_most_need()
        session.config.get_terminal_writer().flush()  # or a fork would write it once more
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all
        try:
            for number in range(min(self._count, len(files))):
                _Fork(session, files, number, running)
            while running:
                for end in wait([*running]):
                    assert isinstance(end, Connection)
                    running[end].hear(waiting)
                    if session.shouldfail:
                        raise session.Failed(session.shouldfail)
        finally:
            for one in running.values():
                one.process.kill()
        return True


class _Fork:
    """A process that runs files, as the one that shows their reports sees it."""

    def __init__(
        self,
        session: pytest.Session,
        files: Mapping[str, list[pytest.Item]],
        number: int,
        running: dict[Connection, "_Fork"],
    ) -> None:
        self._session, self._files, self._number, self._running = session, files, number, running
        self._test: str | None = "before its first test"
        self._end, theirs = _FORKS.Pipe()
        running[self._end] = self
        words = (session, files, number, theirs, [*running])
        self.process: ForkProcess = _FORKS.Process(target=_run_files, args=words)
        self.process.start()
        theirs.close()

    def hear(self, waiting: list[str]) -> None:
        """What it says: a test that begins, a report, that it is free (nothing), or its end."""
        config = self._session.config
        try:
            said: str | Mapping[str, Any] | None = self._end.recv()
        except EOFError:
            self._ended(waiting)
            return
        if said is None:
            self._test = "after its last test" if waiting else None
            self._end.send(waiting.pop() if waiting else None)
        elif isinstance(said, str):
            self._test = said
        else:
            report = config.hook.pytest_report_from_serializable(config=config, data=said)
            config.hook.pytest_runtest_logreport(report=report)

    def _ended(self, waiting: list[str]) -> None:
        del self._running[self._end]
        self.process.join()
        if self._test is None and self.process.exitcode == 0:
            return
        name = self._test or "after the last test"
        said = f"its process ended with {self.process.exitcode}; the rest of its file has not run"
        report = pytest.TestReport(name, (name, None, name), {}, "failed", said, "call")
        self._session.config.hook.pytest_runtest_logreport(report=report)
        if waiting:
            _Fork(self._session, self._files, self._number + 100, self._running)


def _import_what_most_need() -> None:
    import command
    import forks

    forks.start()
    command.run_command("--help")
    threads = threads_now()
    assert len(threads) == 1, f"a fork would be without these threads: {threads}"


def _run_files(
    session: pytest.Session,
    files: Mapping[str, list[pytest.Item]],
    number: int,
    end: Connection,
    others: list[Connection],
) -> None:
    """Run files until there is none left, in a fork of the process that collected them."""
    atexit._clear()
    for other in others:
        other.close()
    config = session.config
    for shows in ("terminalreporter", "reporting"):
        config.pluginmanager.unregister(name=shows)
    # What is captured goes to a file, and to one of its own.
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture(in_=False)
    places: Any = config._tmp_path_factory  # type: ignore[attr-defined]
    places._basetemp = places.getbasetemp() / f"process{number}"
    places._basetemp.mkdir()
    config.pluginmanager.register(Telling(config, end))
    end.send(None)
    while (name := end.recv()) is not None:
        items = files[name]
        for item, following in zip(items, [*items[1:], session], strict=True):
            # After the last test of a file, the fixtures of the session stay.
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        end.send(None)
    setups: Any = session._setupstate
    setups.teardown_exact(None)
    atexit._run_exitfuncs()
