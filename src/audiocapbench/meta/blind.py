"""Blind play, searched: the fixed sentence and the affixes that a scorer likes best on a corpus.

Whoever plays blind knows how the captions of a corpus are written, and hears nothing. A caption is
words, of which ``{}`` stands for the honest caption of a clip. The climb sees one half of the
clips; what it found is measured on the other half.
"""

import random
import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

import numpy as np

from audiocapbench.errors import TrialError
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.stats import Interval, mean_interval
from audiocapbench.stats.bootstrap import difference_interval

Words = tuple[str, ...]
ScoreCaptions = Callable[[Sequence[str], Sequence[Sequence[str]]], MetricResult]
Kind = Literal["sentence", "suffix", "prefix", "template"]

SHARES: dict[Kind, float] = {"sentence": 0.4, "suffix": 0.25, "prefix": 0.15, "template": 0.2}
"""How the evaluations are divided."""
EVALUATIONS = 1_000

SLOT = "{}"
_CLIMBED_ON, _CHOSEN_ON = 80, 300  # clips that every caption is scored on, and the best ones
_AT_ONCE, _ELITE, _FINALISTS, _SHOWN = 48, 16, 12, 3
_FIRST_SHARE = 0.15  # of the evaluations, for captions to start from
_NOISE = 1e-6  # what sums in another order make
_TRIES = 40  # of a move, before another is made
_UNLIKELY = 0.25  # a found caption is as likely as all but so many of captions that are not known
_LONGEST, _LONGEST_AFFIX = 60, 14
_JOINTS = ("", "", "and", ",", ".", ", while", ", as", ", with")
_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,.;]")
_CLOSE = re.compile(r" ([,.;])")
_NEXT_SENTENCE = re.compile(r"(\. )(\w)")


class Figure(NamedTuple):
    """A score or a gain on the clips that the climb did not see."""

    value: float
    interval: Interval | None

    @property
    def is_above_chance(self) -> bool:
        return self.value > _NOISE and (self.interval is None or self.interval.low > 0)


class Attack(NamedTuple):
    """A text with ``{}`` for the honest caption, what it scores, and what it gains over that."""

    kind: Kind
    text: str
    score: Figure
    gain: Figure | None

    def of(self, caption: str) -> str:
        """The attack on a caption."""
        return applied(self.text, caption)


@dataclass(frozen=True)
class BlindPlay:
    """What was found, best first by the climb; each kind's first one is what counts.

    ``honest`` is what people's captions score, or those that were given; ``other`` what the caption
    of another clip does. Everything is measured on the same ``n`` clips and references.
    """

    n: int
    signature: str
    attacks: tuple[Attack, ...]
    person: Figure | None
    honest: Figure | None
    other: Figure
    evaluations: int

    def best(self, kind: Kind) -> Attack | None:
        return next((one for one in self.attacks if one.kind == kind), None)


class Clips(NamedTuple):
    """Clips with the references that all are held to, a person's caption beside them, and an
    honest one."""

    references: list[tuple[str, ...]]
    people: list[str] | None
    honest: list[str] | None

    def part(self, places: Sequence[int]) -> "Clips":
        people, honest = (
            own and [own[place] for place in places] for own in (self.people, self.honest)
        )
        return Clips([self.references[place] for place in places], people, honest)


