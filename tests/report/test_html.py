"""The report page: hostile text stays text, and every number is shown."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.engine import run_benchmark, score_run
from audiocapbench.models import create_model
from audiocapbench.report.html import write_report
from audiocapbench.report.summary import summarise
from audiocapbench.store import Store
from folders import write_folder, write_lines, write_tone

EVIL = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'{{ 7*7 }}"


def report(root: Path, *models: str) -> str:
    benchmark = open_benchmark(str(root))
    store = Store.open(str(root / "runs.db"))
    summaries = []
    for name in models:
        end = run_benchmark(benchmark, create_model(name), store)
        score_run(store, end.run, ["rouge_l"])
        summaries.append(summarise(store, end.run, ["rouge_l"]))
    write_report(store, summaries, ["rouge_l"], "rouge_l", root / "report.html", title=EVIL)
    return (root / "report.html").read_text(encoding="utf-8")


def test_text_from_anywhere_stays_text(tmp_path: Path) -> None:
    write_tone(tmp_path / "a.wav")
    write_tone(tmp_path / "b.wav", 300.0)
    rows = [
        {
            "file_name": f"{name}.wav",
            "id": f"{name} {EVIL}",
            "category": EVIL,
            "instruction": EVIL,
            "references": [f"{EVIL} {name} one", f"{EVIL} {name} two"],
        }
        for name in ("a", "b")
    ]
    write_lines(tmp_path, rows)
    page = report(tmp_path, "control/right", "control/wrong")
    assert "<script" not in page
    assert "<img" not in page
    assert "{{ 7*7 }}" in page
    assert page.count("&lt;script&gt;") > 10


def test_every_answer_and_status_is_shown(tmp_path: Path) -> None:
    write_folder(tmp_path, 2)
    page = report(tmp_path, "control/right", "control/empty")
    assert page.count("<audio ") == 2
    assert page.count('<span class="none">empty') == 2
    assert "not scored against itself" in page
    assert "rouge_l|variant:" in page


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_shows_the_page_without_complaint(tmp_path: Path) -> None:
    write_folder(tmp_path, 2)
    report(tmp_path, "control/right")
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    done = subprocess.run(
        [
            "chromium",
            *flags.split(),
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            "--v=0",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            (tmp_path / "report.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.count("<audio ") == 2
    assert not re.search(r"CONSOLE|Content Security Policy", done.stderr)
