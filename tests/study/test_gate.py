"""Gates: corrected for those that are named, one-sided, honest about what they could see."""

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import numpy as np
import pytest
from numpy.typing import NDArray

from audiocapbench.data.outcome import Status
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.report.compare.compute import compare_runs
from audiocapbench.scores.compute import SampleScores
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.table import TableReader
from audiocapbench.signature import Signature
from audiocapbench.stats import bootstrap
from audiocapbench.store import Store
from audiocapbench.study import gate as gate_module
from audiocapbench.study.gate import (
    Case,
    Gate,
    GateFinding,
    GateResult,
    check_cases,
    check_gates,
    read_gates,
)
from audiocapbench.table.forms import markdown_text
from made_store import MadeRun, emptied, made_samples, put_run

SAMPLES = made_samples(60)
IDS = [one.id for one in SAMPLES]
BASE = np.random.default_rng(0).uniform(0.3, 0.8, 60)
METRICS = ("rouge_l", "meteor", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "spider", "spice")


@pytest.fixture(scope="module")
def opened() -> Iterator[Store]:
    with Store.open("sqlite:///:memory:") as made:
        yield made


@pytest.fixture
def store(opened: Store) -> Store:
    """A store of a base, a run that is worse, one that is not and one that is better."""
    emptied(opened)
    for place, (name, by) in enumerate(
        {"base": 0, "worse": -0.05, "same": 0, "better": 0.05}.items()
    ):
        drawn = BASE + np.random.default_rng(place).normal(by, 0.08, 60) * (place > 0)
        put_run(opened, MadeRun(name, {"rouge_l": scores(drawn)}), SAMPLES)
    return opened


def scores(values: NDArray[np.float64], ids: Sequence[str] = IDS) -> dict[str, float]:
    return dict(zip(ids, values.tolist(), strict=True))


def check(store: Store, kind: str, run: Any, alpha: float = 0.05, **more: Any) -> GateResult:
    return check_gates(
        store, [Gate.model_validate({"kind": kind, "run": run, "metric": "rouge_l"} | more)], alpha
    )


def one(store: Store, kind: str, run: Any, **more: Any) -> GateFinding:
    (found,) = check(store, kind, run, **more).findings
    return found


def test_only_a_run_that_is_surely_worse_closes(store: Store) -> None:
    found = [one(store, "not-worse", run, against="base") for run in ("worse", "same", "better")]
    assert [each.verdict for each in found] == ["fail", "pass", "pass"]
    assert "surely worse than base" in found[0].words
    assert "not shown to be worse than base" in found[1].words
    assert "would be seen (80" in found[1].words


def test_better_opens_for_what_is_surely_better_alone(store: Store) -> None:
    found = [one(store, "better", run, against="base") for run in ("worse", "same", "better")]
    assert [each.verdict for each in found] == ["fail", "fail", "pass"]


def test_a_margin_opens_for_what_is_surely_within(store: Store) -> None:
    assert one(store, "margin", "same", against="base", margin=0.1).verdict == "pass"
    assert one(store, "margin", "same", against="base", margin=0.01).verdict == "fail"
    assert one(store, "margin", "worse", against="base", margin=0.05).verdict == "fail"


def test_too_few_scores_of_more_answers_are_told_with_what_adds_them(store: Store) -> None:
    late = put_run(store, MadeRun("late", {"rouge_l": scores(np.full(3, 0.5), IDS[:3])}), SAMPLES)
    found = one(store, "floor", late.id, metric="rouge_l", least=0.1)
    assert found.verdict == "error"
    assert "3 samples with a score are too few for a gate (57 not judged; " in found.words
    assert f"score {late.id} --metrics rouge_l" in found.words


@pytest.mark.parametrize(
    ("least", "known", "reached", "missed"),
    [
        (0.3, "reached", "pass", "pass"),
        (0.54, "unsure", "fail", "unsure"),
        (0.8, "missed", "fail", "fail"),
    ],
)
def test_a_floor_is_reached_missed_or_unsure_and_says_which(
    store: Store, least: float, known: str, reached: str, missed: str
) -> None:
    found = [
        one(store, "floor", "base", least=least, must=how) for how in ("reached", "not-missed")
    ]
    assert [each.known for each in found] == [known, known]
    assert [each.verdict for each in found] == [reached, missed]
    assert all(("not surely" in each.words) is (known == "unsure") for each in found)
    # Both show the p-value of what they say, whichever of the two would close them.
    assert len({each.words.split("p ")[1].split(")")[0] for each in found}) == 1
    assert all(("p = 1.000" in each.words) is False for each in found if known != "unsure")


