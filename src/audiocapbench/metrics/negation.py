"""Which words of a sentence are denied, and by which word: one walk, whoever brings the words.

The elements judge reads captions with it, the silence probe of MECAT answers about silence.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

_NOTHING: frozenset[str] = frozenset()
_PREFIXES = ("non-", "non")
_NEAR = 4


@dataclass(frozen=True, slots=True)
class NegationRules:
    """Words by what they do to a denial."""

    negators: frozenset[str]  # deny what follows in the clause
    endings: tuple[str, ...]  # of words that do so, too, as "isn't"
    breaks: frozenset[str]  # after these, a denial no longer holds
    list_words: frozenset[str]  # hold together a list, as "no speech, music or birds"
    reach: int  # how many words ahead a list is looked for
    adjectives: frozenset[str] = _NOTHING  # deny what follows if it is near, else what precedes
    there: frozenset[str] = _NOTHING  # say after "not" that what stands before is not there
    starters: frozenset[str] = _NOTHING  # begin something new after a comma or "and"
    bare_starters: frozenset[str] = _NOTHING  # so do these, unless a list goes on to ", or"
    auxiliaries: frozenset[str] = _NOTHING  # go on after a comma where a denial had interrupted
    things: Container[str] = _NOTHING  # words for what can be denied; "non-" negates them
    # Whether words name such a thing at a place. Without it every comma ends a denial, but for
    # lists; with it, only a comma before something that does something.
    names: Callable[[Sequence[str], int], bool] | None = None

    def negates(self, word: str) -> bool:
        if word in self.negators or word.endswith(self.endings):
            return True
        return any(word.startswith(one) and word[len(one) :] in self.things for one in _PREFIXES)


def find_denials(words: Sequence[str], rules: NegationRules) -> list[int | None]:
    """For each word and comma of a sentence, the place of what denies it; a negator is denied."""
    found: list[int | None] = [None] * len(words)
    begins, denier = 0, None
    for place, word in enumerate(words):
        if _breaks(words, place, rules) or (
            denier is not None and word == "," and _comma_ends(words, denier, place, rules)
        ):
            begins, denier = place, None
        if _denies_beside(words, place, rules):
            near = range(place + 1, min(len(words), place + 1 + _NEAR))
            clause = takewhile(lambda later: not _breaks(words, later, rules), near)
            if rules.names is not None and any(rules.names(words, later) for later in clause):
                denier = place
            else:
                found[begins:place] = [place] * (place - begins)
        elif rules.negates(word):
            denier = place
        found[place] = denier
    return found


def _breaks(words: Sequence[str], place: int, rules: NegationRules) -> bool:
    word = words[place]
    if word in rules.breaks:
        return True
    if not place or words[place - 1] not in (",", "and"):
        return False
    if word in rules.bare_starters:
        ahead = words[place : place + rules.reach]
        return not any(one == "," and two in rules.list_words for one, two in pairwise(ahead))
    return word in rules.starters


def _denies_beside(words: Sequence[str], place: int, rules: NegationRules) -> bool:
    """Whether "absent", "not present" or the like begins here, or "speech absence" ends."""
    word = words[place]
    if word in rules.adjectives:
        return True
    if word in ("not", "never", "cannot") or word.endswith(rules.endings):
        return any(one in rules.there for one in words[place + 1 : place + 4])
    return word == "absence" and bool(rules.adjectives) and words[place + 1 : place + 2] != ["of"]


def _comma_ends(words: Sequence[str], denier: int, comma: int, rules: NegationRules) -> bool:
    """Whether a comma ends a denial, or stands in a list of what is denied."""
    ahead = words[comma + 1 : comma + 1 + rules.reach]
    if ahead and ahead[0] in rules.auxiliaries:
        # "A man, not a woman, is speaking": the denial stood between two commas.
        return denier > 0 and words[denier - 1] == "," and words[denier] != "no"
    for word in ahead:
        if word in rules.list_words:
            return False
        if word in rules.breaks:
            break
    if rules.names is None:
        return True
    lists = (words[denier + 1 : comma][: rules.reach], ahead)
    before, after = ([item.split() for item in " ".join(part).split(",")] for part in lists)
    if len(before) + len(after) > 2 and _says_what_it_does(before[0], rules):
        # "No dogs barking, cats meowing, birds chirping" is one list, too.
        return False
    if len(before) > 1 and any(word in rules.there for word in after[0]):
        # So is "No voices, instruments, animal sounds are present".
        return False
    return _says_what_it_does(after[0], rules)


def _says_what_it_does(words: Sequence[str], rules: NegationRules) -> bool:
    """Whether words say what something does, as "birds chirping" and "a man speaks"."""
    for place, following in enumerate(words[1:]):
        if rules.names is not None and rules.names(words, place):
            verb = following.endswith("s") and f"{following.removesuffix('s')}ing" in rules.things
            return verb or following in rules.auxiliaries or following.endswith("ing")
    return False
