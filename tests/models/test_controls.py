"""Controls answer as their names promise, the same on every machine."""

import hashlib
from pathlib import Path

import anyio
import pytest

from audiocapbench.benchmarks import Benchmark, open_benchmark
from audiocapbench.benchmarks.mecat.groups import DOMAINS, TRAITS
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine import run_benchmark, score_run
from audiocapbench.errors import ModelError
from audiocapbench.models import Question, create_model
from audiocapbench.models.controls import ControlModel, ControlRules
from audiocapbench.store import Store
from folders import write_folder, write_lines, write_tone
from made_store import stored_scores
from mecat_runs import items, questions


def answers(benchmark: Benchmark, kind: str) -> dict[str, Reply]:
    model = create_model(f"control/{kind}")
    assert isinstance(model, ControlModel)
    model.follow_rules(benchmark.traits.controls)
    assert hasattr(model, "prepare")
    model.prepare(benchmark.samples)
    return {
        sample.id: anyio.run(model.answer, Question(sample.id, sample.instruction, None))
        for sample in benchmark.samples
    }


@pytest.fixture(scope="module")
def demo() -> Benchmark:
    return open_benchmark("demo")


def test_right_is_a_reference_that_is_withheld(demo: Benchmark) -> None:
    found = answers(demo, "right")
    for sample in demo.samples:
        reply = found[sample.id]
        assert reply.withheld is not None
        assert reply.text == sample.references[reply.withheld]
    assert len({reply.withheld for reply in found.values()}) > 1


def test_right_is_never_scored_against_itself_or_a_copy(tmp_path: Path) -> None:
    write_tone(tmp_path / "a.wav")
    texts = ["a dog barks", "a dog barks", "rain falls on the roof"]
    write_lines(tmp_path, [{"file_name": "a.wav", "references": texts}])
    store = Store.open(str(tmp_path / "runs.db"))
    benchmark = open_benchmark(str(tmp_path))
    run = run_benchmark(benchmark, create_model("control/right"), store).run
    score_run(store, run, ["rouge_l"])
    (score,) = stored_scores(store, run.id)["rouge_l"]
    assert score.value < 0.5


def test_wrong_is_a_reference_of_another_clip(demo: Benchmark) -> None:
    found = answers(demo, "wrong")
    everything = {text for sample in demo.samples for text in sample.references}
    for sample in demo.samples:
        assert found[sample.id].text in everything - set(sample.references)
        assert found[sample.id].withheld is None
    assert len({reply.text for reply in found.values()}) > 20


def test_wrong_does_not_change_with_the_order_of_the_samples(demo: Benchmark) -> None:
    turned = Benchmark(demo.name, demo.root, tuple(reversed(demo.samples)))
    assert answers(demo, "wrong") == answers(turned, "wrong")


def test_safe_says_one_sentence_a_category(demo: Benchmark) -> None:
    found = answers(demo, "safe")
    by_category = {(sample.category, found[sample.id].text) for sample in demo.samples}
    assert len(by_category) == 5


def test_empty_says_nothing(demo: Benchmark) -> None:
    replies = set(answers(demo, "empty").values())
    assert replies == {Reply("", Status.EMPTY)}


def test_right_needs_a_second_reference(tmp_path: Path) -> None:
    write_tone(tmp_path / "a.wav")
    write_lines(tmp_path, [{"file_name": "a.wav", "references": ["only one"]}])
    (reply,) = answers(open_benchmark(str(tmp_path)), "right").values()
    assert reply.status is Status.SKIPPED
    assert reply.error == "a.wav has one reference; control/right needs another one to be " + (
        "scored against"
    )


def test_wrong_takes_no_caption_that_the_clip_has_itself(tmp_path: Path) -> None:
    for number in range(6):
        write_tone(tmp_path / f"{number}.wav", 200.0 + 50 * number)
    shared = ["A tone sounds.", "A hum."]
    rows = [
        {"file_name": f"{number}.wav", "references": [*shared, f"Only {number}."]}
        for number in range(6)
    ]
    write_lines(tmp_path, rows)
    benchmark = open_benchmark(str(tmp_path))
    found = answers(benchmark, "wrong")
    for sample in benchmark.samples:
        reply = found[sample.id]
        assert reply.status is Status.SKIPPED or reply.text not in sample.references


def test_wrong_needs_another_clip(tmp_path: Path) -> None:
    write_folder(tmp_path, 1)
    (reply,) = answers(open_benchmark(str(tmp_path)), "wrong").values()
    assert reply.status is Status.SKIPPED


def test_there_are_six_controls() -> None:
    with pytest.raises(ModelError, match="choose one of control/right, control/safe") as raised:
        create_model("control/left")
    assert "control/blind" in str(raised.value)
    assert "control/echo" in str(raised.value)


