"""``audiocapbench figures``: files for a paper, and what it says when they cannot be made."""

import json
import re
import struct
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.engine import run_benchmark, score_run
from audiocapbench.judges import create_judge, judge_run
from audiocapbench.models import create_model
from audiocapbench.store import Store
from command import run_command
from folders import write_folder
from made_store import MadeRun, made_samples, put_run
from needs import needs


def call(*words: str) -> CompletedProcess[str]:
    return run_command("figures", *words)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two judged runs and one that no judge has seen."""
    folder = tmp_path_factory.mktemp("runs")
    store = Store.open(str(folder / "audiocapbench.db"))
    benchmark = open_benchmark(str(write_folder(folder / "tones", 6)))
    for name in ("right", "wrong", "safe"):
        end = run_benchmark(benchmark, create_model(f"control/{name}"), store)
        score_run(store, end.run, ["rouge_l"])
        if name != "safe":
            judge_run(store, end.run, [create_judge("elements")])
    store.close()
    return folder


@pytest.fixture
def place(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, as the folder that a user stands in."""
    monkeypatch.chdir(runs)
    return runs


def test_four_figures_in_three_formats(place: Path) -> None:
    needs("vl_convert")
    done = call("1", "2", "--out", "drawn", "--json")
    assert done.returncode == 0, done.stderr
    paths = [place / name for name in json.loads(done.stdout)["figures"]]
    assert len(paths) == 12
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    for path in paths:
        assert path.read_bytes().startswith(starts[path.suffix])


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run over twelve categories, some scores of which no metric is known for."""
    monkeypatch.chdir(tmp_path)
    store = Store.open(str(tmp_path / "audiocapbench.db"))
    samples = made_samples(132, categories=[f"kind {number}" for number in range(12)])
    given = {name: {one.id: 0.5 for one in samples} for name in ("rouge_l", "gone")}
    for name in ("one", "two"):
        put_run(store, MadeRun(f"made/{name}", scores=given), samples)
    store.close()
    return tmp_path


def test_twelve_categories_stand_in_rows_of_four(many: Path) -> None:
    needs("vl_convert")
    done = call("1", "2", "--out", "drawn")
    assert done.returncode == 0, done.stderr
    assert "Scores of gone are left out" in done.stderr
    for name in ("figure1_lengths", "figure3_categories"):
        content = (many / "drawn" / f"{name}.png").read_bytes()
        width, height = struct.unpack(">II", content[16:24])
        assert width <= 2600
        assert height >= width / 4
        assert (many / "drawn" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert (many / "drawn" / f"{name}.svg").read_bytes().startswith(b"<?xml")


def test_without_a_judge_there_are_three(place: Path) -> None:
    needs("vl_convert")
    done = call("3", "--format", "svg", "--out", "drawn")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3
    assert "no figure 4" in done.stderr


def test_the_same_runs_give_the_same_file(place: Path) -> None:
    needs("vl_convert")
    for folder in ("one", "two"):
        done = call("3", "--format", "svg,pdf", "--out", folder)
        assert done.returncode == 0, done.stderr
    for path in (place / "one").iterdir():
        assert path.read_bytes() == (place / "two" / path.name).read_bytes()


def test_an_unknown_format_is_said_plainly(place: Path) -> None:
    done = call("1", "--format", "png,bmp")
    assert done.returncode == 2
    assert "there is no format 'bmp'; there are png, svg, pdf" in done.stderr


def test_a_missing_library_is_one_sentence(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    done = call("1", "--out", "drawn-without")
    assert done.returncode == 2
    assert "png needs vl-convert: pip install 'audiocapbench[plots]'" in done.stderr
    assert not (place / "drawn-without").exists()
    assert call("1", "--format", "svg", "--out", "drawn-without").returncode == 0


def test_the_figures_show_the_page_s_own_numbers(place: Path) -> None:
    assert call("1", "2", "--format", "svg", "--out", "drawn").returncode == 0
    assert run_command("report", "1", "2", "--out", "page.html").returncode == 0
    page = (place / "page.html").read_text()
    drawn = (place / "drawn" / "figure2_overall.svg").read_text()
    numbers = re.findall(r">(\d+\.\d\d)<", drawn)
    assert len(numbers) == 2
    assert all(f">{one}" in page for one in numbers)
    tradeoff = (place / "drawn" / "figure4_tradeoff.svg").read_text()
    assert len(re.findall(r'<path d="[^"]+" class="mark c\d"/>', tradeoff)) == 2
