"""Metrics of n-grams: BLEU-1 to BLEU-4 of sentences as the published AudioCapBench recipe computes
them (NLTK's ``sentence_bleu`` with smoothing method 1), and BLEU and CIDEr-D of corpora as the COCO
caption evaluation does."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError, check_known
from audiocapbench.metrics.batches import Corpus, IntArray, Sentences, ranges, read_corpus
from audiocapbench.metrics.result import FloatArray, MetricResult, check_captions, ratio
from audiocapbench.signature import sign

ORDERS = 4
_SMOOTHING_COUNT = 0.1
# Added to matches and guesses of each order, and to both lengths, so that no division is by zero;
# the same as in the COCO evaluation, or the numbers would not be equal.
_ADDED = np.array([1e-15] * ORDERS + [1e-9] * ORDERS + [1e-15, 1e-9])
_CIDER_SIGMA, _CIDER_SCALE = 6.0, 10.0
_TOKENS_AT_ONCE = 1 << 20
_KEPT_SHARE = 4  # of so many at most, whose n-grams are kept, those take some 60 MB


def bleu(
    predictions: Sequence[str], references: Sequence[Sequence[str]], most: int = ORDERS
) -> list[MetricResult]:
    """Sentence BLEU of orders 1 to ``most``; each corpus score is the mean over samples.

    Words are ``text.lower().split()``. A prediction without a word in common with its references,
    and so an empty one, scores 0. A blank reference has no words but takes part in the choice of
    the closest reference length, as in NLTK.
    """
    counts = count_matches(read_corpus(predictions, references), most)
    matched, lengths, closest = counts[:, :most], counts[:, [ORDERS]], counts[:, [-1]]
    orders = np.arange(1, most + 1)
    precisions = np.where(matched == 0, _SMOOTHING_COUNT, matched)
    precisions /= np.maximum(1, lengths - orders + 1)
    geometric_means = np.exp(np.cumsum(np.log(precisions), axis=1) / orders)
    brevity = np.where(lengths > closest, 1, np.exp(1 - closest / np.maximum(lengths, 1)))
    scores = np.where(matched[:, :1] > 0, brevity * geometric_means, 0.0)
    fields = {"variant": "nltk", "level": "sentence", "smooth": "method1", "tok": "split"}
    fields |= {"case": "lower", "refs": "all"}
    return [
        MetricResult.of_means(name, sign(name, protocol=1, **fields), np.ascontiguousarray(column))
        for name, column in zip([f"bleu_{order}" for order in orders], scores.T, strict=True)
    ]


def bleu_coco(
    predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> list[MetricResult]:
    """Corpus BLEU of orders 1 to 4, brevity by the closest reference length.

    The corpus score pools the counts of all samples; it is not the mean over samples.
    """
    from audiocapbench.metrics.ptb.tokenizer import TOKENIZER

    counts = count_matches(_read_parts(predictions, references))
    predicted = counts[:, [ORDERS]]
    guesses = np.maximum(predicted - np.arange(ORDERS), 0)
    totals = np.hstack([counts[:, :ORDERS], guesses, counts[:, ORDERS:]])
    # Each sample carries its share of what is added to the sums, so that means will do.
    statistics = totals + _ADDED / max(len(counts), 1)
    results = []
    for order in range(1, ORDERS + 1):
        name = f"bleu_coco_{order}"
        signature = sign(name, tok=TOKENIZER, case="lower", reflen="closest", agg="corpus")
        samples = corpus_bleu(totals + _ADDED, order)
        samples[predicted[:, 0] == 0] = 0.0
        aggregate = partial(corpus_bleu, order=order)
        results.append(MetricResult(name, signature, samples, statistics, aggregate))
    return results


def corpus_bleu(means: FloatArray, order: int) -> FloatArray:
    """Compute BLEU of an order from sums or means of the statistics of ``bleu_coco``."""
    precisions = means[..., :order] / means[..., ORDERS : ORDERS + order]
    brevity = np.exp(np.minimum(0.0, 1.0 - means[..., -1] / means[..., -2]))
    bleu: FloatArray = precisions.prod(axis=-1) ** (1.0 / order) * brevity
    return bleu


def cider_d(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score with CIDEr-D, from 0 to 10: n-grams weighted by rarity, clipped, penalised by length.

    An n-gram's weight comes from the number of samples whose references have it, so every score
    depends on the whole corpus, and one sample alone is refused. Resampling keeps the weights of
    the full corpus and resamples the per-sample scores (``idf:corpus-refs`` in the signature).
    """
    from audiocapbench.metrics.ptb.tokenizer import TOKENIZER

    corpus = _read_parts(predictions, references)
    if len(predictions) == 1:
        why = "with one, every n-gram of the references is in all samples and weighs nothing"
        raise MetricError(f"cider_d needs at least two samples: {why}; score more together.")
    idf = {"idf": "corpus-refs", "boot": "idf-fixed"}
    signature = sign("cider_d", protocol=2, tok=TOKENIZER, n=ORDERS, sigma=_CIDER_SIGMA, **idf)
    if not len(predictions):
        return MetricResult.of_means("cider_d", signature, np.zeros(0))
    owners, referred = corpus.pairs()
    predicted = corpus.predictions[corpus.place][owners]
    similarity = np.zeros(len(owners))
    for ngrams, matches in matches_of(corpus):
        documents = np.zeros(ngrams.size)
        for part, found in matches():
            keys, _ = ngrams.distinct(part.owners[found.pairs], found.referred)
            documents += np.bincount(keys % ngrams.size, minlength=ngrams.size)
        rarity = np.log(float(len(predictions))) - np.log(np.maximum(documents, 1))
        for part, found in matches():
            ours = found.predicted_counts * rarity[found.predicted]
            theirs = found.referred_counts * rarity[found.referred]
            norms = np.sqrt(np.bincount(found.samples, ours**2, len(part.predictions)))
            others = np.sqrt(np.bincount(found.pairs, theirs**2, len(part.references)))
            products = np.minimum(ours[found.slots], theirs[found.hits]) * theirs[found.hits]
            sums = np.bincount(found.pairs[found.hits], products, len(part.references))
            lengths = norms[part.owners] * others
            own = np.divide(sums, lengths, out=np.zeros(len(sums)), where=lengths > 0)
            similarity[part.pairs] += own
    # A difference in length is punished, which the original measures in bigrams.
    bigrams = np.maximum(corpus.sentences.lengths - 1, 0).astype(np.float64)
    similarity *= np.exp(-((bigrams[predicted] - bigrams[referred]) ** 2) / (2 * _CIDER_SIGMA**2))
    sums = np.bincount(owners, weights=similarity, minlength=len(predictions))
    samples = sums * _CIDER_SCALE / ORDERS / np.bincount(owners, minlength=len(predictions))
    return MetricResult.of_means("cider_d", signature, samples)


