"""Right, safe and wrong answers under any metric, on any benchmark."""

import json
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.benchmarks import Benchmark, ControlRules, Selection, open_benchmark
from audiocapbench.benchmarks.mecat.groups import GROUPS
from audiocapbench.data import Clip, Sample
from audiocapbench.metrics import compute
from audiocapbench.report.benchmark_reports import control_report, score_controls
from command import run_command
from mecat_data import clips, questions, write_references
from needs import needs

stats = needs("scipy.stats")


def test_the_figures_are_those_of_the_distributions() -> None:
    scores = score_controls(open_benchmark("demo"), ["rouge_l", "meteor"])
    said = control_report(scores).to_dict()
    kinds = {(one["metric"], one["answers"]): one for one in said["kinds"]}
    values = scores.values["meteor"]
    for kind in ("right", "safe", "wrong"):
        one = kinds["meteor", kind]
        assert one["n"] == len(values[kind]) == 30
        assert one["mean"]["value"] == pytest.approx(values[kind].mean())
        assert one["median"]["value"] == pytest.approx(np.sort(values[kind])[14:16].mean())
        low, high = one["median"]["ci"]
        assert low <= one["median"]["value"] <= high
    for one in said["differences"]:
        first, second = (scores.values[one["metric"]][one[side]] for side in ("first", "second"))
        above = stats.mannwhitneyu(first, second).statistic / 900
        assert one["auc"]["value"] == pytest.approx(above)
        apart = float(np.median(first) - np.median(second))
        assert one["medians_apart"]["value"] == pytest.approx(apart)
    assert said["differences"][1]["auc"]["value"] > 0.9, "right above wrong"
    own = values["safe"][scores.categories == "speech"]
    speech = [one for one in said["by_category"] if one["category"] == "speech"]
    assert speech[1]["safe"]["value"] == pytest.approx(np.median(own))


def test_all_kinds_are_held_to_the_same_references() -> None:
    words = "dog cat bird train rain bell".split()
    samples = [
        Sample(
            f"{n}", Clip.absent(f"{n}.wav"), "", (f"a {one} here", f"the {one} is loud"), "sound", n
        )
        for n, one in enumerate(words)
    ]
    scores = score_controls(Benchmark("made", Path(), samples), ["rouge_l"])
    # Of two references the right answer takes one; the safe sentence then meets the other alone.
    safe = open_benchmark("demo").traits.controls.safe["sound"]
    own = [compute(["rouge_l"], [safe], [[one]])[0].score for one in samples[0].references]
    assert own[0] != own[1]
    assert scores.values["rouge_l"]["safe"][0] in (pytest.approx(own[0]), pytest.approx(own[1]))
    right = scores.values["rouge_l"]["right"]
    assert right.max() < 1, "nobody is held to the reference that it was taken from"


def test_a_corpus_is_scored_by_itself_and_only_what_counts(tmp_path: Path) -> None:
    place = write_references(tmp_path, "caption", clips(3))
    benchmark = open_benchmark("mecat-caption", references=place)
    scores = score_controls(benchmark, ["date"], Selection(limit=None))
    assert set(scores.categories.tolist()) == set(GROUPS), "nothing outside the groups"
    assert len(scores.signatures) == 1
    assert "subtask:by-group" in str(scores.signatures[0])
    long = scores.categories == "long"
    few = score_controls(benchmark, ["date"], Selection(limit=9))
    medians = {
        one["category"]: one["right"]["value"]
        for one in control_report(few).to_dict()["by_category"]
    }
    assert any(one is None for one in medians.values()), (
        "a corpus of one has no DATE, and no median"
    )
    again = score_controls(benchmark, ["date"], Selection(("long",)))
    assert again.values["date"]["right"] == pytest.approx(scores.values["date"]["right"][long])


def test_with_one_reference_the_right_answer_is_it_and_that_is_said(tmp_path: Path) -> None:
    place = write_references(tmp_path, "qa", questions(2))
    benchmark, few = open_benchmark("mecat-qa", references=place), Selection(limit=9)
    scores = score_controls(benchmark, ["rouge_l"], few)
    assert scores.values["rouge_l"]["right"] == pytest.approx(1.0)
    assert scores.values["rouge_l"]["wrong"].mean() < 0.8
    assert "left in" in control_report(scores).to_dict()["notes"][0]
    assert set(scores.values["rouge_l"]) == {"right", "safe", "wrong", "blind", "echo"}


def test_where_the_order_of_the_controls_is_wrong_the_metric_is_marked_unusable() -> None:
    def sample(n: int, category: str, *texts: str) -> Sample:
        return Sample(f"{n}", Clip.absent(f"{n}.wav"), "What is it?", texts, category, n)

    words = "dog cat bird train rain bell".split()
    samples = [
        sample(n, "fine", f"sound {one} a{n}", f"sound {one} b{n}") for n, one in enumerate(words)
    ]
    # All references alike but for the first words: another clip's is better than what says little.
    same = "{} heard in a large and empty hall far away"
    samples += [
        sample(9 + n, "alike", same.format(f"{one} one"), same.format(f"{one} two"))
        for n, one in enumerate("xyz")
    ]
    rules = ControlRules({"fine": "sound"}, wrong_from="category")
    made = Benchmark("made", Path(), samples, controls=rules)
    said = control_report(score_controls(made, ["rouge_l"])).to_dict()
    marks = {one["category"]: one["unusable"] for one in said["by_category"]}
    assert marks == {"fine": "", "alike": "safe is not above wrong"}
    assert "rouge_l is unusable in alike: safe is not above wrong." in said["notes"]


def test_the_command_takes_benchmarks_and_references_and_draws(tmp_path: Path) -> None:
    place = write_references(tmp_path, "caption", clips(2))
    words = ("meta", "controls", f"mecat-caption={place}", "--metrics", "rouge_l")
    done = run_command(*words, "--figure", "curves.svg", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert [one["answers"] for one in said["kinds"]] == ["right", "safe", "wrong", "blind", "echo"]
    drawn = (tmp_path / "curves.svg").read_text()
    assert drawn.count("<polyline") == 5
    (tmp_path / "refs.csv").write_text(
        "id,reference\n" + "".join(f"{n},sound {n} a\n{n},noise {n} b\n" for n in range(9))
    )
    table = run_command("meta", "controls", "refs.csv", "--metrics", "bleu_1", cwd=tmp_path)
    assert table.returncode == 0, table.stderr
    assert "Signature: bleu_1" in table.stdout
    assert not list(tmp_path.glob("*.db")), "a metric of texts needs no store"
    wrong = run_command("meta", "controls", "demo", "--metrics", "rogue_l", cwd=tmp_path)
    assert (wrong.returncode, "rouge_l" in wrong.stderr) == (2, True)
    nothing = run_command("meta", "controls", cwd=tmp_path)
    assert nothing.returncode == 2
    assert "Traceback" not in nothing.stderr
