"""``openai-realtime/…`` against a real WebSocket server on loopback, through the real SDK."""

import base64
import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import numpy as np
import pytest
import soundfile

from needs import needs

needs("websockets")

from audiocapbench import audio
from audiocapbench.data import Clip
from audiocapbench.data.outcome import Status
from audiocapbench.engine.retrying_client import prepare
from audiocapbench.errors import ModelError
from audiocapbench.models import create_model
from audiocapbench.models.model import ModelSettings, Question, SentAudio
from audiocapbench.models.openai_realtime import CHUNK_BYTES, create
from audiocapbench.models.registry import create_published
from fakes.realtime_asking import GA, ask, model, sent, serving
from fakes.realtime_server import KEY, RealtimeServer, response


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RealtimeServer]:
    with serving(monkeypatch) as running:
        yield running


def test_the_answer_comes_with_its_tokens_and_without_audio() -> None:
    reply = ask(model())
    assert (reply.text, reply.status, reply.error) == ("A dog barks.", Status.OK, None)
    assert (reply.input_tokens, reply.output_tokens, reply.audio_tokens) == (34, 6, 20)
    assert reply.raw is not None
    assert json.loads(reply.raw)["status"] == "completed"
    assert ": " not in reply.raw.replace("A dog", "")


def test_a_file_arrives_as_raw_pcm_of_the_right_rate_and_length(
    server: RealtimeServer, tmp_path: Path
) -> None:
    seconds, rate = 13.0, 44_100
    moments = np.arange(round(seconds * rate)) / rate
    tone = 0.5 * np.sin(2 * np.pi * 1000 * moments)
    soundfile.write(tmp_path / "tone.wav", np.stack([tone, tone], axis=1), rate)
    asked = model()
    clip = Clip(
        tmp_path / "tone.wav", "tone.wav", audio.sha256(tmp_path / "tone.wav"), seconds, rate, 2
    )
    prepared = prepare(clip, asked.contract)
    anyio.run(asked.answer, Question("tone", "What is heard?", prepared))
    [heard] = server.heard
    assert prepared is not None
    assert heard.pcm == prepared.content
    assert heard.seconds == pytest.approx(seconds, abs=1e-4)
    assert max(heard.chunks) <= CHUNK_BYTES
    assert len(heard.chunks) == 3
    strength = np.abs(np.fft.rfft(np.frombuffer(heard.pcm, "<i2")[:24_000].astype(float)))
    assert int(strength.argmax()) == 1000


def test_a_question_is_asked_as_the_api_wants_it(server: RealtimeServer) -> None:
    ask(model(max_tokens=300), "What is heard?")
    [heard] = server.heard
    assert (heard.path, heard.model) == ("/v1/realtime?model=gpt-realtime", "gpt-realtime")
    assert "openai-beta" not in heard.headers
    assert heard.session == {
        "type": "realtime",
        "output_modalities": ["text"],
        "audio": {
            "input": {"format": {"type": "audio/pcm", "rate": 24000}, "turn_detection": None}
        },
        "instructions": "What is heard?",
        "max_output_tokens": 300,
    }
    assert heard.instruction == "What is heard?"
    assert heard.events == [
        "session.update",
        "input_audio_buffer.append",
        "input_audio_buffer.commit",
        "conversation.item.create",
        "response.create",
    ]


def test_a_question_is_asked_as_the_published_tool_does_as_far_as_the_api_allows(
    server: RealtimeServer,
) -> None:
    published = create_published(GA)
    anyio.run(published.answer, Question("clip", "What is heard?", sent()))
    [heard] = server.heard
    told = "You are an audio captioning assistant. Always respond in English. What is heard?"
    assert heard.session["instructions"] == told
    assert heard.session["max_output_tokens"] == "inf"
    assert "conversation.item.create" not in heard.events
    assert published.parameters["session"] == "tool", "known apart from what was asked before"


def test_parameters_hold_what_changes_the_answer(server: RealtimeServer) -> None:
    host = server.url.removeprefix("ws://").removesuffix("/v1")
    assert dict(model(max_tokens=99).parameters) == {
        "host": host,
        "temperature": "default",
        "max_output_tokens": 99,
        "dialect": "ga",
    }
    assert KEY not in str(model().parameters)


def test_a_temperature_for_the_current_api_is_refused() -> None:
    with pytest.raises(ModelError, match="takes no temperature; it takes max_tokens, timeout"):
        create_model(GA, ModelSettings(temperature=0.6))


def test_text_that_only_the_deltas_bring_is_read(server: RealtimeServer) -> None:
    server.in_done = False
    server.respond = lambda _heard: response("Rain on a tin roof, then a door.")
    assert ask(model()).text == "Rain on a tin roof, then a door."


