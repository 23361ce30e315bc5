"""Whole runs as users start them: a process, a dataset folder, and what is in the store after."""

import base64
import hashlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from audiocapbench.data.outcome import Outcome
from audiocapbench.store import Store
from command import COMMAND, run_command
from fakes.http_server import Request
from forks import Forked

_PENDING = re.compile(r"(?:SigPnd|ShdPnd):\s+(\w+)")
STORE = "audiocapbench.db"
_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ENDPOINT_API_KEY")


class Ended(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


def start(place: Path, model: str, *more: str, **settings: str) -> Forked:
    """Start ``audiocapbench run tones`` in a folder, with no keys but those given."""
    return Forked(
        "-m",
        "audiocapbench",
        *run_words(model, more),
        cwd=place,
        env=_kept() | settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


LEAVES_TIME = """
import sys
from audiocapbench.cli import main
from audiocapbench.engine import workers

workers._STOPPED_S = 300
main()
"""


def start_patient(place: Path, *words: str) -> Forked:
    """A command that after one Ctrl-C waits five minutes for a store, and not ten seconds."""
    pipe = subprocess.PIPE
    return Forked("-c", LEAVES_TIME, *words, cwd=place, env=_kept(), stdout=pipe, stderr=pipe)


def start_anew(place: Path, model: str, *more: str, **settings: str) -> subprocess.Popen[str]:
    """The same in a new interpreter, which shares no memory with any other process."""
    return subprocess.Popen(
        [*COMMAND, *run_words(model, more)],
        cwd=place,
        env=_kept() | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )


def finish(place: Path, model: str, *more: str, **settings: str) -> Ended:
    """Run the command to its end."""
    done = run_command(*run_words(model, more), cwd=place, env=_kept() | settings)
    return Ended(done.returncode, done.stdout, done.stderr)


def run_words(model: str, more: Sequence[str]) -> list[str]:
    return ["run", "tones", "--model", model, "--metrics", "rouge_l", "--json", "--yes", *more]


def _kept() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _KEYS}


def said(process: Forked, words: str) -> str:
    """Wait for a line with these words on a process's stderr."""
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return line
    raise AssertionError(f"it ended without a word of: {words}")


def interrupt(
    process: Forked | subprocess.Popen[str], number: signal.Signals = signal.SIGINT
) -> None:
    """Ctrl-C, and wait until it has come: two that are on their way at once are one."""
    process.send_signal(number)
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        time.sleep(0.5)
        return
    bit = 1 << (number - 1)
    wait_until(lambda: not any(int(one, 16) & bit for one in _PENDING.findall(status.read_text())))


def outcomes(place: Path) -> dict[str, Outcome]:
    """What the only run of the store has so far, by sample id."""
    if not (place / STORE).exists():
        return {}
    store = Store.open(str(place / STORE))
    runs = store.runs()
    assert len(runs) <= 1, "the same command began a second run"
    found = store.outcomes(runs[0].id) if runs else {}
    store.close()
    return found


def sent_audio(request: Request) -> bytes:
    """The audio that a chat request carries."""
    (message,) = request.json["messages"]
    (part,) = [one for one in message["content"] if one["type"] == "input_audio"]
    return base64.b64decode(part["input_audio"]["data"], validate=True)


def clip_of(request: Request) -> str:
    """The hash of the audio that a request carries, which is also what the store keeps of it."""
    return hashlib.sha256(sent_audio(request)).hexdigest()


def write_prices(path: Path, model: str) -> Path:
    """A price file in which a token costs a tenth of a cent, whatever it is."""
    price = {
        "text_in": 1000.0,
        "audio_in": 1000.0,
        "out": 1000.0,
        "audio_tokens_per_s": 10.0,
        "source": "made up for a test",
        "as_of": "2026-01-01",
    }
    table = {"currency": "USD", "unit": "per 1,000,000 tokens", "models": {model: price}}
    path.write_text(json.dumps(table))
    return path


def wait_until(condition: Callable[[], object], seconds: float = 300.0) -> None:
    """Wait for something that must come, however slow the machine is."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.03)  # looking opens a store, which costs more than waiting
