"""People rate captions: blind, in an order of their own, and nothing is lost or counted twice."""

import concurrent.futures
import csv
import io
import itertools
import json
import os
import resource
import secrets
import signal
import socket
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from needs import needs

needs("uvicorn")

from audiocapbench.store import Store
from command import run_command
from folders import write_folder
from locking import locked
from rating_project import (
    ANSWERS,
    ORIGINS,
    Rater,
    RatingServer,
    process_serving,
    serving,
    start,
    write_project,
)

KINDS = ("pairs", "judge", "rel", "pick")


def rated(place: Path, name: str = "trial") -> list[tuple[str, str]]:
    with Store.open(str(place / "audiocapbench.db"), create=False) as store:
        return [(one.person, one.item) for one in store.ratings.of(name)]


def exported(place: Path, *more: str) -> list[dict[str, str]]:
    done = run_command("ratings", "export", "trial", *more, cwd=place)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.mark.parametrize("kind", KINDS)
def test_everything_is_rated_by_as_many_people_and_nothing_tells_its_origin(
    tmp_path: Path, kind: str
) -> None:
    with serving(write_project(tmp_path, kind, count=4, gold=2)) as server:
        raters = [Rater(server, "ana"), Rater(server, "ben")]
        assert [one.rate_all(ANSWERS[kind]) for one in raters] == [6, 6]
        assert [one.next()["state"] for one in raters] == ["done", "done"]
        told = server.ask("/rate/api/progress", token=server.tokens[""]).said
        seen = b"".join(part for one in raters for part in one.everything)
    for origin in (*ORIGINS, "secret-", ".wav", "HM_1", "tones", "gold", "items.csv"):
        assert origin.encode() not in seen, f"{origin} reached the page"
    assert told["so_far"] == "8 of 8 ratings; 4 of 4 items done"
    assert [row[:3] for row in told["tables"][-1]["rows"]] == [["ana", "4", "2"], ["ben", "4", "2"]]
    assert Counter(rated(tmp_path)) == {
        (name, f"secret-{n}"): 1 for name in ("ana", "ben") for n in range(6)
    }
    rows, dimensions = exported(tmp_path), 3 if kind == "judge" else 1
    assert len(rows) == 8 * dimensions
    assert len(exported(tmp_path, "--gold")) == 12 * dimensions
    assert {row["person"] for row in rows} == {"ana", "ben"}
    if kind in ("judge", "rel"):
        assert {row["model"] for row in rows} == {ORIGINS[0]}


def test_sides_are_the_persons_own_and_votes_are_about_the_captions(tmp_path: Path) -> None:
    shown: dict[str, list[list[str]]] = {"ana": [], "ben": []}
    with serving(write_project(tmp_path, count=12)) as server:
        for name, own in shown.items():
            rater = Rater(server, name)
            while (found := rater.next())["state"] == "item":
                texts = found["item"]["captions"]
                own.append(texts)
                side = 1 if texts[0].startswith("first") else 2
                assert rater.save(found["item"], {"choice": side, "confidence": 1}).status == 200
    firsts = {name: [texts[0].split()[0] for texts in own] for name, own in shown.items()}
    assert all(set(own) == {"first", "second"} for own in firsts.values())
    orders = {name: [texts[0].split()[-1] for texts in own] for name, own in shown.items()}
    assert orders["ana"] != orders["ben"]
    assert orders["ana"] != sorted(orders["ana"], key=int)
    assert {row["value"] for row in exported(tmp_path)} == {"a"}


