"""Chooses one false caption a caption so that nothing in the texts tells true from false.

As many captions as can get a candidate, so that all that a text-only scorer sees (lengths, nouns,
words alone and together) speaks as often for the false caption as for the true: a linear programme.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.grouping import grouped
from audiocapbench.meta.corrupt.captions import (
    Candidates,
    CaptionSet,
    CorruptedPair,
    load_counts,
    words_of,
)
from audiocapbench.meta.pairs import Preference
from audiocapbench.metrics.elements.splitting import ElementKind, kind_of
from audiocapbench.metrics.fluency.detector import hash_words, mean_by_owner
from audiocapbench.metrics.fluency.likelihood import framed_words, load_ngrams, run_hashes
from audiocapbench.metrics.result import FloatArray

Keys = NDArray[np.uint32]
Owners = NDArray[np.int64]
IntArray = NDArray[np.integer[Any]]
_UNMET, _HELD_BACK = 1000, 2.0
_MOST_A_CAPTION = 12
# A programme of all captions takes much longer than several of so many, and is no more level.
_AT_ONCE = 900
# False captions that are this much less likely read odd, where neither the package's captions nor
# the set's are more used to them: nats a caption, nats a word, and of words together.
_ODD = (7.0, 1.0, 1.0)
# Who has read more captions than the package has counted tells a little more: by those the set
# leans so much the other way.
_LEAN = 0.06
# How much oftener a rule may say true than false, of all pairs, and a word, of those that have it.
_OF_PAIRS, _OF_WORDS, _FEW = 0.02, 0.1, 3
# What a pair too many that has a word costs, where a pair is worth 1.
_TIPPING = 2.0
_SCALES = {"number of letters": 0.1, "number of words": 0.5}


def choose(
    candidates: Candidates,
    captions: CaptionSet,
    limit: int | None,
    draw: random.Random,
    least: float = 0.0,
) -> list[CorruptedPair]:
    """At most one candidate of every caption, so many in all, that together are level; ``least``
    is the share of all captions that come first, level or not."""
    drawn = [
        own if len(own) <= _MOST_A_CAPTION else draw.sample(own, _MOST_A_CAPTION)
        for own in grouped((one.caption, one) for one in candidates).values()
    ]
    draw.shuffle(drawn)
    parts, chosen = round(len(drawn) / _AT_ONCE) or 1, list[CorruptedPair]()
    for part in range(parts if drawn else 0):
        share = limit and (part + 1) * limit // parts - len(chosen)
        own = [one for each in drawn[part::parts] for one in each]
        evidence = differences(own, captions)
        sound = np.all(np.minimum(evidence[:, 3:6], evidence[:, 8:]) < _ODD, axis=1)
        kept = [one for one, good in zip(own, sound, strict=True) if good]
        if kept:
            rules, wanted = _rules(kept, evidence[sound], captions), least * captions.total
            chosen += _level(kept, rules, (wanted / parts, share), 1 / parts, draw)
    return chosen


def _rules(pairs: Candidates, evidence: FloatArray, captions: CaptionSet) -> FloatArray:
    """What simple rules say of each pair: 1 for the true caption, -1 for the false, 0 for none."""
    frequencies = Counter(token for one in captions.captions for token in set(one.tokens))

    def rarest(text: str) -> int:
        named = [word for word in words_of(text) if kind_of(word) is ElementKind.SOURCE]
        return min((frequencies[word] for word in named), default=1 << 30)

    rarity = [rarest(one.false) - rarest(one.true) for one in pairs]
    # What readers of captions may go by: each measure alone, and those that they may add up. How
    # well words fit their neighbours is what runs tell more than single words do.
    each = np.eye(evidence.shape[1])
    known, own = each[1:6], each[6:]
    sums = [known[2] + own[2], known[0] + own[0], own[2] + known[4], known.sum(axis=0) + own[2]]
    for word, two, three, _, together in (known, own):
        sums += [two - word, three - two, three + together, two + together]
    mixes = np.array([*each, *sums])
    mixed = evidence / np.maximum(np.sqrt((evidence**2).mean(axis=0)), 1e-9) @ mixes.T
    leans = _LEAN * mixes[:, 1:6].any(axis=1)
    likely = np.hstack([said + leans * abs(said) for said in (np.sign(mixed), np.tanh(mixed))])
    return np.column_stack([[_longer(one) for one in pairs], np.sign(rarity), likely])


def _level(
    pairs: Candidates,
    rules: FloatArray,
    wanted: tuple[float, int | None],
    part: float,
    draw: random.Random,
) -> list[CorruptedPair]:
    """As many pairs as can be level of a part of the captions, at most one of each; wanted are so
    many at any price, and at most so many."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, eye, hstack, vstack

    words = differences_of([one.true for one in pairs], [one.false for one in pairs])
    groups = [list(own) for _, own in groupby(range(len(pairs)), lambda n: pairs[n].caption)]
    owners = np.repeat(np.arange(len(groups)), [len(own) for own in groups])
    ones = np.ones(len(pairs))
    of_caption = csr_matrix((ones, (owners, np.arange(len(pairs)))))
    said = words[:, np.flatnonzero((words != 0).sum(axis=0) > _FEW)].T
    most = float(len(groups) if wanted[1] is None else wanted[1])
    least = min(most, len(groups), wanted[0])
    rows, bounds = [of_caption, ones[np.newaxis], -ones[np.newaxis]], [1.0] * len(groups)
    bounds += [most, -least]
    for told, allowed, few in ((rules.T, _OF_PAIRS, 2.0), (said, _OF_WORDS * abs(said), _FEW)):
        rows += [told - allowed, -told - allowed]
        bounds += [few * part] * (2 * told.shape[0])
    # What no longer is level costs more than a pair brings: it is paid for the least alone.
    inputs = vstack(rows, format="csr")
    held = len(groups) + 2
    tipping = vstack([csr_matrix((held, inputs.shape[0] - held)), -eye(inputs.shape[0] - held)])
    worth = [-1 - 0.01 * draw.random() for _ in pairs] + [_TIPPING] * tipping.shape[1]
    found = linprog(worth, hstack([inputs, tipping], format="csr"), bounds, method="highs").x
    taken = [float(sum(found[own])) for own in groups]
    best = sorted(range(len(groups)), key=lambda group: -taken[group])
    chosen = [max(groups[group], key=lambda n: found[n]) for group in best if taken[group] > 0.5]
    return [pairs[place] for place in chosen][: round(most)]


