"""``openai/…`` against a real server on loopback."""

import base64
import json
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import FatalError, ModelError, RefusedQuestionError, TransientError
from audiocapbench.models import Question, create_model
from audiocapbench.models.model import ModelSettings
from audiocapbench.models.openai_chat import PROVIDER, ChatModel, create
from fakes import faults
from fakes.faults import Fault, Plan
from fakes.openai_server import OpenAIServer, completion, heard
from fakes.questions import INSTRUCTION, ask, question

KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer(key=KEY) as running:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        yield running


@pytest.fixture
def asked(tmp_path: Path) -> Question:
    return question(tmp_path, PROVIDER.contract)


def model(name: str = "openai/gpt-audio", **settings: Any) -> ChatModel:
    return create(name, ModelSettings(**{"timeout": 5.0, **settings}))


def reply_to(server: OpenAIServer, asked: Question, body: dict[str, Any]) -> Reply:
    server.reply = lambda _request: body
    return ask(model(), asked)[0]


def failure(server: OpenAIServer, asked: Question, fault: Fault, **settings: Any) -> ModelError:
    server.plan = Plan(always=fault)
    with pytest.raises(ModelError) as caught:
        ask(model(**settings), asked)
    return caught.value


def test_every_byte_that_arrives_is_as_the_protocol_wants_it(
    server: OpenAIServer, asked: Question
) -> None:
    ask(model(), asked)
    [request] = server.requests
    assert request.method == "POST"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    body = request.json
    [message] = body.pop("messages")
    assert body == {"model": "gpt-audio", "temperature": 0.0, "modalities": ["text"]}
    assert message["role"] == "user"
    instruction, sound = message["content"]
    assert instruction == {"type": "text", "text": INSTRUCTION}
    arrived = heard(sound)
    assert asked.audio is not None
    assert arrived.content == asked.audio.content
    assert (arrived.rate, arrived.channels, arrived.bits) == (22050, 1, 16)
    assert arrived.frames == 22050