def test_votes_go_straight_into_a_trial(tmp_path: Path) -> None:
    project, table = write_project(tmp_path, count=4, gold=1), tmp_path / "items.csv"
    head, *lines = table.read_text(encoding="utf-8").splitlines()
    filtered = [f"{head},filter", *(f"{line},metric:rouge_l" for line in lines)]
    table.write_text("\n".join(filtered) + "\n", encoding="utf-8")
    with serving(project) as server:
        for name, choice in (("ana", 1), ("ben", "bad")):
            Rater(server, name).rate_all({"choice": choice, "confidence": 1})
    run_command("ratings", "export", "trial", "--form", "votes", "--out", "v.csv", cwd=tmp_path)
    rows = list(csv.DictReader((tmp_path / "v.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["preferred"] for row in rows] == ["", "", "", "", "a"]
    assert {row["vote_2"] for row in rows[:4]} == {"tie"}
    words = ["meta", "csv", "--pairs", "v.csv", "--scorer", "control:longer", "--json"]
    done = run_command(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n"] == 4  # the gold pair has an answer that was set, no votes
    words[5] = "metric:rouge_l"
    assert "cannot be tried on them" in run_command(*words, cwd=tmp_path).stderr
    words = ["meta", "build", "--votes", "v.csv", "--out", "kept.csv", "--least-votes", "1"]
    assert run_command(*words, cwd=tmp_path).returncode == 0
    by_file, by_project = (
        run_command("meta", "wins", name, "--json", cwd=tmp_path) for name in ("v.csv", "trial")
    )
    # The project also knows who wrote the captions, and who voted.
    told = json.loads(by_project.stdout)
    assert told | json.loads(by_file.stdout) == told, by_project.stderr
    assert {told["models"][0]["model"], told["models"][0]["to"]} == set(ORIGINS)
    assert told["n"] == 4


def test_fits_go_straight_into_the_test_of_ratings(tmp_path: Path) -> None:
    with serving(write_project(tmp_path, "rel", count=6)) as server:
        for name in ("ana", "ben"):
            Rater(server, name).rate_all({"rel": 4})
    run_command("ratings", "export", "trial", "--out", "r.csv", cwd=tmp_path)
    done = run_command("meta", "ratings", "r.csv", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["groups"][0]["n"] == 6, done.stderr
    assert run_command("meta", "ratings", "trial", "--json", cwd=tmp_path).stdout == done.stdout
    unknown = run_command("meta", "ratings", "trail", cwd=tmp_path)
    assert (unknown.returncode, "did you mean 'trial'" in unknown.stderr) == (2, True)
    wins = run_command("meta", "wins", "trial", cwd=tmp_path)
    assert (wins.returncode, "only pairs have votes" in wins.stderr) == (2, True), wins.stderr


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two runs about five tones."""
    place = tmp_path_factory.mktemp("ran")
    write_folder(place / "tones", 5)
    words = ["run", "tones", "--model", "control/right", "--model", "control/wrong"]
    done = run_command(*words, "--metrics", "meteor", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.parametrize(
    ("kind", "run", "items"),
    [
        *(("judge", [1, 2], 10), ("rel", "control/right", 5)),
        *(("pairs", [1, 2], 5), ("pick", 1, 5)),
    ],
)
def test_answers_of_runs_are_rated(ran: Path, kind: str, run: Any, items: int) -> None:
    wanted = {"name": kind, "kind": kind, "people": ["ana"], "run": run, "listen": 0}
    lines = [f"{name} = {json.dumps(value)}" for name, value in wanted.items()]
    (ran / "project.toml").write_text("\n".join(lines), encoding="utf-8")
    with serving(ran / "project.toml") as server:
        rater = Rater(server, "ana")
        assert rater.rate_all(ANSWERS[kind]) == items
        seen = b"".join(rater.everything)
    assert b"control/" not in seen
    assert b"tone_" not in seen
    done = run_command("ratings", "export", kind, "--out", f"{kind}.csv", cwd=ran)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((ran / f"{kind}.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["item"] for row in rows} == {f"tone_{n}" for n in range(5)}
    if kind == "judge":
        words = ["judges", "calibrate", "1", "2", "--metric", "meteor", "--json", "--ratings"]
        by_file, by_project = (run_command(*words, one, cwd=ran) for one in ("judge.csv", "judge"))
        assert by_project.returncode == 0, by_project.stderr
        assert json.loads(by_project.stdout)["models"] == json.loads(by_file.stdout)["models"]
    if kind == "pick":
        with Store.open(str(ran / "audiocapbench.db")) as store:
            asked, answers = store.ratings.items("pick"), store.outcomes(1)
        for row in rows:
            number = asked[row["question"]]["right"]
            own = asked[row["question"]]["captions"][int(number) - 1]
            assert own == answers[row["item"]].reply.text
            assert row["right"] == str(int(row["value"] == number))


def test_answers_that_were_chosen_are_rated_and_no_others(ran: Path) -> None:
    words = ["judges", "calibrate", "1", "2", "--metric", "meteor"]
    done = run_command(*words, "--next", "3", "--out", "next.csv", cwd=ran)
    assert done.returncode == 0, done.stderr
    lines = ['name = "chosen"', 'kind = "judge"', 'people = ["ana"]', "run = [1, 2]", "listen = 0"]
    project = ran / "chosen.toml"
    project.write_text("\n".join([*lines, 'chosen = "next.csv"']), encoding="utf-8")
    with serving(project) as server:
        assert Rater(server, "ana").rate_all(ANSWERS["judge"]) == 6
    run_command("ratings", "export", "chosen", "--out", "chosen.csv", cwd=ran)
    rows = list(csv.DictReader((ran / "chosen.csv").read_text(encoding="utf-8").splitlines()))
    written = list(csv.DictReader((ran / "next.csv").read_text(encoding="utf-8").splitlines()))
    assert {(one["run"], one["item"], one["chosen"]) for one in rows} == {
        (one["run"], one["item"], one["chosen"]) for one in written
    }
    for ratings in ("chosen", "chosen.csv"):
        again = run_command(*words, "--ratings", ratings, cwd=ran)
        assert again.returncode == 0, again.stderr
    (ran / "next.csv").write_text("item,run,value,chosen\ntone_9,1,,x\n", encoding="utf-8")
    wrong = run_command("view", "--rate", "chosen.toml", cwd=ran)
    assert (wrong.returncode, "the runs have no answer 1/tone_9" in wrong.stderr) == (2, True)


def test_what_two_runs_say_of_a_clip_is_rated_apart(tmp_path: Path) -> None:
    rows = [f"{run},tone_{n},{value}" for run, value in ((1, 2), (2, 4)) for n in range(5)]
    (tmp_path / "r.csv").write_text("\n".join(["run,item,value", *rows]), encoding="utf-8")
    done = run_command("meta", "ratings", "r.csv", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["groups"][0]["n"] == 10


def test_five_people_at_once_rate_each_item_three_times(tmp_path: Path) -> None:
    people = ["ana", "ben", "caro", "dan", "eve"]
    project = write_project(tmp_path, "rel", count=20, gold=2, people=people, each=3)
    with serving(project) as server, concurrent.futures.ThreadPoolExecutor(5) as pool:
        done = list(pool.map(lambda name: Rater(server, name).rate_all({"rel": 3}), people))
        told = server.ask("/rate/api/progress", token=server.tokens[""]).said
    counts = Counter(item for _, item in rated(tmp_path))
    assert sum(done) == 3 * 20 + 5 * 2
    assert {counts[f"secret-{n}"] for n in range(20)} == {3}
    assert {counts[f"secret-{n}"] for n in range(20, 22)} == {5}
    assert told["so_far"] == "60 of 60 ratings; 20 of 20 items done"
    assert told["tables"][-2]["rows"][0][-1] == "20", "items that several rated"


def test_the_same_answer_sent_twice_counts_once_and_two_tabs_make_one_rating(
    tmp_path: Path,
) -> None:
    with serving(write_project(tmp_path, "rel")) as server:
        ana = Rater(server, "ana")
        first, second = ana.next()["item"], ana.next()["item"]
        assert first == second, "another tab goes on with the same item"
        key = secrets.token_hex(16)
        saved = [ana.save(first, {"rel": 4}, key=key) for _ in range(3)]
        assert [one.said["receipt"] for one in saved] == ["kept", "known", "known"]
        assert ana.save(second, {"rel": 1}).status == 409
        other = ana.next()["item"]
        assert ana.save(other, {"rel": 1}, key=key).status == 409, "a key is for one item"
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda n: ana.save(other, {"rel": n % 5 + 1}).status, range(8)))
    assert sorted(found) == [200] + [409] * 7
    assert len(rated(tmp_path)) == 2
    assert {row["value"] for row in exported(tmp_path)} >= {"4"}


def test_an_answer_can_be_taken_back_and_a_late_repetition_changes_nothing(tmp_path: Path) -> None:
    with serving(write_project(tmp_path, "rel")) as server:
        ana = Rater(server, "ana")
        assert ana.ask("back", {}).said == {"last": None}
        items = []
        for value in (1, 2):
            items.append(ana.next()["item"])
            assert ana.save(items[-1], {"rel": value}).status == 200
        last = ana.ask("back", {}).said["last"]
        assert (last["item"], last["answer"]) == (items[1], {"rel": 2})
        before = ana.ask("back", {"before": items[1]["token"]}).said["last"]
        assert (before["item"], before["answer"]) == (items[0], {"rel": 1})
        changed = {"replaces": before["key"], "played_s": 0.0}
        assert ana.save(items[0], {"rel": 5}, **changed).status == 200
        assert ana.save(items[0], {"rel": 1}, key=before["key"]).status == 409
        assert ana.save(items[0], {"rel": 3}, **changed).status == 409
    assert sorted(row["value"] for row in exported(tmp_path)) == ["2", "5"]
    with sqlite3.connect(tmp_path / "audiocapbench.db") as plain:
        kept = plain.execute("SELECT earlier FROM ratings ORDER BY rated_at LIMIT 1").fetchone()
    assert json.loads(kept[0])[0]["answer"] == {"rel": 1}


def test_nobody_rates_what_was_not_heard(tmp_path: Path) -> None:
    with serving(write_project(tmp_path, "rel", listen=1.0)) as server:
        ana = Rater(server, "ana")
        item = ana.next()["item"]
        assert item["listen_s"] == 0.25
        assert ana.save(item, {"rel": 3}).said["why"] == "unheard", "the clip was never fetched"
        ana.ask(f"audio/{item['token']}")
        # The tone is shorter than what is forgiven: only what the page says can be too little.
        assert ana.save(item, {"rel": 3}).status == 200
    long = write_project(tmp_path / "long", "rel", listen=1.0, seconds=30.0)
    with serving(long) as server:
        ana = Rater(server, "ana")
        item = ana.next()["item"]
        ana.ask(f"audio/{item['token']}")
        assert ana.save(item, {"rel": 3}, played_s=3.0).said["why"] == "unheard"
        assert ana.save(item, {"rel": 3}).said["why"] == "unheard", "not in so short a time"


def test_what_a_person_leaves_lying_goes_to_another_when_its_time_is_up(tmp_path: Path) -> None:
    lease_s = 0.6
    project = write_project(tmp_path, "rel", count=1, each=1, claim_minutes=lease_s / 60)
    with serving(project) as server:
        ana, ben = Rater(server, "ana"), Rater(server, "ben")
        item = ana.next()["item"]
        assert ben.next()["state"] == "wait"
        while (found := ben.next())["state"] == "wait":
            pass
        assert found["item"]["captions"] == item["captions"]
        assert found["item"]["token"] != item["token"], "tokens tell people nothing of each other"
        assert ben.save(found["item"], {"rel": 2}).status == 200
        assert ana.save(item, {"rel": 4}).status == 200, "what was rated late is not lost"
        assert ana.next()["state"] == "done"
    assert len(rated(tmp_path)) == 2


@pytest.mark.slow
def test_a_killed_server_has_what_it_said_it_has(tmp_path: Path) -> None:
    project = write_project(tmp_path, "rel", count=30, each=1)
    server = start(project)
    assert server.process is not None
    said: list[str] = []

    def rate(name: str) -> None:
        rater = Rater(server, name)
        try:
            while (found := rater.next())["state"] == "item":
                key = secrets.token_hex(16)
                if rater.save(found["item"], {"rel": 3}, key=key).status == 200:
                    said.append(key)
                    if len(said) == 8:
                        os.kill(server.pid, signal.SIGKILL)
        except (OSError, HTTPException):  # it may die with half an answer sent
            pass

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(rate, ("ana", "ben")))
    server.process.communicate(timeout=120)
    assert server.process.returncode == -signal.SIGKILL
    with Store.open(str(tmp_path / "audiocapbench.db")) as store:
        there = {one.key for one in store.ratings.of("trial")}
    assert set(said) <= there
    assert len(there) <= len(said) + 2, "at most what was on its way is there besides"
    tokens = server.tokens
    with process_serving(project) as again:
        assert again.tokens == {}, "links are shown once"
        again.tokens.update(tokens)
        Rater(again, "ana").rate_all({"rel": 3})
        Rater(again, "ben").rate_all({"rel": 3})
    assert len(rated(tmp_path)) == 30


@pytest.mark.slow
def test_a_locked_store_is_waited_for_and_then_said_to_be_busy(tmp_path: Path) -> None:
    with serving(write_project(tmp_path, "rel")) as server:
        ana = Rater(server, "ana")
        item, key = ana.next()["item"], secrets.token_hex(16)
        with locked(tmp_path / "audiocapbench.db"):
            found = ana.save(item, {"rel": 3}, key=key)
            assert (found.status, found.said["again"]) == (503, True)
            assert "audiocapbench.db" not in found.body.decode()
        assert ana.save(item, {"rel": 3}, key=key).status == 200
    assert len(rated(tmp_path)) == 1


@pytest.mark.slow
def test_a_full_disk_keeps_nothing_by_halves(tmp_path: Path) -> None:
    with process_serving(write_project(tmp_path, "rel")) as server:
        ana = Rater(server, "ana")
        item, key = ana.next()["item"], secrets.token_hex(16)
        pid = server.pid
        before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, before[1]))
        found = ana.save(item, {"rel": 3}, key=key)
        assert (found.status, found.said["again"]) == (503, True), found.body
        assert rated(tmp_path) == []
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
        assert ana.save(item, {"rel": 3}, key=key).status == 200
    assert len(rated(tmp_path)) == 1


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RatingServer]:
    with serving(write_project(tmp_path_factory.mktemp("attacked"), "rel")) as server:
        yield server


@pytest.mark.parametrize(
    "path",
    [
        *("/rate/../pyproject.toml", "/rate/%2e%2e/%2e%2e/etc/passwd", "/rate/..%2fitems.csv"),
        *("/rate/items.csv", "/rate/project.toml", "/rate//etc/passwd", "/rate/rate.js/../x"),
        *("/docs", "/openapi.json", "/rate/api", "/rate/api/audio/", "/rate/audiocapbench.db"),
    ],
)
def test_no_address_leads_to_the_disk(attacked: RatingServer, path: str) -> None:
    assert attacked.ask(path, token=attacked.tokens["ana"]).status in (404, 307)


@pytest.mark.parametrize(
    "name",
    ["0.wav", "..%2f..%2fitems.csv", "secret-0", "%00", "a" * 32, "0" * 32, "..", "row%201"],
)
def test_clips_are_had_by_tokens_alone(attacked: RatingServer, name: str) -> None:
    path = f"/rate/api/audio/{name}"
    assert attacked.ask(path, token=attacked.tokens["ana"]).status in (404, 422)


def test_a_persons_items_are_nobody_elses(attacked: RatingServer) -> None:
    ana, ben = Rater(attacked, "ana"), Rater(attacked, "ben")
    item = ana.next()["item"]
    assert ben.ask(f"audio/{item['token']}").status == 422
    assert ben.save(item, {"rel": 3}).status == 422
    assert ana.ask("progress").status == 403
    assert ana.ask("export").status == 403
    assert attacked.ask("/rate/api/next", {}, token=attacked.tokens[""]).status == 403


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 60_000),
        *({}, {"item": 1}, {"item": "0" * 32, "key": "k", "answer": {}, "played_s": 1}),
    ],
)
def test_what_is_no_request_is_refused(attacked: RatingServer, body: Any) -> None:
    found = attacked.ask("/rate/api/save", body, token=attacked.tokens["ana"])
    assert found.status == 422
    assert set(found.said) == {"error"}


@pytest.mark.parametrize(
    "answer",
    [
        *({}, {"rel": 0}, {"rel": 6}, {"rel": "3"}, {"rel": True}, {"rel": 3.5}, {"rel": None}),
        *({"rel": 3, "more": 1}, {"choice": 1}, {"rel": [3]}, {"rel": 10**30}, [3], "3"),
    ],
)
def test_what_is_no_answer_is_refused(attacked: RatingServer, answer: Any) -> None:
    ana = Rater(attacked, "ana")
    item = ana.next()["item"]
    assert ana.save(item, answer).status == 422
    assert ana.next()["done"] == 0


@pytest.mark.parametrize(
    "more",
    [
        {"key": "short"},
        {"key": "x" * 65},
        {"key": "k" * 15 + "\0"},
        {"played_s": -1},
        {"played_s": 1e300},
        {"played_s": "all"},
        {"replaces": 3},
        {"person": "ben"},
    ],
)
def test_what_surrounds_an_answer_is_checked_too(
    attacked: RatingServer, more: dict[str, Any]
) -> None:
    ana = Rater(attacked, "ana")
    assert ana.save(ana.next()["item"], {"rel": 3}, **more).status == 422


def test_a_strange_site_cannot_write(attacked: RatingServer) -> None:
    token = attacked.tokens["ana"]
    path = "/rate/api/next"
    body: dict[str, str] = {}
    assert attacked.ask(path, body, token=token).status == 200
    assert attacked.ask(path, body, token=token, Origin="http://evil.example").status == 403
    assert attacked.ask(path, body, token=token, X_Requested_With="").status == 403
    assert attacked.ask(path, body, token=token, Content_Type="text/plain").status == 415
    assert attacked.ask(path, body, token=token, Host="evil.example").status == 400
    assert attacked.ask(path, b"x" * 70_000, token=token).status == 413
    assert attacked.ask(path, token=token).status == 405


def test_whoever_was_invited_gets_in_whatever_others_at_the_same_address_tried(
    tmp_path: Path,
) -> None:
    with serving(write_project(tmp_path, "rel")) as server:
        path, ana = "/rate/api/next", server.tokens["ana"]
        assert server.ask(path, {}).status == 401
        for forged in ({}, {"X_Forwarded_For": "10.1.2.3"}):
            tried = {server.ask(path, {}, token=f"guess-{n}", **forged).status for n in range(15)}
            assert tried == {401}
            assert server.ask(path, {}, token=ana, **forged).status == 200
        assert server.ask(path, {}, token=server.tokens["ben"]).status == 200
        assert min(map(len, server.tokens.values())) >= 24, "144 bits are not guessed"
    with sqlite3.connect(tmp_path / "audiocapbench.db") as plain:
        kept = "\n".join(plain.iterdump())
    assert not [one for one in server.tokens.values() if one in kept]


HALF_SENT = {
    "nothing": "",
    "headers": "GET /rate/ HTTP/1.1\r\nHost: localhost\r\nX: ",
    "a body that is not for reading": "GET /rate/api/progress HTTP/1.1\r\nHost: localhost\r\n"
    "Content-Length: 100\r\n\r\n{",
    "a body": "POST /rate/api/next HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
    "Content-Type: application/json\r\nX-Requested-With: audiocapbench\r\n\r\n{",
    "a body after its answer": "POST / HTTP/1.1\r\nHost: other\r\nContent-Length: 100\r\n\r\n{",
    "the next headers": "GET /rate/rate.css HTTP/1.1\r\nHost: localhost\r\n\r\nGET /rate/ HT",
}


def half_sent(server: RatingServer, which: str) -> socket.socket:
    place = urlsplit(server.address)
    found = socket.create_connection((place.hostname, place.port), timeout=120)
    found.sendall(HALF_SENT[which].encode())
    return found


def is_ended(connection: socket.socket) -> bool:
    """Wait until the server has ended a connection, whatever it said before."""
    with connection, suppress(ConnectionResetError):
        while connection.recv(1 << 16):
            pass
    return True


@pytest.mark.parametrize("which", HALF_SENT)
def test_a_request_has_its_time(
    attacked: RatingServer, which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audiocapbench.web.server._REQUEST_S", 0.2)
    assert is_ended(half_sent(attacked, which))


def test_half_sent_requests_make_room_for_those_that_come_whole(attacked: RatingServer) -> None:
    kinds = itertools.cycle(HALF_SENT)
    waiting = [half_sent(attacked, next(kinds)) for _ in range(200)]
    assert attacked.ask("/rate/").status == 200
    assert Rater(attacked, "ana").next()["state"] == "item"
    assert all(map(is_ended, waiting[:100])), "those that waited longest"
    for one in waiting[100:]:
        one.close()


def test_a_new_link_ends_the_one_before(tmp_path: Path) -> None:
    with serving(write_project(tmp_path, "rel")) as server:
        done = run_command("ratings", "invite", "trial", "ana", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        new = done.stdout.strip().rpartition("#")[2]
        assert server.ask("/rate/api/next", {}, token=server.tokens["ana"]).status == 401
        assert server.ask("/rate/api/next", {}, token=new).status == 200
    done = run_command("ratings", "invite", "trial", "anna", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'ana'?" in done.stderr
    done = run_command("ratings", "invite", "trail", cwd=tmp_path)
    assert "there is no project 'trail'; did you mean 'trial'?" in done.stderr