def placed(pairs: Candidates, draw: random.Random) -> list[tuple[CorruptedPair, Preference]]:
    """Every pair with the place of its true caption, each half of the time for any length."""
    drawn = list(pairs)
    draw.shuffle(drawn)
    drawn.sort(key=_longer)
    start = draw.randrange(2)
    answers: list[Preference] = [0, 1]
    found = [(pair, answers[(start + place) % 2]) for place, pair in enumerate(drawn)]
    draw.shuffle(found)
    return found


def differences_of(texts: Sequence[str], others: Sequence[str]) -> Any:
    """What each text has more than its other: a sparse table of words, ends, commas and lengths."""
    from scipy.sparse import csr_matrix

    def counts(text: str) -> Counter[str]:
        words = words_of(text)
        found = Counter(words)
        if words:
            found.update([f"first word {words[0]}", f"last word {words[-1]}"])
        found["number of commas"] = text.count(",")
        found["number of letters"] = len(text)
        found["number of words"] = len(words)
        return found

    rows, columns, values = [], [], []
    places: dict[str, int] = {}
    for row, (text, other) in enumerate(zip(texts, others, strict=True)):
        difference = counts(text)
        difference.subtract(counts(other))
        for name, number in difference.items():
            if number:
                rows.append(row)
                columns.append(places.setdefault(name, len(places)))
                values.append(float(number) * _SCALES.get(name, 1.0))
    return csr_matrix((values, (rows, columns)), shape=(len(texts), max(1, len(places))))


def _longer(pair: CorruptedPair) -> float:
    return float(np.sign(len(pair.true) - len(pair.false)))


def _joint(keys: Keys, owners: Owners) -> NDArray[np.int64]:
    return (owners << 32) | keys.astype(np.int64)


def _look_up(keys: IntArray, counts: IntArray, wanted: IntArray) -> FloatArray:
    """The counts of the wanted keys, 0 of one that is not among the sorted keys."""
    places = np.searchsorted(keys, wanted)
    met = np.append(keys, 0)[places] == wanted
    return np.where(met, np.append(counts, 0)[places], 0).astype(np.float64)


def _counts(
    known: tuple[IntArray, IntArray], held: tuple[Keys, Owners], wanted: tuple[Keys, Owners]
) -> tuple[FloatArray, FloatArray]:
    """How often keys are met in the package's captions, and in the set's without one clip.

    That is the owner where it has the key, else one of those that have it: words that were put
    in come from some clip, and would seem more usual than the owner's words if it stayed.
    """
    by_clip = np.unique(_joint(*held), return_counts=True)
    clips = np.unique(by_clip[0].astype(np.uint32), return_counts=True)
    total = _look_up(*np.unique(held[0], return_counts=True), wanted[0])
    own = _look_up(*by_clip, _joint(*wanted))
    mean = total / np.maximum(_look_up(*clips, wanted[0]), 1)
    return _look_up(*known, wanted[0]), total - np.where(own > 0, own, mean)


