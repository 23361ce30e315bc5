"""Plug-ins of this very process: a module and its entry points, gone when the test ends."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

_numbers = count()


@contextmanager
def installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, entries: str, room: str = "models"
) -> Iterator[None]:
    """Lay out a package whose entry points name ``{module}``, and put it on the path."""
    name = f"plug_in_{next(_numbers)}"
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / f"{name}.py").write_text(module)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    points = entries.replace("{module}", name).replace('"', "")
    (info / "entry_points.txt").write_text(f"[audiocapbench.{room}]\n{points}")
    monkeypatch.syspath_prepend(str(folder))
    yield
    sys.modules.pop(name, None)
