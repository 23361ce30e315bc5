"""What the Realtime model makes of a server that misbehaves in every way that the API has."""

import base64
import time
from collections.abc import Iterator

import pytest

from needs import needs

needs("websockets")

from audiocapbench.data.outcome import Status
from audiocapbench.errors import FatalError, ModelError, RefusedQuestionError, TransientError
from audiocapbench.models.model import ModelSettings
from audiocapbench.models.openai_realtime import create
from fakes import faults
from fakes.faults import Fault, Plan
from fakes.realtime_asking import GA, ask, failure, model, sent, serving
from fakes.realtime_server import KEY, RealtimeServer, close, error_event, response


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RealtimeServer]:
    with serving(monkeypatch) as running:
        yield running


FAILURES = [
    ("invalid_request_error", "invalid_api_key", FatalError, "check OPENAI_API_KEY"),
    ("invalid_request_error", "model_not_found", FatalError, "check the model id 'gpt-"),
    ("insufficient_quota", "insufficient_quota", FatalError, "no credit left"),
    ("invalid_request_error", "unknown_parameter", FatalError, "not accepted"),
    ("invalid_request_error", "invalid_value", RefusedQuestionError, "not accepted"),
    ("not_found_error", "item_not_found", RefusedQuestionError, "Oh no"),
    ("server_error", None, TransientError, "reported: Oh no"),
    ("invalid_request_error", "session_expired", TransientError, "Oh no"),
    ("something_new", "never_heard_of", TransientError, "Oh no"),
    ("invalid_request_error", "input_audio_buffer_commit_empty", ModelError, "Oh no"),
]


@pytest.mark.parametrize(("kind", "code", "expected", "words"), FAILURES)
@pytest.mark.parametrize("way", ["event", "failed response"])
def test_reported_errors_say_whether_to_ask_again(
    server: RealtimeServer,
    kind: str,
    code: str | None,
    expected: type[ModelError],
    words: str,
    way: str,
) -> None:
    if way == "event":
        server.plan = Plan([error_event(kind, code, "Oh no.")])
    else:
        error = {"type": kind, "code": code, "message": "Oh no."}
        server.respond = lambda _heard: response(None, status="failed", error=error)
    found = failure(model())
    assert type(found) is expected
    assert words in str(found)


