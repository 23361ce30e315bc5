"""A metric on trial: each caption against its references, the higher score wins."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from audiocapbench.meta.pairs.pair import CaptionPair, captions, references
from audiocapbench.meta.scorers.scorer import FloatArray, PointwiseScorer, TrialSettings
from audiocapbench.metrics import compute, find_metric
from audiocapbench.metrics.registry import refuse_without_audio
from audiocapbench.signature import sign


class MetricScorer(PointwiseScorer):
    """Scores captions with a metric; word weights come from all pairs together.

    ``fense`` does as the published figures were made: first and second captions apart, pairs of
    machines apart from the others, and for these the mean over all sets of references with one left
    out, so that every n-gram metric is held to as many references everywhere.
    """

    needs_corpus = True

    def __init__(self, name: str, settings: TrialSettings) -> None:
        metric, parsed = find_metric(name)
        refuse_without_audio(metric, audio=False)
        self._metric = str(parsed)
        self._reads_references = metric.reads_references
        self._counts_words = metric.counts_words
        self._weighs_words = metric.of_corpus
        self._protocol = settings.protocol
        self.name = f"metric:{parsed}"
        self.signature = sign(self.name)

    def score(self, pairs: Sequence[CaptionPair]) -> tuple[FloatArray, FloatArray]:
        held_to = [pair.references_first and pair.references_second for pair in pairs]
        known = [n for n, own in enumerate(held_to) if own or not self._reads_references]
        if not known:
            raise self.no_references()
        first, second = np.full((2, len(pairs)), np.nan)
        first[known], second[known] = self._scores([pairs[place] for place in known])
        return first, second

    def _scores(self, pairs: Sequence[CaptionPair]) -> tuple[FloatArray, FloatArray]:
        fense = self._protocol == "fense"
        places: list[int] = []
        rows: list[tuple[str, str, tuple[str, ...]]] = []
        sides = zip(captions(pairs), references(pairs), [*pairs, *pairs], strict=True)
        for place, (text, held_to, pair) in enumerate(sides):
            machines = pair.type == "MM"
            # A metric that does not weigh words scores a caption alike in any corpus.
            apart = fense and self._weighs_words
            corpus = f"{place // len(pairs)} {machines}" if apart else ""
            leaves_one_out = fense and machines and self._counts_words and len(held_to) > 1
            sets = list(combinations(held_to, len(held_to) - 1))[::-1] if leaves_one_out else []
            rows += [(corpus, text, own) for own in sets or [held_to]]
            places += [place] * max(1, len(sets))
        scores = np.zeros(len(rows))
        for corpus in dict.fromkeys(name for name, _, _ in rows):
            chosen = [number for number, row in enumerate(rows) if row[0] == corpus]
            scores[chosen] = self._compute([rows[number] for number in chosen])
        means: FloatArray = np.bincount(places, weights=scores) / np.bincount(places)
        return means[: len(pairs)], means[len(pairs) :]

    def _compute(self, rows: Sequence[tuple[str, str, tuple[str, ...]]]) -> FloatArray:
        """Scores of captions; where they are no corpus, the same one is scored once."""
        distinct = rows if self._weighs_words else list(dict.fromkeys(rows))
        texts, held_to = [text for _, text, _ in distinct], [own for _, _, own in distinct]
        result = compute([self._metric], texts, held_to)[0]
        way = "fense" if self._protocol == "fense" else "one-corpus"
        self.signature = result.signature.with_fields(trial=way, compare="float32")
        if self._weighs_words:
            return result.samples
        known = dict(zip(distinct, result.samples.tolist(), strict=True))
        return np.array([known[row] for row in rows])
