"""Fluency by our own detector of broken captions, and sentence similarity less what is broken.

The detector is a linear classifier of hashed word patterns and repetition that reads English;
tools/train_fluency.py makes its weights. Captions are read as sentences, links between events,
shapes and stems of words.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders import DEFAULT, Encoder, load
from audiocapbench.metrics.fluency.fense import mean_cosines
from audiocapbench.metrics.result import FloatArray, MetricResult, check_texts
from audiocapbench.metrics.shipped import read_lists, shipped_weights, word_set
from audiocapbench.metrics.text import plain, plain_captions
from audiocapbench.metrics.wordnet import synonyms
from audiocapbench.signature import sign

PAUSE = ","
SPEECH = '"'
START, STOP = "<", ">"  # marks of where a sentence begins and ends
SPREAD, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)  # of joint hashes

Hashes = NDArray[np.uint64]

_LISTS = ("audiocapbench.metrics.fluency", "words.toml")
LINKS, STILL_MORE = word_set(*_LISTS, "links"), word_set(*_LISTS, "still_more")
GRAMMAR = LINKS | word_set(*_LISTS, "grammar")
_ENDINGS = ("'s", "ing", "ed", "ly", "s")
_ALIKE = {"talk": "speak", "speech": "speak", "tweet": "chirp", "sound": "nois"}
_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|«[^«»]*»")
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W_]+(?:['-][^\W_]+)*|[,;:–—\"]|[.!?。！？]+(?=\W|$)")
_PAUSES = frozenset(",;:–—")
_STOPS = frozenset(".!?。！？")
# A caption may have this many times the words of the longest reference.
_ROOM = 1.3
_REMEMBERED = 100_000
# Captions whose words are remembered: who asks for them again does so soon.
_CAPTIONS_REMEMBERED, _LONGEST_REMEMBERED = 8_192, 2_000
ERROR_WEIGHT = 0.23
EXCESS_WEIGHT = 0.12
BUCKET_BITS = 18
REPETITION: tuple[str, ...] = tuple(read_lists(*_LISTS)["repetition"])
"""What each column of repetition says."""

_WORD_ORDERS, _SHAPE_ORDERS = 3, 4
_USUAL_LENGTH = 12
_CAPTIONS_AT_ONCE = 8192
# Sentences of one caption that later ones are held to.
_MOST_COMPARED = 100
# Three words and the pauses between them.
_SHORTEST_LIST = 5
_MARKS = GRAMMAR | {PAUSE}
_JOINTS, _SHORT_JOINTS, _NO_JOINTS = (
    word_set(*_LISTS, name) for name in ("joints", "short_joints", "no_joints")
)
_SHORTEST_JOINED, _LONGEST_WORD = 6, 40
_OPEN, _ARTICLES, _NO_NOUN, _ADVERBS, _BEGINS, _JOINS, _PLACES, _NAMING = (
    word_set(*_LISTS, name)
    for name in "open articles no_noun adverbs begins joins places naming".split()
)
_OPEN_PAIRS: frozenset[str] = frozenset(read_lists(*_LISTS)["open_pairs"])
_ELEMENTS = ("audiocapbench.metrics.elements", "words.toml")
_PASSED_OVER = (word_set(*_ELEMENTS, kind) for kind in ("attributes", "stop", "vague"))
_SAY_NOTHING = (_MARKS | _ADVERBS).union(*_PASSED_OVER) - _NAMING

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class FluencyDetector:
    """A linear classifier of sentences, by the log odds that they are broken."""

    name: str
    buckets: NDArray[np.int8]  # weights of hashed patterns, in steps of ``step``
    step: float
    repetition: FloatArray  # weights of the columns of ``REPETITION``
    bias: float
    known: Hashes  # sorted, of the words that count as themselves

    def error_probabilities(self, captions: Sequence[str]) -> FloatArray:
        """The probability that each caption is broken: the mean over its sentences.

        A caption without a word is broken, and a sentence that was there before, lists words, has
        words run together or hides that it breaks off.
        """
        check_texts(captions, "The fluency detector")
        distinct = list(dict.fromkeys(captions))
        found: dict[str, float] = {}
        for start in range(0, len(distinct), _CAPTIONS_AT_ONCE):
            block = distinct[start : start + _CAPTIONS_AT_ONCE]
            read = [sentences_of(caption) for caption in block]
            features = features_of(read, self.known)
            weights = self.buckets[features.bucket] * features.value
            hashed = np.bincount(features.row, weights=weights, minlength=len(features.owner))
            odds = hashed * self.step + features.repetition @ self.repetition + self.bias
            broken = 1 / (1 + np.exp(-np.clip(odds, -60, 60)))
            broken[[one for caption in read for one in _surely_broken(caption)]] = 1.0
            sentences = list(chain.from_iterable(read))
            joined = self._run_together(set(chain.from_iterable(sentences)))
            broken[[not joined.isdisjoint(own) for own in sentences]] = 1.0
            means = mean_by_owner(broken, features.owner, len(block), 1.0)
            found.update(zip(block, means.tolist(), strict=True))
        return np.array([found[text] for text in captions], dtype=np.float64)

    def _run_together(self, words: Iterable[str]) -> set[str]:
        """Those that are no English word but several, or are longer than any."""
        letters = {one for one in words if one.isascii() and one.isalpha()} - _NO_JOINTS
        odd = self._strange(one for one in letters if len(one) >= _SHORTEST_JOINED)
        endless = {one for one in odd if len(one) > _LONGEST_WORD}
        starts = [(one, start) for one in odd - endless for start in range(len(one))]
        parts = {one[start:end] for one, start in starts for end in range(start + 3, len(one) + 1)}
        real = (parts - self._strange(parts)) | _SHORT_JOINTS
        return endless | {one for one in odd - endless if _falls_apart(one, real)}

    def _strange(self, words: Iterable[str]) -> set[str]:
        """Words of neither captions nor WordNet, whose words of three letters are mostly names."""
        every = list(words)
        known = np.isin(hash_words(every), self.known).tolist()
        rest = [word for word, is_known in zip(every, known, strict=True) if not is_known]
        long = [word for word in rest if len(word) > 3]
        return set(rest) - {long[place] for place, _ in synonyms(long)}


def _falls_apart(word: str, real: set[str]) -> bool:
    """Whether it is three words or more, or two of which one is a joint: bassline is one word."""
    fewest: list[tuple[str, ...] | None] = [(), *[None] * len(word)]
    for end in range(1, len(word) + 1):
        known = ((fewest[at], word[at:end]) for at in range(end) if word[at:end] in real)
        cuts = [(*before, last) for before, last in known if before is not None]
        fewest[end] = min(cuts, key=len, default=None)
    parts = [part for part in fewest[-1] or () if part != "a"]
    return len(parts) > 2 or (len(parts) == 2 and not _JOINTS.isdisjoint(parts))


def _surely_broken(sentences: Sequence[Sequence[str]]) -> list[bool]:
    """Of each sentence, whether it lists words or hides its end, or one before it says it all."""
    listed = [
        (len(s) >= _SHORTEST_LIST and set(s[1::2]) == {PAUSE}) or _hides_its_end(s)
        for s in sentences
    ]
    contents: list[set[str]] = []
    for place, sentence in enumerate(sentences) if len(listed) > 1 else ():
        own = {stem_of(word) for word in sentence if word not in _MARKS}
        again = bool(own) and any(own <= earlier for earlier in contents[:_MOST_COMPARED])
        listed[place] |= again
        contents.append(own)
    return listed


def breaks_off(caption: str, hidden: bool = True) -> bool:
    """Whether a sentence of it ends on a word that begins something, or only hides that it does."""
    return any(
        (pair := " ".join(one[-2:])) in _OPEN_PAIRS
        or (one[-1] in _OPEN and pair != "a while")
        or (hidden and _hides_its_end(one))
        for one in sentences_of(caption)
    )


def _hides_its_end(sentence: Sequence[str]) -> bool:
    """Whether an article has no noun ("and then the in the background"), or a clause at the end
    that began with one names nothing ("and a noise"), or is an adverb alone ("and later")."""
    article = joint = joins = waits = bare = False
    for place, word in enumerate(sentence):
        is_lost = word in _NO_NOUN or (waits and word == "while")
        if article and (is_lost or sentence[place : place + 2] == ("can", "be")):
            return True
        article = word in _ARTICLES or (article and word in _ADVERBS)
        if joint and word in _PLACES:
            waits = True
        elif word not in _SAY_NOTHING:
            waits = False
        bare = (bare or joins) and (word in _ADVERBS or word in _ARTICLES)
        before = sentence[place - 1] if place else START
        is_second = before in _ADVERBS or before.endswith("ly")  # "again and again"
        joint = word in _BEGINS or (joint and (word in _ADVERBS or word == "by"))
        joins = (word in _JOINS and not is_second) or (joint and word == "by")
    return article or waits or bare


def mean_by_owner(
    values: FloatArray, owners: NDArray[np.int64], count: int, nothing: float = 0.0
) -> FloatArray:
    """The mean of the values of each owner, and ``nothing`` of who has none."""
    sizes = np.bincount(owners, minlength=count)
    totals = np.bincount(owners, weights=values, minlength=count)
    return np.asarray(np.where(sizes > 0, totals / np.maximum(sizes, 1), nothing))


@cache
def load_detector() -> FluencyDetector:
    what = "The fluency detector's weights"
    with shipped_weights("fluency", "weights.npz", what) as (name, held):
        detector = FluencyDetector(
            name=f"hashed@{name}+joints+joins",
            buckets=held["buckets"],
            step=float(held["step"]),
            repetition=held["repetition"].astype(np.float64),
            bias=float(held["bias"]),
            known=held["known"],
        )
    if detector.buckets.shape != (1 << BUCKET_BITS,) or len(detector.repetition) != len(REPETITION):
        raise MetricError(f"{what} are of another version: reinstall audiocapbench.")
    return detector


def fluency(predictions: Sequence[str], _references: object = None) -> MetricResult:
    """Score predictions by the probability that they are whole; a blank one scores 0."""
    check_texts(predictions, "The fluency detector")
    detector = load_detector()
    samples = 1 - detector.error_probabilities(list(map(plain, predictions)))
    signature = sign("fluency", protocol=7, detector=detector.name)
    return MetricResult.of_means("fluency", signature, samples)


def fluent_similarity(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: str | Encoder = DEFAULT,
) -> MetricResult:
    """Score predictions by similarity, less what is broken and what is longer than any reference.

    The probability of an error costs 0.23 (recipe.json has its study), each doubling of
    ``excess_length`` 0.12: two captions joined are nearer to the references' middle than either,
    and no better. A blank prediction scores 0. The encoder is as for ``similarity``.
    """
    model = load(encoder) if isinstance(encoder, str) else encoder
    detector = load_detector()
    predictions, references = plain_captions(predictions, references)
    cosines = mean_cosines(predictions, references, model)
    said = np.array(list(map(bool, predictions)), dtype=np.bool_)
    lost = ERROR_WEIGHT * detector.error_probabilities(predictions) * said
    both = zip(predictions, map(longest, references), strict=True)
    lost += EXCESS_WEIGHT * np.array([excess_length(*one) for one in both], dtype=np.float64)
    fields = {"encoder": model.name, "refs": "mean", "detector": detector.name}
    weights = {"weight": ERROR_WEIGHT, "excess": EXCESS_WEIGHT}
    signature = sign("fluent_similarity", protocol=9, **fields, **weights)
    return MetricResult.of_means("fluent_similarity", signature, cosines - lost)


@dataclass(frozen=True, slots=True)
class Features:
    """The caption of each sentence; and of each hashed pattern sentence, bucket and value."""

    owner: Ints
    row: Ints
    bucket: Ints
    value: Floats
    repetition: Floats


def features_of(captions: Sequence[Sequence[Sequence[str]]], known: Hashes) -> Features:
    """The patterns of captions' sentences; of words that are not known, the shape counts."""
    owner = np.repeat(np.arange(len(captions), dtype=np.int64), list(map(len, captions)))
    if not len(owner):
        blank = np.zeros((0, len(REPETITION)), dtype=np.float32)
        return Features(owner, owner, owner, blank[:, 0], blank)
    sentences = list(chain.from_iterable(captions))
    numbers: dict[str, int] = {}
    framed = chain.from_iterable((START, *sentence, STOP) for sentence in sentences)
    places = np.array([numbers.setdefault(word, len(numbers)) for word in framed], dtype=np.int64)
    lengths = np.array([len(sentence) + 2 for sentence in sentences], dtype=np.int64)
    distinct = list(numbers)
    exact, shape = hash_words(distinct), hash_words([shape_of(word) for word in distinct])
    stems = [stem_of(word) for word in distinct]
    marks = GRAMMAR | {PAUSE, START, STOP}
    row = np.repeat(np.arange(len(sentences), dtype=np.int64), lengths)
    words = np.where(np.isin(exact, known), exact, shape)
    is_link = np.array([word in LINKS or word == PAUSE for word in distinct], dtype=np.bool_)
    is_content = np.array([word not in marks for word in distinct], dtype=np.bool_)
    is_more = np.array([stem in STILL_MORE for stem in stems], dtype=np.bool_)
    kinds = (is_link[places], is_content[places], is_more[places])
    patterns = _patterns(row, lengths, words[places], shape[places])
    hashes = (exact[places], hash_words(stems)[places])
    return Features(owner, *patterns, _repetition(row, lengths, hashes, kinds))


