"""``audiocapbench race``: as few questions as it takes; the rest of a run is left for later."""

import json
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.data.outcome import Reply
from audiocapbench.engine import Asking
from audiocapbench.errors import FatalError
from audiocapbench.models import AudioContract
from audiocapbench.plan import RunPlan, execute
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.table import TableReader
from audiocapbench.stats.racing import deal_clips
from audiocapbench.store import Store
from audiocapbench.study.race import RacePlan, RaceResult
from command import run_command
from folders import write_folder, write_lines
from made_store import stored_scores
from plugin import install_package

WORDS = "dog cat bird horse train child door bell river engine drum".split()
DEEDS = "barks sings roars runs rings cries slams squeaks hums whistles crackles".split()
CLIPS = 60
FEW = 24
MODELS = [word for name in ("right", "wrong", "empty") for word in ("--model", f"control/{name}")]

WIDE = """
import numpy as np

from audiocapbench import Metric, MetricResult, sign


def _wide(predictions, references):
    scores = np.array([3.0 if "dog" in one else 0.2 for one in predictions])
    return MetricResult.of_means("wide", sign("wide"), scores)


wide = Metric("wide", "leaves its range", _wide)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tones(tmp_path_factory.mktemp("race"), CLIPS)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips for what does not depend on how many there are."""
    return write_tones(tmp_path_factory.mktemp("few"), FEW)


def write_tones(root: Path, clips: int) -> Path:
    """A folder ``tones`` of so many clips."""
    write_folder(root / "tones", clips)
    write_lines(root / "tones", [told(number) for number in range(clips)])
    return root


def told(number: int) -> dict[str, Any]:
    """A clip whose two references share words that those of others do not have."""
    who, does = WORDS[number % 11], DEEDS[number // 11]
    return {
        "file_name": f"clips/{number}.wav",
        "id": f"tone_{number}",
        "category": "music" if number % 3 else "sound",
        "references": [f"{who} {does} loudly.", f"{who} {does}."],
    }


def race(place: Path, *words: str) -> dict[str, Any]:
    done = run_command("race", "tones", *words, "--json", cwd=place)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_race_asks_less_and_goes_on_where_it_stopped(place: Path) -> None:
    found = race(place, *MODELS)
    assert found["decided"]
    assert found["best"] == ["control/right"]
    assert found["asked"] < found["fixed"] == 3 * CLIPS
    empty = next(one for one in found["models"] if one["model"] == "control/empty")
    assert empty["asked"] == empty["out_after"] < CLIPS
    assert race(place, "--resume") == found
    for words, says in (
        (["--metric", "rouge_l"], "no race by rouge_l"),
        (["--seed", "5"], "other seed"),
        (["--model", "control/safe"], "other models"),
    ):
        done = run_command("race", "tones", "--resume", *words, cwd=place)
        assert done.returncode == 2
        assert says in done.stderr


def test_runs_of_a_race_are_marked_until_the_rest_is_asked(few: Path) -> None:
    models: list[Any] = [Pupil("one", set()), Pupil("two", {f"tone_{n}" for n in range(FEW)})]
    found = result(few, models, "marked.db")
    with Store.open(str(few / "marked.db")) as kept:
        tables = [TableReader(kept).read(kept.run(number)) for number in (1, 2)]
        assert [(one.raced, one.race) for one in tables] == [(True, found.statement)] * 2
        assert f"one is best on these {FEW} clips (at 0.95)" in found.statement
        execute(RunPlan.of_models(kept, open_benchmark(str(few / "tones")), models, Asking()))
        tables = [TableReader(kept).read(kept.run(number)) for number in (1, 2)]
        assert [(one.raced, one.race) for one in tables] == [(False, found.statement)] * 2


def test_run_asks_the_rest_of_a_race(place: Path) -> None:
    said = race(place, *MODELS)["statement"]
    assert said in run_command("runs", "show", "3", cwd=place).stdout
    done = run_command("run", "tones", "--model", "control/empty", "--json", cwd=place)
    [run] = json.loads(done.stdout)["runs"]
    assert run["run"] == 3
    assert run["metrics"]["meteor"]["coverage"] == 1.0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "control/right"], "takes more models"),
        ([*MODELS, "--top", "3"], "takes more models"),
        ([*MODELS, "--metric", "meteor", "--judge", "elements"], "one score"),
        ([*MODELS, "--metric", "nothing"], "nothing"),
        ([*MODELS, "--seed", "-1"], "greater than or equal to 0"),
        ([*MODELS, "--metric", "bleu_coco_4"], "whole corpus"),
        (["--model", "control/empty", "--model", "control/empty"], "takes more"),
    ],
)
def test_what_cannot_be_raced_is_refused(place: Path, words: list[str], says: str) -> None:
    done = run_command("race", "tones", *words, cwd=place)
    assert done.returncode == 2
    assert says in done.stderr


