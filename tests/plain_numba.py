"""librosa without its compiler: what numba would compile for half a minute runs as Python.

Tests hear seconds of audio, and hold our figures to librosa's own of the same process.
"""

import importlib
import re
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

_ROOMS = ("librosa.beat", "librosa.core", "librosa.feature", "librosa.onset", "librosa.util")

Function = Callable[..., Any]


def import_librosa() -> None:
    """Import it as Python, unless it is there already."""
    numba: Any = importlib.import_module("numba")
    plain: dict[str, Any] = {"guvectorize": _guvectorize, "stencil": _stencil}
    plain["vectorize"] = lambda *_signatures, **_options: lambda function: function
    with patch.multiple(numba, **plain), patch.object(numba.config, "DISABLE_JIT", 1):
        for name in _ROOMS:
            importlib.import_module(name)
    beat: Any = importlib.import_module("librosa.beat")
    beat.range = lambda *ends: range(*map(int, ends))  # numba's takes numbers with a fraction


def _stencil(kernel: Function) -> Function:
    """A kernel that is called with each place's neighbours, and is 0 at both ends."""

    def applied(values: Any) -> Any:
        inner = [kernel(_Neighbours(values, place)) for place in range(1, len(values) - 1)]
        return np.array([0, *inner, 0])

    return applied


class _Neighbours:
    def __init__(self, values: Any, place: int) -> None:
        self.values, self.place = values, place

    def __getitem__(self, offset: int) -> Any:
        return self.values[self.place + offset]


def _guvectorize(
    signatures: list[str], layout: str, **_options: object
) -> Callable[[Function], Function]:
    """A function that writes what its last arguments are, called for each vector."""
    taken, given = (re.findall(r"\((\w*)\)", side) for side in layout.split("->"))
    kinds = [one.strip("_[:]") for one in re.findall(r"[\w\[:\]]+", signatures[-1])[-len(given) :]]

    def made(function: Function) -> Function:
        def one(*vectors: Any) -> Any:
            long = {name: len(own) for name, own in zip(taken, vectors, strict=True) if name}
            outs = [
                np.zeros(long.get(name, 1), kind) for name, kind in zip(given, kinds, strict=True)
            ]
            function(*vectors, *outs)
            found = [out if name else out[0] for name, out in zip(given, outs, strict=True)]
            return tuple(found) if len(found) > 1 else found[0]

        def called(*arrays: Any) -> Any:
            found = np.vectorize(one, signature=layout)(*arrays[: len(taken)])
            for out in arrays[len(taken) :]:
                out[...] = found
            return found

        return called

    return made
