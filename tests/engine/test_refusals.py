"""What a provider refuses: one question, which fails alone, or all of them, which ends the run."""

import json
from collections.abc import Callable, Iterator

import pytest

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

from audiocapbench.benchmarks import Benchmark, Selection, open_benchmark
from audiocapbench.engine import RateLimits, RetryPolicy, RunEnd, run_benchmark
from audiocapbench.engine.outage import MOST_REFUSED
from audiocapbench.errors import FatalError
from audiocapbench.judges import create_judge, judge_run
from audiocapbench.models import create_model
from audiocapbench.store import Run, Store
from fakes import faults
from fakes.faults import Fault, Plan
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder

CLIPS, MANY = 12, 24
ONE_BY_ONE = RateLimits(concurrency=1, retry=RetryPolicy(first_s=0.01, longest_s=0.02))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None) as running:
        yield running


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return open_benchmark(str(write_folder(tmp_path_factory.mktemp("tones"), MANY)))


@pytest.fixture
def asked(server: OpenAIServer, tones: Benchmark, store: Store) -> Callable[..., RunEnd]:
    name = f"endpoint/fake@{server.base_url}"
    return lambda clips=CLIPS: run_benchmark(
        tones,
        create_model(name),
        store,
        selection=Selection(limit=clips),
        rate_limits=ONE_BY_ONE,
    )


def judged_run(tones: Benchmark, store: Store) -> Run:
    chosen = Selection(limit=CLIPS)
    return run_benchmark(tones, create_model("control/safe"), store, selection=chosen).run


def refusal(status: int, message: str = "Invalid audio", code: str | None = None) -> Fault:
    said = {"error": {"message": message, "type": "invalid_request_error", "code": code}}
    return faults.status(status, json.dumps(said).encode())


def test_clips_that_are_refused_after_others_were_answered_fail_alone(
    server: OpenAIServer, asked: Callable[..., RunEnd], store: Store
) -> None:
    refused = [
        *map(refusal, (400, 405, 406, 411, 413, 414, 415, 418, 422, 431, 451)),
        refusal(400, "too long", "context_length_exceeded"),
        refusal(400, "The model could not read this audio", "invalid_value"),
        refusal(403, "Your input was flagged by moderation"),
        refusal(403, "You have no permission to access the File abc, or it may not exist"),
        refusal(404, "No such File object: file-abc"),
        faults.status(400, b""),
        faults.status(422, b'{"detail": [{"loc": ["body"], "msg": "value is not a valid"}]}'),
        faults.status(403, b"<html><title>Attention Required!</title></html>"),
    ]
    server.plan = Plan([None, None, None, *refused])
    end = asked(MANY)
    others = MANY - len(refused)
    assert (end.stop, end.statuses) == (None, {"ok": others, "failed": len(refused)})
    found = store.outcomes(end.run.id)
    for place, fault in enumerate(refused):
        assert f"answered {fault.status}" in str(found[f"tone_{3 + place}"].reply.error)
    again = asked(MANY)
    assert (again.known, again.statuses) == (others, {"ok": MANY})
    assert len(server.requests) == MANY + len(refused)


@pytest.mark.parametrize("answered_after", [1, MOST_REFUSED - 1])
def test_refusals_before_the_first_answer_are_failures_once_there_is_one(
    server: OpenAIServer, asked: Callable[..., RunEnd], answered_after: int
) -> None:
    server.plan = Plan([refusal(400)] * answered_after)
    assert asked().statuses == {"ok": CLIPS - answered_after, "failed": answered_after}


def test_a_provider_that_refuses_the_first_questions_alike_is_asked_no_more(
    server: OpenAIServer, asked: Callable[..., RunEnd], store: Store
) -> None:
    server.plan = Plan(always=refusal(400, "temperature is not supported", "unsupported_value"))
    with pytest.raises(FatalError) as caught:
        asked()
    assert len(server.requests) == MOST_REFUSED
    for words in ("temperature is not supported", "settings", "were all refused", "tone_7"):
        assert words in str(caught.value)
    assert store.runs()[0].statuses == {"failed": MOST_REFUSED - 1}
    # What failed waits until the others had their turn, and all of it is asked again.
    server.plan = Plan()
    assert asked().statuses == {"ok": CLIPS}


def test_refusals_for_different_reasons_do_not_end_a_run(
    server: OpenAIServer, asked: Callable[..., RunEnd]
) -> None:
    kinds = [refusal(400, code=f"reason_{one}") for one in range(MOST_REFUSED + 2)]
    server.plan = Plan(kinds)
    assert asked().statuses == {"ok": CLIPS - len(kinds), "failed": len(kinds)}


def test_a_run_whose_last_clips_are_always_refused_still_ends(
    server: OpenAIServer, asked: Callable[..., RunEnd]
) -> None:
    server.plan = Plan([None] * 4, always=refusal(422))
    for known in (0, 4, 4):
        end = asked()
        assert (end.known, end.stop, end.statuses) == (known, None, {"ok": 4, "failed": CLIPS - 4})


