"""How far a rating project has come: progress, agreement, and how each person does."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from audiocapbench.stats.agreement import category_counts, fleiss_kappa, krippendorff_alpha
from audiocapbench.stats.shares import wilson
from audiocapbench.store.ratings import Rating
from audiocapbench.web.rating.items import RatingItem
from audiocapbench.web.rating.kinds import KINDS, is_right, read_gold

_VOTES = {"a": 1.0, "tie": 0.0, "b": -1.0, "both_bad": 2.0}


def summarise(
    kind: str,
    each: int,
    people: Sequence[str],
    items: Mapping[str, RatingItem],
    said: Sequence[Rating],
) -> dict[str, Any]:
    """What the administrator sees.

    Args:
        kind: The project's kind.
        each: How many people rate an item.
        people: All who are invited.
        items: All that are asked.
        said: All ratings.
    """
    said = [one for one in said if one.item in items]
    ordinary = [one for one in said if not items[one.item].gold]
    counts = Counter(one.item for one in ordinary)
    asked = [key for key, one in items.items() if not one.gold]
    return {
        "items": len(asked),
        "gold": len(items) - len(asked),
        "each": each,
        "ratings": len(ordinary),
        "wanted": len(asked) * each,
        "complete": sum(counts[key] >= each for key in asked),
        "agreement": [_agreement(kind, name, ordinary) for name in KINDS[kind].dimensions],
        "people": [_person(kind, name, items, said) for name in people],
    }


def _person(
    kind: str, name: str, items: Mapping[str, RatingItem], said: Sequence[Rating]
) -> dict[str, Any]:
    own = [one for one in said if one.person == name]
    tried = [one for one in own if items[one.item].gold]
    hits = sum(is_right(read_gold(kind, items[one.item].gold), one.answer) for one in tried)
    return {
        "person": name,
        "ratings": len(own) - len(tried),
        "seconds": round(median(one.took_s for one in own), 1) if own else None,
        "gold": len(tried),
        "gold_right": hits,
        "gold_interval": list(wilson(hits, len(tried))) if tried else None,
        "last": max((one.rated_at for one in own), default=None),
    }


def _agreement(kind: str, dimension: str, said: Sequence[Rating]) -> dict[str, Any]:
    """Alpha over all items that several people rated; kappa over those that as many rated."""
    by_item: dict[str, dict[str, float]] = defaultdict(dict)
    for one in said:
        value = one.answer[dimension]
        by_item[one.item][one.person] = _VOTES[value] if isinstance(value, str) else float(value)
    shared = [own for own in by_item.values() if len(own) > 1]
    raters = sorted({name for own in shared for name in own})
    table = np.array([[own.get(name, np.nan) for own in shared] for name in raters])
    chosen = bool(KINDS[kind].field)
    alpha = krippendorff_alpha(table, nominal=chosen) if shared else None
    usual = Counter(map(len, shared)).most_common(1)[0][0] if shared else 0
    same = [list(own.values()) for own in shared if len(own) == usual]
    kappa = fleiss_kappa(category_counts(np.array(same).T)) if same else None
    return {"dimension": dimension, "items": len(shared), "alpha": alpha, "kappa": kappa}
