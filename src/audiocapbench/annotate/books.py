"""The books: where each clip of the folder went, and why; they add up after any change of it."""

import re
from collections import Counter, defaultdict
from typing import Any

from audiocapbench.annotate.rules import RULES
from audiocapbench.annotate.stage import DONE, StageContext
from audiocapbench.data.loose import list_audio
from audiocapbench.files import encodable
from audiocapbench.store.cache import STAGES

DUPLICATE, COHERENCE, SIMILARITY, VERIFIED = KINDS = {
    "near-duplicate": "says nearly the same as another",
    "coherence": "has parts that are no more like each other than like those of others",
    "similarity": "is not more like its clip than like others",
    "verified": "has claims that the second model finds unsupported",
}
"""Checks of a clip beside others or by a model, and what is said of all that fail one."""

_HEARD, _MERGED, _CHECKED = DONE.values()
_STEPS = {
    "unreadable": "can be read",
    "too_long": "short enough",
    "duplicate": "not there twice",
    "no_domain": "has a domain",
}
_ORDER = (_HEARD, *_STEPS.values(), _MERGED, _CHECKED, *RULES, *KINDS)


def fates(context: StageContext) -> dict[str, tuple[str, str]]:
    """The first step that each clip did not pass, and why; of others ""."""
    heard, merged, checked = (context.kept.records(context.project, one) for one in STAGES[:3])
    there, gone = set(map(encodable, list_audio(context.root)[0])), context.rejected()
    was_drawn = context.settings.get("hear", {}).get("sample") is not None

    def fate(clip: str) -> tuple[str, str]:
        if (own := heard.get(clip)) is None:
            late = "was not drawn" if was_drawn else "was added after the others were heard"
            return _HEARD, late
        if own.status in _STEPS:
            return _STEPS[own.status], own.error or ""
        if clip not in there:
            return _HEARD, "is no longer in the folder"
        if (made := merged.get(clip)) is None or made.status != "ok":
            return _MERGED, made.error or "" if made else "has not been merged yet"
        if (last := checked.get(clip)) is None:
            return _CHECKED, "has not been checked yet"
        if clip in gone:
            return "accepted by people", "was rejected by people"
        failed = last.document["failed"]
        step = min(failed, key=[*_ORDER, *failed].index, default="")
        return step, failed[step][0] if step else ""

    return {clip: fate(clip) for clip in sorted(there | heard.keys())}


def survival(context: StageContext) -> list[dict[str, Any]]:
    """How many clips are left after each step, and why others went."""
    gone: dict[str, Counter[str]] = defaultdict(Counter)
    ends = fates(context)
    for step, why in filter(any, ends.values()):
        alike = None if "gave no verdict" in why else KINDS.get(step)
        gone[step][alike or re.sub(r"(?<!\S)\d\s", "", why)] += 1
    not_run = context.settings.get("check", {}).get("not_run", {})
    left, rows = len(ends), [{"step": "in the folder", "left": len(ends), "went": 0, "reasons": {}}]
    for name in dict.fromkeys([*_ORDER, *sorted(gone)]):
        left -= gone[name].total()
        step = f"{name} (not run)" if name in not_run else name
        row = {"step": step, "left": left, "went": gone[name].total()}
        rows.append(row | {"reasons": dict(gone[name].most_common())})
    return rows