def blind_play(
    score: ScoreCaptions,
    references: Sequence[Sequence[str]],
    captions: Sequence[str] | None = None,
    *,
    evaluations: int = EVALUATIONS,
    seed: int = 42,
    fluent: bool = True,
    progress: Callable[[int, int], object] | None = None,
) -> BlindPlay:
    """Climb sentences, suffixes, prefixes and templates that a scorer likes, and measure them.

    Affixes are put to ``captions``, honest ones of the same clips; by default to a reference of
    each that is held to the others. An evaluation is one caption, scored on up to 80 clips. Found
    captions are as likely as people's by a language model of these references, unless ``fluent``
    is False. The same seed finds the same.
    """
    lots = random.Random(seed)
    clips = hold_out(references, captions, lots)
    order = lots.sample(range(len(clips.references)), len(clips.references))
    seen, unseen = (clips.part(half) for half in (order[::2], order[1::2]))
    language = _Language(seen, unseen, lots, fluent=fluent)
    done, best = 0, list[tuple[Kind, str]]()
    for kind, share in SHARES.items():
        if kind != "sentence" and seen.honest is None:
            continue
        climb = _Climb(score, kind, seen, language, lots)
        for count in climb.rounds(int(share * evaluations)):
            if progress is not None:
                progress(done + count, evaluations)
        done += len(climb.scores)
        best += [(kind, text) for text in climb.finalists()[:_SHOWN]]
    return _measured(score, unseen, best, done, lots)


def hold_out(
    references: Sequence[Sequence[str]], captions: Sequence[str] | None, lots: random.Random
) -> Clips:
    """Take a person's caption out of each clip's references; of single ones nobody's can be."""
    rows = [tuple(text for text in own if text.strip()) for own in references]
    fewest = 2 if any(len(own) > 1 for own in rows) else 1
    places = [place for place, own in enumerate(rows) if len(own) >= fewest]
    if len(places) < 4:
        raise TrialError(
            f"{len(places)} clips have references to play blind against; give four at the least, "
            "and for intervals hundreds"
        )
    drawn = [lots.sample(rows[place], len(rows[place])) for place in places]
    held = [tuple(own[fewest - 1 :]) for own in drawn]
    people = [own[0] for own in drawn] if fewest > 1 else None
    honest = people if captions is None else [captions[place] for place in places]
    return Clips(held, people, honest)


def applied(text: str, caption: str) -> str:
    """A text with a caption in its slots, written with a capital and a full stop if that is."""
    first, *rest = text.split(SLOT)
    if not rest or text == SLOT:
        return caption if rest else text
    body = caption.strip().rstrip(".")
    inner = body if body[1:2].isupper() else body[:1].lower() + body[1:]
    said = (first + (inner if first else body) + inner.join(rest)).strip()
    said = _NEXT_SENTENCE.sub(lambda one: one[1] + one[2].upper(), said)
    said = said[:1].upper() + said[1:] if body[:1].isupper() else said
    return said + "." * caption.strip().endswith(".")


