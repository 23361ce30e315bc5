"""Packing: texts kept once, numbers as typed columns, all compressed into one line of ASCII.

The page's ``data.js`` reads it back: four bytes of length, a JSON head, then the columns.
"""

import base64
import gzip
import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ALIGNED = 8
_TYPES = {"uint8": "<u1", "uint32": "<u4", "float32": "<f4"}


class Packer:
    """Collects texts, columns and small facts; the empty text is always number 0."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {"": 0}
        self._columns: dict[str, tuple[str, NDArray[Any]]] = {}

    def text(self, text: str) -> int:
        """The number of a text, the same for the same text."""
        return self._texts.setdefault(text, len(self._texts))

    def column(self, name: str, kind: str, values: Any) -> None:
        """Add numbers: ``uint8``, ``uint32`` or ``float32``."""
        self._columns[name] = (kind, np.asarray(values, dtype=_TYPES[kind]).ravel())

    def packed(self, facts: dict[str, Any]) -> str:
        """Everything as base64 of gzip; the same content gives the same line."""
        places: dict[str, Any] = {}
        body = bytearray()
        for name, (kind, values) in self._columns.items():
            places[name] = [kind, len(body), len(values)]
            body += values.tobytes()
            body += bytes(-len(body) % _ALIGNED)
        # Escaped to ASCII, so that half a surrogate pair is no reason to fail.
        document = {**facts, "texts": list(self._texts), "columns": places}
        head = json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
        head += b" " * (-(len(head) + 4) % _ALIGNED)
        whole = struct.pack("<I", len(head)) + head + bytes(body)
        return base64.b64encode(gzip.compress(whole, compresslevel=9, mtime=0)).decode("ascii")
