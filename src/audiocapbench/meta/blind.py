"""Blind play, searched: the fixed sentence and the affixes that a scorer likes best on a corpus.

Whoever plays blind knows how the captions of a corpus are written, and hears nothing. In a text,
``{}`` stands for the honest caption of a clip. The climb sees one half of the clips; what it found
is measured on the other half.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from audiocapbench.errors import TrialError
from audiocapbench.judges import create_judge
from audiocapbench.judges.contract import JudgeInput
from audiocapbench.judges.judge import ModelJudge, judge_texts
from audiocapbench.metrics import compute, find_metric
from audiocapbench.metrics.registry import refuse_without_audio
from audiocapbench.metrics.result import MetricResult
from audiocapbench.metrics.shipped import read_lists
from audiocapbench.stats import mean_interval
from audiocapbench.stats.bootstrap import difference_interval
from audiocapbench.table import Row, Table, ValueWithInterval

Words = tuple[str, ...]
ScoreCaptions = Callable[[Sequence[str], Sequence[Sequence[str]]], MetricResult]
Kind = Literal["sentence", "suffix", "prefix", "template"]

KINDS: dict[Kind, float] = {"sentence": 0.4, "suffix": 0.25, "prefix": 0.15, "template": 0.2}
"""What is climbed, and its share of the evaluations."""
EVALUATIONS = 1_000
SLOT = "{}"

_CLIMBED_ON, _CHOSEN_ON = 80, 300  # clips that every text is scored on, and the best ones
_AT_ONCE, _ELITE, _FINALISTS, _SHOWN = 48, 16, 12, 3
_PIECES = 0.1  # of the texts are pieces of captions as they stand, and all of the first ones
_TRIES = 40  # for each text that is wanted
_LIKELY = 0.6  # of the words of a text follow the two before them in some caption
_LONGEST_AFFIX = 10
_NOISE = 1e-6  # what sums in another order make
_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,.;]")
_NEXT_SENTENCE = re.compile(r"(\. )(\w)")


class Attack(NamedTuple):
    """A text, what it scores on clips that the climb did not see, and its gain over honest ones."""

    kind: Kind
    text: str
    score: ValueWithInterval
    gain: ValueWithInterval | None

    @property
    def succeeds(self) -> bool:
        """Whether it gains beyond chance; a gain that is the same on all clips has no interval."""
        value, interval = self.gain or (None, None)
        return (value or 0.0) > _NOISE and (interval is None or interval[0] > 0)


@dataclass(frozen=True)
class BlindPlay:
    """Attacks of each kind, the best first by the climb, and what others score on the same clips.

    ``honest`` are the captions that gains are over: people's, or those that were given.
    """

    n: int
    evaluations: int
    signature: str
    attacks: tuple[Attack, ...]
    person: ValueWithInterval | None
    honest: ValueWithInterval | None
    other: ValueWithInterval  # another clip's caption

    @property
    def best(self) -> dict[Kind, Attack]:
        """What counts of each kind: the one that the climb chose, not the luckiest."""
        first = {one.kind: one for one in reversed(self.attacks)}
        return {kind: first[kind] for kind in KINDS if kind in first}

    def to_dict(self) -> dict[str, Any]:
        rows = [one._asdict() | {"succeeds": one.succeeds} for one in self.attacks]
        [facts] = Table("", [vars(self)]).objects()
        return facts | {"attacks": Table("", rows).objects()}


class SearchedScorer(NamedTuple):
    """A scorer that can be climbed, as ``blind_play`` takes it."""

    name: str
    score: ScoreCaptions
    of_corpus: bool = False


def searched_scorer(text: str) -> SearchedScorer:
    """A metric or an offline judge by its name; TrialError for what hears, or asks a model."""
    kind, _, name = (part.strip() for part in text.partition(":"))
    if kind == "metric":
        metric, parsed = find_metric(name)
        refuse_without_audio(metric, audio=False)
        made = lambda texts, held_to: compute([str(parsed)], texts, held_to)[0]  # noqa: E731
        # What is contrasted hangs on references alone: many texts can be scored at a time.
        of_corpus = metric.of_corpus and "contrast" not in metric.options
        return SearchedScorer(f"metric:{parsed}", made, of_corpus)
    judge = create_judge(name) if kind == "judge" else None
    if judge is None or isinstance(judge, ModelJudge):
        why = "a search asks tens of thousands of questions"
        raise TrialError(f"{text} is not searched for: {why}; take metric:NAME or judge:elements")

    def judged(texts: Sequence[str], held_to: Sequence[Sequence[str]]) -> MetricResult:
        rows = zip(texts, held_to, strict=True)
        cases = [JudgeInput("", one, tuple(own), "sound") for one, own in rows]
        verdicts = judge_texts(judge, cases)
        if wrong := [one for one in verdicts if isinstance(one, str)]:
            raise TrialError(wrong[0])
        samples = np.array([one.overall for one in verdicts if not isinstance(one, str)])
        return MetricResult.of_means(name, judge.signature, samples)

    return SearchedScorer(f"judge:{name}", judged)


def measured_scores(scorer: str, signature: str | None = None) -> list[Row]:
    """What was measured of a shipped scorer on public captions; of one signature, where given.

    tools/blind_scores.py measures it.
    """
    rows = read_lists("audiocapbench.meta", "blind_scores.json")["rows"]
    return [
        row | {"blind": ValueWithInterval(row["blind"], row["ci"])}
        for row in rows
        # A trial adds fields of its own to a signature.
        if row["scorer"] == scorer
        and (signature is None or {*signature.split("|")} >= {*row["signature"].split("|")})
    ]


class HeldOutClips(NamedTuple):
    """References that all captions of a clip are held to, a person's beside them, an honest one."""

    references: list[tuple[str, ...]]
    people: list[str] | None
    honest: list[str] | None

    def part(self, places: Sequence[int]) -> "HeldOutClips":
        people, honest = (own and [own[n] for n in places] for own in (self.people, self.honest))
        return HeldOutClips([self.references[n] for n in places], people, honest)

    def with_text(self, text: str) -> list[str]:
        return [applied(text, own) for own in self.honest or [""] * len(self.references)]


