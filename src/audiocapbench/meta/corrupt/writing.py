"""Writes trials as files that ``audiocapbench meta`` reads: plain CSV, or BRACE's own JSON."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audiocapbench.errors import DatasetError
from audiocapbench.meta.corrupt.make import CorruptionResult
from audiocapbench.meta.corrupt.trial import CorruptedPair
from audiocapbench.meta.pairs.pair import CaptionPair

_COLUMNS = ("id", "audio", "caption_a", "caption_b", "preferred", "type", "dataset", "source")
_PREFERRED = {0: "a", 1: "b"}
SUFFIXES = (".csv", ".tsv", ".json")


def check_path(path: Path) -> None:
    """Refuse a file name whose form is not known, before anything is made.

    Raises:
        DatasetError: It ends neither in .csv, .tsv nor .json.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise DatasetError(f"{path}: pairs are written as {', '.join(SUFFIXES)}; name one of them")


def write_pairs(path: Path, made: Sequence[CorruptionResult]) -> None:
    """Write all pairs: as BRACE-Hallucination's JSON where the name ends so, else as a table.

    Raises:
        DatasetError: The file cannot be written, or its form cannot hold these pairs.
    """
    check_path(path)
    rows = [row for one in made for row in zip(one.pairs, one.trials, strict=True)]
    try:
        if path.suffix.lower() == ".json":
            _write_json(path, rows)
        else:
            _write_table(path, rows)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written ({error.strerror})") from None


def _write_table(path: Path, rows: Sequence[tuple[CaptionPair, CorruptedPair]]) -> None:
    most = max((len(pair.references_first) for pair, _ in rows), default=0)
    names = [f"reference_{number + 1}" for number in range(most)]
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        writer.writerow([*_COLUMNS, *names])
        for pair, trial in rows:
            preferred = _PREFERRED[1 if pair.answer else 0]
            row = [pair.id, pair.audio or pair.clip, pair.first, pair.second, preferred]
            blank = [""] * (most - len(pair.references_first))
            own = [pair.type, pair.dataset, _source(trial)]
            writer.writerow([*row, *own, *pair.references_first, *blank])


def _source(trial: CorruptedPair) -> str:
    return f"{trial.clip.id}#{'+'.join(str(number + 1) for number in trial.sources)}"


def _write_json(path: Path, rows: Sequence[tuple[CaptionPair, CorruptedPair]]) -> None:
    clips: dict[str, dict[str, Any]] = {}
    for pair, _ in rows:
        if not pair.references_first:
            raise DatasetError(
                f"{path}: BRACE's form needs another reference of every clip, and {pair.clip!r} "
                "has none; write a .csv"
            )
        name = pair.audio or pair.clip
        clip = clips.setdefault(name, {"file_name": name})
        types = ["human", "hallucination"] if pair.answer == 0 else ["hallucination", "human"]
        more = {"references": list(pair.references_first), "kind": pair.type}
        clip[f"caption_{len(clip)}"] = [pair.first, pair.second, *types, more]
    text = json.dumps(list(clips.values()), ensure_ascii=False, indent=1)
    path.write_text(f"{text}\n", encoding="utf-8")
