"""Files that ship with the package: lists of words, and weights named by a fingerprint."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from audiocapbench.errors import MetricError


def _place(package: str, file: str) -> Path:
    """Where a file of a room lies; ``importlib.resources`` takes longer to import than to read."""
    return Path(__file__).parents[1].joinpath(*package.split(".")[1:], file)


@cache
def read_lists(package: str, file: str) -> dict[str, Any]:
    """The lists of a TOML or JSON file that ships with the package, each as it is written."""
    text = _place(package, file).read_text("utf-8")
    return dict(json.loads(text)) if file.endswith(".json") else tomllib.loads(text)


def word_set(package: str, file: str, name: str) -> frozenset[str]:
    """One of the lists as a set of words."""
    return frozenset(read_lists(package, file)[name].split())


def with_pieces(text: str, pieces: Mapping[str, str]) -> str:
    """A pattern, which may go on over lines, with the piece of that name for each ``<NAME>``."""
    whole = text.replace("\n", "")
    return re.sub("<([A-Z]+)>", lambda found: with_pieces(pieces[found[1]], pieces), whole)


def patterns(package: str, file: str, table: str = "patterns") -> dict[str, re.Pattern[str]]:
    """A table of patterns of a file of lists, made of its ``pieces`` if it has some."""
    lists = read_lists(package, file)
    named, pieces = lists[table].items(), lists.get("pieces", {})
    return {name: re.compile(with_pieces(text, pieces)) for name, text in named}


@contextmanager
def shipped_weights(package: str, file: str, what: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Fingerprint and content of a NumPy or JSON file; MetricError where it lacks what is read."""
    import hashlib
    import io

    import numpy as np

    place = _place(f"audiocapbench.metrics.{package}.weights", file)
    try:
        content = place.read_bytes()
        name = hashlib.sha256(content).hexdigest()[:8]
        if file.endswith(".json"):
            yield name, json.loads(content)
        else:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                yield name, arrays
    except (OSError, KeyError, ValueError, IndexError) as error:
        raise MetricError(f"{what} cannot be read ({error}): reinstall audiocapbench.") from error
