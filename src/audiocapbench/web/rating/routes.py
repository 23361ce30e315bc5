"""Who is asked what: hands items out and takes answers in, by the requests of the rating pages.

Orders, sides and tokens follow from seed, secret and name: a killed server goes on as before. Who
asks is said by a token in a header, never by a cookie: no other site can speak for them.
"""

import hmac
import random
import time
from collections import Counter, defaultdict
from functools import cache, partial
from importlib.resources import files
from math import ceil
from statistics import median
from threading import Lock
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from audiocapbench.errors import StoreAwayError, StoreError
from audiocapbench.meta.pairs import by_votes
from audiocapbench.meta.votes import project_pairs
from audiocapbench.report.beside_people import beside_people
from audiocapbench.report.page.rendering import joined
from audiocapbench.report.ratings import NOTES, agreement_row, share_of, win_report
from audiocapbench.scores.estimate import counted
from audiocapbench.stats.correlation import Coefficient
from audiocapbench.store import Store
from audiocapbench.store.ratings import ADMINISTRATOR, Rating, RatingLoad, RatingReceipt
from audiocapbench.table import Column, Row, Table
from audiocapbench.web.rating.items import LoadedItems, export_ratings, load_items, playable
from audiocapbench.web.rating.project import KINDS, RatingError, RatingProject
from audiocapbench.web.server import Route, answered, bare_app, bearer, fixed

_SLACK_S, _LEAST_S = 0.5, 1e-6
_Token = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
_Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{16,64}$")]
_BACK = TypeAdapter(dict[Literal["before"], _Token | None])
PATH = "/rate/"
_PAGES = {"rate.html": "", "admin.html": "admin", "rate.css": "rate.css"}
_PAGES |= {"rate.js": "rate.js", "admin.js": "admin.js"}
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


class RatingRequest(BaseModel, extra="forbid", strict=True):
    """An answer as the page sends it; it may take back the one that has a key."""

    item: _Token
    key: _Key
    answer: Annotated[dict[str, str | int | None], Field(max_length=8)]
    played_s: Annotated[float, Field(ge=0, le=86_400, strict=False)]
    replaces: _Key | None = None