def test_the_account_is_named_as_the_environment_says(
    server: OpenAIServer, asked: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: a:b\n\nnonsense\nX-Cost : 7 ")
    ask(model(), asked)
    headers = server.requests[0].headers
    assert (headers["openai-organization"], headers["x-team"]) == ("org-1", "a:b")
    assert (headers["x-cost"], headers.get("openai-project")) == ("7", None)
    assert headers["user-agent"].startswith("audiocapbench/")


def test_questions_share_connections_and_those_of_a_burst_are_few_again_later(
    server: OpenAIServer, asked: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audiocapbench.models.http_client._MOST_IDLE", 2)

    async def burst(one: ChatModel, count: int) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(count):
                group.start_soon(one.answer, asked)

    async def bursts() -> None:
        one = model()
        for _ in range(3):
            await burst(one, 1)
        assert server.connections == 1
        await burst(one, 5)
        assert server.connections == 5
        await burst(one, 5)
        assert server.connections == 8, "no more than two were kept"
        await one.aclose()

    anyio.run(bursts)
    assert len(server.requests) == 13


def test_connections_that_idle_for_long_are_closed_while_others_ask(
    server: OpenAIServer, asked: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audiocapbench.models.http_client._IDLE_S", -1.0)

    async def rounds(one: ChatModel, replies: list[Reply]) -> None:
        for _ in range(5):
            replies += [await one.answer(asked)]

    async def side_by_side() -> list[Reply]:
        one, replies = model(), list[Reply]()
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(rounds, one, replies)
        await one.aclose()
        return replies

    assert len(anyio.run(side_by_side)) == len(server.requests) == server.connections == 40


def test_a_proxy_of_the_environment_is_asked(
    server: OpenAIServer, asked: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://nowhere.invalid/v1")
    with pytest.raises(FatalError, match="fault 404"):  # the server knows no such path
        ask(model(), asked)
    assert server.requests[0].path == "http://nowhere.invalid/v1/chat/completions"


def test_an_error_without_a_message_is_told_as_it_is(server: OpenAIServer, asked: Question) -> None:
    assert '"why": 3' in str(failure(server, asked, faults.status(500, b'{"error": {"why": 3}}')))
    assert "no reason given" in str(failure(server, asked, faults.status(500, b"")))


def test_the_sdk_is_not_loaded_to_ask(server: OpenAIServer) -> None:
    script = (
        "import sys, anyio; from audiocapbench.models import Question, create_model\n"
        "reply = anyio.run(create_model('openai/gpt-4.1').answer, Question('a', 'Hello?', None))\n"
        "assert reply.text and 'openai' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_answer_comes_with_tokens_and_its_raw_reply(
    server: OpenAIServer, asked: Question
) -> None:
    reply = reply_to(server, asked, completion("A dog barks\n\n\n\ntwice."))
    assert reply.text == "A dog barks\n\ntwice."
    assert (reply.status, reply.error) == (Status.OK, None)
    assert (reply.input_tokens, reply.output_tokens) == (120, 7)
    assert json.loads(reply.raw or "")["id"] == "chatcmpl-1"


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (completion(None, refusal="I cannot help with that."), Status.REFUSED, ""),
        (completion("A do", finish_reason="content_filter"), Status.FILTERED, ""),
        (completion("A dog ba", finish_reason="length"), Status.TRUNCATED, "A dog ba"),
        (completion("", finish_reason="length"), Status.TRUNCATED, ""),
        (completion(""), Status.EMPTY, ""),
        (completion(" \n\t "), Status.EMPTY, ""),
        (completion(None), Status.EMPTY, ""),
        (completion("![](http://a.b/c.png)"), Status.EMPTY, ""),
        (completion() | {"choices": []}, Status.FAILED, ""),
    ],
)
def test_what_is_no_caption_has_a_status_of_its_own(
    server: OpenAIServer, asked: Question, body: dict[str, Any], status: Status, text: str
) -> None:
    reply = reply_to(server, asked, body)
    assert (reply.status, reply.text) == (status, text)
    assert reply.input_tokens == 120
    assert json.loads(reply.raw or "")["choices"] == body["choices"]


@pytest.mark.parametrize("status", [400, 200])
def test_a_filter_that_answers_with_an_error_is_filtered_not_failed(
    server: OpenAIServer, asked: Question, status: int
) -> None:
    said = {"error": {"message": "policy", "code": "content_policy_violation", "type": "x"}}
    server.plan = Plan([faults.status(status, json.dumps(said).encode())])
    [reply] = ask(model(), asked)
    assert reply.status is Status.FILTERED
    assert "policy" in (reply.error or "")


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 529])
def test_what_may_pass_is_transient_and_asked_only_once(
    server: OpenAIServer, asked: Question, code: int
) -> None:
    error = failure(server, asked, faults.status(code))
    assert isinstance(error, TransientError)
    assert error.throttled is (code == 429)
    assert error.retry_after_s is None
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        (faults.throttled("7"), 7.0),
        (faults.throttled("0.25"), 0.25),
        (faults.throttled("soon"), None),
        (faults.throttled("-3"), None),
        (faults.throttled("Wed, 99 Foo 2026 00:00:00 GMT"), None),
        (faults.status(429, retry_after_ms="1500", retry_after="9"), 1.5),
        (faults.status(503, retry_after="20"), 20.0),
        (
            faults.status(429, x_ratelimit_remaining_tokens="0", x_ratelimit_reset_tokens="1m1.5s"),
            61.5,
        ),
        (
            faults.status(429, x_ratelimit_remaining_tokens="5", x_ratelimit_reset_tokens="1m1.5s"),
            None,
        ),
    ],
)
def test_a_provider_that_says_when_to_come_back_is_heard(
    server: OpenAIServer, asked: Question, fault: Fault, seconds: float | None
) -> None:
    error = failure(server, asked, fault)
    assert isinstance(error, TransientError)
    assert error.retry_after_s == seconds


@pytest.mark.parametrize("skew_s", [0.0, 86400.0, -86400.0])
def test_a_date_to_come_back_is_read_by_the_servers_own_clock(
    server: OpenAIServer, asked: Question, skew_s: float
) -> None:
    fault = faults.throttled_until(30, clock=time.time() + skew_s)
    error = failure(server, asked, fault)
    assert isinstance(error, TransientError)
    assert error.retry_after_s == 30.0


