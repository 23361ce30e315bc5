"""The requests that the rating pages make, and the pages themselves.

A request says who it is from by a token in its ``Authorization`` header, never by a cookie: two
people may rate in two tabs of one browser, and no other site can speak for them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from statistics import median
from typing import Any

import numpy as np
from pydantic import ValidationError

from audiocapbench.errors import StoreAwayError, StoreError
from audiocapbench.stats.agreement import category_counts, fleiss_kappa, krippendorff_alpha
from audiocapbench.stats.shares import wilson
from audiocapbench.store import Store
from audiocapbench.store.ratings import ADMINISTRATOR, Rating
from audiocapbench.web.guard import GuessLimit, bearer
from audiocapbench.web.rating.desk import BackRequest, RatingDesk, RatingRequest
from audiocapbench.web.rating.export import export_ratings
from audiocapbench.web.rating.items import RatingItem, load_items
from audiocapbench.web.rating.kinds import KINDS, RatingError, is_right, read_gold
from audiocapbench.web.rating.project import RatingProject
from audiocapbench.web.server import Route, answered, bare_app, fixed

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


PATH = "/rate/"

_PAGES = {
    "": ("rate.html", "text/html"),
    "admin": ("admin.html", "text/html"),
    "rate.css": ("rate.css", "text/css"),
    "rate.js": ("rate.js", "text/javascript"),
    "admin.js": ("admin.js", "text/javascript"),
}


def open_desk(project: RatingProject, store: Store) -> tuple[RatingDesk, dict[str, str], list[str]]:
    """Read a project's items and keep them; the tokens of who is new, and what was left out."""
    loaded = load_items(project, store)
    contents = {key: one.content() for key, one in loaded.items.items()}
    told = (project.name, project.kind, project.seed, contents, project.people)
    secret, invited = store.ratings.begin(*told)
    return RatingDesk(project, loaded, store, secret), invited, loaded.notes


def rating_app(desk: RatingDesk) -> Any:
    """An application with nothing but a project's pages: raters can reach nothing else."""
    from starlette.responses import RedirectResponse

    async def lead(_request: Any) -> Any:
        return RedirectResponse(PATH, 303)

    app = bare_app()
    app.add_route("/", lead, methods=["GET"])
    add_rating(app, desk)
    return app


def add_rating(app: Any, desk: RatingDesk) -> None:
    """Add a project's pages and their requests to a FastAPI application."""
    asked = _Requests(desk)
    for name, (file, kind) in _PAGES.items():
        content = files("audiocapbench.web").joinpath("pages", file).read_bytes()
        app.add_route(f"{PATH}{name}", fixed(content, kind), methods=["GET"])
    for name in ("next", "back", "save"):
        app.add_route(f"{PATH}api/{name}", asked.route(getattr(asked, name)), methods=["POST"])
    for name in ("progress", "export"):
        work = asked.route(getattr(asked, name), admin=True)
        app.add_route(f"{PATH}api/{name}", work, methods=["GET"])
    app.add_route(f"{PATH}api/audio/{{item}}", asked.route(asked.audio), methods=["GET"])


class _Requests:
    """What the pages may ask for."""

    def __init__(self, desk: RatingDesk) -> None:
        self._desk, self._limit = desk, GuessLimit()

    def route(self, work: Callable[[str, Any, bytes], Any], *, admin: bool = False) -> Route:
        """A route that knows who asks."""
        return answered(
            lambda request, body: work(self._person(request, admin=admin), request, body), _refusal
        )

    def _person(self, request: Any, *, admin: bool) -> str:
        token = bearer({"authorization": request.headers.get("authorization", "")})
        client = request.client.host if request.client else ""
        if token is None:
            raise RatingError("open the link that you were invited with", 401)
        if wait := self._limit.wait_s(client, token):
            raise RatingError(f"too many wrong links; wait {wait} s", 429)
        person = self._desk.person(token)
        self._limit.note(client, token, right=person is not None)
        if person is None:
            raise RatingError("this link is not valid (any more); ask for another", 401)
        if (person == ADMINISTRATOR) != admin:
            raise RatingError("this link is not for this page", 403)
        return person

    def next(self, person: str, _request: Any, _body: bytes) -> Any:
        """The next item, and what the page is about."""
        return {"project": self._desk.about(), "person": person} | self._desk.next(person)

    def back(self, person: str, _request: Any, body: bytes) -> Any:
        """What was said before."""
        return {"last": self._desk.back(person, BackRequest.model_validate_json(body).before)}

    def save(self, person: str, _request: Any, body: bytes) -> Any:
        """An answer."""
        return {"receipt": self._desk.save(person, RatingRequest.model_validate_json(body))}

    def audio(self, person: str, request: Any, _body: bytes) -> Any:
        """The sound of an item."""
        from starlette.responses import Response

        return Response(
            self._desk.clip(person, request.path_params["item"]), media_type="audio/flac"
        )

    def progress(self, _person: str, _request: Any, _body: bytes) -> Any:
        """How far the project has come."""
        project = self._desk.project
        said = self._desk.store.ratings.of(project.name)
        told = summarise(project.kind, project.each, project.people, self._desk.items, said)
        return told | {"name": project.name, "kind": project.kind}

    def export(self, _person: str, request: Any, _body: bytes) -> Any:
        """All ratings as a file."""
        from starlette.responses import Response

        form = request.query_params.get("form", "csv")
        if form not in ("csv", "jsonl", "votes"):
            raise RatingError("form is csv, jsonl or votes")
        whole = form == "jsonl"
        text = export_ratings(self._desk.store, self._desk.project.name, form, gold=whole)
        return Response(text, media_type="text/plain")


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