def _patterns(row: Ints, lengths: Ints, words: Hashes, shapes: Hashes) -> tuple[Ints, Ints, Floats]:
    """Hash runs of 1-3 words and of 1-4 shapes: their sentences, buckets and values.

    Inside a long sentence a run counts less; at its end, where most captions break, in full.
    """
    at_end = np.zeros(len(row), dtype=np.bool_)
    at_end[np.cumsum(lengths) - 1] = True
    inside = np.sqrt(_USUAL_LENGTH / np.maximum(lengths, _USUAL_LENGTH))[row]
    rows, buckets, values = [], [], []
    for family, (hashes, orders) in enumerate([(words, _WORD_ORDERS), (shapes, _SHAPE_ORDERS)]):
        joint = np.zeros(len(row), dtype=np.uint64)
        for order in range(1, min(orders, len(row)) + 1):
            first = slice(0, len(row) - order + 1)
            last = slice(order - 1, None)
            joint = joint[first] * SPREAD + hashes[last]
            mixed = ((joint ^ (joint >> np.uint64(29))) + np.uint64(8 * family + order)) * MIX
            whole = row[first] == row[last]
            rows.append(row[first][whole])
            buckets.append((mixed >> np.uint64(64 - BUCKET_BITS)).astype(np.int64)[whole])
            values.append(np.where(at_end[last], 1, inside[first]).astype(np.float32)[whole])
    return np.concatenate(rows), np.concatenate(buckets), np.concatenate(values)


