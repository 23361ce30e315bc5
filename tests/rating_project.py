"""A rating project as people have it: files, a server of its own process, and who talks to it."""

import csv
import http.client
import json
import re
import secrets
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from audiocapbench.store import Store
from folders import write_tone
from forks import Forked
from made_store import MadeRun, made_samples, put_run
from needs import needs

ORIGINS = ("zeta-model", "yotta-model")
"""Names that no rater may ever see."""

KIND_ROWS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "pairs": (
        ["id", "audio", "caption_a", "caption_b", "type", "source_a", "source_b", "gold"],
        ["{id}", "{n}.wav", "first of {n}", "second of {n}", "HM_1", *ORIGINS, "{gold:a}"],
    ),
    "judge": (
        ["id", "audio", "caption", "model", "group", "gold"],
        ["{id}", "{n}.wav", "words on {n}", ORIGINS[0], "tones", "{gold:accuracy 8-10}"],
    ),
    "rel": (
        ["id", "audio", "caption", "model", "group", "gold"],
        ["{id}", "{n}.wav", "words on {n}", ORIGINS[0], "tones", "{gold:4-5}"],
    ),
    "pick": (
        ["id", "audio", "caption_1", "caption_2", "caption_3", "caption_4", "answer", "gold"],
        ["{id}", "{n}.wav", "one {n}", "two {n}", "three {n}", "four {n}", "2", "{gold:2}"],
    ),
}
ANSWERS: Mapping[str, dict[str, Any]] = {
    "pairs": {"choice": 1, "confidence": 2},
    "judge": {"accuracy": 7, "completeness": 5, "hallucination": 10},
    "rel": {"rel": 4},
    "pick": {"choice": 3, "confidence": 3},
}


