"""From a caption set to pairs, and proof that their text gives nothing away.

A model of words alone finds 97 % of BRACE's false captions. The proof are controls that never hear
the clip, and a classifier trained on the words; one that chooses neither has half a point.
"""

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.data.records import table_text
from audiocapbench.errors import DatasetError
from audiocapbench.files import write_file
from audiocapbench.meta.corrupt.balance import choose, differences_of, placed
from audiocapbench.meta.corrupt.captions import Candidates, CaptionSet, CorruptedPair, Corruption
from audiocapbench.meta.corrupt.events import change_times
from audiocapbench.meta.corrupt.exchanges import change_phrases, exchange_nouns
from audiocapbench.meta.corrupt.names import exchange_deeds, exchange_names, exchange_topics
from audiocapbench.meta.pairs import CaptionPair, Pairs
from audiocapbench.meta.scorers.scorer import CONTROLS, ControlScorer, TrialSettings
from audiocapbench.meta.trial import numbers
from audiocapbench.metrics.result import FloatArray
from audiocapbench.stats import Interval, mean_interval

_OF_NOUNS = (exchange_nouns, exchange_deeds, exchange_names, exchange_topics)
RULES: Mapping[Corruption, Callable[[CaptionSet], Iterable[CorruptedPair]]] = {
    "noun": lambda own: chain(*(rule(own) for rule in _OF_NOUNS), change_phrases(own, "noun")),
    "attribute": lambda own: chain(change_phrases(own, "attribute"), change_times(own)),
}
"""What makes every false caption of a kind that it can; one a caption is taken."""

# A quarter of the captions is to have a pair of each kind, and a little more is asked for.
_LEAST = 0.26
# How many points from chance what reads the words may be, and what goes by places where it is sure.
_NEAR, _CHANCE = 3.0, 50.0
_BY_PLACE = ("always-0", "always-1", "random")
TRAINED, _CLASSIFIER = "trained", "a classifier trained on words"
_DAMPING, _SPLITS, _FEWEST_TO_TRAIN = 1.0, 2, 40
# One draw of lots says little about few pairs; what ``random`` earns is the mean of several.
_DRAWS = 25


@dataclass(frozen=True, slots=True)
class CorruptionResult:
    kind: Corruption
    pairs: tuple[CaptionPair, ...]
    corruptions: tuple[CorruptedPair, ...]
    captions: int
    left_out: int  # captions whose candidates read odd, tipped the balance, or were too many
    rejected: Mapping[str, int]  # by reason


class CorruptionSettings(NamedTuple):
    """What is to be made: as many of a kind as can be unless ``per_kind`` says at most."""

    kinds: Sequence[Corruption] = tuple(RULES)
    per_kind: int | None = None
    seed: int = 42
    dataset: str = ""


def make_pairs(captions: CaptionSet, wanted: CorruptionSettings) -> list[CorruptionResult]:
    """Make pairs by rule; the same captions and seed always give the same."""
    found = {kind: list(RULES[kind](captions)) for kind in wanted.kinds}
    return [balanced(kind, own, captions, wanted) for kind, own in found.items()]


def balanced(
    kind: Corruption, candidates: Candidates, captions: CaptionSet, wanted: CorruptionSettings
) -> CorruptionResult:
    """Take one candidate a caption, level them, and put them in places."""
    draw = random.Random(f"{wanted.seed} {kind} places")
    rows = placed(choose(candidates, captions, wanted.per_kind, draw, _LEAST), draw)
    pairs = []
    for place, (one, answer) in enumerate(rows, 1):
        texts = (f"{kind}-{place:05d}", one.clip.id, one.true, one.false)
        names, held = (kind, kind, wanted.dataset), (one.references, one.references)
        pair = CaptionPair(*texts, 0, *names, *held, audio=one.clip.audio)
        pairs.append(pair.swapped() if answer else pair)
    left_out = len({one.caption for one in candidates}) - len(pairs)
    made = tuple(one for one, _ in rows)
    return CorruptionResult(kind, tuple(pairs), made, captions.total, left_out, {})


