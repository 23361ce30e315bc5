r"""Tokens as the Stanford PTB tokenizer makes them for coco-caption, without Java: in lower case,
punctuation dropped. Checked against the output of the original.

A rule's whole match decides which rule wins (the longest, then the first); its group 1 is the
token, and what it matches after that is context that the next token reads again. Patterns see
shapes, in which foreign characters have stand-ins of their kinds. No text takes more than linear
time: a rule that could scan far ahead in vain has a guard.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from string import ascii_letters, ascii_lowercase, digits

from audiocapbench.metrics.shipped import read_lists

LETTER = "\u00e9"  # stands for every non-ASCII letter
MARK = "\u0301"  # for combining marks, which belong to words but not after digits
DIGIT = "\u0660"
SYMBOL = "\u00a7"  # for characters that are tokens by themselves
SUPERSCRIPT, SUBSCRIPT, SIGN = "\u00b2\u2082\u207a"  # for raised and lowered digits and signs
NO_BREAK, WIDE_SPACE = "\u00a0\u2000"  # for spaces that addresses may have inside
DROPPED = "\uffff"  # for characters that end a token and leave no trace
_TABLES = read_lists("audiocapbench.metrics.ptb", "characters.toml")
_SIGNS: dict[str, str] = _TABLES["signs"]
_ENTITIES: dict[str, str] = _TABLES["entities"]
_NOT_ASCII = re.compile("[^ -~]")
_AMPERSAND = re.compile("(?i:&amp;)")
_GRAVE_LIKE = re.compile("[\u2018\u0091\u201b]")
_ITSELF = "T"
_STAND_INS = {
    "L": LETTER,
    "M": MARK,
    "D": DIGIT,
    "S": SYMBOL,
    "X": DROPPED,
    "E": " ",
    "P": SUPERSCRIPT,
    "B": SUBSCRIPT,
    "G": SIGN,
    "N": NO_BREAK,
    "W": WIDE_SPACE,
}
_FIRST_KIND = 0x80
# The letter of each character's kind, from U+0080 on.
_KINDS = "".join(run[0] * int(run[1:], 16) for run in _TABLES["kinds"].split())


def shape_of(text: str) -> str:
    """Replace foreign characters by the stand-ins of their kinds; the length stays the same."""
    return _NOT_ASCII.sub(lambda found: _kind(found.group()), text)


@cache
def _kind(character: str) -> str:
    code = ord(character)
    if code > 0xFFFF:
        return DROPPED  # the original sees two surrogates, and knows neither
    if code >= _FIRST_KIND:
        return _STAND_INS.get(_KINDS[code - _FIRST_KIND], character)
    if character == "\t":
        return character
    return " " if character in "\n\v\f\r" else DROPPED


def sign(token: str) -> str:
    """Spell a character that is a token by itself; "" where it leaves no token."""
    return _SIGNS.get(token, token)


def contraction(token: str) -> str:
    """Make the apostrophe of ``'s`` and ``n't`` a plain one."""
    plain = token.replace("\u2019", "'").replace("\u0092", "'").replace("&apos;", "'")
    return _GRAVE_LIKE.sub("`", plain)


def _spelled(characters: dict[str, str]) -> Callable[[str], str]:
    table = str.maketrans(characters)
    return lambda token: token.translate(table)


_quotes = _spelled(_TABLES["quotes"])  # several in a row are one token
_TREEBANK = {"(": "-LRB-", ")": "-RRB-"}
_brackets, _unbroken = _spelled(_TREEBANK), _spelled(_TREEBANK | {" ": "\u00a0"})
_unsoftened = _spelled({"\u00ad": ""})


def entity(token: str) -> str:
    """Resolve the character entities that the original resolves."""
    if token in ("&quot;", "&apos;"):
        return "'"
    return _ENTITIES.get(token.casefold(), token)


ABBREVIATIONS = read_lists("audiocapbench.metrics.ptb", "abbreviations.toml")
"""Words whose period belongs to them, by where it does."""


@dataclass(frozen=True, slots=True, eq=False)
class _Guard:
    """What a rule's match must contain, and how far the characters go that it may consist of.

    ``run`` matches to the end of the run, from wherever in it; without a needle ahead in the run
    the rule cannot match, with one it reaches it.
    """

    run: re.Pattern[str]
    needle: re.Pattern[str]


_Spell = Callable[[str], str] | None
_Rule = tuple[re.Pattern[str], _Spell, _Guard | None]  # of one kind of token


def _rule(pattern: str, spell: _Spell = None, guard: _Guard | None = None) -> _Rule:
    return re.compile(pattern), spell, guard


def _guard(run: str, needle: str) -> _Guard:
    return _Guard(re.compile(run), re.compile(needle))


def _either(words: str) -> str:
    return "|".join(words.split())


def _capitalised(words: str) -> str:
    return "|".join(f"{word[0].upper()}(?i:{word[1:]})" for word in words.split())


_APOS = "(?:['\u0092\u2019]|(?i:&apos;))"
_APOS_LIKE = "(?:['\u0092\u2019`\u0091\u2018\u201b]|(?i:&apos;))"
_D = f"[0-9{DIGIT}]"
_JOINING = f" {NO_BREAK}"
_S = f"[ \t{NO_BREAK}{WIDE_SPACE}]"
_SPACED = f"[ \t\n{NO_BREAK}{WIDE_SPACE}"
# Long s, dotless and dotted i and the Kelvin sign: S, I and K where case does not matter.
_CASELESS = "\u017f\u0131\u0130\u212a"
_LETTER = f"A-Za-z{LETTER}{_CASELESS}"
_ACCENTED = "&[aeiouAEIOU](?i:acute|grave|uml);"
_L = f"(?:[{_LETTER}{MARK}\u00ad]|{_ACCENTED})"
_LD = f"(?:[{_LETTER}{MARK}\u00ad0-9{DIGIT}]|{_ACCENTED})"
_ALNUM = f"[{_LETTER}0-9{DIGIT}]"
_HYPHEN = "[-_\u058a\u2010\u2011]"
_ACRONYM = r"[A-Za-z](?:\.[A-Za-z])+"
_WORD = rf"{_L}{_LD}*+(?:[.!?]{_L}{_LD}*+)*+"
_PREFIX = f"[dDoOlL]{_APOS_LIKE}{_ALNUM}"
_THING = f"(?:{_PREFIX})?{_ALNUM}++(?:{_HYPHEN}(?:{_PREFIX})?{_ALNUM}++)*+"
_INITIALS = "[A-Z]++(?:(?:(?i:&amp;)|[+&])[A-Z]++)++"
_LONG_COMPOUND = rf"[A-Za-z0-9][A-Za-z0-9.,\u00ad]*+(?:-(?:{_ACRONYM}\.|[A-Za-z0-9\u00ad]++))+"
_LONG_COMPOUND_AHEAD = _guard(r"[A-Za-z0-9.,\u00ad]*+(?:-[A-Za-z0-9\u00ad])?", "-")
_NUMBER = f"(?:{_D}+(?:[.:,\u00ad\u066b\u066c]{_D}+)*|(?:[.:,\u00ad\u066b\u066c]{_D}+)+)"
_AUXILIARY = f"{_APOS}(?:[msdMSD]|(?i:re|ve|ll))"
_URL_END = r'[^ \t\n"<>|.!?(){},\-]'
_URL = r'[^ \t\n"<>|(){}]'
_PATH = rf'/[^ \t\n"<>|()]+{_URL_END}'
_HOST = r"[^ \t\n\"`'<>|.!?(){},-_$]++"
_TOP = "(?i:com|net|org|edu)"
_HOST_AHEAD = _guard(rf"(?:{_HOST}\.)*+(?:{_HOST})?", rf"\.{_TOP}")
_WWW = r'[^ \t\n"<>|.!?(){},]++'
_WWW_AHEAD = _guard(rf"(?:{_WWW}\.)*+(?:{_WWW})?", r"\.[a-zA-Z]{2}")
_WWW_PATH_AHEAD = _guard(_WWW_AHEAD.run.pattern, r"\.[a-zA-Z]{2,4}/")
_MAIL = r'[^ \t\n\u00a0"<>|(){}]'
_MAIL_HOST = r'[^ \t\n\u00a0"<>|(){}.]'
_MAIL_AHEAD = _guard(f"<?{_MAIL}*+", f"@{_MAIL_HOST}")
_TAG_NAME = "[A-Za-z][A-Za-z0-9_:.-]*+"
_QUOTED = r"(?:'[^'\"]*+'|\"[^'\"]*+\")"
_TAG = (
    r"<(?:[!?][A-Za-z-][^>]*+"
    rf"|/?{_TAG_NAME}(?: +{_TAG_NAME}(?: *= *{_QUOTED})?){{0,100}} */?)>"
)
_TAG_AHEAD = _guard("[^>]*+>?", ">")

_CONTRACTED = (
    _rule("((?i:can(?=not)|gon(?=na)|got(?=ta)|lem(?=me)|gim(?=me)|wan(?=na)))(?i:not|ta|me|na)"),
    _rule(f"([A-Za-z\u00ad]*[A-MO-Za-mo-z]\u00ad*)[nN]{_APOS_LIKE}[tT]", _unsoftened),
    _rule(f"([nN]{_APOS_LIKE}[tT])", contraction),
    _rule(f"({_WORD}){_AUXILIARY}", _unsoftened),
)
_APOSTROPHED = (
    _rule(f"([A-HJ-XZn]{_APOS_LIKE}[{_LETTER}]{{2}}[{_LETTER}]*+)"),
    _rule(f"([{_LETTER}]+[aeiouyAEIOUY]{_APOS_LIKE}[aeiouA-Z][{_LETTER}]*+)"),
    _rule(f"((?i:dunkin|somethin|ol|[ldj]){_APOS}|(?i:cap{_APOS}n|c{_APOS}est))"),
    _rule("((?i:c'mon|e'er|li'l|nat'l))"),
    _rule(f"([yY]{_APOS})[{_LETTER}]"),
    _rule(f"([oO]{_APOS_LIKE}[oO])"),
)
_OPENERS = _capitalised(ABBREVIATIONS["openers"])
_ABBREVIATED = (
    _rule(rf"((?i:{_either(ABBREVIATIONS['anywhere'])})\.)"),
    _rule(rf"((?i:{_either(ABBREVIATIONS['numbered'])})\.){_S}?{_D}"),
    _rule(rf"([A-Za-z])\.{_S}++(?:{_OPENERS}|M[rRsS]\.){_SPACED}]"),
    _rule(rf"([A-Za-z])\.{_S}++{_TAG}{_SPACED}]", guard=_TAG_AHEAD),
    _rule(r"([A-Za-z]\.)"),
    _rule(rf"((?:{_ACRONYM}|(?i:a\.k\.a))\.)"),
)
_FINALLY_ABBREVIATED = (
    _rule(rf"((?i:{_either(ABBREVIATIONS['final'])}|ph\.d|ed\.d)\.)(?s:..)?"),
    _rule(rf"((?:{_capitalised(ABBREVIATIONS['capitalised'])})\.)(?s:..)?"),
)
_BEFORE_COMMA = (
    _rule(rf"((?:{_WORD}|{_INITIALS}|{_THING})\.)[,;:\u3001]", _unsoftened),
    _rule(rf"({_LONG_COMPOUND}\.)[,;:\u3001]", _unsoftened, _LONG_COMPOUND_AHEAD),
)
_COMPOUND = (
    _rule(f"({_INITIALS})", lambda token: _AMPERSAND.sub("&", token)),
    _rule(r"([A-Za-z0-9]++(?:-[A-Za-z]++){0,2}+(?:\\?/[A-Za-z0-9]++(?:-[A-Za-z]++){0,2}+){1,2}+)"),
    _rule(f"({_LONG_COMPOUND})", _unsoftened, _LONG_COMPOUND_AHEAD),
    _rule(f"({_THING})"),
)
_EXTENSION = (
    r"\.(?i:bat|bmp|c|cgi|class|cpp|dll|docx?|exe|gif|gz|h|html?|jar|java|jpe?g|mov|mp3|pdf|php|pl"
    r"|png|ppt|ps|py|sql|tar|txt|wav|x|xml|zip)"
)
_FILE_NAME = _rule(
    rf"({_LD}++(?:\.{_LD}++)*{_EXTENSION}){_SPACED}.,?!]",
    guard=_guard(rf"(?:{_LD}++\.)*+{_LD}*+", f"{_EXTENSION}{_SPACED}.,?!]"),
)
_NUMBERS = (
    _rule(f"({_D}{{1,2}}[-/]{_D}{{1,2}}[-/]{_D}{{2,4}})"),
    _rule(f"((?:{_D}{{1,4}}[-{_JOINING}])?{_D}{{1,4}}(?:\\\\?/|\u2044){_D}{{1,4}})", _unbroken),
    _rule(f"([-+]?{_NUMBER})", _unsoftened),
    _rule(
        rf"((?:\([0-9]{{2,3}}\)[{_JOINING}]?"
        rf"|(?:\+\+?)?(?:[0-9]{{2,4}}[-{_JOINING}])?[0-9]{{2,4}}[-{_JOINING}])"
        rf"[0-9]{{3,4}}[-{_JOINING}]?[0-9]{{3,5}}"
        r"|(?:(?:\+\+?)?[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5})",
        _unbroken,
    ),
)
_ADDRESSES = (
    _rule(rf"((?i:https?)://{_URL}+{_URL_END})"),
    _rule(rf"((?:{_HOST}\.)+{_TOP}(?:{_PATH})?)", guard=_HOST_AHEAD),
    _rule(
        rf"((?:<|(?i:&lt;))?[a-zA-Z0-9]{_MAIL}*@(?:{_MAIL_HOST}++\.)*{_MAIL_HOST}++"
        r"(?:>|(?i:&gt;))?)",
        guard=_MAIL_AHEAD,
    ),
    _rule(rf"((?i:www)\.(?:{_WWW}\.)+[a-zA-Z]{{2,4}})", guard=_WWW_AHEAD),
    _rule(rf"((?i:www)\.(?:{_WWW}\.)+?[a-zA-Z]{{2,4}}{_PATH})", guard=_WWW_PATH_AHEAD),
)
_FACES = (
    _rule(r"([<>]?[:;=][-o*']?[()DPdpO\\{@|\[\]])[^A-Za-z0-9]", _brackets),
    _rule(
        r"([-^x=~<>']_[-^x=~<>']|\([-^x=~<>'][_.]?[-^x=~<>']\)|\([-^x=~<>']-[-^x=~<>'`]\))",
        _brackets,
    ),
)
_MARKUP = (_rule(f"({_TAG})", _unbroken, _TAG_AHEAD), _rule("(<<|>>)"))
_APOSTROPHE_FIRST = (
    _rule(f"({_AUXILIARY})[^A-Za-z]", contraction),
    _rule("('[tT])(?i:is|was)"),
    _rule(f"({_APOS}(?i:n{_APOS}?|em|cause|till?|[2-9]0s))"),
    _rule(f"({_APOS}[0-9]{{2}}){_SPACED}]"),
    _rule(f"(')[A-Za-z][^ \t\n{NO_BREAK}]"),
    _rule(f"({_AUXILIARY})", contraction),
)
_PLAIN_WORD = _rule(f"({_WORD})", _unsoftened)
_ENTITY = _rule(
    "((?i:&(?:amp|lt|gt|quot|apos|nbsp|ht|lr|q[clr]|tl|ur|[co]dq|md|[mn]dash);)|&#[0-9]+;)", entity
)
_RUNS = _rule(r"([!?]+|#+|\*+|_+|@{2,}|-{5,}|-{1,4}|\\\*|'')", sign)
_ELLIPSIS = _rule(rf"(\.{{3,5}}|\.(?:[{_JOINING}]\.){{2,4}})", lambda dots: "...")
_QUOTES = _rule("([`\u0091-\u0094\u2018-\u201f\u2039\u203a\u00ab\u00bb]{1,2})", _quotes)
_SCRIPTS = _rule(f"({SIGN}?(?:{SUPERSCRIPT}+|{SUBSCRIPT}+))")
_TAGS = (_rule(f"(#{_L}+)"), _rule("(@[A-Za-z_][A-Za-z_0-9]*)"))
_SHARPS = (_rule(r"([cC]\+\+|[cCfF]#)"), _rule(r"([A-Z]*\$)"))
_BRACKET_NAMES = _rule("(-(?i:[LR][RSC]B)-)")

_SHORTENED = (*_CONTRACTED, *_APOSTROPHED, *_ABBREVIATED, *_BEFORE_COMMA, *_SHARPS, *_FACES[1:])
_LONGER = (_PLAIN_WORD, *_ADDRESSES, *_FINALLY_ABBREVIATED, _FILE_NAME, *_COMPOUND)
_WORDS = (*_SHORTENED, *_LONGER)
_FOREIGN = (*_CONTRACTED[1::2], _APOSTROPHED[1], *_BEFORE_COMMA, _COMPOUND[-1], _FILE_NAME)
_FOREIGN_WORDS = (*_FOREIGN, _PLAIN_WORD, _ADDRESSES[1])


_NUMBER_ONLY, _HOST_ONLY = _NUMBERS[2], _ADDRESSES[1]
RULES_BY_FIRST: dict[str, tuple[_Rule, ...]] = {
    **dict.fromkeys(ascii_letters + _CASELESS, _WORDS),
    **dict.fromkeys(LETTER + MARK, _FOREIGN_WORDS),
    **dict.fromkeys(digits, (*_NUMBERS, *_BEFORE_COMMA, *_COMPOUND, _FILE_NAME, _ADDRESSES[2])),
    DIGIT: (*_NUMBERS, *_BEFORE_COMMA, _COMPOUND[-1], _FILE_NAME, _HOST_ONLY),
    "'": (*_APOSTROPHE_FIRST, *_FACES, _RUNS),
    **dict.fromkeys("\u2019\u0092", (*_APOSTROPHE_FIRST, _QUOTES)),
    "&": (*_APOSTROPHE_FIRST, _ENTITY, _PLAIN_WORD, *_ADDRESSES[1:3]),
    "-": (_NUMBER_ONLY, _BRACKET_NAMES, *_FACES, _RUNS),
    "+": (*_NUMBERS[2:], _HOST_ONLY),
    "\u00ad": (_NUMBER_ONLY, *_FOREIGN_WORDS),
    "(": (*_NUMBERS[3:], *_FACES),
    "<": (*_MARKUP, *_FACES, _ADDRESSES[2]),
    ">": (*_MARKUP, *_FACES),
    "@": (*_TAGS, _RUNS),
    "#": (*_TAGS, _RUNS, _HOST_ONLY),
    "$": _SHARPS,
    "*": (_RUNS, _HOST_ONLY),
    "~": (*_FACES, _HOST_ONLY),
    **dict.fromkeys("%" + SYMBOL + DROPPED + NO_BREAK + WIDE_SPACE, (_HOST_ONLY,)),
    **dict.fromkeys(SIGN + SUPERSCRIPT + SUBSCRIPT, (_SCRIPTS, _HOST_ONLY)),
    **dict.fromkeys(",\u066b\u066c", (_NUMBER_ONLY,)),
    ".": (_NUMBER_ONLY, _ELLIPSIS),
    **dict.fromkeys(
        "`\u0091\u0093\u0094\u2018\u201a\u201b\u201c\u201d\u201e\u201f\u2039\u203a\u00ab\u00bb",
        (_QUOTES,),
    ),
    ":": (_NUMBER_ONLY, *_FACES),
    **dict.fromkeys(";=^", _FACES),
    **dict.fromkeys("!?_\\", (_RUNS,)),
}
"""Which rules can start with which character; all others are tokens by themselves."""
# Characters that have rules of their own, and may begin an address as well.
for _place in (place for place, letter in enumerate(_KINDS) if letter == _ITSELF):
    if (_character := chr(_FIRST_KIND + _place)) not in _CASELESS:
        RULES_BY_FIRST[_character] = (*RULES_BY_FIRST.get(_character, ()), _HOST_ONLY)

_Ahead = dict[_Guard, tuple[int, int]]  # where the run searched last ends, and its last needle
TOKENIZER = "ptb-3.4.1"  # in signatures: the version of the original that it equals
PUNCTUATION = frozenset(["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";", ""])
"""What is dropped. Brackets stay: the original lower-cases before it compares with "-LRB-"."""

# Bounded, because a run that is not plain after all is read again.
_PLAIN_WORDS = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9]*+(?:-[A-Za-z0-9]++)*+[,.]?+(?: ++|(?=\n))){1,64}+"
)
_TRACELESS = frozenset([" ", "\t", NO_BREAK, WIDE_SPACE, DROPPED])
_PLAIN_FIRST = frozenset(ascii_letters)
_LONGEST_NEEDLE = 8
# What most characters between words are; only before these do the rules say more.
_DROPPED_UNLESS_BEFORE = {
    " ": frozenset(),
    "\t": frozenset(),
    ",": frozenset(f"{digits}{DIGIT}"),
    ".": frozenset(f"{digits}{DIGIT}. {NO_BREAK}"),
}
# Words that look plain and have a rule of their own.
_SPLIT_WORDS = "cannot gonna gotta lemme gimme wanna".split()
_WITH_PERIOD = " ".join(words for name, words in ABBREVIATIONS.items() if name != "openers").split()
_NOT_PLAIN = {f"{word}." for word in (*_SPLIT_WORDS, *_WITH_PERIOD, *ascii_lowercase)}
_NOT_PLAIN |= set(_SPLIT_WORDS)
_TEXTS_KEPT = 2**18


def tokenize(text: str) -> list[str]:
    """Split a caption into lower-case tokens without punctuation, in linear time.

    The text counts as one line that nothing follows: line breaks in it are spaces. A token may
    contain no-break spaces (``1 1/2`` is one token), as in the original.
    """
    # The line break is what rules see behind the last token.
    shape = shape_of(text) + "\n"
    tokens: list[str] = []
    ahead: _Ahead = {}
    position, end = 0, len(text)
    while position < end:
        first = shape[position]
        leads = _DROPPED_UNLESS_BEFORE.get(first)
        if leads is not None and shape[position + 1] not in leads:
            position += 1
            continue
        if first in _PLAIN_FIRST and (run := _PLAIN_WORDS.match(shape, position)):
            words = run.group().lower().replace(",", " ").split()
            if _NOT_PLAIN.isdisjoint(words):
                tokens += [word.rstrip(".") for word in words]
                position = run.end()
                continue
        token, position = _next_token(text, shape, position, ahead)
        if token not in PUNCTUATION:
            tokens.append(token)
    return tokens


@lru_cache(maxsize=_TEXTS_KEPT)
def tokens_of(text: str) -> tuple[str, ...]:
    """A caption's tokens, remembered for the metrics that ask about the same captions."""
    return tuple(tokenize(text))


