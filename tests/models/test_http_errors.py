"""Errors of providers become the right kind: again, one sample, or the end of the run."""

import pytest

from audiocapbench.errors import FatalError, ModelError, RefusedQuestionError, TransientError
from audiocapbench.models.remote import RemoteModel

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
