"""A contract in a TOML file is held to the rules of our own; a text judge may stand in a file."""

import json
from pathlib import Path

import pytest

from audiocapbench.errors import AudioCapBenchError, JudgeError, ReplyError
from audiocapbench.judges import create_judge
from audiocapbench.judges.contract import JudgeInput
from audiocapbench.judges.registry import find_contract
from audiocapbench.metrics import compute, find_metric
from audiocapbench.signature import Signature
from audiocapbench.store.records import overall_of
from command import run_command

FILE = '''
name = "strict"
description = "how close an answer is"
prompt = """{guidance}
References:
{references}
Answer: “{prediction}” to “{instruction}”
Reply with JSON: {"closeness": 1 to 5, "order": 1 to 5, "reasoning": "why"}"""
scores = ["closeness", "order"]
scale = [1, 5]
[guidance]
music = "Mind the instruments."
other = "Mind the sources."
'''
CASE = JudgeInput("a", "A {references} “barks”", ("One.", "Two."), "songs", "What is it?")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "strict.toml").write_text(FILE)
    return tmp_path / "strict.toml"


def test_places_are_filled_once_and_scores_become_0_to_10(file: Path) -> None:
    contract = find_contract(str(file))
    prompt = contract.prompt(CASE)
    assert prompt.startswith("Mind the instruments.\nReferences:\n  - One.\n  - Two.\n")
    assert '“A (references) "barks"” to “What is it?”' in prompt
    assert contract.schema["properties"]["order"] == {"type": "integer", "minimum": 1, "maximum": 5}
    verdict = contract.parse('{"closeness": 5, "order": 2, "reasoning": "x"}')
    assert verdict.scores == {"closeness": 10.0, "order": 2.5}
    with pytest.raises(ReplyError, match="order must be from 1 to 5"):
        contract.parse('{"closeness": 5, "order": 0, "reasoning": "x"}')
    assert contract.without_asking(JudgeInput("a", " ", ("One.",), "sound")) is not None


def test_names_of_scores_and_categories_are_as_their_author_writes_them(file: Path) -> None:
    text = FILE.replace("closeness", "Close-ness").replace('"order"', '"Word Order"')
    file.write_text(text.replace("music =", "Songs ="))
    contract = find_contract(str(file))
    for reply in ('{"Close-ness": 5, "Word Order": 2}', '{"close_ness": 5, "word order": 2}'):
        assert contract.parse(reply).scores == {"Close-ness": 10.0, "Word Order": 2.5}
    assert contract.prompt(CASE).startswith("Mind the instruments.")


def test_the_files_text_is_in_the_signature(file: Path) -> None:
    def signed() -> str:
        name = f"endpoint/m@http://127.0.0.1:9/v1[contract={file}]"
        return str(create_judge(name).signature)

    before = signed()
    assert before.startswith("judge-strict|")
    assert "scale:1-5" in before
    file.write_text(FILE.replace("Mind the sources", "Mind all sources"))
    assert signed() != before


