"""AudioCaps-Eval: pairs of captions that people compared, and how often a metric agrees."""

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.metrics.encoders.sbert import SentenceTransformerEncoder

Scorer = Callable[[Sequence[str], Sequence[Sequence[str]]], np.ndarray]
HUMAN = ("HC", "HI", "HM")
MACHINE = ("MM_1", "MM_2", "MM_3", "MM_4", "MM_5")


class Pair(NamedTuple):
    """Two captions, the references each is held to, and the sum of the votes for the first."""

    kind: str
    first: str
    second: str
    first_references: list[str]
    second_references: list[str]
    votes: int


class RememberingEncoder:
    """An encoder that reads a sentence once, for tests that share a slow one.

    Args:
        encoder: The slow one.
        read: What it sees of each sentence; of those that it sees alike it reads the first.
    """

    def __init__(self, encoder: Encoder, read: Callable[[list[str]], Iterable[Hashable]]) -> None:
        self.name, self._encode, self._read = encoder.name, encoder.encode, read
        self._known: dict[Hashable, np.ndarray] = {}

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        seen = list(self._read(list(sentences)))
        new = {
            key: text for key, text in zip(seen, sentences, strict=True) if key not in self._known
        }
        self._known.update(zip(new, self._encode(list(new.values())), strict=True))
        return np.array([self._known[key] for key in seen])


@cache
def remembering(name: str) -> RememberingEncoder:
    """The named encoder, shared by all tests of a process."""
    encoder = load(name)
    if isinstance(encoder, SentenceTransformerEncoder):
        # Batches without padding: the same to 1e-6, in a fifth less of a processor's time.
        encoder = SentenceTransformerEncoder(encoder.name, encoder.model, tokens=512)
        cut: Any = encoder.model.tokenizer  # which tells no capital letters
        return RememberingEncoder(encoder, lambda texts: map(tuple, cut(texts)["input_ids"]))
    return RememberingEncoder(encoder, lambda texts: texts)


def read_pairs(shared: Path) -> list[Pair]:
    """All pairs in the order of the published detector's cached probabilities."""
    clips = json.loads((shared / "fense/audiocaps_eval_pairs.json").read_text(encoding="utf-8"))
    human = [_pair(kind, clip) for kind in HUMAN for clip in clips if clip.get(kind)]
    return human + [_pair(kind, clip) for clip in clips for kind in MACHINE if clip.get(kind)]


def accuracies(pairs: list[Pair], first: np.ndarray, second: np.ndarray) -> dict[str, float]:
    """Percentage of decided pairs in which the higher score goes where the votes go."""
    votes = np.array([pair.votes for pair in pairs])
    kinds = np.array([pair.kind for pair in pairs])
    right = (first - second) * votes > 0
    chosen = {kind: kinds == kind for kind in ("HC", "HI", "HM", "MM")}
    chosen["all"] = np.ones(len(pairs), dtype=bool)
    return {kind: 100 * float(right[mask & (votes != 0)].mean()) for kind, mask in chosen.items()}


def score_pairs(pairs: list[Pair], scorer: Scorer) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the first captions and of the second, in one call."""
    captions = [pair.first for pair in pairs] + [pair.second for pair in pairs]
    references = [pair.first_references for pair in pairs]
    references += [pair.second_references for pair in pairs]
    scores = scorer(captions, references)
    return scores[: len(pairs)], scores[len(pairs) :]


def _pair(kind: str, clip: dict[str, Any]) -> Pair:
    first, second, votes = clip[kind][0], clip[kind][1], clip[kind][-1]
    left = right = clip["references"]
    if not kind.startswith("MM"):
        left = right = [text for text in clip["references"] if text != first]
    if kind == "HC":
        right = [text for text in clip["references"] if text != second]
    return Pair(kind[:2], first, second, left, right, sum(votes))
