"""Cheating on trial: what captions that were made to score gain over the honest one of a clip.

An attack knows the honest caption and the captions of other clips, never the references. It is
the second caption of a pair whose first is the honest one.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from audiocapbench.errors import TrialError
from audiocapbench.meta.corrupt.captions import CaptionedClip
from audiocapbench.meta.pairs import CaptionPair, Pairs
from audiocapbench.meta.scorers.scorer import PairScorer, PointwiseScorer
from audiocapbench.metrics.elements.splitting import ElementKind, split
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.result import first_column
from audiocapbench.metrics.shipped import read_lists
from audiocapbench.stats import mean_interval

_COMMONEST = 40
_NOISE = 1e-4

_LISTS = read_lists("audiocapbench.meta", "attacks.toml")
ATTACKS: dict[str, str] = {name: words for name, (words, _) in _LISTS["attacks"].items()}


class CheatTrial(TypedDict):
    """All attacks on one scorer, in its units, and what the honest captions score on average."""

    scorer: str
    signature: str
    honest: float
    attacks: Mapping[str, Mapping[str, Any]]
    warnings: list[str]
    notes: tuple[str, ...]


def attack_pairs(
    clips: Sequence[CaptionedClip],
    predictions: Mapping[str, str] | None = None,
    *,
    limit: int | None = None,
    seed: int = 42,
) -> list[CaptionPair]:
    """Pairs of an honest caption and an attack on it; the type of a pair names the attack.

    The honest caption is a machine's, or a reference that is held to the others. Of three or more
    a second one is taken out for joined attacks; else that is the neighbour's, the most alike.
    """
    lots = random.Random(seed)
    usable = [one for one in clips if len(one.references) > 1]
    if predictions is not None:
        usable = [one for one in clips if one.references and predictions.get(one.id, "").strip()]
    if len(usable) < 2:
        raise TrialError(
            "there are fewer than two clips with a caption to start from and references to hold "
            "it to; give captions with two references a clip or more, or --predictions of them"
        )
    drawn: list[tuple[CaptionedClip, str, str | None, tuple[str, ...]]] = []
    for clip in lots.sample(usable, min(limit or len(usable), len(usable))):
        own = tuple(lots.sample(clip.references, len(clip.references)))
        if predictions is not None:
            drawn.append((clip, predictions[clip.id], None, own))
        else:
            spared = len(own) > 2
            drawn.append((clip, own[0], own[1] if spared else None, own[1 + spared :]))
    honest = [text for _, text, _, _ in drawn]
    vectors = load().encode(honest)
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -np.inf)
    heard = Counter(
        word for text in honest for word in dict.fromkeys(_words(text, ElementKind.EVENT))
    )
    sounds, lots = [word for word, _ in heard.most_common(_COMMONEST)], random.Random(seed)
    pairs: dict[str, list[CaptionPair]] = {name: [] for name in ATTACKS}
    for (clip, text, second, held), near in zip(drawn, likeness.argmax(axis=1), strict=True):
        neighbour = drawn[near][0].references
        made = _attacks(text, second or honest[near], neighbour, sounds, lots)
        for name, attack in made.items():
            texts = (f"{clip.id} {name}", clip.id, text, attack)
            pair = CaptionPair(*texts, 0, name, name, "", held, held, audio=clip.audio)
            pairs[name].append(pair)
    return [pair for own in pairs.values() for pair in own]


def _words(text: str, last: ElementKind) -> list[str]:
    """The words that carry content, up to a kind: sources, events, then what qualifies them."""
    return [one.word for one in split(text).elements if one.kind <= last and not one.denied]


def _attacks(
    text: str, second: str, neighbour: Sequence[str], sounds: Sequence[str], lots: random.Random
) -> dict[str, str]:
    plain, near = text.strip().rstrip("."), [one.strip().rstrip(".") for one in neighbour]
    nouns, keys = _words(text, ElementKind.SOURCE), _words(text, ElementKind.COUNT)
    words, bare = text.split(), plain.lower().replace(",", "").split()
    twice = (f"{word} {word}" if word.lower().strip(".,") in nouns else word for word in words)
    made = {
        "text": text,
        "plain": plain,
        "second": second,
        "second_inside": f"{second[:1].lower()}{second[1:]}",
        "sounds": ", ".join(sounds),
        "doubled": " ".join(twice),
        "neighbour": ". ".join(near) + ".",
        "shuffled": " ".join(lots.sample(bare, len(bare))),
        "keys": " ".join([*keys, *keys[:1]]),
        "noun": next(iter([*nouns, *words]), ""),
        **{name: _LISTS[name] for name in ("instruct", "padding")},
    }
    return {name: form.format_map(made) for name, (_, form) in _LISTS["attacks"].items()}


def cheat(scorer: PairScorer, pairs: Pairs) -> CheatTrial:
    first, second = pointwise(scorer).score(pairs)
    names = np.array([pair.type for pair in pairs], dtype=object)
    known = ~np.isnan(first) & ~np.isnan(second)
    attacks: dict[str, dict[str, Any]] = {}
    for name in ATTACKS:
        mask = names == name
        attacked = second[mask & known]
        if not len(attacked):
            continue
        gains = attacked - first[mask & known]
        # The same text in another order sums to another last digit; that is no gain.
        gains[np.abs(gains) < _NOISE] = 0.0
        gain, interval = float(gains.mean()), mean_interval(gains[:, np.newaxis], first_column)
        attacks[name] = {
            "score": float(attacked.mean()),
            "gain": gain,
            "ci": interval,
            "wins": 100 * float((gains > 0).mean()),  # percent of the clips
            "n": len(gains),
            "missing": int(mask.sum()) - len(gains),
            "succeeds": gain > 0 and (interval is None or interval.low > 0),
        }
    if not attacks:
        raise TrialError(f"{scorer.name} gave no score to any pair of captions")
    return CheatTrial(
        scorer=scorer.name,
        signature=str(scorer.signature),
        honest=float(np.nanmean(first[names == names[0]])),
        attacks=attacks,
        warnings=[
            f"{scorer.name} can be cheated by '{name}' ({ATTACKS[name]}): "
            f"{one['gain']:+.3f} over the honest caption"
            for name, one in attacks.items()
            if one["succeeds"]
        ],
        notes=scorer.latest.notes,
    )


def pointwise(scorer: PairScorer) -> PointwiseScorer:
    if not isinstance(scorer, PointwiseScorer):
        why = "does not score captions one by one; cheat metric:, judge: or clap:"
        raise TrialError(f"{scorer.name} {why}")
    return scorer
