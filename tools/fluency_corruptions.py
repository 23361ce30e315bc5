"""Breaks captions the way captioning models do, and recombines them into others that are whole."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from audiocapbench.metrics.fluency.detector import GRAMMAR, LINKS, PAUSE, ending_of, stem_of

Words = list[str]

LINKING = ["and", "and then", "followed by", "as", "then", "while", "with", "before"]
TAILS = """and a|followed by a|and|as a|in the|with a|and then|a|then|while|before a|followed by|
of a|an|the|and the|while a|then a|as|with|in|and some|in the background and|and an|on a|on the|of|
to|by|for|followed|in the background a|followed by another|and two""".replace("\n", "").split("|")
STUBS = ["a", "the", "and", "in the", "is", "with", "and a", "a and"]
ADDITIONS = ["in the background", "nearby", "several times", "in the distance", "loudly"]
NOT_BEFORE_A_VERB = frozenset("a an the of with some multiple several two and".split())


class Event(NamedTuple):
    """The words that lead to an event, and the words that tell it."""

    link: Words
    words: Words


class Example(NamedTuple):
    """A sentence to learn from."""

    kind: str
    words: Words
    broken: bool
    weight: float


class Corrupter:
    """Makes examples out of whole captions; the same seed makes the same examples."""

    def __init__(self, captions: list[Words], seed: int) -> None:
        self._random = random.Random(seed)
        self._captions = captions
        self._whole = {tuple(caption) for caption in captions}
        self._last_pairs = Counter(tuple(caption[-2:]) for caption in captions)
        self._last_words = Counter(caption[-1] for caption in captions)
        self._pairs = Counter(pair for words in captions for pair in pairwise(words))
        self._verbs = Counter(
            stem_of(word) for words in captions for word in words if ending_of(word) == "ing"
        )
        self._invented = 0

    def examples(self, share: float = 0.45, disguised: float = 0.5) -> Iterator[Example]:
        """Yield each caption, whole recombinations of it and broken copies of it.

        Args:
            share: Chance that a kind of break is tried on a caption.
            disguised: Chance that an example has words exchanged for ones that never existed, so
                that the classifier also learns what to make of words that it does not know.
        """
        for caption in self._captions:
            for example in (*self._whole_ones(caption), *self._broken_ones(caption, share)):
                # Strings of words that it does not know may be a style of their own.
                hide = self._random.random() < disguised and "bare" not in example.kind
                yield example._replace(words=self._disguise(example.words)) if hide else example

    def _whole_ones(self, caption: Words) -> Iterator[Example]:
        yield Example("caption", caption, broken=False, weight=2)
        part = self._part(caption)
        if part and self._random.random() < 0.5:
            yield Example("part", part, broken=False, weight=0.5)
        if self._random.random() < 0.4:
            joined = self._joined(caption, self._random.choice(self._captions))
            if joined:
                yield Example("joined", joined, broken=False, weight=0.7)

    def _broken_ones(self, caption: Words, share: float) -> Iterator[Example]:
        breaks: dict[str, tuple[Callable[[Words], Words | None], float]] = {
            "stub": (self._stub, 1),
            "dangling tail": (self._dangling_tail, 1),
            "cut at a link": (self._cut_at_link, 1),
            "cut end": (self._cut_end, 0.8),
            "repeated event": (self._repeated_event, 1.2),
            "nothing but a repeated event": (self._only_repeated_event, 0.8),
            "repeated words": (self._repeated_words, 0.4),
            "verb and verb": (self._verb_and_verb, 0.3),
            "conjunction removed": (self._conjunction_removed, 0.7),
            "verb removed": (self._verb_removed, 0.7),
            "shuffled": (self._shuffled, 0.3),
            "bare words": (self._bare_words, 0.2),
            "bare words shuffled": (self._bare_words_shuffled, 0.2),
        }
        for kind, (apply, weight) in breaks.items():
            if self._random.random() < share:
                words = apply(list(caption))
                if words and tuple(words) not in self._whole:
                    yield Example(kind, words, broken=True, weight=weight)

    def _part(self, caption: Words) -> Words | None:
        events = events_of(caption)
        if len(events) < 2:
            return None
        start = self._random.randrange(len(events))
        stop = self._random.randrange(start + 1, len(events) + 1)
        words = events[start].words + _joined_up(events[start + 1 : stop])
        return words if len(words) > 1 or (words and words[0] not in GRAMMAR) else None

    def _joined(self, first: Words, second: Words) -> Words | None:
        left = events_of(first)[0].words
        right = self._random.choice(events_of(second)).words
        if len(left) < 2 or len(right) < 2:
            return None
        return left + self._link() + right

    def _stub(self, _: Words) -> Words | None:
        return self._random.choice(STUBS).split() if self._random.random() < 0.02 else None

    def _dangling_tail(self, caption: Words) -> Words:
        return caption + self._random.choice(TAILS).split()

    def _cut_at_link(self, caption: Words) -> Words | None:
        events = events_of(caption)
        if len(events) < 2:
            return None
        stop = self._random.randrange(1, len(events))
        article: Words = self._random.choice([[], ["a"], ["a"], ["the"], ["an"]])
        return _joined_up(events[:stop]) + events[stop].link + article

    def _cut_end(self, caption: Words) -> Words | None:
        """Cut where captions do not end: at a word of grammar, or at a pair only met inside."""
        places = []
        for stop in range(2, len(caption)):
            word, pair = caption[stop - 1], (caption[stop - 2], caption[stop - 1])
            hangs = word in GRAMMAR and self._last_words[word] < 20
            if hangs or (self._last_pairs[pair] == 0 and self._pairs[pair] > 3):
                places.append(stop)
        return caption[: self._random.choice(places)] if places else None

    def _repeated_event(self, caption: Words) -> Words | None:
        events = events_of(caption)
        full = [place for place, event in enumerate(events) if len(event.words) > 1]
        if not full:
            return None
        place = self._random.choice(full)
        again = self._varied(events[place].words)
        stop = place + 1 if self._random.random() < 0.6 else len(events)
        return _joined_up(events[:stop]) + self._link() + again + _joined_up(events[stop:])

    def _only_repeated_event(self, caption: Words) -> Words | None:
        words = self._random.choice(events_of(caption)).words
        return words + self._link() + self._varied(words) if len(words) > 1 else None

    def _repeated_words(self, caption: Words) -> Words | None:
        size = self._random.choice([1, 1, 2, 3])
        if len(caption) <= size:
            return None
        start = self._random.randrange(len(caption) - size + 1)
        words = caption[start : start + size]
        between: Words = self._random.choice([[], [], ["and"]])
        if PAUSE in words:
            return None
        return caption[: start + size] + between + words + caption[start + size :]

    def _verb_and_verb(self, caption: Words) -> Words | None:
        places = [place for place, word in enumerate(caption) if ending_of(word) == "ing"]
        if not places:
            return None
        place = self._random.choice(places)
        return [*caption[: place + 1], "and", caption[place], *caption[place + 1 :]]

    def _conjunction_removed(self, caption: Words) -> Words | None:
        events = events_of(caption)
        places = [
            place
            for place in range(1, len(events))
            if min(len(events[place].words), len(events[place - 1].words)) > 1
        ]
        if not places:
            return None
        place = self._random.choice(places)
        return _joined_up(events[:place]) + events[place].words + _joined_up(events[place + 1 :])

    def _verb_removed(self, caption: Words) -> Words | None:
        places = [place for place in range(len(caption)) if self._is_verb(caption, place)]
        if not places:
            return None
        start = self._random.choice(places)
        stop = start + 1
        if caption[start] in ("is", "are"):
            while self._random.random() < 0.6 and stop < len(caption) and stop in places:
                stop += 1
        elif start and caption[start - 1] in ("is", "are") and self._random.random() < 0.7:
            start -= 1
        rest = caption[:start] + caption[stop:]
        return rest if len(rest) > 1 else None

    def _shuffled(self, caption: Words) -> Words | None:
        words = [word for word in caption if word != PAUSE]
        self._random.shuffle(words)
        return words if len(words) > 3 else None

    def _bare_words(self, caption: Words) -> Words | None:
        """What carries content alone, as whoever lists key words writes it."""
        words = [word for word in caption if word not in GRAMMAR and word != PAUSE]
        several = len(events_of(caption)) > 1
        return words if several and 2 < len(words) < len(caption) - 1 else None

    def _bare_words_shuffled(self, caption: Words) -> Words | None:
        words = self._bare_words(caption)
        return self._shuffled(words) if words else None

    def _is_verb(self, caption: Words, place: int) -> bool:
        word = caption[place]
        ending = ending_of(word)
        if word in ("is", "are") or (ending == "ing" and word not in GRAMMAR):
            return True
        if word in GRAMMAR or ending not in ("s", "ed") or place == 0:
            return False
        return self._verbs[stem_of(word)] >= 5 and caption[place - 1] not in NOT_BEFORE_A_VERB

    def _varied(self, event: Words) -> Words:
        """The event in the same words, in another form of its verb, or with a few words more."""
        words = list(event)
        verbs = [
            place
            for place in range(len(words))
            if self._is_verb(words, place) and words[place] not in ("is", "are")
        ]
        if verbs and self._random.random() < 0.35:
            _change_form(words, verbs[0])
        if self._random.random() < 0.2:
            words += self._random.choice(ADDITIONS).split()
        return words

    def _link(self) -> Words:
        return self._random.choice(LINKING).split()

    def _disguise(self, caption: Words) -> Words:
        share = self._random.choice([0.3, 0.6, 1.0])
        stems: dict[str, str] = {}
        words = []
        for word in caption:
            if word in GRAMMAR or not word[0].isalpha():
                words.append(word)
                continue
            stem = stem_of(word)
            if stem not in stems:
                self._invented += 1
                hidden = self._random.random() < share
                stems[stem] = f"q{self._invented:x}q" if hidden else ""
            words.append(stems[stem] + ending_of(word) if stems[stem] else word)
        return words


def events_of(caption: Words) -> list[Event]:
    """Split a sentence at its links."""
    events = [Event([], [])]
    for word in caption:
        if word not in LINKS and word != PAUSE:
            events[-1].words.append(word)
        elif events[-1].words:
            events.append(Event([word], []))
        else:
            events[-1].link.append(word)
    return events


def _joined_up(events: list[Event]) -> Words:
    return [word for event in events for word in (*event.link, *event.words)]


def _change_form(words: Words, place: int) -> None:
    word = words[place]
    if word.endswith("ing"):
        base = word.removesuffix("ing")
        doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "ls"
        words[place] = (base[:-1] if doubled else base) + "s"
        if place and words[place - 1] in ("is", "are"):
            del words[place - 1]
    elif word.endswith("s"):
        words[place] = word.removesuffix("s") + "ing"
