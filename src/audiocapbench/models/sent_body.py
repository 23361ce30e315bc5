"""A JSON request whose audio is encoded while it is sent: a clip is held once, as bytes.

With hundreds of questions in flight, the audio in base64 and again within the body would be most
of a run's memory.
"""

import base64
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from audiocapbench.models.model import SentAudio

_STEP = 3 * 16_384  # base64 turns every three bytes into four letters, so steps join seamlessly


class SentBody:
    """The body of one request; it can be sent more than once.

    ``document`` makes the request from a text that stands for the audio in base64.
    """

    def __init__(
        self, document: Callable[[str], Mapping[str, Any]], audio: SentAudio | None
    ) -> None:
        place = secrets.token_hex(16)  # nobody's text can hold it by accident or on purpose
        whole = json.dumps(document(place), ensure_ascii=False, allow_nan=False)
        # Half of a surrogate pair, which a caption may hold, has no UTF-8.
        encoded = whole.encode("utf-8", "replace")
        self._before, _, self._after = encoded.partition(place.encode())
        self._content = audio.content if audio is not None else b""

    @property
    def headers(self) -> dict[str, str]:
        """What a server must know of the body beforehand."""
        audio = -(-len(self._content) // 3) * 4
        length = len(self._before) + audio + len(self._after)
        return {"Content-Type": "application/json", "Content-Length": str(length)}

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._before
        for start in range(0, len(self._content), _STEP):
            yield base64.b64encode(self._content[start : start + _STEP])
        yield self._after
