"""A forked process is to a test what a new one is, and none is left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command import COMMAND
from forks import Forked
from whole_run import wait_until

PIPE = subprocess.PIPE

ENDS = {
    "done": "print('said')",
    "a number": "import sys; sys.exit(7)",
    "words": "import sys; sys.exit('no')",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "threads and exit functions": (
        "import atexit, threading, time; atexit.register(print, 'last')\n"
        "threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start(); print('first')"
    ),
    "as it was told": (
        "import os, signal, sys, own; print(sys.argv, own.SAID, os.getcwd(), sorted(os.environ))\n"
        "print(signal.getsignal(2), signal.getsignal(15), signal.pthread_sigmask(0, []))\n"
        "print([(one.encoding, one.errors, one.line_buffering) for one in "
        "(sys.stdin, sys.stdout, sys.stderr)], sys.path[0], sys.stdin.read())"
    ),
}


@pytest.mark.parametrize("code", ENDS.values(), ids=list(ENDS))
def test_it_says_and_ends_as_a_new_interpreter_does(tmp_path: Path, code: str) -> None:
    (tmp_path / "own.py").write_text("SAID = 'of its own'\n")
    env = os.environ | {"PYTHONPATH": str(tmp_path), "OWN": "yes"}
    words = ("-c", code, "a", "b")
    forked = Forked(*words, cwd=tmp_path, env=env, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    new = subprocess.run(
        [COMMAND[0], *words],
        cwd=tmp_path,
        env=env,
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert forked.communicate(timeout=120) == (new.stdout, new.stderr)
    assert forked.returncode == new.returncode


def test_what_it_does_not_catch_is_printed() -> None:
    forked = Forked("-c", "1 / 0", stderr=PIPE)
    assert forked.communicate(timeout=120)[1].endswith("ZeroDivisionError: division by zero\n")
    assert forked.returncode == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_it_however_early(number: signal.Signals) -> None:
    # Short sleeps: a signal between the interpreter's last look and one sleep waits for its end.
    code = "import time\nfor _ in range(6000): time.sleep(0.1)"
    for _ in range(5):
        with Forked("-c", code, stderr=subprocess.DEVNULL) as forked:
            forked.send_signal(number)
            assert forked.wait(120) == -number


def test_a_test_that_fails_does_not_wait_for_its_process() -> None:
    sleeping = ("-c", "import time; time.sleep(600)")
    with pytest.raises(ZeroDivisionError), Forked(*sleeping) as forked:
        _ = 1 / 0
    assert forked.returncode == -signal.SIGKILL


def test_a_wait_has_an_end() -> None:
    forked = Forked("-c", "input()", stdin=PIPE, stdout=PIPE)
    assert forked.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        forked.wait(0.05)
    forked.kill()
    assert forked.communicate(timeout=120) == ("", "")


def test_what_is_read_at_the_start_of_python_is_refused() -> None:
    with pytest.raises(AssertionError, match="PYTHONHASHSEED is read while Python starts"):
        Forked("-c", "", env=os.environ | {"PYTHONHASHSEED": "5"})


def test_nothing_outlives_the_tests_though_they_are_killed() -> None:
    code = (
        "import forks, subprocess\n"
        "one = forks.Forked('-c', 'import time; time.sleep(600)')\n"
        "print(one.pid, forks._server()._process.pid, flush=True)\n"
        "one.wait()"
    )
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdout=PIPE, text=True) as tests:
        assert tests.stdout is not None
        left = [int(one) for one in tests.stdout.readline().split()]
        tests.kill()
    assert len(left) == 2
    wait_until(lambda: not any(map(_lives, left)))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rsplit(")")[-1].split()[0] == "Z")
