"""The pages of ``view``: the report's own front end, fed by requests that only ever read."""

from collections.abc import Callable, Mapping
from typing import Any

from audiocapbench.errors import AudioError, StoreError
from audiocapbench.report.page.html import SERVED_SCRIPTS, STYLES, joined
from audiocapbench.report.page_file import render
from audiocapbench.scores.scorer import Scorer
from audiocapbench.web.board import Boards
from audiocapbench.web.board_list import SORTS, ListQuery, QueryError
from audiocapbench.web.live import LiveFeed, events
from audiocapbench.web.server import Route, answered, bare_app, fixed

_LONGEST_SEARCH = 500
_MOST_ROWS = 500
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22"><path stroke="#1f55d0" '
    'stroke-width="2.4" stroke-linecap="round" d="M2 11h2M6 6v10M10 2v18M14 7v8M18 9v4"/></svg>'
)


def make_app(boards: Boards, feed: LiveFeed) -> Any:
    """An application that shows a store; it is to be served behind ``guard.guarded``."""
    app = bare_app()
    empty = {"policy": "", "style": "", "script": "", "data": "", "embedded": []}
    page = render("report.html", title="AudioCapBench", board=None, **empty)
    for path, text, kind in (
        ("/", page, "text/html"),
        ("/page.js", joined(SERVED_SCRIPTS), "text/javascript"),
        ("/page.css", joined(STYLES), "text/css"),
        ("/favicon.ico", _ICON, "image/svg+xml"),
    ):
        app.add_route(path, fixed(text, kind), methods=["GET"])
    asked = _BoardRequests(boards)
    for name in ("board", "list", "find", "clip", "duel", "audio"):
        app.add_route(f"/api/{name}", _answered(getattr(asked, name)), methods=["GET"])
    app.add_route("/api/live", _live(boards, feed), methods=["GET"])
    return app


def _live(boards: Boards, feed: LiveFeed) -> Route:
    async def stream(request: Any) -> Any:
        from starlette.responses import StreamingResponse

        told = events(feed, lambda: boards.version, request.is_disconnected)
        return StreamingResponse(told, media_type="text/event-stream")

    return stream


def _answered(work: Callable[[Mapping[str, str]], Any]) -> Route:
    def plain(request: Any, _body: bytes) -> Any:
        # No database has a text with this character in it, and some refuse to look for it.
        return work({key: one.replace("\0", "\ufffd") for key, one in request.query_params.items()})

    return answered(plain, _refusal)


def _refusal(error: Exception) -> tuple[int, dict[str, Any]]:
    known = {QueryError: 422, StoreError: 503}
    status = next((code for kind, code in known.items() if isinstance(error, kind)), 500)
    return status, {"error": str(error)}


class _BoardRequests:
    """What the page may ask for."""

    def __init__(self, boards: Boards) -> None:
        self._boards = boards

    def board(self, asked: Mapping[str, str]) -> Any:
        """The document of a benchmark's board."""
        return self._boards.document(asked.get("benchmark", "")).to_dict()

    def list(self, asked: Mapping[str, str]) -> Any:
        """Rows of the list of samples."""
        first, last = (_number(asked, name, int) or 0 for name in ("first", "last"))
        if first < 0 or not 0 <= last - first <= _MOST_ROWS:
            raise QueryError(f"first and last are places of at most {_MOST_ROWS} rows")
        return self._samples(asked).page(_query(asked), first, last)

    def find(self, asked: Mapping[str, str]) -> Any:
        """Where a sample stands in the list."""
        return {"place": self._samples(asked).find(_query(asked), asked.get("id", ""))}

    def clip(self, asked: Mapping[str, str]) -> Any:
        """One sample in full."""
        scorers = [_scorer(one) for one in asked.get("scorers", "").split("\n") if one]
        return self._samples(asked).clip(asked.get("id", ""), scorers)

    def duel(self, asked: Mapping[str, str]) -> Any:
        """Two runs, sample by sample."""
        first, second = (_number(asked, name, int) or 0 for name in ("a", "b"))
        return self._samples(asked).duel(first, second, _scorer(asked.get("score", "")))

    def audio(self, asked: Mapping[str, str]) -> Any:
        """A sample's sound; the request names a sample, never a file."""
        from starlette.responses import Response

        try:
            content = self._samples(asked).sound(asked.get("id", ""))
        except AudioError:
            return {"missing": "the file cannot be read"}
        if content is None:
            return {"missing": "the file has changed since the run"}
        return Response(content, media_type="application/octet-stream")

    def _samples(self, asked: Mapping[str, str]) -> Any:
        return self._boards.samples(asked.get("benchmark", ""))


def _scorer(label: str) -> Scorer:
    """A scorer by what ``judge``, a tab and its dimension, or a metric is called."""
    name, tab, dimension = label.partition("\t")
    return Scorer(name, dimension) if tab else Scorer(name)


def _query(asked: Mapping[str, str]) -> ListQuery:
    runs = asked.get("runs", "")
    if not all(one.isdecimal() for one in runs.split(",") if one):
        raise QueryError("runs are numbers with commas between them")
    sort = asked.get("sort", "order")
    if sort not in SORTS:
        raise QueryError(f"sort is one of {', '.join(SORTS)}")
    return ListQuery(
        _scorer(asked.get("score", "")),
        tuple(int(one) for one in runs.split(",") if one),
        asked.get("search", "")[:_LONGEST_SEARCH],
        asked.get("category", ""),
        asked.get("status", ""),
        _number(asked, "run", int),
        _number(asked, "low", float),
        _number(asked, "high", float),
        sort,
    )


def _number(asked: Mapping[str, str], name: str, kind: type[Any]) -> Any:
    text = asked.get(name, "")
    if not text:
        return None
    try:
        value = kind(text)
    except ValueError:
        raise QueryError(f"{name} is no number") from None
    if not abs(value) < 1e12:
        raise QueryError(f"{name} is no number")
    return value
