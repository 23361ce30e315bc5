"""One phrase exchanged for another: a noun, a quality, a relation, people, a number.

A new noun was met with the same verb or preposition in captions of other clips, a new quality with
the same word: loud and quiet, while and before. Two people who do different things change places
within one caption: who spoke now laughs.

A number stands for all it may mean, two for 2 alone, multiple for 2 and more. A change is false
where what the new one may mean has nothing in common with what any reference of the clip may mean.
Where one of something becomes several, the noun and its verb go along.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import (
    CaptionedClip,
    CaptionSet,
    CorruptedPair,
    Corruption,
    ReferenceCaption,
    words_of,
)
from audiocapbench.meta.corrupt.events import FINITE, first_clause, is_plural, pieces_of
from audiocapbench.meta.corrupt.slots import (
    AGES,
    PhraseFrames,
    Slot,
    noun_slots,
    quality_at,
    quality_slots,
)
from audiocapbench.meta.corrupt.text import Tokens, tokens_of
from audiocapbench.meta.corrupt.words import (
    AUXILIARIES,
    JOINING,
    PREPOSITIONS,
    PRONOUNS,
    Noun,
    excluding,
    meaning_of,
    nouns,
    numbers,
    qualities,
    unlike,
    verb_forms,
    words,
)
from audiocapbench.metrics.elements.words import ATTRIBUTES, ElementKind, kind_of

_GENDERED = words("gendered")
# What "it" does and what a wooden thing is may be beyond another noun.
_POINTING = frozenset({"it", "its", "itself"})
_MADE_OF = frozenset("wooden metal metallic glass plastic paper tin toy".split())
_GROWN = frozenset({"man", "woman", "male", "female"})
# Whatever one grown person does, another can do: no frame has to be met.
_FREE = _GROWN | {"child"}
_NOUNS_OF_PERSONS = ("person", "sex", "sexes")
_SPOKEN = frozenset(map(meaning_of, ("speak", "sing", "shout", "announce", "whisper", "chat")))
_VOCAL = frozenset(map(meaning_of, words("vocal")))
_TOGETHER = frozenset({("while",), ("as",)})
_IN_TURN = frozenset({("and", "then"), ("after",), ("before",), ("then",)})
_SAID_TOGETHER, _SAID_IN_TURN = words("said_together"), words("said_in_turn")
_PERSONS = frozenset({"man", "woman", "child", "baby", "male", "female"})
_ALL_OF_THEM = words("all_of_them")
_PLACING = frozenset(
    "in near nearby outside inside loudly continuously intermittently several twice".split()
)
_FARTHEST_VERB = 3
_PEOPLE = words("people")
_NOT_BEFORE_NUMBERS = words("not_before_numbers")
_SAYS_ONCE, _SAYS_OFTEN = words("says_once"), words("says_often")
# Understood in references, and too seldom said to be put in.
_NOT_PUT_IN = frozenset((word,) for word in ("an", "one", "few", "some", "various"))
_MORE_THAN_ONE = range(2, 100)
_ONE = range(1, 2)
_MORE = frozenset({"another", "other", "others"})
_FARTHEST_NOUN = 4


def exchange_nouns(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every exchange of a noun for one that fits and is surely wrong."""
    slots = [slot for caption in captions.captions for slot in noun_slots(caption)]
    frames = PhraseFrames(slots)
    for slot in slots:
        own, clip = nouns()[slot.phrase[0]], slot.caption.clip
        for other in unlike(own):
            families, phrase = {own.family, other.family}, (other.word,)
            if clip.words & excluding(other.family) or not _reads_well(slot, own, families):
                continue
            if families <= _FREE or frames.admit(slot, phrase):
                yield slot.caption.replaced(Corruption.NOUN, slot.start, slot.end, phrase)


