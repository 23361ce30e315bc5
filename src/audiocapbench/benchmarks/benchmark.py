"""A benchmark: samples, and how answers are grouped and added up."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks.mecat import groups as mecat
from audiocapbench.benchmarks.traits import Traits
from audiocapbench.data import Clip, MissingClip, Sample
from audiocapbench.data.categories import fold_category
from audiocapbench.data.columns import Reading
from audiocapbench.errors import BenchmarkError, did_you_mean, some
from audiocapbench.files import digest
from audiocapbench.grouping import grouped
from audiocapbench.store.records import RunKind

BUILT_IN_TRAITS = (Traits(), *mecat.TRAITS.values())
_REASONS = 3
_SAMPLE_FIELDS = {
    **dict.fromkeys(("id", "instruction", "category"), str),
    "clip": Clip,
    "position": int,
    "details": Mapping,
}
TRIAL = "trial/"
"""Begins the names of what serves a trial, to keep it apart from benchmarks."""


@dataclass(frozen=True, init=False, repr=False)
class Benchmark:
    """What is asked, about which clips, and how the answers are scored.

    Attributes:
        missing: Clips that belong to it but are not in the folder.
        notes: What was guessed or pinned when it was opened, to be said before anything is asked.
        parts: What is asked about each clip, where ids are ``CLIP/PART``; a file of predictions may
            then have a column for each.
        reading: How its file of references was read, where it is one.
    """

    name: str
    root: Path
    samples: tuple[Sample, ...]
    missing: tuple[MissingClip, ...]
    traits: Traits
    kind: RunKind
    notes: tuple[str, ...]
    parts: tuple[str, ...]
    reading: Reading | None

    def __init__(
        self,
        name: str,
        root: Path,
        samples: Iterable[Sample],
        missing: Iterable[MissingClip] = (),
        traits: Traits | None = None,
        kind: RunKind = "asked",
        notes: Iterable[str] = (),
        parts: Iterable[str] = (),
        reading: Reading | None = None,
        **own: Any,
    ) -> None:
        """Put a benchmark together; ``own`` are single traits, such as ``headline="rouge_l"``."""
        traits = replace(traits, **own) if traits else Traits(**own)
        values = (name, Path(root), tuple(samples), tuple(missing), traits, kind)
        more = (tuple(notes), tuple(parts), reading)
        for one, value in zip(fields(self), (*values, *more), strict=True):
            object.__setattr__(self, one.name, value)

    def __repr__(self) -> str:
        return f"Benchmark({self.name!r}, {len(self.samples):,} samples)"

    def check(self) -> None:
        """Refuse what a run would trip over later."""
        aggregation, seen = self.traits.aggregation, set[str]()
        for sample in self.samples:
            if not isinstance(sample, Sample):
                raise BenchmarkError(f"{sample!r:.80} is not a Sample")
            for name, kind in _SAMPLE_FIELDS.items():
                if not isinstance(value := getattr(sample, name), kind):
                    words = f"whose {name} is {value!r:.80}; it is a {kind.__name__}"
                    raise BenchmarkError(f"there is a sample {sample.id!r:.80} {words}")
            where = f"sample {sample.id!r}"
            try:
                json.dumps(dict(sample.details), allow_nan=False)
            except (TypeError, ValueError, RecursionError) as error:
                raise BenchmarkError(f"{where}: its details are not JSON ({error})") from None
            if sample.id in seen:
                raise BenchmarkError(f"two samples have the id {sample.id!r}")
            seen.add(sample.id)
            if not sample.references or not all(isinstance(one, str) for one in sample.references):
                raise BenchmarkError(f"{where} has no references, or they are not text")
            if aggregation is not None:
                aggregation.clip(sample)
                aggregation.facets(sample)
        for name in self.traits.strata if self.samples else ():
            if not any(name in one.details for one in self.samples):
                raise BenchmarkError(f"strata: no sample has a detail {name!r}")
        present = {sample.category for sample in self.samples}
        if aggregation is None or not present or self.missing:
            return
        if absent := [corpus for corpus in aggregation.weights if corpus not in present]:
            what = f"counts {absent[0]!r}, and no sample is of that category"
            raise BenchmarkError(f"{aggregation.total} {what}")

    @property
    def presence(self) -> str:
        """How many of its clips are there, as a build counts them, and why others are not."""
        ids = {one.id.rpartition("/")[0] if self.parts else one.id for one in self.samples}
        counts = Counter(one.reason for one in self.missing).most_common()
        reasons = [f"{count:,} missing ({reason})" for reason, count in counts[:_REASONS]]
        rest = sum(count for _, count in counts[_REASONS:])
        why = "; ".join([*reasons, *([f"{rest:,} for other reasons"] if rest else [])])
        whole = len(ids) + len(self.missing)
        return f"{self.name}: {len(ids):,} of {whole:,} clips present; {why or 'none is missing'}."

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over everything that decides what is asked and scored."""
        content: list[Any] = [
            [one.id, one.clip.sha256, one.instruction, one.category, one.position, one.references]
            for one in self.samples
        ]
        traits = self.traits
        # Those of 0.1, which knew no others, leave the fingerprint as it was then.
        before = [(one.aggregation, one.controls) for one in BUILT_IN_TRAITS]
        if (traits.aggregation, traits.controls) not in before:
            stored = traits.to_dict()
            content.append([stored["aggregation"], stored["controls"]])
        return digest(json.dumps(content))