class _Language:
    """How the captions of a corpus are written: runs of up to three words, capitals and stops."""

    def __init__(self, seen: Clips, unseen: Clips, lots: random.Random, *, fluent: bool) -> None:
        self.lots, self.fluent = lots, fluent
        texts = _texts(seen)
        self.captions = [own for text in texts if (own := _tokens(text))]
        self.capital = sum(text[:1].isupper() for text in texts) * 2 > len(texts)
        self.stop = sum(text.strip().endswith(".") for text in texts) * 2 > len(texts)
        self.follow = defaultdict[Words, Counter[str]](Counter)
        for own in self.captions:
            framed = ("", "", *own, "")
            for place in range(2, len(framed)):
                for order in range(3):
                    self.follow[framed[place - order : place]][framed[place]] += 1
        self.totals = {run: own.total() for run, own in self.follow.items()}
        self.summed = {run: list(accumulate(own.values())) for run, own in self.follow.items()}
        self.words = {run: list(own) for run, own in self.follow.items()}
        known = [self.likelihood(own) for text in _texts(unseen) if (own := _tokens(text))]
        self.least = float(np.quantile(known, _UNLIKELY)) if known else -np.inf
        self.longest = min(_LONGEST, max(map(len, self.captions), default=1))

    def likelihood(self, words: Words) -> float:
        """The mean log probability of words; beside a slot nothing is known."""
        framed, logs = ("", "", *words, ""), list[float]()
        for place in range(2, len(framed)):
            if framed[place] == SLOT:
                continue
            before = framed[place - 2 : place]
            if SLOT in before:
                before = before[before.index(SLOT) + 1 :] if before[1] != SLOT else ()
            if framed[place] == "" and not before:
                continue
            chance = 1e-5
            for order, weight in enumerate((0.05, 0.3, 0.65)[: len(before) + 1]):
                run = before[len(before) - order :]
                if (total := self.totals.get(run)) is not None:
                    chance += weight * self.follow[run][framed[place]] / total
            logs.append(float(np.log(chance)))
        return float(np.mean(logs)) if logs else -np.inf

    def next_word(self, before: Words) -> str:
        """A word that follows these two, drawn as often as it does; empty at the end."""
        run = before[-2:] if self.fluent else ()
        while run not in self.summed or (len(run) > 1 and self.lots.random() < 0.3):
            run = run[1:]
        place = bisect(self.summed[run], self.lots.random() * self.totals[run])
        return self.words[run][min(place, len(self.words[run]) - 1)]

    def stretch(self, longest: int) -> Words:
        """Words that stand together somewhere in the captions."""
        own = self.lots.choice(self.captions)
        start = self.lots.randrange(len(own))
        return own[start : start + self.lots.randint(1, longest)]

    def passes(self, words: Words) -> bool:
        own = [word for word in words if word != SLOT]
        if not own or len(own) > (_LONGEST_AFFIX if len(own) < len(words) else self.longest):
            return False
        repeated = any(one == other for one, other in pairwise(words))
        if not self.fluent:
            return True
        return not repeated and own[-1] not in ",;" and self.likelihood(words) >= self.least

    def written(self, words: Words) -> str:
        """Words as this corpus writes captions; what has a slot is written when it is applied."""
        text = _CLOSE.sub(r"\1", " ".join(words).removesuffix(" ."))
        if SLOT in words:
            return text
        text = _NEXT_SENTENCE.sub(lambda one: one[1] + one[2].upper(), text)
        return (text[:1].upper() + text[1:] if self.capital else text) + "." * self.stop


