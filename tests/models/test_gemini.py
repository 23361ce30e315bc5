"""``gemini/…`` against a real server on loopback."""

import base64
import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import numpy as np
import pytest
import soundfile

from audiocapbench import audio
from audiocapbench.data import Clip
from audiocapbench.data.outcome import Status
from audiocapbench.engine.retrying_client import prepare
from audiocapbench.errors import AudioError, FatalError, ModelError, TransientError
from audiocapbench.models import create_model, list_models
from audiocapbench.models.gemini import Gemini, create
from audiocapbench.models.model import ModelSettings, Question, SentAudio
from fakes import faults
from fakes.faults import Plan
from fakes.gemini_asking import FLASH, LONG, ask, failure, model, sent, serving
from fakes.gemini_server import KEY, VERTEX_TOKEN, GeminiServer, content
from needs import needs


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GeminiServer]:
    with serving(monkeypatch) as running:
        yield running


def test_the_request_is_the_papers(server: GeminiServer) -> None:
    ask(model(), "What is heard?")
    [asked] = server.asked
    assert (asked.model, asked.instruction) == ("gemini-2.5-flash", "What is heard?")
    assert asked.config == {
        "temperature": 0.0,
        "maxOutputTokens": 8192,
        "thinkingConfig": {"thinkingBudget": 1024},
    }
    [request] = server.requests
    assert request.path == "/v1beta/models/gemini-2.5-flash:generateContent"
    assert request.headers["x-goog-api-key"] == KEY


def test_a_file_arrives_as_mono_wav_byte_for_byte(server: GeminiServer, tmp_path: Path) -> None:
    values = np.random.default_rng(3).uniform(-0.5, 0.5, (44_100, 2))
    soundfile.write(tmp_path / "clip.flac", values, 44_100)
    clip = Clip(
        tmp_path / "clip.flac", "clip.flac", audio.sha256(tmp_path / "clip.flac"), 1.0, 44_100, 2
    )
    prepared = prepare(clip, model().contract)
    assert prepared is not None
    ask(model(), given=prepared)
    [asked] = server.asked
    assert asked.audio == prepared.content
    assert asked.wave == (44_100, 1, 16, 44_100)


@pytest.mark.parametrize(
    ("name", "budget", "limit"),
    [
        *(
            (one.name, one.thinking_budget, one.max_output_tokens)
            for one in list_models()
            if one.name.startswith("gemini/g")
        ),
        ("gemini/gemini-1.5-pro", None, None),
        ("gemini/gemini-2.0-flash-lite", None, None),
        ("gemini/gemini-2.5-flash-preview-09-2025", 1024, 8192),
        ("gemini/gemini-3.1-pro-preview", 1024, 8192),
        ("gemini/gemini-flash-latest", 1024, 8192),
        ("gemini/gemma-3n-e4b-it", None, None),
    ],
)
def test_models_from_2_5_on_get_a_thinking_budget(
    server: GeminiServer, name: str, budget: int | None, limit: int | None
) -> None:
    asked = model(name)
    ask(asked)
    config = server.asked[0].config
    assert config.get("thinkingConfig", {}).get("thinkingBudget") == budget
    assert config.get("maxOutputTokens") == limit
    assert asked.parameters.get("thinking_budget") == budget
    assert config["temperature"] == 0.0


def test_the_users_settings_win_and_are_parameters(server: GeminiServer) -> None:
    asked = model(temperature=0.7, max_tokens=64)
    ask(asked)
    assert server.asked[0].config == {
        "temperature": 0.7,
        "maxOutputTokens": 64,
        "thinkingConfig": {"thinkingBudget": 1024},
    }
    assert dict(asked.parameters) == {
        "host": server.url.removeprefix("http://"),
        "temperature": 0.7,
        "max_output_tokens": 64,
        "thinking_budget": 1024,
    }


def test_a_long_clip_is_uploaded_awaited_and_deleted(server: GeminiServer) -> None:
    server.polls = 2
    assert ask(model(), given=LONG).text == "A dog barks."
    [asked], [stored] = server.asked, server.files.values()
    assert asked.from_file
    assert asked.audio == LONG.content
    assert stored.mime_type == "audio/wav"
    assert stored.commands == ["upload, finalize"]
    assert stored.deleted
    assert [request.method for request in server.requests][-4:] == ["GET", "GET", "POST", "DELETE"]


def test_a_clip_that_just_fits_goes_inside_the_request(server: GeminiServer) -> None:
    content = bytes(LONG.content[:14_990_000])
    ask(model(), given=SentAudio(content, "wav", 48_000, 1, 156.0, "0"))
    assert server.files == {}
    assert 19_900_000 < len(server.requests[0].body) <= 20_000_000


def test_an_uploaded_file_is_deleted_when_the_answer_fails(server: GeminiServer) -> None:
    server.plan = Plan([None, None, faults.status(500)])
    assert isinstance(failure(model(), LONG), TransientError)
    [stored] = server.files.values()
    assert stored.deleted


def test_a_file_that_google_cannot_read_fails_alone(server: GeminiServer) -> None:
    server.file_state = "FAILED"
    found = failure(model(), LONG)
    assert type(found) is ModelError
    assert "could not read the uploaded audio" in str(found)
    assert [stored.deleted for stored in server.files.values()] == [True]


