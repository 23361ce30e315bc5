"""How the answers to MECAT make groups: nine for captions, six categories for questions."""

from collections.abc import Mapping

from audiocapbench.benchmarks.layout import Grouped, Layout
from audiocapbench.benchmarks.mecat.groups import cap_weights, groups_of, qa_weights, subtask_of

CAPTION, QA = "mecat-caption", "mecat-qa"

OUTSIDE = "outside_"
"""What the name of a corpus begins with that no group, and so no total, is made of."""

_NULL_REFERENCE = "none"


def kind_of(name: str) -> str:
    """A benchmark's name without its options: ``mecat-caption[prompts=i1]`` asks for captions."""
    return CAPTION if name.startswith(f"{CAPTION}[") else name


def asks_for_captions(name: str) -> bool:
    """Whether a benchmark of this name, with options or without, is MECAT-Caption."""
    return kind_of(name) == CAPTION


def corpus_of(subtask: str, domain: str) -> str:
    """The group of an answer, or ``outside_SUBTASK`` where it belongs to none."""
    return groups_of(subtask, domain) or f"{OUTSIDE}{subtask}"


def says_nothing(sample: Grouped) -> bool:
    """Whether the first reference is the word None: its domain has no such content."""
    return sample.references[0].strip().rstrip(".").lower() == _NULL_REFERENCE


def _clip(sample: Grouped) -> str:
    return str(sample.details["clip"])


def _caption_options(corpus: str) -> Mapping[str, str]:
    return {"subtask": subtask_of(corpus.removeprefix(OUTSIDE))}


def _caption_facets(sample: Grouped) -> Mapping[str, str]:
    return {"domain": f"{sample.details['domain']} {sample.details['subtask']}"}


def _qa_facets(sample: Grouped) -> Mapping[str, str]:
    return {
        "domain": str(sample.details["domain"]),
        "difficulty": str(sample.details["difficulty"]),
    }


CAPTION_LAYOUT = Layout(
    total="Score_Cap",
    weights=cap_weights(),
    options=_caption_options,
    clip=_clip,
    facets=_caption_facets,
    null=says_nothing,
)

QA_LAYOUT = Layout(
    total="Score_QA",
    weights=qa_weights(),
    options=lambda _corpus: {"subtask": "qa"},
    clip=_clip,
    facets=_qa_facets,
    # An answer may well be the word None; only captions say it in place of a description.
    null=lambda _sample: False,
)

LAYOUTS: dict[str, Layout] = {CAPTION: CAPTION_LAYOUT, QA: QA_LAYOUT}
