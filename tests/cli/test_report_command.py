"""``audiocapbench report``: what it writes, says and refuses."""

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.engine import run_benchmark, score_run
from audiocapbench.models import create_model
from audiocapbench.report.page import html
from audiocapbench.store import Store
from command import run_command
from folders import write_folder
from made_store import MadeRun, made_samples, put_run
from plugin import install_package


def call(*words: str) -> CompletedProcess[str]:
    return run_command("report", *words)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs 1 and 2 of one benchmark and run 3 of another."""
    folder = tmp_path_factory.mktemp("runs")
    store = Store.open(str(folder / "audiocapbench.db"))
    for name, models in (("tones", ("right", "wrong")), ("others", ("right",))):
        benchmark = open_benchmark(str(write_folder(folder / name, 6)))
        for model in models:
            end = run_benchmark(benchmark, create_model(f"control/{model}"), store)
            score_run(store, end.run, ["rouge_l", "bleu_1"])
    store.close()
    return folder


@pytest.fixture
def place(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, as the folder that a user stands in."""
    monkeypatch.chdir(runs)
    return runs


def test_runs_become_a_page(place: Path) -> None:
    done = call("1", "2", "--out", "page.html", "--title", "My <models>")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("page.html: 6 samples, ")
    page = (place / "page.html").read_text(encoding="utf-8")
    assert '<h1 id="title" dir="auto">My &lt;models&gt;</h1>' in page
    assert "Content-Security-Policy" in page


def test_json_names_the_page_and_its_numbers(place: Path) -> None:
    done = call("2", "1", "--out", "page.html", "--audio", "embed", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["bytes"] == (place / "page.html").stat().st_size
    assert (document["samples"], document["clips"]) == (6, 6)
    assert (document["unheard"], document["audio"]) == (0, "embed")
    assert document["ranked_by"] == "bleu_1"
    scores = [run["metrics"]["bleu_1"]["score"] for run in document["runs"]]
    assert len(scores) == 2
    assert scores == sorted(scores, reverse=True)


def test_a_page_has_its_sound_where_a_mail_takes_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = call("1", "--json")
    assert json.loads(done.stdout)["audio"] == "embed"
    assert 'id="sound-5"' in (place / "report.html").read_text(encoding="utf-8")
    assert "The sound is linked" not in done.stderr
    # The clips alone are larger, or all of the page by a byte.
    for most in (1_000, json.loads(done.stdout)["bytes"] - 1):
        monkeypatch.setattr(html, "MOST_MAILED", most)
        done = call("1", "--json")
        assert json.loads(done.stdout)["audio"] == "link"
        assert "The sound is linked, not inside" in done.stderr
        assert 'id="sound-0"' not in (place / "report.html").read_text(encoding="utf-8")


def test_another_score_ranks_where_asked(place: Path) -> None:
    done = call("1", "--by", "rouge_l", "--json", "--audio", "none")
    assert json.loads(done.stdout)["ranked_by"] == "rouge_l"
    done = call("1", "--by", "meteor")
    assert done.returncode == 2
    assert "these runs have bleu_1, rouge_l" in done.stderr


def test_runs_of_different_benchmarks_are_refused(place: Path) -> None:
    done = call("1", "3")
    assert done.returncode == 2
    assert "run 1 is of folder/tones and run 3 of folder/others" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_that_is_not_there_is_said_plainly(place: Path) -> None:
    done = call("99")
    assert done.returncode == 2
    assert "has no run 99" in done.stderr


@pytest.mark.parametrize("name", ["audiocapbench.db", "others/clips/0.wav"])
def test_a_page_never_takes_the_place_of_what_it_reads(place: Path, name: str) -> None:
    before = (place / name).read_bytes()
    done = call("1", "--out", name)
    assert done.returncode == 2
    assert f"{name} is read by this command and would be overwritten" in done.stderr
    assert (place / name).read_bytes() == before


def test_a_page_that_cannot_be_written_is_said_plainly(place: Path) -> None:
    done = call("1", "--out", "no/where.html", "--audio", "none")
    assert done.returncode == 2
    assert "no/where.html: cannot be written; name a file in a folder that is there" in done.stderr


def test_samples_and_clips_are_counted_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put_three_a_clip(tmp_path, {"rouge_l": 0.5})
    done = call("1", "--audio", "none", "--json")
    document = json.loads(done.stdout)
    assert (document["samples"], document["clips"]) == (36, 12)
    done = call("1", "--audio", "none")
    assert done.stdout.startswith("report.html: 36 samples of 12 clips, ")


def put_three_a_clip(folder: Path, scores: dict[str, float]) -> None:
    """Run 1: 36 samples, three a clip, with these scores throughout."""
    store = Store.open(str(folder / "audiocapbench.db"))
    samples = made_samples(36, questions=3)
    given = {name: {one.id: value for one in samples} for name, value in scores.items()}
    put_run(store, MadeRun("made/even", scores=given), samples)
    store.close()


def install_shared_words(site: Path) -> None:
    """A package that brings the metric shared_words."""
    code = (
        "from audiocapbench import Metric\n\n"
        'metric = Metric("shared_words", "words in common", lambda *given: [], max_value=2.0)\n'
    )
    entry = "shared_words = shared_words_plugin:metric"
    install_package(site, "shared_words_plugin", code, metrics=entry)


def test_a_metric_of_a_plug_in_is_a_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    install_shared_words(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    put_three_a_clip(tmp_path, {"shared_words": 1.5, "rouge_l": 0.5})
    done = call("1", "--audio", "none", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["ranked_by"], document["notes"]) == ("rouge_l", [])
    assert document["runs"][0]["metrics"]["shared_words"]["score"] == 1.5
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<th scope="col">rouge_l</th><th scope="col">shared_words</th>' in page


def test_a_metric_whose_plug_in_is_gone_is_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put_three_a_clip(tmp_path, {"shared_words": 1.5, "rouge_l": 0.5})
    done = call("1", "--audio", "none")
    assert done.returncode == 0, done.stderr
    words = "Scores of shared_words are left out"
    assert words in done.stderr
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert words in page
    assert '<th scope="col">shared_words</th>' not in page
