"""``dashscope/…`` against a real server on loopback: its own API, and its OpenAI dialect."""

import base64
import io
import json
import math
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import (
    AudioError,
    FatalError,
    ModelError,
    RefusedQuestionError,
    TransientError,
)
from audiocapbench.models import Question
from audiocapbench.models.model import ModelSettings
from audiocapbench.models.openai_chat import QWEN_AUDIO, QWEN_OMNI, create_dashscope
from audiocapbench.models.probabilities import LOGPROBS, token_shares
from fakes import faults
from fakes.dashscope_server import COMPATIBLE, GENERATION, DashScopeServer, generation
from fakes.faults import Fault, Plan
from fakes.http_server import Response
from fakes.openai_server import completion, heard, stream
from fakes.questions import INSTRUCTION, ask, question
from whole_run import wait_until

KEY = "sk-dash-0123456789abcdef"
AUDIO = "dashscope/qwen-audio-turbo"
OMNI = "dashscope/qwen-omni-turbo"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DashScopeServer]:
    monkeypatch.setenv("DASHSCOPE_API_KEY", KEY)
    with DashScopeServer(key=KEY) as running:
        monkeypatch.setenv("DASHSCOPE_HTTP_BASE_URL", running.base_url)
        yield running


@pytest.fixture
def asked(tmp_path: Path) -> Question:
    return question(tmp_path, QWEN_AUDIO)


def answer(name: str, asked: Question, **settings: Any) -> Reply:
    return ask(create_dashscope(name, ModelSettings(**{"timeout": 5.0, **settings})), asked)[0]


def test_probabilities_that_come_in_a_stream_are_kept(
    server: DashScopeServer, asked: Question
) -> None:
    top = [{"token": one, "logprob": math.log(share)} for one, share in (("8", 0.75), ("9", 0.25))]
    dot = {"token": ".", "logprob": 0.0, "top_logprobs": [{"token": ".", "logprob": 0.0}]}
    told = {"content": [{"token": "8", "logprob": -0.3, "top_logprobs": top}, dot]}
    server.completion = lambda: completion("8.", logprobs=told)
    model = create_dashscope(OMNI, ModelSettings(timeout=120.0))
    reply = ask(model.with_options(LOGPROBS), asked)[0]  # type: ignore[attr-defined]
    assert server.requests[0].json["top_logprobs"] == 20
    (token, shares), _ = token_shares(reply.raw or "")
    assert token == "8"
    assert shares == pytest.approx({"8": 0.75, "9": 0.25})


def test_qwen_audio_gets_every_byte_as_its_api_wants_it(
    server: DashScopeServer, asked: Question
) -> None:
    answer(AUDIO, asked)
    [request] = server.requests
    assert request.path == GENERATION
    assert request.headers["content-type"] == "application/json"
    body = request.json
    sound, instruction = body["input"]["messages"][0]["content"]
    assert body["model"] == "qwen-audio-turbo"
    assert body["parameters"] == {"result_format": "message"}
    assert body["input"]["messages"][0]["role"] == "user"
    assert instruction == {"text": INSTRUCTION}
    prefix = "data:audio/wav;base64,"
    assert sound["audio"].startswith(prefix)
    content = base64.b64decode(sound["audio"].removeprefix(prefix), validate=True)
    assert asked.audio is not None
    assert content == asked.audio.content
    with wave.open(io.BytesIO(content)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16000, 1, 2)


def test_qwen_audio_answers_with_tokens_and_its_raw_reply(
    server: DashScopeServer, asked: Question
) -> None:
    reply = answer(AUDIO, asked, temperature=0.5, max_tokens=50)
    assert (reply.text, reply.status) == ("A dog barks.", Status.OK)
    assert (reply.input_tokens, reply.output_tokens, reply.audio_tokens) == (118, 10, 85)
    assert json.loads(reply.raw or "") == generation()
    parameters = server.requests[0].json["parameters"]
    assert (parameters["temperature"], parameters["max_tokens"]) == (0.5, 50)


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (generation("A dog b", "length"), Status.TRUNCATED, "A dog b"),
        (generation("A dog b", "content_filter"), Status.FILTERED, ""),
        (generation(None), Status.EMPTY, ""),
        (generation("  "), Status.EMPTY, ""),
        (generation() | {"output": {"choices": []}}, Status.FAILED, ""),
        (generation() | {"output": {"choices": [3]}, "usage": None}, Status.FAILED, ""),
    ],
)
def test_what_is_no_caption_has_a_status_of_its_own(
    server: DashScopeServer, asked: Question, body: dict[str, Any], status: Status, text: str
) -> None:
    server.generation = lambda: body
    reply = answer(AUDIO, asked)
    assert (reply.status, reply.text) == (status, text)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (AUDIO, {"code": "DataInspectionFailed", "message": "May be inappropriate."}),
        (OMNI, {"error": {"code": "data_inspection_failed", "message": "May be inappropriate."}}),
    ],
)
def test_content_inspection_filters_one_sample(
    server: DashScopeServer, asked: Question, name: str, said: dict[str, Any]
) -> None:
    server.plan = Plan([faults.status(400, json.dumps(said).encode())])
    reply = answer(name, asked)
    assert reply.status is Status.FILTERED
    assert "inappropriate" in (reply.error or "")


