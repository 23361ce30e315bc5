"""The requests that the rating pages make, and the pages themselves.

Who asks is said by a token in a header, never by a cookie: no other site can speak for them.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
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
from audiocapbench.web.rating.items import load_items
from audiocapbench.web.rating.project import (
    KINDS,
    RatingError,
    RatingProject,
    is_right,
    read_gold,
)
from audiocapbench.web.server import answered, bare_app, fixed

PATH = "/rate/"

_PAGES = {
    "": ("rate.html", "text/html"),
    "admin": ("admin.html", "text/html"),
    "rate.css": ("rate.css", "text/css"),
    "rate.js": ("rate.js", "text/javascript"),
    "admin.js": ("admin.js", "text/javascript"),
}
_VOTES = {"a": 1.0, "tie": 0.0, "b": -1.0, "both_bad": 2.0}


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

    app, limit = bare_app(), GuessLimit()
    app.add_route("/", lead, methods=["GET"])
    for name, (file, kind) in _PAGES.items():
        content = files("audiocapbench.web").joinpath("pages", file).read_bytes()
        app.add_route(f"{PATH}{name}", fixed(content, kind), methods=["GET"])
    for name in ("next", "back", "save", "progress", "export", "audio/{item}"):
        method = "POST" if name in ("next", "back", "save") else "GET"
        work = answered(partial(_answer, desk, limit, name), _refusal)
        app.add_route(f"{PATH}api/{name}", work, methods=[method])
    return app


def _answer(desk: RatingDesk, limit: GuessLimit, name: str, request: Any, body: bytes) -> Any:
    from starlette.responses import Response

    person = _person(desk, limit, request, is_admin=name in ("progress", "export"))
    if name == "next":
        return {"project": desk.about(), "person": person} | desk.next(person)
    if name == "back":
        return {"last": desk.back(person, BackRequest.model_validate_json(body).before)}
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


def _person(desk: RatingDesk, limit: GuessLimit, request: Any, *, is_admin: bool) -> str:
    """Who asks."""
    token = bearer({"authorization": request.headers.get("authorization", "")})
    client = request.client.host if request.client else ""
    if token is None:
        raise RatingError("open the link that you were invited with", 401)
    if wait := limit.wait_s(client, token):
        raise RatingError(f"too many wrong links; wait {wait} s", 429)
    person = desk.person(token)
    limit.note(client, token, right=person is not None)
    if person is None:
        raise RatingError("this link is not valid (any more); ask for another", 401)
    if (person == ADMINISTRATOR) != is_admin:
        raise RatingError("this link is not for this page", 403)
    return person


def _progress(desk: RatingDesk) -> dict[str, Any]:
    """What the administrator sees."""
    project, items = desk.project, desk.items
    said = [one for one in desk.store.ratings.of(project.name) if one.item in items]
    ordinary = [one for one in said if not items[one.item].gold]
    counts = Counter(one.item for one in ordinary)
    asked = [key for key, one in items.items() if not one.gold]
    people = []
    for name in project.people:
        own = [one for one in said if one.person == name]
        tried = [(items[one.item].gold, one.answer) for one in own if items[one.item].gold]
        hits = sum(is_right(read_gold(project.kind, gold), answer) for gold, answer in tried)
        people.append(
            {
                "person": name,
                "ratings": len(own) - len(tried),
                "seconds": round(median(one.took_s for one in own), 1) if own else None,
                "gold": len(tried),
                "gold_right": hits,
                "gold_interval": list(wilson(hits, len(tried))) if tried else None,
                "last": max((one.rated_at for one in own), default=None),
            }
        )
    dimensions = KINDS[project.kind].dimensions
    return {
        "name": project.name,
        "kind": project.kind,
        "items": len(asked),
        "gold": len(items) - len(asked),
        "each": project.each,
        "ratings": len(ordinary),
        "wanted": len(asked) * project.each,
        "complete": sum(counts[key] >= project.each for key in asked),
        "agreement": [_agreement(project.kind, name, ordinary) for name in dimensions],
        "people": people,
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
