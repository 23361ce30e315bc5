"""The limit that answers tell in their headers: read where it can be true, and only there."""

from pathlib import Path

import pytest

from audiocapbench.models.model import ModelSettings
from audiocapbench.models.openai_chat import ENDPOINT, create_endpoint
from audiocapbench.models.remote import AnnouncedLimit, announced_limit
from fakes.http_server import HttpServer, json_response
from fakes.openai_server import completion
from fakes.questions import ask, question


def headers(limit: str, remaining: str, reset: str) -> dict[str, str]:
    values = {"limit": limit, "remaining": remaining, "reset": reset}
    return {f"x-ratelimit-{name}-requests": value for name, value in values.items()}


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        (("500", "499", "120ms"), AnnouncedLimit(500, 499, 0.12)),
        (("14400", "14370", "2m59.56s"), AnnouncedLimit(14_400, 14_370, 179.56)),
        (("60", "0", "1m0s"), AnnouncedLimit(60, 0, 60.0)),
    ],
)
def test_what_can_be_true_is_read(said: tuple[str, str, str], limit: AnnouncedLimit) -> None:
    found = announced_limit(headers(*said))
    assert found is not None
    assert found[:2] == limit[:2]
    assert found.reset_s == pytest.approx(limit.reset_s)


@pytest.mark.parametrize(
    "said",
    [
        ("0", "0", "1s"),
        ("-1", "0", "1s"),
        ("500", "-3", "1s"),
        ("500", "501", "1s"),
        ("500", "500", "0s"),
        ("500", "499", "0ms"),
        ("500", "499", ""),
        ("500", "499", "soon"),
        ("500", "499", "999999999s"),
        ("500", "499", "1e9"),
        ("NaN", "499", "1s"),
        ("500", "NaN", "NaN"),
        ("inf", "1", "1s"),
        ("5e2", "1", "1s"),
        ("٥٠٠", "1", "1s"),
        ("9" * 5000, "1", "1s"),
        ("500", "", "1s"),
        ("500.5", "1", "1s"),
    ],
)
def test_what_cannot_be_true_is_not(said: tuple[str, str, str]) -> None:
    assert announced_limit(headers(*said)) is None
    assert announced_limit({}) is None


def test_a_model_knows_what_its_last_answer_told(tmp_path: Path) -> None:
    told = headers("500", "499", "120ms")
    with HttpServer(lambda _request: json_response(completion(), headers=told)) as server:
        model = create_endpoint(f"endpoint/m@{server.url}/v1", ModelSettings())
        asked = question(tmp_path, ENDPOINT.contract)
        ask(model, asked)
        assert model.announced == AnnouncedLimit(500, 499, 0.12)
        told.clear()
        ask(model, asked)
        assert model.announced is None
