"""What every metric asks of its input: a caption a sample, with a list of references."""

from collections.abc import Sequence
from itertools import chain

from audiocapbench.errors import MetricError


def check_captions(
    predictions: Sequence[str], references: Sequence[Sequence[str]], *, words_needed: bool = False
) -> None:
    """Refuse captions and references that do not belong together.

    Where ``words_needed``, a sample needs a reference that is not blank.

    Raises:
        MetricError: The lists differ in length, a sample has no list of references, or a caption
            is not text.
    """
    if len(predictions) != len(references):
        raise MetricError(
            f"{len(predictions)} predictions but references for {len(references)} samples; "
            "give one list of references for each prediction"
        )
    for index, own in enumerate(references):
        if isinstance(own, str):
            raise MetricError(
                f"sample {index}: its references are one string; give a list of captions"
            )
        if len(own) == 0:
            raise MetricError(f"sample {index} has no reference; give one or leave the sample out")
    # Most corpora have one type of object in them, which is found out faster than each is checked.
    types = set(map(type, chain(predictions, chain.from_iterable(references))))
    if not all(issubclass(kind, str) for kind in types):
        for index, texts in enumerate(zip(predictions, references, strict=True)):
            for text in (texts[0], *texts[1]):
                if not isinstance(text, str):
                    raise MetricError(
                        f"sample {index}: a caption is {type(text).__name__}, not text; "
                        "give an empty string for a caption that is missing"
                    )
    for index, own in enumerate(references) if words_needed else ():
        if not any(text.strip() for text in own):
            raise MetricError(
                f"sample {index} has no reference but blank ones; give one or leave the sample out"
            )


def check_texts(texts: Sequence[str], who: str) -> None:
    """Refuse what is not a list of texts.

    Raises:
        MetricError: It is one string, or something in it is not text.
    """
    if isinstance(texts, str):
        raise MetricError(f"{who} takes a list of texts, and got a single string.")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise MetricError(
                f"Text {row} is {type(text).__name__}, not text: give a string, or an empty one "
                "where there was no answer."
            )
