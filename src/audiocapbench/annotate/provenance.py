"""Why a word is there: which expert said it, or something of the same stem, of the same clip."""

from collections.abc import Iterator, Mapping
from typing import Any

from audiocapbench.annotate.contract import NONE, Annotation
from audiocapbench.annotate.phantoms import plain_words
from audiocapbench.metrics.elements.words import words_that_are
from audiocapbench.metrics.porter import stem
from audiocapbench.store.annotations import Finding


def provenance(annotation: Annotation, said: Mapping[str, Finding]) -> dict[str, Any]:
    """Who said what of a clip, and for the first caption of each view, whose words it has.

    A word that no expert said is listed as the language model's own.
    """
    stems = {
        name: {stem(word) for text in _texts(one.document) for word in plain_words(text).split()}
        for name, one in said.items()
        if one.status == "ok"
    }
    words: dict[str, dict[str, list[str]]] = {}
    for view, texts in annotation.captions.items():
        if texts[0] == NONE:
            continue
        told = dict.fromkeys(plain_words(texts[0]).split())
        content = [word for word in told if word not in words_that_are("stop")]
        words[view] = {
            word: [name for name, own in stems.items() if stem(word) in own] for word in content
        }
    experts = {
        name: one.signature if one.status == "ok" else one.status for name, one in said.items()
    }
    return {
        "experts": experts,
        "words": {view: {w: by for w, by in own.items() if by} for view, own in words.items()},
        "model_only": {view: [w for w, by in own.items() if not by] for view, own in words.items()},
    }


def _texts(value: Any) -> Iterator[str]:
    """Every text in a document: keys are words of experts, too (labels are keys)."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield str(key)
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value
