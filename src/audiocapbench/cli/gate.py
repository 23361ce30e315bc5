"""``audiocapbench gate``: whether runs are as a file of gates has them, for CI."""

from pathlib import Path
from typing import TYPE_CHECKING

from audiocapbench.cli import options
from audiocapbench.cli.app import app, leave
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.files import write_file
from audiocapbench.table.forms import markdown_text

if TYPE_CHECKING:
    from audiocapbench.report.gate import GateResult


def leave_by(found: "GateResult") -> None:
    """Exit with 1 where a gate failed, and else with 2 where one cannot be told."""
    closed = found.count("fail") > 0
    unknown = [AudioCapBenchError(found.verdict)] if found.count("error") and not closed else []
    leave(failed=closed, refusals=unknown)


@options.command(app.command)
def gate(
    file: Path,
    *,
    junit: Path | None = None,
    markdown: Path | None = None,
    at: options.StoreOptions,
) -> None:
    """Test what a file says must hold of runs, and exit by it, for CI.

    Exit codes: 0 open, 1 closed, 2 wrong use, or a gate that cannot be told (too few samples, a
    race's runs). Tests are one-sided, and corrected for the gates of the file and nothing else.

    Args:
        file (FILE): A TOML file of gates; see the documentation, "Certainty per dollar".
        junit (FILE): Write the results as JUnit XML, for a CI's list of tests.
        markdown (FILE): Write them as Markdown, for a pull request, with clips that got worse.
    """
    from audiocapbench.report.gate import check_gates, read_gates

    gates = read_gates(file)
    with at.open() as store:
        found = check_gates(store, gates.gate, gates.alpha)
    at.show(found)
    if junit is not None:
        write_file(junit, found.junit())
    if markdown is not None:
        write_file(markdown, markdown_text(found.tables()))
    leave_by(found)
