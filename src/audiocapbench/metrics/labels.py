"""Labels around a caption: what names it, numbers it or holds it in a program, at both its ends.

A label is a few words beside a mark that say nothing of a sound. Which mark decides how many: no
caption that people wrote begins with one word before a colon, and many have one before a comma.
"""

from audiocapbench.metrics.shipped import patterns, word_set

_FILE = ("audiocapbench.metrics", "text.toml")
_FORMS = patterns(*_FILE)
_ELEMENTS = ("audiocapbench.metrics.elements", "words.toml")
_OWN = "about sounding beside verdicts talk goes_on".split()
_ABOUT, _SOUNDING, _BESIDE, _VERDICTS, _TALK, _OPEN = (word_set(*_FILE, one) for one in _OWN)
_STOP, _VAGUE, *_SAY = (
    word_set(*_ELEMENTS, one) for one in "stop vague events attributes moods counts".split()
)
_SAY_NOTHING = _ABOUT | _SOUNDING | _BESIDE | _STOP | _VAGUE
_HEARD = frozenset().union(*_SAY) - _SAY_NOTHING  # even alone before a colon
_MOST_WORDS, _MOST_UNKNOWN, _WINDOW = 14, 3, 200  # of a label
_CLOSED = {"(": ")", "[": "]", "{": "}", "<": ">"}


class _Label:
    """Words that may be a label, the gap between them and a caption, and their own brackets."""

    def __init__(self, words: list[str], written: str, gap: str, before: str, behind: str) -> None:
        self.words, self.written, self.gap, self.few = words, written, gap, len(words) <= 3
        opened = _FORMS["bracket"].search(before)
        self.bracket = opened[1] if opened and _CLOSED[opened[1]] in behind else ""
        unknown = sum(not _says_nothing(one) for one in words)
        self.known, named = not unknown, not _ABOUT.isdisjoint(words)
        self.sounding = not (unknown or _SOUNDING.isdisjoint(words))
        self.about = named and self.known
        self.mostly = unknown < 2 and (named or not _SOUNDING.isdisjoint(words))
        self.figure = self.known and words[0][0].isdigit()
        one = len(written.split()) == 1 or all(map(_is_figure, words[1:]))
        self.one = one and words[0] not in _HEARD
        self.said = not {'"', "'"}.isdisjoint(before) and bool(_FORMS["said"].search(gap))

    def fits(self, form: str) -> bool:
        return _FORMS[form].fullmatch(self.written) is not None

    def leads(self, of_values: bool) -> bool:
        """Whether it is a label of what follows."""
        gap = self.gap
        if self.written in _VERDICTS:
            return False
        numbered = self.known and " " in self.written and _is_figure(self.words[-1])
        if (self.figure and _FORMS["behind_figure"].search(gap)) or (
            (numbered or self.fits("numeral")) and _FORMS["behind_numeral"].match(gap)
        ):
            return True
        if "\t" in gap and " " not in self.written and any(map(_is_figure, self.words)):
            return True
        if _FORMS["strong"].search(gap):
            few = self.few and _FORMS["strongest"].search(gap)
            one = self.one and _FORMS["sole"].search(gap)
            return bool(one or few) or self.known or self.mostly or self.fits("timed")
        if _FORMS["comma"].fullmatch(gap):
            named = self.figure or self.about or self.sounding
            return named or self.fits("odd") or (of_values and self.few)
        if self.bracket:
            return self.known or self.fits("odd") or (self.bracket in "{<" and self.few)
        line = ("\n" in gap and self.fits("odd")) or (self.sounding and bool({"\n", '"'} & {*gap}))
        asked = self.known and _FORMS["asked"].match(gap) is not None
        return not self.said and (self.about or line or asked)

    def trails(self, of_values: bool, wrapped: bool) -> bool:
        """Whether it is a label of what stands before it, which may go on over a line's end."""
        gap = self.gap
        if self.bracket:
            in_other = self.bracket != "(" and (self.known or self.fits("odd"))
            return self.about or self.fits("ending") or in_other
        if _FORMS["comma"].fullmatch(gap):
            return (self.figure and not {'"', "\t"}.isdisjoint(gap)) or (of_values and self.few)
        if "\n" in gap:
            of_line = self.about or self.figure or self.fits("ending") or self.fits("value")
            talk = self.known and gap.count("\n") > 1 and not _TALK.isdisjoint(self.words)
            return talk or (of_line and not wrapped)
        if self.written.isalpha() and self.fits("ending") and _FORMS["marked"].fullmatch(gap):
            return True
        named = (self.about or self.figure) and _FORMS["hung"].search(gap)
        return bool(named) or (self.one and _FORMS["hung_alone"].search(gap) is not None)


