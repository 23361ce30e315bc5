"""Models that answer in batches: fed while they work, failing by the clip, stopped and resumed."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import anyio
import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.engine import Progress, RateLimits, run_benchmark
from audiocapbench.errors import FatalError, ModelError
from audiocapbench.models import AudioContract, BatchModel, Question
from audiocapbench.models.model import _Place, _Queue, batch_of, without_audio
from audiocapbench.models.price import FREE
from audiocapbench.store import Store
from engine.virtual_time import run_in_virtual_time
from folders import write_lines, write_tone

CLIPS = 20


class Recorder(BatchModel):
    """Remembers the batches that it was given."""

    contract = AudioContract("float32", rate=8_000)
    cacheable = True
    batch = 4

    def __init__(self, act: Callable[[Sequence[Question]], None] = lambda _: None) -> None:
        super().__init__("recorder/one")
        self.batches: list[list[str]] = []
        self._act = act

    def answer_many(self, questions: Sequence[Question]) -> list[Reply]:
        self.batches.append([one.sample_id for one in questions])
        self._act(questions)
        return [Reply(f"About {one.sample_id}.") for one in questions]


class Twice(Recorder):
    batch, lanes = 5, 2


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "store.db"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = []
    for index in range(CLIPS):
        # Their order in the folder is not that of their lengths.
        write_tone(tmp_path / "clips" / f"{index}.wav", seconds=0.1 + 0.02 * (index * 7 % CLIPS))
        rows.append({"file_name": f"clips/{index}.wav", "id": f"{index}", "references": ["A."]})
    write_lines(tmp_path, rows)
    return tmp_path


def statuses(store: Store, run: int) -> dict[str, str]:
    return {key: str(one.reply.status) for key, one in store.outcomes(run).items()}


def test_batches_are_full_and_begin_with_the_longest_clips(folder: Path, store: Store) -> None:
    model = Recorder()
    end = run_benchmark(open_benchmark(str(folder)), model, store)
    assert end.statuses == {"ok": CLIPS}
    assert max(map(len, model.batches)) == 4
    assert len(model.batches) <= CLIPS / 2  # a machine that decodes slowly need not wait for more
    length = {str(index): index * 7 % CLIPS for index in range(CLIPS)}
    asked = [length[one] for batch in model.batches for one in batch]
    assert all(abs(asked.index(rank) - (CLIPS - 1 - rank)) < 8 for rank in range(CLIPS))


def test_the_first_batch_may_be_smaller_so_that_a_device_begins_sooner(
    folder: Path, store: Store
) -> None:
    class Eager(Recorder):
        batch, first_batch = 8, 2
        patience_s = 20.0  # a machine that decodes slowly fills its batches, too

    for _ in range(2):  # each run begins anew
        model = Eager()
        run_benchmark(open_benchmark(str(folder)), model, store, fresh=True)
        # How full the next ones are depends on how soon their clips are decoded.
        assert [len(batch) for batch in model.batches[:2]] == [2, 8]


@pytest.mark.parametrize(
    ("each_s", "took_s", "wanted"),
    [
        (0.15, 2.0, (7, 0.9)),  # full, although the first waited longer than one may be waited for
        (0.0, 2.0, (7, 0.0)),
        (0.3, 2.0, (1, 0.2)),
        (0.3, 10.0, (7, 1.8)),
        (0.06, 0.1, (1, 0.05)),
        (0.9, 100.0, (6, 5.0)),  # nobody waits for ever
    ],
)
def test_a_batch_is_filled_for_as_long_as_questions_keep_coming(
    each_s: float, took_s: float, wanted: tuple[int, float]
) -> None:
    came = list[tuple[int, float]]()

    async def come(queue: _Queue) -> None:
        for number in range(7):
            queue.waiting.append(_Place(Question(str(number), "What?", None)))
            queue.arrived.set()
            await anyio.sleep(each_s)

    async def fill() -> None:
        began, queue = anyio.current_time(), _Queue(1, Recorder.patience_s)
        queue.took_s = took_s
        async with anyio.create_task_group() as tasks:
            await anyio.sleep(0)
            tasks.start_soon(come, queue)
            await queue.fill(8)
            came.append((len(queue.waiting), round(anyio.current_time() - began, 3)))
            tasks.cancel_scope.cancel()

    run_in_virtual_time(fill)
    assert came == [wanted]


def test_outcomes_are_committed_and_clips_decoded_while_a_batch_is_answered(
    folder: Path, store: Store
) -> None:
    stored = threading.Event()
    model = Recorder()

    def act(questions: Sequence[Question]) -> None:
        if len(model.batches) == 2:
            # The outcomes of the first batch arrive although the second is not done.
            assert stored.wait(120)
        assert all(one.audio is not None and one.audio.container == "float32" for one in questions)

    model._act = act
    progress = Progress(arrived=lambda _outcome: stored.set())
    end = run_benchmark(open_benchmark(str(folder)), model, store, progress=progress)
    assert end.statuses == {"ok": CLIPS}


def test_two_lanes_answer_two_batches_at_once(folder: Path, store: Store) -> None:
    together, model = threading.Barrier(2, timeout=120), Twice()

    def act(_: Sequence[Question]) -> None:
        if not together.broken and len(model.batches) <= 2:
            together.wait()

    model._act = act
    end = run_benchmark(open_benchmark(str(folder)), model, store)
    assert end.statuses == {"ok": CLIPS}
    assert not together.broken


def test_a_clip_that_fails_its_batch_fails_alone(folder: Path, store: Store) -> None:
    def act(questions: Sequence[Question]) -> None:
        if any(one.sample_id == "7" for one in questions):
            raise ValueError("no such sound")

    end = run_benchmark(open_benchmark(str(folder)), Recorder(act), store)
    found = store.outcomes(end.run.id)
    assert end.statuses == {"ok": CLIPS - 1, "failed": 1}
    assert found["7"].reply.status is Status.FAILED
    assert "no such sound" in (found["7"].reply.error or "")


def test_too_few_replies_are_no_answers(folder: Path, store: Store) -> None:
    class Short(Recorder):
        def answer_many(self, questions: Sequence[Question]) -> list[Reply]:
            return super().answer_many(questions)[1:]

    end = run_benchmark(open_benchmark(str(folder)), Short(), store)
    assert end.statuses == {"failed": CLIPS}
    assert "0 replies to 1 questions" in (store.outcomes(end.run.id)["0"].reply.error or "")


def test_what_ends_all_questions_ends_the_run_and_the_same_goes_on(
    folder: Path, store: Store
) -> None:
    model = Recorder()

    def act(_: Sequence[Question]) -> None:
        if len(model.batches) == 3:
            raise FatalError("the device is gone")

    model._act = act
    with pytest.raises(FatalError, match="the device is gone"):
        run_benchmark(open_benchmark(str(folder)), model, store)
    (run,) = store.runs()
    known = set(store.outcomes(run.id))
    assert 0 < len(known) < CLIPS
    again = Recorder()
    end = run_benchmark(open_benchmark(str(folder)), again, store)
    assert end.statuses == {"ok": CLIPS}
    assert not known & {one for batch in again.batches for one in batch}


def test_an_interrupted_run_finishes_its_batches_and_no_more(folder: Path, store: Store) -> None:
    interrupted = threading.Event()

    def arrived(_: Outcome) -> None:
        if not interrupted.is_set():
            interrupted.set()
            raise KeyboardInterrupt

    model = Recorder()

    def act(_: Sequence[Question]) -> None:
        if len(model.batches) > 1:  # no batch is done before the first was told
            interrupted.wait(120)
            time.sleep(0.2)

    model._act = act
    options = {"progress": Progress(arrived=arrived)}
    with pytest.raises(KeyboardInterrupt):
        run_benchmark(open_benchmark(str(folder)), model, store, **options)  # type: ignore[arg-type]
    asked = {one for batch in model.batches for one in batch}
    assert set(store.outcomes(store.runs()[0].id)) == asked
    assert len(asked) < CLIPS


def test_two_commands_share_the_batches(folder: Path, store: Store) -> None:
    models = [Recorder(), Recorder()]
    url = str(folder / "store.db")

    def ask(model: Recorder) -> None:
        run_benchmark(open_benchmark(str(folder)), model, Store.open(url))

    threads = [threading.Thread(target=ask, args=[model]) for model in models]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    asked = [one for model in models for batch in model.batches for one in batch]
    assert sorted(asked) == sorted(str(index) for index in range(CLIPS))


def test_a_batch_model_learns_no_rate_and_waits_are_no_latency(folder: Path, store: Store) -> None:
    model = Recorder()

    def act(_: Sequence[Question]) -> None:
        if len(model.batches) == 1:
            time.sleep(1)

    model._act = act
    assert RateLimits().limiter(model).is_local
    assert RateLimits().limiter(without_audio(model)).is_local
    end = run_benchmark(open_benchmark(str(folder)), model, store, price=FREE)
    took = [one.latency_s for one in store.outcomes(end.run.id).values()]
    assert max(took) >= 1  # of the first batch, which all others wait for
    assert median(took) < 0.5


def test_answers_of_one_event_loop_after_another_are_given(folder: Path) -> None:
    model = Recorder()

    async def ask() -> list[str]:
        texts: list[str] = []

        async def one(number: int) -> None:
            question = Question(str(number), "What?", None)
            texts.append((await model.answer(question)).text)

        async with anyio.create_task_group() as tasks:
            for number in range(6):
                tasks.start_soon(one, number)
        return sorted(texts)

    wanted = [f"About {number}." for number in range(6)]
    assert [anyio.run(ask), anyio.run(ask)] == [wanted, wanted]
    assert [len(batch) for batch in model.batches] == [4, 2, 4, 2]


def test_a_cancelled_question_leaves_the_queue_to_the_others() -> None:
    model = Recorder()

    async def ask() -> str:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(model.answer, Question("dropped", "What?", None))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        return (await model.answer(Question("kept", "What?", None))).text

    assert anyio.run(ask) == "About kept."
    assert model.batches == [["kept"]]


def test_a_model_without_batches_is_asked_as_ever() -> None:
    class Plain(Recorder):
        batch = None  # type: ignore[assignment]

    assert batch_of(Plain()) is None
    assert batch_of(Recorder()) == 4
    with pytest.raises(ModelError, match="float64"):
        AudioContract("float64")  # type: ignore[arg-type]
