"""How MECAT adds up: domains, groups, totals and traits."""

from collections.abc import Mapping
from functools import partial

from audiocapbench.benchmarks.traits import Aggregation, Traits, base_name
from audiocapbench.errors import BenchmarkError, check_known
from audiocapbench.files import read_lists
from audiocapbench.models.controls import ControlRules

CAPTION, QA = "mecat-caption", "mecat-qa"

_LISTS = read_lists("audiocapbench.benchmarks.mecat", "groups.toml")
DOMAINS: Mapping[str, int] = _LISTS["domains"]
"""The domains and how many clips of the published test set each has; 000 is silence."""

SUBTASKS = ("long", "short", "speech", "music", "sound", "environment")
PARTS: Mapping[str, tuple[str, ...]] = {CAPTION: SUBTASKS, QA: ()}
CONTENTS = ("speech", "music", "sound")
"""The sub-tasks that are scored apart on pure and on mixed clips."""

PURE_DOMAINS = {"speech": "S00", "music": "0M0", "sound": "00A"}
MIXED_DOMAINS = ("SMA", "SM0", "S0A", "0MA")

_BY_CONTENT = [f"{kind}_{content}" for content in CONTENTS for kind in ("pure", "mixed")]
GROUPS = ("long", "short", *_BY_CONTENT, "environment")
"""The nine groups that Score_Cap is made of, in the order of the paper's tables."""

QA_CATEGORIES = tuple(_LISTS["qa_categories"])
QA_WEIGHTS = dict.fromkeys(QA_CATEGORIES, 1 / len(QA_CATEGORIES))
DIFFICULTIES: Mapping[str, float] = _LISTS["difficulties"]
"""The difficulties of a question, and the share of the questions that each has."""

ORIGINAL = "original"
WEIGHTINGS = {ORIGINAL: (6, 3, 1), "audio-centric": (2, 4, 4), "equal": (1, 1, 1)}
"""How speech, music and sound count against each other within the content-specific part."""

_LONG, _SHORT, _CONTENT, _ENVIRONMENT = 0.4 * 0.8, 0.4 * 0.2, 0.4, 0.2


def corpus_of(subtask: str, domain: str) -> str:
    """The group that an answer counts in, or ``outside_SUBTASK`` where it counts in none."""
    check_known("sub-task", subtask, SUBTASKS, BenchmarkError)
    check_known("domain", domain, DOMAINS, BenchmarkError)
    if subtask not in CONTENTS:
        return subtask
    if domain == PURE_DOMAINS[subtask]:
        return f"pure_{subtask}"
    return f"mixed_{subtask}" if domain in MIXED_DOMAINS else f"{OUTSIDE}{subtask}"


def subtask_of(group: str) -> str:
    return group.removeprefix("pure_").removeprefix("mixed_")


def cap_weights(weighting: str = ORIGINAL) -> dict[str, float]:
    """What each group counts for in Score_Cap; they add up to 1."""
    check_known("weighting", weighting, WEIGHTINGS, BenchmarkError)
    shares = dict(zip(CONTENTS, WEIGHTINGS[weighting], strict=True))
    weights = {"long": _LONG, "short": _SHORT, "environment": _ENVIRONMENT}
    for content, share in shares.items():
        half = _CONTENT * share / sum(shares.values()) / 2
        weights[f"pure_{content}"] = weights[f"mixed_{content}"] = half
    return {group: weights[group] for group in GROUPS}


def score_cap(group_scores: Mapping[str, float], weighting: str = ORIGINAL) -> float | None:
    """Score_Cap of the nine groups' scores, with a weighting that ``WEIGHTINGS`` names."""
    return _weighted(group_scores, cap_weights(weighting))


def _weighted(scores: Mapping[str, float], weights: Mapping[str, float]) -> float | None:
    """The total, or None where a group lacks: the others are never scaled up for it."""
    if not weights.keys() <= scores.keys():
        return None
    return sum(weight * scores[group] for group, weight in weights.items())


score_qa = partial(_weighted, weights=QA_WEIGHTS)

OUTSIDE = "outside_"
"""What the name of a corpus begins with that no group, and so no total, is made of."""

NO_PROBES = "no"
PROBES = {NO_PROBES: (), "silence": ("000",), "all": tuple(DOMAINS)}
"""Domains whose captions are asked for although no group counts them; of silence, claims show."""

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
    weights=QA_WEIGHTS,
    metric_options={category: {"subtask": "qa"} for category in QA_CATEGORIES},
    clip_detail="clip",
    facet_details={"domain": ("domain",), "difficulty": ("difficulty",)},
)


def _safe(subtask: str, domain: str) -> str:
    """What can be said of any clip of a domain; of what it lacks, that it is not there."""
    heard: Mapping[str, str] = _LISTS["heard"]
    room = heard["anywhere"]
    if subtask not in CONTENTS:
        texts = {"environment": room, "long": f"{heard[domain]} {room}"}
        return texts.get(subtask, heard[domain])
    alone = PURE_DOMAINS[subtask]
    return heard[alone] if alone.strip("0") in domain else f"There is no {subtask}."


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

TRAITS = {
    name: Traits(
        aggregation,
        ("date", "similarity", "bleu_4", "rouge_l"),
        judge=name,
        controls=controls,
        strata=("domain",),
        unfit_judges={"elements": _LISTS["elements_unfit"][name]},
    )
    for name, aggregation, controls in (
        (CAPTION, CAPTION_AGGREGATION, CAPTION_CONTROLS),
        (QA, QA_AGGREGATION, QA_CONTROLS),
    )
}


def asks_for_captions(benchmark: str) -> bool:
    """Whether a benchmark of this name, with options or without, is MECAT-Caption."""
    return base_name(benchmark) == CAPTION


def is_asked(category: str, domain: str, probes: str = NO_PROBES) -> bool:
    """Whether a caption is asked for: it counts in a group, or is a probe that was chosen."""
    check_known("probes", probes, PROBES, BenchmarkError)
    return not category.startswith(OUTSIDE) or domain in PROBES[probes]
