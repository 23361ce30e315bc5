"""Captions as plain text: how all metrics of our own read them, so that formatting counts nothing.

Published metrics read captions as they were written.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from html import unescape
from itertools import accumulate
from unicodedata import normalize

from audiocapbench.metrics.result import check_captions

_LAYERS = 24
_WORD = re.compile(r"[^\W_]+")
_REMEMBERED, _LONGEST_REMEMBERED = 20_000, 2_000
_SIMPLE = re.compile(r"[a-z]+(?:(?:[,.]? |['-])[a-z0-9]+)*")
_ALIKE = str.maketrans(
    dict.fromkeys("“”„‟«»‹›″〝〞〟「」『』｢｣", '"')
    | dict.fromkeys("‘’‚‛ʼʹ′", "'")
    | dict.fromkeys("‐‑‒−⁃", "-")
    | dict.fromkeys("‣▪◦·●○■□◆◇▶►➤∙", "•")
    | dict.fromkeys("➔➜⇒", "→")
    | dict.fromkeys("【〔〖", "[")
    | dict.fromkeys("】〕〗", "]")
    | {"。": ". ", "｡": ". ", "´": "`"}
)
_FRENCH = re.compile(r"(?<=[«‹])(?<!\w.)\s+|\s+(?=[»›](?!\w))")
_UNSEEN = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2800]")
# Beside words these are read as spaces; sharps and flats are text.
_PICTURE = re.compile("[\u2300-\u23ff\u2600-\u266c\u2670-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_TAG = re.compile(
    r"<think>.*?</think>|</?[a-z]\w*(?: [^<>]*=[^<>]*)?(?: ?/)?>|<\|[^<>|]*\|>|<!--.*?-->|"
    r"\[/?(?:inst|cls|sep|pad|bos|eos|end)\]|\\(?:boxed|(?:math|text)[a-z]*)(?=\{)"
)
_FENCE = re.compile(
    r"(?:```+|~~~+)(?:(?:text|txt|plain|plaintext|markdown|md|html|json|caption)\b)?"
)
_CODED = re.compile(r"\\u([0-9a-f]{4})")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()\s]*\)")
_HEAD = (
    r"(?:(?:sure|okay|ok|certainly|of course)[,.!]* )?(?:here(?:'s| is| are) )?"
    r"(?:(?:the|a|an|my|your|this|one|possible|suggested|final|best|short|brief|detailed|concise|"
    r"simple|single|one-sentence|generated|predicted|english|audio|sound|clip|model|model's) )*"
    r"(?:captions?|answer|description|response|output|prediction|summary)"
    r"(?: ?[#(]?\d+\)?| \(\w+\))?(?: (?:for|of|to|describing)"
    r"(?: (?:the|this|your|given|audio|sound|clip|file|recording|question))+)?"
    r"(?: (?:is|are|reads|would be|could be))?(?: as follows)?"
)
_LABEL = re.compile(
    rf"{_HEAD}(?: ?[:=|→–—>]+| -+>?|-+>? |(?<=\bis)(?= ?\"))|[\[(]{_HEAD}[\])]:?|"
    r"(?:the )?(?:audio|sound|text|title|label|result|predicted|ground truth|assistant|a) ?:(?= )|"
    r"([\"'])[\w -]{1,30}\1 ?: ?(?=[\"'\[])"
)
# A label that is a heading, or in bold, needs nothing behind it.
_MARKED_LABEL = re.compile(rf"#[# ]*[*_]*{_HEAD}[*_:]* |[*_]+{_HEAD}:?[*_]+")
_APOSTROPHE = re.compile(r"(?<=[^\W_])`(?=[^\W_])")
_LATEX = re.compile(r"``([^`]+?)''")
_BULLET = re.compile(r"(?<!\S)[*+](?!\S)")
_MARKS = re.compile(r"\\(?=[^\w\s])|[*`]|~~|(?<![^\W_])_+|_+(?![^\W_])|(?<!\S)#+(?= |$)")
_ITEM = re.compile(r"([.!?,;:]?) [-–—•]+(?= )")
_LEADING = re.compile(r"[-–—+•→>|=,;:!?.\s]+|(?:\d{1,2}[.)]|\(\d{1,2}\)|\[\d{1,2}\]|[a-z]\)) (?=.)")
_SPACED = re.compile(r" (?=[,.;:!?]+(?:[\"' ]|$))")
_DOTS = re.compile(r"(?<=[.!?,;:])(?: ?\.)+(?!\d)")
_QUOTES, _EMPHASIS = frozenset("\"'"), frozenset("*_`~")
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_FINAL = " .,;:!?|=–—-•→"


def plain(text: str) -> str:
    """The words of a caption: without case, labels, markdown, quotation marks or final stops.

    Marks are those around the whole caption; what is quoted within it stays so. White space and
    forms of Unicode are made one. Plain text stays as it is.
    """
    simple = text.rstrip(" .").lower()
    if _SIMPLE.fullmatch(simple):
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
    for _ in range(_LAYERS):
        if (cleaned := _clean(text)) == text:
            return text
        text = cleaned
    return " ".join(_WORD.findall(text))  # wrapped as nobody would


def _clean(text: str) -> str:
    """One layer less of what stands around the words."""
    text = _FRENCH.sub("", unescape(text).encode("utf-8", "replace").decode("utf-8"))
    text = normalize("NFKC", normalize("NFKC", text.translate(_ALIKE)).upper().casefold())
    text = _CONTROL.sub(" ", _UNSEEN.sub("", text.translate(_ALIKE)))
    text = _PICTURE.sub(" ", text) if _WORD.search(text) else text
    text = _FENCE.sub(" ", " ".join(_TAG.sub(" ", text).split()))
    text = _LINK.sub(r"\1", _CODED.sub(lambda one: chr(int(one[1], 16)), text))
    text = _APOSTROPHE.sub("'", text)
    text = _LATEX.sub(r'"\1"', text)
    whole = _DOTS.sub("", _SPACED.sub("", _BULLET.sub("•", text)))
    text = _without(_LABEL, _without(_LEADING, whole))
    end = text[-1:] if text[1:] and text[-1] in _QUOTES else ""
    text = _unquoted(text.removesuffix(end).rstrip(_FINAL) + end)
    if text == whole:
        text = _without(_MARKED_LABEL, text)
    if text == whole and text[:1] in _EMPHASIS:
        text = text.strip(text[0])
    if text == whole:
        text = " ".join(_MARKS.sub("", text).split())
    # Dashes and bullets are pauses once nothing is left around the words.
    return text if text != whole else _ITEM.sub(lambda found: found[1] or ",", text)


def _without(start: re.Pattern[str], text: str) -> str:
    found = start.match(text)
    return text[found.end() :] if found else text


def _unquoted(text: str) -> str:
    """Text without the marks around all of it, or a mark that has no other."""
    mark, inside = text[:1], text[1:-1].strip()
    if mark in _BRACKETS and text[-1] == _BRACKETS[mark]:
        open_marks = accumulate((one == mark) - (one == text[-1]) for one in text[:-1])
        return inside if all(open_marks) else text
    if mark in _QUOTES and text[1:] and text[-1] == mark:
        # Quotations within; one that ends before another begins makes two of the outer marks.
        rest = re.sub(rf"(?<!\w){mark}[^{mark}]*{mark}", "", inside)
        _, *behind = re.split(rf"\S{mark}", rest, maxsplit=1)
        nested = inside[:1] == mark == inside[-1:]
        two = not nested and behind and re.search(rf"\s{mark}", behind[0])
        return text if two else inside
    return text.strip('"') if text.count('"') == 1 else text