def _read_parts(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Corpus:
    """The corpus in tokens; those with no-break spaces are split, which ROUGE-L does not do."""
    from audiocapbench.metrics.ptb.tokenizer import parts_of_all, tokens_of_all

    corpus = read_corpus(predictions, references, tokens_of_all)
    if "\u00a0" not in "".join(corpus.words):
        return corpus
    return read_corpus(predictions, references, parts_of_all)


class Part(NamedTuple):
    """Some of the samples: of a million sentences at once, n-grams would take a gigabyte."""

    samples: slice
    predictions: IntArray  # their sentences
    pairs: slice  # of ``Corpus.pairs``
    owners: IntArray  # of each of these, the sample's place in the part
    references: IntArray


class NgramMatches(NamedTuple):
    """Distinct n-grams of the predictions and of the references of a part, and which meet."""

    samples: IntArray  # of each n-gram of the predictions
    predicted: IntArray
    predicted_counts: IntArray
    pairs: IntArray  # of each n-gram of the references
    referred: IntArray
    referred_counts: IntArray
    hits: IntArray  # those of the references that are predicted
    slots: IntArray  # and which of the predictions' they are


class Ngrams(NamedTuple):
    """N-grams of one order: the number, below ``size``, of the one that begins at each token."""

    sentences: Sentences
    order: int
    numbers: NDArray[np.int32]
    size: int

    def of(self, chosen: IntArray) -> tuple[IntArray, NDArray[np.int32]]:
        """The place among the chosen sentences of each of their n-grams, and its number."""
        starts = self.sentences.starts[chosen]
        ends = self.sentences.starts[chosen + 1] - self.order + 1
        owners, places = ranges(starts, np.maximum(ends - starts, 0))
        return owners, self.numbers[places]

    def distinct(
        self, owners: IntArray, numbers: NDArray[np.integer[Any]]
    ) -> tuple[IntArray, IntArray]:
        """Those of each owner, as its place times ``size`` plus the number, and how many each."""
        # Half as wide where that holds them: twice as fast to sort.
        count = int(owners.max(initial=0)) + 1
        kind = np.dtype(np.int32 if count * self.size <= np.iinfo(np.int32).max else np.int64)
        keys: IntArray = owners.astype(kind) * kind.type(self.size) + numbers.astype(kind)
        keys.sort()
        begins = np.flatnonzero(np.concatenate([keys[:1] >= 0, keys[1:] != keys[:-1]]))
        return keys[begins], np.diff(begins, append=len(keys))

    def match(self, part: Part) -> NgramMatches:
        ours, our_counts = self.distinct(*self.of(part.predictions))
        samples = ours // self.size
        predicted = ours - samples * self.size
        is_predicted = np.zeros(self.size, dtype=bool)
        is_predicted[predicted] = True
        theirs, their_counts = self.distinct(*self.of(part.references))
        pairs = theirs // self.size
        referred = theirs - pairs * self.size
        # Few are predicted of any sample, and only those are looked for in their own.
        hits = np.flatnonzero(is_predicted[referred])
        keys = part.owners[pairs[hits]] * self.size + referred[hits]
        slots = np.searchsorted(ours, keys)
        slots[slots == len(ours)] = 0
        both = ours[slots] == keys
        found = (samples, predicted, our_counts, pairs, referred, their_counts)
        return NgramMatches(*found, hits[both], slots[both])


def number_ngrams(corpus: Corpus) -> Iterator[Ngrams]:
    """N-grams of orders 1 to 4, one order after the other."""
    sentences, vocabulary = corpus.sentences, max(len(corpus.words), 1)
    ids, starts = sentences
    fits = np.ones(len(ids), dtype=bool)
    numbers, size = ids.astype(np.int32), vocabulary
    for order in range(1, ORDERS + 1):
        if order > 1:
            fits[starts[1:][sentences.lengths >= order - 1] - order + 1] = False
            # Each is numbered by the n-gram that it extends and by its last token.
            extended = numbers[fits].astype(np.int64)
            extended *= vocabulary
            extended += ids[order - 1 :][fits[: max(len(ids) - order + 1, 0)]]
            numbers[fits], size = _rank(extended)
        yield Ngrams(sentences, order, numbers, max(size, 1))


def in_parts(corpus: Corpus) -> Iterator[Part]:
    owners, references = corpus.pairs()
    tokens = np.cumsum(corpus.sentences.lengths[references])
    cuts = owners[np.flatnonzero(np.diff(tokens // _TOKENS_AT_ONCE)) + 1]
    bounds = [*sorted({0, *cuts.tolist()}), len(corpus.place)]
    for first, last in pairwise(bounds):
        pairs = slice(*np.searchsorted(owners, [first, last]).tolist())
        predictions = corpus.predictions[corpus.place[first:last]]
        yield Part(slice(first, last), predictions, pairs, owners[pairs] - first, references[pairs])


def matches_of(
    corpus: Corpus,
) -> Iterator[tuple[Ngrams, Callable[[], Iterable[tuple[Part, NgramMatches]]]]]:
    """N-grams of each order, and what gives each part with its matches, as often as asked.

    Of a small corpus they are kept: whoever asks for CIDEr-D asks for BLEU as well.
    """
    parts = list(in_parts(corpus))
    if len(parts) == 1 and len(corpus.sentences.ids) <= _TOKENS_AT_ONCE // _KEPT_SHARE:
        for ngrams, found in _kept_matches(corpus):
            yield ngrams, partial(zip, parts, [found])
        return
    for ngrams in number_ngrams(corpus):
        yield ngrams, partial(_matched, ngrams, parts)


def _matched(ngrams: Ngrams, parts: list[Part]) -> Iterator[tuple[Part, NgramMatches]]:
    for part in parts:
        yield part, ngrams.match(part)


@lru_cache(maxsize=1)
def _kept_matches(corpus: Corpus) -> list[tuple[Ngrams, NgramMatches]]:
    (part,) = in_parts(corpus)
    return [(ngrams, ngrams.match(part)) for ngrams in number_ngrams(corpus)]


def count_matches(corpus: Corpus, most: int = ORDERS) -> FloatArray:
    """What BLEU is made of, a row a sample: n-grams of orders 1 to 4 that were matched, none more
    often than in one reference, words of the prediction, and the nearest reference length. Those
    of orders above ``most`` are not counted."""
    table = np.zeros((len(corpus.place), ORDERS + 2))
    if not len(table):
        return table
    for ngrams, matches in islice(matches_of(corpus), most):
        for part, found in matches():
            highest = np.zeros(len(found.samples), dtype=np.int64)
            np.maximum.at(highest, found.slots, found.referred_counts[found.hits])
            clipped = np.minimum(highest, found.predicted_counts)
            column = np.bincount(found.samples, clipped, len(part.predictions))
            table[part.samples, ngrams.order - 1] = column
    owners, references = corpus.pairs()
    predicted = corpus.sentences.lengths[corpus.predictions[corpus.place]]
    lengths = corpus.sentences.lengths[references]
    shift = lengths.max() + 1
    distances = np.abs(lengths - predicted[owners]) * shift + lengths
    closest = np.minimum.reduceat(distances, np.flatnonzero(np.diff(owners, prepend=-1))) % shift
    table[:, ORDERS:] = np.stack([predicted, closest], axis=1)
    return table


def _rank(numbers: IntArray) -> tuple[NDArray[np.integer[Any]], int]:
    """The rank of each number among the distinct ones, and how many those are.

    Places are sorted along in the low bits where they fit, several times as fast as ``np.unique``;
    ``numbers`` themselves are lost.
    """
    bits = len(numbers).bit_length()
    if len(numbers) and int(numbers.max()) >> (62 - bits):
        distinct, every = np.unique(numbers, return_inverse=True)
        return every, len(distinct)
    numbers <<= bits
    numbers |= np.arange(len(numbers))
    numbers.sort()
    heads, begins = numbers >> bits, np.ones(len(numbers), dtype=bool)
    np.not_equal(heads[1:], heads[:-1], out=begins[1:])
    del heads
    numbers &= (1 << bits) - 1
    ranks = np.empty(len(numbers), dtype=np.int32)
    ranks[numbers] = np.cumsum(begins, dtype=np.int32) - 1
    return ranks, int(begins.sum())


def vocab(
    predictions: Sequence[str], references: Sequence[Sequence[str]], of: str = "cands"
) -> MetricResult:
    """Count the distinct words C of all predictions, also against those of all references, R.

    ``cands`` is |C|, ``precision`` |C∩R|/|C|, ``recall`` |C∩R|/|R|, ``jaccard`` |C∩R|/|C∪R|,
    ``ratio_full`` |C|/|R| and ``novelty`` |C-R|/|C|. To a sample belongs its part of all, times as
    many as there are: a word is shared by those who say it.
    """
    from audiocapbench.metrics.ptb.tokenizer import TOKENIZER, tokenize

    check_captions(predictions, references)
    captions = [set(tokenize(text)) for text in predictions]
    users = Counter(chain.from_iterable(captions))
    said, known = set(users), set(chain.from_iterable(map(tokenize, chain(*references))))
    both = said & known
    kinds = {"cands": (said, {""}), "ratio_full": (said, known), "jaccard": (both, said | known)}
    kinds |= {"precision": (both, said), "recall": (both, known), "novelty": (said - known, said)}
    check_known("kind of vocab", of, kinds, MetricError)
    words, whole = kinds[of]
    speaks = np.array([len(own) > 0 for own in captions], dtype=np.float64)
    parts = np.array([sum(1 / users[word] for word in own & words) for own in captions])
    samples = parts * speaks.sum() / max(len(whole), 1)
    columns, signature = np.stack([samples, speaks], axis=1), sign("vocab", tok=TOKENIZER, of=of)
    return MetricResult("vocab", signature, samples, columns, corpus_vocab)


def corpus_vocab(means: FloatArray) -> FloatArray:
    return ratio(means[..., 0], means[..., 1])
