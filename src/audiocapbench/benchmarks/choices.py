"""Questions with options about clips: what is asked, and the right one at every place in turn."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.data import InvalidDataError, Problem, Sample
from audiocapbench.data.cells import parsed
from audiocapbench.errors import BenchmarkError
from audiocapbench.metrics.choice import BETWEEN, LETTERS

_LABEL = re.compile(r"^\s*(?:\([A-Z]\)|[A-Z][.):](?=\s))\s*")  # as "(A) rain" has
CLOSING = "Answer with the letter of the right option alone."


def as_choices(
    benchmark: Benchmark, columns: Sequence[str], options: Sequence[str], *, rotate: bool
) -> Benchmark:
    """Samples whose reference is the right one of the options in some columns, or of fixed ones.

    With ``rotate`` each is asked as often as it has options, with the right one at another place;
    its category is then that place, so that scores by category show what a place is worth.
    """
    samples, problems = list[Sample](), list[Problem]()
    for one in benchmark.samples:
        try:
            texts = list(options) or _options(one, columns)
            right = _right(one, texts)
        except BenchmarkError as error:
            problems.append(Problem("", f"sample {one.id!r}", str(error)))
            continue
        for turn in range(len(texts) if rotate else 1):
            turned = texts[-turn:] + texts[:-turn] if turn else texts
            letters = dict(zip(LETTERS, turned, strict=False))
            own = (right + turn) % len(texts)
            lines = [f"{letter}. {text}" for letter, text in letters.items()]
            reference = BETWEEN.join([lines[own], *lines[:own], *lines[own + 1 :]])
            how: dict[str, Any] = {"references": (reference,)}
            how["instruction"] = "\n".join([one.instruction, *lines, CLOSING])
            if rotate:
                how |= {"id": f"{one.id}/{turn}", "category": f"right at {LETTERS[own]}"}
            samples.append(replace(one, position=len(samples), **how))
    if problems:
        raise InvalidDataError(Path(benchmark.name), problems)
    named = f"{benchmark.name}[rotate=yes]" if rotate else benchmark.name
    return replace(benchmark, name=named, samples=tuple(samples))


def _options(sample: Sample, columns: Sequence[str]) -> list[str]:
    cells = [sample.details.get(column) for column in columns]
    found = cells[0] if len(cells) == 1 else cells
    if isinstance(found, str):  # a list, or a line for each
        found = parsed(found) or found.splitlines()
    said = [str(one) for one in found or () if one is not None]
    texts = [one for cell in said if (one := _LABEL.sub("", cell).strip())]
    if not 2 <= len(set(texts)) == len(texts) <= len(LETTERS):
        what = f"needs 2 to {len(LETTERS)} options that differ, in {' + '.join(columns)}"
        raise BenchmarkError(f"{what}; it has {found!r:.80}")
    if bad := [one for one in texts if BETWEEN in one]:
        raise BenchmarkError(f"has {BETWEEN!r} in its option {bad[0]!r:.60}")
    return texts


def _right(sample: Sample, options: Sequence[str]) -> int:
    """The place of the right option, which the reference says in words or by its letter."""
    key, said = sample.references[0].strip(), _LABEL.sub("", sample.references[0]).strip()
    key = said or key
    folded = [one.casefold() for one in options]
    if key.casefold() in folded:
        return folded.index(key.casefold())
    letter = key.strip("().").upper()
    if len(letter) == 1 and letter in LETTERS[: len(options)]:
        return LETTERS.index(letter)
    raise BenchmarkError(
        f"its answer {key!r:.60} is none of its options, nor the letter of one: "
        f"{'; '.join(options):.120}"
    )