@pytest.mark.parametrize("at", [0, 1], ids=["start", "content"])
def test_an_upload_that_breaks_is_asked_again(server: GeminiServer, at: int) -> None:
    server.plan = Plan([None] * at + [faults.reset()])
    assert isinstance(failure(model(), LONG), TransientError)


def test_many_questions_at_once_each_get_their_own_answer(server: GeminiServer) -> None:
    server.reply = lambda asked: content(f"answer to {asked.instruction}")
    asked, texts = model(), {}

    async def one(number: int) -> None:
        question = Question(str(number), f"question {number}", sent(0.2))
        texts[number] = (await asked.answer(question)).text

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            for number in range(24):
                group.start_soon(one, number)
        await asked.aclose()

    anyio.run(everything)
    assert texts == {number: f"answer to question {number}" for number in range(24)}


def test_hostile_text_arrives_and_returns_unchanged(server: GeminiServer) -> None:
    hostile = "a\0b \u202eRTL\u202c 🐕 " + "long " * 20_000 + "end"
    server.reply = lambda asked: content(asked.instruction)
    assert ask(model(), hostile).text == hostile


def test_the_other_name_of_the_key_is_taken_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert ask(model()).status is Status.OK


def test_gemini_api_key_wins_over_google_api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-of-something-else")
    assert ask(model()).status is Status.OK


def test_a_missing_key_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(ModelError, match="GEMINI_API_KEY or GOOGLE_API_KEY is not set"):
        create(FLASH, ModelSettings())


def test_vertex_without_googles_sign_in_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERTEX_PROJECT", "my-project")
    monkeypatch.setitem(sys.modules, "google.auth", None)
    needed = r"through Vertex AI needs google.auth: pip install 'audiocapbench\[gemini\]'"
    with pytest.raises(ModelError, match=needed):
        create_model(FLASH)


def test_an_address_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "localhost:80")
    with pytest.raises(ModelError, match="GOOGLE_GEMINI_BASE_URL"):
        create(FLASH, ModelSettings())


@pytest.fixture
def vertex(
    server: GeminiServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[], Gemini]:
    """Models through Vertex AI, signed in as a service account that the server knows."""
    needs("google.auth")
    rsa = needs("cryptography.hazmat.primitives.asymmetric.rsa")
    from cryptography.hazmat.primitives import serialization as form

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    account = {
        "type": "service_account",
        "project_id": "my-project",
        "private_key_id": "1",
        "private_key": pem.decode(),
        "client_email": "bench@my-project.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": f"{server.url}/token",
    }
    (tmp_path / "account.json").write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", server.url)
    monkeypatch.setenv("VERTEX_PROJECT", "my-project")

    def make(name: str = FLASH) -> Gemini:
        return create(name, ModelSettings(timeout=120.0))

    return make


def test_vertex_is_asked_where_a_project_is_set(
    vertex: Callable[[], Gemini], server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERTEX_LOCATION", "europe-west4")
    assert ask(vertex()).text == "A dog barks."
    [asked] = server.asked
    assert asked.vertex == ("my-project", "europe-west4")
    assert asked.config["thinkingConfig"] == {"thinkingBudget": 1024}
    last = server.requests[-1]
    assert last.headers["authorization"] == f"Bearer {VERTEX_TOKEN}"
    assert "x-goog-api-key" not in last.headers


def test_vertex_is_global_unless_a_location_is_set(
    vertex: Callable[[], Gemini], server: GeminiServer
) -> None:
    ask(vertex())
    assert server.asked[0].vertex == ("my-project", "global")


def test_vertex_refuses_a_clip_that_needs_the_file_service(
    vertex: Callable[[], Gemini], tmp_path: Path
) -> None:
    (tmp_path / "long.wav").write_bytes(LONG.content)
    clip = Clip(
        tmp_path / "long.wav", "long.wav", audio.sha256(tmp_path / "long.wav"), 160.0, 48_000, 1
    )
    with pytest.raises(AudioError, match="this model takes at most"):
        prepare(clip, vertex().contract)


def test_vertex_without_credentials_says_how_to_sign_in(
    vertex: Callable[[], Gemini], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    found = failure(vertex())
    assert isinstance(found, FatalError)
    assert "gcloud auth application-default login" in str(found)


def test_a_sign_in_that_is_refused_is_fatal(
    vertex: Callable[[], Gemini], server: GeminiServer
) -> None:
    server.plan = Plan([faults.status(401, b'{"error": "invalid_grant"}')])
    assert isinstance(failure(vertex()), FatalError)


@pytest.mark.parametrize("given", [sent(), LONG], ids=["inline", "file"])
def test_neither_key_nor_audio_is_logged(
    caplog: pytest.LogCaptureFixture, given: SentAudio
) -> None:
    caplog.set_level(logging.DEBUG)
    assert ask(model(), given=given).status is Status.OK
    assert KEY not in caplog.text
    assert base64.urlsafe_b64encode(given.content).decode()[:60] not in caplog.text