@pytest.mark.parametrize(
    "fault",
    [faults.reset(), faults.half(), faults.malformed(), faults.wrong_type()]
    + [faults.body(one) for one in (b"", b"null", b"[]", b"3", b'"x"', b"{}", b"[" * 100_000)]
    + [faults.body(b'{"choices": 3}'), faults.body(b'{"error": {"message": "overloaded"}}')]
    + [faults.body(b"\xff\xfe\x00", "application/json")],
)
def test_a_reply_that_cannot_be_read_is_transient(
    server: OpenAIServer, asked: Question, fault: Fault
) -> None:
    assert isinstance(failure(server, asked, fault), TransientError)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"code": 402, "message": "No credits"}, FatalError),
        ({"code": "invalid_api_key", "message": "No"}, FatalError),
        ({"code": 400, "message": "Provider returned error"}, RefusedQuestionError),
        ({"code": 429, "message": "Rate limited upstream"}, TransientError),
        ({"message": "overloaded"}, TransientError),
        ({"code": 7, "message": "odd"}, TransientError),
    ],
)
def test_an_error_told_in_place_of_an_answer_counts_as_its_status(
    server: OpenAIServer, asked: Question, told: dict[str, Any], expected: type[ModelError]
) -> None:
    error = failure(server, asked, faults.body(json.dumps({"error": told}).encode()))
    assert type(error) is expected
    assert told["message"] in str(error)


@pytest.mark.parametrize(
    "told",
    [{"code": code} for code in ("rate_limit_exceeded", "too_many_requests", "429", 429)]
    + [{"type": "rate_limit_error"}, {"code": "Throttling.RateQuota"}],
)
def test_too_many_questions_told_in_place_of_an_answer_is_throttling(
    server: OpenAIServer, asked: Question, told: dict[str, Any]
) -> None:
    error = failure(server, asked, faults.body(json.dumps({"error": told}).encode()))
    assert isinstance(error, TransientError)
    assert error.throttled


def test_oddly_shaped_choices_are_an_answer_or_empty_never_a_crash(
    server: OpenAIServer, asked: Question
) -> None:
    parts = [{"type": "text", "text": "A dog "}, {"type": "text", "text": "barks."}, 3]
    odd = completion()
    for message, text in [({"content": parts}, "A dog barks."), ({"content": 3}, ""), (3, "")]:
        odd["choices"][0]["message"] = message
        odd["usage"] = {"prompt_tokens": "many", "completion_tokens": -1}
        reply = reply_to(server, asked, odd)
        assert reply.text == text
        assert (reply.input_tokens, reply.output_tokens) == (None, None)


@pytest.mark.parametrize("fault", [faults.hang(), faults.drip(0.05)])
def test_the_timeout_is_for_the_whole_answer_however_slowly_it_drips(
    server: OpenAIServer, asked: Question, fault: Fault
) -> None:
    error = failure(server, asked, fault, timeout=0.4)
    assert isinstance(error, TransientError)
    assert "within 0.4 s" in str(error)


def test_a_server_that_is_not_there_is_transient(
    monkeypatch: pytest.MonkeyPatch, asked: Question
) -> None:
    with OpenAIServer(key=KEY) as gone:
        url = gone.base_url
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(TransientError, match="could not be reached"):
        ask(model(), asked)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (402, "billing page"),
        (401, "OPENAI_API_KEY"),
        (403, "may not use gpt-audio"),
        (404, "'gpt-audio' and OPENAI_BASE_URL"),
    ],
)
def test_what_will_not_pass_says_what_to_mend(
    server: OpenAIServer, asked: Question, code: int, hint: str
) -> None:
    error = failure(server, asked, faults.status(code))
    assert isinstance(error, FatalError)
    assert hint in str(error)
    assert f"fault {code}" in str(error)


@pytest.mark.parametrize("code", [400, 415, 422])
def test_what_one_question_is_refused_for_says_what_to_mend_if_all_are(
    server: OpenAIServer, asked: Question, code: int
) -> None:
    error = failure(server, asked, faults.status(code))
    assert isinstance(error, RefusedQuestionError)
    assert "settings" in str(error)
    assert f"fault {code}" in str(error)


def test_an_account_without_credit_is_not_asked_again(
    server: OpenAIServer, asked: Question
) -> None:
    said = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    error = failure(server, asked, faults.status(429, json.dumps(said).encode()))
    assert isinstance(error, FatalError)
    assert "billing" in str(error)


