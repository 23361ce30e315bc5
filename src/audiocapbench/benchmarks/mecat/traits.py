"""The traits of MECAT: nine groups of captions, six categories of questions."""

from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.benchmarks.mecat.groups import (
    CONTENTS,
    GROUPS,
    cap_weights,
    groups_of,
    qa_weights,
    subtask_of,
)
from audiocapbench.benchmarks.traits import Traits

CAPTION, QA = "mecat-caption", "mecat-qa"

OUTSIDE = "outside_"
"""What the name of a corpus begins with that no group, and so no total, is made of."""

_METRICS = ("date", "similarity", "bleu_4", "rouge_l")

CAPTION_AGGREGATION = Aggregation(
    total="Score_Cap",
    weights=cap_weights(),
    metric_options={group: {"subtask": subtask_of(group)} for group in GROUPS}
    | {f"{OUTSIDE}{content}": {"subtask": content} for content in CONTENTS},
    clip_detail="clip",
    facet_details={"domain": ("domain", "subtask")},
    # A domain without such content has the word None for a caption.
    null_references=("none",),
)

# An answer may well be the word None; only captions say it in place of a description.
QA_AGGREGATION = Aggregation(
    total="Score_QA",
    weights=qa_weights(),
    metric_options={category: {"subtask": "qa"} for category in qa_weights()},
    clip_detail="clip",
    facet_details={"domain": ("domain",), "difficulty": ("difficulty",)},
)

TRAITS = {
    CAPTION: Traits(CAPTION_AGGREGATION, _METRICS, judge=CAPTION),
    QA: Traits(QA_AGGREGATION, _METRICS, judge=QA),
}


def base_name(benchmark: str) -> str:
    """A benchmark's name without its options: ``mecat-caption[prompts=i1]`` asks for captions."""
    return benchmark.partition("[")[0]


def asks_for_captions(benchmark: str) -> bool:
    """Whether a benchmark of this name, with options or without, is MECAT-Caption."""
    return base_name(benchmark) == CAPTION


def corpus_of(subtask: str, domain: str) -> str:
    """The group of an answer, or ``outside_SUBTASK`` where it belongs to none."""
    return groups_of(subtask, domain) or f"{OUTSIDE}{subtask}"
