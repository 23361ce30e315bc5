"""One name for another: a source with what it does, or the name of a sound, of another clip."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise, takewhile

from audiocapbench.meta.corrupt.captions import (
    DETERMINERS,
    FILE,
    JOINING,
    PREPOSITIONS,
    PRONOUNS,
    SAID_BEFORE,
    CaptionedClip,
    CaptionSet,
    CorruptedPair,
    ReferenceCaption,
    Tokens,
    alike,
    names,
    nouns,
    qualities,
    sentence_of,
    verb_forms,
    words,
)
from audiocapbench.meta.corrupt.events import NO_SUBJECT, is_plural, may_be_heard
from audiocapbench.metrics.elements import splitting
from audiocapbench.metrics.shipped import read_lists

_HEADS, _LEADING = words("heads"), frozenset({"with", "featuring", "by", "amid"})
_ALONE = {
    word: line
    for line in read_lists(*FILE)["alone"].replace("\n ", " ").strip().splitlines()
    for word in line.split()
}
_PLACING = frozenset("in near nearby outside inside loudly continuously twice".split())
_LONGEST_PLACE, _LONGEST_TOPIC = 7, 4
_DESCRIBING = splitting.ATTRIBUTES | words("ages")
_LIKENING, _OF_ONE = words("likening"), words("of_one")
_GOING_WITH_ALL = JOINING | DETERMINERS | PREPOSITIONS | splitting.ATTRIBUTES | _LEADING
_ANYTHING = 3  # families of which a word is said that goes with any of them
_FEWEST_KEPT = 3  # a caption exchanged as a whole is another clip's
_LEADING_NOUN = DETERMINERS | splitting.COUNTS | {"of"}
_ABOUT, _TELLING, _OPEN_ENDED = map(words, ("about", "telling", "open_ended"))
_ENDING = (JOINING | PREPOSITIONS | {"using"}) - _OPEN_ENDED
_NO_TOPIC = JOINING | PREPOSITIONS | PRONOUNS | _OPEN_ENDED
_HELPERS = frozenset({"is", "are", "was", "were"})
_NO_CLAUSE, _BEFORE_GERUNDS = PREPOSITIONS | {"for", "or"}, frozenset({"by", "with"})
_GERUND = "gerund,"  # and no helper
_LOOKED_AT, _MOST_LENT = 80, 12
_Place = tuple[ReferenceCaption, int, int]


def deeds_of(tokens: Tokens) -> Iterator[tuple[int, int, str]]:
    """Where a source and its verb stand with no object, as in "birds chirp", and in which form."""
    for place, (noun, deed) in enumerate(pairwise(tokens)):
        helper = deed if deed in _HELPERS and place + 2 < len(tokens) else ""
        end = place + 2 + bool(helper)
        verb = verb_forms().get(tokens[end - 1])
        # "Moe whistling" is nobody else, and "It begins" opens a sentence.
        named = noun.islower() and noun not in NO_SUBJECT and _is_source(noun)
        if verb is None or not verb.gerund or not named:
            continue
        many = is_plural(noun)
        if verb.form != "gerund" and (helper or (verb.form == "base") != many):
            continue
        # "Are chirping and singing" is one deed.
        joint, following = (*tokens[end : end + 2], "", "")[:2]
        also = verb_forms().get(following) if joint == "and" else None
        end += 2 * (also is not None and also.form == verb.form and following not in nouns())
        # "Full of tom hits": a verb that names a sound may be one.
        if verb.form != "gerund" and verb.third in _HEADS and noun not in nouns():
            continue
        # Where it is done belongs to it: "walks through the grass".
        rest = tuple(takewhile(lambda word: word not in JOINING, tokens[end:]))
        how = bool(rest) and (rest[0] in _PLACING or rest[0].endswith("ly"))
        where = rest[how and rest[0] not in PREPOSITIONS :]
        if where and where[0] in PREPOSITIONS and _is_place(where):
            end, rest = end + len(rest), ()
        if (rest and not how) or (helper and (deed in ("are", "were")) != many):
            continue
        if _is_shared(tokens, end, rest):
            continue
        start = place
        while start and tokens[start - 1] in _DESCRIBING:
            start -= 1
        before = tokens[start - 1] if start else ","
        if start < place and before not in DETERMINERS and not many:
            continue
        # "Birds chirping" as "water dripping", but "birds chirp" and "water drips".
        number = many and (verb.form != "gerund" or bool(helper))
        form = f"{verb.form} {helper}" if helper else verb.form
        yield start, end, f"{form}, {number} {bool(rest)}"


def _is_shared(tokens: Tokens, end: int, rest: Tokens) -> bool:
    """Whether what follows a deed is said of it too, and cannot be given to another."""
    joint, *after = (*tokens[end + len(rest) :], ",")
    following = next((word for word in after if word not in JOINING), "")
    clause = takewhile(lambda word: word not in JOINING, after)
    if joint == "with" and not any(
        word.endswith("ing") and one not in DETERMINERS for one, word in pairwise(clause)
    ):
        return True  # "chops with a knife"
    more = [word for word in (following, *rest) if word not in nouns()]
    hangs = joint == "and" and following in PREPOSITIONS
    return hangs or any(word in verb_forms() or word.endswith("ing") for word in more)


def _is_source(word: str) -> bool:
    return word in nouns() or splitting.kind_of(word) is splitting.ElementKind.SOURCE


def _is_place(words: Tokens) -> bool:
    """Whether words after a verb tell where, and nothing that is done there."""
    # "In a steady and slow flow" goes on; "in the distance" does not.
    quality = splitting.kind_of(words[-1]) is splitting.ElementKind.ATTRIBUTE
    ended = not quality or words[-2:-1] == ("the",)
    done = any(word in PRONOUNS or (word in verb_forms() and word not in nouns()) for word in words)
    return ended and words[0] != "of" and len(words) <= _LONGEST_PLACE and not done


def exchange_deeds(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every source and what it does given for those of another clip, told in the same form."""
    places = defaultdict[str, list[_Place]](list)
    for caption in captions.captions:
        for start, end, form in deeds_of(caption.tokens):
            lead, before = (",", ",", *caption.tokens[:start])[-2:]
            # "People at a table are talking": the table does not talk, nor what is hit; nothing
            # drops with "the rain drops".
            leading = _BEFORE_GERUNDS if form.startswith(_GERUND) else frozenset[str]()
            other = lead in verb_forms() or lead.endswith("ing") or lead in _NO_CLAUSE - leading
            named = before in _LEADING_NOUN and not other
            # "Doors and shutters are creaking": nor does what is only listed.
            listed = before == "and" and lead not in verb_forms() and _is_source(lead)
            if named or (before in JOINING and before != "or" and not listed):
                told = "bare" if before in JOINING else "a" if before == "an" else before
                places[f"{form} {told}"].append((caption, start, end))
    # "Vehicle approaches" lacks an article, which "rain falls" does not.
    articled = (own for key, own in places.items() if key.endswith(" a"))
    counted = {caption.tokens[start] for own in articled for caption, start, _ in own}
    for key, own in places.items():
        bare = counted if key.endswith("bare") else frozenset[str]()
        pool = [one for one in own if one[0].tokens[one[1]] not in bare]
        for caption, start, end in own:
            sentence, two = sentence_of(caption.tokens, start), (",", ",", *caption.tokens[:start])
            hangs = (sentence[0].endswith("ing") and "," in two[-2:]) or "so" in sentence
            after = takewhile(lambda word: word != ".", caption.tokens[start:])
            whole = len(caption.tokens) - (end - start) < _FEWEST_KEPT
            if not (hangs or whole) and PRONOUNS.isdisjoint(after):
                yield from _given([(caption, start, end)], pool, _is_unheard_deed)


