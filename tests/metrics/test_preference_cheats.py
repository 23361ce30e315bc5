"""No attack of ``meta cheat`` surely gains in ``preference``, on clips it never saw."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from audiocapbench.meta.blind import gain
from audiocapbench.meta.cheat import attack_pairs, cheat
from audiocapbench.meta.corrupt.captions import CaptionedClip, caption_set
from audiocapbench.meta.scorers.scorer import create_scorer
from audiocapbench.metrics.preference.blend import preference

JOINT = re.compile(r"(?:,? (?:followed by|and|as|while|then|with))+ an? (?=\w)")
UNHEARD = ("warning", "cawing", "silence", "alarm", "loud warning", "short beep")


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
    captions = _captions(shared / file, clip, caption)
    clips = caption_set([(name, name, own) for name, own in captions.items()]).clips
    _nothing_gained(clips, most)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "clip", "caption"),
    [
        ("audiocaps/test.csv", "youtube_id", "caption"),
        ("clotho/evaluation_captions.csv", "fname", "raw_text"),
    ],
)
def test_behind_what_hangs_only_what_is_true_gains_more_than_taking_that_away(
    shared: Path, file: str, clip: str, caption: str
) -> None:
    broken, mended, true = list[str](), list[str](), list[str]()
    held_to = list[list[str]]()
    for first, *others in _captions(shared / file, clip, caption).values():
        if len(broken) < 250 and others and (joints := list(JOINT.finditer(first))):
            broken.append(first[: joints[-1].end()])
            mended.append(first[: joints[-1].start()])
            true.append(broken[-1] + " ".join(first[joints[-1].end() :].split()[:3]))
            held_to.append(others)
    over = preference(mended, held_to)
    assert (gain(preference(true, held_to), over).interval or (0, 0))[0] > 0.02
    for word in UNHEARD:
        unheard = preference([cut + word for cut in broken], held_to)
        assert (gain(unheard, over).interval or (0, 0))[1] < 0, word


def _captions(file: Path, clip: str, caption: str) -> dict[str, list[str]]:
    captions: dict[str, list[str]] = {}
    with file.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            captions.setdefault(row[clip], []).append(row[caption])
    return captions


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
