"""The requests that the rating pages make, and the pages themselves.

A request says who it is from by a token in its ``Authorization`` header, never by a cookie: two
people may rate in two tabs of one browser, and no other site can speak for them.
"""

from collections.abc import Callable
from importlib.resources import files
from typing import Any

from pydantic import ValidationError

from audiocapbench.errors import StoreAwayError, StoreError
from audiocapbench.store import Store
from audiocapbench.store.ratings import ADMINISTRATOR
from audiocapbench.web.guard import GuessLimit, bearer
from audiocapbench.web.rating.desk import BackRequest, RatingDesk, RatingRequest
from audiocapbench.web.rating.export import export_ratings
from audiocapbench.web.rating.items import load_items
from audiocapbench.web.rating.kinds import RatingError
from audiocapbench.web.rating.project import RatingProject
from audiocapbench.web.rating.summary import summarise
from audiocapbench.web.server import Route, answered, bare_app, fixed

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
    secret, invited = store.begin_rating_project(*told)
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
        said = self._desk.store.ratings(project.name)
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