def _given(
    places: Iterable[_Place],
    pool: Sequence[_Place],
    is_wrong: Callable[[CaptionedClip, Tokens], bool],
) -> Iterator[CorruptedPair]:
    """Some words of a pool in each place: none are put in oftener than they are taken out."""
    for caption, start, end in places:
        draw = random.Random(f"{caption.clip.id} {caption.number} {start}")
        lent = draw.sample(pool, min(_LOOKED_AT, len(pool)))
        drawn = dict.fromkeys(one.tokens[first:last] for one, first, last in lent)
        wrong = (phrase for phrase in drawn if is_wrong(caption.clip, phrase))
        for phrase in islice(wrong, _MOST_LENT):
            yield caption.replaced("noun", start, end, phrase)


def _is_unheard_deed(clip: CaptionedClip, told: Tokens) -> bool:
    return _is_unheard(clip, told) and not may_be_heard(told, clip)


def _is_unheard(clip: CaptionedClip, told: Tokens) -> bool:
    """Whether no word of a clip means what is named."""
    return alike(clip.words).isdisjoint(names()[word][1] for word in told if word in names())


def exchange_topics(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Everything that is spoken of given for what is spoken of in another clip."""
    places = list[_Place]()
    for caption in captions.captions:
        for start, (before, lead) in enumerate(pairwise(("", *caption.tokens)), 1):
            topic = tuple(takewhile(_is_of_topic, caption.tokens[start:]))
            end = start + len(topic)
            after = (*caption.tokens, ".")[end]
            ended = after.endswith("ed") or after in _ENDING
            told = lead in _ABOUT or (lead in ("of", "on") and before in _TELLING)
            # "An explanation of car" lacks an article.
            named = len(topic) > 1 or is_plural("".join(topic))
            short = named and len(topic) <= _LONGEST_TOPIC
            if told and ended and short and not names().keys().isdisjoint(topic):
                places.append((caption, start, end))
    yield from _given(places, places, _is_other_topic)


def _is_other_topic(clip: CaptionedClip, told: Tokens) -> bool:
    return clip.words.isdisjoint(told) and _is_unheard_deed(clip, told)


def _is_of_topic(word: str) -> bool:
    plain = word.replace("-", "").isalpha() and word.islower()
    return plain and not word.endswith(("ing", "ed")) and word not in _NO_TOPIC


def exchange_names(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every name of a sound, as in "engine sounds", given for that of another clip's."""
    places = defaultdict[tuple[str, ...], list[_Place]](list)
    led = defaultdict[str, set[str]](set)  # what a word before a name is said of
    for caption in captions.captions:
        for before, word in pairwise(caption.tokens):
            if word in names():
                led[before].add(names()[word][1])
    for caption in captions.captions:
        for place, head in enumerate(caption.tokens):
            sorts_before = (names().get(word, ("",))[0] for word in caption.tokens[:place][::-1])
            sorts = [*takewhile(bool, sorts_before)]
            lead, before = (",", ",", *caption.tokens)[place : place + 2]
            after = (*caption.tokens, ",")[place + 1]
            leads = before in _LEADING or (before == "of" and lead in _HEADS)
            told = (leads or _is_quality(before)) and after in JOINING
            start = place - len(sorts)
            said = caption.tokens[start - 1] if start else ","
            # "Combustion engine noise": combustion goes with engines alone.
            known = said in _GOING_WITH_ALL or _is_quality(said) or "sound" not in sorts
            free = said not in _OF_ONE and (known or len(led[said]) >= _ANYTHING)
            # "A siren sounds" and "a loud train noises" name no noises.
            described = [word for word in caption.tokens[:start] if word not in _DESCRIBING]
            deed = is_plural(head) and described[-1:] in (["a"], ["an"])
            if head in _HEADS and sorts and free and not deed and after not in _LIKENING:
                places[head, *sorts].append((caption, start, place))
            elif head in _ALONE and told and _is_told_once(caption.tokens, place):
                places[_ALONE[head],].append((caption, place, place + 1))
    for own in places.values():
        yield from _given(own, own, _is_unheard)


def _is_quality(word: str) -> bool:
    known = qualities().get(word.lower(), ())
    return any(one.phrase == (word.lower(),) and one.frame in SAID_BEFORE for one in known)


def _is_told_once(tokens: Tokens, place: int) -> bool:
    """Whether nothing else says the same: "light rain, but more than a light drizzle" does."""
    family = names()[tokens[place]][1]
    told = (names()[word][1] for word in tokens[:place] + tokens[place + 1 :] if word in names())
    return family not in told
