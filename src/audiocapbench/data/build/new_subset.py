"""New subsets of AudioCapBench's pools, by the rule that the paper states for its own.

Of sound the clips with the longest first captions; of music and speech a random choice among
captions of a stated length. What comes out are ID lists, which a build then takes.
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.data.build.hub import Hub, HubError
from audiocapbench.data.build.id_lists import MUSIC, SOURCES, SPEECH, ClipSource
from audiocapbench.data.build.repository_layouts import layout_of
from audiocapbench.data.problems import Problem, os_errors
from audiocapbench.data.records import csv_records
from audiocapbench.errors import DatasetError
from audiocapbench.files import csv_text, write_file

_LENGTHS = {MUSIC.name: (86, 350), SPEECH.name: (140, 230)}
"""Characters of a caption, from and to, as the paper's subset was drawn."""

_MUSIC_EVALUATION = ("google/MusicCaps", "musiccaps-public.csv", "ytid", "is_audioset_eval")


class NewSubset(NamedTuple):
    """What to draw: the seed of the random parts, and how many clips of each category."""

    seed: int
    per_category: int

    def count(self, source: ClipSource) -> int:
        """How many clips of a part; parts of one category share its number, the first has more."""
        parts = [one.name for one in SOURCES if one.category == source.category]
        share, rest = divmod(self.per_category, len(parts))
        return share + (parts.index(source.name) < rest)


def write_new_lists(
    folder: Path, subset: NewSubset, hub: Hub, revisions: Mapping[str, str]
) -> Path:
    """Draw a subset from the whole pools and write its four ID lists; returns the folder.

    Lists that were drawn before by the same numbers are left as they are: pools may change.
    """
    if subset.per_category < 1:
        raise DatasetError(f"{subset.per_category} is not a number of clips to draw")
    rule = f"seed {subset.seed}, {subset.per_category} a category\n"
    drawn = folder / "drawn.txt"
    if drawn.is_file():
        if drawn.read_text("utf-8", "replace") != rule:
            said = drawn.read_text("utf-8", "replace").strip()[:80]
            raise DatasetError(f"{folder}: was drawn by {said!r}; choose another folder with --out")
        return folder
    with os_errors(folder, "written"):
        folder.mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        rows = choose(source, _pool(hub, source, revisions), subset)
        columns = list(dict.fromkeys([*source.columns, "num_captions", "sample_caption"]))
        lines = [[str(row.get(name, "")) for name in columns] for row in rows]
        write_file(folder / source.id_list, csv_text([columns, *lines]))
    write_file(drawn, rule)
    return folder


def choose(
    source: ClipSource, pool: Mapping[str, Mapping[str, Any]], subset: NewSubset
) -> list[Mapping[str, Any]]:
    """The clips of a part that the rule takes from its pool, by key."""
    count = subset.count(source)
    captions = {key: str(row["sample_caption"]) for key, row in pool.items()}
    if source.name in _LENGTHS:
        low, high = _LENGTHS[source.name]
        fitting = [key for key, text in captions.items() if low <= len(text) <= high]
        order = sorted(fitting, key=lambda key: _lot(subset.seed, key))
    else:
        # Ties by the alphabet: so the published list of AudioCaps was made.
        order = sorted(sorted(captions), key=lambda key: len(captions[key]), reverse=True)
    if len(order) < count:
        raise DatasetError(
            f"{source.name}: {count} clips are wanted, and {len(order)} of the pool fit the rule"
        )
    return [pool[key] for key in order[:count]]


def _lot(seed: int, key: str) -> tuple[bytes, str]:
    """A clip's lot depends on the seed and its name alone, not on the pool or on Python."""
    text = f"{seed}\0{key}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).digest(), key


def _pool(hub: Hub, source: ClipSource, revisions: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Every clip of a part's repository by key, with what its ID list says of a clip."""
    repository = hub.repository(source.repository, revisions.get(source.name))
    found: dict[str, dict[str, Any]] = {}
    for row in layout_of(repository, source).rows(source):
        names = (source.key, *source.key_columns)
        key = next((row[name] for name in names if row.get(name)), None)
        caption = row.get("caption")
        if not isinstance(key, str) or not key or not isinstance(caption, str) or not caption:
            continue
        about = {**row, source.key: key, "num_captions": 0, "sample_caption": caption}
        known = found.setdefault(key, about)
        known["num_captions"] += 1
    if source is MUSIC:
        evaluation = _evaluation_clips(hub)
        found = {key: row for key, row in found.items() if key in evaluation}
    return found


def _evaluation_clips(hub: Hub) -> set[str]:
    """The clips of MusicCaps that its authors set aside for evaluation."""
    name, path, key, flag = _MUSIC_EVALUATION
    problems: list[Problem] = []
    content = hub.repository(name, None).open(path).read()
    rows: Iterable[tuple[str, Any]] = csv_records(Path(path), problems, (key, flag), content)
    found = {row[key] for _, row in rows if str(row[flag]).strip().lower() == "true"}
    if problems or not found:
        raise HubError(f"{name}: {path} does not say which clips are for evaluation")
    return found