def test_a_judge_is_the_same_wherever_the_file_of_its_contract_lies(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-real-key")
    first = create_judge(f"openai/gpt-4.1[contract={file}]")
    (tmp_path / "moved").mkdir()
    moved = create_judge(
        "openai/gpt-4.1", contract=str(file.rename(tmp_path / "moved" / file.name))
    )
    assert first.name == moved.name == "openai/gpt-4.1[contract=strict.toml]"
    assert first.signature == moved.signature


def test_scores_add_up_by_their_weights(file: Path) -> None:
    scores = {"closeness": 10.0, "order": 2.5}
    name = f"endpoint/m@http://127.0.0.1:9/v1[contract={file}]"
    assert overall_of(scores, create_judge(name).signature) == 6.25
    text = FILE.replace("[1, 5]", "[1, 5]\nweights = {order = 0.1, closeness = 0.3}")
    file.write_text(text)
    made = create_judge(name).signature
    assert "|overall:order*0.1+closeness*0.3|" in str(made)
    assert overall_of(scores, Signature.parse(str(made))) == pytest.approx(8.125)


def test_a_reply_in_prose_is_read_after_its_word(file: Path) -> None:
    file.write_text(
        'name = "prose"\nscores = ["rating"]\nscale = [0, 5]\nafter = "Rating:"\n'
        'prompt = "{references} {prediction}"'
    )
    contract = find_contract(str(file))
    assert contract.parse("Explanation: close.\nRating: 4").scores == {"rating": 8.0}
    for said in ("**(4)**", "4/5", "4 out of 5, as said", "4 points of 5", "4, for rain"):
        assert contract.parse(f"Close.\nRating: {said}").scores == {"rating": 8.0}
    for reply, said in (
        ("It is a 4.", "no number after 'Rating:'"),
        ("Rating: 4, or Rating: 5", "several numbers after"),
        ("Rating: 6", "rating must be from 0 to 5"),
        ("Rating: 4.5", "rating must be an integer"),
        ("Rating: 4/10", "rating is not out of 5"),
        ("Rating: 4 out of 10", "rating is not out of 5"),
        ("Rating: 4 stars out of 10", "rating is not out of 5"),
        ("Rating: 4 %", "rating is not out of 5"),
        ("Rating: 4/5.5", "no number after"),
        ("Rating: 1,000", "no number after"),
        ("Rating: 3-4", "no number after"),
        ("Rating: 3 or 4", "no number after"),
    ):
        with pytest.raises(ReplyError, match=said):
            contract.parse(reply)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{prediction}", "{predicton}", "did you mean 'prediction'?"),
        ("{references}", "", "prompt: has no {references}, which the judge must see"),
        ("scale = [1, 5]", "scale = [5, 1]", "scale: is not the lowest"),
        ("scores =", "score =", "score: is no key; did you mean 'scores'?"),
        ('other = "Mind the sources."', "", "guidance: has nothing for other categories"),
        ("scale = [1, 5]", 'after = "x"', "after: is for one score"),
        ("scale = [1, 5]", f"scale = [1, 1{'0' * 400}]", "scale 2: is 1000"),
        ("scale = [1, 5]", "weights = {order = 1e308, closeness = 1}", "weights.order: is 1e+308"),
        ('"order"]', '"Closeness"]', "scores: a name stands there twice"),
        ('name = "strict"', 'name = "rating"', "'rating' is a contract of ours; choose another"),
        ("scale = [1, 5]", "weights = {accuracy = 1}", "weights: needs a number for each of"),
        ("[guidance]", '[guidance]\nMusic = "Mind."', "guidance: a category stands there twice"),
        ("scale = [1, 5]", 'after = " "', "after: is ' '"),
        ("closeness", "c" * 81, "should have at most 80 characters"),
        ("{instruction}", "{prediction.__class__}", ""),
    ],
)
def test_what_is_wrong_with_it_is_one_sentence(file: Path, old: str, new: str, said: str) -> None:
    file.write_text(FILE.replace(old, new))
    if not said:  # no attribute is ever looked up
        assert "{prediction.__class__}" in find_contract(str(file)).prompt(CASE)
        return
    with pytest.raises(AudioCapBenchError) as caught:
        find_contract(str(file))
    assert any(said in line for line in str(caught.value).splitlines())
    file.unlink()
    with pytest.raises(AudioCapBenchError, match="cannot be read"):
        find_contract(str(file))


JUDGE = """
from audiocapbench import Verdict, sign

class Brevity:
    dimensions = ("brevity",)
    name = "mine.py:Brevity"
    signature = sign("judge-brevity", words=20)

    def __init__(self, options):
        self.options = options

    def judge(self, prediction, references, category, transcript):
        return Verdict({"brevity": 10.0 if len(prediction.split()) < 20 else 0.0}, "counted")


def half(predictions, references):
    return [0.5 for _ in predictions]


def breaks(predictions, references):
    raise RuntimeError("no luck")


def short(predictions, references):
    return [0.5]


def wild(predictions, references):
    return [7.0 for _ in predictions]
"""


def test_a_judge_and_a_metric_of_a_file_score_a_run_and_one_that_raises_fails_alone(
    tmp_path: Path,
) -> None:
    path, store = tmp_path / "mine.py", str(tmp_path / "s.db")
    path.write_text(JUDGE)
    asked = ("run", "demo", "--model", "control/safe", "--limit", "4", "--store", store, "--json")
    names = [f"{path}:{one}" for one in ("half", "breaks", "short", "wild")]
    done = run_command(
        *asked, "--judge", f"{path}:Brevity", "--metrics", ",".join(["rouge_l", *names])
    )
    assert done.returncode == 2, done.stderr
    (found,) = json.loads(done.stdout)["runs"]
    assert found["metrics"][names[0]]["score"] == 0.5
    assert "file:" in found["metrics"][names[0]]["signature"]
    assert found["metrics"]["rouge_l"]["score"] > 0
    assert found["judges"]["mine.py:Brevity"]["scores"]["brevity"]["score"] == 10.0
    told = [line for line in done.stderr.splitlines() if "metric /" in line or "it must" in line]
    assert "breaks fails (RuntimeError: no luck) at mine.py:" in " ".join(told)
    assert len(told) == 3, done.stderr
    scored = run_command("score", "1", "--metrics", names[0], "--store", store, "--json")
    assert scored.returncode == 0, scored.stderr
    lost = run_command("score", "1", "--metrics", f"{path}:hlaf", "--store", store)
    assert lost.returncode == 2
    assert "has no class or function 'hlaf'" in lost.stderr