def test_a_mean_below_the_floor_never_reads_as_a_pass(store: Store) -> None:
    found = one(store, "floor", "base", least=float(BASE.mean()) + 0.01, must="not-missed")
    assert found.line.startswith("UNSURE")
    assert "not surely under" in found.line


def test_failures_count_in_floors_and_coverage_but_not_what_was_never_asked(store: Store) -> None:
    refused = dict.fromkeys(IDS[:30], Status.REFUSED)
    put_run(
        store, MadeRun("half", {"rouge_l": scores(BASE[30:], IDS[30:])}, statuses=refused), SAMPLES
    )
    put_run(
        store, MadeRun("part", {"rouge_l": scores(BASE[30:], IDS[30:])}, only=IDS[30:]), SAMPLES
    )
    half, part = (one(store, "floor", run, least=0.4) for run in ("half", "part"))
    assert (half.known, part.known) == ("missed", "reached")
    covered = one(store, "coverage", "half", least=0.6, metric=None)
    assert (covered.verdict, covered.score, covered.p) == ("fail", 0.5, None)
    assert "30 of 60 samples have an answer (30 refused)" in covered.words
    assert one(store, "coverage", "base", least=1).verdict == "pass"


def test_other_metrics_in_the_store_change_nothing(store: Store) -> None:
    before = one(store, "not-worse", "worse", against="base")
    for run in (1, 2):
        for name in METRICS[1:]:
            drawn = BASE + np.random.default_rng(run).normal(0, 0.1, 60)
            put_run(store, MadeRun(f"{run} {name}", {name: scores(drawn)}), SAMPLES)
    put_run(store, MadeRun("base", {name: scores(BASE) for name in METRICS}), SAMPLES)
    after = one(store, "not-worse", 2, against="base")
    assert (before.p, before.p_adjusted) == (after.p, after.p_adjusted)


def test_the_correction_is_over_the_gates_that_are_named(store: Store) -> None:
    alone = one(store, "not-worse", "worse", against="base")
    gates = [
        Gate(kind="not-worse", run=("worse", "same"), against="base", metric="rouge_l"),
        Gate(kind="floor", run="base", metric="rouge_l", least=0.5),
        Gate(kind="coverage", run="base", least=0.5),
    ]
    found = check_gates(store, gates)
    assert found.tested == 3
    assert found.to_dict()["level"] == pytest.approx(0.05 / 3)
    assert found.findings[0].p == alone.p
    assert found.findings[0].p_adjusted == pytest.approx(3 * (alone.p or 0))
    assert (found.findings[1].visible or 0) > (
        one(store, "not-worse", "same", against="base").visible or 0
    )
    assert "held to 0.017" in str(found)


def test_a_run_is_not_held_against_itself(store: Store) -> None:
    name = store.run(1).model
    with pytest.raises(AudioCapBenchError, match="held against itself"):
        check_gates(store, [Gate(kind="not-worse", run=1, against=name, metric="rouge_l")])


def test_what_a_comparison_calls_worse_closes_a_gate(store: Store) -> None:
    (row,) = compare_runs(store, 1, 2).differences
    assert (one(store, "not-worse", 2, against=1).p or 0) <= (row.p or 0) < 0.05
    assert (one(store, "not-worse", 1, against=2).p or 0) > 0.95


def test_what_is_surely_better_is_surely_within_any_margin(store: Store) -> None:
    better = one(store, "better", "better", against="base").p or 0
    margins = [one(store, "margin", "better", against="base", margin=by).p for by in (1e-9, 0.01)]
    assert better >= (margins[0] or 0) >= (margins[1] or 0)


def test_what_a_race_stopped_is_no_matter_for_a_gate(store: Store) -> None:
    table = TableReader(store).read(store.run(1))
    table.raced, table.race = True, "C is best on these clips."
    floor = Gate(kind="floor", run=1, metric="rouge_l", least=0.1)
    found = check_cases([Case(floor, "floor", table)])
    assert (found.findings[0].verdict, found.to_dict()["open"]) == ("error", False)
    assert found.verdict.startswith("Not known")
    assert "C is best on these clips." in found.findings[0].words


def test_too_few_samples_are_an_error(store: Store) -> None:
    samples = made_samples(11)
    for name in ("a", "b"):
        put_run(store, MadeRun(name, {"rouge_l": scores(BASE[:11], IDS[:11])}), samples, "few")
    assert one(store, "not-worse", "a", against="b").verdict == "pass"
    # So many gates could not close on eleven samples.
    gate = Gate(kind="not-worse", run=("a",) * 200, against="b", metric="rouge_l")
    assert check_gates(store, [gate]).count("error") == 200
    put_run(store, MadeRun("c", {"rouge_l": scores(BASE[:5], IDS[:5])}), samples[:5], "few")
    assert "too few" in one(store, "floor", "c", least=0.1).words
    assert "too few" in one(store, "not-worse", "c", against="b").words


