"""A metric on trial: each caption against its references, the higher score wins."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from audiocapbench.errors import TrialError
from audiocapbench.meta.pairs.pair import CaptionPair, captions, references
from audiocapbench.meta.scorers.scorer import FloatArray, PointwiseScorer
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.metrics import compute, find_metric
from audiocapbench.metrics.registry import refuse_without_audio
from audiocapbench.signature import sign


class _CaptionRow(NamedTuple):
    """A caption, first ones before second ones, and references to hold it to, in one corpus."""

    corpus: str
    place: int
    text: str
    references: tuple[str, ...]


class MetricScorer(PointwiseScorer):
    """Scores captions with a metric; word weights come from all pairs together.

    Protocol ``plain`` scores all captions as one corpus. ``fense`` does as the published figures
    were made: first and second captions apart, pairs of machines apart from the others, and for
    these the mean over all sets of references with one left out, so that every n-gram metric is
    held to as many references everywhere.
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
        """Scores of the first captions and of the second; NaN for a pair without references."""
        held_to = [pair.references_first and pair.references_second for pair in pairs]
        known = [n for n, own in enumerate(held_to) if own or not self._reads_references]
        if not known:
            raise TrialError(
                f"{self.name} needs references, and no pair has one that is neither of its "
                "captions; add such a column reference, or use a control:, clap: or model: scorer"
            )
        first, second = np.full((2, len(pairs)), np.nan)
        first[known], second[known] = self._scores([pairs[place] for place in known])
        return first, second

    def _scores(self, pairs: Sequence[CaptionPair]) -> tuple[FloatArray, FloatArray]:
        rows = list(self._rows(pairs))
        scores = self._by_corpus(rows) if self._weighs_words else self._each_once(rows)
        places = np.array([row.place for row in rows])
        means: FloatArray = np.bincount(places, weights=scores) / np.bincount(places)
        return means[: len(pairs)], means[len(pairs) :]

    def _rows(self, pairs: Sequence[CaptionPair]) -> Iterator[_CaptionRow]:
        fense = self._protocol == "fense"
        sides = zip(captions(pairs), references(pairs), [*pairs, *pairs], strict=True)
        for place, (text, held_to, pair) in enumerate(sides):
            machines = pair.type == "MM"
            corpus = f"{place // len(pairs)} {machines}" if fense else ""
            leaves_one_out = fense and machines and self._counts_words
            for own in _one_left_out(held_to) if leaves_one_out else [held_to]:
                yield _CaptionRow(corpus, place, text, own)

    def _by_corpus(self, rows: Sequence[_CaptionRow]) -> FloatArray:
        scores = np.zeros(len(rows))
        for corpus in dict.fromkeys(row.corpus for row in rows):
            chosen = [place for place, row in enumerate(rows) if row.corpus == corpus]
            scores[chosen] = self._compute([rows[place] for place in chosen])
        return scores

    def _each_once(self, rows: Sequence[_CaptionRow]) -> FloatArray:
        """Score the same caption against the same references once, however often it is met."""
        distinct = list({(row.text, row.references): row for row in rows}.values())
        scored = self._compute(distinct).tolist()
        known = {(row.text, row.references): one for row, one in zip(distinct, scored, strict=True)}
        return np.array([known[row.text, row.references] for row in rows])

    def _compute(self, rows: Sequence[_CaptionRow]) -> FloatArray:
        texts, held_to = [row.text for row in rows], [row.references for row in rows]
        result = compute([self._metric], texts, held_to)[0]
        way = "fense" if self._protocol == "fense" else "one-corpus"
        self.signature = result.signature.with_fields(trial=way, compare="float32")
        return result.samples


def _one_left_out(references: tuple[str, ...]) -> list[tuple[str, ...]]:
    if len(references) < 2:
        return [references]
    return [references[:place] + references[place + 1 :] for place in range(len(references))]
