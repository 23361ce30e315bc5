"""``audiocapbench study``: one file asks, judges and writes, goes on, and refuses what changed."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks.benchmark_file import published_results
from audiocapbench.store import Store
from command import run_command
from folders import write_folder, write_lines
from plugin import environment, install
from whole_run import write_prices

STUDY = """
name = "Three controls"
benchmark = "tones"
models = ["control/right", "control/safe", { name = "listener" }]
judges = ["elements"]
folder = "out"
budget = 1.0

[output]
"""
LITTLE = """
formats = ["md"]
report = false
"""
ALL = """
tables = ["leaderboard", "by-category", "table1"]
formats = ["md", "csv", "latex", "json"]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with eight clips and a study of them that writes one table."""
    write_folder(tmp_path / "tones", 8)
    (tmp_path / "study.toml").write_text(STUDY + LITTLE)
    return tmp_path


def call(place: Path, *words: str) -> Any:
    return run_command("study", *words, cwd=place)


@pytest.mark.slow
def test_a_study_asks_what_is_missing_and_writes_all_that_it_names(place: Path) -> None:
    (place / "study.toml").write_text(STUDY + ALL)
    done = call(place, "study.toml", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["runs"] == [1, 2, 3]
    names = {Path(one).name for one in told["written"]}
    assert {
        "leaderboard.md",
        "by-category.csv",
        "table1.tex",
        "table1.json",
        "report.html",
    } <= names
    assert all((place / one).stat().st_size for one in told["written"])
    assert "control/right" in (place / "out/leaderboard.md").read_text()
    assert len(json.loads((place / "out/leaderboard.json").read_text())["boards"]) == 1
    again = json.loads(call(place, "study.toml", "--json").stdout)
    assert again == told


def test_other_runs_of_the_store_are_not_in_it(place: Path) -> None:
    run_command("run", "tones", "--model", "control/wrong", cwd=place)
    done = call(place, "study.toml")
    assert done.returncode == 0, done.stderr
    assert "control/wrong" not in (place / "out/leaderboard.md").read_text()


def test_check_says_what_would_be_asked_and_asks_nothing(place: Path) -> None:
    done = call(place, "check", "study.toml")
    assert done.returncode == 0, done.stderr
    assert "3 models, 8 samples of" in done.stdout
    assert "Nothing in it costs money" in done.stdout
    told = json.loads(call(place, "check", "study.toml", "--json").stdout)
    assert told["likely_usd"] == 0
    assert "listener: 8 clips, 2 s of audio" in done.stdout
    assert "time unknown, it never answered in this store" in done.stdout
    assert call(place, "lock", "study.toml").returncode == 0
    assert not {"out", "audiocapbench.db"} & {one.name for one in place.iterdir()}


def test_check_says_how_long_a_study_takes_by_what_answers_took_before(place: Path) -> None:
    limited = (STUDY + LITTLE).replace("budget", "concurrency = 2\nbudget")
    (place / "study.toml").write_text(limited)
    assert call(place, "study.toml").returncode == 0
    write_folder(place / "tones", 20)
    with Store.open(str(place / "audiocapbench.db")) as store:
        took = store.catalog.typical_latency("listener")
    assert took
    done = call(place, "check", "study.toml", "--json")
    assert json.loads(done.stdout)["likely_s"]["listener"] == pytest.approx(12 * took / 2, rel=1e-6)
    assert "as it answers in this store" in call(place, "check", "study.toml").stdout


def test_a_locked_study_refuses_other_data_and_other_models(place: Path) -> None:
    assert call(place, "lock", "study.toml").returncode == 0
    assert call(place, "study.toml").returncode == 0
    rows = [json.loads(one) for one in (place / "tones/metadata.jsonl").read_text().splitlines()]
    rows[0]["references"] = ["Something else.", "Another thing."]
    write_lines(place / "tones", rows)
    done = call(place, "study.toml")
    assert done.returncode == 2
    assert "benchmark.fingerprint" in done.stderr
    assert call(place, "check", "study.toml").returncode == 1
    assert call(place, "lock", "study.toml").returncode == 0
    assert call(place, "study.toml").returncode == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = ", "is not TOML"),
        ('name = "x"\nbenchmark = "demo"', "models"),
        ('name = "x"\nbenchmark = "demo"\nmodels = []', "models"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener", "listener"]', "stands twice"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener"]\ncolour = 1', "colour"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener"]\nlimit = 0', "limit"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["nobody/x"]', "nobody/x"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener"]\nbudget = -1', "budget"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener"]\nrpm = 0', "rpm"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener"]\nasking = {}', "asking: is no key"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener"]\nbudget = inf', "finite"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener"]\nlimit = true', "limit"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener"]\nlimit = "3"', "limit"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener"]\nfoldre = "x"', "'folder'?"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener"]\nprices = "\\u0000"', "NUL"),
        (f"a = {'[' * 5000}{']' * 5000}", "nested too deeply"),
        ('name = "x"\nbenchmark = "nowhere"\nmodels = ["listener"]', "nowhere"),
        ('name = "x"\nbenchmark = "demo"\nmodels = ["listener"]\nmetrics = ["metoer"]', "meteor"),
    ],
)
def test_what_is_wrong_with_a_study_is_said_by_field(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "study.toml").write_text(text)
    done = call(tmp_path, "check", "study.toml")
    assert done.returncode == 2
    assert says in done.stderr
    assert call(tmp_path, "check").returncode == 2


def test_the_papers_own_study_is_an_example_that_names_its_models() -> None:
    done = call(Path(), "example")
    told = tomllib.loads(done.stdout)
    paper = published_results("audiocapbench")
    assert paper is not None
    assert set(told["models"]) == {one.model for one in paper.rows}
    assert told["protocol"] == "published"
    refused = call(Path(), "example", "--json")
    assert (refused.returncode, refused.stdout) == (2, "")


@pytest.mark.parametrize("text", ["", "null", "3", '"x"'])
def test_a_lock_that_is_none_is_no_lock_of_nothing(place: Path, text: str) -> None:
    (place / "study.lock.json").write_text(text)
    done = call(place, "check", "study.toml")
    (place / "study.lock.json").unlink()
    assert (done.returncode, "cannot be read" in done.stderr) == (2, True), done.stderr


def test_a_lock_holds_the_samples_and_can_be_made_anew(place: Path) -> None:
    assert call(place, "lock", "study.toml").returncode == 0
    (place / "study.toml").write_text("\ufefflimit = 3\n" + STUDY + LITTLE, encoding="utf-8")
    done = call(place, "check", "study.toml")
    assert done.returncode == 1
    assert "samples.limit" in done.stderr
    (place / "study.lock.json").write_text("{")
    assert call(place, "lock", "study.toml").returncode == 0
    assert call(place, "check", "study.toml").returncode == 0


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_asked(place: Path) -> None:
    (place / "out").write_text("a file")
    assert call(place, "study.toml").returncode == 2
    assert not list(Store.open(str(place / "audiocapbench.db")).runs())


def test_a_study_at_its_limit_says_so_writes_what_there_is_and_goes_on(place: Path) -> None:
    models = ("diary/paid", "diary/other")
    install(place)
    env = environment(place, DIARY_PAUSE="0")
    table = json.loads(write_prices(place / "prices.json", models[0]).read_text())
    table["models"][models[1]] = table["models"][models[0]]
    (place / "prices.json").write_text(json.dumps(table))
    text = re.sub(r"models = .*", f"models = {json.dumps(models)}", STUDY + LITTLE)

    def study(budget: float, *words: str) -> Any:
        both = f'budget = {budget}\nprices = "prices.json"'
        (place / "study.toml").write_text(text.replace("budget = 1.0", both))
        return run_command("study", *words, "study.toml", cwd=place, env=env)

    told = json.loads(study(0.5, "check", "--json").stdout)
    assert 0 < told["samples_that_fit"] < 8
    assert told["most_usd"] > told["likely_usd"] > told["budget"]["limit_usd"] == 0.5
    none = study(0.0001, "--yes")
    assert (none.returncode, none.stdout) == (1, "")
    assert "a budget of $0.0001 of project Three controls is too small" in none.stderr
    some = study(0.2, "--yes")
    assert some.returncode == 1, some.stderr
    assert "In all about $2.256, at most $" in some.stderr
    assert "the budget is spent: $0." in some.stderr
    assert "diary/other" in (place / "out/leaderboard.md").read_text()
    again = study(0.2, "check")
    assert " is spent; the run stops before it is overspent" in again.stdout
    told = json.loads(study(0.2, "--yes", "--json").stdout)
    assert told["runs"] == [1, 2]  # also who has answers from before and was not reached
    assert all(one in (place / "out/leaderboard.md").read_text() for one in models)
    words = [word for one in models for word in ("--model", one)]
    words += ["--prices", "prices.json", "--budget", "0.0001", "--yes", "--json"]
    ran = run_command("run", "tones", *words, cwd=place, env=env)
    assert [one["model"] for one in json.loads(ran.stdout)["runs"]] == [*models]
    assert study(5.0, "--yes").returncode == 0


def test_check_says_that_no_budget_can_be_kept_without_a_price_and_what_to_write(
    place: Path,
) -> None:
    own = "endpoint/own@http://127.0.0.1:9/v1"
    text = re.sub("models = .*", f'models = ["{own}"]', STUDY + LITTLE)

    def check(old: str = "", new: str = "") -> Any:
        (place / "study.toml").write_text(text.replace(old, new))
        return call(place, "check", "study.toml")

    done = check()
    assert done.returncode == 1, done.stderr
    assert f"The budget cannot be kept: no price is known for {own}" in done.stdout
    assert 'free = true or prices = "FILE"' in done.stdout
    unlimited = check("budget = 1.0")
    assert (unlimited.returncode, "cannot be kept" in unlimited.stdout) == (0, False)
    free = check("budget", "free = true\nbudget")
    assert (free.returncode, "Nothing in it costs money" in free.stdout) == (0, True), free.stderr
