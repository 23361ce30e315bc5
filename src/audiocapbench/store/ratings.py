"""What people say of captions in a browser: projects, claims, ratings.

A rating is on disk before anybody is told that it is kept. A person has one rating of an item,
however often it is sent; what it replaced is kept beside it.
"""

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, delete, func, insert, select

from audiocapbench.data.opinions import Opinion, Opinions, read_opinions
from audiocapbench.errors import StoreError, did_you_mean
from audiocapbench.store import schema
from audiocapbench.store.claims import database_time
from audiocapbench.store.connect import StoreRepository, fetch, reading, writing
from audiocapbench.store.rows import MADE_BY, insert_all, record_of, row_of

ADMINISTRATOR = ""
"""The name that the one who looks on has among a project's people."""

Content = Mapping[str, Any]
_SHOWN = ("audio", "captions")


class RatingProjectLine(NamedTuple):
    """A project as a list shows it; of people and items, those that are asked."""

    name: str
    kind: str
    made_at: str
    people: int
    items: int
    ratings: int


@dataclass(frozen=True, slots=True)
class Rating:
    """What one person said about one item.

    Attributes:
        key: Made by the page for this very answer.
        answer: By dimension, in terms of the item and not of how it was shown.
        took_s: From when it was shown to when it was said.
        played_s: How much of the clip was played, as the page says.
    """

    person: str
    item: str
    key: str
    answer: Mapping[str, Any]
    took_s: float
    played_s: float
    rated_at: str


class RatingLoad(NamedTuple):
    """What a choice of the next item depends on.

    Attributes:
        rated: Items that the person has rated.
        current: The item that the person was shown last and may still rate.
        done: By item, how many others have rated it.
        claimed: By item, how many others are about to.
    """

    rated: set[str]
    current: str | None
    done: Counter[str]
    claimed: Counter[str]


class RatingReceipt(StrEnum):
    """What became of a rating that was sent."""

    KEPT = "kept"
    KNOWN = "known"
    CONFLICT = "conflict"
    UNHEARD = "unheard"


