"""``audiocapbench demo``: the promises that it makes to a newcomer."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.store import Store
from command import run_command

METRICS = open_benchmark("demo").traits.metrics


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demo has been run."""
    folder = tmp_path_factory.mktemp("demo")
    done = run_command("demo", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "stdout.txt").write_text(done.stdout)
    (folder / "stderr.txt").write_text(done.stderr)
    return folder


@pytest.fixture(scope="module")
def scores(demo: Path) -> dict[str, dict[str, Any]]:
    """Every run of the demo by model; nothing is asked again."""
    models = ["listener", "control/right", "control/safe", "control/wrong", "control/empty"]
    words = [word for model in models for word in ("--model", model)]
    done = run_command("run", "demo", *words, "--judge", "elements", "--json", cwd=demo)
    return {run["model"]: run for run in json.loads(done.stdout)["runs"]}


def judged(scores: dict[str, dict[str, Any]], model: str, dimension: str) -> float:
    score: float = scores[model]["judges"]["elements"]["scores"][dimension]["score"]
    return score


@pytest.mark.parametrize("dimension", ["accuracy", "completeness", "overall"])
def test_the_judge_puts_right_over_safe_over_wrong_over_empty(
    scores: dict[str, dict[str, Any]], dimension: str
) -> None:
    right, safe, wrong, empty = (
        judged(scores, f"control/{kind}", dimension) for kind in ("right", "safe", "wrong", "empty")
    )
    assert right > safe > wrong > empty == 0.0
    assert judged(scores, "listener", dimension) > wrong


def test_the_judge_sees_that_wrong_answers_invent(scores: dict[str, dict[str, Any]]) -> None:
    # A safe answer invents nothing, so it may stand above a right one here.
    right, wrong = (
        judged(scores, f"control/{kind}", "hallucination") for kind in ("right", "wrong")
    )
    assert right > wrong


@pytest.mark.parametrize("metric", METRICS)
def test_right_beats_safe_beats_wrong_beats_empty(
    scores: dict[str, dict[str, Any]], metric: str
) -> None:
    right, safe, wrong, empty = (
        scores[f"control/{kind}"]["metrics"][metric]["score"]
        for kind in ("right", "safe", "wrong", "empty")
    )
    assert right > safe > wrong > empty == 0.0


@pytest.mark.parametrize("metric", METRICS)
def test_the_listener_beats_fluent_nonsense(scores: dict[str, dict[str, Any]], metric: str) -> None:
    wrong = scores["control/wrong"]["metrics"][metric]["score"]
    assert scores["listener"]["metrics"][metric]["score"] > wrong


def test_every_number_has_coverage_interval_and_signature(
    scores: dict[str, dict[str, Any]],
) -> None:
    for run in scores.values():
        assert run["n"] == 30
        for name, figure in run["metrics"].items():
            low, high = figure["ci"]
            assert low <= figure["score"] <= high
            assert figure["coverage"] == 1.0
            assert figure["signature"].startswith(f"{name}|")


def test_the_listener_never_claims_speech_or_music_in_silence(demo: Path) -> None:
    store = Store.open(str(demo / "audiocapbench.db"))
    (run,) = [line for line in store.runs() if line.model == "listener"]
    answers = [
        outcome.reply.text
        for key, outcome in store.outcomes(run.id).items()
        if key.startswith("silence_")
    ]
    store.close()
    assert len(answers) == 2
    for answer in answers:
        assert not re.search(r"\b(voice|speaks?|speaking|man|woman|melody|instrument)\b", answer)


def test_the_terminal_shows_leaderboard_categories_and_what_is_next(demo: Path) -> None:
    shown = (demo / "stdout.txt").read_text()
    assert "Leaderboard, with 95 % intervals" in shown
    assert "by category" in shown
    for category in ("sound (10)", "music (8)", "speech (8)", "mixed (2)", "silence (2)"):
        assert category in shown
    told = (demo / "stderr.txt").read_text()
    assert "Report: demo-report.html" in told
    assert "audiocapbench run FOLDER --model listener" in told


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_report_is_one_file_that_asks_for_nothing(demo: Path) -> None:
    page = _Page()
    page.feed((demo / "demo-report.html").read_text(encoding="utf-8"))
    # The data, a block for each clip, and the page's own script.
    assert page.tags.count("script") == 1 + 30 + 1
    assert page.tags.count("table") == 2
    assert page.links
    assert all(link.startswith("#") for link in page.links)


@pytest.fixture(scope="module")
def second(demo: Path) -> CompletedProcess[str]:
    return run_command("demo", "--out", "/dev/null", cwd=demo)


def test_a_second_demo_asks_nothing_and_says_the_same(
    demo: Path, second: CompletedProcess[str]
) -> None:
    assert second.stdout == (demo / "stdout.txt").read_text()
    runs = run_command("runs", "--json", cwd=demo)
    assert len(json.loads(runs.stdout)["runs"]) == 5


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    done = run_command("demo", "--out", "no/where.html", cwd=tmp_path)
    assert done.returncode == 2
    assert "no/where.html: cannot be written; name a file in a folder that is there" in done.stderr
    assert not list(tmp_path.iterdir())
