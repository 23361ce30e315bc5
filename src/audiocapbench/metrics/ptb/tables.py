"""What the rules of the Penn Treebank tokenizer read, and what cuts plain captions without them."""

from audiocapbench.metrics.shipped import read_lists

_LISTS: dict[str, list[str]] = read_lists("audiocapbench.metrics.ptb", "abbreviations.json")
ABBREVIATIONS = {name: " ".join(lines).split() for name, lines in _LISTS.items()}
"""Words whose period belongs to them, by where it does: those of which the original said so when
asked about every string of up to four letters, a dictionary, and a list of usual abbreviations.

The final ones may end a sentence, and so win over a longer word by one more letter. Capitalised,
in lower case, are words of their own; numbered stand before a number; after a single letter and a
period, openers begin a sentence, so that the letter is no initial.
"""
STAND_INS = {"D": "\u0660", "N": "\u00a0", "W": "\u2000", "X": "\uffff"}
"""What patterns see in the place of foreign digits, spaces that addresses may have inside, no-break
and wide, and what ends a token and leaves no trace."""
