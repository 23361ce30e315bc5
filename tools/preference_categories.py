"""Whether metrics that were tuned on captions of sounds also tell right from wrong elsewhere.

Each right caption of a clip is held to the clip's other captions, against one of another clip, a
copy with one word exchanged for another clip's of the same kind, and a sentence that fits any clip.
"""

import ast
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from audiocapbench.metrics import compute
from audiocapbench.metrics.elements.splitting import ElementKind, kind_of
from fluency_study import read_rows

METRICS = ("preference", "fluent_similarity", "similarity", "rouge_l")
MOST = 400
SEED = 16
_CONTENT = (ElementKind.SOURCE, ElementKind.EVENT, ElementKind.ATTRIBUTE, ElementKind.MOOD)
_ENDS = ".,;:"


class Clip(NamedTuple):
    """A right caption, and the captions that it is held to."""

    right: str
    references: list[str]


def study(folder: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Shares, in percent, in which the right caption scores above each wrong one, by set."""
    sets = {
        "sound: AudioCaps": (_audiocaps(folder), "A sound is heard in the background."),
        "music: MECAT's music view": (_mecat(folder), "Music is playing in the background."),
        "music: MusicCaps, aspects": (_musiccaps(folder), "Music is playing in the background."),
        "speech: emotional speech, cut": (_speech(folder), "A person is speaking."),
    }
    return {name: _shares(list(clips)[:MOST], generic) for name, (clips, generic) in sets.items()}


def _shares(clips: Sequence[Clip], generic: str) -> dict[str, dict[str, float]]:
    draw = Random(SEED)
    others = [clips[place - 1] for place in range(len(clips))]
    both = list(zip(clips, others, strict=True))
    wrong = {
        "another clip's": [other.right for other in others],
        "one word exchanged": [_exchanged(one.right, other.right, draw) for one, other in both],
        "a generic sentence": [generic] * len(clips),
    }
    references = [one.references for one in clips]
    right = compute(METRICS, [one.right for one in clips], references)
    found: dict[str, dict[str, float]] = {}
    for kind, texts in wrong.items():
        changed = np.array([one.right != text for one, text in zip(clips, texts, strict=True)])
        for own, made in zip(right, compute(METRICS, texts, references), strict=True):
            above = (own.samples > made.samples)[changed]
            found.setdefault(own.name, {})[kind] = round(100 * float(above.mean()), 1)
    return found


def _exchanged(text: str, other: str, draw: Random) -> str:
    """The text with one content word exchanged for one of the same kind, if the other has one."""
    words = text.split()
    lent = [word.strip(_ENDS).lower() for word in other.split()]
    places = list(range(len(words)))
    draw.shuffle(places)
    for place in places:
        own = words[place].strip(_ENDS).lower()
        kind = kind_of(own)
        fits = [one for one in lent if kind in _CONTENT and kind_of(one) is kind and one != own]
        if fits:
            end = words[place][len(words[place].rstrip(_ENDS)) :]
            return " ".join([*words[:place], draw.choice(fits) + end, *words[place + 1 :]])
    return text


def _audiocaps(folder: Path) -> Iterable[Clip]:
    captions: dict[str, list[str]] = {}
    for row in read_rows(folder / "audiocaps" / "test.csv"):
        captions.setdefault(row["youtube_id"], []).append(row["caption"])
    return (Clip(own[0], own[1:]) for own in captions.values() if len(own) > 1)


def _mecat(folder: Path) -> Iterable[Clip]:
    for line in (folder / "mecat/caption_test/0M0.jsonl").read_text("utf-8").splitlines():
        for views in json.loads(line).values():
            yield Clip(views["music"][0], views["music"][1:])


def _musiccaps(folder: Path) -> Iterable[Clip]:
    for row in read_rows(folder / "audiocapbench" / "musiccaps_eval.csv"):
        aspects = [str(one) for one in ast.literal_eval(row["aspect_list"])]
        yield Clip(f"A piece of music with {', '.join(aspects)}.", [row["caption"]])


def _speech(folder: Path) -> Iterable[Clip]:
    for row in read_rows(folder / "audiocapbench" / "speech_eval.csv"):
        start, comma, _ = row["caption"].rpartition(",")
        if comma:
            yield Clip(f"{start}.", [row["caption"]])
