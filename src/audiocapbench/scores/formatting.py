"""What formatting alone costs published metrics, which read captions as they were written."""

from collections import Counter
from collections.abc import Sequence

from audiocapbench.metrics import compute, find_metric
from audiocapbench.metrics.text import plain

_MOST = 500  # captions that are scored again
_SHARE, _CHANGE = 0.05, 0.05
_MARKS = {
    "stand in quotation marks": "\"'“”„«»‘’「」",
    "have markdown around them": "*_`#>",
}


def formatting_warnings(
    names: Sequence[str], texts: Sequence[str], references: Sequence[Sequence[str]]
) -> list[str]:
    """A sentence for each cheap published metric that formatting moves by more than 5 %."""
    kinds = Counter(kind for text in texts if (kind := _kind_of(text)))
    if kinds.total() <= _SHARE * len(texts):
        return []
    kept = range(0, len(texts), -(-len(texts) // _MOST))
    written, held_to = [texts[row] for row in kept], [references[row] for row in kept]
    bare = [
        _as(plain(one), *own[:1]) if _kind_of(one) else one
        for one, own in zip(written, held_to, strict=True)
    ]
    wanted = [name for name in names if _is_cheap_and_published(name)]
    sides = compute(wanted, written, held_to), compute(wanted, bare, held_to)
    what = " and ".join(f"{count:,} {kind}" for kind, count in kinds.most_common(2))
    where = "" if len(kept) == len(texts) else f" on {len(kept):,} of them"
    return [
        f"of {len(texts):,} captions {what}; without that {one.name} would be {other.score:.3f} "
        f"and not {one.score:.3f}{where}"
        for one, other in zip(*sides, strict=True)
        if abs(one.score - other.score) > _CHANGE * max(one.score, other.score)
    ]


def _kind_of(text: str) -> str:
    """How a caption is oddly formatted, in words."""
    text = text.strip()
    for kind, marks in _MARKS.items():
        around = text[1:] and text[0] in marks and text.rstrip(".")[-1:] in marks
        if around and plain(text)[:1] not in marks:
            return kind
    if text.isupper() and " " in text:
        return "are in capitals"
    label = text.partition(":")[0]
    return "begin with a label" if label != text and plain(f"{label}:") == "" else ""


def _as(text: str, reference: str) -> str:
    """Plain text with the capital and the full stop that a reference has."""
    text = text.capitalize() if reference[:1].isupper() else text
    return f"{text}." if reference.rstrip().endswith(".") else text


def _is_cheap_and_published(name: str) -> bool:
    metric, given = find_metric(name)
    return not metric.needs and metric.counts_words and not given.options