def parts_of(text: str) -> Sequence[str]:
    """Tokens for BLEU and CIDEr, which split those that have no-break spaces; ROUGE-L does not."""
    joined = " ".join(tokens_of(text))
    return joined.split() if "\u00a0" in joined else tokens_of(text)


def _next_token(text: str, shape: str, position: int, ahead: _Ahead) -> tuple[str, int]:
    """Read one token by the rules: its text, and where the next one may begin."""
    first = shape[position]
    stop, longest, best = position + 1, position, None
    for pattern, spell, guard in RULES_BY_FIRST.get(first, ()):
        if guard is not None:
            known = ahead.get(guard)
            if known is None or position >= known[0]:
                known = ahead[guard] = _searched(shape, guard, position)
            if position > known[1]:
                continue
        match = pattern.match(shape, position)
        if match and match.end() > longest:
            stop, longest, best = match.end(1), match.end(), spell
    token = text[position:stop]
    if longest > position:
        return (best(token) if best else token).lower(), stop
    return "" if first in _TRACELESS else sign(token).lower(), stop


def _searched(shape: str, guard: _Guard, position: int) -> tuple[int, int]:
    """Where a run ends, and where the last thing in it stands that the guard looks for."""
    run = guard.run.match(shape, position)
    end, last = max(run.end() if run else 0, position + 1), -1
    # What is looked for may stick out of the run.
    for found in guard.needle.finditer(shape, position, end + _LONGEST_NEEDLE):
        last = found.start() if found.start() < end else last
    return end, last
