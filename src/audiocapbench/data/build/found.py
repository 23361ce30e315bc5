"""Where wanted clips lie in a repository, whichever way the repository keeps them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from audiocapbench.data.build.hub import Received
from audiocapbench.data.build.sources import Source, Wanted


class Place(NamedTuple):
    """A clip's place: a file, and within a table the group of rows and the row in it."""

    path: str
    group: int = 0
    row: int = 0


@dataclass(slots=True)
class Found:
    """A wanted clip that the repository has."""

    place: Place
    captions: list[str] = field(default_factory=list)
    confirmed: bool = True


class Layout(Protocol):
    """A way in which repositories keep audio."""

    def find(self, source: Source, wanted: Sequence[Wanted]) -> dict[str, Found]:
        """Where the wanted clips lie, by key; reading stops once all are found."""

    def size(self, places: Sequence[Place]) -> int:
        """How many bytes have to be downloaded at most for these clips."""

    def audio(self, places: Sequence[Place], received: Received) -> Iterator[tuple[Place, bytes]]:
        """The clips as they are stored; a clip without audio comes as no bytes."""


class Collector:
    """Gathers rows into what was found, and knows when nothing more can come."""

    def __init__(self, source: Source, wanted: Sequence[Wanted]) -> None:
        self._source = source
        self._wanted = {one.key: one for one in wanted}
        self.found: dict[str, Found] = {}

    def take(self, key: str, place: Place, texts: Mapping[str, str | None]) -> None:
        """A row: its key, where it lies, and its other texts by column."""
        wanted = self._wanted.get(key)
        if wanted is None:
            return
        confirm = self._source.confirm
        confirmed = confirm is None or texts.get(confirm) == wanted.fields.get(confirm)
        known = self.found.get(key)
        if known is None or (confirmed and not known.confirmed):
            known = self.found[key] = Found(place, confirmed=confirmed)
        elif not self._source.gathers:
            return
        caption = texts.get("caption")
        if caption:
            known.captions.append(caption)

    @property
    def complete(self) -> bool:
        """Whether every wanted clip is there, with all its captions."""
        return len(self.found) == len(self._wanted) and all(
            one.confirmed
            and (
                not self._source.gathers or len(one.captions) >= self._wanted[key].captions_expected
            )
            for key, one in self.found.items()
        )