class _Climb:
    """A population of texts of one kind, and what each scores on the clips that are climbed on."""

    def __init__(
        self,
        score: ScoreCaptions,
        kind: Kind,
        clips: Clips,
        language: _Language,
        lots: random.Random,
    ) -> None:
        self.score, self.kind, self.language, self.lots = score, kind, language, lots
        self.clips, self.scores = clips, dict[Words, float]()

    def rounds(self, evaluations: int) -> Iterator[int]:
        """Score so many texts, the first ones as captions are and the others made of the best."""
        first = max(1, int(_FIRST_SHARE * evaluations))
        while len(self.scores) < evaluations:
            wanted = min(_AT_ONCE, evaluations - len(self.scores))
            fresh = dict.fromkeys(
                self._made(self._start if len(self.scores) < first else self._move, wanted)
            )
            if not fresh:
                return
            values = self._values(list(fresh), self.clips.part(range(_CLIMBED_ON)[: self._size]))
            self.scores.update(zip(fresh, values.tolist(), strict=True))
            yield len(self.scores)

    def finalists(self) -> list[str]:
        """The best texts by all clips of this half, best first."""
        best = sorted(self.scores, key=lambda one: -self.scores[one])[:_FINALISTS]
        values = self._values(best, self.clips.part(range(_CHOSEN_ON)[: self._size]))
        return [self.language.written(best[place]) for place in np.argsort(-values, kind="stable")]

    @property
    def _size(self) -> int:
        return len(self.clips.references)

    def _values(self, texts: Sequence[Words], clips: Clips) -> FloatArray:
        """Corpus scores of texts that every clip is given in turn; all are scored at once."""
        written = [self.language.written(one) for one in texts]
        honest = clips.honest or [""] * len(clips.references)
        found = self.score(
            [applied(text, one) for text in written for one in honest],
            clips.references * len(texts),
        )
        table = found.statistics.reshape(len(texts), len(clips.references), -1)
        return found.aggregate(table.mean(axis=1))

    def _made(self, how: Callable[[], Words], wanted: int) -> Iterator[Words]:
        made = set[Words]()
        for _ in range(_TRIES * wanted):
            words = how()
            if words not in made and words not in self.scores and self.language.passes(words):
                made.add(words)
                yield words
            if len(made) == wanted:
                return

    def _start(self) -> Words:
        caption = self.lots.choice(self.language.captions)
        if self.kind == "sentence":
            return caption
        size = self.lots.randint(1, 7)
        joint = _tokens(self.lots.choice(_JOINTS))
        head, tail = caption[:size], (*joint, *caption[-size:])
        return {
            "suffix": (SLOT, *tail),
            "prefix": (*head, SLOT),
            "template": (*head, SLOT, *(tail if self.lots.random() < 0.9 else (*joint, SLOT))),
        }[self.kind]

    def _move(self) -> Words:
        """One of the best with a stretch of its words left out, put in, replaced or crossed."""
        elite = sorted(self.scores, key=lambda one: -self.scores[one])[:_ELITE]
        words = elite[min(int(self.lots.expovariate(0.25)), len(elite) - 1)]
        for _ in range(self.lots.choice((1, 1, 1, 2, 3))):
            words = self._changed(words, elite)
        return words

    def _changed(self, words: Words, elite: Sequence[Words]) -> Words:
        slots = [place for place, word in enumerate(words) if word == SLOT]
        low = slots[-1] + 1 if self.kind == "suffix" else 0
        high = slots[0] if self.kind == "prefix" else len(words)
        start = self.lots.randint(low, high)
        left_out = self.lots.choice((0, 0, 1, 1, 1, 2, 3, 5))
        end = min([start + left_out, high, *(place for place in slots if place >= start)])
        move = self.lots.random()
        put_in: Words = ()
        if move < 0.5:
            for _ in range(self.lots.choice((1, 1, 1, 2, 3))):
                word = self.language.next_word(("", "", *words[:start], *put_in)[-2:])
                put_in += (word,) * bool(word)
        elif move < 0.75:
            put_in = self.language.stretch(5)
        elif move < 0.85 and self.kind == "sentence":
            other = self.lots.choice(elite)
            return (*words[:start], *other[self.lots.randrange(len(other)) :])
        elif not self.language.fluent and move < 0.9 and start + 1 < high and end > start:
            put_in, end = (words[start] + words[start + 1],), start + 2
        return (*words[:start], *put_in, *words[end:])


def _measured(
    score: ScoreCaptions,
    clips: Clips,
    found: Sequence[tuple[Kind, str]],
    evaluations: int,
    lots: random.Random,
) -> BlindPlay:
    shifted = [*clips.references[1:], clips.references[0]]
    others = [lots.choice(own) for own in shifted]
    other = score(others, clips.references)
    person = score(clips.people, clips.references) if clips.people else None
    honest = person if clips.honest is clips.people else None
    if clips.honest is not None and honest is None:
        honest = score(clips.honest, clips.references)
    attacks = []
    for kind, text in found:
        texts = [applied(text, one) for one in clips.honest or [""] * len(others)]
        result = score(texts, clips.references)
        over = gain(result, honest) if honest is not None else None
        attacks.append(Attack(kind, text, figure(result), over))
    return BlindPlay(
        len(others),
        str(other.signature),
        tuple(attacks),
        person=figure(person) if person is not None else None,
        honest=figure(honest) if honest is not None else None,
        other=figure(other),
        evaluations=evaluations,
    )


def figure(result: MetricResult) -> Figure:
    return Figure(result.score, mean_interval(result.statistics, result.aggregate))


def gain(result: MetricResult, over: MetricResult) -> Figure:
    """What one scores above another on the same clips, paired."""
    both = result.statistics, over.statistics
    return Figure(result.score - over.score, difference_interval(*both, result.aggregate))


def _texts(clips: Clips) -> list[str]:
    return [text for own in clips.references for text in own] + (clips.people or [])


def _tokens(text: str) -> Words:
    words = tuple(_TOKEN.findall(text.lower()))
    return words[:-1] if words[-1:] == (".",) else words
