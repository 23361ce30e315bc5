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

_LABEL = re.compile(r"\s*(?:\(([A-Z])\)|([A-Z])[.):](?=\s))\s*")  # as "(A) rain" has
CLOSING = "Answer with the letter of the right option alone."


def as_choices(
    benchmark: Benchmark,
    label: str,
    columns: Sequence[str],
    options: Sequence[str],
    *,
    rotate: bool,
) -> Benchmark:
    """Samples whose reference is the right one of the options in some columns, or of fixed ones.

    With ``rotate`` each is asked as often as it has options, with the right one at another place;
    its category is then that place, so that scores by category show what a place is worth.
    """
    samples, problems = list[Sample](), list[Problem]()
    for one in benchmark.samples:
        try:
            texts = _options(one, columns, options)
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
        raise InvalidDataError(Path(label), problems)
    named = f"{benchmark.name}[rotate=yes]" if rotate else benchmark.name
    return replace(benchmark, name=named, samples=tuple(samples))


def _options(sample: Sample, columns: Sequence[str], fixed: Sequence[str]) -> list[str]:
    cells: list[Any] = list(fixed) or [sample.details.get(column) for column in columns]
    found = cells[0] if len(cells) == 1 else cells
    if isinstance(found, str):  # a list, or a line for each
        found = parsed(found) or found.splitlines()
    texts = [" ".join(str(one).split()) for one in found or () if one is not None]
    texts = [one for one in texts if one]
    labels = [one[1] or one[2] for text in texts if (one := _LABEL.match(text))]
    if "".join(labels) == LETTERS[: len(texts)]:  # others are the initials of a name
        texts = [_LABEL.sub("", one, count=1) for one in texts]
    if not 2 <= len({one.casefold() for one in texts} - {""}) == len(texts) <= len(LETTERS):
        where = "" if fixed else f", in {' + '.join(columns)}"
        what = f"needs 2 to {len(LETTERS)} options that differ{where}"
        raise BenchmarkError(f"{what}; it has {found!r:.80}")
    if bad := [one for one in texts if BETWEEN in one]:
        raise BenchmarkError(f"has {BETWEEN!r} in its option {bad[0]!r:.60}")
    return texts


def _right(sample: Sample, options: Sequence[str]) -> int:
    """The place of the right option, which the reference says in words, by its letter, or both."""
    if sample.instruction.isspace():  # where nobody is asked, there is none
        raise BenchmarkError("has no question")
    if len(set(sample.references)) > 1:
        raise BenchmarkError(f"has several answers: {'; '.join(sample.references):.120}")
    key, folded = " ".join(sample.references[0].split()), [one.casefold() for one in options]
    if key.casefold() in folded:
        return folded.index(key.casefold())
    label = _LABEL.match(key)
    letter = label[1] or label[2] if label else key.strip("().").upper()
    words = key[label.end() :].casefold() if label else ""
    place = LETTERS[: len(options)].find(letter) if len(letter) == 1 else -1
    if place >= 0 and words in ("", folded[place]):
        return place
    raise BenchmarkError(
        f"its answer {key!r:.60} is none of its options, nor the letter of one: "
        f"{'; '.join(options):.120}"
    )