def _repetition(
    rows: Ints, lengths: Ints, hashes: tuple[Hashes, Hashes], kinds: tuple[Bools, Bools, Bools]
) -> Floats:
    """A row for each sentence, by the hashes and the kinds of its words and of their stems; its
    events are what stands between links."""
    (exact, every_stem), (is_link, is_content, is_more) = hashes, kinds
    count, row, stem = len(lengths), rows[is_content], every_stem[is_content]
    stems = np.bincount(row, minlength=count)
    repeated = _repeats(row, stem, count)
    neighbours = row[1:] == row[:-1]
    pairs = _repeats(row[1:][neighbours], (stem[1:] + stem[:-1])[neighbours], count)
    # "word word", and "two words two words".
    twice = (exact[1:] == exact[:-1]) & (rows[1:] == rows[:-1])
    two = (exact[2:] == exact[:-2]) & (rows[2:] == rows[:-2])
    opens = is_link.copy()
    opens[1:] &= ~is_link[:-1]
    opens[0] = True
    opens[1:] |= rows[1:] != rows[:-1]
    sentence = rows[opens]
    event, own = _distinct((np.cumsum(opens) - 1)[is_content], stem)
    bags = np.zeros(len(sentence), dtype=np.uint64)
    np.add.at(bags, event, own)
    filled = np.flatnonzero(bags)
    shared, shared_later = (_largest_share(event, own, sentence, gap, count) for gap in (1, 2))
    more = np.bincount(rows[is_more], minlength=count) > 0
    columns = (
        np.bincount(rows[1:][twice], minlength=count) > 0,
        np.bincount(rows[3:][two[1:] & two[:-1]], minlength=count) > 0,
        *(repeated >= least for least in (1, 2, 3)),
        repeated / np.maximum(stems, 1),
        *(pairs >= least for least in (1, 2)),
        _repeats(sentence[filled], bags[filled], count) > 0,
        shared,
        shared_later,
        more * np.maximum(shared, shared_later),
        np.minimum(np.bincount(sentence, minlength=count), 6) / 6,
        lengths == 3,
        lengths == 4,
    )
    return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)