TABLES = (".csv", ".tsv", ".jsonl")  # BRACE's form is .json
_COLUMNS = ("id", "audio", "caption_a", "caption_b", "preferred", "type")
_PREFERRED = {None: "", 0: "a", 1: "b"}


def check_form(path: Path, forms: Sequence[str] = (*TABLES, ".json")) -> None:
    """Refuse a file whose form is not known, before anything is made."""
    if path.suffix.lower() not in forms:
        raise DatasetError(f"{path}: pairs are written as {', '.join(forms)}; name one of them")


def pair_table(
    suffix: str, pairs: Pairs, columns: Sequence[str], more: Iterable[Sequence[str]]
) -> str:
    """A row a pair with further columns, what stands in them (``more``), and references."""
    names, rows = (*_COLUMNS, *columns), []
    for one, further in zip(pairs, more, strict=True):
        captions = (one.first, one.second, _PREFERRED[one.answer])
        cells = (one.id, one.audio or one.clip, *captions, one.subtype, *further)
        held = {"references": list(one.references_first)}
        rows.append(dict(zip(names, cells, strict=True)) | held)
    return table_text(rows, suffix, names)


def write_clips(
    path: Path, pairs: Iterable[CaptionPair], add: Callable[[dict[str, Any], CaptionPair], None]
) -> None:
    """Write BRACE's JSON, an object a clip, to which ``add`` adds a pair."""
    clips: dict[str, dict[str, Any]] = {}
    for pair in pairs:
        if not pair.references_first:
            raise DatasetError(
                f"{path}: BRACE's form needs another reference of every clip, and {pair.clip!r} "
                "has none; write a .csv"
            )
        name = pair.audio or pair.clip
        add(clips.setdefault(name, {"file_name": name}), pair)
    write_file(path, json.dumps(list(clips.values()), ensure_ascii=False, indent=1) + "\n")


def write_pairs(path: Path, made: Sequence[CorruptionResult]) -> None:
    """Write files that ``audiocapbench meta`` reads: BRACE-Hallucination's JSON, else a table."""

    def add_to_clip(clip: dict[str, Any], pair: CaptionPair) -> None:
        types = ["human", "hallucination"] if pair.answer == 0 else ["hallucination", "human"]
        more = {"references": list(pair.references_first), "kind": pair.type}
        clip[f"caption_{len(clip)}"] = [pair.first, pair.second, *types, more]

    check_form(path)
    pairs = [pair for one in made for pair in one.pairs]
    if path.suffix.lower() == ".json":
        write_clips(path, pairs, add_to_clip)
        return
    sources = (f"{one.clip.id}#{one.number + 1}" for own in made for one in own.corruptions)
    more = [(pair.dataset, source) for pair, source in zip(pairs, sources, strict=True)]
    write_file(path, pair_table(path.suffix.lower(), pairs, ("dataset", "source"), more))


class ControlAccuracy(NamedTuple):
    """How often a control picks the true caption, a tie counted half, and ties, in percent."""

    accuracy: float
    interval: Interval | None  # 95 % over clips, None for too few
    ties: float

    @property
    def far(self) -> float:
        """How many points from chance it is."""
        return abs(self.accuracy - _CHANCE)

    @property
    def may_be_chance(self) -> bool:
        return self.interval is None or self.interval.low <= _CHANCE <= self.interval.high


Check = Mapping[str, Mapping[str, ControlAccuracy]]
"""Figures by kind, "all" last, and by control; that of a classifier is ``trained``."""