def test_scores_made_in_two_ways_or_missing_are_an_error(store: Store) -> None:
    put_run(
        store,
        MadeRun("other", {"rouge_l": scores(BASE)}, signatures={"rouge_l": "rouge_l|v:2"}),
        SAMPLES,
    )
    assert "two ways" in one(store, "not-worse", "other", against="base").words
    assert one(store, "floor", "base", metric="meteor", least=0.1).verdict == "error"
    assert (
        one(store, "better", "same", against="base", metric=None, judge="none").verdict == "error"
    )


def test_a_model_is_its_newest_run_with_its_repeats(store: Store) -> None:
    for repeat, by in enumerate((0.1, -0.1)):
        parameters = {"repeat": repeat} if repeat else {}
        put_run(
            store, MadeRun("twice", {"rouge_l": scores(BASE + by)}, parameters=parameters), SAMPLES
        )
    assert one(store, "floor", "twice", least=0.1).score == pytest.approx(BASE.mean())
    assert one(store, "floor", 6, least=0.1).score == pytest.approx(BASE.mean() - 0.1)


def test_which_run_stands_for_a_model_is_told(store: Store) -> None:
    put_run(store, MadeRun("same", {"rouge_l": scores(BASE[:12], IDS[:12])}), SAMPLES[:12])
    found = one(store, "not-worse", "same", against="base")
    assert (found.run, found.against) == ("same (run 5)", "base (run 1)")
    assert "same (run 5) is not shown to be worse than base (run 1)" in found.words


def test_the_five_clips_that_lost_most_are_shown_with_both_captions(store: Store) -> None:
    texts = {IDS[0]: "a <b>dog</b> | `barks`\x1b[31m"}
    drawn = BASE - np.linspace(0.2, 0.0, 60)
    put_run(store, MadeRun("lost", {"rouge_l": scores(drawn)}, texts=texts), SAMPLES)
    found = check(store, "not-worse", "lost", against="base")
    assert [row["id"] for row in found.findings[0].worse] == IDS[:5]
    text = markdown_text(found.tables())
    assert text.startswith("## Closed: 1 of 1 gate failed")
    assert r"a \<b\>dog\</b\> \| \`barks\`\\x1b\[31m" in text
    assert "base on s0000" in text


def test_junit_is_xml_whatever_models_are_called(store: Store) -> None:
    name = ']]> <&"\x00\x1b\ufffe\ud800'
    put_run(store, MadeRun("odd", {"rouge_l": scores(BASE)}), SAMPLES)
    gates = [
        Gate(kind="floor", run="base", metric="rouge_l", least=9, name=name),
        Gate(kind="floor", run="base", metric="meteor", least=9),
        Gate(kind="coverage", run="base", least=1),
    ]
    suite = Xml.fromstring(check_gates(store, gates).junit())
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [case[0].tag for case in suite] == ["failure", "error", "system-out"]
    assert suite[1].get("name") == "base: floor 9.0 by meteor"
    assert json.loads(json.dumps(check_gates(store, gates).to_dict()))["open"] is False


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "gate"),
        ("alhpa = 0.1\n{}", "did you mean 'alpha'?"),
        ("alpha = 2\n{}", "alpha"),
        ("{}metrc = 'x'", "gate 1: metrc: is no key; did you mean 'metric'?"),
        ("{}metric = 'x'\n{}", "gate 2: name a metric or a judge"),
        ("{}metric = 'x'\nmargin = 1", "gate 1: floor takes no margin"),
        ("[[gate]]\nkind = 'margin'\nrun = 1\nmetric = 'x'", "gate 1: margin needs against"),
        ("[[gate]]\nkind = 'flor'\nrun = 1", "gate 1: kind"),
        ("[[gate]]\nkind = 'coverage'\nrun = true\nleast = 1", "gate 1: run"),
        ("[[gate]]\nkind = 'coverage'\nrun = 1\nleast = nan", "gate 1: least"),
        ("{}metric = 'meteor'\n{}metric = 'meteor'", "stands there twice"),
        ("[[gate", "is not TOML"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_place(
    tmp_path: Path, text: str, says: str
) -> None:
    floor = "[[gate]]\nkind = 'floor'\nrun = 'a'\nleast = 1\n"
    (tmp_path / "gates.toml").write_text(text.replace("{}", floor))
    with pytest.raises(AudioCapBenchError) as raised:
        read_gates(tmp_path / "gates.toml")
    assert says in str(raised.value)


class Builds:
    """Runs of one benchmark, whose scores are drawn anew as often as a simulation likes."""

    def __init__(self, store: Store, samples: int, runs: int) -> None:
        made = made_samples(samples)
        reader, drawn = TableReader(emptied(store)), np.random.default_rng(0)
        self.tables = [reader.read(put_run(store, MadeRun(f"m{n}"), made)) for n in range(runs)]
        self.ids, self.draw = [sample.id for sample in made], drawn

    def put(self, run: int, values: NDArray[np.float64], metric: str = "rouge_l") -> None:
        table, made = self.tables[run], Signature.parse(metric)
        own = SampleScores.of_values(scores(values, self.ids), made, {})
        table.scores = {**table.scores, Scorer(metric): own}
        table.points.clear()

    def grades(self) -> NDArray[np.float64]:
        """Mostly .8 and .9, and one in twenty that failed."""
        given = self.draw.choice([0.7, 0.8, 0.9, 1.0], len(self.ids), p=[0.1, 0.4, 0.4, 0.1])
        return np.where(self.draw.random(len(self.ids)) < 0.05, 0.0, given)

    def check(self, gates: Sequence[Gate]) -> GateResult:
        base = self.tables[0]
        return check_cases(
            [
                Case(gate, str(run), self.tables[int(run) - 1], base if gate.against else None)
                for gate in gates
                for run in gate.runs
            ]
        )


@pytest.fixture
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "SWAPS", 999)