def test_a_judge_of_a_file_is_told_by_its_class_and_the_hash_of_the_file(tmp_path: Path) -> None:
    path, store = tmp_path / "mine.py", str(tmp_path / "s.db")
    other = "class Other(Brevity):\n    def __call__(self):\n        pass\nprinter = Other({})\n"
    path.write_text(f"{JUDGE}\n{other}")
    run_command("run", "demo", "--model", "control/safe", "--limit", "2", "--store", store)
    signatures = set()
    for name in ("Brevity", "Other", "Brevity"):
        done = run_command("score", "1", "--judge", f"{path}:{name}", "--store", store, "--json")
        assert done.returncode == 0, done.stderr
        judges = json.loads(done.stdout)["judges"]
        signatures.add(judges[f"mine.py:{name}"]["signature"])
        assert "already judged" not in done.stderr
        path.write_text(f"{path.read_text()}\n")
    assert len(signatures) == 3
    with pytest.raises(JudgeError, match=r"it has Brevity, half, .*, Other, printer"):
        create_judge(f"{path}:Brevty")


def test_nothing_that_a_judge_of_a_file_gives_damages_the_store(tmp_path: Path) -> None:
    path, store = tmp_path / "mine.py", str(tmp_path / "s.db")
    given = ["True", "'7'", "float('nan')", "None", "numpy.float32(5)"]
    words = ["{'x': 1}", "chr(0xD800) + chr(0)", "None"]
    verdicts = [f"Verdict({{'brevity': {one}}}, 'ok')" for one in given]
    verdicts += [f"Verdict({{'brevity': 5.0}}, {one})" for one in words]
    classes = [
        f"class J{at}(Brevity):\n    def judge(self, *_):\n        return {one}\n"
        for at, one in enumerate(verdicts)
    ]
    path.write_text("\n".join(["import numpy", JUDGE, *classes]))
    run_command("run", "demo", "--model", "control/safe", "--limit", "1", "--store", store)
    for at in range(len(classes)):
        done = run_command("score", "1", "--judge", f"{path}:J{at}", "--store", store, "--json")
        assert done.returncode == (0 if at > 3 else 1), done.stderr
        found = json.loads(done.stdout)["judges"][f"mine.py:J{at}"]
        assert found["coverage"] == (1.0 if at > 3 else 0.0)


@pytest.mark.parametrize("given", ['"brevity"', "()", "(1,)", '("a", "a")', '("overall",)'])
def test_dimensions_that_are_none_are_refused_before_anything_is_judged(
    tmp_path: Path, given: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"{JUDGE}\nclass Odd(Brevity):\n    dimensions = {given}\n")
    with pytest.raises(JudgeError, match="give a tuple of different names"):
        create_judge(f"{path}:Odd")


def test_what_a_metric_of_a_file_does_to_its_texts_is_no_other_metrics(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def clears(texts, references):\n    texts.clear()\n    return [0.5, 0.5]\n"
    )
    found = compute([f"{tmp_path}/mine.py:clears", "rouge_l"], ["a", "b"], [["a"], ["b"]])
    assert [one.samples.tolist() for one in found] == [[0.5, 0.5], [1.0, 1.0]]


def test_a_file_runs_once_however_often_it_is_named(tmp_path: Path) -> None:
    path, seen = tmp_path / "mine.py", tmp_path / "seen"
    path.write_text(f"open({str(seen)!r}, 'a').write('x')\n{JUDGE}")
    for _ in range(3):
        find_metric(f"{path}:half")
    assert seen.read_text() == "x"


def test_predictions_in_files_are_scored_by_what_does_not_fail(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(JUDGE)
    rows = "id,prediction,reference\na,A dog barks.,A dog barks loudly.\nb,Rain.,Rain falls."
    (tmp_path / "p.csv").write_text(rows)
    names = ",".join(["rouge_l", *(f"{tmp_path}/mine.py:{one}" for one in ("half", "breaks"))])
    both = ("--predictions", str(tmp_path / "p.csv"), "--references", str(tmp_path / "p.csv"))
    done = run_command("score", *both, "--metrics", names, "--json")
    assert done.returncode == 1, done.stderr
    assert list(json.loads(done.stdout)["metrics"]) == ["rouge_l", f"{tmp_path}/mine.py:half"]
    assert "RuntimeError: no luck" in done.stderr
