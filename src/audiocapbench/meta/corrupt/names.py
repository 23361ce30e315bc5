"""One name for another: a source with what it does, or the name of a sound, of another clip."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise, takewhile

from audiocapbench.meta.corrupt.captions import (
    DETERMINERS,
    FILE,
    JOINING,
    PREPOSITIONS,
    PRONOUNS,
    CaptionSet,
    CorruptedPair,
    ReferenceCaption,
    Tokens,
    alike,
    names,
    nouns,
    qualities,
    verb_forms,
    words,
)
from audiocapbench.meta.corrupt.events import (
    LENT,
    LOOKED_AT,
    NO_SUBJECT,
    is_plural,
    may_be_heard,
)
from audiocapbench.metrics.elements import splitting
from audiocapbench.metrics.shipped import read_lists

_HEADS, _LEADING = words("heads"), frozenset({"with", "featuring", "by", "amid", "of"})
_ALONE = {
    word: line
    for line in read_lists(*FILE)["alone"].replace("\n ", " ").strip().splitlines()
    for word in line.split()
}
_PLACING = frozenset("in near nearby outside inside loudly continuously twice".split())
_LONGEST_PLACE = 5


def deeds_of(tokens: Tokens) -> Iterator[tuple[int, int, str]]:
    """Where a source and its verb stand with no object, as in "birds chirp", and in which form."""
    for start, (noun, deed) in enumerate(pairwise(tokens)):
        helped = deed in ("is", "are") and start + 2 < len(tokens)
        end = start + 2 + helped
        verb = verb_forms().get(tokens[end - 1])
        if verb is None or not verb.gerund or not _is_source(noun) or noun in NO_SUBJECT:
            continue
        many = is_plural(noun)
        if verb.form != "gerund" and (helped or (verb.form == "base") != many):
            continue
        # Where it is done belongs to it: "walks through the grass".
        rest = tuple(takewhile(lambda word: word not in JOINING, tokens[end:]))
        if rest[:1] and rest[0] in PREPOSITIONS and _is_place(rest):
            end, rest = end + len(rest), ()
        how = not rest or rest[0] in _PLACING or rest[0].endswith("ly")
        following = [word for word in tokens[end + len(rest) :] if word not in JOINING][:1]
        # What another verb shares cannot be given to another.
        more = (word for word in (*following, *rest) if word not in nouns())
        shared = any(word in verb_forms() or word.endswith("ing") for word in more)
        if how and not shared and (not helped or (deed == "are") == many):
            number = nouns()[noun].number if noun in nouns() else str(many)
            yield start, end, f"{verb.form} {number} {helped} {bool(rest)}"


def _is_source(word: str) -> bool:
    return splitting.kind_of(word) is splitting.ElementKind.SOURCE


def _is_place(words: Tokens) -> bool:
    """Whether words after a verb tell where, and nothing that is done there."""
    # "In a steady and slow flow" goes on; "in the distance" does not.
    quality = splitting.kind_of(words[-1]) is splitting.ElementKind.ATTRIBUTE
    ended = not quality or words[-2:-1] == ("the",)
    return (
        ended
        and len(words) <= _LONGEST_PLACE
        and not any(
            word in PRONOUNS or (word in verb_forms() and word not in nouns()) for word in words
        )
    )


def exchange_deeds(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every source and what it does given for those of another clip, told in the same form."""
    places = defaultdict[str, list[tuple[ReferenceCaption, int, int]]](list)
    for caption in captions.captions:
        for start, end, form in deeds_of(caption.tokens):
            lead, before = (",", ",", *caption.tokens[:start])[-2:]
            # "People at a table are talking": the table does not talk, nor what is hit.
            other = lead in verb_forms() or (lead in PREPOSITIONS and lead not in ("by", "with"))
            named = before in DETERMINERS and not other
            # "Doors and shutters are creaking": nor does what is only listed.
            listed = before == "and" and lead not in verb_forms() and _is_source(lead)
            if named or (before in JOINING and before != "or" and not listed):
                told = "bare" if before in JOINING else "a" if before == "an" else before
                places[f"{form} {told}"].append((caption, start, end))
    # "Vehicle approaches" lacks an article, which "rain falls" does not.
    articled = (own for key, own in places.items() if key.endswith(" a"))
    counted = {caption.tokens[start] for own in articled for caption, start, _ in own}
    for key, own in places.items():
        pool = [caption.tokens[start:end] for caption, start, end in own]
        if key.endswith("bare"):
            pool = [one for one in pool if one[0] not in counted]
        for caption, start, end in own:
            hangs = caption.tokens[0].endswith("ing") or caption.tokens[0] in JOINING
            if hangs or not PRONOUNS.isdisjoint(caption.tokens):
                continue
            drawn = _drawn(pool, caption, start)
            wrong = (one for one in drawn if not may_be_heard(one, caption.clip))
            for deed in islice(wrong, LENT):
                yield caption.replaced("noun", start, end, deed)


def _drawn(pool: list[Tokens], caption: ReferenceCaption, start: int) -> Iterable[Tokens]:
    """Some of a pool, as often as captions tell them: none is put in oftener than taken out."""
    draw = random.Random(f"{caption.clip.id} {caption.number} {start}")
    return dict.fromkeys(draw.sample(pool, min(LOOKED_AT, len(pool))))


def exchange_names(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every name of a sound, as in "engine sounds", given for that of another clip's."""
    places = defaultdict[tuple[str, ...], list[tuple[ReferenceCaption, int, int]]](list)
    for caption in captions.captions:
        for place, head in enumerate(caption.tokens):
            sorts = [*takewhile(bool, map(_sort_of, reversed(caption.tokens[:place])))]
            before, after = (",", *caption.tokens)[place], (*caption.tokens, ",")[place + 1]
            told = (before in qualities() or before in _LEADING) and after in JOINING
            if head in _HEADS and sorts:
                places[head, *sorts].append((caption, place - len(sorts), place))
            elif head in _ALONE and told:
                places[_ALONE[head],].append((caption, place, place + 1))
    for own in places.values():
        pool = [caption.tokens[start:end] for caption, start, end in own]
        for caption, start, end in own:
            drawn, heard = _drawn(pool, caption, start), alike(caption.clip.words)
            wrong = (one for one in drawn if heard.isdisjoint(names()[word][1] for word in one))
            for name in islice(wrong, LENT):
                yield caption.replaced("noun", start, end, name)


def _sort_of(word: str) -> str:
    return names()[word][0] if word in names() else ""
