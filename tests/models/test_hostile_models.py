"""Models of other people that declare, raise or return what none should: a word, never a hang."""

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

import audiocapbench as acb
from audiocapbench.benchmarks import Benchmark, open_benchmark
from audiocapbench.data.outcome import Outcome, Reply
from audiocapbench.engine import RunEnd, run_benchmark
from audiocapbench.errors import ModelError, TransientError
from audiocapbench.models import AudioContract, Question, create_model, create_models
from audiocapbench.store import Store
from folders import write_folder
from forks import Forked

CLIPS = 4
HEAD = """
from types import MappingProxyType
from audiocapbench import AudioContract, Reply, SimpleModel


class Mine(SimpleModel):
    contract = AudioContract("none")

    async def answer(self, question):
        return Reply("A tone.")
"""


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("parameters = {'a': object()}", "whose parameters are not JSON"),
        ("parameters = {'a': float('nan')}", "whose parameters are not JSON"),
        ("parameters = {'a': {1, 2}}", "whose parameters are not JSON"),
        ("parameters = {1: 'a'}", "whose parameters have the name 1; names are text"),
        ("parameters = 5", "whose parameters is no Mapping"),
        ("settings = 5", "declares the settings 5; a tuple of these is known: temperature"),
        ("settings = 'temperature'", "declares the settings 'temperature'"),
        ("settings = ('top_p',)", "declares the settings ('top_p',)"),
        ("settings = (5,)", "declares the settings (5,)"),
        ("price = 'free'", "declares the price 'free'; it is of type Price, or left out"),
        ("price = 0.5", "declares the price 0.5"),
        ("key_names = 'FOO'", "declares the key_names 'FOO'; write a tuple of names"),
        ("key_names = (None,)", "declares the key_names (None,)"),
        ("contract = 'wav'", "declares the contract 'wav'"),
        ("contract = AudioContract('mp9')", "container is 'mp9'; it is one of none, file, wav"),
        ("contract = AudioContract('wav', rate=-1)", "rate is -1; it must be a number above 0"),
        ("contract = AudioContract('wav', longest_s='x')", "longest_s is 'x'"),
        ("concurrency = 0", "whose concurrency is 0; it is at least 1"),
        ("concurrency = True", "whose concurrency is True"),
        ("concurrency = 'a'", "whose concurrency is no int"),
        ("cacheable = 'yes'", "whose cacheable is no bool"),
        ("name = property(lambda self: 'control/right', lambda self, _: None)", "calls itself"),
        ("name = property(lambda self: '', lambda self, _: None)", "whose name is ''"),
        ("name = property(lambda self: 5, lambda self, _: None)", "whose name is no str"),
        ("def __init__(self, name): exit(3)", "fails (SystemExit: 3) at mine.py:"),
        ("def __init__(self, name): raise OSError('no weights')", "no weights) at mine.py:12"),
    ],
)
def test_an_odd_declaration_is_one_sentence_when_the_model_is_made(
    tmp_path: Path, lines: str, reason: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + f"\n    {lines}\n")
    with pytest.raises(ModelError) as caught:
        create_model(f"{path}:Mine")
    assert reason in str(caught.value)
    assert "mine.py:Mine" in str(caught.value)


