"""The pages of ``view``: the report's own front end, fed by requests that only ever read."""

from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ValidationError

from audiocapbench.errors import AudioError, StoreError
from audiocapbench.report.page.html import SERVED_SCRIPTS, STYLES, joined
from audiocapbench.report.page_file import render
from audiocapbench.scores.estimate import Scorer
from audiocapbench.web.board import Boards
from audiocapbench.web.board_list import ListQuery, Number, QueryError, ScorerLabel
from audiocapbench.web.live import LiveFeed, events
from audiocapbench.web.server import answered, bare_app, fixed

_MOST_ROWS = 500
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22"><path stroke="#1f55d0" '
    'stroke-width="2.4" stroke-linecap="round" d="M2 11h2M6 6v10M10 2v18M14 7v8M18 9v4"/></svg>'
)


class _Request(BaseModel):
    """What a page asks with beside a query; what it leaves empty has the default."""

    benchmark: str = ""
    id: str = ""
    score: ScorerLabel = Scorer("")
    scorers: Annotated[list[ScorerLabel], BeforeValidator(lambda text: text.split("\n"))] = []
    first: Number = 0
    last: Number = 0
    a: Number = 0
    b: Number = 0


def make_app(boards: Boards, feed: LiveFeed) -> Any:
    """An application that shows a store; it is to be served behind ``guard.GuardedApp``."""

    async def stream(request: Any) -> Any:
        from starlette.responses import StreamingResponse

        told = events(feed, lambda: boards.version, request.is_disconnected)
        return StreamingResponse(told, media_type="text/event-stream")

    empty = {"policy": "", "style": "", "script": "", "data": "", "embedded": []}
    page = render("report.html", title="AudioCapBench", board=None, **empty)
    routes = {
        "/": fixed(page, "text/html"),
        "/page.js": fixed(joined(SERVED_SCRIPTS), "text/javascript"),
        "/page.css": fixed(joined(STYLES), "text/css"),
        "/favicon.ico": fixed(_ICON, "image/svg+xml"),
        "/api/live": stream,
    }
    for name in ("board", "list", "find", "clip", "duel", "audio"):
        routes[f"/api/{name}"] = answered(partial(_answer, boards, name), _refusal)
    app = bare_app()
    for path, route in routes.items():
        app.add_route(path, route, methods=["GET"])
    return app


def _answer(boards: Boards, name: str, request: Any, _body: bytes) -> Any:
    # No database has a text with this character in it, and some refuse to look for it.
    given = {key: one.replace("\0", "\ufffd") for key, one in request.query_params.items() if one}
    asked = _Request.model_validate(given)
    if name == "board":
        return boards.document(asked.benchmark).to_dict()
    samples = boards.samples(asked.benchmark)
    if name == "list":
        if not 0 <= asked.last - asked.first <= _MOST_ROWS:
            raise QueryError(f"first and last are places of at most {_MOST_ROWS} rows")
        return samples.page(ListQuery.model_validate(given), asked.first, asked.last)
    if name == "find":
        return {"place": samples.find(ListQuery.model_validate(given), asked.id)}
    if name == "clip":
        return samples.clip(asked.id, asked.scorers)
    if name == "duel":
        return samples.duel(asked.a, asked.b, asked.score)
    from starlette.responses import Response

    try:
        content = samples.sound(asked.id)  # the request names a sample, never a file
    except AudioError:
        return {"missing": "the file cannot be read"}
    if content is None:
        return {"missing": "the file has changed since the run"}
    return Response(content, media_type="application/octet-stream")


def _refusal(error: Exception) -> tuple[int, dict[str, Any]]:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return 422, {"error": f"{first['loc'][0]}: {first['msg']}"}
    known = {QueryError: 422, StoreError: 503}
    status = next((code for kind, code in known.items() if isinstance(error, kind)), 500)
    return status, {"error": str(error)}
