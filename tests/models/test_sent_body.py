"""A request's body: JSON with its audio in base64, byte for byte, and never held as a whole."""

import base64
import json
import random
import tracemalloc
from typing import Any

import anyio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from audiocapbench.models.model import SentAudio
from audiocapbench.models.remote import SentBody

STEP = 3 * 32_768


def sound(content: bytes) -> SentAudio:
    return SentAudio(content, "wav", 16_000, 1, 1.0, "0")


async def read(body: SentBody) -> bytes:
    return b"".join([piece async for piece in body])


async def read_twice(body: SentBody) -> tuple[bytes, bytes]:
    return await read(body), await read(body)


def document(text: str) -> Any:
    return lambda data: {"text": text, "audio": f"data:;base64,{data}", "last": [1, None]}


@given(st.text(), st.integers(0, 3 * STEP))
@example("", 0)
@example("data:;base64,", STEP - 1)
@example("{}", STEP)
@example("½", STEP + 1)
@example("\0", 3 * STEP)
@settings(max_examples=40)
def test_what_is_sent_is_the_request_with_its_audio_in_place(text: str, size: int) -> None:
    content = random.Random(size).randbytes(size)
    body = SentBody(document(text), sound(content))
    sent, again = anyio.run(read_twice, body)
    assert json.loads(sent) == document(text)(base64.b64encode(content).decode())
    assert int(body.headers["Content-Length"]) == len(sent)
    assert again == sent, "a second attempt sends something else"


def test_a_request_without_audio_is_plain_json() -> None:
    body = SentBody(lambda _: {"text": "½ \ud800"}, None)
    assert json.loads(anyio.run(read, body)) == {"text": "½ ?"}


def test_text_cannot_stand_where_the_audio_goes() -> None:
    seen: list[str] = []

    def request(data: str) -> dict[str, str]:
        seen.append(data)
        return {"audio": data}

    for _ in range(2):
        SentBody(request, sound(b"abc"))
    assert seen[0] != seen[1]


def test_audio_is_encoded_a_piece_at_a_time() -> None:
    content = bytes(20 * STEP)
    tracemalloc.start()
    try:
        body = SentBody(document("What do you hear?"), sound(content))
        largest = 0

        async def send() -> None:
            nonlocal largest
            async for piece in body:
                largest = max(largest, len(piece))

        anyio.run(send)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert STEP // 3 * 4 <= largest < STEP // 3 * 4 + 100
    assert peak < len(content), "the whole body was in memory"
