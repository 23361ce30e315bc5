"""The numbers that decide how much elements count, tuned on half of the clips of AudioCaps-Eval."""

from audiocapbench.judges.elements.words import ElementKind

SOUND_WEIGHTS = {
    ElementKind.SOURCE: 1.0,
    ElementKind.EVENT: 1.0,
    ElementKind.ATTRIBUTE: 0.4,
    ElementKind.MOOD: 0.5,
    ElementKind.COUNT: 0.3,
    ElementKind.VAGUE: 0.2,
    ElementKind.QUOTED: 0.3,
}
# In music and speech, tempo, style and mood are much of what there is to say.
EXPRESSIVE_WEIGHTS = {**SOUND_WEIGHTS, ElementKind.ATTRIBUTE: 0.7, ElementKind.MOOD: 0.8}
DENIED_WEIGHT = 0.3
ORDER_WEIGHT = 1.0
UNFINISHED_WEIGHT = 2.5
# A quotation of many words weighs no more than this in all.
QUOTE_AT_MOST = 1.5

# Support of a claim: the best reference, and the mean over references.
MEAN_SHARE = 0.2
# A word that is said more often than in any reference keeps this much of its support.
REPEATED = 0.6
# One that more references exclude than name, "woman" where most say "man", keeps this much.
OPPOSED = 0.3
VAGUE_SUPPORT = 0.5

# Likeness from which two words are one element, match at all, or support a claim at all.
SAME = 0.8
MATCHED = 0.45
UNSUPPORTED = 0.3

# Elements of one reference that are read; captions have a dozen.
MOST_ELEMENTS = 256


def weights_for(category: str) -> dict[ElementKind, float]:
    """Weights of the kinds of elements in a category of clips."""
    return EXPRESSIVE_WEIGHTS if category in ("music", "speech") else SOUND_WEIGHTS
