"""What a thinking model leaves of its thoughts in a reply: drafts in there are no verdict."""

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
# Text from outside, which has no angle brackets, cannot play a thought: only at the beginning.
_SQUARE_OPENING = re.compile(r"\s*\[think\]", re.IGNORECASE)
_SQUARE_CLOSING = re.compile(r"\[/think\]", re.IGNORECASE)


def without_thoughts(text: str, prompt: str = "") -> str | None:
    """The reply after its thoughts; None where it ends before they do.

    Tags that the prompt asks for are part of the reply. All before the last end is thought: some
    servers begin a thought in the prompt.
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
