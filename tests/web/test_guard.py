"""Whatever asks of the server passes its guard: names, origins, sizes, tokens."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from needs import needs

needs("uvicorn")

from audiocapbench.web.server import ANY_ADDRESS, LARGEST_BODY, GuardedApp, hosts_of

OWN = {"Host": "localhost:8000", "X-Requested-With": "audiocapbench"}
JSON = OWN | {"Content-Type": "application/json"}


class Answered:
    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.status: int = messages[0]["status"]
        self.headers = {name.decode(): text.decode() for name, text in messages[0]["headers"]}
        self.body: bytes = messages[1]["body"]


def call(
    app: Any,
    path: str = "/",
    headers: Mapping[str, str] | None = None,
    *,
    method: str = "GET",
    parts: tuple[bytes, ...] = (b"",),
    more: tuple[tuple[str, str], ...] = (),
    breaks_off: bool = False,
) -> Answered:
    """One request, as a server would hand it over."""
    place, _, query = path.partition("?")
    given = [*(OWN if headers is None else headers).items(), *more]
    pairs = [(name.lower().encode(), value.encode("latin-1")) for name, value in given]
    scope = {"type": "http", "method": method, "path": place, "query_string": query.encode()}
    scope |= {"headers": pairs, "client": ("10.0.0.9", 1)}
    left = [
        {"type": "http.request", "body": part, "more_body": n + 1 < len(parts)}
        for n, part in enumerate(parts)
    ]
    if breaks_off:
        left[-1] = {"type": "http.disconnect"}
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return left.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return Answered(sent)


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body = (await receive())["body"] if scope["method"] == "POST" else b"read"
    start = {"type": "http.response.start", "status": 200, "headers": [(b"server", b"x")]}
    await send(start)
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def app() -> Any:
    return GuardedApp(echo, hosts_of("127.0.0.1"))


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:9999", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:8000"],
)
def test_this_machine_may_ask_by_any_port(app: Any, host: str) -> None:
    assert call(app, headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "localhost.evil.example", "evil.example:8000", "127.0.0.1.evil.example"),
        *("", "localhost@evil.example", "localhost:80:80", "192.168.1.7", "[::2]", "0x7f000001"),
        *("localhost/evil", "localhost ", "[::1", "::1", "2130706433", "lócalhost"),
    ],
)
def test_a_name_that_others_could_own_is_refused(app: Any, host: str) -> None:
    assert call(app, headers={"Host": host}).status == 400
    assert call(app, headers={}).status == 400


def test_two_hosts_are_none(app: Any) -> None:
    assert call(app, more=(("Host", "evil.example"),)).status == 400


def test_a_server_of_the_network_is_asked_for_by_numbers_or_its_own_name() -> None:
    app = GuardedApp(echo, {ANY_ADDRESS, "lab-7"})
    assert call(app, headers={"Host": "192.168.1.7:8000"}).status == 200
    assert call(app, headers={"Host": "lab-7:8000"}).status == 200
    assert call(app, headers={"Host": "evil.example"}).status == 400


def test_behind_a_proxy_it_is_asked_for_by_the_name_that_people_open() -> None:
    app = GuardedApp(echo, hosts_of("127.0.0.1", "https://rate.example.org/"))
    sent = JSON | {"Host": "rate.example.org", "Origin": "https://rate.example.org"}
    assert call(app, headers=sent, method="POST").status == 200
    assert call(app, headers=sent | {"Origin": "https://example.org"}, method="POST").status == 403
    assert call(app, headers=sent | {"Host": "evil.example.org"}).status == 400


def test_our_own_page_may_write(app: Any) -> None:
    sent = JSON | {"Origin": "http://localhost:8000", "Sec-Fetch-Site": "same-origin"}
    found = call(app, headers=sent, method="POST", parts=(b'{"a":', b"1}"))
    assert (found.status, found.body) == (200, b'{"a":1}')


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://localhost:8001"}, 403),
        ({"Origin": "http://localhost:8000.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "http://[bad"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"X-Requested-With": "XMLHttpRequest"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=application/json"}, 415),
        ({"Content-Length": "999999999999"}, 413),
        ({"Content-Length": "-1"}, 413),
        ({"Content-Length": "9" * 5000}, 413),
    ],
)
def test_a_write_from_elsewhere_is_refused(
    app: Any, change: Mapping[str, str], status: int
) -> None:
    found = call(app, headers=JSON | dict(change), method="POST")
    assert found.status == status
    assert "content-security-policy" in found.headers


def test_a_write_without_our_header_is_refused(app: Any) -> None:
    sent = {"Host": "localhost", "Content-Type": "application/json"}
    assert call(app, headers=sent, method="POST").status == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_other_methods_do_nothing(app: Any, method: str) -> None:
    found = call(app, headers=JSON, method=method)
    assert found.status == 405
    assert "access-control-allow-origin" not in found.headers


def test_a_body_that_goes_on_is_cut_off(app: Any) -> None:
    parts = (b"x" * 30_000,) * 4
    assert sum(map(len, parts)) > LARGEST_BODY
    assert call(app, headers=JSON, method="POST", parts=parts).status == 413


def test_every_answer_has_the_headers_and_names_no_server(app: Any) -> None:
    for found in (call(app), call(app, headers={"Host": "evil.example"})):
        policy = found.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["referrer-policy"] == "no-referrer"
        assert "server" not in found.headers


def test_a_websocket_is_closed(app: Any) -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app({"type": "websocket", "headers": []}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


@pytest.fixture
def closed() -> Any:
    return GuardedApp(echo, hosts_of("0.0.0.0"), "right-token")


def test_the_token_of_a_link_becomes_a_cookie_and_leaves_the_address(closed: Any) -> None:
    found = call(closed, "/a%0d%0ab?x=1&token=right-token")
    assert found.status == 303
    assert found.headers["location"] == "/a%250d%250ab?x=1"
    cookie = found.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert call(closed, headers=OWN | {"Cookie": cookie.partition(";")[0]}).status == 200
    assert call(closed, "//evil.example?token=right-token").headers["location"] == "/evil.example"


def test_without_the_token_there_is_nothing(closed: Any) -> None:
    assert call(closed).status == 401
    assert call(closed, "/?token=").status == 401
    assert call(closed, headers=OWN | {"Cookie": 'audiocapbench_token="; x'}).status == 401
    assert call(closed, headers=OWN | {"Authorization": "Bearer right-token"}).status == 200
    assert call(closed, headers=OWN | {"Authorization": "Basic right-token"}).status == 401


def test_whoever_has_the_token_gets_in_whatever_others_at_the_same_address_tried(
    closed: Any,
) -> None:
    assert {call(closed, f"/?token=wrong-{n}").status for n in range(50)} == {401}
    assert call(closed, "/?token=right-token").status == 303
    assert call(closed, headers=OWN | {"Authorization": "Bearer right-token"}).status == 200


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_breaks_off_is_no_request(app: Any, method: str) -> None:
    found = call(app, headers=JSON, method=method, parts=(b'{"a": 1}', b""), breaks_off=True)
    assert (found.status, b"broke off" in found.body) == (400, True)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_only_reads_has_no_large_body_either(app: Any, method: str) -> None:
    assert call(app, method=method, parts=(b"x" * 40_000,) * 2).status == 413


def test_whoever_still_waits_when_the_server_ends_is_told_so() -> None:
    async def ended(_scope: Any, _receive: Any, _send: Any) -> None:
        raise asyncio.CancelledError

    answer = call(GuardedApp(ended, hosts_of("localhost")))
    assert (answer.status, answer.body) == (503, b'{"error":"the server has ended"}')