@pytest.mark.parametrize(
    ("said", "status", "text"),
    [
        (response(""), Status.EMPTY, ""),
        (response(None), Status.EMPTY, ""),
        (response(" \n\n"), Status.EMPTY, ""),
        (response("A do", status="incomplete", reason="max_output_tokens"), "truncated", "A do"),
        (response(None, status="incomplete", reason="max_output_tokens"), "truncated", ""),
        (response("A do", status="incomplete", reason="content_filter"), "filtered", ""),
        (response("A do", status="incomplete", reason="never_heard_of"), "failed", ""),
        (response("A do", status="incomplete", reason="stop"), "failed", ""),
        (response("A do", status="incomplete"), "failed", ""),
    ],
)
def test_answers_that_are_none_have_a_status_of_their_own(
    server: RealtimeServer,
    said: dict[str, object],
    status: str,
    text: str,
) -> None:
    server.respond = lambda _heard: said
    reply = ask(model())
    assert (reply.status, reply.text) == (status, text)
    assert reply.raw is not None
    assert (reply.error is None) == (status == Status.EMPTY)


def test_markdown_is_cleaned_as_published(server: RealtimeServer) -> None:
    server.respond = lambda _heard: response("A dog ![x](http://a.b/c)barks.\n\n\n\nTwice.")
    assert ask(model()).text == "A dog barks.\n\nTwice."


def test_other_audio_than_the_contract_asks_for_is_not_sent(server: RealtimeServer) -> None:
    asked = model()
    wrong = SentAudio(b"RIFF" + bytes(9600), "wav", 24_000, 1, 0.2, "0")
    for given in (wrong, None):
        with pytest.raises(ModelError, match="takes raw 16-bit PCM, mono, at 24,000 Hz"):
            anyio.run(asked.answer, Question("clip", "What?", given))
    assert server.heard == []


def test_many_questions_at_once_each_get_their_own_answer(server: RealtimeServer) -> None:
    server.respond = lambda heard: response(f"answer to {heard.instruction}")
    asked, texts = model(), {}

    async def one(number: int) -> None:
        question = Question(str(number), f"question {number}", sent(0.2))
        texts[number] = (await asked.answer(question)).text

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            for number in range(24):
                group.start_soon(one, number)

    anyio.run(everything)
    assert texts == {number: f"answer to question {number}" for number in range(24)}
    assert len(server.heard) == 24


def test_hostile_text_arrives_and_returns_unchanged(server: RealtimeServer) -> None:
    hostile = "a\0b \u202eRTL\u202c 🐕 " + "long " * 20_000 + "end"
    server.respond = lambda heard: response(heard.instruction)
    assert ask(model(), hostile).text == hostile


@pytest.mark.parametrize("form", ["{ws}", "{ws}/", "{ws}/realtime", "{http}", "{http}/realtime/"])
def test_the_address_may_be_written_in_several_ways(
    server: RealtimeServer, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    address = form.format(ws=server.url, http="http" + server.url.removeprefix("ws"))
    monkeypatch.setenv("OPENAI_REALTIME_BASE_URL", address)
    assert ask(create(GA, ModelSettings(timeout=120))).status is Status.OK


def test_a_proxy_for_the_other_apis_stands_for_this_one_too(
    server: RealtimeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http" + server.url.removeprefix("ws"))
    assert ask(create(GA, ModelSettings(timeout=120))).status is Status.OK


@pytest.mark.parametrize("address", ["ftp://host/v1", "host:8000", "wss://", "ws://u:p@host/v1"])
def test_an_address_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("OPENAI_REALTIME_BASE_URL", address)
    with pytest.raises(ModelError, match="OPENAI_REALTIME_BASE_URL"):
        create(GA, ModelSettings())


def test_a_missing_key_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        create(GA, ModelSettings())


def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websockets", None)
    with pytest.raises(ModelError, match=r"needs websockets: pip install .*\[openai\]"):
        create_model(GA)


def test_the_fake_notices_a_wav_header(server: RealtimeServer) -> None:
    """The fake itself must notice the mistake that it is there to notice."""
    import websockets.sync.client

    with websockets.sync.client.connect(
        f"{server.url}/realtime?model=m", additional_headers={"Authorization": f"Bearer {KEY}"}
    ) as connection:
        assert json.loads(connection.recv())["type"] == "session.created"
        wav = base64.b64encode(b"RIFF" + bytes(48_000)).decode()
        connection.send(json.dumps({"type": "input_audio_buffer.append", "audio": wav}))
        connection.send(json.dumps({"type": "input_audio_buffer.commit"}))
        event = json.loads(connection.recv())
    assert event["error"]["message"] == "the audio is a WAV file, not raw PCM"
    assert server.heard[0].pcm == b""


def test_neither_key_nor_audio_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    assert ask(model()).status is Status.OK
    assert KEY not in caplog.text
    assert base64.b64encode(sent().content).decode()[:60] not in caplog.text
