"""Replies that are meant to hurt: bombs, floods, redirects, bytes that are no text, deep nests.

Whatever comes, memory stays bounded, the time-out
holds and the key goes nowhere but to the address that was named.
"""

import gzip
import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from needs import needs

needs("websockets")

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import FatalError, RefusedQuestionError, TransientError
from audiocapbench.models import ModelSettings, create_model
from audiocapbench.models.remote import LARGEST_REPLY
from fakes import faults, gemini_server, realtime_asking
from fakes.dashscope_server import DashScopeServer, generation
from fakes.faults import Fault, Plan
from fakes.gemini_server import GeminiServer
from fakes.http_server import HttpServer
from fakes.openai_server import OpenAIServer, completion, stream
from fakes.questions import ask, question
from fakes.realtime_server import RealtimeServer

KEY = "sk-hostile-0123456789abcdef"
PROVIDERS = ("openai/gpt-audio", "dashscope/qwen-audio-turbo", "dashscope/qwen-omni-turbo")
GEMINI = "gemini/gemini-2.5-flash"
EVERY = (*PROVIDERS, GEMINI)
GOOD = {
    "openai/gpt-audio": json.dumps(completion()).encode(),
    "dashscope/qwen-audio-turbo": json.dumps(generation()).encode(),
    "dashscope/qwen-omni-turbo": stream(completion()),
    GEMINI: json.dumps(gemini_server.content()).encode(),
}

