"""How a run of the tests looks: how far it is, and in one table what was skipped and why.

It also keeps a list of the tests that ran, so that a later call can leave them out.
"""

import re
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_STEPS = 20
_LEGEND = "Whole files count once, however many tests they have; make test-all brings most of it."
_NEED = re.compile(r"(?:Skipped: )?needs (?P<what>.+?): (?P<command>.+)", re.DOTALL)


def add_options(parser: pytest.Parser) -> None:
    """``--list-ran FILE`` and ``--not-again FILE``."""
    group = parser.getgroup("audiocapbench")
    group.addoption("--list-ran", metavar="FILE", help="write the names of tests that passed")
    group.addoption("--not-again", metavar="FILE", help="leave out the tests that a file names")


def check_options(config: pytest.Config) -> None:
    """Forget an older list before anything can go wrong, and refuse one that is not there.

    Raises:
        pytest.UsageError: ``--not-again`` names no file.
    """
    if config.getoption("--list-ran"):
        Path(config.getoption("--list-ran")).unlink(missing_ok=True)
    source = config.getoption("--not-again")
    if source and not Path(source).is_file():
        raise pytest.UsageError(f"--not-again: there is no {source}; make test writes it")


class Reporting:
    """Counts what has ended, in the process that shows it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._began = time.monotonic()
        self._ended = 0
        self._step = 0
        self._counts: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._passed: dict[str, None] = {}
        self._failed: set[str] = set()
        self._incomplete: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letters: lines say how far it is and what failed, a table what was skipped."""
        if self._config.get_verbosity() > 0 or hasattr(report, "wasxfail"):
            return None
        if report.failed:
            return ("failed", "", "FAILED") if report.when == "call" else ("error", "", "ERROR")
        if report.skipped:
            return "skipped", "", "SKIPPED"
        return ("passed" if report.when == "call" else ""), "", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a phase of a test; say how far it is after each twentieth of them."""
        if not report.passed:
            self._incomplete.add(_file_of(report.nodeid))
        if report.skipped:
            self._note_skipped(report)
        if report.failed:
            self._counts["failed"] += 1
            self._failed.add(report.nodeid)
            self._write(f"FAILED  {report.nodeid}")
        elif report.passed and report.when == "call":
            self._counts["passed"] += 1
            self._passed[report.nodeid] = None
        if report.when == "teardown":
            self._ended += 1
            self._show()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A whole file that was skipped, or cannot be read."""
        if report.skipped:
            self._note_skipped(report)
        elif report.failed:
            self._write(f"FAILED  {report.nodeid}")

    def _note_skipped(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        long = report.longrepr
        reason = long[2] if isinstance(long, tuple) else str(long)
        kind = "files" if isinstance(report, pytest.CollectReport) else "tests"
        self._skipped[f"{kind}\0{reason.removeprefix('Skipped: ')}"] += 1

    def _show(self) -> None:
        session = getattr(self._terminal(), "_session", None)
        total = getattr(session, "testscollected", 0)
        step = _STEPS * self._ended // total if total else 0
        if step > self._step:
            self._step = step
            spent = time.monotonic() - self._began
            failed = f", {self._counts['failed']} failed" if self._counts["failed"] else ""
            done = f"{100 * step // _STEPS:>4} %  {self._ended:,} of {total:,} tests"
            self._write(f"{done}{failed}, {spent:.0f} s")

    def _terminal(self) -> Any:
        return self._config.pluginmanager.get_plugin("terminalreporter")

    def _write(self, line: str) -> None:
        if self._config.get_verbosity() < 1:
            self._terminal().write_line(line)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What was skipped, by what is missing."""
        rows = skipped_table(self._skipped)
        if rows:
            terminalreporter.section("skipped")
            terminalreporter.write_line(_LEGEND)
            for row in rows:
                terminalreporter.write_line(row)

    def pytest_sessionfinish(self) -> None:
        """Write the list of tests that passed, and of the files in which nothing else is."""
        target = self._config.getoption("--list-ran")
        if target:
            ran = [name for name in self._passed if name not in self._failed]
            ran += self._whole_files(ran)
            Path(target).write_text("".join(f"{name}\n" for name in ran), encoding="utf-8")

    def _whole_files(self, ran: list[str]) -> list[str]:
        """The files of which nothing was skipped or left out by a mark, a word or a name."""
        if self._config.option.keyword or any("::" in word for word in self._config.args):
            return []
        files = {_file_of(name) for name in ran} - self._incomplete
        root = self._config.rootpath
        return sorted(name for name in files if "slow" not in (root / name).read_text("utf-8"))


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def skipped_table(skipped: Counter[str]) -> list[str]:
    """Lines of a table: how many tests and whole files, what they need, and what brings it."""
    rows: dict[tuple[str, str], Counter[str]] = {}
    for entry, count in skipped.items():
        kind, _, reason = entry.partition("\0")
        match = _NEED.fullmatch(reason)
        key = (match["what"], match["command"]) if match else (reason, "")
        rows.setdefault(key, Counter())[kind] += count
    ordered = sorted(rows.items(), key=lambda row: (not row[0][1], -row[1].total(), row[0]))
    cells = [("tests", "files", "need", "which comes with")]
    cells += [
        (str(counts["tests"] or "–"), str(counts["files"] or "–"), what, command)
        for (what, command), counts in ordered
    ]
    if len(cells) == 1:
        return []
    width = max(len(cell[2]) for cell in cells if cell[3])
    return [
        f"{tests:>6} {files:>6}  {what:<{width}}  {command}".rstrip()
        for tests, files, what, command in cells
    ]


def named_apart(collector: pytest.Collector, report: pytest.CollectReport) -> None:
    """Have the file in the report of its skip: pytest-xdist passes on one of several alike."""
    if report.skipped and isinstance(report.longrepr, tuple):
        report.longrepr = (str(collector.path), 0, report.longrepr[2])


def elsewhere_first(config: pytest.Config, entries: list[Any]) -> list[Any]:
    """Entries of a folder, from another one on in each process: what it compiles, others read."""
    worker = getattr(config, "workerinput", None)
    if not worker or not entries:
        return entries
    number = int(worker["workerid"].removeprefix("gw"))
    first = len(entries) * number // worker["workercount"]
    return entries[first:] + entries[:first]


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop the tests that ``--not-again`` names."""
    source = config.getoption("--not-again")
    if not source:
        return
    ran = _listed(source)
    again = [item for item in items if item.nodeid in ran]
    items[:] = [item for item in items if item.nodeid not in ran]
    config.hook.pytest_deselected(items=again)


@cache
def _listed(source: str) -> frozenset[str]:
    return frozenset(Path(source).read_text(encoding="utf-8").splitlines())


def ran_whole(config: pytest.Config, path: Path) -> bool:
    """Whether all tests of a file are in the list of ``--not-again``: it need not be imported."""
    source = config.getoption("--not-again")
    return bool(source) and path.relative_to(config.rootpath).as_posix() in _listed(source)
