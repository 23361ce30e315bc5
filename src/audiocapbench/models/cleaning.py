"""Output cleaning as published: markdown that models add to a caption is taken away.

Links and images go whole, with their text; so do bare addresses.
"""

import re
from dataclasses import replace

from audiocapbench.data.outcome import Reply, Status

# The bounds keep a hostile answer (a hundred thousand brackets) from taking quadratic time.
_LINK_OR_IMAGE = re.compile(r"!?\[[^\]]{0,400}\]\([^)]{1,1000}\)")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_NEWLINES = re.compile(r"\n{3,}")
_STARRED = (re.compile(r"\*\*([^*]+)\*\*"), re.compile(r"\*([^*]+)\*"))


def clean(text: str, *, emphasis: bool) -> str:
    """Take links, images and addresses out of an answer and fold its empty lines.

    Args:
        text: The answer as it came.
        emphasis: Whether ``**`` and ``*`` around words are removed too, as for Gemini.
    """
    for starred in _STARRED if emphasis else ():
        text = starred.sub(r"\1", text)
    text = _LINK_OR_IMAGE.sub("", text)
    text = _ADDRESS.sub("", text)
    return _NEWLINES.sub("\n\n", text).strip()


def cleaned(reply: Reply) -> Reply:
    """A reply whose text is cleaned as published; what is blank then is empty."""
    text = clean(reply.text, emphasis=False)
    blank = reply.status is Status.OK and not text
    return replace(reply, text=text, status=Status.EMPTY if blank else reply.status)
