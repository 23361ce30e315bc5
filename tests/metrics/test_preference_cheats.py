"""No attack of ``meta cheat`` surely gains in ``preference``, on clips it never saw."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from audiocapbench.meta.cheat import attack_pairs, cheat
from audiocapbench.meta.corrupt.captions import CaptionedClip, caption_set
from audiocapbench.meta.scorers.scorer import create_scorer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "clip", "caption", "most"),
    [
        ("audiocaps/test.csv", "youtube_id", "caption", 0),
        # A second person's caption, joined to the first, is level with it.
        ("clotho/evaluation_captions.csv", "fname", "raw_text", 0.005),
    ],
)
def test_no_attack_beats_the_honest_caption(
    shared: Path, file: str, clip: str, caption: str, most: float
) -> None:
    captions: dict[str, list[str]] = {}
    with (shared / file).open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            captions.setdefault(row[clip], []).append(row[caption])
    clips = caption_set([(name, name, own) for name, own in captions.items()]).clips
    _nothing_gained(clips, most)


@pytest.mark.slow
@pytest.mark.parametrize(("view", "most"), [("long", 0.007), ("short", 0)])
def test_nor_does_one_on_captions_of_mecat(shared: Path, view: str, most: float) -> None:
    lines = (shared / "mecat/caption_test/0M0.jsonl").read_text("utf-8").splitlines()
    captions = {clip: own[view] for line in lines for clip, own in json.loads(line).items()}
    _nothing_gained(caption_set([(name, name, own) for name, own in captions.items()]).clips, most)


def _nothing_gained(clips: Sequence[CaptionedClip], most: float) -> None:
    pairs = attack_pairs(clips, limit=300, seed=5)
    trial = cheat(create_scorer("metric:preference"), pairs)
    assert not [name for name, one in trial["attacks"].items() if one["succeeds"]]
    assert max(one["gain"] for one in trial["attacks"].values()) < most
