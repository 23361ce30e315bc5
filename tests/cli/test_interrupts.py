"""Ctrl-C ends a command wherever it falls."""

import subprocess
import sys

FINALIZER = """
import signal, time
from audiocapbench import cli

class Held:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def work():
    Held()
    time.sleep(600)

cli._run = work
cli.main()
"""


def test_ctrl_c_that_falls_into_a_finalizer_still_ends_the_command() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FINALIZER], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "audiocapbench: interrupted\n")
