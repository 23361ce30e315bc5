"""Text from anywhere, made safe to print on a terminal."""

import unicodedata


def escape_controls(text: str) -> str:
    """Text whose control characters, such as terminal escapes, are written out."""
    return "".join(_written(character) for character in text)


def _written(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs"):
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
