"""``endpoint/NAME@URL`` against a real server on loopback, through the real SDK."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from audiocapbench.data.outcome import Status
from audiocapbench.errors import FatalError, ModelError, RefusedQuestionError, TransientError
from audiocapbench.models import Question, create_model
from audiocapbench.models.model import ModelSettings
from audiocapbench.models.openai_chat import ENDPOINT, create_endpoint
from fakes import faults
from fakes.faults import Plan
from fakes.openai_server import OpenAIServer, heard
from fakes.questions import INSTRUCTION, ask, question

OTHER_KEY = "sk-meant-for-openai-alone"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    monkeypatch.setenv("OPENAI_API_KEY", OTHER_KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-user")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-the-user")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: team-of-the-user")
    monkeypatch.delenv("ENDPOINT_API_KEY", raising=False)
    with OpenAIServer(key=None) as running:
        yield running


@pytest.fixture
def asked(tmp_path: Path) -> Question:
    return question(tmp_path, ENDPOINT.contract)


def test_a_server_gets_the_protocol_and_nothing_else(server: OpenAIServer, asked: Question) -> None:
    name = f"endpoint/Qwen/Qwen2-Audio-7B-Instruct@{server.base_url}"
    model = create_endpoint(name, ModelSettings(max_tokens=99))
    assert [reply.text for reply in ask(model, asked)] == ["A dog barks."]
    [request] = server.requests
    body = request.json
    [message] = body.pop("messages")
    assert body == {"model": "Qwen/Qwen2-Audio-7B-Instruct", "temperature": 0.0, "max_tokens": 99}
    assert message["content"][0] == {"type": "text", "text": INSTRUCTION}
    assert asked.audio is not None
    assert heard(message["content"][1]).content == asked.audio.content
    assert model.name == name


def test_no_key_of_another_provider_is_sent_to_a_server(
    server: OpenAIServer, asked: Question
) -> None:
    ask(create_endpoint(f"endpoint/m@{server.base_url}", ModelSettings()), asked)
    headers = server.requests[0].headers
    assert "authorization" not in headers
    for secret in (OTHER_KEY, "org-of-the-user", "project-of-the-user", "team-of-the-user"):
        assert secret not in str(headers)


def test_a_server_with_a_key_gets_the_one_meant_for_it(
    monkeypatch: pytest.MonkeyPatch, asked: Question
) -> None:
    monkeypatch.setenv("ENDPOINT_API_KEY", "token-abc-123")
    with OpenAIServer(key="token-abc-123") as server:
        [reply] = ask(create_endpoint(f"endpoint/m@{server.base_url}/", ModelSettings()), asked)
    assert reply.status is Status.OK


def test_a_server_that_wants_a_key_says_which_variable_to_set(asked: Question) -> None:
    with OpenAIServer(key="token-abc-123") as server:
        model = create_endpoint(f"endpoint/m@{server.base_url}", ModelSettings())
        with pytest.raises(FatalError, match="ENDPOINT_API_KEY"):
            ask(model, asked)


def test_an_address_without_its_path_is_explained(server: OpenAIServer, asked: Question) -> None:
    with pytest.raises(FatalError, match="usually ends in /v1"):
        ask(create_endpoint(f"endpoint/m@{server.url}", ModelSettings()), asked)


@pytest.mark.parametrize(
    "body",
    [
        b'{"object": "error", "message": "no audio tower", "type": "BadRequest", "code": 400}',
        b'{"error": {"code": 400, "message": "no audio tower", "type": "invalid_request_error"}}',
        b'{"detail": [{"loc": ["body"], "msg": "no audio tower"}]}',
        b"no audio tower",
    ],
)
def test_the_words_of_every_kind_of_server_reach_the_user(
    server: OpenAIServer, asked: Question, body: bytes
) -> None:
    server.plan = Plan([faults.status(400, body)])
    with pytest.raises(RefusedQuestionError, match="no audio tower"):
        ask(create_endpoint(f"endpoint/m@{server.base_url}", ModelSettings()), asked)


def test_a_server_that_is_loading_is_asked_again(server: OpenAIServer, asked: Question) -> None:
    server.plan = Plan([faults.status(503, b'{"error": {"message": "Loading model"}}')])
    with pytest.raises(TransientError, match="Loading model"):
        ask(create_endpoint(f"endpoint/m@{server.base_url}", ModelSettings()), asked)


@pytest.mark.parametrize(
    "name",
    [
        "endpoint/",
        "endpoint/model",
        "endpoint/@http://localhost:8000/v1",
        "endpoint/m@localhost:8000",
        "endpoint/m@ftp://localhost/v1",
        "endpoint/m@http://",
        "endpoint/m@http://:8000/v1",
        "endpoint/m@http://host:99999/v1",
        "endpoint/m@http://host:eight/v1",
        "endpoint/m@http://[::1/v1",
        "endpoint/m@http://ho st/v1",
        "endpoint/m@http://host/v1?key=1",
        "endpoint/m@http://host/v1#x",
        "endpoint/m@http://host/v1\n",
    ],
)
def test_a_name_or_address_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ModelError):
        create_endpoint(name, ModelSettings())


@pytest.mark.parametrize(
    "address",
    [
        "http://host/v1?api_key=hunter2hunter2",
        "http://host/v1#hunter2hunter2",
        "ftp://host/v1?k=hunter2hunter2",
        "host/v1?k=hunter2hunter2",
        "http://me:hunter2hunter2@[::1/v1",
        "http://[::1/v1?hunter2hunter2",
        "http://ho st/v1?k=hunter2hunter2",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_shown(address: str) -> None:
    for name in (f"endpoint/m@{address}", f"endpiont/m@{address}"):
        with pytest.raises(ModelError) as caught:
            create_model(name)
        assert "hunter2" not in str(caught.value)


def test_a_password_in_the_address_is_refused_and_not_shown() -> None:
    with pytest.raises(ModelError, match="must not hold") as caught:
        create_endpoint("endpoint/m@http://me:hunter2hunter2@host/v1", ModelSettings())
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://[::1]:8000/v1", "[::1]:8000"),
        ("https://example.org/a/v1", "example.org"),
        ("HTTP://Example.org:80/v1", "example.org:80"),
    ],
)
def test_addresses_of_all_kinds_are_taken(url: str, host: str) -> None:
    assert create_endpoint(f"endpoint/a@b/c@{url}", ModelSettings()).parameters["host"] == host


def test_a_system_prompt_goes_before_every_question_and_into_the_cache_key(
    server: OpenAIServer, tmp_path: Path
) -> None:
    name = f"endpoint/qwen@{server.base_url}"
    told = create_endpoint(name, ModelSettings(system="You are a helpful assistant"))
    ask(told, question(tmp_path, ENDPOINT.contract))
    [request] = server.requests
    system, asked = request.json["messages"]
    assert system == {"role": "system", "content": "You are a helpful assistant"}
    assert asked["role"] == "user"
    assert told.parameters["system"] == "You are a helpful assistant"
    assert "system" not in create_endpoint(name, ModelSettings()).parameters
