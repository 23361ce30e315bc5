"""From many judgements to one score, and what is said about disagreement and failures."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import stdev

import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.data.outcome import Status
from audiocapbench.engine import run_benchmark
from audiocapbench.judges import JudgeError
from audiocapbench.judges.aggregation import by_judge, panel, together
from audiocapbench.models import create_model
from audiocapbench.scores.compute import Group
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.summary import summarise_judge, summarise_panel
from audiocapbench.scores.table import RunTable, TableReader
from audiocapbench.signature import sign
from audiocapbench.store import Run, Store
from audiocapbench.store.records import Judgement, overall_of
from folders import write_folder

CLIPS = 12

SIGNATURE = sign("sig")


def judgement(judge: str, sample: int, accuracy: float, repeat: int = 0) -> Judgement:
    scores = {"accuracy": accuracy, "completeness": 4.0}
    return Judgement(judge, f"tone_{sample}", repeat, SIGNATURE, Status.OK, scores, cost_usd=0.5)


def unparsed(judge: str, sample: int) -> Judgement:
    return Judgement(judge, f"tone_{sample}", 0, SIGNATURE, Status.UNPARSED, error="no JSON object")


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of clips and a store with a run that answered them; read, or copied."""
    place = tmp_path_factory.mktemp("answered")
    benchmark = open_benchmark(str(write_folder(place / "tones", CLIPS)))
    with Store.open(str(place / "runs.db")) as store:
        run_benchmark(benchmark, create_model("control/safe"), store)
    return place


@pytest.fixture
def store(answered: Path, tmp_path: Path) -> Iterator[Store]:
    """A store of its own with that run."""
    with Store.open(str(shutil.copy(answered / "runs.db", tmp_path))) as opened:
        yield opened


@pytest.fixture
def run(store: Store) -> Run:
    """The run."""
    return store.run(1)


def table_of(store: Store, run: Run) -> RunTable:
    return TableReader(store).read(run)


def test_rounds_come_before_judges() -> None:
    # One judge asked three times must not outvote another that was asked once.
    opinions = by_judge(
        [*(judgement("a", 0, 9, repeat) for repeat in range(3)), judgement("b", 0, 3)]
    )
    given = panel(opinions)["tone_0"]
    assert together(given)["accuracy"] == 6
    assert overall_of(together(given)) == 5
    assert stdev(map(overall_of, given)) == pytest.approx(4.5 / 3 * 2**0.5)


def test_a_failure_is_left_out_and_not_a_zero() -> None:
    opinions = by_judge([judgement("a", 0, 8), unparsed("b", 0), judgement("b", 1, 2)])
    [alone] = panel(opinions)["tone_0"]
    assert alone["accuracy"] == 8


def test_a_panel_needs_judges_of_the_same_dimensions() -> None:
    other = Judgement("b", "tone_0", 0, SIGNATURE, Status.OK, {"fine_score": 3.0})
    with pytest.raises(JudgeError, match="same dimensions"):
        panel(by_judge([judgement("a", 0, 8), other]))


def test_a_judge_is_summed_up_under_three_policies(store: Store, run: Run) -> None:
    made = [judgement("a", index, 6 + index % 2) for index in range(10)]
    store.add_judgements(run.id, [*made, unparsed("a", 10)])
    summary = summarise_judge(table_of(store, run), "a")
    assert (summary.total, summary.answered, summary.judged) == (CLIPS, 11, 10)
    assert summary.statuses == {"ok": 10, "unparsed": 1}
    figure = summary.overall["accuracy"]
    assert figure.value == pytest.approx(6.5)
    assert summary.total > summary.answered, "what was never judged is no failure"
    assert figure.as_zero == pytest.approx(6.5), "nor is a verdict that cannot be read"
    assert figure.bounds == pytest.approx((6.5, 6.5))
    assert figure.interval is not None
    assert figure.interval.low <= 6.5 <= figure.interval.high
    assert summary.overall["overall"].value == pytest.approx(5.25)
    assert summary.cost_usd == 5.0


def test_a_summary_can_be_of_some_samples_only(store: Store, run: Run) -> None:
    store.add_judgements(run.id, [judgement("a", index, index) for index in range(CLIPS)])
    table, scorer = table_of(store, run), Scorer("a", "accuracy")
    chosen = tuple(one for one in table.samples if one.id in ("tone_1", "tone_3", "elsewhere"))
    group = Group(chosen, tuple(one.id for one in chosen))
    some = group.point(scorer, table.sample_scores(scorer), table.replies)
    assert (some.coverage.total, some.value) == (2, 2.0)
    sound = summarise_judge(table, "a").by_category["sound"]["accuracy"]
    assert (sound.coverage.total, sound.value) == (6, 5.0)


def test_judgements_made_in_another_way_are_left_out_and_counted(store: Store, run: Run) -> None:
    old = Judgement(
        "a", "tone_5", 0, sign("older"), Status.OK, {"accuracy": 0.0, "completeness": 0.0}
    )
    store.add_judgements(run.id, [judgement("a", 0, 8), judgement("a", 1, 8), old])
    summary = summarise_judge(table_of(store, run), "a")
    assert (summary.judged, summary.stale, summary.signature) == (2, 1, SIGNATURE)


def test_a_run_that_was_not_judged_says_so(store: Store, run: Run) -> None:
    with pytest.raises(JudgeError, match="has not judged run"):
        summarise_judge(table_of(store, run), "nobody")


def test_a_panel_shows_agreement_and_what_each_judge_does_to_it(store: Store, run: Run) -> None:
    for index in range(6):
        given = [judgement("a", index, index), judgement("b", index, index)]
        store.add_judgements(run.id, [*given, judgement("odd", index, 10 - index)])
    agreed = summarise_panel(table_of(store, run), ["a", "b"])
    assert agreed["alpha"]["accuracy"] == pytest.approx(1)
    assert agreed["kappa"]["accuracy"] == pytest.approx(1)
    assert agreed["kappa"]["completeness"] is None
    assert agreed["alpha_ci"]["accuracy"] is None, "six answers are too few"
    assert agreed["spread"] == 0
    panel_of_three = summarise_panel(table_of(store, run), ["a", "b", "odd"])
    alpha = panel_of_three["alpha"]["accuracy"]
    assert alpha is not None
    assert alpha < 0.3
    left = panel_of_three["without"]
    assert left["odd"]["distance"] > left["a"]["distance"]
    assert left["odd"]["score"] == pytest.approx((2.5 + 4) / 2)
    assert left["odd"]["change"] == pytest.approx(3.25 - ((2.5 + 2.5 + 7.5) / 3 + 4) / 2)
