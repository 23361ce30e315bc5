"""Signatures: the short string that says exactly how a number was made."""

from audiocapbench.version import VERSION


def sign(name: str, **fields: str | int | float | bool) -> str:
    """Write a signature such as ``bleu_4|variant:nltk|tok:split|v:0.1.0``.

    Fields keep the order in which they are given; the version of the toolkit comes last.
    """
    parts = [name, *(f"{key}:{_plain(value)}" for key, value in fields.items()), f"v:{VERSION}"]
    return "|".join(parts)


def _plain(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
