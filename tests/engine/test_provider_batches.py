"""``--batch``: half the price, nothing lost and nothing paid twice, whatever the provider does."""

import json
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import audiocapbench
from audiocapbench.data.outcome import Outcome
from audiocapbench.engine import batch_rounds
from audiocapbench.models import gemini
from audiocapbench.models.openai_chat import OpenAIBatches
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store
from command import run_command
from fakes.gemini_batches import GeminiBatchServer
from fakes.gemini_server import _camel, error
from fakes.http_server import Request, Response, json_response
from fakes.openai_batches import Batch, OpenAIBatchServer, answered, completion, unanswered
from folders import write_folder
from forks import Forked
from whole_run import STORE, Ended, clip_of, finish, outcomes, said, start, wait_until

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

CLIPS = 6
MODEL = "openai/gpt-audio"
JUDGE = "openai/gpt-4.1"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_folder(tmp_path / "tones", CLIPS)
    return tmp_path


@pytest.fixture
def server() -> Iterator[OpenAIBatchServer]:
    with OpenAIBatchServer(reply=lambda one: completion(f"Sound {clip_of(one)}")) as running:
        yield running


def batch(place: Path, server: OpenAIBatchServer, *more: str) -> Ended:
    return finish(place, MODEL, "--batch", *more, **server.settings)


def check(place: Path, server: OpenAIBatchServer, count: int = CLIPS) -> dict[str, Outcome]:
    """Every sample has the answer to its own clip, and each was billed once."""
    found = outcomes(place)
    assert {one.reply.text for one in found.values()} == {
        f"Sound {one.audio_sha256}" for one in found.values()
    }
    assert len(found) == count
    assert list(server.billed.values()) == [1] * count
    return found


def live_requests(server: OpenAIBatchServer) -> int:
    return sum(one.path.endswith("/chat/completions") for one in server.requests)


def test_a_batch_is_the_same_answers_at_half_the_price(
    place: Path, server: OpenAIBatchServer
) -> None:
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    assert "live $0.00796, batch $0.00398" in ended.err
    found = check(place, server)
    price = price_of(MODEL)
    assert price is not None
    for one in found.values():
        assert one.reply.cost_usd == pytest.approx(price.cost(one.reply, one.audio_s) / 2)  # type: ignore[operator]
    # Asked live about some of it, the same questions are known already.
    again = finish(place, MODEL, "--limit", "3", **server.settings)
    assert again.code == 0, again.err
    assert live_requests(server) == 0
    with Store.open(str(place / STORE)) as store:
        [kept] = store.batches.of_run(1)
        assert (kept["count"], kept["price"]["out"]) == (CLIPS, 5.0)
        first, second = store.outcomes(1), store.outcomes(2)
        assert all(second[key].reply.text == first[key].reply.text for key in second)
        assert store.batches.awaited(1) == set()
    shown = run_command("runs", "show", "1", cwd=place)
    assert f"by batch   batch_0 ({CLIPS} at half price)" in shown.stdout
    # What is asked is byte for byte what would have been asked live.
    finish(place, MODEL, "--fresh", **server.settings)
    sent = [one.json for one in server.requests if one.path.endswith("/chat/completions")]
    assert {json.dumps(one, sort_keys=True) for one in sent} == {
        json.dumps(line["body"], sort_keys=True) for line in server.batches["batch_0"].lines
    }


def test_a_provider_that_loses_doubles_shuffles_expires_and_fails_costs_nothing(
    place: Path, server: OpenAIBatchServer
) -> None:
    def badly(one: Batch) -> None:
        lines = list(reversed(one.lines))
        if len(server.batches) > 1:
            server.answer_all(one)
            return
        for line in lines[:2]:
            server.answer(one, line)
        one.answers.append(one.answers[0])
        one.answers.append(answered({"custom_id": "a stranger's"}, completion("What?")))
        busy = {"error": {"message": "Rate limit", "code": "rate_limit_exceeded"}}
        one.errors = [
            unanswered(lines[2], "batch_expired"),
            answered(lines[3], {}, 0),
            answered(lines[4], busy, 429),
        ]  # and of the last line nothing at all
        one.status = "expired"

    server.work = badly
    ended = batch(place, server, "--concurrency", "1")  # of which each round gives its place back
    assert ended.code == 0, ended.err
    check(place, server)
    assert [len(one.lines) for one in server.batches.values()] == [CLIPS, 4]
    assert "batch_0 is expired: 2 of 6 answered; 2 lines that came twice or" in ended.err