def write_project(
    place: Path,
    kind: str = "pairs",
    *,
    count: int = 4,
    gold: int = 0,
    seconds: float = 0.25,
    **settings: Any,
) -> Path:
    """Tones, a table about them, the last rows of it gold questions, and the project's file."""
    for n in range(count + gold):
        write_tone(place / "tones" / f"{n}.wav", 200.0 + 50 * n, seconds)
    head, row = KIND_ROWS[kind]
    with (place / "items.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(head)
        for n in range(count + gold):
            cells = []
            for cell in row:
                marked = re.fullmatch(r"\{gold:(.*)\}", cell)
                text = marked[1] * (n >= count) if marked else cell.format(n=n, id=f"secret-{n}")
                cells.append(text)
            table.writerow(cells)
    wanted: dict[str, Any] = {"name": "trial", "kind": kind, "people": ["ana", "ben"], "each": 2}
    wanted |= {"items": "items.csv", "audio": "tones", "listen": 0} | settings
    lines = [f"{name} = {json.dumps(value)}" for name, value in wanted.items()]
    (place / "project.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place / "project.toml"


SAMPLES = made_samples(6)
MODELS = ("zeta-model", "yotta-model", "xi-model")
EVIL = "<script>alert(1)</script> \x1b[2J"


def write_arena(place: Path, models: tuple[str, ...] = MODELS, **settings: Any) -> Path:
    for number in range(len(SAMPLES)):
        write_tone(place / "tones" / f"clip{number:04}.wav", 200.0 + 50 * number, 0.2)
    with Store.open(str(place / "audiocapbench.db")) as store:
        for model in models:
            add_model(store, model)
    wanted: dict[str, Any] = {
        "name": "trial",
        "kind": "pairs",
        "people": ["ana", "ben"],
        "benchmark": "made",
    }
    wanted |= {"audio": "tones", "listen": 0, "confidence": False} | settings
    lines = [f"{name} = {json.dumps(value)}" for name, value in wanted.items() if value is not None]
    (place / "arena.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place / "arena.toml"


def add_model(store: Store, model: str) -> int:
    """A run whose captions tell its model only to who knows the code."""
    texts = {one.id: f"{said(model)} caption of {one.id} {EVIL}" for one in SAMPLES}
    scores = {one.id: 0.9 if model == MODELS[0] else 0.1 for one in SAMPLES}
    return put_run(store, MadeRun(model, {"rouge_l": scores}, texts=texts), SAMPLES).id


def said(model: str) -> str:
    return f"{sum(map(ord, model))}"


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        return json.loads(self.body)


@dataclass
class RatingServer:
    """A server that runs, its address, and the tokens that it has printed so far."""

    address: str
    tokens: dict[str, str]
    process: Forked | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def ask(
        self,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        method: str | None = None,
        **headers: str,
    ) -> Reply:
        """One request; JSON where there is a body, bytes as they are."""
        place = urlsplit(self.address)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=120)
        sent = {"X-Requested-With": "audiocapbench", "Content-Type": "application/json"}
        sent |= {"Authorization": f"Bearer {token}"} if token is not None else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in sent.items() if value}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        method = method or ("GET" if body is None else "POST")
        try:
            connection.request(method, path, data, sent)
            found = connection.getresponse()
            named = {name.lower(): value for name, value in found.getheaders()}
            return Reply(found.status, named, found.read())
        finally:
            connection.close()


@dataclass
class Rater:
    """A person at a page, without a browser."""

    server: RatingServer
    name: str
    everything: list[bytes] = field(default_factory=list)

    def ask(self, name: str, body: Any = None) -> Reply:
        path = f"/rate/api/{name}"
        reply = self.server.ask(path, body, token=self.server.tokens[self.name])
        self.everything += [reply.body, json.dumps(reply.headers).encode()]
        return reply

    def next(self) -> Any:
        reply = self.ask("next", {})
        assert reply.status == 200, reply.body
        return reply.said

    def save(self, item: Any, answer: Mapping[str, Any], **more: Any) -> Reply:
        key = secrets.token_hex(16)
        sent = {"item": item["token"], "key": key, "answer": answer, "played_s": 99.0}
        return self.ask("save", sent | more)

    def rate_all(self, answer: Mapping[str, Any]) -> int:
        """Rate until there is nothing left; how many were rated."""
        done = 0
        while (found := self.next())["state"] == "item":
            assert self.ask(f"audio/{found['item']['token']}").status == 200
            reply = self.save(found["item"], answer)
            assert reply.status == 200, reply.body
            done += 1
        return done


def read_links(lines: Iterable[str]) -> dict[str, str]:
    """The tokens of links as a command prints them, by person."""
    found = (re.match(r"(\S+) +http\S+?/rate/(?:admin)?#(\S+)$", line) for line in lines)
    return {"" if one[1] == "(admin)" else one[1]: one[2] for one in found if one}


def start(project: Path, *more: str, how: str = "--rate") -> RatingServer:
    """Start a server as a process of its own on a free port, and wait until it is open."""
    told = ("-m", "audiocapbench", "view", how, str(project), "--port", "0", *more)
    both = subprocess.STDOUT
    process = Forked(*told, cwd=project.parent, stdout=subprocess.PIPE, stderr=both)
    lines = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if found := re.search(r" is open at (http\S+)/rate/;", line):
            return RatingServer(found[1], read_links(lines), process)
    raise AssertionError("".join(lines))


@contextmanager
def process_serving(project: Path, *more: str) -> Iterator[RatingServer]:
    """A server of its own process until the block ends."""
    server = start(project, *more)
    try:
        yield server
    finally:
        stop(server)


def stop(server: RatingServer) -> str:
    """End a server's process; what it said last."""
    assert server.process is not None
    server.process.terminate()
    return server.process.communicate(timeout=120)[0]


@contextmanager
def serving(path: Path, *, arena: bool = False) -> Iterator[RatingServer]:
    """A server in a thread of this process until the block ends: the same, but at once there."""
    needs("uvicorn")
    import uvicorn

    from audiocapbench.store import Store
    from audiocapbench.web.rating.arena import ArenaDesk
    from audiocapbench.web.rating.project import read_arena, read_project
    from audiocapbench.web.rating.routes import RatingDesk, rating_app
    from audiocapbench.web.server import GuardedApp, address_of, hosts_of, listen, settings

    with (
        Store.open(str(path.parent / "audiocapbench.db")) as store,
        listen("127.0.0.1", 0) as taken,
    ):
        desk = (
            ArenaDesk(read_arena(path), store) if arena else RatingDesk(read_project(path), store)
        )
        app = GuardedApp(rating_app(desk), hosts_of("127.0.0.1"))
        server = uvicorn.Server(uvicorn.Config(app, **settings()))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
        thread.start()
        try:
            yield RatingServer(address_of(taken), desk.invited)
        finally:
            server.should_exit = True
            thread.join(120)
