"""The server behind ``view``: an application without anything of its own, and how it is served."""

import socket
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import ValidationError

from audiocapbench.errors import AudioCapBenchError
from audiocapbench.store.connect import patience
from audiocapbench.web.guard import Application

Route = Callable[[Any], Awaitable[Any]]

_PATIENCE_S = 5.0


class ServerError(AudioCapBenchError):
    """The pages cannot be served."""


def need_extra() -> None:
    """Say what to install where it is missing, before anything else is done."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise ServerError("serving pages needs: pip install 'audiocapbench[web]'") from None


def bare_app() -> Any:
    """A FastAPI application without the pages that describe it."""
    from fastapi import FastAPI

    return FastAPI(docs_url=None, redoc_url=None, openapi_url=None)


def fixed(content: str | bytes, kind: str) -> Route:
    """A route that always gives the same."""

    async def show(_request: Any) -> Any:
        from starlette.responses import Response

        return Response(content, media_type=kind)

    return show


def answered(
    work: Callable[[Any, bytes], Any], refusal: Callable[[Exception], tuple[int, dict[str, Any]]]
) -> Route:
    """A route that works in a thread, as the store may have to be waited for.

    ``work`` turns a request and its body into a document or a response, ``refusal`` an error of
    ours into a status and a document.
    """

    async def route(request: Any) -> Any:
        from anyio import to_thread
        from starlette.responses import JSONResponse, Response

        body = await request.body()

        def answer() -> Any:
            with patience(_PATIENCE_S):
                return work(request, body)

        try:
            found = await to_thread.run_sync(answer)
        except (AudioCapBenchError, ValidationError) as error:
            status, document = refusal(error)
            return JSONResponse(document, status)
        return found if isinstance(found, Response) else JSONResponse(found)

    return route


def listen(host: str, port: int) -> socket.socket:
    """Take an address, so that it is known to be free before anything is said."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        what = f"{host}:{port} cannot be used ({reason})"
        raise ServerError(f"{what}; choose --host or --port") from None


def address_of(taken: socket.socket) -> str:
    """The URL that people open; of a machine's every address, one by its name."""
    host, port = taken.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104  (compared, not bound)
        host = socket.gethostname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def settings() -> dict[str, Any]:
    """How uvicorn serves: quietly, and without believing what proxies say of clients."""
    quiet = {"log_level": "warning", "access_log": False, "lifespan": "off"}
    return quiet | {"proxy_headers": False, "server_header": False, "timeout_graceful_shutdown": 3}


def serve(app: Application, taken: socket.socket) -> None:
    """Serve until Ctrl-C."""
    import uvicorn

    uvicorn.Server(uvicorn.Config(app, **settings())).run(sockets=[taken])