def test_a_line_that_fails_is_the_failure_of_its_sample_and_retries_end(
    place: Path, server: OpenAIBatchServer
) -> None:
    def fail(one: Batch) -> None:
        refused = {"error": {"message": "audio is corrupt", "code": "invalid_value"}}
        overloaded = {"error": {"message": "overloaded"}}
        for line in one.lines:
            which = clip_of(Request("", "", {}, json.dumps(line["body"]).encode()))
            if which == bad[0]:
                one.errors.append(answered(line, refused, 400))
            elif which == bad[1]:
                one.errors.append(answered(line, overloaded, 500))
            else:
                server.answer(one, line)
        one.status = "completed"

    bad: list[str] = []

    def learn(one: Batch) -> None:
        bodies = (json.dumps(line["body"]).encode() for line in one.lines)
        bad.extend(sorted(clip_of(Request("", "", {}, body)) for body in bodies)[:2])
        server.work = fail
        fail(one)

    server.work = learn
    ended = batch(place, server)
    assert ended.code == 1, ended.err
    found = outcomes(place)
    errors = {one.audio_sha256: one.reply.error for one in found.values() if one.reply.error}
    assert "audio is corrupt" in str(errors[bad[0]])
    assert "given up after 2 attempts" in str(errors[bad[1]])
    assert "overloaded" in str(errors[bad[1]])
    assert len(server.batches) == 4
    server.work = server.answer_all
    assert batch(place, server).code == 0
    check(place, server)


def test_a_batch_that_is_not_accepted_ends_the_run_in_one_line(
    place: Path, server: OpenAIBatchServer
) -> None:
    def refuse(one: Batch) -> None:
        one.status = "failed"
        one.refusal = [{"code": "model_not_found", "message": "gpt-audio has no batches."}]

    server.work = refuse
    ended = batch(place, server)
    assert ended.code == 2
    assert "batch_0 was not accepted (gpt-audio has no batches.)" in ended.err
    assert "Traceback" not in ended.err
    server.work = server.answer_all
    assert batch(place, server).code == 0
    check(place, server)


def test_too_much_at_once_is_sent_later(place: Path, server: OpenAIBatchServer) -> None:
    full = {"error": {"message": "Too many", "code": "rate_limit_exceeded"}}
    refusals = [json_response(full, 429, {"Retry-After": "0.05"})]
    server.on_create = lambda: refusals.pop() if refusals else None

    def limited(one: Batch) -> None:
        if len(server.batches) == 1:
            one.status = "failed"
            one.refusal = [{"code": "token_limit_exceeded", "message": "Enqueued token limit"}]
        else:
            server.answer_all(one)

    server.work = limited
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    check(place, server)
    assert [len(one.lines) for one in server.batches.values()] == [6, 6]


def test_odd_lines_of_answers_are_ignored_and_a_model_without_a_price_is_asked(
    place: Path, server: OpenAIBatchServer
) -> None:
    def oddly(one: Batch) -> None:
        server.answer_all(one)
        strange = [[], {}, 3, {"custom_id": []}, {"custom_id": {"a": 1}}, {"custom_id": None}]
        one.answers += strange  # type: ignore[arg-type]
        one.errors = [answered(one.lines[0], {"error": {"message": "no"}}, 500)]

    server.work = oddly
    ended = finish(place, "openai/unheard-of", "--batch", **server.settings)
    assert ended.code == 0, ended.err
    assert "7 lines that came twice or answer no question are ignored" in ended.err
    check(place, server)
    with Store.open(str(place / STORE)) as store:
        assert store.batches.of_run(1)[0]["price"] is None


