"""Counts where nouns and qualities stand in captions, and which words stand together.

    python tools/count_frames.py audiocaps/train.csv

Writes frames.npz for `audiocapbench corrupt`. No text goes into the file: what is met once is
dropped, the rest kept as hashes.
"""

import argparse
import csv
from collections import Counter
from pathlib import Path

import numpy as np

from audiocapbench.meta.corrupt.balance import text_keys
from audiocapbench.meta.corrupt.captions import caption_set
from audiocapbench.meta.corrupt.exchanges import frame_key, noun_slots, quality_slots

FILE = Path(__file__).resolve().parents[1] / "src/audiocapbench/meta/corrupt/frames.npz"
FEWEST_FRAMES, FEWEST_TOGETHER = 2, 2


def main() -> None:
    """Count and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captions", type=Path, help="CSV with a column 'caption'")
    with parser.parse_args().captions.open(encoding="utf-8", newline="") as stream:
        texts = sorted({row["caption"] for row in csv.DictReader(stream)})
    captions = caption_set([(str(number), "", [text]) for number, text in enumerate(texts)])
    frames: Counter[int] = Counter()
    for caption in captions.captions:
        said = [slot for slot, _ in quality_slots(caption, "attribute")]
        for slot in (*noun_slots(caption), *said):
            frames.update(frame_key(frame, slot.phrase) for frame in slot.frames)
    keys = text_keys(texts)
    met, counts = np.unique(keys.told, return_counts=True)
    often = counts >= FEWEST_TOGETHER
    np.savez_compressed(
        FILE,
        frames=np.array(
            sorted(k for k, n in frames.items() if n >= FEWEST_FRAMES), dtype=np.uint32
        ),
        together=met[often],
        counts=np.minimum(counts[often], 65_535).astype(np.uint16),
        captions=np.int64(len(texts)),
    )
    print(f"{FILE.stat().st_size:,} bytes in {FILE}")


if __name__ == "__main__":
    main()