def test_two_files_of_one_name_are_never_taken_for_each_other(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(HEAD + f"\n    said = {folder!r}\n")
    first, again, other = (f"{tmp_path}/{one}/mine.py:Mine" for one in ("one", "two/../one", "two"))
    assert len(create_models([first, again])) == 1
    assert create_model(other).parameters != create_model(first).parameters
    with pytest.raises(ModelError, match="two different models are called 'mine"):
        create_models([first, other])


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """A few clips, which no test changes."""
    return open_benchmark(str(write_folder(tmp_path_factory.mktemp("hostile") / "tones", CLIPS)))


class Odd(acb.SimpleModel):
    """Does something odd at the second clip."""

    contract = AudioContract("none")

    def __init__(self, act: Callable[[], Any]) -> None:
        super().__init__("own/odd")
        self.act = act

    async def answer(self, question: Question) -> Reply:
        if question.sample_id == "tone_1":
            given = self.act()
            reply: Reply = await given if asyncio.iscoroutine(given) else given
            return reply
        return Reply("A tone.")


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class OwnStop(BaseException):
    """Not even an Exception."""


def raising(error: BaseException) -> Callable[[], Any]:
    def act() -> Any:
        raise error

    return act


async def cancel_oneself() -> Reply:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return Reply("Never said.")


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (raising(SystemExit(3)), "SystemExit: 3 at test_hostile_models.py:"),
        (raising(asyncio.CancelledError("mine")), "CancelledError: mine at"),
        (raising(OwnStop()), "OwnStop at"),
        (raising(ValueError("odd")), "ValueError: odd at test_hostile_models.py:"),
        (raising(UnspeakableError()), "UnspeakableError at"),
        (raising(ValueError("x" * 10_000_000)), "ValueError: xxx"),
        (raising(ExceptionGroup("many", [KeyError("inner")])), "KeyError: 'inner'"),
        (lambda: Reply("A tone.", "ok"), "whose status is of type str"),  # type: ignore[arg-type]
        (lambda: Reply("A tone.", error=5), "whose error is of type int"),  # type: ignore[arg-type]
        (lambda: Reply("A tone.", raw={}), "whose raw is of type dict"),  # type: ignore[arg-type]
        (lambda: Reply("A tone.", withheld=99), "there is no reference 99 to withhold"),
        (lambda: Reply("A tone.", withheld=-1), "there is no reference -1 to withhold"),
        (lambda: Reply("A tone.", withheld="a"), "whose withheld is"),  # type: ignore[arg-type]
        (cancel_oneself, "CancelledError"),
    ],
)
def test_what_a_model_raises_or_returns_is_of_its_clip_alone(
    tones: Benchmark, store: Store, act: Callable[[], Any], words: str
) -> None:
    end = run_benchmark(tones, Odd(act), store)
    assert (end.stop, end.statuses) == (None, {"ok": CLIPS - 1, "failed": 1})
    outcome: Outcome = store.outcomes(end.run.id)["tone_1"]
    assert words in (outcome.reply.error or "")
    assert len(outcome.reply.error or "") < 500


@pytest.mark.parametrize("count", [10**20, -5, math.nan, math.inf, 1.5, "many", True, [1]])
def test_absurd_usage_ends_no_run(tones: Benchmark, store: Store, count: Any) -> None:
    used = dict.fromkeys(("input_tokens", "output_tokens", "audio_tokens", "cost_usd"), count)
    end = run_benchmark(tones, Odd(lambda: Reply("A tone.", **used)), store)
    assert end.stop is None
    assert end.statuses["ok"] >= CLIPS - 1
    assert len(store.outcomes(end.run.id)) == CLIPS


def test_an_interrupt_that_a_model_raises_ends_the_run_and_is_raised_again(
    tones: Benchmark, store: Store
) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_benchmark(tones, Odd(raising(KeyboardInterrupt())), store)
    (line,) = store.runs()
    assert "failed" not in line.statuses
    assert run_benchmark(tones, Odd(lambda: Reply("A tone.")), store).statuses == {"ok": CLIPS}


def test_a_real_cancellation_is_no_failure(tones: Benchmark, store: Store) -> None:
    async def main() -> None:
        reached = asyncio.Event()

        async def wait() -> Reply:
            reached.set()
            await asyncio.sleep(60)
            raise TransientError("never")

        running = asyncio.ensure_future(acb.arun(tones, Odd(wait), store=store))
        await reached.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    (line,) = store.runs()
    assert "failed" not in line.statuses


class Unready(Odd):
    def prepare(self, samples: object) -> None:
        raise OSError("no weights")

    async def aclose(self) -> None:
        raise OSError("no door")


def test_a_model_that_cannot_prepare_says_where_and_one_that_cannot_close_costs_nothing(
    tones: Benchmark, store: Store
) -> None:
    def run(model: acb.Model) -> RunEnd:
        return run_benchmark(tones, model, store)

    with pytest.raises(ModelError, match=r"\.prepare fails \(OSError: no weights\) at test_hos"):
        run(Unready(lambda: Reply("A tone.")))

    class Closing(Odd):
        async def aclose(self) -> None:
            raise OSError("no door")

    assert run(Closing(lambda: Reply("A tone."))).statuses == {"ok": CLIPS}


def test_a_model_that_exits_does_not_hang_the_command(tmp_path: Path) -> None:
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", 2)
    code = HEAD.replace('return Reply("A tone.")', "raise SystemExit(5)")
    (tmp_path / "mine.py").write_text(code)
    words = ("run", "tones", "--model", "mine.py:Mine", "--metrics", "rouge_l", "--yes")
    with Forked("-m", "audiocapbench", *words, cwd=tmp_path, stdout=PIPE, stderr=PIPE) as process:
        _, said = process.communicate(timeout=120)
    assert process.returncode == 1, said
    assert "SystemExit: 5 at mine.py:10" in said
    assert "Traceback" not in said