class RatingRepository(StoreRepository):
    """Projects with their people and items, and what these people said."""

    def begin(
        self, name: str, kind: str, seed: int, items: Mapping[str, Content], people: Iterable[str]
    ) -> tuple[bytes, dict[str, str]]:
        """Make a project, or follow what changed in it.

        Returns:
            What the tokens of its items are derived from, and the tokens of who is new in it.

        Raises:
            StoreError: The project has another kind or seed, or an item that was rated was another.
        """
        table = schema.rating_projects
        with writing(self._engine, alone=True) as connection:
            known = connection.execute(select(table).where(table.c.name == name)).first()
            secret = secrets.token_hex(32) if known is None else known.secret
            if known is None:
                made: dict[str, Any] = {"made_by": MADE_BY, "made_at": schema.now()}
                made |= {"name": name, "kind": kind, "seed": seed, "secret": secret}
                connection.execute(insert(table), made)
            elif (known.kind, known.seed) != (kind, seed):
                raise StoreError(
                    f"the rating project {name!r} is of kind {known.kind} with seed {known.seed}; "
                    "write them as they were, or give this project another name"
                )
            _follow_items(connection, name, items)
            everybody = schema.rating_people
            there = select(everybody.c.person).where(everybody.c.project == name)
            invited = set(connection.execute(there).scalars())
            new = [one for one in (ADMINISTRATOR, *people) if one not in invited]
            tokens = {person: secrets.token_urlsafe(18) for person in new}
            now = schema.now()
            rows = [
                {"project": name, "person": one, "token": token_hash(token), "invited_at": now}
                for one, token in tokens.items()
            ]
            insert_all(connection, everybody, rows)
            return bytes.fromhex(secret), tokens

    def renew_invitation(self, project: str, person: str) -> str:
        """Give a person another token; the one before opens nothing any more."""
        table = schema.rating_people
        with writing(self._engine, alone=True) as connection:
            same = (table.c.project == project, table.c.person == person)
            if connection.execute(select(table.c.person).where(*same)).first() is None:
                everybody = select(table.c.person).where(table.c.project == project)
                names = [one for one in connection.execute(everybody).scalars() if one]
                raise StoreError(
                    f"{project!r} has no person {person!r}"
                    f"{did_you_mean(person, names, 'there are')}"
                )
            token = secrets.token_urlsafe(18)
            connection.execute(table.update().where(*same).values(token=token_hash(token)))
            return token

    def person(self, project: str, token: str) -> str | None:
        """Whose token it is; None where it is nobody's."""
        table = schema.rating_people.c
        query = select(table.person).where(table.project == project)
        with reading(self._engine) as connection:
            return connection.execute(query.where(table.token == token_hash(token))).scalar()

    def claim(
        self, project: str, person: str, choose: Callable[[RatingLoad], str | None], lease_s: float
    ) -> str | None:
        """Give a person the item that is chosen, for a while; nobody else chooses meanwhile."""
        claims, own = schema.rating_claims, schema.rating_claims.c
        with writing(self._engine, alone=True) as connection:
            now = float(connection.execute(select(database_time(connection))).scalar_one())
            item = choose(_load(connection, project, person, now))
            if item is None:
                return None
            same = (own.project == project, own.person == person, own.item == item)
            until = connection.execute(select(own.until).where(*same)).scalar()
            times = {"until": now + lease_s} | ({} if (until or 0) > now else {"shown_at": now})
            if until is None:
                who = {"project": project, "person": person, "item": item}
                connection.execute(insert(claims).values(**who, **times))
            else:
                connection.execute(claims.update().where(*same).values(**times))
            return item

    def note_heard(self, project: str, person: str, item: str) -> None:
        """A person has been given an item's clip; when it was first counts."""
        table, own = schema.rating_claims, schema.rating_claims.c
        with writing(self._engine) as connection:
            same = (own.project == project, own.person == person, own.item == item)
            first = table.update().where(*same, own.heard_at.is_(None))
            connection.execute(first.values(heard_at=database_time(connection)))

    def put(
        self, project: str, rating: Rating, replaces: str | None, listen_s: float
    ) -> RatingReceipt:
        """Commit a rating, once; a new one needs the clip to have been there for so many seconds.

        Args:
            replaces: The key of the rating that the person takes back with it.
        """
        table, own = schema.ratings, schema.ratings.c
        with writing(self._engine, alone=True) as connection:
            same = (own.project == project, own.person == rating.person, own.item == rating.item)
            known = connection.execute(select(table).where(*same)).first()
            used = select(own.key).where(own.project == project, own.key == rating.key)
            if known is not None and known.key == rating.key:
                return RatingReceipt.KNOWN
            if connection.execute(used).first() is not None:
                return RatingReceipt.CONFLICT
            if known is None:
                return _insert_rating(connection, project, rating, listen_s)
            if known.key != replaces:
                return RatingReceipt.CONFLICT
            before = {"answer": known.answer, "key": known.key, "until": schema.now()}
            new = {"key": rating.key, "answer": rating.answer, "earlier": [*known.earlier, before]}
            connection.execute(table.update().where(*same).values(**new))
            return RatingReceipt.KEPT

    def of(self, project: str, person: str | None = None) -> list[Rating]:
        """Ratings of a project, or of one of its people, oldest first."""
        own = schema.ratings.c
        query = select(schema.ratings).where(own.project == project)
        if person is not None:
            query = query.where(own.person == person)
        with reading(self._engine) as connection:
            rows = connection.execute(query.order_by(own.rated_at, own.item))
            return [record_of(Rating, row) for row in rows]

    def items(self, project: str) -> dict[str, dict[str, Any]]:
        """What the items of a project are, also those that are no longer asked."""
        table = schema.rating_items.c
        query = select(table.item, table.content).where(table.project == project)
        with reading(self._engine) as connection:
            found = connection.execute(query.order_by(table.position, table.item))
            return {row.item: row.content for row in found}

    def opinions(self, name: str) -> Opinions:
        """What people think, as a file of this name says, or else a rating project.

        Answers to gold questions are no opinions.

        Raises:
            StoreError: There is neither.
        """
        if Path(name).exists():
            return read_opinions(Path(name))
        projects = [one.name for one in self.projects()]
        if name not in projects:
            raise StoreError(
                f"{name}: there is no such file, and no such rating project"
                f"{did_you_mean(name, projects, 'there are') if projects else ''}"
            )
        items, found = self.items(name), []
        for one in self.of(name):
            item = items[one.item]
            about = (item["sample"], "+".join(dict.fromkeys(map(str, item["runs"]))))
            for dimension, value in one.answer.items():
                if not item["gold"] and dimension != "confidence":
                    more = (one.person, dimension, item["group"], f"{one.item} by {one.person}")
                    found.append(Opinion(about[0], str(value), about[1], *more))
        digest = hashlib.sha256(json.dumps(found).encode()).hexdigest()[:12]
        return Opinions(name, found, digest)

    def projects(self) -> list[RatingProjectLine]:
        """All projects, by name."""
        projects = schema.rating_projects.c

        def counted(table: Table, *more: ColumnElement[bool]) -> Any:
            mine = select(func.count()).where(table.c.project == projects.name, *more)
            return mine.select_from(table).scalar_subquery()

        people = counted(schema.rating_people, schema.rating_people.c.person != ADMINISTRATOR)
        items = counted(schema.rating_items, schema.rating_items.c.asked)
        head = (projects.name, projects.kind, projects.made_at)
        query = select(*head, people, items, counted(schema.ratings)).order_by(projects.name)
        return [RatingProjectLine(*tuple(row)) for row in fetch(self._engine, query)]