def test_the_table_says_who_is_out_and_what_was_saved(place: Path) -> None:
    race(place, *MODELS)
    done = run_command("race", "tones", *MODELS, "--judge", "elements", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "out after" in done.stdout
    said = "Race of 3 models by elements: control/right is best on these 60 clips (at 0.95)"
    assert done.stdout.startswith(said)
    assert f"of the {3 * CLIPS} questions" in done.stdout


def test_equal_models_are_best_here_by_chance_and_not_on_clips_like_these(few: Path) -> None:
    odd = {f"tone_{number}" for number in range(11)}
    even = {f"tone_{number}" for number in range(11, 23)}
    found = result(few, [Pupil("one", odd), Pupil("two", even)], "alike.db", alike=True)
    assert (found.decided, found.alike_decided) == (True, False)
    said = f"one is best on these {FEW} clips; on clips like these the race cannot tell."
    assert found.statement == f"Race of 2 models by meteor: {said}"


@pytest.mark.slow
def test_a_race_for_clips_like_these_takes_more_of_them_and_says_so(place: Path) -> None:
    wrong = {f"tone_{number}" for number in range(0, CLIPS, 5)}
    models = [Pupil("one", set()), Pupil("two", wrong)]
    short, long = (result(place, models, "both.db", alike=one) for one in (False, True))
    assert short.asked < long.asked
    said = f"one is best on these {CLIPS} clips (at 0.95)"
    assert f"{said}; on clips like these the race cannot tell" in short.statement
    assert f"{said}, and best on clips like these (at 0.95)." in long.statement


def test_clips_are_dealt_alike_in_whatever_order_they_stand(tmp_path: Path) -> None:
    asked, wrong = [], {f"tone_{number}" for number in range(FEW)}
    for step in (1, -1):
        place = write_tones(tmp_path / str(step), FEW)
        write_lines(place / "tones", [told(number) for number in range(FEW)[::step]])
        result(place, [Pupil("one", set()), Pupil("two", wrong)], "order.db")
        with Store.open(str(place / "order.db")) as kept:
            asked.append([set(kept.outcomes(number)) for number in (1, 2)])
    assert asked[0] == asked[1]
    assert len(asked[0][1]) < FEW


class Pupil:
    """Knows the answers but for some samples, and refuses after so many questions."""

    cacheable = False
    concurrency = 1
    contract = AudioContract("none")
    parameters: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, name: str, wrong: set[str], refuses_after: int = 1000) -> None:
        self.name, self.wrong, self.left = name, wrong, refuses_after

    def prepare(self, samples: Any) -> None:
        pass

    async def answer(self, question: Any) -> Reply:
        self.left -= 1
        if self.left < 0:
            raise FatalError("the account is closed")
        number = int(question.sample_id.removeprefix("tone_"))
        right = told(number)["references"][0]
        return Reply("zzz" if question.sample_id in self.wrong else right)


def result(place: Path, models: list[Any], store: str, **how: Any) -> RaceResult:
    opened = open_benchmark(str(place / "tones"))
    runs = RunPlan.of_models(str(place / store), opened, models, Asking(), metrics=["meteor"])
    return execute(RacePlan(runs, Scorer("meteor"), **how))


