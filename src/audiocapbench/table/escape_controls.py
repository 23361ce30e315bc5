"""Text from anywhere, made safe to print on a terminal."""

import re
import unicodedata

_KEPT = "\n\t"
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def escape_controls(text: str) -> str:
    """Text whose control characters, such as terminal escapes and bidi marks, are written out."""
    if text.isprintable():
        return text
    return "".join(
        one.encode("unicode_escape", "surrogatepass").decode("ascii") if _unseen(one) else one
        for one in text
    )


def escape_line(text: str) -> str:
    """Text that stays on its line: its line breaks and tabs are written out too."""
    return escape_controls(text).replace("\n", "\\n").replace("\t", "\\t")


def escape_json(text: str) -> str:
    """JSON that says the same, with its control characters as JSON's own escapes."""
    return re.sub(r"[^\x20-\x7e]", lambda found: _json_escape(found[0]), text)


def _unseen(character: str) -> bool:
    return character not in _KEPT and unicodedata.category(character) in _UNSEEN


def _json_escape(character: str) -> str:
    if not _unseen(character):
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
