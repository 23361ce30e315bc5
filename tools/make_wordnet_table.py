"""Make METEOR's table of synonyms from the ``dict`` folder of WordNet 3.0.

The table keeps what can match a word of a lower-cased caption: synsets that have a lower-case
one-word name, those names, all lemmas that lead to them, and the exception lists. Glosses,
relations and frequencies are left out.
"""

import argparse
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PARTS = ("noun", "verb", "adj", "adv")
DEFAULT_OUT = Path(__file__).parents[1] / "src" / "audiocapbench" / "metrics" / "wordnet_data"
_SYNTACTIC_MARKER = re.compile(r"\([^()]*\)$")


def make_table(folder: Path) -> dict[str, NDArray[np.generic]]:
    """Build the table's arrays from WordNet's files.

    All parts of speech stand one after the other, as long as ``counts`` says (a row a part: words,
    synsets, exceptions). There are the ``words``, sorted; for each synset, how many words lead to
    it (``sizes``), how many of those, the first ones, are its names (``names``), and which they
    are, numbered within the part (``members``); and the ``exceptions`` with their ``bases``.
    """
    parts = [_make_part(folder, part) for part in PARTS]
    return {
        "counts": np.array([part.counts for part in parts], dtype=np.uint32),
        "words": _text(word for part in parts for word in part.words),
        "sizes": np.array(
            [len(own) + len(others) for part in parts for own, others in part.synsets],
            dtype=np.uint8,
        ),
        "names": np.array([len(own) for part in parts for own, _ in part.synsets], dtype=np.uint8),
        "members": np.array(
            [
                number
                for part in parts
                for synset in part.synsets
                for group in synset
                for number in group
            ],
            dtype=np.uint16,
        ),
        "exceptions": _text(form for part in parts for form in part.exceptions),
        "bases": _text(bases for part in parts for bases in part.exceptions.values()),
    }


class Part(NamedTuple):
    """What is kept of one part of speech; a synset is its names and the other words to it."""

    words: list[str]
    synsets: list[tuple[list[int], list[int]]]
    exceptions: dict[str, str]

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many of each there are."""
        return len(self.words), len(self.synsets), len(self.exceptions)


def _make_part(folder: Path, part: str) -> Part:
    names = _names_by_synset(folder / f"data.{part}")
    lemmas = _lemmas_by_synset(folder / f"index.{part}")
    leading = {synset: lemmas[synset] | own for synset, own in names.items()}
    words = sorted(set().union(*leading.values()))
    numbers = {word: number for number, word in enumerate(words)}
    synsets = sorted(
        (
            sorted(map(numbers.__getitem__, own)),
            sorted(map(numbers.__getitem__, leading[synset] - own)),
        )
        for synset, own in names.items()
    )
    return Part(words, synsets, _exceptions(folder / f"{part}.exc"))


def _entries(file: Path) -> Iterator[list[str]]:
    """The fields of each line; lines of the licence start with a space."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith(" "):
                yield line.partition("|")[0].split()


def _names_by_synset(file: Path) -> dict[int, set[str]]:
    """The lower-case one-word names of each synset that has any."""
    synsets: dict[int, set[str]] = {}
    for fields in _entries(file):
        count = int(fields[3], 16)
        names = {_SYNTACTIC_MARKER.sub("", name) for name in fields[4 : 4 + 2 * count : 2]}
        kept = {name for name in names if "_" not in name and name == name.lower()}
        if kept:
            synsets[int(fields[0])] = kept
    return synsets


def _lemmas_by_synset(file: Path) -> dict[int, set[str]]:
    synsets: dict[int, set[str]] = {}
    for fields in _entries(file):
        for synset in fields[-int(fields[2]) :]:
            synsets.setdefault(int(synset), set()).add(fields[0])
    return synsets


def _exceptions(file: Path) -> dict[str, str]:
    """The bases of irregular forms; of a form that is listed twice the last line counts."""
    return {form: " ".join(bases) for form, *bases in _entries(file)}


def _text(lines: Iterable[str]) -> NDArray[np.generic]:
    return np.frombuffer("\n".join(lines).encode("utf-8"), dtype=np.uint8)


def main() -> None:
    """Write the table and WordNet's licence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dict_folder", type=Path, help="WordNet 3.0's folder of data.* and index.*")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, array in make_table(options.dict_folder).items():
        np.save(options.out / f"{name}.npy", array)  # not in an archive, which takes longer to open
    shutil.copyfile(options.dict_folder / "LICENSE", options.out / "LICENSE")
    print(f"{options.out}: {sum(one.stat().st_size for one in options.out.iterdir()):,} bytes")


if __name__ == "__main__":
    main()
