"""Ctrl-C ends a command wherever it falls."""

import subprocess
import sys

import pytest

FINALIZER = """
import signal, time
from audiocapbench import cli

class Held:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def work():
    Held()
    for _ in range(6000):  # a signal just before a sleep waits for its end
        time.sleep(0.1)

cli._run = work
cli.main()
"""

PARSING = """
import signal
from audiocapbench import cli
from audiocapbench.cli.app import Commands

Commands.parse_args = lambda *given: signal.raise_signal(signal.SIGINT)
cli.main()
"""


@pytest.mark.parametrize("program", [FINALIZER, PARSING])
def test_ctrl_c_in_a_finalizer_or_while_options_are_parsed_ends_the_command(program: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "audiocapbench: interrupted\n")
