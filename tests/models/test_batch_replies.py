"""Files of a batch's answers that are meant to hurt: memory stays flat, what is good is kept."""

import json
import re
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import aclosing
from typing import Any

import anyio
import httpx  # noqa: F401  (before memory is measured)
import pytest

from audiocapbench.errors import RefusedQuestionError
from audiocapbench.models import create_model
from audiocapbench.models.remote import LARGEST_REPLY
from fakes.gemini_batches import GeminiBatchServer
from fakes.gemini_server import content
from fakes.http_server import Response
from fakes.openai_batches import Batch, OpenAIBatchServer, answered, completion

KEYS = [f"{number:064x}" for number in range(4)]
MODELS = {"openai": "openai/gpt-audio", "gemini": "gemini/gemini-2.5-flash"}
Results = tuple[Any, dict[str, tuple[int, Any]], int, bool]
Bringing = Callable[..., Any]


def line(provider: str, key: str, text: str) -> bytes:
    told = {"key": key, "response": content(text)}
    if provider == "openai":
        told = answered({"custom_id": key}, completion(text))
    return json.dumps(told).encode() + b"\n"


def flood(begin: bytes, end: bytes, mebibytes: int) -> bytes:
    """Zipped: what comes before so many mebibytes of letters, they, and what comes after them."""
    zipping = zlib.compressobj(wbits=31)
    parts = [zipping.compress(begin) + zipping.flush(zlib.Z_FULL_FLUSH)]
    parts += mebibytes * [zipping.compress(b"x" * (1 << 20)) + zipping.flush(zlib.Z_FULL_FLUSH)]
    return b"".join((*parts, zipping.compress(end), zipping.flush()))


@pytest.fixture(params=MODELS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def bringing(provider: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bringing]:
    """Has a batch of four answers bring a file, and looks at what came of it."""
    with OpenAIBatchServer() as openai, GeminiBatchServer() as gemini:
        for name, value in (openai.settings | gemini.settings).items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("VERTEX_PROJECT", raising=False)
        done = Batch("batch_0", {}, [], "completed", is_done=True, billed=len(KEYS), answers=[{}])
        openai.batches["batch_0"] = done
        told = {"state": "BATCH_STATE_SUCCEEDED", "output": {"responsesFile": "files/out"}}
        gemini.batches["batch_0"] = {"metadata": told}
        server = openai if provider == "openai" else gemini
        plain = server.respond

        async def look(looking: Callable[[Results], object]) -> None:
            model: Any = create_model(MODELS[provider])
            async with aclosing(model.batches()) as service:
                looking(await service.results("batch_0", set(KEYS)))

        def brought(file: bytes, looking: Callable[[Results], object], **headers: str) -> None:
            sent = Response(file, 200, headers)
            is_file = re.compile("/content|:download").search
            server.respond = lambda one: sent if is_file(one.path) else plain(one)
            anyio.run(look, looking)

        yield brought


def test_answers_of_hundreds_of_megabytes_take_no_memory(provider: str, bringing: Bringing) -> None:
    begin, end = line(provider, KEYS[0], "A dog.").split(b"dog")
    file = flood(begin, end + b"".join(line(provider, key, "A cat.") for key in KEYS[1:]), 800)

    def look(found: Results) -> None:
        _, brought, _, _ = found
        assert brought[KEYS[0]][0] == 200, "it was paid for"
        with pytest.raises(RefusedQuestionError, match="more than 8 MiB") as error:
            brought[KEYS[0]][1]()
        assert error.value.billed

    tracemalloc.start()
    try:
        bringing(file, look, **{"Content-Encoding": "gzip"})
        assert tracemalloc.get_traced_memory()[1] < 6 * LARGEST_REPLY
    finally:
        tracemalloc.stop()


def test_one_answer_that_is_too_large_leaves_the_others_as_they_are(
    provider: str, bringing: Bringing
) -> None:
    lines = [line(provider, key, f"A dog {number}.") for number, key in enumerate(KEYS)]
    lines[1] = line(provider, KEYS[1], "x" * LARGEST_REPLY)
    stranger = line(provider, "a-stranger", "x" * LARGEST_REPLY)

    def look(found: Results) -> None:
        _, brought, extra, is_whole = found
        assert (sorted(brought), extra, is_whole) == (KEYS, 1, True)
        assert {status for status, _ in brought.values()} == {200}
        for number in (3, 0, 2):
            assert f"A dog {number}." in json.dumps(brought[KEYS[number]][1]())
        with pytest.raises(RefusedQuestionError, match="more than 8 MiB"):
            brought[KEYS[1]][1]()

    bringing(b"\n".join((lines[0], lines[1], stranger, *lines[2:])).removesuffix(b"\n"), look)


def test_the_answers_before_a_flood_are_kept(provider: str, bringing: Bringing) -> None:
    """A batch may bring as much as its questions may, and of more the beginning is read."""
    good = b"".join(line(provider, key, "A cat.") for key in KEYS[:3])

    def look(found: Results) -> None:
        _, brought, extra, is_whole = found
        assert (sorted(brought), is_whole) == (KEYS[:3], False)
        assert extra == 1

    bringing(
        flood(good, line(provider, KEYS[3], "A cat."), 400), look, **{"Content-Encoding": "gzip"}
    )
