"""One phrase exchanged for another that sounds different: a noun, a quality, a relation, people.

A new noun was met with the same verb or preposition in captions of other clips, a new quality with
the same word: loud and quiet, while and before. Two people who do different things change places
within one caption: who spoke now laughs.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from audiocapbench.meta.corrupt.captions import (
    CaptionedClip,
    CaptionSet,
    CorruptedPair,
    Corruption,
    ReferenceCaption,
    corrupted,
    replaced,
    words_of,
)
from audiocapbench.meta.corrupt.clauses import FINITE, first_clause, is_plural, pieces_of
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
    JOINING,
    PRONOUNS,
    Noun,
    Quality,
    excluding,
    meaning_of,
    nouns,
    qualities,
    unlike,
    verb_forms,
    words,
)
from audiocapbench.metrics.elements.words import ElementKind, kind_of

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


def exchange_nouns(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every exchange of a noun for one that fits and is surely wrong."""
    slots = [slot for caption in captions.captions for slot in noun_slots(caption)]
    frames = PhraseFrames(slots)
    alike: dict[tuple[str, str], list[Noun]] = defaultdict(list)
    for noun in nouns().values():
        alike[noun.sort, noun.number].append(noun)
    for slot in slots:
        own = nouns()[slot.phrase[0]]
        for other in alike[own.sort, own.number]:
            if unlike(own, other) and _fits(slot, own, other, frames):
                yield replaced(Corruption.NOUN, *slot[:3], (other.word,))


def suggest_nouns(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """What a model may choose from: nouns of one sort, and sources with what they are heard to do.

    Whether they fit is for the model to say; that no reference may mean them is known.
    """
    alike: dict[tuple[str, str], list[Noun]] = defaultdict(list)
    for noun in nouns().values():
        alike[noun.sort, noun.number].append(noun)
    deeds: dict[str, Counter[Tokens]] = defaultdict(Counter)
    told = [(caption, *deed) for caption in captions.captions for deed in _deeds(caption.tokens)]
    for caption, start, end, form in told:
        deeds[form][caption.tokens[start:end]] += 1
    for caption, start, end, form in told:
        for deed, count in deeds[form].items():
            if count > 1 and _is_new(deed, caption.tokens[start:end], caption.clip):
                yield replaced(Corruption.NOUN, caption, start, end, deed)
    for caption in captions.captions:
        for start, own in enumerate(map(nouns().get, caption.tokens)):
            for other in alike[own.sort, own.number] if own else ():
                near = caption.clip.words & excluding(other.family)
                if own and unlike(own, other) and not near:
                    yield replaced(Corruption.NOUN, caption, start, start + 1, (other.word,))


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


def _fits(slot: Slot, own: Noun, other: Noun, frames: PhraseFrames) -> bool:
    clip, families = slot.caption.clip, {own.family, other.family}
    if clip.words & excluding(other.family) or not _reads_well(slot, own, families):
        return False
    return families <= _FREE or frames.admit(slot, (other.word,))


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
        own = quality_at(slot.caption.tokens, slot.start)
        for other in _opposites(own) if own else ():
            heard = slot.caption.clip.words & other.same_side
            if not heard and frames.admit(slot, other.phrase):
                yield replaced(Corruption.ATTRIBUTE, *slot[:3], other.phrase)
    for caption in captions.captions:
        yield from _other_relations(caption)
        yield from _swapped_people(caption)


def _opposites(own: Quality) -> list[Quality]:
    of_line = (one for known in qualities().values() for one in known if one.line == own.line)
    return [one for one in of_line if one.side != own.side]


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
            yield replaced(Corruption.ATTRIBUTE, caption, start, end, phrase)


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
        change = f"{tokens[place]} ↔ {tokens[later]}"
        yield corrupted(Corruption.ATTRIBUTE, caption, changed, change)


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
