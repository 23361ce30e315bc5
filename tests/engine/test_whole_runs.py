"""Whole runs against a real server that misbehaves: nothing lost, nothing asked twice."""

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine import RateLimits, RetryPolicy, run_benchmark
from audiocapbench.engine.outage import MOST_REFUSED
from audiocapbench.errors import FatalError, TransientError
from audiocapbench.models import AudioContract, ModelSettings, Question, create_model
from audiocapbench.store import Store
from fakes import faults
from fakes.faults import Fault, Plan
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from forks import Forked
from whole_run import clip_of, finish, outcomes, start, wait_until, write_prices

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

CLIPS = 16
KEY = "sk-right-key-of-a-test"
START = 8  # questions in flight before the first answer, where the user says so


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", CLIPS)
    return tmp_path


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None) as running:
        yield running


def endpoint(server: OpenAIServer) -> str:
    return f"endpoint/fake@{server.base_url}"


class Life:
    """One life of the process: so many answers, and the rest held back until it is killed."""

    def __init__(self, answers: int) -> None:
        self.ended = threading.Event()
        self._left = threading.Semaphore(answers)

    def wait(self) -> None:
        time.sleep(0.05)
        if not self._left.acquire(blocking=False):
            self.ended.wait()


def asked_or_ended(server: OpenAIServer, seen: int, process: Forked) -> bool:
    return len(server.requests) > seen or process.poll() is not None