def test_echo_says_the_question_back_and_is_skipped_without_one() -> None:
    benchmark = mecat("mecat-qa", questions(1))
    found = answers(benchmark, "echo")
    assert {one.id: one.instruction for one in benchmark.samples} == {
        key: reply.text for key, reply in found.items()
    }
    unasked = Sample("a", Clip.absent("a"), "", ("a dog",), "sound", 0)
    (reply,) = answers(Benchmark("own", Path(), [unasked]), "echo").values()
    assert reply.status is Status.SKIPPED


def test_blind_says_what_is_most_usual_of_other_clips_of_its_kind() -> None:
    texts = ["a dog barks", "a dog barks in a yard", "a dog howls", "rain"]
    asked = [
        Sample(f"{n}", Clip.absent(f"{n}"), "", (text,), "sound", n) for n, text in enumerate(texts)
    ]
    asked.append(Sample("9", Clip.absent("9"), "", ("a piano",), "music", 9))
    found = {
        key: one.text for key, one in answers(Benchmark("own", Path(), asked), "blind").items()
    }
    assert len({found["1"], found["2"], found["3"]}) == 1
    assert found["3"] in texts[:3]
    assert all(found[str(n)] != text for n, text in enumerate(texts)), "never its own clip's"
    assert found["9"] in texts, "a kind of one clip takes from all"
    (alone,) = answers(Benchmark("own", Path(), asked[:1]), "blind").values()
    assert alone.status is Status.SKIPPED


def test_safe_says_the_benchmarks_own_sentences(demo: Benchmark) -> None:
    rules = ControlRules({"music": "A melody."}, "Something is heard.")
    own = Benchmark("own", demo.root, demo.samples, controls=rules)
    found = answers(own, "safe")
    for sample in own.samples:
        expected = "A melody." if sample.category == "music" else "Something is heard."
        assert found[sample.id].text == expected


def test_wrong_may_be_kept_to_the_category_of_the_clip(demo: Benchmark) -> None:
    own = Benchmark("own", demo.root, demo.samples, controls=ControlRules(wrong_from="category"))
    found = answers(own, "wrong")
    for sample in own.samples:
        others = [one for one in own.samples if one.category == sample.category and one != sample]
        assert found[sample.id].text in {text for one in others for text in one.references}


def mecat(name: str, asked: list[Sample]) -> Benchmark:
    samples = [
        Sample(one.id, clip_of(one), "Listen.", one.references, one.category, place, one.details)
        for place, one in enumerate(asked)
    ]
    return Benchmark(name, Path(), samples, traits=TRAITS[name])


def clip_of(item: Sample) -> Clip:
    digest = hashlib.sha256(str(item.details["clip"]).encode()).hexdigest()
    return Clip(Path("a.flac"), "a.flac", digest, 10.0, 16_000, 1)


def test_wrong_captions_of_mecat_answer_the_same_sub_task_and_never_rightly() -> None:
    benchmark = mecat("mecat-caption", items(3))
    found = answers(benchmark, "wrong")
    nothing = {"None", "No speech", "No music", "No sound"}
    for sample in benchmark.samples:
        text, subtask = found[sample.id].text, sample.details["subtask"]
        others = [one for one in benchmark.samples if text in one.references]
        assert subtask in {one.details["subtask"] for one in others}
        if sample.references[0] == "None":
            assert text not in nothing, "there is nothing, and so it must not say so"


def test_safe_captions_of_mecat_are_one_for_each_domain_and_sub_task() -> None:
    benchmark = mecat("mecat-caption", items(2))
    found = answers(benchmark, "safe")
    said = {
        (one.details["subtask"], one.details["domain"]): found[one.id].text
        for one in benchmark.samples
    }
    assert len(said) == 48
    assert said["speech", "S00"] == "A person is speaking."
    assert said["music", "S00"] == "There is no music."
    assert len({said["short", domain] for domain in DOMAINS}) == 8


def test_right_answers_to_questions_are_the_reference_left_in_and_marked_so() -> None:
    benchmark = mecat("mecat-qa", questions(2))
    right = answers(benchmark, "right")
    for sample in benchmark.samples:
        reply = right[sample.id]
        assert (reply.text, reply.withheld) == (sample.references[0], None)
    model = create_model("control/right")
    assert isinstance(model, ControlModel)
    model.follow_rules(benchmark.traits.controls)
    assert model.parameters["reference"] == "left in"
    by_text = {one.references[0]: one for one in benchmark.samples}
    for key, reply in answers(benchmark, "wrong").items():
        sample = next(one for one in benchmark.samples if one.id == key)
        assert by_text[reply.text].category == sample.category
        assert reply.text != sample.references[0]