def says_nothing(text: str, start: int = 0) -> bool:
    """Whether all words of a text speak of a caption, or of nothing that can be heard."""
    return all(_says_nothing(one[0]) for one in _FORMS["token"].finditer(text, start))


def _says_nothing(word: str) -> bool:
    return word.partition("'")[0] in _SAY_NOTHING or len(word) == 1 or _is_figure(word)


def _is_figure(word: str) -> bool:
    return any(map(str.isdigit, word))


def without_labels(text: str) -> str:
    """Text without the labels before and behind what it says."""
    of_values = values = _FORMS["program"].match(text) is not None
    # Where the next word had found room, a line was not wrapped.
    longest = max(map(len, text.splitlines()), default=0)
    start = 0
    while cut := _first_cut(text, start, values, longest):
        values = values and (_ABOUT | _SOUNDING).isdisjoint(
            _FORMS["token"].findall(text[start:cut])
        )
        start = cut
    text = text[start:]
    while (cut := _last_cut(text, of_values)) < len(text):
        text = text[:cut]
    return text


def _first_cut(text: str, start: int, of_values: bool, longest: int) -> int:
    """Where what stands behind the first label begins, or 0."""
    if keyed := _FORMS["keyed_first"].match(text, start):
        return keyed.end()
    words: list[str] = []
    unknown = 0
    found = _FORMS["token"].finditer(text, start)
    first = one = next(found, None)
    while first and one and len(words) < _MOST_WORDS and unknown <= _MOST_UNKNOWN:
        words.append(one[0])
        unknown += not _says_nothing(one[0])
        then = next(found, None)
        end = then.start() if then else len(text)
        before, gap = text[start : first.start()], text[one.end() : end]
        alone = one is first and _FORMS["alone"].fullmatch(before.strip()[-1:] + one[0])
        plain = _FORMS["figures_gap" if _is_figure(one[0]) else "plain_gap"].fullmatch(gap)
        if alone or not plain:
            label = _Label(words, text[first.start() : one.end()], gap, before, gap)
            hard = "\n" in gap and then and len(label.written) + len(then[0]) < longest
            leads = alone or label.leads(of_values) or (hard and label.mostly)
            if ":" in gap and (label.fits("letter_alone") or not (label.known or label.mostly)):
                leads = leads and not _FORMS["sibling"].search(text, end)
            goes_on = (len(words) > 1 and words[-1] in _OPEN) or (then and then[0] == "of")
            if goes_on and not _FORMS["strong"].search(gap):
                leads = alone
            if leads and (label.about or (then and (label.known or not says_nothing(text, end)))):
                opens = _FORMS["opens"].search(gap)
                return one.end() + opens.start() if opens and then else end
        one = then
    return 0


def _last_cut(text: str, of_values: bool) -> int:
    """Where what stands before the last label ends, or the length."""
    offset = max(0, len(text) - _WINDOW)
    if keyed := _FORMS["keyed_last"].search(text, offset):
        return keyed.start()
    found = list(_FORMS["token"].finditer(text, offset))
    for place in range(len(found) - 1, max(0, len(found) - 1 - _MOST_WORDS), -1):
        start, end = found[place - 1].end(), found[-1].end()
        gap = text[start : found[place].start()]
        words = [token[0] for token in found[place:]]
        if not _FORMS["plain_gap"].fullmatch(gap):
            written = text[found[place].start() : end]
            wrapped = not gap.strip(" -\n") and found[place - 1][0] in _OPEN
            if _Label(words, written, gap, gap, text[end:]).trails(of_values, wrapped):
                kept = _FORMS["closers"].match(text, start)
                return kept.end() if kept else start
    return len(text)
