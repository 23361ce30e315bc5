"""The server behind ``view``: an application without anything of its own, and how it is served."""

import socket
from typing import Any

from audiocapbench.errors import AudioCapBenchError
from audiocapbench.web.guard import Application


class ServerError(AudioCapBenchError):
    """The pages cannot be served."""


def need_extra() -> None:
    """Say what to install where it is missing, before anything else is done.

    Raises:
        ServerError: The extra is not installed.
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise ServerError("serving pages needs: pip install 'audiocapbench[web]'") from None


def bare_app() -> Any:
    """A FastAPI application without the pages that describe it."""
    from fastapi import FastAPI

    return FastAPI(docs_url=None, redoc_url=None, openapi_url=None)


def listen(host: str, port: int) -> socket.socket:
    """Take an address, so that it is known to be free before anything is said.

    Raises:
        ServerError: It cannot be had.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ServerError(
            f"{host}:{port} cannot be used ({reason}); choose --host or --port"
        ) from None


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
