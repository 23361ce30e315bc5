r"""The token rules of the Penn Treebank tokenizer, checked against the output of the original.

A rule's whole match decides which rule wins (the longest, then the first); its group 1 is the
token. What a pattern matches after group 1 is context that the next token reads again.
Patterns see shapes (``ptb.characters``), and how far they scan ahead is bounded, so that no text
takes more than linear time.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from audiocapbench.metrics.ptb.characters import (
    DIGIT,
    LETTER,
    MARK,
    SYMBOL,
    THEMSELVES,
    ampersand,
    brackets,
    contraction,
    entity,
    quotes,
    sign,
    unbroken,
    unsoftened,
)
from audiocapbench.metrics.word_lists import read_lists

ABBREVIATIONS = read_lists("audiocapbench.metrics.ptb", "abbreviations.toml")
"""Words whose period belongs to them, by where it does."""


class Rule(NamedTuple):
    """One kind of token, and how its text is rewritten."""

    pattern: re.Pattern[str]
    spell: Callable[[str], str] | None


def _rule(pattern: str, spell: Callable[[str], str] | None = None) -> Rule:
    return Rule(re.compile(pattern), spell)


def _either(words: str) -> str:
    return "|".join(words.split())


def _capitalised(words: str) -> str:
    return "|".join(f"{word[0].upper()}(?i:{word[1:]})" for word in words.split())


_OPENERS = ABBREVIATIONS["openers"]
_FAR = 1000
_APOS = "(?:['\u0092\u2019]|&apos;)"
_APOS_LIKE = "(?:['\u0092\u2019`\u0091\u2018\u201b]|&apos;)"
_D = f"[0-9{DIGIT}]"
_ACCENTED = "&[aeiouAEIOU](?:acute|grave|uml);"
_L = f"(?:[A-Za-z{LETTER}{MARK}\u00ad]|{_ACCENTED})"
_LD = f"(?:[A-Za-z{LETTER}{MARK}\u00ad0-9{DIGIT}]|{_ACCENTED})"
_ALNUM = f"[A-Za-z0-9{LETTER}{DIGIT}]"
_HYPHEN = "[-_\u058a\u2010\u2011]"
_ACRONYM = r"[A-Za-z](?:\.[A-Za-z])+"
_WORD = rf"{_L}{_LD}*+(?:[.!?]{_L}{_LD}*+)*+"
_PREFIX = f"[dDoOlL]{_APOS_LIKE}{_ALNUM}"
_THING = f"(?:{_PREFIX})?{_ALNUM}++(?:{_HYPHEN}(?:{_PREFIX})?{_ALNUM}++)*+"
_INITIALS = "[A-Z]++(?:(?:[+&]|&amp;)[A-Z]++)++"
_LONG_COMPOUND = rf"[A-Za-z0-9][A-Za-z0-9.,]{{0,{_FAR}}}+(?:-(?:{_ACRONYM}\.|[A-Za-z0-9]++))+"
_NUMBER = f"(?:{_D}+(?:[.:,\u00ad\u066b\u066c]{_D}+)*|(?:[.:,\u00ad\u066b\u066c]{_D}+)+)"
_AUXILIARY = f"{_APOS}(?:[msdMSD]|(?i:re|ve|ll))"
_URL_END = r'[^ \n"<>|.!?(){},\-]'
_HOST = rf"[^ \n\"`'<>|.!?(){{}},-_$]{{1,{_FAR}}}"
_URL = r'[^ \n"<>|(){}]'
_WWW = rf'[^ \n"<>|.!?(){{}},]{{1,{_FAR}}}'
_MAIL = r'[^ \n"<>|(){}]'
_MAIL_HOST = r'[^ \n"<>|(){}.]'
_TAG_NAME = "[A-Za-z][A-Za-z0-9_:.-]*+"
_QUOTED = rf"(?:'[^'\"]{{0,{_FAR}}}'|\"[^'\"]{{0,{_FAR}}}\")"

_CONTRACTED = (
    _rule("((?i:can(?=not)|gon(?=na)|got(?=ta)|lem(?=me)|gim(?=me)|wan(?=na)))(?i:not|ta|me|na)"),
    _rule(f"([A-Za-z]*[A-MO-Za-mo-z])[nN]{_APOS_LIKE}[tT]"),
    _rule(f"([nN]{_APOS_LIKE}[tT])", contraction),
    _rule(f"({_WORD}){_AUXILIARY}", unsoftened),
)
_APOSTROPHED = (
    _rule(f"([A-HJ-XZn]{_APOS_LIKE}{_L}{{2}}{_L}*+)"),
    _rule(f"({_L}+[aeiouyAEIOUY]{_APOS_LIKE}[aeiouA-Z]{_L}*+)"),
    _rule(f"((?i:dunkin|somethin|ol|[ldj]){_APOS}|(?i:cap{_APOS}n|c{_APOS}mon|c{_APOS}est))"),
    _rule("((?i:e'er|li'l|nat'l))"),
    _rule(f"([yY]{_APOS}){_L}"),
)
_ABBREVIATED = (
    _rule(rf"((?i:{_either(ABBREVIATIONS['anywhere'])})\.)"),
    _rule(rf"((?i:{_either(ABBREVIATIONS['numbered'])})\.) *{_D}"),
    _rule(rf"([A-Za-z])\. +(?:{_either(_OPENERS + ' ' + _OPENERS.upper())})[ \n]"),
    _rule(r"([A-Za-z]\.)"),
    _rule(rf"({_ACRONYM}\.)"),
)
_FINALLY_ABBREVIATED = (
    _rule(rf"((?i:{_either(ABBREVIATIONS['final'])}|ph\.d|ed\.d)\.)(?s:..)?"),
    _rule(rf"((?:{_capitalised(ABBREVIATIONS['capitalised'])})\.)(?s:..)?"),
)
_BEFORE_COMMA = (
    _rule(rf"((?:{_WORD}|{_INITIALS}|{_LONG_COMPOUND}|{_THING})\.)[,;:\u3001]", unsoftened),
)
_COMPOUND = (
    _rule(f"({_INITIALS})", ampersand),
    _rule(r"([A-Za-z0-9]++(?:-[A-Za-z]++){0,2}+(?:\\?/[A-Za-z0-9]++(?:-[A-Za-z]++){0,2}+){1,2}+)"),
    _rule(f"({_LONG_COMPOUND})"),
    _rule(f"({_THING})"),
)
_FILE_NAME = _rule(
    rf"((?:{_ALNUM}++\.)+(?i:bat|bmp|c|cgi|class|cpp|dll|docx?|exe|gif|gz|h|html?|jar|java|jpe?g|mov"
    r"|mp3|pdf|php|pl|png|ppt|ps|py|sql|tar|txt|wav|x|xml|zip))[ \n.,?!]"
)
_NUMBERS = (
    _rule(f"({_D}{{1,2}}[-/]{_D}{{1,2}}[-/]{_D}{{2,4}})"),
    _rule(f"((?:{_D}{{1,4}}[- ])?{_D}{{1,4}}(?:\\\\?/|\u2044){_D}{{1,4}})", unbroken),
    _rule(f"([-+]?{_NUMBER})", unsoftened),
    _rule(
        r"((?:\([0-9]{2,3}\) ?|(?:\+\+?)?(?:[0-9]{2,4}[- ])?[0-9]{2,4}[- ])"
        r"[0-9]{3,4}[- ]?[0-9]{3,5}"
        r"|(?:(?:\+\+?)?[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5})",
        unbroken,
    ),
)
_ADDRESSES = (
    _rule(rf"(https?://{_URL}{{1,{_FAR}}}{_URL_END})"),
    _rule(rf"((?:{_HOST}\.)+(?:com|net|org|edu)(?:/{_URL}{{1,{_FAR}}}{_URL_END})?)"),
    _rule(
        rf"((?:<|&lt;)?[a-zA-Z0-9]{_MAIL}{{0,{_FAR}}}@(?:{_MAIL_HOST}{{1,{_FAR}}}\.)*"
        rf"{_MAIL_HOST}{{1,{_FAR}}}(?:>|&gt;)?)"
    ),
    _rule(rf"(www\.(?:{_WWW}\.)+[a-zA-Z]{{2,4}})"),
    _rule(rf"(www\.(?:{_WWW}\.)+?[a-zA-Z]{{2,4}}/{_URL}{{1,{_FAR}}}{_URL_END})"),
)
_FACES = (
    _rule(r"([<>]?[:;=][-o*']?[()DPdpO\\{@|\[\]])[^A-Za-z0-9]", brackets),
    _rule(
        r"([-^x=~<>']_[-^x=~<>']|\([-^x=~<>'][_.]?[-^x=~<>']\)|\([-^x=~<>']-[-^x=~<>'`]\))",
        brackets,
    ),
)
_MARKUP = (
    _rule(
        rf"(<(?:[!?][A-Za-z-][^>]{{0,{_FAR}}}"
        rf"|/?{_TAG_NAME}(?: +{_TAG_NAME}(?: *= *{_QUOTED})?){{0,100}} */?)>)",
        unbroken,
    ),
    _rule("(<<|>>)"),
)
_APOSTROPHE_FIRST = (
    _rule(f"({_AUXILIARY})[^A-Za-z]", contraction),
    _rule("('[tT])(?i:is|was)"),
    _rule(f"({_APOS}(?i:n{_APOS}?|em|cause|till?|[2-9]0s))"),
    _rule(f"({_APOS}{_D}{{2}})[ \n]"),
    _rule(r"(')[A-Za-z][^ \n]"),
    _rule(f"({_AUXILIARY})", contraction),
)
_PLAIN_WORD = _rule(f"({_WORD})", unsoftened)
_ENTITY = _rule("((?i:&(?:amp|lt|gt|quot|apos|nbsp);)|&[mn]dash;|&MD;|&#[0-9]+;)", entity)
_RUNS = _rule(r"([!?]+|#+|\*+|_+|@{2,}|-{5,}|-{1,4}|\\\*|'')", sign)
_ELLIPSIS = _rule(r"(\.{3,5}|\.(?: \.){2,4})", lambda dots: "...")
_QUOTES = _rule("([`\u0091-\u0094\u2018-\u201d\u2039\u203a\u00ab\u00bb]{1,2})", quotes)
_TAGS = (_rule(f"(#{_L}+)"), _rule("(@[A-Za-z_][A-Za-z_0-9]*)"))
_SHARPS = (_rule(r"([cC]\+\+|[cCfF]#)"), _rule(r"([A-Z]*\$)"))
_BRACKET_NAMES = _rule("(-(?i:[LR][RSC]B)-)")

_SHORTENED = (*_CONTRACTED, *_APOSTROPHED, *_ABBREVIATED, *_BEFORE_COMMA, *_SHARPS, *_FACES[1:])
_LONGER = (_PLAIN_WORD, *_ADDRESSES, *_FINALLY_ABBREVIATED, _FILE_NAME, *_COMPOUND)
_WORDS = (*_SHORTENED, *_LONGER)
_FOREIGN = (_CONTRACTED[-1], _APOSTROPHED[1], *_BEFORE_COMMA, _COMPOUND[-1], _FILE_NAME)
_FOREIGN_WORDS = (*_FOREIGN, _PLAIN_WORD, _ADDRESSES[1])


def _rules_by_first() -> dict[str, tuple[Rule, ...]]:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    table: dict[str, tuple[Rule, ...]] = dict.fromkeys(letters, _WORDS)
    table |= dict.fromkeys(LETTER + MARK, _FOREIGN_WORDS)
    digits = (*_NUMBERS, *_BEFORE_COMMA, *_COMPOUND, _FILE_NAME, _ADDRESSES[2])
    table |= dict.fromkeys("0123456789", digits)
    table[DIGIT] = (*_NUMBERS, *_BEFORE_COMMA, _COMPOUND[-1], _FILE_NAME)
    table |= {
        "'": (*_APOSTROPHE_FIRST, *_FACES, _RUNS),
        "\u2019": (*_APOSTROPHE_FIRST, _QUOTES),
        "\u0092": (*_APOSTROPHE_FIRST, _QUOTES),
        "&": (*_APOSTROPHE_FIRST, _ENTITY, _PLAIN_WORD, _ADDRESSES[1]),
        "-": (_NUMBERS[2], _BRACKET_NAMES, *_FACES, _RUNS),
        "+": (*_NUMBERS[2:], _ADDRESSES[1]),
        "\u00ad": (_NUMBERS[2], *_FOREIGN_WORDS),
        "(": (*_NUMBERS[3:], *_FACES),
        "<": (*_MARKUP, *_FACES, _ADDRESSES[2]),
        ">": (*_MARKUP, *_FACES),
        "@": (*_TAGS, _RUNS),
        "\\": (_RUNS,),
        "#": (*_TAGS, _RUNS, _ADDRESSES[1]),
        "$": _SHARPS,
        "*": (_RUNS, _ADDRESSES[1]),
        "~": (*_FACES, _ADDRESSES[1]),
        "%": (_ADDRESSES[1],),
        SYMBOL: (_ADDRESSES[1],),
    }
    table |= dict.fromkeys(",\u066b\u066c", _NUMBERS[2:3])
    table["."] = (_NUMBERS[2], _ELLIPSIS)
    table |= dict.fromkeys(
        "`\u0091\u0093\u0094\u2018\u201b\u201c\u201d\u2039\u203a\u00ab\u00bb", (_QUOTES,)
    )
    table |= dict.fromkeys(":", (_NUMBERS[2], *_FACES))
    table |= dict.fromkeys(";=^", _FACES)
    table |= dict.fromkeys("!?_", (_RUNS,))
    for character in THEMSELVES:
        table[character] = (*table.get(character, ()), _ADDRESSES[1])
    return table


RULES_BY_FIRST = _rules_by_first()
"""Which rules can start with which character; all others are tokens by themselves."""
