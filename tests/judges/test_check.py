"""The reliability study on judges whose faults are known."""

import json
import random
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from audiocapbench.benchmarks import Benchmark, Selection, open_benchmark
from audiocapbench.data import Sample
from audiocapbench.data.outcome import Reply
from audiocapbench.engine import Progress
from audiocapbench.judges import JudgeError, ModelJudge, Verdict, check_judge, create_judge
from audiocapbench.judges.check import JudgeCheck, padded, reordered, shortened
from audiocapbench.judges.published import audiocapbench_contract
from audiocapbench.models import AudioContract, Question
from audiocapbench.signature import sign
from audiocapbench.store import Store


class Overlap:
    """A text judge that counts shared words, or only length, or nothing at all."""

    dimensions = ("accuracy", "completeness", "hallucination")

    def __init__(self, name: str) -> None:
        self.name = name
        self.signature = sign(name)

    def judge(
        self, prediction: str, references: Sequence[str], category: str, transcript: str | None
    ) -> Verdict:
        words = set(re.findall(r"\w+", prediction.lower()))
        known = set(re.findall(r"\w+", " ".join(references).lower())) - {"a", "the", "is"}
        match self.name:
            case "overlap":
                score = 10 * len(words & known) / max(1, len(words))
            case "longer":
                score = min(10.0, len(prediction.split()) / 6)
            case _:
                score = 7.0
        return Verdict(dict.fromkeys(self.dimensions, score), "")


class Undecided:
    """A model whose verdicts change from one question to the next."""

    cacheable = False
    concurrency = 1
    contract = AudioContract("none")
    name = "undecided"
    parameters: Mapping[str, str | int | float | bool] = {}

    def __init__(self) -> None:
        self._mood = random.Random(1)

    def prepare(self, samples: Sequence[Sample]) -> None:
        pass

    async def answer(self, question: Question) -> Reply:
        score = self._mood.randint(0, 10)
        fields = {"accuracy": score, "completeness": score, "hallucination": score}
        return Reply(json.dumps(fields | {"reasoning": "Hm."}))


@pytest.fixture(scope="module")
def demo() -> Benchmark:
    """Every second clip of the demo: enough for intervals, which need ten."""
    whole = open_benchmark("demo")
    return replace(whole, samples=whole.samples[::2])


class Checked(NamedTuple):
    """What a check by shared words found, and the store that it left."""

    found: JudgeCheck
    store: Path


@pytest.fixture(scope="module")
def checked(demo: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """A check of these clips; its store is to be copied."""
    path = tmp_path_factory.mktemp("checked") / "runs.db"
    with Store.open(str(path)) as store:
        return Checked(check_judge(Overlap("overlap"), demo, store), path)


@pytest.fixture
def answered(checked: Checked, tmp_path: Path) -> Iterator[Store]:
    """A store of its own in which all answers of a check stand already."""
    with Store.open(str(shutil.copy(checked.store, tmp_path / "answered.db"))) as store:
        yield store


def test_a_judge_of_content_orders_the_kinds(checked: Checked) -> None:
    found = checked.found
    assert found.ordered
    assert found.warning is None
    assert found.auc_right_safe.value is not None
    assert found.auc_right_safe.value > 0.7
    right = found.kinds["right"]
    assert right.interval is not None
    assert right.interval.low < right.mean < right.interval.high
    assert right.dimensions["accuracy"] == pytest.approx(right.mean)
    assert found.failed == 0
    json.dumps(found.document(), allow_nan=False)


def test_a_judge_of_length_is_found_out(demo: Benchmark, answered: Store) -> None:
    found = check_judge(Overlap("longer"), demo, answered)
    assert found.length_correlation.value == pytest.approx(1)
    assert found.styles["padded"].shift > 1
    assert found.styles["shortened"].shift < 0
    interval = found.styles["padded"].interval
    assert interval is not None
    assert interval.low > 0


def test_a_judge_that_says_the_same_to_all_is_warned_of(demo: Benchmark, answered: Store) -> None:
    found = check_judge(Overlap("same"), demo, answered)
    assert not found.ordered
    assert found.warning == (
        "same does not order right > safe > wrong (right 7.00, safe 7.00, wrong 7.00); "
        "do not rely on it"
    )
    assert found.auc_right_safe.value == found.auc_safe_wrong.value == 0.5
    assert found.length_correlation.value is None
    assert found.kappa.value is None
    assert {one.shift for one in found.styles.values()} == {0.0}


def test_kappa_tells_a_judge_that_changes_its_mind(demo: Benchmark, store: Store) -> None:
    judge = ModelJudge("undecided", Undecided(), audiocapbench_contract())
    found = check_judge(judge, demo, store, selection=Selection(limit=5), repeats=3)
    assert found.repeats == 3
    assert found.kappa.value is not None
    assert found.kappa.value < 0.2
    assert found.kinds["safe"].n == 5


def test_a_check_goes_on_where_it_stopped(demo: Benchmark, answered: Store) -> None:
    runs = len(answered.runs())
    known: list[tuple[int, int]] = []
    watch = Progress(lambda _judge, total, known_: known.append((total, known_)))
    again = check_judge(Overlap("overlap"), demo, answered, progress=watch)
    assert len(answered.runs()) == runs == 6
    assert known[0] == (15, 15)
    assert all(total == before for total, before in known)
    assert again.kinds["right"].n == 15


def test_the_elements_judge_passes_on_half_of_the_demo(demo: Benchmark, answered: Store) -> None:
    assert check_judge(create_judge("elements"), demo, answered).ordered


@pytest.mark.slow
def test_the_elements_judge_passes_on_the_demo(store: Store) -> None:
    found = check_judge(create_judge("elements"), open_benchmark("demo"), store)
    assert found.ordered


def test_single_references_leave_nothing_to_call_right(tmp_path: Path, store: Store) -> None:
    from folders import write_lines, write_tone

    write_tone(tmp_path / "a.wav")
    write_tone(tmp_path / "b.wav", 600)
    rows = [
        {"file_name": f"{name}.wav", "references": [f"Tone {name}."], "category": "sound"}
        for name in "ab"
    ]
    write_lines(tmp_path, rows)
    with pytest.raises(JudgeError, match="no judgement of any right answer"):
        check_judge(Overlap("overlap"), open_benchmark(str(tmp_path)), store)


def test_styles_keep_the_content() -> None:
    caption = "A dog barks while a car is passing by."
    assert caption in padded(caption)
    assert reordered(caption) == "While a car is passing by, a dog barks."
    assert shortened(caption) == "dog barks while car passing by."
    assert reordered("A man talks with rain in the back.") == "With rain in the back, a man talks."
    assert reordered("One. Two.") == "Two. One."
    assert reordered("A dog barks, then a cat while it rains.") is None
    assert reordered("A dog barks.") is None
    assert shortened("Dogs bark.") is None