def test_a_clip_too_large_fails_alone_and_does_not_stop_the_run(
    server: OpenAIServer, asked: Question
) -> None:
    error = failure(server, asked, faults.status(413))
    assert not isinstance(error, FatalError | TransientError)


def test_no_key_and_no_audio_gets_into_errors_raw_replies_or_logs(
    server: OpenAIServer, asked: Question, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    assert asked.audio is not None
    sound = base64.b64encode(asked.audio.content).decode()
    said = {"error": {"message": f"bad input {sound} from {KEY}", "code": None}}
    error = failure(server, asked, faults.status(400, json.dumps(said).encode()))
    server.plan = Plan()
    echo = completion(f"A dog. {KEY}", audio={"id": "a", "data": sound, "transcript": "A dog."})
    raw = reply_to(server, asked, echo | {"prompt": f"data:audio/wav;base64,{sound}"}).raw or ""
    for text in (str(error), raw, caplog.text):
        assert KEY not in text
        assert sound[:200] not in text
    assert "A dog." in raw
    assert len(str(error)) < 500


def test_a_hostile_answer_is_kept_as_it_is_and_its_raw_reply_can_be_stored(
    server: OpenAIServer, asked: Question
) -> None:
    hostile = "\0 \u202e emoji \U0001f415 " + "word " * 20_000
    reply = reply_to(server, asked, completion(hostile))
    assert reply.text == hostile.strip()
    assert (reply.raw or "").isascii()
    assert "\0" not in (reply.raw or "")


def test_settings_of_the_user_win_over_those_of_the_paper(
    server: OpenAIServer, asked: Question
) -> None:
    one = model(temperature=0.7, max_tokens=64)
    ask(one, asked)
    body = server.requests[0].json
    assert (body["temperature"], body["max_completion_tokens"]) == (0.7, 64)
    assert one.parameters["temperature"] == 0.7
    assert one.parameters["max_completion_tokens"] == 64
    assert str(one.parameters["host"]).startswith("127.0.0.1:")
    assert KEY not in str(one.parameters)


def test_a_model_that_the_paper_does_not_know_is_asked_at_temperature_zero(
    server: OpenAIServer, asked: Question
) -> None:
    ask(model("openai/some/new-model"), asked)
    assert server.requests[0].json["model"] == "some/new-model"
    assert server.requests[0].json["temperature"] == 0.0


def test_one_model_answers_in_one_event_loop_after_another(
    server: OpenAIServer, asked: Question
) -> None:
    one = model()
    for _ in range(3):
        assert [reply.status for reply in ask(one, asked, asked)] == [Status.OK, Status.OK]
    assert len(server.requests) == 6


def test_after_faults_the_same_model_answers_again(server: OpenAIServer, asked: Question) -> None:
    plan = [faults.reset(), faults.half(), faults.status(500), faults.malformed()]
    server.plan = Plan(plan)

    async def until_it_answers() -> tuple[int, Reply]:
        one, tries = model(), 0
        while True:
            try:
                reply = await one.answer(asked)
                await one.aclose()
                return tries, reply
            except TransientError:
                tries += 1

    tries, reply = anyio.run(until_it_answers)
    assert tries == len(plan)
    assert reply.text == "A dog barks."


def test_a_judge_may_ask_with_text_alone_and_a_schema(server: OpenAIServer) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object"}}}
    verdict = '{"accuracy": 9, "reasoning": "see [1](http://a.b)"}'
    server.reply = lambda _request: completion(verdict)
    judge = model("openai/gpt-4.1", max_tokens=300)

    async def judged() -> Reply:
        try:
            messages = [{"role": "user", "content": "Score this."}]
            return await judge.complete(messages, response_format=schema)
        finally:
            await judge.aclose()

    assert anyio.run(judged).text == verdict
    body = server.requests[0].json
    assert body["response_format"] == schema
    assert body["messages"] == [{"role": "user", "content": "Score this."}]
    assert "modalities" not in body


def test_a_question_without_audio_is_sent_as_text(server: OpenAIServer) -> None:
    ask(model("openai/gpt-4.1"), Question("a", "Say hello.", None))
    assert server.requests[0].json["messages"] == [{"role": "user", "content": "Say hello."}]


def test_a_missing_key_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        model()


@pytest.mark.parametrize("key", ["sk-wörd-0123456789", "sk with space 012", "sk-a\nb-0123456789"])
def test_a_key_that_no_header_takes_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ModelError, match="OPENAI_API_KEY holds") as caught:
        model()
    assert key not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:1", "ftp://a/b", "http://", "http://u:p@h/v1"])
