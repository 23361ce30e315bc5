"""Errors of providers become the right kind: again, one sample, or the end of the run."""

import os
from pathlib import Path

import pytest

from audiocapbench.errors import FatalError, ModelError, RefusedQuestionError, TransientError
from audiocapbench.models import ModelSettings, create_model
from audiocapbench.models.remote import RemoteModel
from fakes.questions import ask, question

REMOTE = RemoteModel(
    "endpoint/x@http://h/v1", "x", "http://h/v1", "h", "ENDPOINT_API_KEY", "the address"
)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_what_may_pass_is_asked_again(status: int) -> None:
    error = REMOTE.status_error(status, {}, "busy")
    assert isinstance(error, TransientError)
    assert error.throttled is (status == 429)


@pytest.mark.parametrize("status", [301, 308, 401, 402, 403, 404])
def test_what_will_not_pass_ends_the_run(status: int) -> None:
    assert isinstance(REMOTE.status_error(status, {}, "no"), FatalError)


@pytest.mark.parametrize("status", [400, 405, 415, 422, 451])
def test_what_may_be_of_one_question_alone_says_how_it_was_refused(status: int) -> None:
    error = REMOTE.status_error(status, {}, "no", "Invalid_Value")
    assert isinstance(error, RefusedQuestionError)
    assert error.kind == f"{status} invalid_value"


@pytest.mark.parametrize(
    ("status", "code"),
    [(413, ""), (400, "context_length_exceeded"), (400, "exceed_context_size_error")],
)
def test_one_sample_that_is_too_large_ends_nothing_else(status: int, code: str) -> None:
    error = REMOTE.status_error(status, {}, "too long", code)
    assert type(error) is ModelError


def test_a_model_that_cannot_hear_is_not_asked_again_and_again() -> None:
    said = "audio input is not supported - hint: you may need to provide the mmproj"
    error = REMOTE.status_error(500, {}, said)
    assert isinstance(error, FatalError)
    assert "choose a model that takes audio" in str(error)


def asked_through(proxies: dict[str, str], place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    for name, proxy in proxies.items():
        monkeypatch.setenv(name, proxy)
    model = create_model("endpoint/x@http://models.invalid/v1", ModelSettings(timeout=5.0))
    ask(model, question(place, model.contract))


@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"])
@pytest.mark.parametrize(
    "proxy",
    ["http://[bad", "http://{}p:99999", "ftp://{}p:1", "{}::::", "http://{}a b:1", "http://{}p:x"],
)
def test_a_malformed_proxy_is_named_and_its_password_is_not(
    name: str, proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FatalError, match="cannot be asked through") as error:
        asked_through({name: proxy.format("me:hunter#2@")}, tmp_path, monkeypatch)
    assert f"{name}=" in str(error.value)
    assert "; check it" in str(error.value)
    assert "hunter" not in str(error.value)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"])
def test_a_dead_proxy_is_named_as_what_could_not_be_reached(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TransientError, match=f"asked through {name}=127.0.0.1:9; check it"):
        asked_through({name: "http://me:hunter2@127.0.0.1:9"}, tmp_path, monkeypatch)


def test_a_proxy_that_is_not_asked_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "models.invalid"}
    for proxies in (dead, {"HTTPS_PROXY": "http://127.0.0.1:9"}, {}):
        with pytest.raises(TransientError) as error:
            asked_through(proxies, tmp_path, monkeypatch)
        assert "PROXY" not in str(error.value)
