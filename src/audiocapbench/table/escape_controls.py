"""Text from anywhere, made safe to print on a terminal."""

import re
import unicodedata


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

    def escaped(match: re.Match[str]) -> str:
        units = match[0].encode("utf-16-be", "surrogatepass").hex() if _unseen(match[0]) else ""
        return re.sub("....", r"\\u\g<0>", units) or match[0]

    return re.sub(r"[^\x20-\x7e]", escaped, text)


def _unseen(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in "Cc Cf Cs Zl Zp".split()