def test_an_address_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(ModelError, match="OPENAI_BASE_URL"):
        model()


def test_a_name_without_a_model_is_refused() -> None:
    with pytest.raises(ModelError, match="names no model"):
        create_model("openai/")


def choice(**changes: Any) -> dict[str, Any]:
    """A completion whose only choice is changed."""
    body = completion()
    body["choices"][0] |= changes
    return body


def message(**changes: Any) -> dict[str, Any]:
    """A completion whose message is changed."""
    return choice(message={"role": "assistant", **changes})


CALL = {"id": "1", "type": "function", "function": {"name": "caption", "arguments": "{}"}}
TWO = [completion("No.")["choices"][0] | {"index": 1}, completion("Yes.")["choices"][0]]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (choice(finish_reason="abort"), "failed", "ended as 'abort'"),
        (choice(finish_reason="error"), "failed", "ended as 'error'"),
        (choice(finish_reason="never_heard_of"), "failed", "never_heard_of"),
        (choice(finish_reason=None), "failed", "did not say how its answer ended"),
        (choice(finish_reason=3), "failed", "ended as '3'"),
        (choice(finish_reason=["stop"]), "failed", "ended as"),
        (choice(finish_reason="tool_calls"), "failed", "tool_calls"),
        (choice(error={"code": 502, "message": "Upstream died"}), "failed", "Upstream died"),
        (choice(error="Upstream died"), "failed", "Upstream died"),
        (completion() | {"error": {"message": "Upstream died"}}, "failed", "Upstream died"),
        (choice(index=1), "failed", "no answer"),
        (choice(index="0"), "failed", "no answer"),
        (completion() | {"choices": [*TWO, TWO[1]]}, "failed", "no answer"),
        (completion() | {"choices": ["A dog barks."]}, "failed", "no answer"),
        (choice(message="A dog barks."), "failed", "no answer"),
        (message(content=None, tool_calls=[CALL]), "failed", "called a tool"),
        (message(content=[{"type": "refusal", "refusal": "I cannot."}]), "refused", "I cannot."),
        (message(content=[{"type": "thinking", "text": "Hm."}]), "empty", ""),
        (message(content=None, reasoning_content="A dog, maybe."), "empty", ""),
        (message(content={"text": "A dog barks."}), "failed", "no text"),
        (choice(finish_reason="max_tokens"), "truncated", "limit"),
        (choice(finish_reason="sensitive"), "filtered", "sensitive"),
    ],
)
def test_only_a_known_good_ending_is_an_answer(
    server: OpenAIServer, asked: Question, body: dict[str, Any], status: str, words: str
) -> None:
    reply = reply_to(server, asked, body)
    assert reply.status == status
    assert words in (reply.error or "")
    assert reply.text == ("A dog barks." if status == "truncated" else "")
    assert reply.raw is not None


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (completion() | {"choices": TWO}, "Yes."),
        (choice(index=None), "A dog barks."),
        (choice(finish_reason="STOP"), "A dog barks."),
        (choice(finish_reason="eos_token"), "A dog barks."),
        (message(content=[{"type": "thinking", "text": "Hm."}, {"text": "Rain."}]), "Rain."),
        (message(content="Rain.", tool_calls=[]), "Rain."),
    ],
)
def test_the_choice_of_number_zero_is_the_answer(
    server: OpenAIServer, asked: Question, body: dict[str, Any], text: str
) -> None:
    reply = reply_to(server, asked, body)
    assert (reply.status, reply.text) == (Status.OK, text)


@pytest.mark.parametrize("count", [10**20, -1, 1.5, "many", None, True, [1], 1e308])
def test_absurd_usage_is_read_without_harm(
    server: OpenAIServer, asked: Question, count: Any
) -> None:
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage = dict.fromkeys(names, count) | {"prompt_tokens_details": {"audio_tokens": count}}
    assert reply_to(server, asked, completion() | {"usage": usage}).text == "A dog barks."