@pytest.fixture
def no_power(few_rounds: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a gate could see takes longer than what it sees."""
    monkeypatch.setattr(gate_module, "_STEPS", 0)


@pytest.mark.slow
def test_a_year_of_equal_builds_closes_no_more_often_than_alpha(
    opened: Store, no_power: None
) -> None:
    builds, closed = Builds(opened, 30, 2), 0
    named = [Gate(kind="not-worse", run=2, against=1, metric=name) for name in METRICS[:2]]
    for _ in range(250):
        for run, name in product((0, 1), METRICS[:2]):
            builds.put(run, builds.grades(), name)
        closed += builds.check(named).count("fail") > 0
    assert 4 <= closed <= 22  # of 12.5 that alpha allows, within three standard errors


@pytest.mark.slow
def test_of_twenty_models_at_the_floor_hardly_one_is_called_surely_under(
    opened: Store, no_power: None
) -> None:
    builds, called = Builds(opened, 40, 20), 0
    floor = {"kind": "floor", "metric": "rouge_l", "least": 0.5, "must": "not-missed"}
    gate = Gate.model_validate(floor | {"run": tuple(range(1, 21))})
    for _ in range(8):
        for run in range(20):
            builds.put(run, builds.draw.normal(0.5, 0.1, 40))
        called += builds.check([gate]).count("fail") > 0
    assert called <= 1  # of .4 that alpha allows; without a correction 5


@pytest.mark.slow
@pytest.mark.parametrize("is_sparse", [True, False])
def test_a_loss_of_the_margin_passes_no_more_often_than_alpha(
    opened: Store, no_power: None, is_sparse: bool
) -> None:
    builds, passed = Builds(opened, 40, 2), 0
    gate = Gate(kind="margin", run=2, against=1, metric="rouge_l", margin=0.03)
    for _ in range(100):
        base = builds.grades()
        lost = 0.6 * (builds.draw.random(40) < 0.05) if is_sparse else 0.03
        builds.put(0, base)
        builds.put(1, (base if is_sparse else builds.grades()) - lost)
        passed += builds.check([gate]).count("pass")
    assert passed <= 11


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "others"), [("not-worse", 0), ("not-worse", 9), ("margin", 9)])
def test_what_would_be_seen_is_seen_in_four_of_five_cases(
    opened: Store, few_rounds: None, kind: str, others: int
) -> None:
    builds = Builds(opened, 40, 2)
    more = {"margin": 0.05} if kind == "margin" else {}
    named: dict[str, Any] = {"kind": kind, "run": 2, "against": 1, **more}
    # Gates that cannot be told are cheap, and count.
    gates = [Gate(metric=name, **named) for name in ("rouge_l", *["meteor"] * others)]

    def found(by: float) -> GateFinding:
        builds.put(0, builds.draw.normal(0.5, 0.1, 40))
        builds.put(1, builds.draw.normal(0.5 + by, 0.1, 40))
        return builds.check(gates).findings[0]

    visible = float(np.mean([found(0).visible or 0 for _ in range(10)]))
    by = visible - 0.05 if kind == "margin" else -visible
    seen = [(found(by).p_adjusted or 0) < 0.05 for _ in range(60)]
    assert 0.65 < np.mean(seen) < 0.95