class RatingDesk:
    ends = True  # whether so many ratings are wanted

    def __init__(self, project: RatingProject, store: Store) -> None:
        """Read the project's items and keep them; see who is new, and what was left out."""
        self.project, self.store = project, store
        self.items, self._clips, self.notes = self._load()
        kept = {key: self._content(key) for key in self.items}
        told = (project.name, project.kind, project.seed, kept, project.people)
        self._secret, self.invited = store.ratings.begin(*told)
        self._gold = [key for key, one in self.items.items() if one.gold]
        self._tokens = defaultdict[str, dict[str, str]](dict)
        self._counting, self._count_after, self._seen = Lock(), 0.0, (0, dict[int, int]())
        self._standing: list[Table] = []
        self._orders = cache(self._find_order)

    def _load(self) -> LoadedItems:
        return load_items(self.project, self.store)

    def _content(self, key: str) -> dict[str, Any]:
        return self.items[key].model_dump(mode="json", exclude={"id"})

    def next(self, person: str) -> dict[str, Any]:
        """The item that a person is shown next, or that there is none (now); and the project."""
        kind = KINDS[self.project.kind]
        about = {
            "title": self.project.title or kind.question,
            "question": kind.question,
            "instructions": self.project.instructions,
            "scales": kind.scales,
            "captions": kind.captions,
            "undecided": kind.undecided,
            "confidence": self.project.asks_confidence,
        }
        state: dict[str, Any] = {"project": about, "person": person}

        def choose(load: RatingLoad) -> str | None:
            state.update(self._state(load), done=len(load.rated & self.items.keys()))
            if load.current in self.items:
                return load.current
            # Gold questions come where the seed has put them.
            _, gold, places = self._orders(person)
            asked = load.rated & set(gold)
            next_gold = next((key for key in gold if key not in asked), None)
            if next_gold is not None and places[len(asked)] <= state["done"] - len(asked):
                return next_gold
            return self._choose(person, load) or next_gold

        claim, lease_s = self.store.ratings.claim, 60 * self.project.claim_minutes
        key = claim(self.project.name, person, choose, lease_s, self._content)
        return state if key is None else state | {"state": "item", "item": self._shown(person, key)}

    def _state(self, load: RatingLoad) -> dict[str, Any]:
        """How much is left for a person, and what to do where that is nothing."""
        free = self._free(load)
        busy = any(
            load.done[key] < self.project.each
            for key, one in self.items.items()
            if not (one.gold or key in load.rated or key in free)
        )
        return {"left": len(free), "state": "wait" if busy else "done"}

    def _free(self, load: RatingLoad) -> set[str]:
        taken = load.done + load.claimed
        return {
            key
            for key, one in self.items.items()
            if key not in load.rated
            and (one.gold or taken[key] < self.project.each or key == load.current)
        }

    def _choose(self, person: str, load: RatingLoad) -> str | None:
        """The next item in the person's order that is no gold question."""
        free = self._free(load)
        return next((key for key in self._orders(person)[0] if key in free), None)

    def save(self, person: str, sent: RatingRequest) -> RatingReceipt:
        """Keep an answer; whoever is told so may forget it."""
        key = self._item(person, sent.item)
        given = {name: one for name, one in sent.answer.items() if one is not None}
        answer = KINDS[self.project.kind].read_answer(given, self._order(person, key))
        if self.project.asks_confidence != ("confidence" in answer):
            raise RatingError("say how sure you are, where it is asked")
        listen_s = self.project.listen * self._clips[key][1]
        needed_s = max(_LEAST_S, listen_s - _SLACK_S) if listen_s else 0.0
        rating = Rating(person, key, sent.key, answer, 0.0, sent.played_s, "")
        found = self.store.ratings.put(self.project.name, rating, sent.replaces, needed_s)
        if found == "unheard":
            raise RatingError("listen to the clip first", why="unheard")
        if found == "conflict":
            raise RatingError("you rated this clip already, perhaps in another tab", status=409)
        return found

    def back(self, person: str, before: str | None) -> dict[str, Any] | None:
        """What a person said last, or before an item, to be changed; None where it was nothing."""
        every = self.store.ratings.of(self.project.name, person)
        said = [one for one in every if one.item in self.items]
        items = [one.item for one in said]
        if before is not None and (key := self._item(person, before)) in items:
            said = said[: items.index(key)]
        if not said:
            return None
        last = said[-1]
        order = self._order(person, last.item)
        answer = KINDS[self.project.kind].shown_answer(last.answer, order)
        return {"item": self._shown(person, last.item), "answer": answer, "key": last.key}

    def standing(self) -> list[Table]:
        """Who people prefer by now, and scores beside them; anew at most when something changed."""
        if self.project.kind != "pairs":
            return []
        pairs = by_votes(project_pairs(self.store, self.project.name))
        seen = sum(len(one.votes) for one in pairs), self.store.catalog.revisions()
        with self._counting:
            if seen != self._seen and time.monotonic() >= self._count_after:
                began, tables = time.monotonic(), list[Table]()
                if any(one.answer is not None and one.systems for one in pairs):
                    beside = beside_people(self.store, self.project.name)
                    tables = [one for one in win_report(pairs, (), [beside]).tables() if one.rows]
                self._standing = tables
                self._seen, now = seen, time.monotonic()
                self._count_after = now + 5 * (now - began)
            return self._standing

    def clip(self, person: str, token: str) -> bytes:
        """The sound of an item, which the person is then given."""
        key = self._item(person, token)
        sound = playable(self._clips[key][0])
        self.store.ratings.note_heard(self.project.name, person, key)
        return sound

    def _find_order(self, person: str) -> tuple[list[str], list[str], list[int]]:
        draw = random.Random(f"{self.project.seed} {person}")
        order, gold = [key for key, one in self.items.items() if not one.gold], list(self._gold)
        draw.shuffle(order)
        draw.shuffle(gold)
        share = self._share(len(order))
        return order, gold, sorted(draw.randrange(share + 1) for _ in gold)

    def _share(self, count: int) -> int:
        """After how many of so many items a person has been asked all gold questions."""
        return ceil(count * self.project.each / len(self.project.people))

    def _order(self, person: str, key: str) -> list[int]:
        """Which caption of an item this person sees at which place."""
        places = list(range(len(self.items[key].captions)))
        random.Random(f"{self.project.seed} {person} {key}").shuffle(places)
        return places

    def _shown(self, person: str, key: str) -> dict[str, Any]:
        texts = [self.items[key].captions[place] for place in self._order(person, key)]
        listen_s = round(self.project.listen * self._clips[key][1], 2)
        return {"token": self._token(person, key), "captions": texts, "listen_s": listen_s}

    def _token(self, person: str, key: str) -> str:
        return hmac.new(self._secret, f"{person}\0{key}".encode(), "sha256").hexdigest()[:32]

    def _item(self, person: str, token: str) -> str:
        known = self._tokens[person]
        for key in [*self.items][len(known) :]:
            known[self._token(person, key)] = key
        if token not in known:
            raise RatingError("this is no item of yours")
        return known[token]


