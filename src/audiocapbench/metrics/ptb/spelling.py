"""How the Penn Treebank tokenizer rewrites the text of a token; not where tokens begin or end."""

import re

_ENTITIES = {
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&nbsp;": "",
    "&mdash;": "--",
    "&ndash;": "--",
    "&md;": "--",
}
_SIGNS = {
    "(": "-LRB-",
    ")": "-RRB-",
    "[": "-LSB-",
    "]": "-RSB-",
    "{": "-LCB-",
    "}": "-RCB-",
    "\u00bc": "1/4",
    "\u00bd": "1/2",
    "\u00be": "3/4",
    "\u2153": "1/3",
    "\u2154": "2/3",
    "\u00a3": "#",
    "\u00a2": "cents",
    "\u0080": "$",
    "\u00a4": "$",
    "\u20a0": "$",
    "\u20ac": "$",
    "----": "--",
    "---": "--",
}
_QUOTES = dict.fromkeys("\u2018\u201b\u2039\u0091", "`")
_QUOTES |= dict.fromkeys("\u2019\u203a\u0092", "'")
_QUOTES |= dict.fromkeys("\u201c\u00ab\u0093", "``")
_QUOTES |= dict.fromkeys("\u201d\u00bb\u0094", "''")
_SIGNS |= dict.fromkeys("\u0096\u0097\u2013\u2014\u2015\u00ad", "--")
_SIGNS |= {"\u2026": "...", '"': "''"}
# Unicode hyphens are part of words only; alone the original knows no rule for them.
_SIGNS |= dict.fromkeys("\u2010\u2011\u058a\u066b\u066c", "")
_GRAVE_LIKE = re.compile("[\u2018\u0091\u201b]")


def sign(token: str) -> str:
    """Spell a character that is a token by itself; "" where it leaves no token."""
    return _SIGNS.get(token, token)


def quotes(token: str) -> str:
    """Write typographic quotes with plain ones; several in a row are one token."""
    return "".join(_QUOTES.get(character, character) for character in token)


def contraction(token: str) -> str:
    """Make the apostrophe of ``'s`` and ``n't`` a plain one."""
    plain = token.replace("\u2019", "'").replace("\u0092", "'").replace("&apos;", "'")
    return _GRAVE_LIKE.sub("`", plain)


def brackets(token: str) -> str:
    """Write round brackets as the Penn Treebank does."""
    return token.replace("(", "-LRB-").replace(")", "-RRB-")


def unbroken(token: str) -> str:
    """Keep a token that has spaces in one piece: they become no-break spaces."""
    return brackets(token.replace(" ", "\u00a0"))


def ampersand(token: str) -> str:
    """Resolve ``&amp;`` inside a token."""
    return token.replace("&amp;", "&")


def unsoftened(token: str) -> str:
    """Leave out soft hyphens."""
    return token.replace("\u00ad", "")


def entity(token: str) -> str:
    """Resolve the character entities that the original resolves."""
    if token in ("&quot;", "&apos;"):
        return "'"
    return _ENTITIES.get(token.lower(), token)