class TextKeys(NamedTuple):
    """The keys of texts, and of which text each is: n-grams by order, words and pairs of words."""

    grams: list[Keys]
    counted: NDArray[np.bool_]
    gram_text: Owners
    told: Keys  # words and pairs together
    told_text: Owners
    pairs: Keys  # in each column a pair, its left and its right
    pair_text: Owners


def text_keys(texts: Iterable[str]) -> TextKeys:
    framed, named = [], []
    for text in texts:
        framed.append(framed_words(text))
        named.append(sorted({word for word in words_of(text) if kind_of(word) is not None}))
    flat = [word for own in framed for word in own]
    known = sorted({word for own in named for word in own})
    numbers = {word: number for number, word in enumerate(known)}
    hashes = hash_words(known) if known else np.zeros(0, dtype=np.uint64)
    words = hashes[np.array([numbers[word] for own in named for word in own], dtype=np.int64)]
    sizes = np.array([len(own) for own in named], dtype=np.int64)
    starts, corners = np.cumsum(sizes) - sizes, cache(lambda n: np.stack(np.triu_indices(n, 1)))
    both = [start + corners(size) for start, size in zip(starts, sizes.tolist(), strict=True)]
    left, right = words[np.concatenate([*both, corners(0)], axis=1)]
    order = np.arange(len(framed))
    pair_text = np.repeat(order, sizes * (sizes - 1) // 2)
    return TextKeys(
        run_hashes(flat),
        np.array([word != "<" for word in flat], dtype=np.bool_),
        np.repeat(order, [len(own) for own in framed]),
        _short(np.concatenate([words, left + right])),
        np.concatenate([np.repeat(order, sizes), pair_text]),
        _short(np.stack([left + right, left, right])),
        pair_text,
    )


@lru_cache(maxsize=1)
def _keys_of_set(captions: CaptionSet) -> tuple[TextKeys, Owners]:
    """The keys of all references, and the number of the clip that each is of."""
    held = [clip.references for clip in captions.clips]
    owners = np.repeat(np.arange(len(held)), [len(own) for own in held])
    return text_keys([text for own in held for text in own]), owners


def _short(hashes: NDArray[np.uint64]) -> Keys:
    mixed = (hashes ^ (hashes >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(32)).astype(np.uint32)


def differences(pairs: Candidates, captions: CaptionSet) -> FloatArray:
    """How much better the true caption of each pair does with who knows other captions.

    A column a measure: first as ``likelier`` has it; then by the package's captions and by the
    set's, five each: by words, by runs of two and of three, by the mean of the latter, and by how
    usual it is that its words stand together.
    """
    numbers = {clip.id: number for number, clip in enumerate(captions.clips)}
    held, held_owners = _keys_of_set(captions)
    # A caption stands in several pairs, and is measured once.
    true = [(pair.clip.id, pair.true) for pair in pairs]
    false = [(pair.clip.id, pair.false) for pair in pairs]
    places = {text: place for place, text in enumerate(dict.fromkeys([*true, *false]))}
    texts = [text for _, text in places]
    owners = np.array([numbers.get(clip, -1) for clip, _ in places])
    keys, model, known = text_keys(texts), load_ngrams(), load_counts()
    seen = [
        _counts(
            (model.hashes[order], model.counts[order]),
            (own, held_owners[held.gram_text]),
            (keys.grams[order], owners[keys.gram_text]),
        )
        for order, own in enumerate(held.grams)
    ]
    met = _counts(
        (known["together"], known["counts"]),
        (held.told, held_owners[held.told_text]),
        (keys.pairs, owners[keys.pair_text]),
    )
    of_text = keys.gram_text[keys.counted]
    lengths = np.maximum(np.bincount(of_text, minlength=len(texts)), 1)
    columns = [model.mean_log_probabilities(texts)]
    totals = [(model.total, int(known["captions"])), (len(held.counted), len(held_owners))]
    for source, (words, read) in enumerate(totals):
        told = _log_chances([one[source] for one in seen], words)
        means = [mean_by_owner(one[keys.counted], of_text, len(texts)) for one in told]
        both, left, right = met[source]
        together = np.log((both + 0.5) * read / ((left + 1) * (right + 1)))
        columns += [*(lengths * one for one in means), means[-1]]
        columns.append(mean_by_owner(together, keys.pair_text, len(texts)))
    table = np.stack(columns, axis=1)
    more, less = (table[[places[one] for one in side]] for side in (true, false))
    return np.asarray(more - less)


def _log_chances(seen: Sequence[FloatArray], total: int) -> Iterator[FloatArray]:
    """The log of every word's chance, alone, after one word and after two, from runs ``seen``."""
    chances = (seen[0] + 0.5) / (total + _UNMET)
    yield np.log(chances)
    for shorter, own in pairwise(seen):
        before = np.maximum(np.roll(shorter, 1), own)
        chances = (own + _HELD_BACK * chances) / (before + _HELD_BACK)
        yield np.log(chances)