@pytest.mark.parametrize("kills", [4, pytest.param(10, marks=pytest.mark.slow)])
def test_kills_lose_nothing_and_ask_nothing_twice(tmp_path: Path, kills: int) -> None:
    clips, in_flight, draw = 12 + 5 * kills, 4, random.Random(20)
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", clips)
    lives = [Life(0)]

    def reply(_request: Request) -> dict[str, Any]:
        lives[-1].wait()
        return completion()

    with OpenAIServer(key=None, reply=reply) as server:
        options = [endpoint(server), "--concurrency", str(in_flight)]
        safe: dict[str, str | None] = {}
        for number in range(kills):
            seen = len(server.requests)
            # Never so many answers that the run could end before its last kill.
            lives.append(Life(draw.randint(0, clips // kills)))
            process = start(tmp_path, *options)
            if number % 4:
                wait_until(partial(asked_or_ended, server, seen, process))
                assert process.poll() is None, process.communicate()[1]
                time.sleep(draw.uniform(0, 0.5))
            else:
                time.sleep(draw.uniform(0, 1.5))
            process.kill()
            process.communicate()
            lives[-1].ended.set()
            kept = {key: one.audio_sha256 for key, one in outcomes(tmp_path).items()}
            asked = [clip_of(request) for request in server.requests[seen:]]
            assert safe.items() <= kept.items()
            assert not set(asked) & set(safe.values())
            assert len(asked) <= len(kept) - len(safe) + in_flight
            safe = kept
        assert len(safe) < clips
        lives.append(Life(clips))
        end = finish(tmp_path, *options)

    assert end.code == 0, end.err
    found = outcomes(tmp_path)
    assert Counter(one.reply.status for one in found.values()) == {Status.OK: clips}
    assert {one.audio_sha256 for one in found.values()} == set(map(clip_of, server.requests))
    assert len(server.requests) <= clips + kills * in_flight


STORMS = {
    "every second is 429": [faults.throttled(), None] * 10,
    "every second is 429 with Retry-After": [faults.throttled("1"), None] * 10,
    "bursts of 500 and 503": [*[faults.status(500)] * 4, *[None] * 6, *[faults.status(503)] * 4],
    "every second body is cut short": [faults.half(), None, faults.malformed(), None] * 4,
    "one of each": [
        faults.reset(),
        faults.wrong_type(),
        faults.status(408),
        faults.status(409),
        faults.throttled_until(1, clock=1_000_000_000),
        faults.body(b'{"choices": null}'),
        faults.body(b""),
        faults.status(529),
    ],
}


@pytest.mark.parametrize("storm", STORMS.values(), ids=STORMS.keys())
def test_a_storm_costs_only_the_calls_it_spoils(
    place: Path, server: OpenAIServer, storm: Sequence[Fault | None]
) -> None:
    server.plan = Plan(storm)
    end = finish(place, endpoint(server))
    assert end.code == 0, end.err
    assert json.loads(end.out)["runs"][0]["statuses"] == {"ok": CLIPS}
    assert len(server.requests) == CLIPS + sum(fault is not None for fault in storm)
    attempts = {one.audio_sha256: one.attempts for one in outcomes(place).values()}
    assert attempts == Counter(map(clip_of, server.requests))


def test_an_answer_that_drips_or_never_comes_is_asked_for_again(
    place: Path, server: OpenAIServer
) -> None:
    server.plan = Plan([faults.drip(0.5), faults.hang()])
    model = create_model(endpoint(server), ModelSettings(timeout=4.0))
    store = Store.open(str(place / "audiocapbench.db"))
    end = run_benchmark(open_benchmark(str(place / "tones")), model, store)
    store.close()
    assert (end.stop, end.statuses) == (None, {"ok": CLIPS})
    attempts = {one.audio_sha256: one.attempts for one in outcomes(place).values()}
    assert attempts == Counter(map(clip_of, server.requests))
    assert len(server.requests) >= CLIPS + 2


class SeldomTired:
    """Fails at each first attempt."""

    name = "tired"
    contract = AudioContract("none")
    parameters: Mapping[str, str] = {}
    cacheable = False
    concurrency = START

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def prepare(self, samples: object) -> None:
        pass

    async def answer(self, question: Question) -> Reply:
        self.asked[question.sample_id] += 1
        if self.asked[question.sample_id] == 1:
            raise TransientError("tired")
        return Reply("A tone.")


def test_waiting_for_a_slow_limit_does_not_use_up_a_question_s_time(place: Path) -> None:
    # Eight questions that start every 0.2 s wait 1.6 s for their second turn.
    retry = RetryPolicy(first_s=0.01, deadline_s=1.0)
    rate_limits = RateLimits(requests_per_minute=300, retry=retry)
    store = Store.open(str(place / "audiocapbench.db"))
    end = run_benchmark(
        open_benchmark(str(place / "tones")), SeldomTired(), store, rate_limits=rate_limits
    )
    store.close()
    assert end.statuses == {"ok": CLIPS}


def test_a_wrong_key_ends_the_run_at_once_and_the_right_one_goes_on(place: Path) -> None:
    with OpenAIServer(key=KEY) as server:
        settings = {"OPENAI_BASE_URL": server.base_url}
        wrong_key = "sk-wrong-key-of-a-test"
        words = ("openai/gpt-audio", "--concurrency", str(START))
        wrong = finish(place, *words, OPENAI_API_KEY=wrong_key, **settings)
        assert wrong.code == 2
        assert "answered 401 (fault 401); check OPENAI_API_KEY" in wrong.err
        assert sum("OPENAI_API_KEY" in line for line in wrong.err.splitlines()) == 1
        assert "Traceback" not in wrong.err
        assert wrong_key not in wrong.err
        assert 1 <= len(server.requests) <= START
        assert outcomes(place) == {}

        server.requests.clear()
        right = finish(place, "openai/gpt-audio", OPENAI_API_KEY=KEY, **settings)
        assert right.code == 0, right.err
        assert len(server.requests) == len(outcomes(place)) == CLIPS


@pytest.mark.parametrize(
    ("address", "reason"),
    [("127.0.0.1:9", "connection refused"), ("nobody.invalid", "no such host")],
)
def test_a_server_that_is_not_there_ends_the_run_with_one_message(
    place: Path, address: str, reason: str
) -> None:
    model = create_model(f"endpoint/fake@http://{address}/v1")
    store = Store.open(str(place / "audiocapbench.db"))
    limits = RateLimits(retry=RetryPolicy(unreachable_s=0.5))
    with pytest.raises(FatalError, match=f"could not be reached \\({reason}\\); tried"):
        run_benchmark(open_benchmark(str(place / "tones")), model, store, rate_limits=limits)
    store.close()
    assert outcomes(place) == {}


def test_what_no_retry_can_mend_stops_in_the_middle_and_keeps_the_rest(
    place: Path, server: OpenAIServer
) -> None:
    server.plan = Plan([None] * 5, always=faults.status(403))
    end = finish(place, endpoint(server), "--concurrency", "2", ENDPOINT_API_KEY=KEY)
    assert end.code == 2
    assert "the key in ENDPOINT_API_KEY may not use fake" in end.err
    assert "Traceback" not in end.err
    kept = [one for one in outcomes(place).values() if one.reply.status is Status.OK]
    assert len(kept) == 5
    assert len(server.requests) <= 5 + MOST_REFUSED + 1
    server.plan = Plan()
    server.requests.clear()
    again = finish(place, endpoint(server), ENDPOINT_API_KEY=KEY)
    assert again.code == 0, again.err
    assert len(server.requests) == CLIPS - 5


def test_one_clip_that_is_forbidden_costs_no_run(place: Path, server: OpenAIServer) -> None:
    server.plan = Plan([None] * 5 + [faults.status(403)])
    end = finish(place, endpoint(server), "--concurrency", "1", ENDPOINT_API_KEY=KEY)
    assert end.code == 1, end.err
    assert Counter(one.reply.status for one in outcomes(place).values()) == {
        Status.OK: CLIPS - 1,
        Status.FAILED: 1,
    }


def test_a_provider_that_refuses_all_after_answers_says_what_is_kept(
    place: Path, server: OpenAIServer
) -> None:
    server.plan = Plan([None] * 5, always=faults.status(402))
    end = finish(place, endpoint(server), "--concurrency", "1", ENDPOINT_API_KEY=KEY)
    assert end.code == 2
    assert "5 of 16 answers are kept as run 1, and the same goes on from there" in end.err


def test_failures_for_one_reason_are_told_in_one_line(place: Path, server: OpenAIServer) -> None:
    server.plan = Plan([None] * 2, always=faults.status(400))
    end = finish(place, endpoint(server), "--concurrency", "1", ENDPOINT_API_KEY=KEY)
    assert end.code == 1
    assert end.err.count("answered 400") == 1
    assert "tone_2, tone_3, tone_4, tone_5, tone_6, … ×14: failed: endpoint/fake" in end.err
    assert "more" not in end.err


def test_a_budget_is_used_and_never_overspent(place: Path, server: OpenAIServer) -> None:
    model = endpoint(server)
    prices = str(write_prices(place / "prices.json", model))
    cost, likely, budget = 0.127, 0.1825, 1.0  # 120 tokens in and 7 out; the estimate is dearer
    end = finish(place, model, "--prices", prices, "--budget", str(budget))
    spent = len(server.requests) * cost
    assert end.code == 1
    assert budget - likely <= spent <= budget
    assert f"Stopped after {len(server.requests)} of {CLIPS}: the budget is spent" in end.err
    assert "The same command with a larger budget goes on from here." in end.err
    stored = [one.reply.cost_usd for one in outcomes(place).values()]
    assert stored == pytest.approx([cost] * len(server.requests))
    again = finish(place, model, "--prices", prices, "--budget", "100")
    assert again.code == 0, again.err
    assert len(server.requests) == CLIPS


def test_a_model_dearer_than_estimated_does_not_overspend_either(
    place: Path, server: OpenAIServer
) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 7, "total_tokens": 1007}
    server.reply = lambda _request: completion() | {"usage": usage}
    model = endpoint(server)
    prices = str(write_prices(place / "prices.json", model))
    end = finish(place, model, "--prices", prices, "--budget", "3", "--concurrency", "1")
    assert end.code == 1
    assert len(server.requests) == 2  # a third would make it $3.02


def test_a_budget_without_a_price_is_refused_before_the_first_call(
    place: Path, server: OpenAIServer
) -> None:
    end = finish(place, endpoint(server), "--budget", "3")
    assert end.code == 2
    assert "--prices" in end.err
    assert server.requests == []


def test_what_is_no_answer_is_stored_as_what_it_is(place: Path, server: OpenAIServer) -> None:
    bodies = [
        completion("Never mind.", refusal="I cannot help with that."),
        completion("A gun", finish_reason="content_filter"),
        completion("A dog barks and then", finish_reason="length"),
        completion("  "),
        completion() | {"choices": []},
    ]
    said = {"error": {"code": "content_filter", "message": "the filter was triggered"}}
    server.plan = Plan([None] * 5 + [faults.status(400, json.dumps(said).encode())])
    order = iter(bodies)
    server.reply = lambda _request: next(order, completion())
    end = finish(place, endpoint(server), "--concurrency", "1")
    found = [outcomes(place)[f"tone_{index}"].reply for index in range(CLIPS)]
    assert [reply.status for reply in found[:7]] == [
        Status.REFUSED,
        Status.FILTERED,
        Status.TRUNCATED,
        Status.EMPTY,
        Status.FAILED,
        Status.FILTERED,
        Status.OK,
    ]
    for reply, body in zip(found, bodies, strict=False):
        assert json.loads(reply.raw or "null") == body
    assert "the filter was triggered" in (found[5].raw or "")
    assert end.code == 1
    assert "tone_0: refused: I cannot help with that." in end.err
    again = finish(place, endpoint(server), "--concurrency", "1")
    assert again.code == 1
    assert len(server.requests) == CLIPS + 1, "what was no answer is asked again"