@pytest.mark.parametrize(
    ("message", "wait"),
    [
        ("Rate limit reached. Please try again in 1.5s.", 1.5),
        ("Please try again in 250ms.", 0.25),
        ("Please try again in 1m2s.", 62.0),
        ("Too many tokens.", 17.5),
        ("Please try again in a while.", 17.5),
        ("Please try again in 1.2.3s.", 17.5),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(
    server: RealtimeServer, message: str, wait: float
) -> None:
    server.limits = [
        {"name": "requests", "limit": 100, "remaining": 3, "reset_seconds": 90},
        {"name": "tokens", "limit": 5000, "remaining": 0, "reset_seconds": 17.5},
    ]
    error = {"type": "tokens", "code": "rate_limit_exceeded", "message": message}
    server.respond = lambda _heard: response(None, status="failed", error=error)
    found = failure(model())
    assert isinstance(found, TransientError)
    assert (found.throttled, found.retry_after_s) == (True, wait)


def test_a_cancelled_response_is_asked_again(server: RealtimeServer) -> None:
    server.respond = lambda _heard: response("A", status="cancelled", reason="turn_detected")
    assert isinstance(failure(model()), TransientError)


CLOSES = [
    (close(1000), TransientError),
    (close(1001, "going away"), TransientError),
    (close(1011, "keepalive ping timeout"), TransientError),
    (close(1012), TransientError),
    (close(4008, "session_expired"), TransientError),
    (close(1009, "too big"), ModelError),
    (close(3000), FatalError),
    (close(3003), FatalError),
    (close(3000, "invalid_request_error.invalid_api_key"), FatalError),
    (close(4000, "invalid_request_error.session_expired"), TransientError),
]


@pytest.mark.parametrize(("fault", "expected"), CLOSES)
def test_close_codes_say_whether_to_ask_again(
    server: RealtimeServer, fault: Fault, expected: type[ModelError]
) -> None:
    server.plan = Plan([fault])
    error = failure(model())
    assert type(error) is expected
    assert str(fault.status) in str(error)


def test_a_close_that_asks_to_come_back_later_throttles(server: RealtimeServer) -> None:
    server.plan = Plan([close(1013, "try again later"), close(4029, "rate_limit_exceeded")])
    for error in (failure(model()), failure(model())):
        assert isinstance(error, TransientError)
        assert error.throttled


@pytest.mark.parametrize(
    ("fault", "expected", "words"),
    [
        (faults.status(400), RefusedQuestionError, "answered 400"),
        (faults.status(401), FatalError, "check OPENAI_API_KEY"),
        (faults.status(403), FatalError, "may not use gpt-realtime"),
        (faults.status(404), FatalError, "check the model id 'gpt-realtime'"),
        (faults.status(408), TransientError, "answered 408"),
        (faults.status(500), TransientError, "answered 500"),
        (faults.status(503, b"<html>Back soon</html>"), TransientError, "Back soon"),
        (faults.status(429), TransientError, "answered 429"),
        (
            faults.status(429, b'{"error": {"code": "insufficient_quota", "message": "No."}}'),
            FatalError,
            "no credit",
        ),
        (faults.reset(), TransientError, "cannot be reached"),
        (faults.half(), TransientError, "closed the connection"),
        (faults.malformed(), TransientError, "not JSON"),
        (faults.wrong_type(), TransientError, "not JSON"),
        (Fault("body", body=b"[" * 100_000), TransientError, "not JSON"),
    ],
)
def test_a_spoilt_connection_says_whether_to_ask_again(
    server: RealtimeServer,
    fault: Fault,
    expected: type[ModelError],
    words: str,
) -> None:
    server.plan = Plan([fault])
    asked = model()
    error = failure(asked)
    assert type(error) is expected
    assert words in str(error)
    assert ask(asked).status is Status.OK


def test_retry_after_is_read_from_a_refused_handshake(server: RealtimeServer) -> None:
    now = time.time()
    plan = [faults.throttled("7"), faults.throttled_until(30, clock=now - 3600), faults.throttled()]
    server.plan = Plan(plan)
    waits = []
    for _ in plan:
        error = failure(model())
        assert isinstance(error, TransientError)
        assert error.throttled
        waits.append(error.retry_after_s)
    assert waits == [7.0, 30.0, None]


@pytest.mark.parametrize("fault", [faults.hang(), faults.drip(0.2)], ids=["hang", "drip"])
def test_an_answer_that_takes_too_long_is_given_up(server: RealtimeServer, fault: Fault) -> None:
    server.plan = Plan([fault])
    error = failure(model(timeout=0.6))
    assert isinstance(error, TransientError)
    assert "did not answer within 0.6 s" in str(error)


def test_a_server_that_is_not_there_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with RealtimeServer() as gone:
        monkeypatch.setenv("OPENAI_REALTIME_BASE_URL", gone.url)
    assert isinstance(failure(create(GA, ModelSettings(timeout=60))), TransientError)


def test_a_wrong_key_is_fatal_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "sk-wrong-0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", wrong)
    error = failure(model())
    assert isinstance(error, FatalError)
    assert wrong not in str(error)


def test_neither_key_nor_audio_is_repeated(server: RealtimeServer) -> None:
    echoed = base64.b64encode(sent().content).decode()
    said = f"Cannot read {echoed} with {KEY}"
    error = {"type": "server_error", "code": None, "message": said}
    answers = [response(None, status="failed", error=error), response(said)]
    server.respond = lambda _heard: answers.pop(0)
    assert echoed[:100] not in str(failure(model()))
    reply = ask(model())
    assert reply.raw is not None
    assert echoed[:100] not in reply.raw
    assert KEY not in reply.raw


def test_a_clip_too_short_for_the_api_fails_alone() -> None:
    with pytest.raises(ModelError, match="at least 100ms") as caught:
        ask(model(), seconds=0.05)
    assert type(caught.value) is ModelError


@pytest.mark.parametrize("reply", [{}, {"text": None, "status": None, "usage": [1]}])
def test_a_response_without_a_status_is_asked_again(
    server: RealtimeServer, reply: dict[str, object]
) -> None:
    server.respond = lambda _heard: {"text": None, **reply}
    assert isinstance(failure(model()), TransientError)
