"""Runs and judging from code that is async already: a notebook, a server, a script."""

import asyncio
import signal
import subprocess
import textwrap
from pathlib import Path

import pytest

import audiocapbench as acb
from audiocapbench.benchmarks import open_benchmark
from audiocapbench.engine import run_benchmark
from audiocapbench.judges import create_judge, judge_run
from audiocapbench.models import create_model
from audiocapbench.store import Store
from forks import Forked
from plugin import asked, environment, open_gate
from whole_run import interrupt, wait_until

CLIPS = 12


def test_the_blocking_calls_work_inside_a_running_loop(place: Path) -> None:
    async def cell() -> tuple[int, int]:
        with_loop = open_benchmark(str(place / "tones"))
        store = Store.open(str(place / "runs.db"))
        run = run_benchmark(with_loop, create_model("control/right"), store).run
        judging = judge_run(store, run, [create_judge("elements")])
        count = len(store.outcomes(run.id))
        store.close()
        return count, judging.judges[0].statuses["ok"]

    assert asyncio.run(cell()) == (CLIPS, CLIPS)


def test_the_async_calls_share_the_loop_with_others(place: Path) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    async def main() -> tuple[int, int]:
        clock = asyncio.create_task(tick())
        benchmark = open_benchmark(str(place / "tones"))
        store = Store.open(str(place / "runs.db"))
        names = ("control/right", "control/safe")
        runs = await asyncio.gather(*(acb.arun(benchmark, one, store=store) for one in names))
        judged = await acb.ajudge(runs[0], "elements", store=store)
        clock.cancel()
        store.close()
        return sum(len(one.answers) for one in runs), judged.summary.judges["elements"].judged

    assert asyncio.run(main()) == (2 * CLIPS, CLIPS)
    assert ticks > 5


NOTEBOOK = textwrap.dedent(
    """
    import asyncio
    import audiocapbench as acb

    async def cell():
        with acb.Store.open("audiocapbench.db") as store:
            slow = acb.create_model("diary/slow")
            try:
                acb.run_benchmark(acb.open_benchmark("tones"), slow, store)
            except KeyboardInterrupt:
                print("interrupted", len(store.outcomes(1)))

    asyncio.new_event_loop().run_until_complete(cell())
    """
)


def test_interrupting_a_notebook_cell_keeps_what_was_in_flight(place: Path) -> None:
    process = Forked(
        "-c",
        NOTEBOOK,
        cwd=place,
        env=environment(place, DIARY_FREE="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_until(lambda: len(asked(place)) == 2)
    interrupt(process)
    open_gate(place)
    out, err = process.communicate(timeout=120)
    assert out.split() == ["interrupted", str(len(asked(place)))], err
    assert len(asked(place)) < CLIPS


LOOP = textwrap.dedent(
    """
    import sys
    import audiocapbench as acb
    from audiocapbench.store import Store

    for name in ("diary/slow", "diary/other", "diary/third"):
        if sys.argv[1] == "run":
            acb.run("tones", name, metrics="rouge_l")
        else:
            with Store.open("audiocapbench.db") as store:
                acb.run_benchmark(acb.open_benchmark("tones"), acb.create_model(name), store)
    """
)


@pytest.mark.parametrize(
    ("way", "number"),
    [("run", signal.SIGINT), ("run", signal.SIGTERM), ("run_benchmark", signal.SIGINT)],
)
def test_an_interrupted_script_ends_and_asks_no_other_model(
    place: Path, way: str, number: signal.Signals
) -> None:
    told = {"cwd": place, "env": environment(place, DIARY_FREE="2")}
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = Forked("-c", LOOP, way, **told, **piped)  # type: ignore[arg-type]
    wait_until(lambda: len(asked(place)) == 3)
    interrupt(process, number)
    open_gate(place)
    _, err = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in err
    with Store.open(str(place / "audiocapbench.db")) as store:
        (line,) = store.runs()
        assert len(store.outcomes(line.id)) == len(asked(place)) == 3


@pytest.mark.parametrize("given", ["a dog", None, acb.Reply(None)])  # type: ignore[arg-type]
def test_a_model_that_returns_no_reply_fails_its_samples_and_not_the_run(
    place: Path, given: object
) -> None:
    class Careless(acb.SimpleModel):
        contract = acb.AudioContract("none")

        async def answer(self, question: acb.Question) -> acb.Reply:
            return given  # type: ignore[return-value]

    with Store.open(str(place / "runs.db")) as store:
        end = run_benchmark(open_benchmark(str(place / "tones")), Careless("own/careless"), store)
        outcome = next(iter(store.outcomes(end.run.id).values()))
    assert end.statuses == {"failed": CLIPS}
    assert "must return a Reply with text" in str(outcome.reply.error)