def token_hash(token: str) -> str:
    """What is kept of a token: it is random and long, so that no slow hash is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _follow_items(connection: Connection, project: str, items: Mapping[str, Content]) -> None:
    """Keep items as they are now; what people said stays about what they were shown."""
    table, own = schema.rating_items, schema.rating_items.c
    mine = own.project == project
    known = {row.item: row for row in connection.execute(select(table).where(mine))}
    said = select(schema.ratings.c.item).where(schema.ratings.c.project == project).distinct()
    rated = set(connection.execute(said).scalars())
    new: list[dict[str, Any]] = []
    for place, (item, content) in enumerate(items.items()):
        values = {"position": place, "asked": True, "content": dict(content)}
        if item not in known:
            new.append(values | {"project": project, "item": item})
            continue
        before = known[item]
        if item in rated and any(before.content.get(one) != content.get(one) for one in _SHOWN):
            raise StoreError(
                f"the item {item!r} of {project!r} was rated with another clip or other captions; "
                "give the changed one another id, or the project another name"
            )
        if (before.position, before.asked, before.content) != (place, True, values["content"]):
            connection.execute(table.update().where(mine, own.item == item).values(**values))
    insert_all(connection, table, new)
    for item in known.keys() - items.keys():
        same = (mine, own.item == item)
        if item in rated:
            connection.execute(table.update().where(*same).values(asked=False))
        else:
            connection.execute(delete(table).where(*same))


def _load(connection: Connection, project: str, person: str, now: float) -> RatingLoad:
    said, claimed = schema.ratings.c, schema.rating_claims.c
    mine = select(said.item).where(said.project == project, said.person == person)
    rated = set(connection.execute(mine).scalars())
    shown = select(claimed.item).where(claimed.project == project, claimed.person == person)
    shown = shown.where(claimed.until > now).order_by(claimed.shown_at.desc(), claimed.item)
    open_items = [one for one in connection.execute(shown).scalars() if one not in rated]
    others: tuple[Sequence[Any], ...] = (
        (said.item, said.project == project, said.person != person),
        (claimed.item, claimed.project == project, claimed.person != person, claimed.until > now),
    )
    counts: list[Counter[str]] = []
    for item, *where in others:
        query = select(item, func.count().label("number")).where(*where).group_by(item)
        counts.append(Counter({row.item: row.number for row in connection.execute(query)}))
    return RatingLoad(rated, open_items[0] if open_items else None, *counts)


def _insert_rating(
    connection: Connection, project: str, rating: Rating, listen_s: float
) -> RatingReceipt:
    claims, own = schema.rating_claims, schema.rating_claims.c
    same = (own.project == project, own.person == rating.person, own.item == rating.item)
    now = database_time(connection)
    times = select((now - own.heard_at).label("heard"), (now - own.shown_at).label("shown"))
    claim = connection.execute(times.where(*same)).first()
    heard_s = 0.0 if claim is None else min(claim.heard or 0.0, rating.played_s)
    if claim is None or heard_s < listen_s:
        return RatingReceipt.UNHEARD
    row = row_of(schema.ratings, rating, project=project, earlier=[])
    row |= {"rated_at": schema.now(), "took_s": float(claim.shown)}
    connection.execute(insert(schema.ratings), row)
    connection.execute(delete(claims).where(*same))
    return RatingReceipt.KEPT
