"""What people say of captions in a browser: projects, claims, ratings.

A person has one rating of an item, however often it is sent; what it replaced is kept beside it.
"""

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, delete, func, insert, select

from audiocapbench.data.opinions import Opinion, Opinions, read_opinions
from audiocapbench.errors import StoreError, check_known, did_you_mean
from audiocapbench.files import digest
from audiocapbench.store import schema
from audiocapbench.store.claims import database_time
from audiocapbench.store.connect import StoreRepository
from audiocapbench.store.records import MADE_BY, insert_all, matching, record_of, row_of

ADMINISTRATOR = ""
"""The name that the one who looks on has among a project's people."""

Items = Mapping[str, Mapping[str, Any]]
RatingReceipt = Literal["kept", "known", "conflict", "unheard"]

_SHOWN = ("audio", "captions")


@dataclass(frozen=True, slots=True)
class Rating:
    """What one person said about one item, in terms of the item and not of how it was shown."""

    person: str
    item: str
    key: str  # the page makes it for this very answer
    answer: Mapping[str, Any]
    took_s: float
    played_s: float  # as the page says
    rated_at: str


class RatingLoad(NamedTuple):
    """What a choice of the next item depends on: by item, how many others rated or claim it."""

    rated: set[str]
    current: str | None
    done: Counter[str]
    claimed: Counter[str]


class RatingRepository(StoreRepository):
    def begin(
        self, name: str, kind: str, seed: int, items: Items, people: Iterable[str]
    ) -> tuple[bytes, dict[str, str]]:
        """Make or change a project: what tokens of items derive from, and tokens of who is new."""
        table, everybody, now = schema.rating_projects, schema.rating_people, schema.now()
        with self._writing(alone=True) as connection:
            known = connection.execute(select(table).where(table.c.name == name)).first()
            secret = secrets.token_hex(32) if known is None else known.secret
            if known is None:
                made: dict[str, Any] = {"name": name, "kind": kind, "seed": seed, "secret": secret}
                connection.execute(insert(table), made | {"made_by": MADE_BY, "made_at": now})
            elif (known.kind, known.seed) != (kind, seed):
                raise StoreError(
                    f"the rating project {name!r} is of kind {known.kind} with seed {known.seed}; "
                    "write them as they were, or give this project another name"
                )
            _follow_items(connection, name, items)
            there = select(everybody.c.person).where(everybody.c.project == name)
            invited = set(connection.execute(there).scalars())
            new = [person for person in (ADMINISTRATOR, *people) if person not in invited]
            tokens = {person: secrets.token_urlsafe(18) for person in new}
            rows = [
                {"project": name, "person": person, "token": token_hash(token), "invited_at": now}
                for person, token in tokens.items()
            ]
            insert_all(connection, everybody, rows)
            return bytes.fromhex(secret), tokens

    def renew_invitation(self, project: str, person: str) -> str:
        """Give a person another token; the one before opens nothing any more."""
        check_known("project", project, [one.name for one in self.projects()], StoreError)
        table, token = schema.rating_people, secrets.token_urlsafe(18)
        same = matching(table, project=project, person=person)
        with self._writing(alone=True) as connection:
            change = table.update().where(*same).values(token=token_hash(token))
            if not connection.execute(change).rowcount:
                everybody = select(table.c.person).where(table.c.project == project)
                names = [name for name in connection.execute(everybody).scalars() if name]
                hint = did_you_mean(person, names, "there are")
                raise StoreError(f"{project!r} has no person {person!r}{hint}")
        return token

    def person(self, project: str, token: str) -> str | None:
        table = schema.rating_people
        same = matching(table, project=project, token=token_hash(token))
        with self._reading() as connection:
            return connection.execute(select(table.c.person).where(*same)).scalar()

    def claim(
        self,
        project: str,
        person: str,
        choose: Callable[[RatingLoad], str | None],
        lease_s: float,
        content: Callable[[str], Mapping[str, Any]] | None = None,
    ) -> str | None:
        """Give a person the item that is chosen, for a while; nobody else chooses meanwhile.

        One that is chosen for the first time becomes an item with its ``content``.
        """
        claims, items = schema.rating_claims, schema.rating_items
        with self._writing(alone=True) as connection:
            now = float(connection.execute(select(database_time(connection))).scalar_one())
            item = choose(_load(connection, project, person, now))
            if item is None:
                return None
            there = select(items.c.item).where(*matching(items, project=project, item=item))
            if content is not None and connection.execute(there).first() is None:
                count = select(func.count()).where(items.c.project == project)
                place = {"position": connection.execute(count).scalar_one(), "asked": True}
                made = {"project": project, "item": item, "content": dict(content(item))}
                connection.execute(insert(items).values(**made, **place))
            who = {"project": project, "person": person, "item": item}
            same = matching(claims, **who)
            until = connection.execute(select(claims.c.until).where(*same)).scalar()
            times = {"until": now + lease_s} | ({} if (until or 0) > now else {"shown_at": now})
            if until is None:
                connection.execute(insert(claims).values(**who, **times))
            else:
                connection.execute(claims.update().where(*same).values(**times))
            return item

    def note_heard(self, project: str, person: str, item: str) -> None:
        """A person has been given an item's clip; when it first was counts."""
        table = schema.rating_claims
        same = matching(table, project=project, person=person, item=item)
        with self._writing() as connection:
            heard_at, now = table.c.heard_at, database_time(connection)
            # A moment that is to come was written before the clock was set back.
            first = table.update().where(*same, heard_at.is_(None) | (heard_at > now))
            connection.execute(first.values(heard_at=now))

    def put(
        self, project: str, rating: Rating, replaces: str | None, listen_s: float
    ) -> RatingReceipt:
        """Commit a rating once: a new one if the clip was there long enough, or a changed one."""
        table, claims = schema.ratings, schema.rating_claims
        who = {"project": project, "person": rating.person, "item": rating.item}
        same, mine = matching(table, **who), matching(claims, **who)
        with self._writing(alone=True) as connection:
            known = connection.execute(select(table).where(*same)).first()
            used = select(table.c.key).where(*matching(table, project=project, key=rating.key))
            if known is not None and known.key == rating.key:
                return "known"
            if connection.execute(used).first() is not None:
                return "conflict"
            if known is not None:
                if known.key != replaces:
                    return "conflict"
                before = {"answer": known.answer, "key": known.key, "until": schema.now()}
                new = {"key": rating.key, "answer": rating.answer}
                change = table.update().where(*same)
                connection.execute(change.values(**new, earlier=[*known.earlier, before]))
                return "kept"
            now, own = database_time(connection), claims.c
            times = select((now - own.heard_at).label("heard"), (now - own.shown_at).label("shown"))
            claim = connection.execute(times.where(*mine)).first()
            if claim is None or min(claim.heard or 0.0, rating.played_s) < listen_s:
                return "unheard"
            row = row_of(table, rating, project=project, earlier=[])
            row |= {"rated_at": schema.now(), "took_s": max(0.0, claim.shown)}
            connection.execute(insert(table), row)
            connection.execute(delete(claims).where(*mine))
            return "kept"

    def of(self, project: str, person: str | None = None) -> list[Rating]:
        table = schema.ratings
        query = select(table).where(*matching(table, project=project, person=person))
        query = query.order_by(table.c.rated_at, table.c.item)
        return [record_of(Rating, row) for row in self._fetch(query)]

    def items(self, project: str) -> dict[str, dict[str, Any]]:
        table = schema.rating_items.c
        query = select(table.item, table.content).where(table.project == project)
        rows = self._fetch(query.order_by(table.position, table.item))
        return {row.item: row.content for row in rows}

    def opinions(self, name: str) -> Opinions:
        """What people think, as a file or else a rating project of this name says."""
        if Path(name).exists():
            return read_opinions(Path(name))
        projects = [line.name for line in self.projects()]
        if name not in projects:
            hint = did_you_mean(name, projects, "there are") if projects else ""
            raise StoreError(f"{name}: there is no such file, and no such rating project{hint}")
        items, opinions = self.items(name), []
        for rating in self.of(name):
            item, who = items[rating.item], rating.person
            runs = "+".join(dict.fromkeys(map(str, item["runs"])))
            for dimension, value in rating.answer.items():
                if not item["gold"] and dimension != "confidence":  # of gold, no opinions
                    where, chosen = f"{rating.item} by {who}", item.get("chosen", "")
                    about = (dimension, item["group"], where, chosen)
                    opinions.append(Opinion(item["sample"], str(value), runs, who, *about))
        return Opinions(name, opinions, digest(json.dumps(opinions))[:12])

    def projects(self) -> Sequence[Any]:
        """Name, kind and ``made_at`` of projects, and how many people, items and ratings."""
        projects = schema.rating_projects.c

        def counted(table: Table, name: str, *more: ColumnElement[bool]) -> Any:
            mine = select(func.count()).where(table.c.project == projects.name, *more)
            return mine.select_from(table).scalar_subquery().label(name)

        invited = schema.rating_people.c.person != ADMINISTRATOR
        people = counted(schema.rating_people, "people", invited)
        items = counted(schema.rating_items, "items", schema.rating_items.c.asked)
        head = (projects.name, projects.kind, projects.made_at)
        query = select(*head, people, items, counted(schema.ratings, "ratings"))
        return self._fetch(query.order_by(projects.name))


