"""Plug-ins of this very process: a module and its entry points, gone when the test ends."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from plugin import install_package

_numbers = count()


@contextmanager
def installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, entries: str, room: str = "models"
) -> Iterator[None]:
    """Lay out a package whose entry points name ``{module}``, and put it on the path."""
    name = f"plug_in_{next(_numbers)}"
    points = entries.replace("{module}", name).replace('"', "")
    monkeypatch.syspath_prepend(str(install_package(folder, name, module, **{room: points})))
    yield
    sys.modules.pop(name, None)