@pytest.mark.slow
def test_who_was_put_out_by_one_that_then_refuses_is_in_again(place: Path) -> None:
    opened = open_benchmark(str(place / "tones"))
    rounds = deal_clips([one.id for one in opened.samples], 0)
    order = [opened.samples[number].id for places in rounds for number in places]
    first = sum(map(len, rounds[:2]))
    # The leader puts the good one out in two rounds, and not yet the bad one.
    models = [
        Pupil("leader", set(), first + 3),
        Pupil("good", set(order[:first:4])),
        Pupil("bad", {*order[1:first:8], *order[first:]}),
    ]
    found = result(place, models, "refused.db")
    assert found.decided
    assert found.best == ("good",)
    assert [one.refusal is None for one in found.racers] == [True, True, False]


@pytest.mark.slow
def test_who_is_out_is_compared_on_the_clips_that_both_were_asked_about(place: Path) -> None:
    samples = open_benchmark(str(place / "tones")).samples
    rounds = deal_clips([one.id for one in samples], 0)
    order = [samples[number].id for places in rounds for number in places]
    # The first clips are easy: who is out early has the higher mean of all that it was asked.
    models = [
        Pupil("one", {*order[24:]}),
        Pupil("two", {*order[20:]}),
        Pupil("three", {*order[::3]}),
    ]
    first, _, last = result(place, models, "common.db").racers
    assert (first.model, last.model) == ("one", "three")
    assert last.out_after is not None
    assert (last.mean or 0) > (first.mean or 0)
    assert (last.behind or 0) > 0.2


def test_one_that_is_left_alone_by_refusals_is_not_called_the_best(place: Path) -> None:
    found = result(place, [Pupil("one", set(), 5), Pupil("two", set())], "alone.db")
    assert not found.decided
    assert found.best == ("two",)


def test_a_race_has_only_what_it_asks_judged(tmp_path: Path, few: Path) -> None:
    assert (
        run_command(
            "run", str(few / "tones"), "--metrics", "meteor", *MODELS, cwd=tmp_path
        ).returncode
        == 0
    )
    judged = ("--judge", "elements")
    done = run_command("race", str(few / "tones"), *MODELS, *judged, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    kept = Store.open(str(tmp_path / "audiocapbench.db"), create=False)
    assert all(len(kept.judgements(number, "elements")) < FEW for number in (1, 2, 3))
    tables = [TableReader(kept).read(kept.run(number)) for number in (1, 2)]
    assert all(one.raced for one in tables)  # every answer is there, and not every verdict


def test_scores_below_zero_count_as_what_they_are(tmp_path: Path) -> None:
    """A cosine can be negative: the mean of the race is the mean of the run."""
    place = write_tones(tmp_path, FEW)
    rows = [told(number) for number in range(FEW)]
    for row in rows:
        row["references"] = (
            ["Opera.", "Opera!"] if row["category"] == "music" else ["Man speaking."] * 2
        )
    write_lines(place / "tones", rows)
    words = ["--model", "control/wrong", "--model", "control/empty", "--metric", "similarity"]
    found = race(place, *words, "--store", "cosines.db")
    with Store.open(str(place / "cosines.db")) as store:
        values = [
            score.value
            for one in found["models"]
            for score in stored_scores(store, one["run"], "similarity")["similarity"]
        ]
    assert min(values) < 0
    assert found["decided"]


def test_a_metric_that_leaves_its_own_range_is_not_raced(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = install_package(tmp_path, "wide_plugin", WIDE, metrics="wide = wide_plugin:wide")
    monkeypatch.syspath_prepend(str(site))
    words = [*MODELS, "--metric", "wide", "--store", str(tmp_path / "wide.db")]
    done = run_command("race", "tones", *words, cwd=few)
    assert done.returncode == 2
    assert "and says that it goes from 0 to 1" in done.stderr
