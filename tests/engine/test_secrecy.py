"""No key and no audio in what a run prints or writes, whatever the provider sends back."""

import base64
import itertools
import json
from pathlib import Path

import pytest

from fakes import faults
from fakes.faults import Plan
from fakes.http_server import Request, Response, json_response
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from whole_run import finish, outcomes, sent_audio

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

CLIPS = 10
KEY = "sk-Recognisable0123456789abcdefKey"


def everything_that_arrived(request: Request) -> str:
    return f"{dict(request.headers)} {request.body.decode()}"


def data_of(request: Request) -> str:
    return base64.b64encode(sent_audio(request)).decode()


class Parrot(OpenAIServer):
    """Sends back what it is sent, in every place that a client may keep."""

    def __init__(self) -> None:
        super().__init__(key=KEY)
        self.respond = self._parrot
        self.kinds = itertools.count()

    def _parrot(self, request: Request) -> Response:
        said = everything_that_arrived(request)
        match next(self.kinds):
            case 0:
                return json_response({"error": {"message": said}}, 500)
            case 1:
                return json_response({"error": {"message": said}}, 429)
            case 2:
                return json_response({"detail": said}, 503, {"X-Echo": KEY})
            case 3:
                return Response(said.encode(), 200, {"Content-Type": "text/plain"})
            case 4:
                return json_response({"not": "a completion", "echo": said})
            case 5:
                return json_response(completion(said))
            case 6:
                return json_response(
                    completion(f"It is {data_of(request)}", finish_reason="length")
                )
            case 7:
                return json_response(completion(None, refusal=f"not with {KEY} {said}"))
            case 8:
                error = {"code": "content_filter", "message": said}
                return json_response({"error": error}, 400)
            case 9:
                spoken = {"id": "a", "data": data_of(request), "transcript": KEY}
                return json_response(completion("A dog.", audio=spoken) | {"echo": said})
            case 10:
                error = {"code": "context_length_exceeded", "message": said}
                return json_response({"error": error}, 400)
            case _:
                return json_response(completion())


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", CLIPS)
    return tmp_path


def pieces(audio: bytes) -> list[bytes]:
    """Pieces of a clip by which it would be known: as it is, and as it travels."""
    encoded = base64.b64encode(audio)
    middle = len(audio) // 2
    starts = range(64, len(encoded) - 48, len(encoded) // 8)
    return [audio[middle : middle + 48], *(encoded[start : start + 48] for start in starts)]


def leaks(place: Path, printed: str, secrets: list[bytes], *known: str) -> list[str]:
    """Where one of the secrets is: a file's name, or what was printed."""
    written = {
        str(path.relative_to(place)): path.read_bytes()
        for path in place.rglob("*")
        if path.is_file() and "tones" not in path.parts and path.name not in known
    }
    assert "audiocapbench.db" in written
    found = written | {"printed": printed.encode()}
    return [name for name, content in found.items() if any(one in content for one in secrets)]


@pytest.mark.parametrize("told", ["environment", "file"])
def test_no_key_and_no_audio_is_printed_or_written(place: Path, told: str) -> None:
    with Parrot() as server:
        settings = {"OPENAI_BASE_URL": server.base_url}
        more = []
        if told == "environment":
            settings["OPENAI_API_KEY"] = KEY
        else:
            (place / "keys.env").write_text(f"OPENAI_API_KEY={KEY}\n")
            (place / "keys.env").chmod(0o644)
            more = ["--credentials", "keys.env"]
        end = finish(place, "openai/gpt-audio", *more, **settings)
        secrets = [KEY.encode()]
        for request in server.requests:
            assert request.headers["authorization"] == f"Bearer {KEY}"
            secrets += pieces(sent_audio(request))
        assert end.code == 1, end.err
        assert ("can be read by others" in end.err) == (told == "file")
        statuses = {str(one.reply.status) for one in outcomes(place).values()}
        assert statuses == {"ok", "truncated", "refused", "filtered", "failed"}
        assert leaks(place, end.out + end.err, secrets, "keys.env") == []
        assert any("[secret]" in (one.reply.raw or "") for one in outcomes(place).values())

        server.respond = lambda one: json_response(
            {"error": {"message": everything_that_arrived(one)}}, 401
        )
        refused = finish(place, "openai/gpt-audio", "--fresh", *more, **settings)
        assert refused.code == 2
        assert "check OPENAI_API_KEY" in refused.err
        assert leaks(place, refused.out + refused.err, secrets, "keys.env") == []


def test_a_run_that_ends_at_once_hides_what_the_provider_said(place: Path) -> None:
    said = json.dumps({"error": {"message": f"Bearer {KEY} is tired"}}).encode()
    with OpenAIServer(key=KEY) as server:
        server.plan = Plan(always=faults.status(402, said))
        settings = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
        end = finish(place, "openai/gpt-audio", "--limit", "1", **settings)
    assert end.code == 2
    assert "Bearer [secret] is tired" in end.err
    assert leaks(place, end.out + end.err, [KEY.encode()]) == []


def test_the_search_would_find_what_is_there(place: Path) -> None:
    audio = bytes(range(256)) * 40
    (place / "audiocapbench.db").write_bytes(b"x" + base64.b64encode(audio)[100:600])
    assert leaks(place, "", pieces(audio)) == ["audiocapbench.db"]
    assert leaks(place, f"Authorization: {KEY}", [KEY.encode()]) == ["printed"]