EVERY_QUESTION = (
    (refusal(403, "no"), "may not use fake"),
    (refusal(404, "no"), "check the model id 'fake'"),
    (refusal(404, "The model `fake` does not exist."), "check the model id 'fake'"),
    (refusal(400, "The model `fake` does not exist"), "check the model id 'fake'"),
    (refusal(400, "no", "model_not_found"), "check the model id 'fake'"),
    (refusal(400, "Your credit balance is too low"), "billing page"),
    (refusal(402, "no"), "billing page"),
    (refusal(429, "no", "insufficient_quota"), "billing page"),
    (refusal(400, "no", "unknown_parameter"), "settings"),
    (refusal(400, "The model input stream was not found"), "check the model id 'fake'"),
)


def test_what_is_true_of_every_question_ends_a_run_without_answers_at_once_and_names_the_clip(
    server: OpenAIServer, asked: Callable[..., RunEnd]
) -> None:
    for number, (fault, hint) in enumerate(EVERY_QUESTION):
        server.plan = Plan([fault])
        with pytest.raises(FatalError) as caught:
            asked()
        assert hint in str(caught.value)
        assert "tone_0" in str(caught.value)
        assert len(server.requests) == number + 1
    assert asked().statuses == {"ok": CLIPS}


def test_what_is_said_of_every_question_after_answers_is_one_clip_s_failure_every_time(
    server: OpenAIServer, asked: Callable[..., RunEnd], store: Store
) -> None:
    said = [fault for fault, _ in EVERY_QUESTION]
    server.plan = Plan([None, *(one for fault in said for one in (None, fault))])
    end = asked(MANY)
    failed = len(said)
    assert (end.stop, end.statuses) == (None, {"ok": MANY - failed, "failed": failed})
    found = store.outcomes(end.run.id)
    for place, (_, hint) in enumerate(EVERY_QUESTION):
        assert hint in str(found[f"tone_{2 + 2 * place}"].reply.error)
    # The next command knows by the stored answers that key, model and payment were right.
    some = MOST_REFUSED - 1
    for part in (said[:some], said[-some:]):
        server.plan = Plan(part)
        assert asked(MANY).statuses == {"ok": MANY - some, "failed": some}


@pytest.mark.parametrize("status", [402, 403, 404])
def test_a_provider_that_stops_answering_for_good_is_asked_no_more_and_answers_are_kept(
    server: OpenAIServer, asked: Callable[..., RunEnd], store: Store, status: int
) -> None:
    server.plan = Plan([None, None], always=refusal(status, "no"))
    with pytest.raises(FatalError, match=f"{MOST_REFUSED} last questions"):
        asked()
    assert len(server.requests) == 2 + MOST_REFUSED
    assert store.runs()[0].statuses["ok"] == 2
    some = [refusal(status, "no")] * (MOST_REFUSED - 1)
    server.plan = Plan([*some, None, *some[:2]])
    assert asked().statuses == {"ok": 3, "failed": CLIPS - 3}


@pytest.mark.parametrize(
    "fault", [refusal(401, "no"), refusal(400, "API key expired. Please renew the API key.")]
)
def test_a_key_that_is_no_longer_valid_ends_the_run_at_once_whatever_was_answered(
    server: OpenAIServer, asked: Callable[..., RunEnd], fault: Fault
) -> None:
    server.plan = Plan([None, None, fault])
    with pytest.raises(FatalError, match=r"check ENDPOINT_API_KEY.*tone_2"):
        asked()
    assert len(server.requests) == 3
    assert asked().statuses == {"ok": CLIPS}


VERDICT = '{"accuracy": 8, "completeness": 6, "hallucination": 9, "reasoning": "Good."}'


def test_an_answer_that_a_judge_refuses_is_one_failed_judgement(
    server: OpenAIServer, tones: Benchmark, store: Store
) -> None:
    run = judged_run(tones, store)
    server.reply = lambda _request: completion(VERDICT)
    server.plan = Plan([None, refusal(400, "prompt is too long", "string_above_max_length")])
    judge = create_judge(f"endpoint/fake@{server.base_url}")
    end = judge_run(store, run, [judge], rate_limits=ONE_BY_ONE)
    assert (end.stop, end.judges[0].statuses) == (None, {"ok": CLIPS - 1, "failed": 1})
    for status in (402, 403, 404, 422):
        server.plan = Plan(always=refusal(status))
        end = judge_run(store, run, [judge], rate_limits=ONE_BY_ONE)
        assert (end.refusals, end.judges[0].statuses) == ([], {"ok": CLIPS - 1, "failed": 1})


def test_a_judge_that_refuses_the_first_answers_alike_is_asked_no_more(
    server: OpenAIServer, tones: Benchmark, store: Store
) -> None:
    run = judged_run(tones, store)
    server.plan = Plan(always=refusal(422))
    judge = create_judge(f"endpoint/fake@{server.base_url}")
    [fatal] = judge_run(store, run, [judge], rate_limits=ONE_BY_ONE, repeats=2).refusals
    assert "were all refused" in str(fatal)
    assert len(server.requests) == MOST_REFUSED


def test_a_judge_that_takes_no_schema_says_so_at_the_first_question(
    server: OpenAIServer, tones: Benchmark, store: Store
) -> None:
    run = judged_run(tones, store)
    server.plan = Plan(always=refusal(400, "response_format json_schema is not supported"))
    judge = create_judge(f"endpoint/fake@{server.base_url}")
    [fatal] = judge_run(store, run, [judge], rate_limits=ONE_BY_ONE).refusals
    assert "[schema=no]" in str(fatal)
    assert len(server.requests) == 1
