"""Captions as plain text: how all metrics of our own read them, so that formatting counts nothing.

Letters are read first, then labels are taken from both ends, then marks around and within go, until
nothing changes. Published metrics read captions as they were written.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from html import unescape
from itertools import accumulate
from unicodedata import category, name, normalize
from urllib.parse import unquote

from audiocapbench.metrics.labels import says_nothing, without_labels
from audiocapbench.metrics.result import check_captions
from audiocapbench.metrics.shipped import patterns, read_lists

_LAYERS = 24
_REMEMBERED, _LONGEST_REMEMBERED = 20_000, 2_000
_FILE = ("audiocapbench.metrics", "text.toml")
_FORMS = patterns(*_FILE)
_ALIKE, _LOOKALIKE = (
    {ord(one): mark for mark, every in read_lists(*_FILE)[name].items() for one in every}
    for name in ("alike", "looks")
)
_LOOKS, _LATIN = frozenset(map(chr, _LOOKALIKE)), "\u02ff"  # the last of its letters
_QUOTES, _EMPHASIS = frozenset("\"'"), frozenset("*_~")
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_NOT_FINAL = frozenset("\"')]}>%♯♭*_")
# The bytes that letters of Latin-1 and Windows, in any case, stand for behind the first of a sign.
_BYTES = {
    bytes([one]).decode(code, "replace").casefold(): one
    for code in ("latin-1", "cp1252")
    for one in range(0x80, 0xC0)
}


def plain(text: str) -> str:
    """The words of a caption: without case, labels, markdown, quotation marks or final stops.

    Marks are those around the whole caption; what is quoted within it stays so. White space and
    forms of Unicode are made one. Plain text stays as it is.
    """
    simple = text.rstrip(" .").lower()
    if _FORMS["simple"].fullmatch(simple):
        first, stop, _ = simple.partition(". ")
        if not stop or not says_nothing(first):
            return simple
    return (_plain if len(text) <= _LONGEST_REMEMBERED else _plain.__wrapped__)(text)


def plain_captions(
    predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """Captions and their references as plain text; MetricError where a sample has none."""
    check_captions(predictions, references)
    distinct = {own: list(map(plain, own)) for own in set(map(tuple, references))}
    held_to = [distinct[tuple(own)] for own in references]
    check_captions(predictions, held_to, words_needed=True)
    return list(map(plain, predictions)), held_to


@lru_cache(maxsize=_REMEMBERED)
def _plain(text: str) -> str:
    text = _FORMS["run"].sub(lambda one: one[0][:30], text)
    for _ in range(_LAYERS):
        if (cleaned := _clean(text)) == text:
            return text
        text = cleaned
    return " ".join(_FORMS["word"].findall(text))  # wrapped as nobody would


def _clean(text: str) -> str:
    """One layer less of what stands around the words."""
    read = _FORMS["bytes"].sub(lambda one: unquote(one[0].replace("=", "%")), text)
    read = _FORMS["coded"].sub(lambda one: one[1] or chr(int(one[one.lastindex or 0], 16)), read)
    if read != text:  # its letters come first
        return read
    text = _FORMS["fence"].sub("\n", _untagged(_letters(text)))
    text = _FORMS["link"].sub(lambda one: one[one.lastindex or 0], text)
    if _FORMS["list"].fullmatch(text):
        text = _FORMS["between"].sub(" ", text)
    if _FORMS["hashed"].search(text):
        text = _FORMS["hash"].sub("", text)
    text = without_labels(text).strip()
    if _FORMS["cell"].fullmatch(text):
        text = text[1:-1].replace('""', '"')
    text = " ".join(_FORMS["close"].sub(", ", text).split())
    # One that closes nothing is an apostrophe too.
    marked = _FORMS["opening"].search(text)
    text = _FORMS["apostrophe"].sub("'", text) if marked else text.replace("`", "'")
    text = _FORMS["latex"].sub(r'"\1"', text)
    whole = _FORMS["dots"].sub("", _FORMS["spaced"].sub("", _FORMS["bullet"].sub("•", text)))
    text = _FORMS["literal"].sub("", _FORMS["leading"].sub("", whole))
    end = text[-1:] if text[1:] and text[-1] in _QUOTES else ""
    # A picture says something where no word does.
    kept = ("M",) if _FORMS["word"].search(text) else ("M", "So")
    signs = {one for one in text if not one.isalnum() and not category(one).startswith(kept)}
    text = _unquoted(text.removesuffix(end).rstrip("".join(signs - _NOT_FINAL)) + end)
    if text == whole and text[:1] in _EMPHASIS:
        text = text.strip(text[0])
    if text == whole:
        text = " ".join(_FORMS["marks"].sub("", text).split())
    # Dashes and bullets are pauses once nothing is left around the words.
    return text if text != whole else _FORMS["item"].sub(lambda found: found[1] or ",", text)


def _letters(text: str) -> str:
    """Text whose letters are those of a keyboard in lower case, however they were written."""
    # Half of a surrogate pair says nothing.
    text = unescape(unescape(text)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = text.replace("\ufffd", " ")
    while not text.isascii() and (read := _FORMS["misread"].sub(_read_again, text)) != text:
        text = read
    text = _FORMS["hidden"].sub("\n", _FORMS["broken"].sub("", text))
    if not text.isascii():
        text = "".join([_letter(one, "letter") for one in text])
        if not _FORMS["word"].search(text):
            text = "".join([_letter(one, "flag") for one in text])
    apart = normalize("NFD", text)
    for accent, times in Counter(_FORMS["accent"].findall(apart)).items():
        if 4 * times > len(apart) - times > 4:
            text = apart = apart.replace(accent, "")
    text = normalize("NFKC", normalize("NFKC", text.translate(_ALIKE)).upper().casefold())
    odd = {one for one in text if one > _LATIN and one.isalnum()}
    if odd <= _LOOKS and _FORMS["word"].search("".join(filter(str.isascii, text))):
        text = text.translate(_LOOKALIKE)
    text = _parted(_FORMS["dash"].sub("-", text.replace("\0", "").translate(_ALIKE)))
    text = _FORMS["control"].sub(" ", _FORMS["unseen"].sub("", text))
    return _FORMS["picture"].sub(" ", text) if _FORMS["word"].search(text) else text


@cache
def _letter(one: str, kind: str) -> str:
    """The letter that a sign is by its name, in a box, a circle, or as a small capital."""
    found = one > _LATIN and _FORMS[kind].fullmatch(name(one, ""))
    return found[1].lower() if found else one


def _parted(text: str) -> str:
    """Text in which what stands between all words is a space, and between all letters nothing."""
    if " " not in text:
        text = unquote(text) if "%20" in text else text.replace("=20", " ")
    gaps = Counter(_FORMS["gap"].findall(text))
    if not gaps:
        return text
    mark, times = max(gaps.items(), key=lambda one: one[1])
    if 2 * times < (every := gaps.total()):
        return text
    if every > 5 and len(gaps) > 1 and len(_FORMS["single"].findall(text)) > 0.8 * every:
        text = re.sub(rf"(?<=\S){re.escape(mark)}(?=\S)", "", text)
        return " ".join(text.split())
    few = times < 3 and (" " in text or mark in "-./")
    if few or gaps[" "] or _FORMS["pause"].fullmatch(mark):
        return text
    return unquote(text.replace(mark, " "))


def _untagged(text: str) -> str:
    """Text without tags, but for what only a tag says."""
    text = _FORMS["inline"].sub(lambda one: one[one.lastindex or 0], text)
    bare = _FORMS["command"].sub("\n", _FORMS["tag"].sub("\n", text))
    if bare == text or not says_nothing(bare):
        return bare
    return _FORMS["opened"].sub("\n", text)


def _read_again(letters: re.Match[str]) -> str:
    """The sign whose bytes in UTF-8 were read as these letters; a quotation mark if one is lost."""
    text = letters[0].casefold()
    lead = ord(text[0]) - 0x20 * (len(text) == 2)
    sign = bytes([lead, *map(_BYTES.__getitem__, text[1:])])
    return '"' if letters[1] else sign.decode("utf-8", "replace")


def _unquoted(text: str) -> str:
    """Text without the marks around all of it, or a mark that has no other."""
    mark, inside = text[:1], text[1:-1].strip()
    if mark in _BRACKETS and text[-1] == _BRACKETS[mark]:
        open_marks = accumulate((one == mark) - (one == text[-1]) for one in text[:-1])
        if all(open_marks):
            return inside
    if mark in _QUOTES and text[1:] and text[-1] == mark:
        # Quotations within; one that ends before another begins makes two of the outer marks.
        rest = re.sub(rf"(?<!\w){mark}[^{mark}]*{mark}", "", inside)
        _, *behind = re.split(rf"\S{mark}", rest, maxsplit=1)
        nested = inside[:1] == mark == inside[-1:]
        two = not nested and behind and re.search(rf"\s{mark}", behind[0])
        return text if two else inside
    if mark == "$" == text[-1:]:
        return inside
    for one in "\"'":  # that is no apostrophe, within a word or behind a plural
        found = list(re.finditer(rf"(?<!\w){one}|(?<!s){one}(?!\w)|{one}\Z", text))
        if len(found) == 1:  # it has no other
            text = text[: found[0].start()] + text[found[0].end() :]
    for start, end in _BRACKETS.items():
        more = text.count(start) - text.count(end)
        text = (
            text.removeprefix(start) if more > 0 else text.removesuffix(end) if more < 0 else text
        )
    return text.strip()