def suggest_nouns(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """What a model may choose from: nouns of one sort, and sources with what they are heard to do.

    Whether they fit is for the model to say; that no reference may mean them is known.
    """
    deeds: dict[str, Counter[Tokens]] = defaultdict(Counter)
    told = [(caption, *deed) for caption in captions.captions for deed in _deeds(caption.tokens)]
    for caption, start, end, form in told:
        deeds[form][caption.tokens[start:end]] += 1
    for caption, start, end, form in told:
        for deed, count in deeds[form].items():
            if count > 1 and _is_new(deed, caption.tokens[start:end], caption.clip):
                yield caption.replaced(Corruption.NOUN, start, end, deed)
    for caption in captions.captions:
        for start, own in enumerate(map(nouns().get, caption.tokens)):
            for other in unlike(own) if own else ():
                if not caption.clip.words & excluding(other.family):
                    yield caption.replaced(Corruption.NOUN, start, start + 1, (other.word,))


def _is_new(deed: Tokens, own: Tokens, clip: CaptionedClip) -> bool:
    """Whether no reference of a clip may mean a source, and none of them what it does."""
    noun = nouns().get(deed[0])
    heard = clip.words & excluding(noun.family) if noun else meaning_of(deed[0]) in clip.meanings
    return not heard and (deed[-1] == own[-1] or meaning_of(deed[-1]) not in clip.meanings)


def _deeds(tokens: Tokens) -> Iterator[tuple[int, int, str]]:
    """Where a source and its verb stand with no object, as in "birds chirp", and in which form."""
    for start, (noun, deed) in enumerate(pairwise(tokens)):
        helped = deed in ("is", "are") and start + 2 < len(tokens)
        end = start + 2 + helped
        verb, (after, later) = verb_forms().get(tokens[end - 1]), (*tokens[end:], ",", ",")[:2]
        shares = after == "and" and later in verb_forms()
        alone = (after in JOINING or after in _PLACING or after.endswith("ly")) and not shares
        if alone and verb is not None and verb.gerund and kind_of(noun) is ElementKind.SOURCE:
            number = nouns()[noun].number if noun in nouns() else str(is_plural(noun))
            yield start, end, f"{verb.form} {number} {helped}"


def _reads_well(slot: Slot, own: Noun, families: set[str]) -> bool:
    """Whether nothing else in the caption goes with the old noun alone."""
    tokens = slot.caption.tokens
    before = tokens[slot.start - 1] if slot.start else ""
    if before in _MADE_OF or not _POINTING.isdisjoint(tokens):
        return False
    if own.sort in _NOUNS_OF_PERSONS:
        heard = {word for frame in slot.frames for word in frame.split()}
        babbling = "baby" in families and heard & _SPOKEN
        if not _GENDERED.isdisjoint(tokens) or not _VOCAL & heard or babbling:
            return False
    return before not in AGES or families <= _GROWN


def change_attributes(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every change of a quality, a relation or people that can be made in a set."""
    slots = [slot for caption in captions.captions for slot in quality_slots(caption)]
    frames = PhraseFrames(slots)
    for slot in slots:
        caption, start, end, _ = slot
        own = quality_at(caption.tokens, start)
        for other in (one for known in qualities().values() for one in known):
            opposite = own and other.line == own.line and other.side != own.side
            heard = caption.clip.words & other.same_side
            if opposite and not heard and frames.admit(slot, other.phrase):
                yield caption.replaced(Corruption.ATTRIBUTE, start, end, other.phrase)
    for caption in captions.captions:
        yield from _other_relations(caption)
        yield from _swapped_people(caption)


def _other_relations(caption: ReferenceCaption) -> Iterator[CorruptedPair]:
    """Two clauses, each with a subject and a verb, told in turn for together, and the reverse."""
    tokens, clip = caption.tokens, caption.clip
    stated = [token for token in tokens if token in _SAID_TOGETHER | _SAID_IN_TURN]
    if len(stated) != 1 or not PRONOUNS.isdisjoint(tokens) or "," in tokens:
        return
    spans = ((start, end) for start in range(1, len(tokens)) for end in (start + 2, start + 1))
    found = next((one for one in spans if tokens[slice(*one)] in _TOGETHER | _IN_TURN), None)
    if found is None:
        return
    start, end = found
    before, after = pieces_of(tokens[:start])[-1].clause, first_clause(tokens[end:])
    if not before.form == after.form == FINITE:
        return
    in_turn, together = (_IN_TURN, _SAID_IN_TURN), (_TOGETHER, _SAID_TOGETHER)
    others, forbidden = in_turn if tokens[start:end] in _TOGETHER else together
    said = (word for text in clip.others(caption.number) for word in words_of(text))
    if forbidden.isdisjoint(said):
        for phrase in sorted(others):
            yield caption.replaced(Corruption.ATTRIBUTE, start, end, phrase)


def _swapped_people(caption: ReferenceCaption) -> Iterator[CorruptedPair]:
    """Who does what the other way round, where no other reference doubts it."""
    tokens = caption.tokens
    actions = list(_actions(tokens))
    people = [token for token in tokens if token in nouns() and nouns()[token].family in _PERSONS]
    if len(actions) != 2 or len(people) != 2 or not PRONOUNS.isdisjoint(tokens):
        return
    (place, who, does), (later, whom, did) = actions
    # Each must be able to do what the other does: babies do not speak.
    baby = "baby" in (who, whom) and {"speak", "sing"} & {does, did}
    if who == whom or does == did or baby or caption.clip.words & _ALL_OF_THEM:
        return
    elsewhere = [tokens_of(text) or () for text in caption.clip.others(caption.number)]
    told = {action[1:] for text in elsewhere for action in _actions(text)}
    if not {(who, did), (whom, does)} & told:
        changed = list(tokens)
        changed[place], changed[later] = tokens[later], tokens[place]
        yield caption.corrupted(Corruption.ATTRIBUTE, changed)


def _actions(tokens: Tokens) -> Iterator[tuple[int, str, str]]:
    """People who do something: where they are named, their family, and what they do."""
    for place, token in enumerate(tokens):
        noun = nouns().get(token)
        if noun is None or noun.number == "many" or noun.family not in _PERSONS:
            continue
        for word in tokens[place + 1 : place + 1 + _FARTHEST_VERB]:
            if word in nouns() or word in ("and", ",", "with"):
                break
            if word in verb_forms() and verb_forms()[word].gerund:
                yield place, noun.family, meaning_of(word)
                break


def change_counts(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every change of a number that can be made in a set."""
    for caption in captions.captions:
        for counted in _counted_nouns(caption):
            own = numbers("things")[caption.tokens[counted.start : counted.end]]
            said = [own, *_said_of(caption.clip, caption.tokens[counted.noun])]
            for phrase, meant in numbers("things").items():
                if phrase in counted.possible and not _overlaps(meant, said):
                    yield counted.with_number(phrase)
        yield from _other_times(caption)


def _overlaps(meant: range, said: list[range]) -> bool:
    return any(meant.start < one.stop and one.start < meant.stop for one in said)


class _CountedNoun(NamedTuple):
    """A number from ``start`` to ``end``, its noun, and its verb, -1 where none has to change.

    ``possible`` are the numbers that the caption can have in its place.
    """

    caption: ReferenceCaption
    start: int
    end: int
    noun: int
    verb: int
    possible: frozenset[Tokens]

    def with_number(self, phrase: Tokens) -> CorruptedPair:
        """The caption with another number, and noun and verb to match."""
        tokens = list(self.caption.tokens)
        old, single = tokens[self.start : self.end], numbers("things")[phrase] == _ONE
        if single or numbers("things")[tuple(old)] == _ONE:
            noun = nouns()[tokens[self.noun]]
            tokens[self.noun] = noun.one if single else noun.many
            if self.verb >= 0:
                verb = verb_forms()[tokens[self.verb]]
                tokens[self.verb] = verb.third if single else verb.base
        tokens[self.start : self.end] = phrase
        return self.caption.corrupted(Corruption.COUNT, tokens)


def _counted_nouns(caption: ReferenceCaption) -> Iterator[_CountedNoun]:
    tokens, known = caption.tokens, numbers("things")
    whole = PRONOUNS.difference({"one"}).isdisjoint(tokens) and not _shares_subject(tokens)
    several = frozenset(phrase for phrase, meant in known.items() if meant != _ONE) - _NOT_PUT_IN
    for start, end in _phrases(tokens, "things"):
        place = end
        while place < len(tokens) - 1 and tokens[place] in ATTRIBUTES:
            place += 1
        if place == len(tokens) or (start and tokens[start - 1] in _NOT_BEFORE_NUMBERS):
            continue
        word, one = tokens[place], known[tokens[start:end]] == _ONE
        noun, verb = nouns().get(word), _verb_after(tokens, place, one=one)
        number = "one" if one else "many"
        agrees = whole and verb is not None and noun and noun.many and noun.number == number
        if agrees or (not one and is_plural(word) and word != "times"):
            possible = several | {("a",)} if agrees else several
            yield _CountedNoun(caption, start, end, place, verb or 0, possible)


def _phrases(tokens: Tokens, name: str) -> Iterator[tuple[int, int]]:
    """Where phrases of number begin and end, the longest that there is at each place."""
    place = 0
    while place < len(tokens):
        ends = range(min(place + 3, len(tokens)), place, -1)
        end = next((end for end in ends if tokens[place:end] in numbers(name)), 0)
        if end:
            yield place, end
        place = max(place + 1, end)


def _shares_subject(tokens: Tokens) -> bool:
    """Whether a second verb hangs on the same subject and would have to change as well."""
    return any(
        before in ("and", "then", "but", ",", "while") and verb_forms()[word].form != "gerund"
        for before, word in pairwise(tokens)
        if word in verb_forms() and word not in nouns()
    )


def _verb_after(tokens: Tokens, noun: int, *, one: bool) -> int | None:
    """Place of the noun's verb, -1 where none has to change, None where it is not clear."""
    place = noun + 1
    if place < len(tokens) and tokens[place].endswith("ly"):
        place += 1
    if place == len(tokens) or tokens[place] in JOINING | PREPOSITIONS:
        return None if AUXILIARIES & set(tokens[place : place + 10]) else -1
    verb = verb_forms().get(tokens[place])
    if verb is None:
        return None
    if verb.form == "gerund":
        return -1
    return place if verb.form == ("third" if one else "base") else None


def _said_of(clip: CaptionedClip, noun: str) -> Iterator[range]:
    """How many of a noun, or of its like, the references of a clip may mean."""
    known = nouns().get(noun)
    like = excluding(known.family) if known else frozenset()
    people = noun in _PEOPLE

    def is_like(word: str) -> bool:
        verb = word in verb_forms() and word not in nouns()
        named = word in like or meaning_of(word) == meaning_of(noun)
        return (word in _PEOPLE) if people else (named and not verb)

    for tokens in map(tuple, map(words_of, clip.references)):
        spans = list(_phrases(tokens, "things"))
        more = not _MORE.isdisjoint(tokens)
        for place in (place for place, word in enumerate(tokens) if is_like(word)):
            near = [one for one in spans if place - _FARTHEST_NOUN <= one[0] and one[1] <= place]
            bare = more or is_plural(tokens[place]) or tokens[place] in ("crowd", "group")
            yield from [numbers("things")[tokens[slice(*one)]] for one in near]
            if more or (bare and not near):
                yield _MORE_THAN_ONE


def _other_times(caption: ReferenceCaption) -> Iterator[CorruptedPair]:
    """How often something happens, at the end of a clause."""
    tokens, known, clip = caption.tokens, numbers("times"), caption.clip
    said = [known[one] for text in clip.references for one in _numbers_in(text, "times")]
    said += [_MORE_THAN_ONE] if clip.words & _SAYS_OFTEN else []
    said += [_ONE] if clip.words & _SAYS_ONCE else []
    for start, end in _phrases(tokens, "times"):
        if start > 1 and (end == len(tokens) or tokens[end] in JOINING):
            for phrase in (one for one, meant in known.items() if not _overlaps(meant, said)):
                yield caption.replaced(Corruption.COUNT, start, end, phrase)


def is_other_number(true: str, made: str) -> bool:
    """Whether a number was changed, and to one that cannot mean what the old one may mean."""
    for name in ("times", "things"):
        old, new = (_numbers_in(text, name) for text in (true, made))
        gone = [numbers(name)[one] for one in old - new]
        put = [numbers(name)[one] for one in new - old]
        if put or gone:
            return bool(put) and not any(_overlaps(one, gone) for one in put)
    return False


def _numbers_in(text: str, name: str) -> Counter[Tokens]:
    tokens = tuple("a" if word == "an" else word for word in words_of(text))
    return Counter(tokens[start:end] for start, end in _phrases(tokens, name))
