"""What is said, and asked, before money is spent."""

import json
import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

from command import COMMAND, run_command
from folders import write_folder
from plugin import asked, environment, install


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with clips, a paid plug-in, and its prices."""
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", 4)
    install(tmp_path)
    price = {
        "text_in": 1000.0,
        "audio_in": 1000.0,
        "out": 1000.0,
        "audio_tokens_per_s": 10.0,
        "source": "made up",
        "as_of": "2026-01-01",
    }
    table = {
        "currency": "USD",
        "unit": "per 1,000,000 tokens",
        "models": {"diary/paid": price, "openai/gpt-4.1": price},
    }
    (tmp_path / "prices.json").write_text(json.dumps(table))
    return tmp_path


WORDS = ["run", "tones", "--model", "diary/paid", "--prices", "prices.json"]


def call(place: Path, *more: str) -> subprocess.CompletedProcess[str]:
    env = environment(place, DIARY_PAUSE="0", OPENAI_API_KEY="sk-not-a-real-key")
    return run_command(*WORDS, *more, cwd=place, env=env)


def test_the_preview_counts_what_is_left_and_what_it_will_cost(place: Path) -> None:
    first = call(place, "--limit", "3")
    # 60 tokens of text, 2.5 of audio and 120 of answer for each of three clips.
    assert "diary/paid: 3 clips, 1 s of audio, about $0.55\n" in first.stderr
    again = call(place, "--limit", "3")
    assert "about $" not in again.stderr


def test_the_judge_is_counted_apart(place: Path) -> None:
    pytest.importorskip("openai", reason="a model judge needs the extra openai")
    done = call(place, "--judge", "openai/gpt-4.1", "--budget", "0.01", "--yes")
    assert "diary/paid: 4 clips, 1 s of audio, about $0.73" in done.stderr
    assert "judge openai/gpt-4.1: 4 answers, about $3.28" in done.stderr
    assert "The budget is $0.01" in done.stderr
    assert done.returncode == 130


def on_a_terminal(place: Path, answer: bytes, *more: str) -> tuple[int, str]:
    """Run the command on a terminal of its own and answer its question."""
    main, other = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *WORDS, *more],
        cwd=place,
        env=environment(place, DIARY_PAUSE="0", COLUMNS="100"),
        stdin=other,
        stdout=other,
        stderr=other,
    )
    os.close(other)
    shown, answered, deadline = b"", False, time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([main], [], [], 0.2)[0]:
            try:
                shown += os.read(main, 4096)
            except OSError:
                break
        if not answered and b"Go on?" in shown:
            os.write(main, answer)
            answered = True
        if process.poll() is not None and not select.select([main], [], [], 0.2)[0]:
            break
    os.close(main)
    return process.wait(30), shown.decode(errors="replace")


def test_a_terminal_is_asked_before_anything_is_spent(place: Path) -> None:
    code, shown = on_a_terminal(place, b"n\n")
    assert code == 130
    assert "Nothing was asked." in shown
    assert asked(place) == []
    code, shown = on_a_terminal(place, b"y\n")
    assert code == 0, shown
    assert len(asked(place)) == 4


def test_yes_is_not_asked(place: Path) -> None:
    code, shown = on_a_terminal(place, b"", "--yes")
    assert code == 0
    assert "Go on?" not in shown