@pytest.mark.parametrize("name", [AUDIO, OMNI])
@pytest.mark.parametrize(
    "fault",
    [
        faults.status(408),
        faults.status(429),
        faults.throttled("3"),
        faults.status(500),
        faults.status(503, b"<html>busy</html>"),
        faults.reset(),
        faults.half(),
        faults.malformed(),
        faults.wrong_type(),
        faults.body(b"null"),
        faults.body(b'{"output": 3}'),
        faults.hang(),
        faults.drip(0.05),
    ],
)
def test_what_may_pass_is_transient_and_asked_only_once(
    server: DashScopeServer, asked: Question, name: str, fault: Fault
) -> None:
    server.plan = Plan(always=fault)
    slow = fault.kind in ("hang", "drip")
    with pytest.raises(TransientError) as caught:
        answer(name, asked, timeout=1.0 if slow else 60.0)
    wait_until(lambda: server.requests)
    assert len(server.requests) == 1
    assert caught.value.throttled is (fault.status == 429)
    assert caught.value.retry_after_s == (3.0 if "Retry-After" in fault.headers else None)


@pytest.mark.parametrize("name", [AUDIO, OMNI])
@pytest.mark.parametrize(
    ("code", "hint"), [(401, "API_KEY"), (403, "may not use qwen"), (404, "HTTP_BASE_URL")]
)
def test_what_will_not_pass_says_what_to_mend(
    server: DashScopeServer, asked: Question, name: str, code: int, hint: str
) -> None:
    server.plan = Plan([faults.status(code)])
    with pytest.raises(FatalError, match=hint):
        answer(name, asked)


@pytest.mark.parametrize("name", [AUDIO, OMNI])
def test_what_is_wrong_with_a_request_may_be_wrong_with_others(
    server: DashScopeServer, asked: Question, name: str
) -> None:
    server.plan = Plan([faults.status(400)])
    with pytest.raises(RefusedQuestionError, match="settings"):
        answer(name, asked)


@pytest.mark.parametrize("name", [AUDIO, OMNI])
def test_a_wrong_key_names_its_variable_and_is_not_shown(
    server: DashScopeServer, asked: Question, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASHSCOPE_API_KEY", "sk-wrong-0123456789")
    with pytest.raises(FatalError, match="check DASHSCOPE_API_KEY") as caught:
        answer(name, asked)
    assert "sk-wrong" not in str(caught.value)
    assert len(server.requests) == 1


def test_an_account_in_arrears_is_not_asked_again(server: DashScopeServer, asked: Question) -> None:
    said = {"code": "Arrearage", "message": "Access denied."}
    server.plan = Plan([faults.status(400, json.dumps(said).encode())])
    with pytest.raises(FatalError, match="billing"):
        answer(AUDIO, asked)


def test_no_audio_that_an_error_echoes_gets_through(
    server: DashScopeServer, asked: Question
) -> None:
    assert asked.audio is not None
    sound = base64.b64encode(asked.audio.content).decode()
    said = {"code": "InvalidParameter", "message": f"bad: data:audio/wav;base64,{sound} by {KEY}"}
    server.plan = Plan([faults.status(400, json.dumps(said).encode())])
    with pytest.raises(RefusedQuestionError) as caught:
        answer(AUDIO, asked)
    assert sound[:100] not in str(caught.value)
    assert KEY not in str(caught.value)
    assert "InvalidParameter" in str(caught.value)


def test_a_clip_longer_than_thirty_seconds_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="at most 30 s"):
        question(tmp_path, QWEN_AUDIO, seconds=30.5)
    assert question(tmp_path, QWEN_AUDIO, seconds=30.0).audio is not None
    assert question(tmp_path, QWEN_OMNI, seconds=30.5).audio is not None


def test_qwen_omni_is_streamed_in_its_own_dialect(server: DashScopeServer, asked: Question) -> None:
    reply = answer(OMNI, asked)
    [request] = server.requests
    assert request.path == COMPATIBLE
    body = request.json
    [message] = body.pop("messages")
    assert body == {
        "model": "qwen-omni-turbo",
        "temperature": 0.0,
        "modalities": ["text"],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    sound, instruction = message["content"]
    assert asked.audio is not None
    assert heard(sound, "data:;base64,").content == asked.audio.content
    assert instruction == {"type": "text", "text": INSTRUCTION}
    assert (reply.text, reply.status) == ("A dog barks.", Status.OK)
    assert (reply.input_tokens, reply.output_tokens) == (120, 7)
    assert json.loads(reply.raw or "")["choices"][0]["message"]["content"] == "A dog barks."


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (completion("A dog b", finish_reason="length"), Status.TRUNCATED, "A dog b"),
        (completion("A", finish_reason="content_filter"), Status.FILTERED, ""),
        (completion(""), Status.EMPTY, ""),
    ],
)
def test_a_stream_ends_with_a_status_too(
    server: DashScopeServer, asked: Question, body: dict[str, Any], status: Status, text: str
) -> None:
    server.completion = lambda: body
    reply = answer(OMNI, asked)
    assert (reply.status, reply.text) == (status, text)