def rating_app(desk: RatingDesk) -> Any:
    """An application with nothing but a project's pages: raters can reach nothing else."""
    from starlette.responses import RedirectResponse

    async def lead(_request: Any) -> Any:
        return RedirectResponse(PATH, 303)

    read: dict[str, Route] = {"/": lead}
    write: dict[str, Route] = {}
    for file, name in _PAGES.items():
        content = files("audiocapbench.web").joinpath("pages", file).read_text("utf-8")
        shared = {"rate.js": ("base.js",), "admin.js": ("base.js", "share.js")}.get(file, ())
        read[f"{PATH}{name}"] = fixed(joined(shared) + content, _KINDS[file.partition(".")[2]])
    for name in ("next", "back", "save", "progress", "export", "audio/{item}"):
        routes = write if name in ("next", "back", "save") else read
        routes[f"{PATH}api/{name}"] = answered(partial(_answer, desk, name), _refusal)
    return bare_app(read, write)


def _answer(desk: RatingDesk, name: str, request: Any, body: bytes) -> Any:
    from starlette.responses import Response

    person = _person(desk, request, is_admin=name in ("progress", "export"))
    if name == "next":
        return desk.next(person)
    if name == "back":
        return {"last": desk.back(person, _BACK.validate_json(body).get("before"))}
    if name == "save":
        return {"receipt": desk.save(person, RatingRequest.model_validate_json(body))}
    if name == "progress":
        return _progress(desk)
    if name == "export":
        form = request.query_params.get("form", "csv")
        if form not in ("csv", "jsonl", "votes"):
            raise RatingError("form is csv, jsonl or votes")
        text = export_ratings(desk.store, desk.project.name, form, gold=form == "jsonl")
        return Response(text, media_type="text/plain")
    return Response(desk.clip(person, request.path_params["item"]), media_type="audio/flac")


def _person(desk: RatingDesk, request: Any, *, is_admin: bool) -> str:
    token = bearer(request.headers)
    if token is None:
        raise RatingError("open the link that you were invited with", status=401)
    person = desk.store.ratings.person(desk.project.name, token)
    if person is None or person not in (ADMINISTRATOR, *desk.project.people):
        raise RatingError("this link is not valid (any more); ask for another", status=401)
    if (person == ADMINISTRATOR) != is_admin:
        raise RatingError("this link is not for this page", status=403)
    return person


def _progress(desk: RatingDesk) -> dict[str, Any]:
    project, items = desk.project, dict(desk.items)  # which an arena adds to meanwhile
    said = [one for one in desk.store.ratings.of(project.name) if one.item in items]
    ordinary = [one for one in said if not items[one.item].gold]
    counts = Counter(one.item for one in ordinary)
    asked = [key for key, one in items.items() if not one.gold]
    rows, kind = list[Row](), KINDS[project.kind]
    for name in project.people:
        own = [one for one in said if one.person == name]
        tried = [(items[one.item].gold, one.answer) for one in own if items[one.item].gold]
        row: Row = {"person": name, "ratings": len(own) - len(tried), "gold": len(tried)}
        row["share"] = share_of([kind.is_right(gold, answer) for gold, answer in tried])
        row["seconds"] = round(median(one.took_s for one in own), 1) if own else None
        last = max((one.rated_at for one in own), default="–")
        rows.append(row | {"last": last[:16].replace("T", " ")})
    agreed = []
    for name in kind.dimensions:
        given = [(one.item, one.person, one.answer[name]) for one in ordinary]
        row = agreement_row(name, given)
        known = {one: Coefficient(row[one], row[f"{one}_ci"]) for one in ("alpha", "kappa")}
        agreed.append({"what": name, "items": row["items"], **known})
    looks = [Column("what"), Column("alpha", "Krippendorff’s α", ".2f")]
    looks += [Column("kappa", "Fleiss’ κ", ".2f"), Column("items", "items rated by several")]
    columns = [*map(Column, ("person", "ratings", "gold")), Column("share", "gold right", "%")]
    columns += [Column("seconds", "seconds each"), Column("last", "last, UTC", align="right")]
    so_far = counted(len(ordinary), "vote")
    if desk.ends:
        complete = sum(counts[key] >= project.each for key in asked)
        wanted, whole = counted(len(asked) * project.each, "rating"), counted(len(asked), "item")
        so_far = f"{len(ordinary):,} of {wanted}; {complete:,} of {whole} done"
    tables = [Table("Agreement", agreed, looks, [NOTES["rated"]]), Table("People", rows, columns)]
    shown = [one.texts() for one in (*desk.standing(), *tables)]
    return {"name": project.name, "kind": project.kind, "so_far": so_far, "tables": shown}


def _refusal(error: Exception) -> tuple[int, dict[str, Any]]:
    """What a rater needs to know of an error: not where the store or a clip lies."""
    if isinstance(error, RatingError):
        return error.status, error.document
    if isinstance(error, ValidationError):
        return 422, {"error": "the request is not clear"}
    if not isinstance(error, StoreError):
        return 500, {"error": "this clip cannot be played; tell who invited you"}
    away = "cannot save at the moment" if isinstance(error, StoreAwayError) else "cannot save"
    full = "disk is full" in str(error)
    return 503, {"error": f"the server{'’s disk is full' if full else f' {away}'}", "again": True}
