"""Ratings as files that other commands read: one row a rating, or a table of votes on pairs."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from audiocapbench.errors import meant
from audiocapbench.files import csv_text, encodable
from audiocapbench.store import Store
from audiocapbench.store.ratings import Rating
from audiocapbench.web.rating.items import RatingItem
from audiocapbench.web.rating.kinds import KINDS, RatingError, is_right, read_gold

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

    Raises:
        RatingError: There is no such project or dimension, or votes are not of pairs.
    """
    lines = {one.name: one for one in store.ratings.projects()}
    if project not in lines:
        raise RatingError(f"there is no project {project!r}{meant(project, lines, 'there are')}")
    kind = lines[project].kind
    items = {key: RatingItem.of(key, one) for key, one in store.ratings.items(project).items()}
    said = store.ratings.of(project)
    if form == "votes":
        if kind != "pairs":
            raise RatingError(f"{project} is of kind {kind!r}; only pairs have votes")
        return csv_text(_votes(items, said))
    known = KINDS[kind].dimensions
    if dimension is not None and dimension not in known:
        raise RatingError(f"{project} has no {dimension!r}{meant(dimension, known, 'there are')}")
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


def _votes(items: Mapping[str, RatingItem], said: Sequence[Rating]) -> list[list[Any]]:
    """Gold questions have the answer that was set; people's answers to them are no votes."""
    votes: dict[str, list[str]] = defaultdict(list)
    for one in said:
        if not items[one.item].gold:
            votes[one.item].append({"both_bad": "tie"}.get(one.answer["vote"], one.answer["vote"]))
    most = max(map(len, votes.values()), default=0)
    width = max((len(one.references) for one in items.values()), default=0)
    head = ["id", "audio", "caption_a", "caption_b", "preferred", "type"]
    head += [f"vote_{n + 1}" for n in range(most)] + [f"reference_{n + 1}" for n in range(width)]
    rows: list[list[Any]] = [head]
    for key, item in items.items():
        if not item.gold and key not in votes:
            continue
        blanks = [""] * (most - len(votes[key]))
        told = [key, item.audio, *item.captions, item.gold, item.group, *votes[key], *blanks]
        rows.append([*told, *item.references, *[""] * (width - len(item.references))])
    return rows