def test_a_study_asks_in_batches(place: Path, server: OpenAIBatchServer) -> None:
    lines = ('name = "s"', 'benchmark = "tones"', f'models = ["{MODEL}"]', "batch = true")
    (place / "study.toml").write_text("\n".join([*lines, 'metrics = ["rouge_l"]']))
    env = server.settings | {"PATH": ""}
    said = run_command("study", "check", "study.toml", cwd=place, env=env)
    assert "live $0.00796, batch $0.00398" in said.stdout, said.stderr
    done = run_command("study", "study.toml", "--yes", cwd=place, env=env)
    assert done.returncode == 0, done.stderr
    check(place, server)


def test_files_are_split_by_their_bytes(
    place: Path, server: OpenAIBatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenAIBatches, "most_bytes", 30_000)
    assert batch(place, server).code == 0
    check(place, server)
    assert [len(one.lines) for one in server.batches.values()] == [2, 2, 2]


def test_a_batch_whose_making_was_not_heard_of_is_not_made_again(
    place: Path, server: OpenAIBatchServer
) -> None:
    hung_up: list[int] = []

    def make_and_fail() -> None:
        if not hung_up:
            hung_up.append(1)
            server._described = lambda _batch: {}  # type: ignore[assignment,method-assign]
            threading.Timer(0.3, lambda: server.__dict__.pop("_described")).start()

    server.after_create = make_and_fail
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    assert len(server.batches) == 1
    check(place, server)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("openai-realtime/gpt-realtime", "has no batch API"),
        ("endpoint/x@http://127.0.0.1:9/v1", "has no batch API"),
        ("dashscope/qwen-audio-turbo", "has no batch API"),
        ("control/right", "has no batch API"),
        ("listener", "has no batch API"),
    ],
)
def test_who_cannot_be_asked_in_batches_is_said_before_anything_is_asked(
    place: Path, model: str, words: str
) -> None:
    keys = {"OPENAI_API_KEY": "sk-0123456789", "DASHSCOPE_API_KEY": "sk-0123456789"}
    ended = finish(place, model, "--batch", **keys)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert words in ended.err


def test_a_budget_holds_the_most_that_a_batch_may_cost(
    place: Path, server: OpenAIBatchServer
) -> None:
    ended = batch(place, server, "--max-tokens", "100", "--budget", "0.004")
    assert ended.code == 0, ended.err
    most = [len(one.lines) for one in server.batches.values()]
    assert sum(most) == CLIPS
    assert len(most) > 1, "what might have cost more than the budget waited for what it did cost"
    check(place, server)


def test_a_judge_is_asked_in_batches_and_again_in_the_next(
    place: Path, server: OpenAIBatchServer
) -> None:
    verdict = {"accuracy": 7, "completeness": 5, "hallucination": 9, "reasoning": "Close."}
    seen: list[Request] = []

    def reply(asked: Request) -> dict[str, Any]:
        if b"input_audio" in asked.body:
            return completion(f"Sound {clip_of(asked)}")
        seen.append(asked)
        return completion("Good, I think." if len(seen) == 1 else json.dumps(verdict))

    server.reply = reply
    assert batch(place, server).code == 0
    told = ("score", "1", "--judge", JUDGE, "--batch", "--metrics", "rouge_l", "--yes")
    done = run_command(*told, cwd=place, env=server.settings | {"PATH": ""})
    assert done.returncode == 0, done.stderr
    assert "live $" in done.stderr
    assert [len(one.lines) for one in server.batches.values()] == [CLIPS, CLIPS, 1]
    assert set(server.billed.values()) == {1}
    with Store.open(str(place / STORE)) as store:
        judged = store.judgements(1, JUDGE)
        assert {str(one.status) for one in judged} == {"ok"}
        # 120 tokens read at $2 and 7 written at $8 a million, and half of that.
        assert sorted(one.cost_usd or 0 for one in judged)[0] == pytest.approx(296e-6 / 2)
        assert sorted(one.cost_usd or 0 for one in judged)[-1] == pytest.approx(296e-6)
        assert [one["judge"] for one in store.batches.of_run(1)] == ["", JUDGE, JUDGE]


