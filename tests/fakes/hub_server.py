"""A Hub of small repositories on loopback: looks them up, redirects large files, serves ranges."""

import base64
import hashlib
import io
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from fakes.faults import Plan
from fakes.http_server import HttpServer, Request, Response, json_response
from needs import needs

LARGE = 2_000
"""Files from this size on are not served by the Hub itself but by another host, as on the Hub."""


@dataclass
class Repository:
    """A dataset repository: files at one commit."""

    files: dict[str, bytes]
    card: dict[str, Any] = field(default_factory=dict)
    gated: bool = False
    listed: bool = True

    @property
    def commit(self) -> str:
        """A commit that changes with the content."""
        digest = hashlib.sha1(usedforsecurity=False)
        for path, content in sorted(self.files.items()):
            digest.update(path.encode() + b"\0" + content)
        return digest.hexdigest()


class HubServer(HttpServer):
    """Serves repositories by name; what is not there gets the errors that the Hub sends.

    Attributes:
        token: Where it is set, gated repositories open to it.
    """

    def __init__(
        self, repositories: Mapping[str, Repository], plan: Plan | None = None, token: str = ""
    ) -> None:
        super().__init__(self._answer, plan)
        self.repositories = dict(repositories)
        self.token = token

    def fetched(self, name: str = "") -> list[Request]:
        """Requests for bytes of files, of one repository or of all."""
        return [
            one
            for one in self.requests
            if "/resolve/" in one.path and one.path.startswith(f"/datasets/{name}")
        ]

    def bytes_sent(self) -> int:
        """How many bytes of files were asked for by range."""
        total = 0
        for one in self.fetched():
            first, last = _range(one)
            total += last - first + 1
        return total

    def _answer(self, request: Request) -> Response:
        path = unquote(urlsplit(request.path).path)
        if request.method == "POST":
            return self._write(request, path)
        if found := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)(?:/revision/(.+))?", path):
            return self._info(request, found[1], found[2])
        if found := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/tree/(.+)", path):
            return json_response(self._entries(self.repositories[found[1]]))
        if found := re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            return self._file(request, found[1], found[2], found[3])
        if found := re.fullmatch(r"/cdn/([^/]+/[^/]+)/(.+)", path):
            assert "authorization" not in request.headers, "the token was given to another host"
            return _ranged(request, self.repositories[found[1]].files[found[2]])
        return Response(b"", 404)

    def _info(self, _request: Request, name: str, revision: str | None) -> Response:
        repository = self.repositories.get(name)
        if repository is None:
            return _error(401, "RepoNotFound")
        if revision not in (None, "main", repository.commit):
            return _error(404, "RevisionNotFound")
        siblings = [{**one, "rfilename": one["path"]} for one in self._entries(repository)]
        return json_response(
            {
                "id": name,
                "_id": "0" * 24,
                "sha": repository.commit,
                "private": False,
                "gated": "manual" if repository.gated else False,
                "disabled": False,
                "downloads": 0,
                "likes": 0,
                "tags": [],
                "cardData": repository.card,
                "siblings": siblings,
            }
        )

    def _write(self, request: Request, path: str) -> Response:
        """Make repositories and commits, as the Hub does for who has the token."""
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return _error(401, "Unauthorized")
        if path == "/api/validate-yaml":
            return json_response({"errors": [], "warnings": []})
        if path == "/api/repos/create":
            name = f"{request.json['organization']}/{request.json['name']}"
            hidden = request.json.get("private") or request.json.get("visibility") == "private"
            assert hidden, "nothing is made public unasked"
            self.repositories.setdefault(name, Repository({}))
            return json_response({"url": f"{self.url}/datasets/{name}", "name": name})
        name = "/".join(path.split("/")[3:5])
        if "/preupload/" in path:
            files = [
                {**one, "uploadMode": "regular", "shouldIgnore": False}
                for one in request.json["files"]
            ]
            return json_response({"files": files})
        repository = self.repositories[name]
        for line in map(json.loads, request.body.splitlines()):
            if line["key"] == "file":
                value = line["value"]
                repository.files[value["path"]] = base64.b64decode(value["content"])
        url = f"{self.url}/datasets/{name}/commit/{repository.commit}"
        return json_response({"success": True, "commitOid": repository.commit, "commitUrl": url})

    def _entries(self, repository: Repository) -> list[dict[str, Any]]:
        """Its files as the Hub lists them: large ones have a SHA-256."""
        return [
            {
                "type": "file",
                "path": path,
                "size": len(content),
                "oid": "0" * 40,
                "blobId": "0" * 40,
            }
            | ({"lfs": _large(content)} if len(content) >= LARGE else {})
            for path, content in repository.files.items()
        ]

    def _file(self, request: Request, name: str, revision: str, path: str) -> Response:
        repository = self.repositories.get(name)
        if repository is None:
            return _error(401, "RepoNotFound")
        if repository.gated and request.headers.get("authorization") != f"Bearer {self.token}":
            return _error(403, "GatedRepo")
        if revision != repository.commit:
            return _error(404, "RevisionNotFound")
        content = repository.files.get(path)
        if content is None or not repository.listed:
            return _error(404, "EntryNotFound")
        if len(content) >= LARGE:
            elsewhere = self.url.replace("127.0.0.1", "localhost")
            linked = {"X-Linked-Size": str(len(content)), "X-Linked-Etag": _large(content)["oid"]}
            place = {"Location": f"{elsewhere}/cdn/{name}/{path}", "X-Repo-Commit": revision}
            return Response(b"", 302, {**place, **linked})
        known = {"X-Repo-Commit": revision, "ETag": _large(content)["oid"][:40]}
        reply = _ranged(request, content)
        return Response(reply.body, reply.status, {**reply.headers, **known})


def _error(status: int, code: str) -> Response:
    response = json_response({"error": code}, status)
    return Response(response.body, status, {**response.headers, "X-Error-Code": code})


def _range(request: Request) -> tuple[int, int]:
    """The first and the last byte that are asked for."""
    first, _, last = request.headers["range"].removeprefix("bytes=").partition("-")
    return int(first), int(last) if last else sys.maxsize


def _large(content: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    return {"oid": digest, "sha256": digest, "size": len(content), "pointerSize": 100}


def _ranged(request: Request, content: bytes) -> Response:
    if "range" not in request.headers:
        return Response(content, 200, {"Content-Type": "application/octet-stream"})
    first, last = _range(request)
    if first >= len(content) or last < first:
        return Response(b"", 416)
    part = content[first : last + 1]
    span = f"bytes {first}-{first + len(part) - 1}/{len(content)}"
    kind = {"Content-Type": "application/octet-stream", "Content-Range": span}
    return Response(part, 206, kind)


def parquet(rows: Sequence[Mapping[str, Any]], group: int = 100, audio: str = "audio") -> bytes:
    """A table as ``datasets`` writes it: audio is a struct of its bytes and a path."""
    needs("pyarrow")
    import pyarrow as pa
    from pyarrow import parquet as pq

    struct = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if name == audio and isinstance(values[0], bytes):
            cells = [{"bytes": value, "path": "clip.bin"} for value in values]
            columns[name] = pa.array(cells, struct)
        else:
            columns[name] = pa.array(values)
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, row_group_size=group)
    return buffer.getvalue()
