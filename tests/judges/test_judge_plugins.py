"""A judge of another package fails at single answers, never at a whole run, and says why."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from audiocapbench.benchmarks import Selection, open_benchmark
from audiocapbench.engine import run_benchmark
from audiocapbench.errors import JudgeError
from audiocapbench.judges import create_judge, judge_run
from audiocapbench.models import create_model
from audiocapbench.store import Store
from fakes.entry_points import installed

MODULE = r"""
from audiocapbench import Verdict, sign

class Moody:
    dimensions = ("mood",)
    name = "moody"
    signature = sign("judge-moody")

    def __init__(self, options): self.fault = options.get("fault", "")

    def judge(self, prediction, references, category, transcript):
        if category == "music":
            if self.fault == "raises": raise KeyError("no mood")
            if self.fault == "high": return Verdict({"mood": 11.0}, "")
            if self.fault == "nan": return Verdict({"mood": float("nan")}, "")
            if self.fault == "other": return Verdict({"air": 1.0}, "")
            if self.fault == "nothing": return None
            if self.fault == "half": raise ValueError("no \ud800 mood\0")
        if self.fault == "why": return Verdict({"mood": 5.0}, "so \ud800 so\0")
        return Verdict({"mood": 5.0}, "so so")

class Many(Moody):
    def judge_many(self, cases):
        if self.fault == "few": return []
        return [self.judge(one.prediction, one.references, one.category, None) for one in cases]

class Odd(Moody):
    @property
    def dimensions(self): raise KeyError("none yet")

class Blank(Moody):
    dimensions = ("mood", "")

def nobody(options): return 3
def clumsy(options): raise RuntimeError("dropped\nit")
"""
POINTS = "\n".join(
    f"{name.lower()} = {{module}}:{name}" for name in "Moody Many Odd Blank nobody clumsy".split()
)


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with installed(tmp_path / "site", monkeypatch, MODULE, POINTS, "judges"):
        yield


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run of answers to music and sound, to be copied."""
    path = tmp_path_factory.mktemp("answered") / "runs.db"
    with Store.open(str(path)) as store:
        run_benchmark(
            open_benchmark("demo"),
            create_model("control/safe"),
            store,
            selection=Selection(("music", "sound")),
        )
    return path


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("name", ["moody", "many"])
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("raises", "moody fails (KeyError: 'no mood') at "),
        ("high", "moody gave mood 11.0; scores are from 0 to 10"),
        ("nan", "moody gave mood nan; scores are from 0 to 10"),
        ("other", "moody gave air; it says mood"),
        ("nothing", "moody fails (AttributeError: "),
        ("half", "moody fails (ValueError: no \ufffd mood\ufffd) at "),
        ("few", ""),
        ("why", ""),
    ],
)
def test_an_answer_that_a_judge_fails_at_is_a_failure_and_the_others_have_scores(
    tmp_path: Path, answered: Path, name: str, fault: str, words: str
) -> None:
    store = Store.open(str(shutil.copy(answered, tmp_path / "runs.db")))
    asked = store.run(1)
    judge = create_judge(f"{name}[fault={fault}]")
    assert hasattr(judge, "judge_many") == (name == "many")
    end = judge_run(store, asked, [judge]).judges[0]
    failed = {"failed": 8} if words else {}
    assert end.statuses == {"ok": 18 - sum(failed.values())} | failed
    errors = {one.error for one in store.judgements(asked.id) if one.error}
    assert all(one.startswith(words) for one in errors)
    assert bool(errors) == bool(words)
    reasons = {one.reasoning for one in store.judgements(asked.id) if one.scores}
    assert reasons == {"so \ufffd so\ufffd" if fault == "why" else "so so"}


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nobody", "made no judge"),
        ("clumsy", r"fails \(\w+: dropped it\)"),
        ("odd", r"fails \(KeyError: 'none yet'\)"),
        ("blank", "give a tuple of different names"),
    ],
)
def test_what_is_no_judge_is_refused_in_one_sentence(name: str, words: str) -> None:
    with pytest.raises(JudgeError, match=words) as caught:
        create_judge(name)
    assert "\n" not in str(caught.value)