def _largest_share(event: Ints, stem: Hashes, sentence: Ints, gap: int, count: int) -> FloatArray:
    """The largest share of an event's stems that come back ``gap`` events later."""
    number = event.astype(np.uint64)
    returns = np.isin((number + np.uint64(gap)) * SPREAD + stem, number * SPREAD + stem)
    later = np.minimum(np.arange(len(sentence)) + gap, len(sentence) - 1)
    together = sentence[later] == sentence
    hits = np.bincount(event[returns], minlength=len(sentence)) * together
    sizes = np.bincount(event, minlength=len(sentence))
    shares = hits / np.maximum(np.minimum(sizes, sizes[later]), 1)
    largest = np.zeros(count)
    np.maximum.at(largest, sentence, shares)
    return largest


def _repeats(owner: Ints, hashes: Hashes, count: int) -> Ints:
    """How many of each owner's hashes it has had before."""
    fresh, _ = _distinct(owner, hashes)
    return np.asarray(np.bincount(owner, minlength=count) - np.bincount(fresh, minlength=count))


def _distinct(owner: Ints, hashes: Hashes) -> tuple[Ints, Hashes]:
    order = np.lexsort((hashes, owner))
    owner, hashes = owner[order], hashes[order]
    fresh = np.ones(len(owner), dtype=np.bool_)
    fresh[1:] = (owner[1:] != owner[:-1]) | (hashes[1:] != hashes[:-1])
    return owner[fresh], hashes[fresh]


