"""Benchmarks of one caption a clip: the demo, AudioCapBench with its printed results, a folder."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Unpack

from pydantic import TypeAdapter

from audiocapbench.asking import ClipOptions
from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.data import Sample, open_folder
from audiocapbench.data.categories import CATEGORIES, fold_categories, fold_category
from audiocapbench.data.folder import Folder
from audiocapbench.errors import BenchmarkError
from audiocapbench.files import shipped_place
from audiocapbench.metrics.shipped import read_lists

AUDIOCAPBENCH = "audiocapbench"

_PROMPTS = "prompts/audiocapbench.json"
CUSTOM_NAME = "audiocapbench-custom"
_LISTS = {"clotho": "sound", "audiocaps": "sound", "musiccaps": "music", "speech": "speech"}
_SIZES = {"sound": 200, "music": 300, "speech": 300}  # of each list of a category
_IDS = {f"{one}_{at}": kind for one, kind in _LISTS.items() for at in range(_SIZES[kind])}
_DATED = r"(?:.*/)?{}(?:-\d{{4}}-\d\d-\d\d)?(?:[@\[].*)?"


def captioning(
    name: str, folder: Folder, notes: Iterable[str] = (), asks: str = "", category: str = ""
) -> Benchmark:
    """One caption a clip, asked for as its row says, or else all alike, or as AudioCapBench does;
    ``category`` is that of rows that name none."""
    samples = []
    for row, clip, position in sorted(folder.entries, key=lambda entry: entry.position):
        named = "category" in row.model_fields_set or not category
        own = row.category if named else category
        instruction = row.instruction or asks or instruction_for(own, position)
        texts = tuple(row.references)
        samples.append(Sample(row.key, clip, instruction, texts, own, position, row.details))
    folded, said = fold_categories(samples)
    return Benchmark(name, folder.root, folded, folder.missing, notes=[*notes, *said])


def instruction_for(category: str, position: int) -> str:
    """The paper's instruction (appendix A.3): two a category, alternated by position.

    Other categories than the paper's get those of ``sound``, which ask for whatever is heard.
    """
    folded = fold_category(category)
    known = folded if folded in CATEGORIES else "sound"
    choices: list[str] = read_lists("audiocapbench.benchmarks", _PROMPTS)[known]
    return choices[position % len(choices)]


def load_demo() -> Benchmark:
    """30 embedded clips: sound, music, speech, mixed, silence."""
    return replace(captioning("demo", open_folder(demo_clips())), notes=())


def demo_clips() -> Path:
    return shipped_place("audiocapbench.benchmarks", "demo_clips")


def load_audiocapbench(
    data: Path = Path(AUDIOCAPBENCH), metadata: Path | None = None, **clips: Unpack[ClipOptions]
) -> Benchmark:
    """1,000 clips of sound, music and speech, as published.

    One that was built from other ID lists is called ``audiocapbench-custom``, so that its numbers
    are never taken for the benchmark's.
    """
    if not data.is_dir():
        raise BenchmarkError(
            f"{data}: no such folder; make it with: audiocapbench build audiocapbench --out {data}"
        )
    folder = open_folder(data, metadata=metadata, **clips)
    others = {fold_category(entry.row.category) for entry in folder.entries} - {*CATEGORIES}
    if others:
        raise BenchmarkError(
            f"{data}: is not AudioCapBench (it has the category {min(others)!r}); "
            f"run the folder itself: audiocapbench run {data}"
        )
    return captioning(CUSTOM_NAME if folder.name == CUSTOM_NAME else AUDIOCAPBENCH, folder)


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A model's printed results; the judge's scores are from 0 to 10."""

    rank: int
    model: str
    judged: Mapping[str, float]
    metrics: Mapping[str, float]
    by_category: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PublishedResults:
    """The tables of a paper, and how many samples each category has.

    ``composition`` has category, source, samples and mean characters of a caption; ``misfits`` are
    statements that the tables do not bear out: what was checked, the row, what is said of it, and
    what its numbers give; ``recomputed`` is what its captions scored here.
    """

    benchmark: str
    source: str
    counts: Mapping[str, int]
    rows: tuple[PublishedRow, ...]
    code: str = ""
    judge: str = ""
    composition: tuple[Mapping[str, str | int], ...] = ()
    misfits: tuple[Mapping[str, str], ...] = ()
    variant: str = ""  # how its metrics were computed, where they are not ours
    recomputed: str = ""

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def is_judge(self, name: str) -> bool:
        """Whether a judge is the paper's, of any provider and day."""
        return bool(
            self.judge and re.fullmatch(_DATED.format(re.escape(self.judge)), name, re.IGNORECASE)
        )


@cache
def paper_results() -> PublishedResults:
    document = read_lists("audiocapbench.benchmarks", f"published/{AUDIOCAPBENCH}.json")
    return TypeAdapter(PublishedResults).validate_python(document)


def is_papers(sample: Sample) -> bool:
    return _IDS.get(sample.id) == sample.category


def are_papers(samples: Sequence[Sample]) -> bool:
    """Whether samples are the paper's by id and category, and at least half of each category."""
    have = Counter(one.category for one in samples if is_papers(one))
    enough = all(2 * have[name] >= size for name, size in paper_results().counts.items())
    return enough and have.total() == len(samples)
