"""Why judgements have no scores: reasons counted, said, and where none can be read an end made."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from audiocapbench.data.outcome import Status
from audiocapbench.engine.retrying_client import MOST_REFUSED
from audiocapbench.errors import FatalError
from audiocapbench.store.judgements import Judgement

_LONGEST_REASON = 300
_DETAILS = re.compile(r"\S*\d\S*")


class UnreadableReplies:
    """Whether a judge was ever readable, by what is known of it and by what it says now."""

    def __init__(self, known: Iterable[Judgement]) -> None:
        self._readable, self._count = any(map(_is_readable, known)), 0

    def note(self, judgement: Judgement) -> None:
        """Count a judgement.

        Raises:
            FatalError: So many of a judge's verdicts could not be read, and none ever was.
        """
        self._readable = self._readable or _is_readable(judgement)
        self._count += judgement.status is Status.UNPARSED
        if not self._readable and self._count >= MOST_REFUSED:
            raise FatalError(
                f"none of its first {self._count} verdicts can be read, so no more are asked for; "
                f"try another judge: {judgement.error}"
            )


def _is_readable(judgement: Judgement) -> bool:
    # A verdict without a question says nothing of how the judge replies.
    asked = judgement.latency_s > 0 or judgement.output_tokens is not None
    return asked and judgement.status is Status.OK


def failure_reasons(judgements: Iterable[Judgement]) -> dict[str, int]:
    """How many failed for each reason, most first; reasons that differ in numbers are one."""
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for one in judgements:
        if one.status is not Status.OK:
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
