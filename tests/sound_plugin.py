"""An audio-text encoder for tests, installed as a package would be; numpy is all that it needs."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plugin import install_package

RATE = 1_000

MODULE = '''
import os
import signal
import zlib

import numpy as np

from audiocapbench.metrics.clap import Windows

CALLS = []
"""How many windows or texts each call brought."""


class Bands:
    """Loudness in six bands through a fixed matrix; texts by a fixed hash."""

    dimensions = 8

    def __init__(self, fault, fingerprint):
        self.name = "bands"
        self.fingerprint = fingerprint
        self.windows = Windows(1_000, 3, 1, 4)
        self._fault = fault
        self._matrix = np.random.default_rng(7).normal(size=(6, 8))

    def encode_audio(self, windows):
        CALLS.append(("audio", len(windows)))
        if len(CALLS) > int(os.environ.get("BANDS_DIES_AFTER", "1000000")):
            os.kill(os.getpid(), signal.SIGKILL)
        if self._fault == "nan":
            return np.full((len(windows), 8), np.nan)
        if self._fault == "shape":
            return np.zeros((len(windows), 9))
        assert windows.shape[1] == 4_000 and windows.dtype == np.float32
        power = np.abs(np.fft.rfft(windows.astype(np.float64)))[:, :1998].reshape(-1, 6, 333)
        # Another product for each size of batch would add up in another order.
        return np.stack([np.log1p(row.mean(axis=1)) @ self._matrix for row in power])

    def encode_text(self, texts):
        CALLS.append(("text", len(texts)))
        seeds = [zlib.crc32(text.encode()) for text in texts]
        return np.stack([np.random.default_rng(seed).normal(size=8) for seed in seeds])


def create(options, device):
    fault = options.pop("fault", "")
    if fault == "raises":
        raise RuntimeError("no weights")
    if fault == "other":
        return object()
    return Bands(fault, options.pop("fingerprint", "1"))
'''


def install(folder: Path) -> Path:
    """Lay the plug-in out as an installed package; returns the folder to put on the path."""
    entries = {"audio_text_encoders": "bands = bands_plugin:create"}
    return install_package(folder / "site", "bands_plugin", MODULE, **entries)


@contextmanager
def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """Put the plug-in on the path; yields how many windows or texts each call brought."""
    monkeypatch.syspath_prepend(str(install(folder)))
    monkeypatch.delitem(sys.modules, "bands_plugin", raising=False)
    yield importlib.import_module("bands_plugin").CALLS
    del sys.modules["bands_plugin"]
