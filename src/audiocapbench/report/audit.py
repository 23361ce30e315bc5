"""What people say of annotations: the statistics of appendix F of the MECAT paper (F.1 to F.3)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.annotate.audit import read_audit
from audiocapbench.report.exports import Figure, Findings, Page, Row, plain_rows, rows_page
from audiocapbench.report.ratings import rated_groups, win_report
from audiocapbench.stats.shares import wilson
from audiocapbench.store import Store

_BASIC = 3.0
"""A basic match on the scale; what lies below it is rejected."""


def audit_report(store: Store, project: str, files: Sequence[Path]) -> Findings:
    """Win rates by opponent, REL by domain, and the share of annotations that people reject."""
    found = read_audit(store, project, files)
    pages: list[Page] = []
    said: dict[str, Any] = {"unrated": found.unrated}
    if any(one.answer is not None for one in found.pairs):
        won = win_report(found.pairs)
        pages += won.pages
        said["wins"] = won.document
    if found.ratings:
        groups = {
            domain: np.array([float(np.mean(one)) for one in own.values()])
            for domain, own in sorted(found.ratings.items())
        }
        several = sum(len(one) > 1 for own in found.ratings.values() for one in own.values())
        every = np.concatenate(list(groups.values()))
        rows = [
            _share("rejected: below a basic match (3)", every < _BASIC),
            _share("no match (1)", every == 1),
            _share("high match (4 or 5)", every >= 4),
        ]
        rated = rated_groups(groups, several, _BASIC, _speech_and_sound(list(groups)))
        notes = [f"{found.unrated:,} items of the sheets have no rating."] if found.unrated else []
        pages += [*rated.pages, rows_page("Annotations as people rate them", rows, notes)]
        said |= {"ratings": rated.document, "shares": plain_rows(rows)}
    return Findings(said, pages)


def _speech_and_sound(domains: Sequence[str]) -> list[str]:
    """The paper compares clips of speech with clips of other sounds."""
    sides = ["+".join(one for one in domains if letter in one) for letter in "SA"]
    return [":".join(sides)] if all(sides) and sides[0] != sides[1] else []


def _share(name: str, hits: NDArray[np.bool_]) -> Row:
    count, total = int(hits.sum()), len(hits)
    share = Figure(count / total, wilson(count, total), True)
    return {"annotations": name, "n": total, "share": share}