def trial_of(
    name: str,
    root: Path,
    texts: Mapping[str, str],
    clips: Mapping[str, Clip] | None = None,
    groups: Mapping[str, str] | None = None,
) -> Benchmark:
    """Questions by key, with the sound of clips or without; progress is shown by group."""
    sounds, kinds = clips or {}, groups or {}
    samples = [
        Sample(key, sounds.get(key) or Clip.absent(key), text, ("-",), kinds.get(key, "all"), at)
        for at, (key, text) in enumerate(texts.items())
    ]
    return Benchmark(f"{TRIAL}{name}", root, samples, kind="trial")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which samples of a benchmark to ask: some categories, the first so many, or a draw.

    Attributes:
        limit: The first so many; of a benchmark with strata, of the first clip of each, the second
            of each, and so on.
        sample: So many drawn by lot, as many of each category as its share of the whole; of a
            benchmark with strata, of each category in each of them.
        seed: Decides the draw, together with the samples' ids alone: on every machine and in every
            order the same, and a smaller draw is part of a larger one of the same categories.
        categories, ids: Only these; all by default.
    """

    categories: tuple[str, ...] = ()
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    ids: tuple[str, ...] = ()

    def of(self, benchmark: Benchmark) -> tuple[Sample, ...]:
        known = list(dict.fromkeys(sample.category for sample in benchmark.samples))
        named = [one if one in known else fold_category(one) for one in self.categories]
        for category in named:
            if category not in known:
                near = did_you_mean(category, known, "it has")
                raise BenchmarkError(f"{benchmark.name} has no category {category!r}{near}")
        for name, number in (("limit", self.limit), ("sample", self.sample)):
            if number is not None and number < 1:
                raise BenchmarkError(f"the {name} is {number}; it must be at least 1")
        if self.limit is not None and self.sample is not None:
            raise BenchmarkError("limit takes the first samples and sample draws; choose one")
        if not benchmark.samples:
            raise BenchmarkError(f"{benchmark.name} has no clip that is present; nothing to run")
        wanted = named or known
        there = {one.id for one in benchmark.samples}
        if strange := [one for one in self.ids if one not in there]:
            raise BenchmarkError(f"{benchmark.name} has no sample {some(strange)}")
        ids = set(self.ids) or there
        chosen = [one for one in benchmark.samples if one.category in wanted and one.id in ids]
        if self.sample is not None and self.sample < len(chosen):
            drawn = self.drawn(chosen, self.sample, benchmark.traits.strata)
        else:
            drawn = {one.id for one in _in_turn(chosen, benchmark.traits)[: self.limit]}
        return tuple(one for one in chosen if one.id in drawn)

    def drawn(self, samples: list[Sample], number: int, strata: tuple[str, ...] = ()) -> set[str]:
        """Ids of so many samples: of each category its share, by largest remainder."""
        lot = partial(digest, self.seed)
        by_category = grouped(
            (" ".join([one.category, *_stratum(one, strata)]), one.id) for one in samples
        )
        share = {name: number * len(ids) / len(samples) for name, ids in by_category.items()}
        counts = {name: int(one) for name, one in share.items()}
        by_remainder = sorted(share, key=lambda name: (counts[name] - share[name], name))
        for name in by_remainder[: number - sum(counts.values())]:
            counts[name] += 1
        return {
            one for name, ids in by_category.items() for one in sorted(ids, key=lot)[: counts[name]]
        }


def _stratum(sample: Sample, strata: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(sample.details.get(name, "")) for name in strata)


def _in_turn(samples: list[Sample], traits: Traits) -> list[Sample]:
    """The first clip of each stratum with all that is asked about it, then the second of each."""
    places: dict[tuple[str, ...], dict[str, int]] = {}

    def turn(one: Sample) -> int:
        clips = places.setdefault(_stratum(one, traits.strata), {})
        clip = one.clip.sha256 if traits.aggregation is None else traits.aggregation.clip(one)
        return clips.setdefault(clip, len(clips))

    return sorted(samples, key=turn) if traits.strata else samples
