"""Captions without the marks of who wrote them: stray white space and the final full stop."""


def normalised(text: str) -> str:
    """The text with single spaces and without white space or full stops at its end.

    A text of nothing else keeps its full stops, so that no caption vanishes.
    """
    flat = " ".join(text.split())
    return flat.rstrip(". ") or flat
