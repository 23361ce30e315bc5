"""How MECAT adds up: its domains, its groups, and the two totals; nothing here reads a file."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from audiocapbench.errors import BenchmarkError, did_you_mean

DOMAINS = {
    "000": 179, "00A": 848, "0M0": 2593, "0MA": 199, "S00": 7839, "S0A": 2439,
    "SM0": 5312, "SMA": 643,
}  # fmt: skip
"""The domains and how many clips of the published test set each has; 000 is silence."""

SUBTASKS = ("long", "short", "speech", "music", "sound", "environment")
CONTENTS = ("speech", "music", "sound")
"""The sub-tasks that are scored apart on pure and on mixed clips."""

PURE_DOMAINS = {"speech": "S00", "music": "0M0", "sound": "00A"}
MIXED_DOMAINS = ("SMA", "SM0", "S0A", "0MA")

_BY_CONTENT = [f"{kind}_{content}" for content in CONTENTS for kind in ("pure", "mixed")]
GROUPS = ("long", "short", *_BY_CONTENT, "environment")
"""The nine groups that Score_Cap is made of, in the order of the paper's tables."""

QA_CATEGORIES = tuple(
    "direct_perception sound_characteristics quality_assessment "
    "environment_reasoning inference_judgement application_context".split()
)
DIFFICULTIES = {"basic": 0.25, "intermediate": 0.35, "advanced": 0.25, "complex": 0.15}
"""The difficulties of a question, and the share of the questions that each has."""

QUESTIONS = 5 * sum(DOMAINS.values())
"""Questions of the published test set; how many of each category is not printed."""

ORIGINAL = "original"
WEIGHTINGS = {ORIGINAL: (6, 3, 1), "audio-centric": (2, 4, 4), "equal": (1, 1, 1)}
"""How speech, music and sound count against each other within the content-specific part."""

_LONG, _SHORT, _CONTENT, _ENVIRONMENT = 0.4 * 0.8, 0.4 * 0.2, 0.4, 0.2


class Total(NamedTuple):
    """A total, or None with the groups that it lacks: the others are never scaled up for them."""

    score: float | None
    missing: tuple[str, ...]


def groups_of(subtask: str, domain: str) -> str | None:
    """The group that an answer counts in, or None where it counts in none."""
    if subtask not in SUBTASKS:
        raise BenchmarkError(
            f"MECAT has no sub-task {subtask!r}{did_you_mean(subtask, SUBTASKS, 'it has')}"
        )
    if domain not in DOMAINS:
        raise BenchmarkError(
            f"MECAT has no domain {domain!r}{did_you_mean(domain, DOMAINS, 'it has')}"
        )
    if subtask not in CONTENTS:
        return subtask
    if domain == PURE_DOMAINS[subtask]:
        return f"pure_{subtask}"
    return f"mixed_{subtask}" if domain in MIXED_DOMAINS else None


def subtask_of(group: str) -> str:
    """The sub-task whose answers a group is made of."""
    return group.removeprefix("pure_").removeprefix("mixed_")


def published_sizes(groups: Collection[str], asked: Mapping[str, int]) -> dict[str, int]:
    """How many samples of each group a published model answered, given those that were asked here.

    Of categories of questions it is the most that there can be: any question that was not asked.
    """
    unasked = max(0, QUESTIONS - sum(asked.get(one, 0) for one in QA_CATEGORIES))

    def size(group: str) -> int:
        if group not in GROUPS:
            return asked.get(group, 0) + unasked
        own = (one for one in DOMAINS if groups_of(subtask_of(group), one) == group)
        return max(asked.get(group, 0), sum(DOMAINS[one] for one in own))

    return {group: size(group) for group in groups}


def published_count(groups: Collection[str], asked: Mapping[str, int]) -> int:
    """How many samples of these groups together a published model answered."""
    if set(groups) <= set(GROUPS):
        return sum(published_sizes(groups, asked).values())
    return max(QUESTIONS, sum(asked.values()))


def cap_weights(weighting: str = ORIGINAL) -> dict[str, float]:
    """What each group counts for in Score_Cap; they add up to 1."""
    if weighting not in WEIGHTINGS:
        raise BenchmarkError(
            f"MECAT has no weighting {weighting!r}; it has {', '.join(WEIGHTINGS)}"
        )
    shares = dict(zip(CONTENTS, WEIGHTINGS[weighting], strict=True))
    weights = {"long": _LONG, "short": _SHORT, "environment": _ENVIRONMENT}
    for content, share in shares.items():
        half = _CONTENT * share / sum(shares.values()) / 2
        weights[f"pure_{content}"] = weights[f"mixed_{content}"] = half
    return {group: weights[group] for group in GROUPS}


def qa_weights() -> dict[str, float]:
    """What each category counts for in Score_QA: all the same."""
    return dict.fromkeys(QA_CATEGORIES, 1 / len(QA_CATEGORIES))


def score_cap(group_scores: Mapping[str, float], weighting: str = ORIGINAL) -> Total:
    """Score_Cap of the nine groups' scores, with a weighting that ``WEIGHTINGS`` names."""
    return _weighted(group_scores, cap_weights(weighting))


def score_qa(category_scores: Mapping[str, float]) -> Total:
    """Score_QA: the mean of the six categories' scores."""
    return _weighted(category_scores, qa_weights())


def _weighted(scores: Mapping[str, float], weights: Mapping[str, float]) -> Total:
    missing = tuple(group for group in weights if group not in scores)
    if missing:
        return Total(None, missing)
    return Total(sum(weight * scores[group] for group, weight in weights.items()), ())
