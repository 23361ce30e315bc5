"""What is made of Gemini's replies, and of a server that misbehaves."""

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from audiocapbench.data.outcome import Status
from audiocapbench.errors import FatalError, ModelError, RefusedQuestionError, TransientError
from fakes import faults
from fakes.faults import Fault, Plan
from fakes.gemini_asking import ask, failure, model, sent, serving
from fakes.gemini_server import KEY, GeminiServer, content, error, retry_info


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GeminiServer]:
    with serving(monkeypatch) as running:
        yield running


def test_the_answer_comes_with_its_tokens_thoughts_included() -> None:
    reply = ask(model())
    assert (reply.text, reply.status, reply.error) == ("A dog barks.", Status.OK, None)
    assert (reply.input_tokens, reply.output_tokens, reply.audio_tokens) == (340, 79, 320)
    assert reply.raw is not None
    assert json.loads(reply.raw)["candidates"][0]["finishReason"] == "STOP"


def thought_then(text: str) -> Any:
    parts = [{"text": "Let me listen.", "thought": True}, {"text": text, "thoughtSignature": "x"}]
    return content(None) | {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (content("A do", "MAX_TOKENS"), Status.TRUNCATED, "A do"),
        (content(None, "MAX_TOKENS"), Status.TRUNCATED, ""),
        (content("A do", "CONTINUATION"), Status.FAILED, ""),
        (content("A do", "SAFETY"), Status.FILTERED, ""),
        (content(None, "PROHIBITED_CONTENT"), Status.FILTERED, ""),
        (content(None, "RECITATION"), Status.FILTERED, ""),
        (content(None, "BLOCKLIST"), Status.FILTERED, ""),
        (content(None, "SPII"), Status.FILTERED, ""),
        ({"promptFeedback": {"blockReason": "OTHER"}}, Status.FILTERED, ""),
        ({"candidates": [], "usageMetadata": {}}, Status.FAILED, ""),
        ({}, Status.FAILED, ""),
        (content(None), Status.EMPTY, ""),
        (content("  \n"), Status.EMPTY, ""),
        (content(None, "OTHER"), Status.FAILED, ""),
        (content("A dog.", "SOMETHING_NEW"), Status.FAILED, ""),
        (content("A dog.", None), Status.FAILED, ""),
        (content("A dog.", "FINISH_REASON_UNSPECIFIED"), Status.FAILED, ""),
        (content("A dog.", "MALFORMED_FUNCTION_CALL"), Status.FAILED, ""),
        (content("A dog.", "IMAGE_SAFETY"), Status.FILTERED, ""),
        (content("A dog.", "NO_IMAGE"), Status.FAILED, ""),
        (thought_then("Rain."), Status.OK, "Rain."),
        (content("**A dog** *barks*."), Status.OK, "A dog barks."),
        ({"candidates": [{"content": {"parts": ["A", 1, None]}}]}, Status.FAILED, ""),
        ({"candidates": ["A"], "usageMetadata": [1]}, Status.FAILED, ""),
    ],
)
def test_every_way_to_end_has_its_status(
    server: GeminiServer, body: Any, status: Status, text: str
) -> None:
    server.reply = lambda _asked: body
    reply = ask(model())
    assert (reply.status, reply.text) == (status, text)
    assert reply.raw is not None
    assert json.loads(reply.raw).keys() == body.keys()


def test_a_filtered_answer_says_by_what(server: GeminiServer) -> None:
    server.reply = lambda _asked: content(None, "SAFETY")
    assert ask(model()).error == "the answer was stopped (SAFETY)"


@pytest.mark.parametrize(
    ("fault", "expected", "words"),
    [
        (faults.status(400), RefusedQuestionError, "answered 400"),
        (faults.status(401), FatalError, "check GEMINI_API_KEY or GOOGLE_API_KEY"),
        (faults.status(403), FatalError, "may not use gemini-2.5-flash"),
        (faults.status(404), FatalError, "check the model id 'gemini-2.5-flash'"),
        (faults.status(408), TransientError, "answered 408"),
        (faults.status(409), TransientError, "answered 409"),
        (faults.status(429), TransientError, "answered 429"),
        (faults.status(500), TransientError, "answered 500"),
        (faults.status(503, b"<html>Back soon</html>"), TransientError, "Back soon"),
        (faults.status(429, error(429, "limit: 0, model: x")), FatalError, "no quota for gemini"),
        (faults.status(400, error(400, "payload size exceeds 1")), ModelError, "too large"),
        (faults.reset(), TransientError, "broke off"),
        (faults.half(), TransientError, "broke off"),
        (faults.malformed(), TransientError, "unreadable"),
        (faults.wrong_type(), TransientError, "unreadable"),
        (faults.body(b""), TransientError, "unreadable"),
        (faults.body(b"[" * 100_000), TransientError, "unreadable"),
        (faults.body(b"[1]"), TransientError, "not a generateContent reply"),
        (faults.body(error(500, "Oh no")), TransientError, "not a generateContent reply"),
    ],
)
def test_a_spoilt_request_says_whether_to_ask_again(
    server: GeminiServer,
    fault: Fault,
    expected: type[ModelError],
    words: str,
) -> None:
    server.plan = Plan([fault])
    asked = model()
    found = failure(asked)
    assert type(found) is expected
    assert words in str(found)
    assert len(server.requests) == 1, "it was asked again unasked"
    assert ask(asked).status is Status.OK


def test_every_way_to_ask_for_patience_is_read(server: GeminiServer) -> None:
    delayed = error(429, "Quota exceeded", "RESOURCE_EXHAUSTED", retry_info("36.5s"))
    odd = error(429, "Quota exceeded", "RESOURCE_EXHAUSTED", retry_info("soon"), "note")
    plan = [
        faults.throttled("7"),
        faults.throttled_until(30, clock=time.time() - 3600),
        faults.status(429, delayed),
        faults.status(429, odd),
        faults.throttled(),
    ]
    server.plan = Plan(plan)
    waits = []
    for _ in plan:
        found = failure(model())
        assert isinstance(found, TransientError)
        assert found.throttled
        waits.append(found.retry_after_s)
    assert waits == [7.0, 30.0, 36.5, None, None]


@pytest.mark.parametrize("fault", [faults.hang(), faults.drip(0.05)], ids=["hang", "drip"])
def test_an_answer_that_takes_too_long_is_given_up(server: GeminiServer, fault: Fault) -> None:
    server.plan = Plan([fault])
    found = failure(model(timeout=0.8))
    assert isinstance(found, TransientError)
    assert "did not answer within 0.8 s" in str(found)


def test_a_wrong_key_is_fatal_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "AIza-wrong-0123456789abcdef"
    monkeypatch.setenv("GEMINI_API_KEY", wrong)
    found = failure(model())
    assert isinstance(found, FatalError)
    assert "check GEMINI_API_KEY or GOOGLE_API_KEY" in str(found)
    assert wrong not in str(found)


def test_neither_key_nor_audio_is_repeated(server: GeminiServer) -> None:
    echoed = base64.b64encode(sent().content).decode()
    said = f"Cannot read {echoed} with {KEY}"
    server.plan = Plan([faults.status(400, error(400, said)), faults.body(said.encode())])
    for _ in range(2):
        assert echoed[:100] not in str(failure(model()))
    server.reply = lambda _asked: content(said)
    reply = ask(model())
    assert reply.raw is not None
    assert echoed[:100] not in reply.raw
    assert KEY not in reply.raw
