"""Tells whether an answer states its choice in one of a few shapes: only then is it certain.

Each part of it must be a verdict of a closed form, or a remark on captions or sounds that neither
supposes, reports, denies nor takes back. Whatever else an answer says may turn its verdict round,
and is for a reader.
"""

from audiocapbench.meta.answers.marks import FIRST, SECOND
from audiocapbench.meta.answers.patterns import P, content_words
from audiocapbench.meta.answers.statements import statements
from audiocapbench.meta.scorers.scorer import Choice

_CHOICES = {FIRST: Choice.FIRST, SECOND: Choice.SECOND}


def is_plain(marked: str, choice: Choice, first: str, second: str) -> bool:
    """Whether a marked answer has a verdict of a closed form for a choice, and nothing doubtful."""
    if P["broken_off"].search(marked):
        return False
    pieces = P["unit_end"].split(marked)
    stated = explained = False
    named: set[Choice] = set()
    for link, piece in zip(["", *pieces[1::2]], pieces[::2], strict=True):
        explained = not P["sentence_end"].search(link) and (
            explained or (stated and bool(P["explains"].search(link)))
        )
        part = P["opened"].sub("", piece.strip(" \t*_#>\"'")).strip()
        meant = {_CHOICES[one] for one in part if one in _CHOICES}
        named = meant or (named if P["goes_on"].search(part) else set())
        chosen = _chosen(part, named)
        if chosen is choice:
            stated = True
        elif chosen not in (None, Choice.TIE):
            return False
        elif explained:
            if P["supposes"].search(part):
                return False
        elif part and not _is_remark(part, named, choice, (first, second), stated):
            return False
    return stated


def _chosen(part: str, named: set[Choice]) -> Choice | None:
    """What a verdict of a closed form chooses; "it" is who was named last."""
    verdict = P["verdict"].fullmatch(part)
    if verdict is None:
        return None
    who = next((one for one in verdict.group("who", "chosen", "found", "best") if one), "")
    if who == "it":
        return next(iter(named)) if len(named) == 1 else None
    return _CHOICES.get(who, Choice.TIE)


def _is_remark(
    part: str, named: set[Choice], choice: Choice, captions: tuple[str, str], stated: bool
) -> bool:
    """Whether a part of an answer may stand beside a verdict without a doubt about it."""
    said = {one.choice for one in statements(part)}
    if named and choice not in named and choice is not Choice.TIE:
        speaks = said or P["against"].search(part) or P["denial"].search(part)
        return bool(speaks) and said <= {choice}
    first, second = map(content_words, captions)
    own, other = (second, first) if choice is Choice.SECOND else (first, second)
    words = content_words(part)
    if not named and not (words & (own | other) or P["about"].search(part)):
        return False
    if stated and not named and len(words & (other - own)) > len(words & (own - other)):
        return False
    clear = P["no_doubt"].sub(" ", part)
    doubtful = P["doubt"].search(clear) or P["denial"].search(clear)
    return said <= {choice, Choice.TIE} and not doubtful
