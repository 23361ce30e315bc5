"""Scorers that never hear the clip and know nothing: what any other must beat.

``always-0`` and ``always-1`` take a place, ``random`` draws lots, ``longer`` takes the caption with
more characters and ``shorter`` the other (the second where both are as long), ``rarer-noun`` the
one with the rarer noun, ``likelier`` the one whose words follow one another as captions' words do.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from audiocapbench.errors import TrialError, did_you_mean
from audiocapbench.meta.pairs.pair import CaptionPair, captions, references
from audiocapbench.meta.scorers.scorer import Choice, PairScorer, TrialSettings, higher
from audiocapbench.metrics.fluency.likelihood import load_ngrams
from audiocapbench.signature import sign

_Rule = Callable[[Sequence[CaptionPair]], list[Choice]]


class ControlScorer(PairScorer):
    """A rule that chooses by the captions alone."""

    sees_both = True

    def __init__(self, name: str, settings: TrialSettings) -> None:
        if name not in CONTROLS:
            near = did_you_mean(name, CONTROLS, "there are")
            raise TrialError(f"there is no control {name!r}{near}")
        self.name = f"control:{name}"
        self.signature = sign(f"control-{name}")
        self._rule = RULES.get(name) or partial(_random, settings.seed)
        if name == "random":
            self.signature = self.signature.with_fields(seed=settings.seed)
        elif name == "likelier":
            self.signature = self.signature.with_fields(model=load_ngrams().name)

    def choose(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        return self._rule(pairs)


def _lengths(pairs: Sequence[CaptionPair], sign: int) -> list[Choice]:
    """The longer caption, or the shorter one for -1; the second where both are as long."""
    gaps = [sign * (len(pair.first) - len(pair.second)) for pair in pairs]
    return [Choice.FIRST if gap > 0 else Choice.SECOND for gap in gaps]


def _random(seed: int, pairs: Sequence[CaptionPair]) -> list[Choice]:
    """Depends on the seed and the pair alone, so that a part of a set is drawn as the whole is."""
    words = [f"{seed}\0{pair.id}\0{pair.first}" for pair in pairs]
    drawn = [hashlib.sha256(one.encode()).digest()[0] for one in words]
    return [(Choice.FIRST, Choice.SECOND)[one & 1] for one in drawn]


def _rarer_noun(pairs: Sequence[CaptionPair]) -> list[Choice]:
    """Rarity is counted in these very pairs; nouns are sources, as for the elements judge."""
    from audiocapbench.metrics.elements.splitting import split
    from audiocapbench.metrics.elements.words import ElementKind
    from audiocapbench.metrics.porter import stem

    texts = {*captions(pairs), *(one for own in references(pairs) for one in own)}
    nouns = {
        text: {stem(one.word) for one in split(text).elements if one.kind is ElementKind.SOURCE}
        for text in texts
    }
    frequency = Counter(noun for own in nouns.values() for noun in own)
    rarest = [
        min((frequency[one] for one in nouns[text]), default=np.inf) for text in captions(pairs)
    ]
    return higher(*np.split(-np.array(rarest), 2))


RULES: Mapping[str, _Rule] = {
    "always-0": lambda pairs: [Choice.FIRST] * len(pairs),
    "always-1": lambda pairs: [Choice.SECOND] * len(pairs),
    "longer": partial(_lengths, sign=1),
    "shorter": partial(_lengths, sign=-1),
    "likelier": lambda pairs: higher(
        *np.split(load_ngrams().mean_log_probabilities(captions(pairs)), 2)
    ),
    "rarer-noun": _rarer_noun,
}

CONTROLS = (*RULES, "random")
