"""The traits of MECAT: nine groups of captions, six categories of questions, and its controls."""

from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.benchmarks.mecat.groups import (
    CONTENTS,
    DOMAINS,
    GROUPS,
    SUBTASKS,
    cap_weights,
    groups_of,
    qa_weights,
    subtask_of,
)
from audiocapbench.benchmarks.traits import Traits
from audiocapbench.errors import BenchmarkError
from audiocapbench.models.controls import ControlRules

CAPTION, QA = "mecat-caption", "mecat-qa"

OUTSIDE = "outside_"
"""What the name of a corpus begins with that no group, and so no total, is made of."""

NO_PROBES = "no"
PROBES = {NO_PROBES: (), "silence": ("000",), "all": tuple(DOMAINS)}
"""Domains whose captions are asked for although no group counts them; of silence, claims show."""

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

_HEARD = {
    "000": "There is almost no sound in the recording.",
    "00A": "A sound is heard.",
    "0M0": "Music is playing.",
    "0MA": "Music is playing and a sound is heard.",
    "S00": "A person is speaking.",
    "S0A": "A person is speaking and a sound is heard.",
    "SM0": "A person is speaking and music is playing.",
    "SMA": "A person is speaking, music is playing and a sound is heard.",
}
_PRESENT = {"speech": ("S", "S00"), "music": ("M", "0M0"), "sound": ("A", "00A")}
_ROOM = "It is an ordinary recording in an ordinary place."


def _safe(subtask: str, domain: str) -> str:
    """What can be said of any clip of a domain; of what it lacks, that it is not there."""
    if subtask not in CONTENTS:
        return {"environment": _ROOM, "long": f"{_HEARD[domain]} {_ROOM}"}.get(
            subtask, _HEARD[domain]
        )
    mark, alone = _PRESENT[subtask]
    return _HEARD[alone] if mark in domain else f"There is no {subtask}."


CAPTION_CONTROLS = ControlRules(
    {f"{task} {domain}": _safe(task, domain) for task in SUBTASKS for domain in DOMAINS},
    safe_by=("subtask", "domain"),
    wrong_alike=("subtask",),
    nulls=CAPTION_AGGREGATION.null_references,
)
QA_CONTROLS = ControlRules(
    safe_anywhere="It is what one would expect of such a recording.",
    wrong_from="category",
    right_is="reference",
)

_CAPTIONS_UNFIT = {
    "elements": "of 400 captions it scored safe ones 2.49 and wrong ones 2.65 (right 3.84)"
}
_ANSWERS_UNFIT = {
    "elements": "of 400 answers it scored safe ones 0.92 and wrong ones 1.77 (right 9.95)"
}

TRAITS = {
    CAPTION: Traits(
        CAPTION_AGGREGATION,
        _METRICS,
        judge=CAPTION,
        controls=CAPTION_CONTROLS,
        strata=("domain",),
        unfit_judges=_CAPTIONS_UNFIT,
    ),
    QA: Traits(
        QA_AGGREGATION,
        _METRICS,
        judge=QA,
        controls=QA_CONTROLS,
        strata=("domain",),
        unfit_judges=_ANSWERS_UNFIT,
    ),
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


def is_asked(category: str, domain: str, probes: str = NO_PROBES) -> bool:
    """Whether a caption is asked for: it counts in a group, or is a probe that was chosen."""
    if probes not in PROBES:
        raise BenchmarkError(f"MECAT has no probes {probes!r}; it has {', '.join(PROBES)}")
    return not category.startswith(OUTSIDE) or domain in PROBES[probes]
