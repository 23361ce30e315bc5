"""A folder of clips of known domains, whose titles say their numbers, and who merges them."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import expert_plugin
from annotations import asked_about, good_fields, reply
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from folders import write_tone
from plain_numba import import_librosa

DOMAINS = ("S00", "0M0", "00A", "SMA")

Answer = Callable[[int, str, bool], str]


@pytest.fixture
def plain_librosa() -> None:
    """librosa that begins at once."""
    if find_spec("librosa") is not None:
        import_librosa()


def write_place(folder: Path) -> Path:
    """Twelve clips, two of each source."""
    clips = folder / "clips"
    clips.mkdir(parents=True)
    lines = ["file_name,domain,source,title,licence"]
    for number in range(12):
        write_tone(clips / f"{number:02}.wav", 200.0 + 10 * number)
        own = f"{DOMAINS[number % 4]},tape {number // 2},clip {number},CC0"
        lines.append(f"{number:02}.wav,{own}")
    (clips / "metadata.csv").write_text("\n".join(lines) + "\n")
    expert_plugin.install(folder)
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The clips, of which nothing is known yet."""
    return write_place(tmp_path)


class Merger(OpenAIServer):
    """A server that merges well, but for the clips that a test has answers of its own for."""

    def __init__(self) -> None:
        super().__init__(key=None, reply=self._reply)
        self.own: dict[int, Answer] = {}

    @property
    def model(self) -> str:
        """What is asked."""
        return f"endpoint/merger@{self.base_url}"

    def _reply(self, request: Request) -> dict[str, Any]:
        number, domain, again = asked_about(request)
        own = self.own.get(number)
        text = own(number, domain, again) if own else reply(good_fields(number, domain))
        return completion(text)

    def asked(self) -> list[tuple[int, bool]]:
        """Which clips it was asked about, and whether again."""
        return [(n, again) for n, _, again in map(asked_about, self.requests)]


@pytest.fixture
def merger() -> Iterator[Merger]:
    """The server, running."""
    with Merger() as server:
        yield server
