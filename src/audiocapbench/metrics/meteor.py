"""METEOR as the published AudioCapBench recipe computes it.

Equals NLTK's ``meteor_score`` with WordNet 3.0, also in how it picks among possible alignments;
METEOR 1.5 is another metric and not here.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from audiocapbench.metrics.batches import (
    Batch,
    IntArray,
    MaskArray,
    equal_word_masks,
    read_corpus,
    score_samples,
)
from audiocapbench.metrics.lexicon import Lexicon, read_lexicon
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.signature import sign

_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5


def meteor(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score captions by their alignment with their best reference.

    Words are ``text.lower().split()``; they match when equal, then by stem, then as synonyms. An
    empty prediction scores 0, and a blank reference gives 0, as in NLTK.

    Raises:
        MetricError: If the two do not belong together, or a sample has no reference.
    """
    corpus = read_corpus(predictions, references)
    lexicon = read_lexicon(corpus)
    scores = score_samples(
        corpus, corpus.sentences, partial(_score_batch, lexicon), partial(_score_long, lexicon)
    )
    signature = sign("meteor", variant="nltk", tok="split", case="lower", refs="max", wordnet="3.0")
    return MetricResult.of_means("meteor", signature, scores[:, 0])


def _score_batch(lexicon: Lexicon, batch: Batch) -> FloatArray:
    predictions = batch.predictions.take(batch.owners, axis=1)
    links = np.zeros(predictions.shape, dtype=np.uint64)
    available = np.full(len(batch.owners), np.iinfo(np.uint64).max, dtype=np.uint64)
    available = _link(links, batch.masks(), available)
    stems, reference_stems = lexicon.stems[predictions], lexicon.stems[batch.references]
    available = _link(links, equal_word_masks(stems, reference_stems), available)
    _link(links, lexicon.synonym_masks(stems, reference_stems, links == 0), available)
    linked = links != 0
    matches = np.count_nonzero(linked, axis=0)
    # The next place of a reference is the next lower bit.
    joined = linked[1:] & (links[1:] == links[:-1] >> np.uint64(1))
    chunks = matches - np.count_nonzero(joined, axis=0)
    lengths = batch.prediction_lengths[batch.owners]
    scores = _scores(matches, chunks, lengths, batch.reference_lengths)
    return np.maximum.reduceat(scores, batch.first_pairs)[:, np.newaxis]


def _link(links: MaskArray, candidates: MaskArray, available: MaskArray) -> MaskArray:
    """Link predicted words, the last first, to their last available place each.

    Args:
        links: For each predicted word the bit of the place that it is linked to, or 0; filled in.
        candidates: The places that each predicted word matches.
        available: The places of each reference that are not linked yet.

    Returns:
        The places that are left.
    """
    for row in range(len(links) - 1, -1, -1):
        places = np.where(links[row] == 0, candidates[row] & available, np.uint64(0))
        last = places & (~places + np.uint64(1))
        links[row] |= last
        available = available ^ last
    return available


def _score_long(lexicon: Lexicon, prediction: list[int], references: list[list[int]]) -> FloatArray:
    links = [_align(lexicon, prediction, reference) for reference in references]
    joined = [
        sum(own.get(place + 1) == target + 1 for place, target in own.items()) for own in links
    ]
    matches = np.array([len(own) for own in links])
    lengths = np.array([len(reference) for reference in references])
    scores = _scores(matches, matches - np.array(joined), np.array([len(prediction)]), lengths)
    return np.array([scores.max()])


def _align(lexicon: Lexicon, prediction: list[int], reference: list[int]) -> dict[int, int]:
    """Link places of the prediction to places of the reference, for captions of any length.

    In each stage the last words are linked first, to the last place each that is not taken.
    """
    links: dict[int, int] = {}
    _link_words(links, prediction, reference)
    stems: list[int] = lexicon.stems[prediction].tolist()
    reference_stems: list[int] = lexicon.stems[reference].tolist()
    _link_words(links, stems, reference_stems)
    _link_words(links, stems, reference_stems, lexicon.synonyms)
    return links


def _link_words(
    links: dict[int, int],
    prediction: list[int],
    reference: list[int],
    synonyms: dict[int, list[int]] | None = None,
) -> None:
    """Link what is not linked yet to an equal word or, where they are given, to a synonym."""
    taken = set(links.values())
    places: dict[int, list[int]] = {}
    for place, word in enumerate(reference):
        if place not in taken:
            places.setdefault(word, []).append(place)
    for place in range(len(prediction) - 1, -1, -1):
        word = prediction[place]
        if place in links:
            continue
        likes = [word] if synonyms is None else synonyms.get(word, ())
        choices = [places[like] for like in likes if places.get(like)]
        if choices:
            links[place] = max(choices, key=lambda own: own[-1]).pop()


def _scores(
    matches: IntArray, chunks: IntArray, predicted: IntArray, wanted: IntArray
) -> FloatArray:
    some = np.maximum(matches, 1)
    precision, recall = some / np.maximum(predicted, 1), some / np.maximum(wanted, 1)
    mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    penalty = _GAMMA * (chunks / some) ** _BETA
    return np.where(matches > 0, (1 - penalty) * mean, 0.0)
