"""What the tests of runs begin with."""

import os
from pathlib import Path

import pytest

from folders import write_folder
from plugin import install

# Whether this user has a token of Ray's must not decide whether nodes of a test find each other.
os.environ["RAY_AUTH_MODE"] = "disabled"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a dataset of twelve clips and an installed plug-in."""
    write_folder(tmp_path / "tones", 12)
    install(tmp_path)
    return tmp_path