def sentences_of(caption: str) -> Sequence[Sequence[str]]:
    """Split a caption into sentences of lower-case words and pauses.

    What stands in quotation marks is somebody's speech, not the caption's own grammar: it counts
    as one word. A pause before a link, as in ", and", is dropped; writers differ on it.
    """
    return (_read if len(caption) <= _LONGEST_REMEMBERED else _read.__wrapped__)(caption)


@lru_cache(maxsize=_CAPTIONS_REMEMBERED)
def _read(caption: str) -> Sequence[Sequence[str]]:
    text = _QUOTED.sub(SPEECH, caption.lower().replace("’", "'"))
    sentences: list[list[str]] = [[]]
    for token in _TOKEN.findall(text):
        current = sentences[-1]
        if token[0] in _STOPS:
            sentences.append([])
        elif token in _PAUSES:
            if current and current[-1] != PAUSE:
                current.append(PAUSE)
        else:
            if token in LINKS and current and current[-1] == PAUSE:
                current.pop()
            current.append(token)
    for sentence in sentences:
        if sentence and sentence[-1] == PAUSE:
            sentence.pop()
    return tuple([tuple(sentence) for sentence in sentences if sentence])


def shape_of(word: str) -> str:
    """The word itself if it is one of grammar; of any other word, its ending."""
    if word in GRAMMAR or word == PAUSE:
        return word
    return "#" if word[0].isdigit() else "-" + ending_of(word)


def ending_of(word: str) -> str:
    """The inflection that a word seems to carry, perhaps none."""
    return next((one for one in _ENDINGS if len(word) > len(one) + 1 and word.endswith(one)), "")


def hash_words(words: Sequence[str]) -> Hashes:
    """Hash words to 64 bits, the same on every machine."""
    digests = (blake2b(word.encode(errors="replace"), digest_size=8).digest() for word in words)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


@lru_cache(maxsize=_REMEMBERED)
def stem_of(word: str) -> str:
    """Crop a word so that the forms of one verb or noun mostly become the same."""
    base = word.removesuffix("'s")
    for ending in ("ing", "ed", "es", "s"):
        if len(base) > len(ending) + 2 and base.endswith(ending):
            base = base.removesuffix(ending)
            break
    if len(base) > 3 and base[-1] == base[-2]:
        base = base[:-1]
    if len(base) > 3 and base[-1] in "ey":
        base = base[:-1]
    return _ALIKE.get(base, base)


def longest(references: Sequence[str]) -> tuple[float, int]:
    """As many words and as many sentences as references can explain.

    That is 1.3 times the words of the longest, and the sentences of the one with the most: two
    captions joined are longer than any, however well each of them fits.
    """
    words, sentences = zip(*map(_lengths, references), strict=True) if references else ((0,), (0,))
    return _ROOM * max(words), max(sentences)


def excess_length(caption: str, most: tuple[float, int]) -> float:
    """How often a caption's length was doubled beyond so many words and sentences."""
    both = zip(_lengths(caption), most, strict=True)
    return sum(math.log2(own / known) for own, known in both if own > known > 0)


@lru_cache(maxsize=_REMEMBERED)
def _lengths(caption: str) -> tuple[int, int]:
    """How many words a caption has, and how many sentences."""
    sentences = sentences_of(caption)
    return sum([len(own) - own.count(PAUSE) for own in sentences]), len(sentences)
