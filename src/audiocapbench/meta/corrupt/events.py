"""Captions as events, and captions with an event too many, without the main one, or out of order.

What is not understood is left alone. ``added``: one event gives way to one of another clip, told in
the same form. ``dropped``: a caption loses the event that most other references name, and is
compared with one that names it. ``order``: clauses, or the deeds of one subject, change places.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations, islice, pairwise, takewhile
from typing import NamedTuple, TypeVar

from audiocapbench.meta.corrupt.captions import (
    AUXILIARIES,
    DETERMINERS,
    EVENTFUL,
    JOINING,
    MARKS,
    PREPOSITIONS,
    PRONOUNS,
    CaptionedClip,
    CaptionSet,
    CorruptedPair,
    ReferenceCaption,
    Tokens,
    excluding,
    meaning_of,
    nouns,
    plain_form,
    verb_forms,
    words,
    written,
)
from audiocapbench.metrics.elements import splitting

FINITE, GERUND, OTHER = "finite", "gerund", "other"
_ORDERED = frozenset({("followed", "by"), ("then",), ("and", "then"), ("before",)})
_JOINTS = (
    ("followed", "by"),
    ("and", "then"),
    *((one,) for one in ("and", "while", "as", "with", "then", "before", "after", "but")),
)
_IRREGULAR_PLURALS, _PLURAL_SOUNDS = words("irregular_plurals"), words("plural_sounds")
_SINGULAR_IN_S = frozenset("bus glass grass gas brass".split())
_DESCRIBING = ("sewing", "washing", "running", "racing", "speaking")
_SOUNDS = frozenset("sound sounds noise noises machine machines of".split())
_NOT_IN_NAMES = words("not_in_names")
NO_SUBJECT = JOINING | PREPOSITIONS | AUXILIARIES | words("no_subject")
_DETERMINING = DETERMINERS | splitting.ATTRIBUTES | splitting.COUNTS
_LONGEST_SUBJECT, _LONGEST_EVENT = 5, 8
_HANGING, _AT_ONCE, _TAKING_TURNS = map(words, ("hanging", "together", "taking_turns"))
_LOOKED_AT, _MOST_LENT = 80, 12
_Lent = TypeVar("_Lent")
_FEWEST_OTHERS = 2
_MAIN, _SIDE = 0.6, 0.5  # shares of the other references that name the main event, and the rest
_ORDERING = words("ordering")
_FOLLOWED, _BEFORE, _AFTER = ("followed", "by"), ("before",), ("after",)
_AT_ONCE_JOINTS = frozenset({("while",), ("as",), ("with",)})
_TOGETHER, _IN_TURN, _BACK = "together", "in turn", "back"
# What goes on, or another sentence, has a time of its own.
_GOING_ON = frozenset(". stop stops stopping continue continues continuing".split())


class Clause(NamedTuple):
    """A run of words that tells one event, and the words that join it to what stands before."""

    tokens: Tokens
    form: str  # FINITE ("a dog barks"), GERUND ("a dog barking") or OTHER
    verb: int  # the place of the verb or of the auxiliary, -1 without one
    many: bool  # whether the subject is a plural
    joint: Tokens = ()


def is_plural(word: str) -> bool:
    if word in nouns():
        return nouns()[word].number == "many"
    regular = word.endswith("s") and not word.endswith("ss") and word not in _SINGULAR_IN_S
    return regular or word in _IRREGULAR_PLURALS


def read_clause(tokens: Tokens, joint: Tokens = ()) -> Clause:
    first = verb_forms().get(tokens[0]) if tokens else None
    if first is not None and first.form != "base" and tokens[0] not in nouns():
        return Clause(tokens, OTHER, -1, False, joint)
    for place in range(1, min(len(tokens), _LONGEST_SUBJECT + 1)):
        before = [word for word in tokens[:place] if not word.endswith("ly")]
        head = before[-1] if before else ""
        if any(word in NO_SUBJECT for word in before):
            break
        verb = verb_forms().get(tokens[place])
        if verb is None or not head or head in _DETERMINING:
            continue
        many = is_plural(head)
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        # A gerund may belong to a noun behind it, as in "a car racing engine".
        describes = following in _SOUNDS or (
            splitting.kind_of(following) is splitting.ElementKind.SOURCE
            and following not in verb_forms()
            and tokens[place] in _DESCRIBING
        )
        if verb.form == "gerund" and not describes:
            return Clause(tokens, GERUND, place, many, joint)
        if (verb.form == "third" and not many) or (verb.form == "base" and many):
            return Clause(tokens, FINITE, place, many, joint)
    return Clause(tokens, OTHER, -1, is_plural(tokens[-1]) if tokens else False, joint)


def clauses_of(tokens: Tokens) -> list[Clause]:
    """Split a caption at its joints; what has no subject of its own stays with what is before."""
    clauses: list[Clause] = []
    joint: Tokens = ()
    start = place = 0
    while place < len(tokens):
        word = place + (tokens[place] == ",")
        ends = (word + len(one) for one in _JOINTS if tokens[word : word + len(one)] == one)
        end = next(ends, word)
        if place < end and place > start and _parts(tokens, start, place, end):
            clauses.append(read_clause(tokens[start:place], joint))
            joint, start = tokens[place:end], end
        place = max(place + 1, end)
    return [*clauses, read_clause(tokens[start:], joint)]


def _parts(tokens: Tokens, start: int, place: int, end: int) -> bool:
    """Whether the joint at a place parts two clauses, rather than two nouns or two verbs."""
    joint = _without_marks(tokens[place:end])
    if joint in _ORDERED:
        return True
    if joint in ((), ("and",)) and read_clause(tokens[start:place]).form == OTHER:
        return False
    clause = read_clause(tuple(takewhile(lambda token: token not in JOINING, tokens[end:])))
    return clause.form == FINITE or (clause.form == GERUND and joint != ())


def _without_marks(tokens: Tokens) -> Tokens:
    return tuple(token for token in tokens if token not in MARKS)


def _joined(clauses: list[Clause]) -> Tokens:
    first, *rest = clauses
    return sum((one.joint + one.tokens for one in rest), first.tokens)


def in_form(clause: Clause, form: str) -> Clause | None:
    """The clause as "a dog barks" or as "a dog barking"; None where it cannot be said."""
    tokens, place = clause.tokens, clause.verb
    if clause.form in (form, OTHER):
        return clause if clause.form == form else None
    verb = verb_forms()[tokens[place]]
    changed = verb.base if clause.many else verb.third
    if form == GERUND:
        following = verb_forms().get(tokens[place + 1]) if place + 1 < len(tokens) else None
        if not verb.gerund and (following is None or following.form != "gerund"):
            return None
        changed = verb.gerund  # none of an auxiliary: "a dog is barking" loses it
    words = (changed,) if changed else ()
    return clause._replace(tokens=tokens[:place] + words + tokens[place + 1 :], form=form)


def core(tokens: Iterable[str]) -> frozenset[str]:
    """What the sources and events among these words mean."""
    return frozenset(meaning_of(token) for token in tokens if splitting.kind_of(token) in EVENTFUL)


@lru_cache(maxsize=8192)
def _kin(meant: frozenset[str]) -> frozenset[int]:
    """The groups of the thesaurus in which these meanings are akin."""
    akin = splitting.meanings().akin
    return frozenset(group for word in meant for group in akin.get(word, ()))


def mentions(text: str, event: frozenset[str]) -> bool:
    """Whether a caption names one of the event's sources or sounds, or something akin to it."""
    elements = splitting.split(text).elements
    named = frozenset(meaning_of(element.word) for element in elements if not element.denied)
    return bool(named & event) or bool(_kin(event) & _kin(named))


