"""Judging a run through a real server: resumed, repeated, asked again, interrupted, paid for."""

import json
import re
import shutil
import subprocess
import textwrap
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.data.outcome import Status
from audiocapbench.engine import Budget, Progress, RateLimits, RetryPolicy, Stop, run_benchmark
from audiocapbench.judges import JudgeError, ModelJudge, create_judge, judge_run, missing_judgements
from audiocapbench.judges.executor import preview_judging
from audiocapbench.models import create_model
from audiocapbench.models.price import tokens_of
from audiocapbench.models.registry import price_of
from audiocapbench.scores.summary import summarise
from audiocapbench.store import Run, Store
from fakes.faults import Plan, status
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion, heard
from folders import write_folder
from forks import Forked
from whole_run import interrupt, wait_until

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

CLIPS = 6
FAST = RateLimits(retry=RetryPolicy(first_s=0.01, longest_s=0.02))


def verdict(accuracy: int = 8, **more: Any) -> str:
    scores = {"accuracy": accuracy, "completeness": 6, "hallucination": 9, "reasoning": "Good."}
    return json.dumps(scores | more)


def prompt_of(request: Request) -> str:
    content = request.json["messages"][0]["content"]
    return content if isinstance(content, str) else content[0]["text"]


def predicted(request: Request) -> str:
    found = re.search("Model prediction: “(.*)”", prompt_of(request))
    assert found
    return found[1]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None, reply=lambda _request: completion(verdict())) as running:
        yield running


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of clips and a store with a run that answered them; read, or copied."""
    place = tmp_path_factory.mktemp("answered")
    benchmark = open_benchmark(str(write_folder(place / "tones", CLIPS)))
    with Store.open(str(place / "runs.db")) as store:
        run_benchmark(benchmark, create_model("control/right"), store)
    return place


@pytest.fixture
def store(answered: Path, tmp_path: Path) -> Iterator[Store]:
    """A store of its own with that run."""
    with Store.open(str(shutil.copy(answered / "runs.db", tmp_path))) as opened:
        yield opened


@pytest.fixture
def run(store: Store) -> Run:
    """The run."""
    return store.run(1)


def judge_at(server: OpenAIServer, name: str = "gpt", options: str = "") -> ModelJudge:
    judge = create_judge(f"endpoint/{name}@{server.base_url}{options}")
    assert isinstance(judge, ModelJudge)
    return judge


def test_every_answer_is_judged_and_committed(server: OpenAIServer, store: Store, run: Run) -> None:
    judge = judge_at(server)
    end = judge_run(store, run, [judge])
    assert end.stop is None
    assert end.judges[0].statuses == {"ok": CLIPS}
    found = store.judgements(run.id, judge.name)
    assert [one.sample_id for one in found] == [f"tone_{index}" for index in range(CLIPS)]
    assert found[0].scores == {"accuracy": 8, "completeness": 6, "hallucination": 9}
    assert found[0].reasoning == "Good."
    assert found[0].overall == 23 / 3
    assert (found[0].input_tokens, found[0].output_tokens) == (120, 7)


def test_the_judge_is_asked_as_published(server: OpenAIServer, store: Store, run: Run) -> None:
    judge_run(store, run, [judge_at(server)])
    body = server.requests[0].json
    assert body["temperature"] == 0
    assert body["max_tokens"] == 300
    assert [message["role"] for message in body["messages"]] == ["user"]
    wanted = body["response_format"]["json_schema"]
    assert wanted["schema"]["required"][0] == "accuracy"
    answers = {one.reply.text for one in store.outcomes(run.id).values()}
    assert {predicted(request) for request in server.requests} == answers
    for request in server.requests:
        # The reference that the control answered with is no longer a reference.
        references = prompt_of(request).partition("Reference captions")[2]
        assert references.partition("Model prediction")[0].count("  - ") == 1
        assert predicted(request) not in references.partition("Model prediction")[0]


def test_a_verdict_counts_as_published_however_its_reply_ended(
    server: OpenAIServer, store: Store, run: Run
) -> None:
    server.reply = lambda _request: completion(verdict(), finish_reason="content_filter")
    published = judge_run(store, run, [judge_at(server, options="[protocol=published]")])
    assert published.judges[0].statuses == {"ok": CLIPS}
    ours = judge_run(store, run, [judge_at(server)])
    assert ours.judges[0].statuses == {"filtered": CLIPS}


def test_every_judge_of_a_panel_asks_its_own_server_with_its_own_key(
    server: OpenAIServer, store: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = server.reply
    with OpenAIServer(key="sk-panel-0123456789", reply=reply) as paid:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-panel-0123456789")
        monkeypatch.setenv("OPENAI_BASE_URL", paid.base_url)
        monkeypatch.delenv("ENDPOINT_API_KEY", raising=False)
        end = judge_run(store, run, [create_judge("openai/gpt-4.1"), judge_at(server)])
    assert [one.statuses for one in end.judges] == [{"ok": CLIPS}, {"ok": CLIPS}]
    assert {one.json["model"] for one in paid.requests} == {"gpt-4.1"}
    assert {one.json["model"] for one in server.requests} == {"gpt"}
    assert not any("authorization" in one.headers for one in server.requests)


def test_a_judge_can_be_asked_without_a_schema(
    server: OpenAIServer, store: Store, run: Run
) -> None:
    with_schema, without = judge_at(server), judge_at(server, options="[schema=no]")
    judge_run(store, run, [without])
    assert "response_format" not in server.requests[0].json
    assert with_schema.signature != without.signature


def test_only_what_is_missing_is_asked(server: OpenAIServer, store: Store, run: Run) -> None:
    judge = judge_at(server)
    server.plan = Plan([None, None, status(401)])
    end = judge_run(store, run, [judge], rate_limits=RateLimits(concurrency=1))
    assert end.judges[0].fatal is not None
    assert end.judges[0].statuses == {"ok": 2, "failed": CLIPS - 2}
    before = len(server.requests)
    assert len(missing_judgements(store, run, judge)) == CLIPS - 2
    end = judge_run(store, run, [judge])
    assert end.judges[0].known == 2
    assert len(server.requests) - before == CLIPS - 2
    judge_run(store, run, [judge])
    assert len(server.requests) - before == CLIPS - 2


def test_what_judging_will_cost_is_told_by_the_prompts_that_are_sent(
    server: OpenAIServer, store: Store, run: Run, tmp_path: Path
) -> None:
    judge = judge_at(server)
    table = {
        "currency": "USD",
        "unit": "per 1,000,000 tokens",
        "models": {
            judge.model.name: {"text_in": 1.0, "out": 0.0, "source": "x", "as_of": "2026-01-01"}
        },
    }
    (tmp_path / "prices.json").write_text(json.dumps(table))
    missing = missing_judgements(store, run, judge, repeats=2)
    told = preview_judging(
        judge, missing, prices=partial(price_of, overrides=tmp_path / "prices.json")
    )
    assert server.requests == []
    judge_run(store, run, [judge], repeats=2)
    sent = [tokens_of(prompt_of(request)) for request in server.requests]
    assert told.questions == len(sent) == 2 * CLIPS
    assert told.likely_usd == pytest.approx(sum(sent) / 1e6)


def test_another_run_with_the_same_answers_is_judged_from_the_cache(
    server: OpenAIServer, store: Store, run: Run, answered: Path
) -> None:
    judge = judge_at(server)
    judge_run(store, run, [judge])
    benchmark = open_benchmark(str(answered / "tones"))
    again = run_benchmark(benchmark, create_model("control/right"), store, fresh=True).run
    assert again.id != run.id
    end = judge_run(store, again, [judge])
    assert end.judges[0].statuses == {"ok": CLIPS}
    assert len(server.requests) == CLIPS
    judge_run(store, again, [judge], fresh=True)
    assert len(server.requests) == 2 * CLIPS


def test_a_bad_reply_is_asked_again_with_what_was_wrong(
    server: OpenAIServer, store: Store, run: Run
) -> None:
    def reply(request: Request) -> dict[str, Any]:
        again = "could not be used" in prompt_of(request)
        return completion(verdict() if again else verdict(11))

    server.reply = reply
    end = judge_run(store, run, [judge_at(server)])
    assert end.judges[0].statuses == {"ok": CLIPS}
    assert len(server.requests) == 2 * CLIPS
    asked_again = [prompt_of(one) for one in server.requests if "could not" in prompt_of(one)]
    assert all("accuracy must be from 0 to 10" in prompt for prompt in asked_again)
    assert store.judgements(run.id)[0].input_tokens == 240


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (completion("I would say ten out of ten."), "no JSON object"),
        (completion('{"accuracy": 8, "comp', finish_reason="length"), "cut off"),
        (completion(""), "no JSON object"),
    ],
)
def test_replies_that_never_parse_are_unparsed_and_never_zero(
    server: OpenAIServer, store: Store, run: Run, body: dict[str, Any], reason: str
) -> None:
    server.reply = lambda _request: body
    end = judge_run(store, run, [judge_at(server)])
    assert end.judges[0].statuses == {"unparsed": CLIPS}
    assert len(server.requests) == 3 * CLIPS
    found = store.judgements(run.id)[0]
    assert found.status is Status.UNPARSED
    assert found.overall is None
    assert found.scores == {}
    assert reason in (found.error or "")
    judge_run(store, run, [judge_at(server)])
    assert len(server.requests) == 3 * CLIPS


def test_a_reply_cut_off_after_its_scores_is_truncated_and_not_paid_for_again(
    server: OpenAIServer, store: Store, run: Run
) -> None:
    server.reply = lambda _request: completion(verdict()[:-4], finish_reason="length")
    end = judge_run(store, run, [judge_at(server)])
    judge_run(store, run, [judge_at(server)])
    assert end.judges[0].statuses == {"truncated": CLIPS}
    assert len(server.requests) == CLIPS
    name = judge_at(server).name
    summary = summarise(store, run, [], [name]).judges[name]
    assert (summary.judged, summary.failed, summary.failure) == (CLIPS, 0, None)
    assert summary.to_dict()["statuses"] == {"truncated": CLIPS}
    assert summary.overall["overall"].value == store.judgements(run.id)[0].overall


def test_a_refusal_is_kept_as_one(server: OpenAIServer, store: Store, run: Run) -> None:
    server.reply = lambda _request: completion(None, refusal="I cannot judge this.")
    end = judge_run(store, run, [judge_at(server)])
    assert end.judges[0].statuses == {"refused": CLIPS}
    assert len(server.requests) == CLIPS


def test_a_failure_is_asked_again_the_next_time(
    server: OpenAIServer, store: Store, run: Run
) -> None:
    server.plan = Plan(always=status(500))
    end = judge_run(store, run, [judge_at(server)], rate_limits=FAST)
    assert end.judges[0].statuses == {"failed": CLIPS}
    server.plan = Plan()
    end = judge_run(store, run, [judge_at(server)])
    assert end.judges[0].statuses == {"ok": CLIPS}


def test_an_empty_prediction_scores_zero_without_a_call(
    server: OpenAIServer, store: Store, answered: Path
) -> None:
    benchmark = open_benchmark(str(answered / "tones"))
    empty = run_benchmark(benchmark, create_model("control/empty"), store).run
    end = judge_run(store, empty, [judge_at(server)])
    assert end.judges[0].statuses == {"ok": CLIPS}
    assert {one.overall for one in store.judgements(empty.id)} == {0.0}
    assert server.requests == []


def test_each_round_asks_anew_and_only_once(server: OpenAIServer, store: Store, run: Run) -> None:
    judge = judge_at(server)
    judge_run(store, run, [judge])
    end = judge_run(store, run, [judge], repeats=3)
    assert (end.judges[0].total, end.judges[0].known) == (3 * CLIPS, CLIPS)
    assert len(server.requests) == 3 * CLIPS
    assert {one.repeat for one in store.judgements(run.id)} == {0, 1, 2}
    fewer = judge_run(store, run, [judge], repeats=2)
    assert fewer.judges[0].statuses == {"ok": 2 * CLIPS}
    assert len(server.requests) == 3 * CLIPS


def test_several_judges_are_asked_side_by_side(
    server: OpenAIServer, store: Store, run: Run
) -> None:
    both = threading.Barrier(2, timeout=120)

    def reply(request: Request) -> dict[str, Any]:
        both.wait()
        return completion(verdict(9 if request.json["model"] == "kind" else 3))

    server.reply = reply
    judges = [judge_at(server, "kind"), judge_at(server, "strict")]
    judge_run(store, run, judges, rate_limits=RateLimits(concurrency=1))
    scores = {one.judge: one.scores["accuracy"] for one in store.judgements(run.id)}
    assert scores == {judges[0].name: 9, judges[1].name: 3}


def test_another_prompt_or_setting_is_judged_again(
    server: OpenAIServer, store: Store, run: Run
) -> None:
    from dataclasses import replace

    judge = judge_at(server)
    judge_run(store, run, [judge])
    contract = replace(judge.contract, wording=judge.contract.wording + " ")
    changed = replace(judge, contract=contract)
    assert changed.signature != judge.signature
    end = judge_run(store, run, [changed])
    assert end.judges[0].known == 0
    assert {one.signature for one in store.judgements(run.id)} == {changed.signature}


def write_prices(path: Path, model: str) -> Path:
    price = {"text_in": 1000.0, "out": 0.0, "source": "a test", "as_of": "2026-01-01"}
    table = {"currency": "USD", "unit": "per 1,000,000 tokens", "models": {model: price}}
    path.write_text(json.dumps(table))
    return path


def test_costs_are_counted_and_the_budget_ends_the_judging(
    server: OpenAIServer, store: Store, run: Run, tmp_path: Path
) -> None:
    judge = judge_at(server)
    prices = write_prices(tmp_path / "prices.json", judge.model.name)
    budget = Budget(0.6)  # by its length, a prompt is $0.46 and not the $0.12 that the server says
    end = judge_run(
        store,
        run,
        [judge],
        budget=budget,
        prices=partial(price_of, overrides=prices),
        rate_limits=RateLimits(concurrency=1),
    )
    assert end.stop is Stop.BUDGET
    done = end.judges[0].statuses["ok"]
    assert 0 < done < CLIPS
    assert end.judges[0].cost_usd == pytest.approx(0.12 * done)
    assert budget.spent_usd == pytest.approx(0.12 * done)
    assert store.runs()[0].cost_usd in (None, 0.0)
    rest = judge_run(store, run, [judge], prices=partial(price_of, overrides=prices))
    assert rest.stop is None
    assert len(server.requests) == CLIPS


def test_a_hearing_judge_is_sent_the_clip(server: OpenAIServer, store: Store, run: Run) -> None:
    judge = judge_at(server, options="[hears=yes]")
    judge_run(store, run, [judge])
    text, clip = server.requests[0].json["messages"][0]["content"]
    assert "Model prediction: “" in text["text"]
    assert heard(clip).frames == 4000
    assert "hears:yes" in str(judge.signature)
    deaf = judge_at(server)
    assert deaf.name != judge.name
    assert deaf.signature != judge.signature


def test_a_judge_that_takes_no_audio_cannot_hear() -> None:
    with pytest.raises(JudgeError, match="takes no audio"):
        create_judge("control/safe", hears=True)


def test_a_clip_that_cannot_be_read_fails_its_judgement_only(
    server: OpenAIServer, store: Store, tmp_path: Path
) -> None:
    benchmark = open_benchmark(str(write_folder(tmp_path / "own", CLIPS)))
    run = run_benchmark(benchmark, create_model("control/right"), store, fresh=True).run
    (tmp_path / "own" / "clips" / "0.wav").write_bytes(b"gone")
    end = judge_run(store, run, [judge_at(server, options="[hears=yes]")])
    assert end.judges[0].statuses == {"ok": CLIPS - 1, "failed": 1}


def test_progress_hears_of_every_judgement(server: OpenAIServer, store: Store, run: Run) -> None:
    seen: list[str] = []
    planned: list[tuple[str, int, int]] = []
    watch = Progress(lambda *plan: planned.append(plan), lambda one: seen.append(one.sample_id))
    judge = judge_at(server)
    judge_run(store, run, [judge], progress=watch)
    assert planned == [(judge.name, CLIPS, 0)]
    assert sorted(seen) == [f"tone_{index}" for index in range(CLIPS)]


def test_the_same_judge_twice_is_refused(server: OpenAIServer, store: Store, run: Run) -> None:
    with pytest.raises(JudgeError, match="named twice"):
        judge_run(store, run, [judge_at(server), judge_at(server)])
    with pytest.raises(JudgeError, match="at least 1"):
        judge_run(store, run, [judge_at(server)], repeats=0)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("endpoint/m@http://127.0.0.1:1/v1[contract=poetry]", "no contract 'poetry'"),
        ("endpoint/m@http://127.0.0.1:1/v1[volume=11]", "no option 'volume'"),
        ("endpoint/m@http://127.0.0.1:1/v1[hears=maybe]", "yes or no"),
        ("control/safe[schema=yes]", "cannot be held to a schema"),
        ("elements[depth=3]", "no option 'depth'"),
        ("  ", "needs a name"),
    ],
)
def test_a_judge_that_cannot_be_made_says_why(name: str, problem: str) -> None:
    with pytest.raises(JudgeError, match=problem):
        create_judge(name)


def test_a_server_that_knows_no_schemas_is_told_apart(
    server: OpenAIServer, store: Store, run: Run
) -> None:
    body = {"error": {"message": "unknown field response_format", "type": "x", "code": None}}
    server.plan = Plan(always=status(400, json.dumps(body).encode()))
    [refusal] = judge_run(store, run, [judge_at(server)]).refusals
    assert "write [schema=no]" in str(refusal)


SCRIPT = textwrap.dedent(
    """
    import sys
    from audiocapbench.engine import RateLimits
    from audiocapbench.judges import create_judge, judge_run
    from audiocapbench.store import Store

    store = Store.open(sys.argv[1])
    limits = RateLimits(concurrency=2)
    end = judge_run(store, store.run(1), [create_judge(sys.argv[2])], rate_limits=limits)
    print(end.stop)
    """
)


JUDGES = textwrap.dedent(
    """
    import sys
    import audiocapbench as acb

    for name in sys.argv[2:]:
        acb.judge(1, name, store=sys.argv[1], concurrency=CLIPS)
    """
)


@pytest.fixture
def go(server: OpenAIServer) -> threading.Event:
    """No verdict comes before it is set."""
    event = threading.Event()

    def reply(_request: Request) -> dict[str, Any]:
        event.wait(120)
        return completion(verdict())

    server.reply = reply
    return event


def test_ctrl_c_at_the_last_verdict_ends_a_script_that_would_ask_other_judges(
    server: OpenAIServer, store: Store, run: Run, tmp_path: Path, go: threading.Event
) -> None:
    name = judge_at(server).name
    told = ("-c", JUDGES.replace("CLIPS", str(CLIPS)), str(tmp_path / "runs.db"))
    process = Forked(*told, name, "elements", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: len(server.requests) == CLIPS)
    interrupt(process)
    go.set()
    _, err = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in err
    assert {one.judge for one in store.judgements(run.id)} == {name}
    assert len(store.judgements(run.id)) == CLIPS


def test_ctrl_c_finishes_what_is_in_flight_and_keeps_it(
    server: OpenAIServer, store: Store, run: Run, tmp_path: Path, go: threading.Event
) -> None:
    judge = judge_at(server)
    told = ("-c", SCRIPT, str(tmp_path / "runs.db"), judge.name)
    process = Forked(*told, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: len(server.requests) == 2)
    interrupt(process)
    go.set()
    out, err = process.communicate(timeout=120)
    assert (out.strip(), err) == ("interrupted", "")
    assert len(store.judgements(run.id)) == 2
    judge_run(store, run, [judge])
    assert len(server.requests) == CLIPS


def test_a_killed_judging_loses_only_what_was_in_flight(
    server: OpenAIServer, store: Store, run: Run, tmp_path: Path
) -> None:
    def reply(_request: Request) -> dict[str, Any]:
        time.sleep(0.2)
        return completion(verdict())

    server.reply = reply
    judge = judge_at(server)
    process = Forked("-c", SCRIPT, str(tmp_path / "runs.db"), judge.name)
    wait_until(lambda: len(store.judgements(run.id)) >= 2)
    process.kill()
    process.wait()
    kept = len(store.judgements(run.id))
    before = len(server.requests)
    assert before - kept <= 2
    judge_run(store, run, [judge])
    assert len(server.requests) - before == CLIPS - kept
