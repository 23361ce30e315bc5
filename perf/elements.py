"""The ``elements`` judge side by side with NLTK's METEOR: captions a second on one core.

Both see AudioCaps' test captions, each against the five references of a clip, in one process and
one after the other. Time is processor time, so that a busy machine slows neither. Three figures
for the judge: cold (first captions of a process), new captions of known words, and new captions
for clips whose references it has seen, as when a second model is judged.
"""

import argparse
import csv
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# One core: set before numpy reads it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from audiocapbench.judges import JudgeInput
from audiocapbench.judges.elements import Elements

REPOSITORY = Path(__file__).resolve().parents[1]


class Rate(NamedTuple):
    """What was measured, and how many captions a second it judged."""

    name: str
    captions: int
    a_second: float


def read_clips(data: Path) -> list[list[str]]:
    """The five captions of each AudioCaps test clip that has five."""
    clips: dict[str, list[str]] = {}
    with (data / "audiocaps" / "test.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            clips.setdefault(row["youtube_id"], []).append(row["caption"])
    return [captions for captions in clips.values() if len(captions) == 5]


def pair_up(clips: list[list[str]], shift: int, place: int) -> list[JudgeInput]:
    """Each clip's references with one caption of a clip further on."""
    return [
        JudgeInput("", clips[(number + shift) % len(clips)][place], tuple(references), "sound")
        for number, references in enumerate(clips)
    ]


def rate(name: str, captions: int, work: Callable[[], object]) -> Rate:
    """Run something once, in processor time."""
    start = time.process_time()
    work()
    return Rate(name, captions, captions / (time.process_time() - start))


def measure_judge(clips: list[list[str]]) -> list[Rate]:
    """The three figures of the judge."""
    half = len(clips) // 2
    judge = Elements()
    rates = [rate("elements, cold", half, lambda: judge.judge_many(pair_up(clips[:half], 1, 0)))]
    # Warm-up: every word of the clips, in other captions than those that are timed.
    warm = Elements()
    warm.judge_many([JudgeInput("", " ".join(captions), ("a sound",), "") for captions in clips])
    items = pair_up(clips, 1, 0)
    rates.append(rate("elements, known words", len(items), lambda: warm.judge_many(items)))
    more = [item for place in range(1, 5) for item in pair_up(clips, 1, place)]
    rates.append(rate("elements, known references", len(more), lambda: warm.judge_many(more)))
    return rates


def measure_meteor(clips: list[list[str]], wordnet: Path, captions: int) -> Rate:
    """NLTK's METEOR over the same pairs, after a warm-up of its own."""
    import nltk
    from nltk.translate.meteor_score import meteor_score

    items = pair_up(clips, 1, 0)[:captions]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(wordnet, Path(folder) / "corpora" / "wordnet")
        # NLTK opens this index of sense keys for other languages, of which METEOR needs none.
        (Path(folder) / "corpora" / "wordnet" / "index.sense").touch()
        nltk.data.path.insert(0, folder)

        def score_all() -> None:
            for item in items:
                references = [text.lower().split() for text in item.references]
                meteor_score(references, item.prediction.lower().split())

        score_all()
        return rate("nltk meteor", len(items), score_all)


def main() -> None:
    """Measure and print the rates, and how many times the peer's each is."""
    default = os.environ.get("AUDIOCAPBENCH_SHARED", REPOSITORY.parent / "shared")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(default) / "data")
    parser.add_argument("--peer-captions", type=int, default=200)
    options = parser.parse_args()
    clips = read_clips(options.data)
    rates = measure_judge(clips)
    peer = measure_meteor(clips, options.data / "wordnet-3.0", options.peer_captions)
    for one in [*rates, peer]:
        times = one.a_second / peer.a_second
        print(f"{one.name:28}{one.captions:7,} captions{one.a_second:9,.0f}/s{times:8.1f}x")


if __name__ == "__main__":
    main()