def token_hash(token: str) -> str:
    """What is kept of a token: it is random and long, so that no slow hash is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _follow_items(connection: Connection, project: str, items: Items) -> None:
    """Keep items as they are now; what people said stays about what they were shown."""
    table, mine = schema.rating_items, schema.rating_items.c.project == project
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
        if (before.position, before.asked, before.content) != tuple(values.values()):
            same = (mine, table.c.item == item)
            connection.execute(table.update().where(*same).values(**values))
    insert_all(connection, table, new)
    for item in known.keys() - items.keys():
        same = (mine, table.c.item == item)
        unasked = table.update().where(*same).values(asked=False)
        connection.execute(unasked if item in rated else delete(table).where(*same))


def _load(connection: Connection, project: str, person: str, now: float) -> RatingLoad:
    said, claimed = schema.ratings.c, schema.rating_claims.c
    mine = select(said.item).where(said.project == project, said.person == person)
    rated = set(connection.execute(mine).scalars())
    lasting = (claimed.project == project, claimed.until > now)
    shown = select(claimed.item).where(*lasting, claimed.person == person)
    shown = shown.order_by(claimed.shown_at.desc(), claimed.item)
    open_items = [item for item in connection.execute(shown).scalars() if item not in rated]
    counts: list[Counter[str]] = []
    for own, where in ((said, (said.project == project,)), (claimed, lasting)):
        query = select(own.item, func.count().label("number")).where(*where, own.person != person)
        rows = connection.execute(query.group_by(own.item))
        counts.append(Counter({row.item: row.number for row in rows}))
    return RatingLoad(rated, open_items[0] if open_items else None, *counts)