@pytest.mark.parametrize("kept", [0, 1, 2, 4])
def test_a_stream_that_ends_early_is_never_taken_for_an_answer(
    server: DashScopeServer, asked: Question, kept: int
) -> None:
    events = stream(completion("A dog barks at a passing car.")).split(b"\n\n")
    cut = b"\n\n".join(events[:kept]) + b"\n\n"
    server.plan = Plan([faults.body(cut, "text/event-stream")])
    with pytest.raises(TransientError):
        answer(OMNI, asked)


def test_a_stream_with_nothing_but_its_usage_is_no_answer(
    server: DashScopeServer, asked: Question
) -> None:
    events = stream(completion()).split(b"\n\n")
    cut = b"\n\n".join(events[-3:])
    server.plan = Plan([faults.body(cut, "text/event-stream")])
    assert answer(OMNI, asked).status is Status.FAILED


def pieces(*choices: dict[str, Any] | None) -> bytes:
    """A stream of these choices, one a piece, and its usage."""
    bodies: list[dict[str, Any]] = [{"choices": [one] if one else []} for one in choices]
    bodies.append({"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 7}})
    return b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in bodies)


SPOKEN: dict[str, Any] = {"index": 0, "delta": {"content": "A dog barks."}}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (pieces(SPOKEN), "did not say how its answer ended"),
        (pieces(SPOKEN, {"index": 0, "delta": {}, "finish_reason": "abort"}), "abort"),
        (pieces(SPOKEN, {"index": 1, "delta": {}, "finish_reason": "stop"}), "did not say"),
        (pieces(SPOKEN | {"finish_reason": "stop"}, SPOKEN | {"finish_reason": "error"}), "error"),
        (pieces(SPOKEN | {"finish_reason": "stop", "error": {"message": "Upstream died"}}), "died"),
        (pieces(SPOKEN | {"index": 1, "finish_reason": "stop"}), "did not say"),
    ],
)
def test_a_stream_that_does_not_end_well_is_a_failure(
    server: DashScopeServer, asked: Question, content: bytes, words: str
) -> None:
    server.plan = Plan([faults.body(content, "text/event-stream")])
    reply = answer(OMNI, asked)
    assert (reply.status, reply.text) == (Status.FAILED, "")
    assert words in (reply.error or "")
    assert (reply.input_tokens, reply.output_tokens) == (120, 7)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("fault", [None, faults.drip(0.0)])
def test_a_stream_is_read_however_it_is_cut_and_its_lines_end(
    server: DashScopeServer, asked: Question, ending: bytes, fault: Fault | None
) -> None:
    said = "A dog\u2028barks\x85 twice."
    events = [one[6:] for one in stream(completion(said)).split(b"\n\n") if b"{" in one]
    lines = [b": wait", b"", b"event: ping", b"", b"id: 1"]
    for one in events:
        text = json.dumps(json.loads(one), ensure_ascii=False).replace(", ", ",\n", 1)
        lines += [b"data:" + line for line in text.encode().split(b"\n")] + [b""]
    content = ending.join([*lines, b"data: [DONE]", b"", b"data: {", b"", b""])
    server.plan = Plan([fault])
    server.respond = lambda _: Response(content, headers={"Content-Type": "text/event-stream"})
    assert answer(OMNI, asked).text == said


@pytest.mark.parametrize("piece", [b"3", b"[]", b'"x"', b"{", b'{"error": {"message": "busy"}}'])
def test_a_piece_that_is_none_is_transient(
    server: DashScopeServer, asked: Question, piece: bytes
) -> None:
    first = stream(completion()).split(b"\n\n")[0]
    content = first + b"\n\ndata: " + piece + b"\n\n"
    server.plan = Plan([faults.body(content, "text/event-stream")])
    with pytest.raises(TransientError):
        answer(OMNI, asked)


@pytest.mark.parametrize(
    ("model_id", "path"),
    [
        ("qwen-audio-turbo-latest", GENERATION),
        ("qwen2-audio-instruct", GENERATION),
        ("qwen3-omni-flash", COMPATIBLE),
        ("qwen2.5-omni-7b", COMPATIBLE),
    ],
)
def test_each_family_is_asked_where_it_answers(
    server: DashScopeServer, asked: Question, model_id: str, path: str
) -> None:
    assert answer(f"dashscope/{model_id}", asked).text == "A dog barks."
    assert server.requests[0].path == path


def test_one_model_answers_in_one_event_loop_after_another(
    server: DashScopeServer, asked: Question
) -> None:
    model = create_dashscope(AUDIO, ModelSettings())
    for _ in range(2):
        assert [reply.status for reply in ask(model, asked, asked)] == [Status.OK, Status.OK]
    assert len(server.requests) == 4


def test_a_missing_key_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DASHSCOPE_API_KEY", raising=False)
    with pytest.raises(ModelError, match="DASHSCOPE_API_KEY is not set"):
        create_dashscope(AUDIO, ModelSettings())
