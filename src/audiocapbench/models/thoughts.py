"""What a thinking model leaves of its thoughts in a reply: drafts in there are no verdict.

Text from outside cannot play a thought: as data it has no angle brackets, and square ones count
only where a reply begins with them.
"""

import re

_NAMES = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis)"
_OPENING = re.compile(
    rf"<{_NAMES}(?:\s[^<>]*)?>|<\|begin_of_thought\|>|◁think▷|<unused94>"
    r"|<\|channel\|>\s*(?:analysis|commentary)\b",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    rf"</{_NAMES}\s*>|<\|end_of_thought\|>|◁/think▷|<unused95>"
    r"|<\|channel\|>\s*final\s*<\|message\|>",
    re.IGNORECASE,
)
_SQUARE_OPENING = re.compile(r"\s*\[think\]", re.IGNORECASE)
_SQUARE_CLOSING = re.compile(r"\[/think\]", re.IGNORECASE)


def without_thoughts(text: str, prompt: str = "") -> str | None:
    """The reply after its thoughts; None where it ends before they do.

    A tag that the prompt itself asks for is part of the reply. Servers that begin a thought in the
    prompt leave only its end in the reply: all that stands before the last one is thought.
    """
    if _SQUARE_OPENING.match(text):
        end = _SQUARE_CLOSING.search(text)
        if end is None:
            return None
        text = text[end.end() :]
    closed = 0
    for found in _CLOSING.finditer(text):
        closed = closed if found[0] in prompt else found.end()
    rest = text[closed:]
    return None if any(one[0] not in prompt for one in _OPENING.finditer(rest)) else rest
