"""Text from outside as data in a prompt: it cannot close its quotes or play the reply.

Ordinary captions pass unchanged; what only an attack or an accident contains is made harmless.
"""

import re
import unicodedata

LONGEST = 20_000
RULES = f"one-line+straight-quotes+no-braces+no-tags+cut-{LONGEST}"
"""What is done to text, for signatures; changes whenever the rules change."""

# The published prompts put predictions between “ and ”; inside there are straight quotes only.
_QUOTES = "“”„‟«»″‶〝〞〟＂❝❞"
_OPENING_BRACES = "{｛﹛❴⦃"
_CLOSING_BRACES = "}｝﹜❵⦄"
# Chat templates of local servers are written with these; a caption has no use for them.
_LESS, _GREATER = "<＜﹤", ">＞﹥"

_HARMLESS = str.maketrans(
    dict.fromkeys(_QUOTES, '"')
    | dict.fromkeys(_OPENING_BRACES, "(")
    | dict.fromkeys(_CLOSING_BRACES, ")")
    | dict.fromkeys(_LESS, "‹")
    | dict.fromkeys(_GREATER, "›")
)
_DOUBLED_SINGLE_QUOTES = re.compile("[‘’]{2}|''|``")
_TURN_MARK = re.compile(r"\[(/?INST)\]", re.IGNORECASE)
_INVISIBLE = frozenset({"Cc", "Cf", "Cs"})


def as_data(text: str) -> str:
    """Make text safe to be put between typographic quotes on one line of a prompt."""
    lines = (line.strip() for line in text.replace("\t", " ").splitlines())
    one_line = " ".join(line for line in lines if line)
    if not one_line.isprintable():
        one_line = "".join(one for one in one_line if unicodedata.category(one) not in _INVISIBLE)
    harmless = _DOUBLED_SINGLE_QUOTES.sub('"', one_line.translate(_HARMLESS))
    harmless = _TURN_MARK.sub(r"(\1)", harmless).strip()
    return harmless if len(harmless) <= LONGEST else harmless[:LONGEST] + "…"


def fill(template: str, **values: str) -> str:
    """Put values in the place of ``{names}``, once: what a value contains is never a name."""
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), template)