def test_ctrl_c_leaves_the_batch_at_work_and_nobody_else_asks_the_same(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.gate.clear()
    process = start(place, MODEL, "--batch", **server.settings)
    told = said(process, "questions are in batch_0")
    assert "the same command goes on" in told
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "The same command goes on from here." in rest
    live = finish(place, MODEL, **server.settings)
    assert live.code == 2
    assert f"{CLIPS} questions of run 1 are in a batch; go on with --batch" in live.err
    assert live_requests(server) == 0
    server.gate.set()
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    assert "batch $" not in ended.err, "nothing more is to be paid for"
    assert len(server.batches) == 1
    check(place, server)


@pytest.mark.slow
def test_a_command_that_is_killed_at_any_point_loses_and_pays_nothing_twice(
    place: Path, server: OpenAIBatchServer
) -> None:
    running: list[Forked] = []

    def kill(*_: object) -> None:
        running[0].kill()
        running[0].wait()

    def once(name: str) -> None:
        """Kill the command at the next call of a hook of the server."""

        def strike() -> None:
            setattr(server, name, lambda: None)
            kill()

        setattr(server, name, strike)
        running[:] = [start(place, MODEL, "--batch", **server.settings)]
        running[0].communicate(timeout=120)
        assert running[0].returncode == -signal.SIGKILL

    once("after_upload")
    once("after_create")
    server.gate.clear()
    running[:] = [start(place, MODEL, "--batch", **server.settings)]
    said(running[0], "questions are in batch_0")
    kill()
    server.gate.set()

    def fetched() -> bool:
        return any("/content" in one.path for one in server.requests)

    running[:] = [start(place, MODEL, "--batch", **server.settings)]
    wait_until(fetched)
    kill()
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    assert len(server.batches) == 1
    check(place, server)


@pytest.mark.slow
def test_two_commands_at_once_share_the_work(place: Path, server: OpenAIBatchServer) -> None:
    server.polls = 20
    both = [start(place, MODEL, "--batch", **server.settings) for _ in range(2)]
    wait_until(lambda: server.batches)
    both[0].kill()
    both[0].communicate()
    _, err = both[1].communicate(timeout=120)
    assert both[1].returncode == 0, err
    check(place, server)


def test_the_library_asks_in_batches_too(
    place: Path, server: OpenAIBatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in server.settings.items():
        monkeypatch.setenv(name, value)
    kept = str(place / STORE)
    result = audiocapbench.run(place / "tones", MODEL, batch=True, store=kept, metrics="rouge_l")
    assert len(result.answers) == CLIPS
    check(place, server)


class TestGemini:
    @pytest.fixture
    def google(self) -> Iterator[GeminiBatchServer]:
        with GeminiBatchServer() as running:
            yield running

    def ask(self, place: Path, google: GeminiBatchServer, *more: str) -> Ended:
        return finish(place, "gemini/gemini-2.5-flash", *more, **google.settings)

    def test_half_price_and_what_failed_goes_into_the_next_batch(
        self, place: Path, google: GeminiBatchServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(batch_rounds, "_FIRST_POLL_S", 0.02)
        monkeypatch.setattr(batch_rounds, "_HOPELESS_S", 0.2)

        def badly(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
            google.answers = google.answer_all
            good = google.answer(lines[1])
            failed = {"key": lines[2]["key"], "error": {"code": 14, "message": "unavailable"}}
            return [good, good, failed]

        google.answers = badly
        google.refusals = [Response(error(429, "full"), 429, {"Retry-After": "0.05"})]
        ended = self.ask(place, google, "--batch")
        assert ended.code == 0, ended.err
        assert [len(google.lines[name]) for name in google.batches] == [CLIPS, CLIPS - 1]
        assert list(google.billed.values()) == [1] * CLIPS
        found = outcomes(place)
        price = price_of("gemini/gemini-2.5-flash")
        assert price is not None
        for one in found.values():
            assert one.reply.text == "A dog barks."
            full = price.cost(one.reply, one.audio_s)
            assert one.reply.cost_usd == pytest.approx((full or 0) / 2)

    def test_a_request_in_a_batch_is_the_one_that_is_asked_live(
        self, place: Path, google: GeminiBatchServer
    ) -> None:
        assert self.ask(place, google, "--batch", "--limit", "1").code == 0
        assert self.ask(place, google, "--fresh", "--limit", "1").code == 0
        [live] = [one.json for one in google.requests if one.path.endswith(":generateContent")]
        [line] = google.lines["batches/b0"]
        assert _plain(line["request"]) == _plain(_camel(live))

    def test_a_batch_whose_making_was_not_heard_of_is_not_made_again(
        self, place: Path, google: GeminiBatchServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(batch_rounds, "_FIRST_POLL_S", 0.02)
        made, make = list[Response](), google._create

        def unheard(given: dict[str, Any]) -> Response:
            made.append(make(given))
            return json_response({})

        monkeypatch.setattr(google, "_create", unheard)
        ended = self.ask(place, google, "--batch")
        assert ended.code == 0, ended.err
        assert [len(made), *google.billed.values()] == [1] * (1 + CLIPS)

    def test_a_clip_that_does_not_fit_into_a_line_is_uploaded_once(
        self, place: Path, google: GeminiBatchServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(batch_rounds, "_FIRST_POLL_S", 0.02)
        monkeypatch.setattr(gemini, "_LARGEST_INLINE", 0)
        ended = self.ask(place, google, "--batch")
        assert ended.code == 0, ended.err
        assert sum(one.mime_type == "audio/wav" for one in google.files.values()) == CLIPS
        assert list(google.billed.values()) == [1] * CLIPS

    def test_where_no_batch_can_be_written_is_said(
        self, place: Path, google: GeminiBatchServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tempfile, "tempdir", str(place / "gone"))
        ended = self.ask(place, google, "--batch")
        assert ended.code == 2, ended.err
        assert f"{place / 'gone'}: cannot be written (No such file" in ended.err
        assert not google.billed

    def test_a_command_that_is_killed_pays_nothing_twice(
        self, place: Path, google: GeminiBatchServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("_upload", "_create", "_look"):  # as it uploads, makes a batch, looks at it
            running, hook = list[Forked](), getattr(google, name)

            def kill(*given: Any, hook: Any = hook, running: list[Forked] = running) -> Any:
                answer = hook(*given)
                running[0].kill()
                running[0].wait()
                return answer

            with monkeypatch.context() as patched:
                patched.setattr(google, name, kill)
                model = "gemini/gemini-2.5-flash"
                running.append(start(place, model, "--batch", **google.settings))
                running[0].communicate(timeout=120)
                assert running[0].returncode == -signal.SIGKILL
        ended = self.ask(place, google, "--batch")
        assert ended.code == 0, ended.err
        assert [len(google.batches), *google.billed.values()] == [1] * (1 + CLIPS)

    def test_a_batch_that_expired_is_sent_again(
        self, place: Path, google: GeminiBatchServer
    ) -> None:
        def none(_lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
            google.answers, google.state = google.answer_all, "SUCCEEDED"
            return []

        google.answers, google.state = none, "EXPIRED"
        assert self.ask(place, google, "--batch").code == 0
        assert list(google.billed.values()) == [1] * CLIPS


def _plain(value: Any) -> Any:
    """JSON with one alphabet of base64: Google's libraries write it in its web-safe form."""
    return json.dumps(value, sort_keys=True).translate(str.maketrans("-_", "+/"))
