"""What the tests of runs begin with."""

from pathlib import Path

import pytest

from folders import write_folder
from plugin import install


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a dataset of twelve clips and an installed plug-in."""
    write_folder(tmp_path / "tones", 12)
    install(tmp_path)
    return tmp_path