def hold_out(
    references: Sequence[Sequence[str]], captions: Sequence[str] | None, lots: random.Random
) -> HeldOutClips:
    """Take a person's caption out of each clip's references; of single ones nobody's can be."""
    given = zip(references, references if captions is None else captions, strict=True)
    rows = [(distinct(own), caption) for own, caption in given]
    fewest = 2 if any(len(own) > 1 for own, _ in rows) else 1
    kept = [(lots.sample(own, len(own)), str(one)) for own, one in rows if len(own) >= fewest]
    if len(kept) < 4:
        raise TrialError(
            f"{len(kept)} clips have references to play blind against; give four at the least, "
            "and for intervals hundreds"
        )
    people = [own[0] for own, _ in kept] if fewest > 1 else None
    honest = people if captions is None else [caption for _, caption in kept]
    return HeldOutClips([tuple(own[fewest - 1 :]) for own, _ in kept], people, honest)


def distinct(references: Sequence[str]) -> list[str]:
    """Those that say something, each once: a person's caption is not held to its own words."""
    return list(dict.fromkeys(text for text in references if text.strip()))


def halves(size: int, lots: random.Random) -> tuple[list[int], list[int]]:
    order = lots.sample(range(size), size)
    return order[::2], order[1::2]


def blind_play(
    score: ScoreCaptions,
    references: Sequence[Sequence[str]],
    captions: Sequence[str] | None = None,
    *,
    evaluations: int = EVALUATIONS,
    seed: int = 42,
    of_corpus: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> BlindPlay:
    """Climb sentences, suffixes, prefixes and templates that a scorer likes, and measure them.

    Affixes are put to ``captions``, honest ones of the same clips; by default to a reference of
    each that is held to the others. An evaluation is one text, scored on up to 80 clips. What is
    found stays within what a language model learnt of these references. Where a score hangs on the
    other captions (``of_corpus``), one text is scored at a time, and otherwise many. The same seed
    finds the same.
    """
    lots = random.Random(seed)
    clips = hold_out(references, captions, lots)
    seen, unseen = map(clips.part, halves(len(clips.references), lots))
    language = Language(seen, lots)
    done, found = 0, list[tuple[Kind, str]]()
    for kind, share in KINDS.items():
        if kind != "sentence" and seen.honest is None:
            break  # affixes need something to stand by
        climb = Climb(SearchedScorer("", score, of_corpus), kind, seen, language)
        for count in climb.rounds(int(share * evaluations)):
            if progress is not None:
                progress(done + count, evaluations)
        done += len(climb.scores)
        found += [(kind, text) for text in climb.best()]
    others = [lots.choice(own) for own in (*unseen.references[1:], unseen.references[0])]
    other = score(others, unseen.references)
    person, honest = (
        score(texts, unseen.references) if texts else None
        for texts in (unseen.people, unseen.honest)
    )
    attacks = []
    for kind, text in found:
        result = score(unseen.with_text(text), unseen.references)
        over = gain(result, honest) if honest else None
        attacks.append(Attack(kind, text, measured(result), over))
    return BlindPlay(
        len(others),
        done,
        str(other.signature),
        tuple(attacks),
        person=measured(person) if person else None,
        honest=measured(honest) if honest else None,
        other=measured(other),
    )


def measured(result: MetricResult) -> ValueWithInterval:
    return ValueWithInterval(result.score, mean_interval(result.statistics, result.aggregate))


def gain(result: MetricResult, over: MetricResult) -> ValueWithInterval:
    """What one scores above another on the same clips, paired."""
    interval = difference_interval(result.statistics, over.statistics, result.aggregate)
    return ValueWithInterval(result.score - over.score, interval)


def applied(text: str, caption: str) -> str:
    """A text with a caption in its slots, written with a capital and a full stop if that is."""
    first, *rest = text.split(SLOT)
    if not rest or text == SLOT:
        return caption if rest else text
    body = caption.strip().rstrip(".")
    inner = body if body[1:2].isupper() else body[:1].lower() + body[1:]
    said = (first + (inner if first else body) + inner.join(rest)).strip()
    return _capitals(said, at_start=body[:1].isupper()) + "." * caption.strip().endswith(".")


def _capitals(text: str, *, at_start: bool) -> str:
    text = _NEXT_SENTENCE.sub(lambda one: one[1] + one[2].upper(), text)
    return text[:1].upper() + text[1:] if at_start else text


def _runs(words: Words) -> Iterator[tuple[Words, str]]:
    """Each word and the end, with the two before it."""
    framed = ("", "", *words, "")
    return ((framed[place - 2 : place], framed[place]) for place in range(2, len(framed)))


class Language:
    """How captions are written: what follows a word, or two, and whether with capital and stop."""

    def __init__(self, clips: HeldOutClips, lots: random.Random) -> None:
        learnt = [text for own in clips.references for text in own] + (clips.people or [])
        words = (tuple(_TOKEN.findall(text.lower().strip().rstrip("."))) for text in learnt)
        self.lots, self.captions = lots, [own for own in words if own]
        if not self.captions:
            raise TrialError("the references have no words to play blind with")
        self.capital = sum(text[:1].isupper() for text in learnt) * 2 > len(learnt)
        self.stop = sum(text.strip().endswith(".") for text in learnt) * 2 > len(learnt)
        self.longest = max(map(len, self.captions))
        self.following = defaultdict[Words, Counter[str]](Counter)
        for kind in ("sentence", "suffix", "prefix"):
            for own in map(self.cut, [kind] * len(self.captions), self.captions):
                for before, word in _runs(own):
                    for order in range(3):
                        self.following[before[order:]][word] += 1

    def cut(self, kind: str, words: Words) -> Words:
        """The words, or some at their end or their start with a slot for the rest."""
        size = self.lots.randint(1, min(len(words), _LONGEST_AFFIX))
        head, tail = (*words[:size], SLOT), (SLOT, *words[-size:])
        pieces = {"suffix": tail, "prefix": head, "template": (*head, *tail[1:])}
        return pieces.get(kind, words)

    def next_word(self, run: Words) -> str:
        """A word that follows these two, drawn as often as it does; empty at the end."""
        while run not in self.following or (len(run) > 1 and self.lots.random() < 0.3):
            run = run[1:]
        return self.lots.choices([*self.following[run]], [*self.following[run].values()])[0]

    def allows(self, words: Words) -> bool:
        """Whether every two words stand together in some caption, and most of three."""
        size = sum(word != SLOT for word in words)
        fits = 0 < size <= (_LONGEST_AFFIX if size < len(words) else self.longest)
        runs, known = list(_runs(words)), self.following
        two = (word in known.get(before[1:], ()) for before, word in runs)
        three = (word in known.get(before, ()) for before, word in runs)
        return fits and all(two) and sum(three) >= _LIKELY * len(runs)

    def written(self, words: Words) -> str:
        """Words as this corpus writes captions; what has a slot is written when it is applied."""
        text = re.sub(r" ([,.;])", r"\1", " ".join(words))
        if SLOT in words:
            return text
        return _capitals(text, at_start=self.capital) + "." * (self.stop and text[-1] != ".")


class Climb:
    """Texts of one kind, and what each scores on the clips that are climbed on."""

    def __init__(
        self, scorer: SearchedScorer, kind: Kind, clips: HeldOutClips, language: Language
    ) -> None:
        self.scorer, self.kind, self.clips, self.language = scorer, kind, clips, language
        self.lots, self.scores = language.lots, dict[Words, float]()

    def rounds(self, evaluations: int) -> Iterator[int]:
        """Score so many texts, the first ones as captions have them, others made of the best."""
        while (done := len(self.scores)) < evaluations:
            fresh = self._fresh(self._elite(_ELITE), min(_AT_ONCE, evaluations - done))
            if not fresh:
                return
            self.scores |= self._scored(fresh, _CLIMBED_ON)
            yield len(self.scores)

    def best(self) -> list[str]:
        """The best texts by more clips than were climbed on."""
        finals = self._scored(self._elite(_FINALISTS), _CHOSEN_ON)
        chosen = sorted(finals, key=lambda one: -finals[one])[:_SHOWN]
        return list(map(self.language.written, chosen))

    def _elite(self, count: int) -> list[Words]:
        return sorted(self.scores, key=lambda one: -self.scores[one])[:count]

    def _scored(self, texts: list[Words], most: int) -> dict[Words, float]:
        """Corpus scores of texts that every clip is given in turn."""
        clips, found = self.clips.part(range(min(most, len(self.clips.references)))), list[float]()
        at_once = 1 if self.scorer.of_corpus else _AT_ONCE
        for start in range(0, len(texts), at_once):
            written = list(map(self.language.written, texts[start : start + at_once]))
            said = [caption for text in written for caption in clips.with_text(text)]
            result = self.scorer.score(said, clips.references * len(written))
            table = result.statistics.reshape(len(written), len(clips.references), -1)
            found += result.aggregate(table.mean(axis=1)).tolist()
        return dict(zip(texts, found, strict=True))

    def _fresh(self, elite: list[Words], wanted: int) -> list[Words]:
        made = dict[Words, None]()
        for _ in range(_TRIES * wanted):
            words = self.language.cut(self.kind, self.lots.choice(self.language.captions))
            is_piece = not elite or self.lots.random() < _PIECES
            if not is_piece:
                words = elite[min(int(self.lots.expovariate(0.25)), len(elite) - 1)]
                for _ in range(self.lots.choice((1, 1, 1, 2, 3))):
                    words = self._moved(words, elite)
            if words not in self.scores and (is_piece or self.language.allows(words)):
                made[words] = None
            if len(made) == wanted:
                break
        return list(made)

    def _moved(self, words: Words, elite: list[Words]) -> Words:
        """The words with some left out, put in or replaced; a slot stays where it is."""
        slot = words.index(SLOT) if SLOT in words else len(words)
        low = slot + 1 if self.kind == "suffix" else 0
        start = self.lots.randint(low, slot if self.kind == "prefix" else len(words))
        end = min(start + self.lots.choice((0, 0, 1, 1, 1, 2, 3, 5)), len(words))
        end = min(end, slot) if start <= slot else end
        put_in = list[str]()
        if (move := self.lots.random()) < 0.5:
            for _ in range(self.lots.choice((1, 1, 1, 2, 3))):
                put_in.append(self.language.next_word(("", "", *words[:start], *put_in)[-2:]))
        elif move < 0.8:
            own = self.lots.choice(elite if move < 0.6 else self.language.captions)
            place = self.lots.randrange(len(own))
            put_in += own[place : place + self.lots.randint(1, 6)]
        return (*words[:start], *(word for word in put_in if word not in ("", SLOT)), *words[end:])
