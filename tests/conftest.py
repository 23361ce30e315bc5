"""Fixtures that more than one room's tests use."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from audiocapbench.store import Store

# Tests see their own plug-ins, whatever else is installed beside them.
os.environ["AUDIOCAPBENCH_PLUGINS"] = "test-*"

# A shell's background job ignores Ctrl-C, and so would every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real development data, which is never part of the repository."""
    default = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("AUDIOCAPBENCH_SHARED", default))
    if not (folder / "data").is_dir():
        pytest.skip(f"real data not found at {folder}; set AUDIOCAPBENCH_SHARED to its folder")
    return folder / "data"


@pytest.fixture
def store(tmp_path: Path) -> Iterator["Store"]:
    """An empty store."""
    from audiocapbench.store import Store

    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened
