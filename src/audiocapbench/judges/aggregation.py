"""From many judgements of an answer to one, over rounds and judges; and why there are none."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean

from audiocapbench.errors import JudgeError
from audiocapbench.grouping import grouped
from audiocapbench.store.records import Judgement

OVERALL = "overall"
MAX_VALUE = 10.0  # every dimension is scored from 0 to this
Scores = Mapping[str, float]
ByJudge = dict[str, dict[str, Scores]]
_LONGEST_REASON = 300
_DETAILS = re.compile(r"\S*\d\S*")


def by_judge(judgements: Iterable[Judgement]) -> ByJudge:
    """Each judge's scores of each sample, its rounds put together; failures are left out."""
    rounds: dict[str, dict[str, list[Scores]]] = defaultdict(lambda: defaultdict(list))
    for one in judgements:
        if one.scores:
            rounds[one.judge][one.sample_id].append(one.scores)
    return {
        judge: {sample: together(scores) for sample, scores in samples.items()}
        for judge, samples in rounds.items()
    }


def panel(opinions: ByJudge) -> dict[str, list[Scores]]:
    """The scores of each sample, by the judges that gave some; ``together`` is the panel's."""
    by_sample = grouped(one for samples in opinions.values() for one in samples.items())
    if len({frozenset(scores) for own in by_sample.values() for scores in own}) > 1:
        raise JudgeError("judges of one panel must judge the same dimensions")
    return by_sample


def together(scores: Sequence[Scores]) -> Scores:
    """The mean scores of several rounds or judges; there is at least one."""
    if len(scores) == 1:
        return scores[0]
    return {name: float(mean(one[name] for one in scores)) for name in scores[0]}


def failure_reasons(judgements: Iterable[Judgement]) -> dict[str, int]:
    """How many failed for each reason, most first; reasons that differ in numbers are one."""
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for one in judgements:
        if not one.scores:
            reason = one.error or f"the judgement is {one.status}"
            own_id = rf"(?<!\w){re.escape(one.sample_id)}(?!\w)"
            kind = _DETAILS.sub("", re.sub(own_id, "0", reason))[:_LONGEST_REASON]
            counts[examples.setdefault(kind, reason)] += 1
    return dict(counts.most_common())


def failure_words(judge: str, reasons: Mapping[str, int], total: int) -> str | None:
    """How many of so many judgements failed, and why most of them did; None where none did."""
    if not reasons:
        return None
    (reason, count), failed = next(iter(reasons.items())), sum(reasons.values())
    often = f", most often ({count:,})" if count < failed else ""
    reason = reason.removeprefix(f"{judge}: ")
    words = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]} …"
    return f"{judge} failed in {failed:,} of {total:,} judgements{often}: {words}"