def may_be_heard(tokens: Tokens, clip: CaptionedClip) -> bool:
    """Whether any reference of the clip could mean a source or event among these words."""
    families = {nouns()[token].family for token in tokens if token in nouns()}
    meant = core(tokens)
    return bool(
        any(clip.words & excluding(family) for family in families)
        or meant & clip.meanings
        or _kin(meant) & _kin(clip.meanings)
    )


def _is_clean(clause: Clause) -> bool:
    """Whether a clause tells one event and points to nothing outside itself."""
    return (
        clause.form != OTHER
        and len(clause.tokens) <= _LONGEST_EVENT
        and (PRONOUNS | JOINING | _HANGING).isdisjoint(clause.tokens)
        and (clause.form == FINITE or AUXILIARIES.isdisjoint(clause.tokens))
    )


def _shares_subject(clauses: list[Clause]) -> bool:
    """Whether one has its subject in the one before, as in "a car starts, then drives off"."""
    firsts = [clause.tokens[0] for clause in clauses[1:] if clause.tokens]
    return any(word in verb_forms() and word not in nouns() for word in firsts)


def add_events(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every caption with one event exchanged for one that is surely not in its clip."""
    split_captions = [(caption, clauses_of(caption.tokens)) for caption in captions.captions]
    pools: dict[tuple[str, bool], list[Clause]] = defaultdict(list)
    told = (one._replace(joint=()) for _, clauses in split_captions for one in clauses)
    for clause in dict.fromkeys(told):
        if _is_clean(clause) and len(core(clause.tokens)) > 1:
            pools[clause.form, clause.many].append(clause)
    for caption, clauses in split_captions:
        draw = random.Random(f"{caption.clip.id} {caption.number}")
        if len(clauses) < 2 or _shares_subject(clauses):
            continue
        for place, clause in enumerate(clauses):
            pool = pools.get((clause.form, clause.many), [])
            if not _is_clean(clause) or not core(clause.tokens) or not pool:
                continue
            for event in lent(pool, draw, partial(_is_unheard, caption.clip)):
                put_in = event._replace(joint=clause.joint)
                false = _joined([*clauses[:place], put_in, *clauses[place + 1 :]])
                yield caption.corrupted("added", false)


def lent(
    pool: Sequence[_Lent], draw: random.Random, is_wrong: Callable[[_Lent], bool]
) -> Iterator[_Lent]:
    """Some of a pool, as often as captions tell them: none is put in oftener than taken out."""
    drawn = dict.fromkeys(draw.sample(pool, min(_LOOKED_AT, len(pool))))
    return islice(filter(is_wrong, drawn), _MOST_LENT)


def _is_unheard(clip: CaptionedClip, event: Clause) -> bool:
    return not may_be_heard(event.tokens, clip)


def drop_events(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every caption without its main event, beside every other reference that names it."""
    for clip, number, tokens in captions.captions:
        others = [place for place in range(len(clip.references)) if place != number]
        clauses = clauses_of(tokens)
        if len(others) < _FEWEST_OTHERS or len(clauses) < 2 or _shares_subject(clauses):
            continue
        events = [core(clause.tokens) for clause in clauses]
        if not all(events) or any(one & other for one, other in combinations(events, 2)):
            continue
        naming = [
            {other for other in others if mentions(clip.references[other], event)}
            for event in events
        ]
        for main, naming_main in enumerate(naming):
            rest = [place for place in range(len(clauses)) if place != main]
            if len(naming_main) < _MAIN * len(others) or not _is_clean(clauses[main]):
                continue
            if any(_kin(events[main]) & _kin(events[place]) for place in rest):
                continue
            left = [clauses[place] for place in rest]
            if main == len(clauses) - 1 and len(left) > 1 and left[-1].joint == (",",):
                # A list keeps its last joint: "a dog barks, and a man speaks".
                left[-1] = left[-1]._replace(joint=clauses[main].joint)
            # Where the rest is as well known, only a reference that has it all is more complete.
            by_few = all(len(naming[place]) <= _SIDE * len(others) for place in rest)
            better = naming_main if by_few else set.intersection(*naming)
            for other in sorted(better):
                texts = plain_form(clip.references[other]), written(_joined(left))
                yield CorruptedPair("dropped", clip, (number, other), *texts)


_Parts = tuple[Tokens, frozenset[str], frozenset[str]]
"""The words in the other order, and what the earlier and the later event mean."""


def swap_orders(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every caption whose two events can be told in the other order."""
    for caption in captions.captions:
        tokens = caption.tokens
        if not PRONOUNS.isdisjoint(tokens) or sum(token in _ORDERING for token in tokens) != 1:
            continue
        clauses, timely = clauses_of(tokens), _ORDERED | {_AFTER}
        places = (n for n, one in enumerate(clauses) if _without_marks(one.joint) in timely)
        place = next(places, 0)
        if not place:
            continue
        first, joint = _joined(clauses[:place]), clauses[place].joint
        end = len(first) + len(joint)
        second = tokens[end:]
        parts = _one_subject(first, second, joint) or _two_subjects(first, second, joint)
        if parts is None:
            continue
        false, earlier, later = parts
        unclear = not earlier or not later or earlier & later
        if unclear or {_TOGETHER, _BACK} & _told_orders(caption, earlier, later):
            continue
        yield caption.corrupted("order", false)
        if joint in (_BEFORE, _AFTER):
            other = _AFTER if joint == _BEFORE else _BEFORE
            yield caption.replaced("order", end - 1, end, other)


def _told_orders(
    caption: ReferenceCaption, earlier: frozenset[str], later: frozenset[str]
) -> set[str]:
    """How the other references tell the time of two events, where they name both."""
    if caption.clip.words & _TAKING_TURNS:
        return {_BACK}
    told = set()
    for text in map(plain_form, caption.clip.others(caption.number)):
        stages = [(meaning_of(one.word), one.stage) for one in splitting.split(text).elements]
        first = [stage for meaning, stage in stages if meaning in earlier]
        second = [stage for meaning, stage in stages if meaning in later]
        if "before and after" in text or (first and second and max(first) > min(second)):
            told.add(_BACK)
        elif first and second and max(first) < min(second):
            told.add(_IN_TURN)
        elif first and second and not _AT_ONCE.isdisjoint(text.split()):
            told.add(_TOGETHER)
    return told


def change_times(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every caption that tells what is heard at once as in turn, or what comes after as at once."""
    for caption in captions.captions:
        clauses = clauses_of(caption.tokens)
        if not (PRONOUNS | _GOING_ON).isdisjoint(caption.tokens):
            continue
        for place, (before, clause) in enumerate(pairwise(clauses), 1):
            joint, events = _without_marks(clause.joint), (core(before.tokens), core(clause.tokens))
            own = _TOGETHER if joint in _AT_ONCE_JOINTS else _IN_TURN
            others = _other_times(before, clause, joint)
            if not others or not all(events) or events[0] & events[1]:
                continue
            # No other reference that tells both tells another time; what only one tells in turn
            # may be heard at once.
            told, alone = _told_orders(caption, *events), len(caption.clip.references) == 1
            if told == {own} or (not told and (alone or own == _TOGETHER)):
                end = len(_joined(clauses[:place])) + len(clause.joint)
                for other in others:
                    yield caption.replaced("attribute", end - len(joint), end, other)


def _other_times(before: Clause, clause: Clause, joint: Tokens) -> tuple[Tokens, ...]:
    """What says that a clause's event is heard at once with the one before, or else after it."""
    then = ("and", "then")
    if not AUXILIARIES.isdisjoint(before.tokens[-1:]):  # "are followed by"
        return ()
    if joint in _AT_ONCE_JOINTS and OTHER not in (before.form, clause.form):
        if clause.form == GERUND:
            return _FOLLOWED, then
        # "After leaves are rustling" reads odd.
        steady = joint == ("with",) or not AUXILIARIES.isdisjoint(clause.tokens)
        return (then,) if steady else (_BEFORE, _AFTER, then)
    if joint == _FOLLOWED or (joint in _ORDERED and clause.form == GERUND):
        return (("with",),)
    finite = clause.form == FINITE and joint in _ORDERED | {_AFTER}
    return (("while",), ("as",)) if finite else ()


def _one_subject(first: Tokens, second: Tokens, joint: Tokens) -> _Parts | None:
    """What one subject does, in the other order."""
    clauses = clauses_of(first)
    place = clauses[0].verb
    if place < 0 or not second or len(clauses) > 1 or len(clauses_of(second)) > 1:
        return None
    if _without_marks(joint) in (_FOLLOWED, _BEFORE, _AFTER):
        return None
    own, verb = verb_forms()[first[place]], verb_forms().get(second[0])
    if not own.gerund:
        # "Is being opened and then closed": the auxiliaries stay where they are.
        place += 2 if first[place + 1 : place + 2] == ("being",) else 1
        ends = (first[place] if place < len(first) else "", second[0])
        if not any(all(one.endswith(form) for one in ends) for form in ("ing", "ed")):
            return None
    elif verb is None or verb.form != own.form or not verb.gerund:
        return None
    subject, deed = first[:place], first[place:]
    if not _adds_verbs_only(deed) or not _adds_verbs_only(second):
        return None
    return subject + second + joint + deed, core(deed), core(second)


def _adds_verbs_only(deed: Tokens) -> bool:
    """Whether every "and" of a deed joins verbs: "barks and growls", not "a man and a dog"."""
    return "," not in deed and all(
        word in verb_forms() or word.endswith(("ed", "ly"))
        for before, word in pairwise(deed)
        if before == "and"
    )


def _two_subjects(first: Tokens, second: Tokens, joint: Tokens) -> _Parts | None:
    """Two clauses in the other order, each in the form that its new place asks for."""
    one, other = clauses_of(first)[0], clauses_of(second)[0]
    followed = _without_marks(joint) == _FOLLOWED
    for clause in (one, other):
        # Words that surely name a sound, as "a loud bang" does, hold no verb unknown here.
        named = (
            followed
            and clause.tokens
            and not any(
                token in _NOT_IN_NAMES
                or (token.endswith(("ed", "s")) and token not in _PLURAL_SOUNDS)
                for token in clause.tokens
            )
        )
        if clause.form == OTHER and not named:
            return None
    if one.form == other.form or (followed and FINITE not in (one.form, other.form)):
        if followed and one.form == FINITE:
            return None
        return second + joint + first, core(first), core(second)
    if not followed or one.form != FINITE or len(clauses_of(first)) > 1:
        return None
    front, back = in_form(other, FINITE), in_form(one, GERUND)
    if front is None or back is None:
        return None
    false = front.tokens + second[len(other.tokens) :] + joint + back.tokens
    return false, core(first), core(second)
