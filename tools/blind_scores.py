"""Measures what captions that hear nothing get by scorers, on captions of public data sets.

    python tools/blind_scores.py FOLDER metric:meteor judge:elements

FOLDER has the files of the corpora below. It writes blind_scores.json: figures, and no caption.
Other scorers' figures stay.
"""

import argparse
import csv
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

from audiocapbench.meta.blind import EVALUATIONS, BlindPlay, blind_play, searched_scorer

DATA = Path(__file__).resolve().parents[1] / "src/audiocapbench/meta/blind_scores.json"
TABLES = {
    "Clotho": ("clotho/evaluation_captions.csv", "fname", "raw_text"),
    "AudioCaps": ("audiocaps/test.csv", "youtube_id", "caption"),
    "MusicCaps": ("musiccaps/musiccaps-public.csv", "ytid", "caption"),
}
MECAT = {
    "MECAT speech, long": ("mecat/caption_train/S0A.jsonl", "long"),
    "MECAT speech, short": ("mecat/caption_train/S0A.jsonl", "short"),
    "MECAT music, long": ("mecat/caption_test/0M0.jsonl", "long"),
    "MECAT sounds, long": ("mecat/caption_test/00A.jsonl", "long"),
    "MECAT sounds, short": ("mecat/caption_test/00A.jsonl", "short"),
}


def captions_of(folder: Path, corpus: str, most: int) -> list[list[str]]:
    """References by clip, of at most so many clips."""
    clips = defaultdict[str, list[str]](list)
    if corpus in TABLES:
        file, key, column = TABLES[corpus]
        with (folder / file).open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                clips[row[key]].append(row[column])
    else:
        file, view = MECAT[corpus]
        for line in (folder / file).read_text("utf-8").splitlines():
            clips |= {name: own[view] for name, own in json.loads(line).items()}
    every = list(clips.values())
    return random.Random(0).sample(every, most) if len(every) > most else every


def row_of(scorer: str, corpus: str, found: BlindPlay) -> dict[str, Any]:
    """The figures of one corpus; ``affix`` is the largest gain of those that the climb chose."""
    blind = found.best["sentence"].score
    gains = [one.gain.value for one in found.best.values() if one.gain and one.kind != "sentence"]
    return {
        "scorer": scorer,
        "corpus": corpus,
        "n": found.n,
        "evaluations": found.evaluations,
        "blind": _short(blind.value),
        "ci": [_short(end) for end in blind.interval or ()],
        "person": _short(found.person and found.person.value),
        "other": _short(found.other.value),
        "affix": _short(max((one for one in gains if one is not None), default=None)),
        "signature": found.signature,
    }


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def main() -> None:
    """Measure, and write after every scorer and corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("scorers", nargs="+")
    parser.add_argument("--evaluations", type=int, default=EVALUATIONS)
    parser.add_argument("--clips", type=int, default=2_000, help="of a corpus, at most")
    given = parser.parse_args()
    held = json.loads(DATA.read_text("utf-8"))
    for corpus in [*TABLES, *MECAT]:
        references = captions_of(given.folder, corpus, given.clips)
        for name in given.scorers:
            scorer = searched_scorer(name)
            found = blind_play(
                scorer.score,
                references,
                evaluations=given.evaluations,
                of_corpus=scorer.of_corpus,
            )
            kept = [row for row in held["rows"] if (row["scorer"], row["corpus"]) != (name, corpus)]
            held["rows"] = sorted(
                [*kept, row_of(name, corpus, found)], key=lambda row: row["scorer"]
            )
            write(held)
            print(name, corpus, found.n)


def write(held: dict[str, Any]) -> None:
    """One line a row."""
    rows = ",\n".join(json.dumps(row) for row in held["rows"])
    DATA.write_text(f'{{"source": {json.dumps(held["source"])}, "rows": [\n{rows}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
