"""The paper's three categories, and what else datasets call them; others stay as they are."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from audiocapbench.data.outcome import Sample
from audiocapbench.errors import some

UNCATEGORISED = "other"

# Only what can mean nothing else: a voice may sing, and ambient may be music.
CATEGORIES = {
    "sound": "sound (effect|event|clip|fx)|sfx|(audio|acoustic) (event|effect)|foley|(environment|"
    "environmental|ambient|general|everyday|natural|nature|non speech) (sound|audio)",
    "music": "musical|song|music (clip|track|piece)|musical piece|instrumental music|melody|tune",
    "speech": "spoken( word| language| text)?|speech clip|human speech|speaking|talk|talking|"
    "dialog|dialogue|conversation|narration|(speech )?utterance",
}


@cache
def fold_category(name: str) -> str:
    """The paper's category that a name can only mean, in any case and number; else the name."""
    plain = unicodedata.normalize("NFKC", re.sub("(?<=[a-z])(?=[A-Z])", " ", name)).casefold()
    words = re.sub("ies$", "y", " ".join(re.findall(r"[^\W_]+|[^\w\s.-]", plain)))
    forms = {one: rf"({one}|{also})(e?s)?" for one, also in CATEGORIES.items()}
    return next((one for one, form in forms.items() if re.fullmatch(form, words)), name)


def fold_categories(samples: Iterable[Sample]) -> tuple[list[Sample], list[str]]:
    """Samples with the paper's categories where theirs mean them, and what is to be said of it."""
    given = list(samples)
    counts, others = Counter(one.category for one in given), list[str]()
    folded = [replace(one, category=fold_category(one.category)) for one in given]
    notes = list[str]()
    for name, count in counts.items():
        if (meant := fold_category(name)) != name:
            clips = f"{count:,} clip{'s' * (count > 1)}"
            notes.append(f"category {name!r} is read as {meant} ({clips})")
        elif name not in (*CATEGORIES, UNCATEGORISED):
            others.append(repr(name))
    if others:
        gets = "it gets the general instruction and the judge's guidance for sound"
        notes.append(f"category {some(others)} is none of {', '.join(CATEGORIES)}: {gets}")
    return folded, notes