Asking = Callable[[str], Reply]


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, HttpServer]]:
    with OpenAIServer(key=KEY) as openai, DashScopeServer(key=KEY) as qwen, GeminiServer() as gem:
        for name in ("OPENAI_API_KEY", "DASHSCOPE_API_KEY"):
            monkeypatch.setenv(name, KEY)
        monkeypatch.setenv("GEMINI_API_KEY", gemini_server.KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
        monkeypatch.setenv("DASHSCOPE_HTTP_BASE_URL", qwen.base_url)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", gem.url)
        yield {"openai": openai, "dashscope": qwen, "gemini": gem}


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    def asked(name: str) -> Reply:
        model = create_model(name, ModelSettings(timeout=20.0))
        [reply] = ask(model, question(tmp_path, model.contract))
        return reply

    return asked


def spoil(servers: dict[str, HttpServer], name: str, fault: Fault) -> HttpServer:
    server = servers[name.partition("/")[0]]
    server.plan = Plan(always=fault)
    return server


def zipped(content: bytes, name: str = "gzip", status: int = 200) -> Fault:
    kind = {"Content-Type": "application/json", "Content-Encoding": name}
    return Fault("body", status, kind, content)


def bomb(gibibytes: int) -> bytes:
    """Zeros in gzip: a block that stands by itself, over and over."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * (gibibytes << 6)


CHILD = """
import resource, sys
from pathlib import Path
from audiocapbench.errors import ModelError
from audiocapbench.models import ModelSettings, create_model
from fakes.questions import ask, question

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

for when in ("before", "after"):
    for name in sys.argv[1:]:
        model = create_model(name, ModelSettings(timeout=20.0))
        try:
            print(name, ask(model, question(Path("."), model.contract))[0].status)
        except ModelError as error:
            print(name, type(error).__name__, error)
    print(when, peak())
    input()
"""


def test_a_gzip_bomb_takes_no_memory_and_fails_its_question(
    servers: dict[str, HttpServer], tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, *EVERY],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    for name in EVERY:
        assert process.stdout.readline() == f"{name} ok\n"
    before = float(process.stdout.readline().split()[1])
    huge = zipped(bomb(2))
    for name in EVERY:
        spoil(servers, name, huge)
    process.stdin.write("\n")
    process.stdin.flush()
    for name in EVERY:
        line = process.stdout.readline()
        assert line.startswith(f"{name} RefusedQuestionError")
        assert "answered with more than 8 MiB" in line
    after = float(process.stdout.readline().split()[1])
    process.communicate("\n", timeout=120)
    assert after - before < 100, "mebibytes for replies of two gibibytes"


@pytest.mark.parametrize("name", EVERY)
def test_what_is_zipped_honestly_is_read(
    servers: dict[str, HttpServer], asking: Asking, name: str
) -> None:
    kind = "text/event-stream" if "omni" in name else "application/json"
    headers = {"Content-Type": kind, "Content-Encoding": "gzip"}
    spoil(servers, name, Fault("body", 200, headers, gzip.compress(GOOD[name])))
    assert asking(name).text == "A dog barks."


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (zipped(b"no gzip"), "damaged gzip"),
        (zipped(gzip.compress(b'{"choices": []}')[:-12]), "broke off"),
        (zipped(b"x", "br"), "not asked for (br)"),
        (zipped(b"x", "gzip, gzip"), "not asked for (gzip, gzip)"),
        (faults.body(b'{"choices": "\xe9t\xe9"}'), "not UTF-8"),
        (faults.body(b'{"choices": "\xc3'), "not UTF-8"),
    ],
)
def test_a_reply_that_cannot_be_decoded_is_asked_again(
    servers: dict[str, HttpServer], asking: Asking, name: str, fault: Fault, words: str
) -> None:
    spoil(servers, name, fault)
    with pytest.raises(TransientError) as caught:
        asking(name)
    assert words in str(caught.value)


NESTED = b'{"choices": ' + b"[" * 700 + b"]" * 700 + b', "output": {}, "candidates": []}'


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        NESTED,
        b'{"choices": ' + b"9" * 5_000 + b"}",
        b"<!doctype html><html>Sign in</html>",
        b"\xef\xbb\xbf{}",
        b"NaN",
    ],
    ids=["lists", "objects", "700 deep", "digits", "page", "mark", "nan"],
)
def test_json_that_is_none_ends_nothing(
    servers: dict[str, HttpServer], asking: Asking, name: str, body: bytes
) -> None:
    if "omni" in name:
        body = b"data: " + body + b"\n\n"
    kind = "text/event-stream" if "omni" in name else "application/json"
    spoil(servers, name, faults.body(body, kind))
    with suppress(TransientError):
        assert asking(name).status is not Status.OK


@pytest.mark.parametrize("name", EVERY)
def test_a_count_of_more_digits_than_python_reads_costs_no_answer(
    servers: dict[str, HttpServer], asking: Asking, name: str
) -> None:
    digits = b'"usage": {"prompt_tokens": ' + b"9" * 5_000 + b', "input_tokens": 7}, "more":'
    body = re.sub(rb'"usage(?:Metadata)?":', digits, GOOD[name])
    kind = "text/event-stream" if "omni" in name else "application/json"
    spoil(servers, name, faults.body(body, kind))
    assert asking(name).status is Status.OK


@pytest.mark.parametrize("content", [7, {"text": "A dog barks."}, True])
def test_content_that_is_no_text_is_a_failure_and_not_an_empty_answer(
    servers: dict[str, HttpServer], asking: Asking, content: object
) -> None:
    body = json.loads(GOOD["openai/gpt-audio"])
    body["choices"][0]["message"]["content"] = content
    spoil(servers, "openai/gpt-audio", faults.body(json.dumps(body).encode()))
    reply = asking("openai/gpt-audio")
    assert reply.status is Status.FAILED
    assert "is no text" in (reply.error or "")


@pytest.mark.parametrize("name", EVERY)
def test_a_head_that_never_ends_is_given_up(
    servers: dict[str, HttpServer], asking: Asking, name: str
) -> None:
    headers = {f"X-{number}": "x" * 900 for number in range(2_000)}
    spoil(servers, name, Fault("body", 200, headers, GOOD[name]))
    with pytest.raises(TransientError):
        asking(name)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("status", [302, 307])
def test_no_redirect_is_followed_and_the_key_stays_where_it_belongs(
    servers: dict[str, HttpServer], asking: Asking, name: str, status: int
) -> None:
    with OpenAIServer(key=None) as elsewhere:
        there = {"Location": f"{elsewhere.url}/v1/chat/completions"}
        spoil(servers, name, Fault("status", status, there, b""))
        with pytest.raises(FatalError, match="has moved"):
            asking(name)
        assert elsewhere.requests == []


@pytest.mark.parametrize("name", EVERY)
def test_an_error_as_large_as_a_bomb_is_still_that_error(
    servers: dict[str, HttpServer], asking: Asking, name: str
) -> None:
    spoil(servers, name, zipped(bomb(1), status=401))
    with pytest.raises(FatalError, match="check "):
        asking(name)
    spoil(servers, name, faults.status(401, b"No such key. " + b"x" * 200_000))
    with pytest.raises(FatalError, match="No such key"):
        asking(name)
    spoil(servers, name, faults.status(401, "Schlüssel fehlt".encode("latin-1")))
    with pytest.raises(FatalError, match="Schl"):
        asking(name)


@pytest.mark.parametrize("name", ["openai/gpt-audio", "dashscope/qwen-omni-turbo"])
def test_an_endless_stream_is_cut_off(
    servers: dict[str, HttpServer], asking: Asking, name: str
) -> None:
    piece = b'data: {"choices": [{"index": 0, "delta": {"content": "' + b"x" * 4_000 + b'"}}]}\n\n'
    content = piece * (2 * LARGEST_REPLY // len(piece))
    spoil(servers, name, faults.body(content, "text/event-stream"))
    with pytest.raises(RefusedQuestionError, match="more than 8 MiB"):
        asking(name)


@pytest.fixture
def realtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[RealtimeServer]:
    with realtime_asking.serving(monkeypatch) as running:
        yield running


@pytest.mark.parametrize("pieces", [1, 40], ids=["one message", "many"])
def test_a_flood_over_a_websocket_is_cut_off(realtime: RealtimeServer, pieces: int) -> None:
    step = 2 * LARGEST_REPLY // pieces
    flood = json.dumps({"type": "response.output_text.delta", "delta": "x" * step}).encode()
    realtime.plan = Plan([Fault("flood", pieces, body=flood)])
    error = realtime_asking.failure(realtime_asking.model())
    assert isinstance(error, RefusedQuestionError)
    assert "more than 8 MiB" in str(error)


def test_a_websocket_follows_no_redirect(realtime: RealtimeServer) -> None:
    with RealtimeServer() as elsewhere:
        moved = faults.status(302, b"", location=elsewhere.url + "/realtime")
        realtime.plan = Plan([moved])
        error = realtime_asking.failure(realtime_asking.model())
        assert isinstance(error, FatalError)
        assert "has moved" in str(error)
        assert elsewhere.heard == []
