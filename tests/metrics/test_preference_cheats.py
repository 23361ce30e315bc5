"""No attack of ``meta cheat`` beats the honest caption in ``preference``, on clips it never saw."""

import csv
from pathlib import Path

import pytest

from audiocapbench.meta.cheat import attack_pairs, cheat, honest_captions
from audiocapbench.meta.corrupt.captions import caption_set
from audiocapbench.meta.scorers.scorer import create_scorer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "clip", "caption"),
    [
        ("audiocaps/test.csv", "youtube_id", "caption"),
        ("clotho/evaluation_captions.csv", "fname", "raw_text"),
    ],
)
def test_no_attack_beats_the_honest_caption(
    shared: Path, file: str, clip: str, caption: str
) -> None:
    captions: dict[str, list[str]] = {}
    with (shared / file).open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            captions.setdefault(row[clip], []).append(row[caption])
    clips = caption_set([(name, name, own) for name, own in captions.items()]).clips
    pairs = attack_pairs(honest_captions(clips, limit=300, seed=5), 5)
    trial = cheat(create_scorer("metric:preference"), pairs)
    assert max((one.gain, one.attack) for one in trial.figures) < (0, "")
