"""How the Penn Treebank tokenizer rewrites the text of a token; not where tokens begin or end."""

import re

from audiocapbench.metrics.word_lists import read_lists

_TABLES = read_lists("audiocapbench.metrics.ptb", "characters.toml")
_SIGNS: dict[str, str] = _TABLES["signs"]
_QUOTES: dict[str, str] = _TABLES["quotes"]
_ENTITIES: dict[str, str] = _TABLES["entities"]
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
