"""Ratings as files that other commands read: one row a rating, or a table of votes on pairs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from audiocapbench.errors import did_you_mean
from audiocapbench.files import csv_text, encodable
from audiocapbench.meta.build import vote_table
from audiocapbench.meta.pairs.files import project_pairs
from audiocapbench.store import Store
from audiocapbench.store.ratings import Rating
from audiocapbench.web.rating.items import RatingItem
from audiocapbench.web.rating.project import KINDS, RatingError, is_right, read_gold

Form = Literal["csv", "jsonl", "votes"]

_COLUMNS = (
    *("item", "run", "model", "group", "person", "dimension", "value", "confidence", "right"),
    *("gold", "question", "audio", "took_s", "played_s", "rated_at"),
)


def export_ratings(
    store: Store, project: str, form: Form, dimension: str | None = None, *, gold: bool = False
) -> str:
    """All ratings of a project as text.

    Args:
        form: ``csv`` or ``jsonl``, a row for each rating and dimension; ``votes``, a pair a row
            with all votes on it, as 'meta csv' and 'meta build --votes' read it.
        dimension: Only this one, such as ``accuracy``.
        gold: Also answers to gold questions, which are no part of what is measured.
    """
    lines = {one.name: one for one in store.ratings.projects()}
    if project not in lines:
        raise RatingError(
            f"there is no project {project!r}{did_you_mean(project, lines, 'there are')}"
        )
    kind = lines[project].kind
    items = {key: RatingItem.of(key, one) for key, one in store.ratings.items(project).items()}
    if form == "votes":
        pairs = [
            replace(one, answer=None if one.votes else one.answer, subtype=items[one.id].group)
            for one in project_pairs(store, project)
        ]
        pairs = [replace(one, references_first=items[one.id].references) for one in pairs]
        return vote_table(".csv", pairs, max((len(one.votes) for one in pairs), default=0))
    said = store.ratings.of(project)
    known = KINDS[kind].dimensions
    if dimension is not None and dimension not in known:
        raise RatingError(
            f"{project} has no {dimension!r}{did_you_mean(dimension, known, 'there are')}"
        )
    said = [one for one in said if gold or not items[one.item].gold]
    rows = list(_rows(kind, items, said, dimension))
    if form == "jsonl":
        made = (dict(zip(_COLUMNS, row, strict=True)) for row in rows)
        return "".join(f"{encodable(json.dumps(one, ensure_ascii=False))}\n" for one in made)
    return csv_text([_COLUMNS, *rows])


def _rows(
    kind: str, items: Mapping[str, RatingItem], said: Sequence[Rating], only: str | None
) -> Iterator[list[Any]]:
    """What was said of runs is said of their answers; of several captions, of all their writers."""
    for one in said:
        item = items[one.item]
        known = item.gold or item.right
        right = int(is_right(read_gold(kind, known), one.answer)) if known else None
        runs, models = dict.fromkeys(map(str, item.runs)), dict.fromkeys(item.systems)
        about = [item.sample, "+".join(runs), "+".join(models), item.group, one.person]
        how = [one.answer.get("confidence"), right, int(bool(item.gold)), one.item, item.audio]
        when = [round(one.took_s, 2), round(one.played_s, 2), one.rated_at]
        for name in KINDS[kind].dimensions if only is None else (only,):
            yield [*about, name, one.answer[name], *how, *when]
