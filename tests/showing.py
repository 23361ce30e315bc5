"""A store that is shown by ``view``, by a server in a thread of the test."""

import contextlib
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from audiocapbench.store import Store
from needs import needs


class Shown(NamedTuple):
    """Where a store is shown."""

    address: str

    def ask(self, what: str, **values: Any) -> tuple[int, Any]:
        """The status and the document of a request."""
        url = f"{self.address}/api/{what}?{urlencode(values)}"
        try:
            with urllib.request.urlopen(url, timeout=120) as reply:
                content = reply.read()
                kind = reply.headers["content-type"]
                return reply.status, json.loads(content) if "json" in kind else content
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def board(self) -> dict[str, Any]:
        """The board when all of it is computed."""
        deadline = time.monotonic() + 120
        while True:
            status, told = self.ask("board")
            assert status == 200, told
            if not told["partial"]:
                found: dict[str, Any] = told
                return found
            assert time.monotonic() < deadline
            time.sleep(0.05)


@contextlib.contextmanager
def showing(store: Store, runs: Sequence[int] = (), token: str | None = None) -> Iterator[Shown]:
    """A server until the block ends."""
    needs("uvicorn")
    import uvicorn

    from audiocapbench.web.app import Boards, LiveFeed, make_app
    from audiocapbench.web.server import GuardedApp, address_of, hosts_of, listen, settings

    with listen("127.0.0.1", 0) as taken:
        app = make_app(Boards(store, runs), LiveFeed(store))
        own = GuardedApp(app, hosts_of("127.0.0.1"), token)
        server = uvicorn.Server(uvicorn.Config(own, **settings()))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
        thread.start()
        try:
            yield Shown(address_of(taken))
        finally:
            server.should_exit = True
            thread.join(120)