def check_words(pairs: Pairs, seed: int, *, train: bool = False) -> Check:
    """Run every control over pairs with answers; ``train`` a linear classifier on words and
    lengths too."""
    answers = np.array([pair.answer for pair in pairs])
    credits = {}
    for name in CONTROLS:
        seeds = range(seed, seed + (_DRAWS if name == "random" else 1))
        controls = [ControlScorer(name, TrialSettings(seed=one)) for one in seeds]
        chosen = np.array([numbers(control.choose(pairs)) for control in controls])
        credits[name] = np.array(np.where(chosen < 0, 0.5, chosen == answers).mean(axis=0))
    kinds = np.array([pair.type for pair in pairs], dtype=object)
    clips = np.array([pair.clip for pair in pairs], dtype=object)
    groups: dict[str, Any] = {kind: kinds == kind for kind in dict.fromkeys(kinds.tolist())}
    groups["all"] = np.ones(len(pairs), dtype=bool)
    found: dict[str, dict[str, ControlAccuracy]] = {}
    for group, mask in groups.items():
        found[group] = {name: _accuracy(one[mask], clips[mask]) for name, one in credits.items()}
        own = [pair for pair, kept in zip(pairs, mask.tolist(), strict=True) if kept]
        if train and len(own) >= _FEWEST_TO_TRAIN:
            found[group][TRAINED] = _trained(own, seed)
    return found


def _accuracy(credits: FloatArray, clips: NDArray[np.object_]) -> ControlAccuracy:
    """The pairs of one clip are drawn together for the interval."""
    interval = mean_interval(
        credits[:, np.newaxis],
        lambda means: 100 * means[..., 0],
        clusters=[str(one) for one in clips],
        bounds=(0.0, 100.0),
    )
    ties = float((credits == 0.5).mean())
    return ControlAccuracy(100 * float(credits.mean()), interval, 100 * ties)


def _trained(pairs: Pairs, seed: int) -> ControlAccuracy:
    """Trained on one half of the clips and tried on the other, both ways, in several splits."""
    from scipy.sparse.linalg import lsqr

    inputs = differences_of([pair.first for pair in pairs], [pair.second for pair in pairs])
    labels = np.array([1.0 if pair.answer == 0 else -1.0 for pair in pairs])
    draw = random.Random(seed)
    clips = sorted({pair.clip for pair in pairs})
    of_pair = np.array([pair.clip for pair in pairs], dtype=object)
    right = np.zeros(len(pairs))
    for _ in range(_SPLITS):
        draw.shuffle(clips)
        one_half = set(clips[: len(clips) // 2])
        half = np.array([clip in one_half for clip in of_pair])
        for train in (half, ~half):
            # Without a constant: the captions' places say nothing.
            weights = lsqr(inputs[train], labels[train], damp=_DAMPING)[0]
            scores = np.sign(inputs[~train] @ weights) * labels[~train]
            right[~train] += (scores + 1) / 2
    return _accuracy(right / _SPLITS, of_pair)


def warnings(check: Check) -> list[str]:
    """One sentence a group for all that reads more than it may, or less, turned round."""
    lines = []
    for group, figures in check.items():
        drawn = {name for name in _BY_PLACE if name in figures and figures[name].may_be_chance}
        off = {name: one for name, one in figures.items() if one.far > _NEAR and name not in drawn}
        told = ", ".join(
            f"{_CLASSIFIER if name == TRAINED else name} in {one.accuracy:.1f} %"
            + (f" ({one.interval.low:.1f}–{one.interval.high:.1f})" if one.interval else "")
            for name, one in off.items()
        )
        most = _CHANCE + max((one.far for one in off.values()), default=0.0)
        unsure = ", which so few pairs cannot tell from chance"
        unsure *= all(one.may_be_chance for one in off.values())
        words = f"is picked by {told}: who reads alone has up to {most:.1f} %{unsure}"
        lines += [f"the true caption of {group} {words}"] if off else []
    return lines


def control_facts(check: Check) -> tuple[dict[str, Any], dict[str, Any]]:
    """Figures by group for JSON, of controls and of the classifier."""
    facts = {
        group: {
            name: {
                "accuracy": one.accuracy,
                "ci": one.interval and list(one.interval),
                "turned_round": 100 - one.accuracy,
                "ties": one.ties,
                "within_3_points": one.far <= _NEAR,
            }
            for name, one in figures.items()
        }
        for group, figures in check.items()
    }
    return facts, {group: own.pop(TRAINED) for group, own in facts.items() if TRAINED in own}
