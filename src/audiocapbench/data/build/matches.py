"""Where wanted clips lie in a repository, whichever way the repository keeps them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from audiocapbench.data.build.sources import ClipSource, ListedClip


class ClipLocation(NamedTuple):
    """A clip's place: a file, and within a table the group of rows and the row in it."""

    path: str
    group: int = 0
    row: int = 0


@dataclass(slots=True)
class ClipMatch:
    """A wanted clip that the repository has."""

    place: ClipLocation
    captions: list[str] = field(default_factory=list)
    confirmed: bool = True


class Collector:
    """Gathers rows into what was found, and knows when nothing more can come."""

    def __init__(self, source: ClipSource, wanted: Sequence[ListedClip]) -> None:
        self._source = source
        self._wanted = {one.key: one for one in wanted}
        self.found: dict[str, ClipMatch] = {}

    def take(self, key: str, place: ClipLocation, caption: str | None = None) -> None:
        """A row: its key, where it lies, and its caption."""
        wanted = self._wanted.get(key)
        if wanted is None:
            return
        confirmed = not self._source.confirms or caption == wanted.fields.get("caption")
        known = self.found.get(key)
        if known is None or (confirmed and not known.confirmed):
            known = self.found[key] = ClipMatch(place, confirmed=confirmed)
        elif not self._source.gathers:
            return
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
