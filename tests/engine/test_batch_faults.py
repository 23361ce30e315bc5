"""``--batch`` at a provider that shows late, denies at first, garbles and repeats itself."""

import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import audiocapbench
from audiocapbench.cli.progress import explain_end
from audiocapbench.data.outcome import Status
from audiocapbench.engine import Budget, RunEnd, Stop, batch_rounds
from audiocapbench.errors import FatalError
from audiocapbench.models.openai_chat import OpenAIBatches
from audiocapbench.models.remote import LARGEST_REPLY
from audiocapbench.signature import sign
from audiocapbench.store import Store
from audiocapbench.store.records import Judgement
from audiocapbench.store.unsaved import AnswerRecord
from command import run_command
from fakes.gemini_batches import GeminiBatchServer
from fakes.gemini_server import content
from fakes.http_server import Request, json_response
from fakes.openai_batches import Batch, OpenAIBatchServer, answered, completion
from folders import write_folder
from whole_run import STORE, Ended, clip_of, finish, outcomes

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

CLIPS, COPIES = 4, 6
MODEL, JUDGE = "openai/gpt-audio", "openai/gpt-4.1"
VERDICT = {"accuracy": 7, "completeness": 5, "hallucination": 9, "reasoning": "Close."}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_folder(tmp_path / "tones", CLIPS)
    monkeypatch.setattr(batch_rounds, "_FIRST_POLL_S", 0.02)
    monkeypatch.setattr(batch_rounds, "_HOPELESS_S", 0.2)
    return tmp_path


@pytest.fixture
def server() -> Iterator[OpenAIBatchServer]:
    def reply(asked: Request) -> dict[str, Any]:
        if b"input_audio" in asked.body:
            return completion(f"Sound {clip_of(asked)}")
        return completion(json.dumps(VERDICT))

    with OpenAIBatchServer(reply=reply) as running:
        yield running


def batch(place: Path, server: OpenAIBatchServer, *more: str) -> Ended:
    return finish(place, MODEL, "--batch", *more, **server.settings)


def check(place: Path, server: OpenAIBatchServer) -> None:
    found = outcomes(place)
    assert {one.reply.text for one in found.values()} == {
        f"Sound {one.audio_sha256}" for one in found.values()
    }
    assert len(found) == CLIPS
    assert set(server.billed.values()) == {1}


def not_there() -> Any:
    return json_response({"error": {"message": "No such thing"}}, 404)


def test_what_is_not_there_at_first_is_looked_for_again(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.refusals = {"/batches/": [not_there()], "/content": [not_there(), not_there()]}
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    assert len(server.batches) == 1
    check(place, server)


def test_a_batch_that_is_made_but_not_listed_yet_is_not_made_again(
    place: Path, server: OpenAIBatchServer
) -> None:
    def unheard_of() -> None:
        server.unseen, server.after_create = 3, lambda: None
        raise ConnectionAbortedError

    server.after_create = unheard_of
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    assert len(server.batches) == 1
    check(place, server)


def test_answers_whose_file_is_late_are_waited_for_and_never_asked_again(
    place: Path, server: OpenAIBatchServer
) -> None:
    looks = [3]

    def late(told: dict[str, Any]) -> dict[str, Any]:
        looks[0] -= told["status"] == "completed"
        return told | {"output_file_id": None} if looks[0] > 0 else told

    server.changed = late
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    check(place, server)


def test_answers_whose_file_never_comes_end_the_run_and_stay_awaited(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.changed = lambda told: told | {"output_file_id": None}
    ended = batch(place, server)
    assert ended.code == 2
    assert "UTC: answered more than its files hold; the answers may still come" in ended.err
    server.changed = lambda told: told
    assert batch(place, server).code == 0
    assert len(server.batches) == 1
    check(place, server)


def test_a_file_that_is_cut_off_keeps_its_answers_and_the_rest_is_asked_when_told(
    place: Path, server: OpenAIBatchServer
) -> None:
    def cut(told: dict[str, Any]) -> dict[str, Any]:
        if told["output_file_id"] and len(server.batches) == 1:
            whole = server.files[told["output_file_id"]]
            lines = whole.splitlines(keepends=True)
            server.files["cut"] = b"".join(lines[:-1]) + b"\xff\xfe\n" + lines[-1][:40]
            return told | {"output_file_id": "cut"}
        return told

    server.changed = cut
    ended = batch(place, server)
    assert ended.code == 2
    words = "batch_0 answered more than its files hold; the same command sends the rest again"
    assert words in ended.err
    assert len(outcomes(place)) == CLIPS - 1
    assert batch(place, server).code == 0
    assert [len(one.lines) for one in server.batches.values()] == [CLIPS, 1]


def test_pages_in_place_of_answers_and_odd_bodies_are_asked_again_and_not_believed(
    place: Path, server: OpenAIBatchServer
) -> None:
    odd: list[Any] = [{"error": {"message": "no"}}, None, "page", []]

    def oddly(one: Batch) -> None:
        server.work = server.answer_all
        one.answers = [answered(line, body) for line, body in zip(one.lines, odd, strict=True)]
        one.status = "completed"

    server.work = oddly
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    check(place, server)


def test_statuses_nobody_knows_are_waited_through_and_a_long_line_is_read(
    place: Path, server: OpenAIBatchServer
) -> None:
    polls = iter(["paused", "on_hold", 7, None])

    def unknown(told: dict[str, Any]) -> dict[str, Any]:
        return told | {"status": next(polls, told["status"])}

    def wordy(one: Batch) -> None:
        server.answer_all(one)
        one.answers.append(answered({"custom_id": "x"}, completion("x" * 5_000_000)))

    server.changed, server.work = unknown, wordy
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    assert "batch_0 is on_hold" in ended.err
    check(place, server)


def test_pages_for_people_are_an_outage(place: Path, server: OpenAIBatchServer) -> None:
    page = json_response("<html>", 200, {"Content-Type": "text/html"})
    server.refusals = {"/batches": [page, page]}
    server.on_create = lambda: pages.pop() if pages else None
    pages = [page]
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    check(place, server)


def test_a_key_that_is_revoked_ends_the_run_and_a_new_one_goes_on(
    place: Path, server: OpenAIBatchServer
) -> None:
    assert batch(place, server).code == 0
    told = ("score", "1", "--judge", JUDGE, "--batch", "--metrics", "rouge_l", "--yes")
    env = server.settings | {"PATH": ""}
    server.refusals = {"/batches/": [json_response({"error": {"message": "Revoked"}}, 401)]}
    done = run_command(*told, cwd=place, env=env)
    assert done.returncode == 2
    assert "check OPENAI_API_KEY" in done.stderr
    done = run_command(*told, cwd=place, env=env)
    assert done.returncode == 0, done.stderr
    assert len(server.batches) == 2
    assert set(server.billed.values()) == {1}


def test_the_same_question_is_sent_once_for_samples_and_runs_alike(
    place: Path, server: OpenAIBatchServer
) -> None:
    tones = place / "tones"
    rows = [json.loads(one) for one in (tones / "metadata.jsonl").read_text().splitlines()]
    for number in range(COPIES):  # more files with the sound of the first
        shutil.copy(tones / rows[0]["file_name"], tones / f"again{number}.wav")
        rows.append(rows[0] | {"file_name": f"again{number}.wav", "id": f"again{number}"})
    (tones / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)))
    server.refusals = {"/batches/": [json_response({"error": {"message": "Revoked"}}, 401)]}
    assert batch(place, server).code == 2, "it ends while its batch is out"
    ended = batch(place, server, "--limit", str(CLIPS))
    assert ended.code == 0, ended.err
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    [sent] = server.batches.values()
    assert len(sent.lines) < CLIPS + COPIES, "some are asked with the same words"
    assert set(server.billed.values()) == {1}
    with Store.open(str(place / STORE)) as store:
        assert [len(store.outcomes(number)) for number in (1, 2)] == [CLIPS + COPIES, CLIPS]
        assert store.batches.awaited(1) == store.batches.awaited(2) == set()


def test_a_run_that_was_begun_afresh_goes_on_without_being_told_again(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.refusals = {"/batches/": [json_response({"error": {"message": "Revoked"}}, 401)]}
    assert batch(place, server, "--fresh").code == 2
    shown = run_command("runs", "delete", "1", cwd=place)
    assert f"and {CLIPS} answers that batches will bring" in shown.stderr
    assert batch(place, server).code == 0
    assert len(server.batches) == 1
    check(place, server)


def test_a_stop_says_what_is_still_in_a_batch(
    place: Path, server: OpenAIBatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.refusals = {"/batches/": [json_response({"error": {"message": "Revoked"}}, 401)]}
    assert batch(place, server).code == 2
    with Store.open(str(place / STORE)) as store:
        end = RunEnd(store.run(1), CLIPS, 0, Counter(), Stop.INTERRUPTED)
        explain_end(end, store)
        said = capsys.readouterr().err
        assert f"{CLIPS} questions of it are still in a batch; with --batch it takes in" in said
        budget = Budget(1.0)
        budget.look(store)
        budget.others = budget.others._replace(batches_usd=0.25)
        explain_end(replace(end, stop=Stop.BUDGET, spending=budget), store)
        assert "in a batch, with up to $0.25 set aside; with" in capsys.readouterr().err
    assert batch(place, server).code == 0
    with Store.open(str(place / STORE)) as store:
        explain_end(end, store)
    assert "in a batch" not in capsys.readouterr().err


def test_a_budget_below_what_is_out_still_takes_it_in(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.refusals = {"/batches/": [json_response({"error": {"message": "Revoked"}}, 401)]}
    more = ("--max-tokens", "100", "--budget")
    assert batch(place, server, *more, "1").code == 2
    ended = batch(place, server, *more, "0.004")
    assert ended.code == 0, ended.err
    assert len(server.batches) == 1
    check(place, server)


def test_a_verdict_asked_twice_is_counted_once_and_seconds_are_not_known(
    place: Path, server: OpenAIBatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = iter(["Good, I think."])
    server.reply = lambda asked: completion(
        f"Sound {clip_of(asked)}"
        if b"input_audio" in asked.body
        else next(replies, json.dumps(VERDICT))
    )
    told = (*("--judge", JUDGE), "--budget", "1")
    ended = batch(place, server, *told)
    assert ended.code == 0, ended.err
    with Store.open(str(place / STORE)) as store:
        judged = store.judgements(1, JUDGE)
        spent = sum(one.cost_usd or 0 for one in judged)
        spent += sum(one.reply.cost_usd or 0 for one in store.outcomes(1).values())
        assert store.catalog.typical_latency(MODEL) is None
        assert store.catalog.typical_latency(JUDGE) is None
    assert f"${spent:.5f}" in ended.err, ended.err
    assert json.loads(ended.out)["runs"][0].get("latency_s") is None


def test_two_judges_have_batches_of_their_own(place: Path, server: OpenAIBatchServer) -> None:
    other = "openai/gpt-4o"
    ended = batch(place, server, "--judge", JUDGE, "--judge", other)
    assert ended.code == 0, ended.err
    with Store.open(str(place / STORE)) as store:
        assert sorted(one["judge"] for one in store.batches.of_run(1)) == ["", JUDGE, other]
        assert {len(store.judgements(1, one)) for one in (JUDGE, other)} == {CLIPS}
    assert set(server.billed.values()) == {1}


def test_a_model_whose_batches_are_turned_away_can_be_asked_live(
    place: Path, server: OpenAIBatchServer
) -> None:
    refusal = json_response({"error": {"message": "gpt-audio has no batches"}}, 400)
    server.on_create = lambda: refusal
    ended = batch(place, server)
    assert ended.code == 2
    assert "gpt-audio has no batches" in ended.err
    live = finish(place, MODEL, **server.settings)
    assert live.code == 0, live.err
    assert len(outcomes(place)) == CLIPS


def test_what_is_committed_without_its_worker_is_awaited_no_more(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.refusals = {"/batches/": [json_response({"error": {"message": "Revoked"}}, 401)]}
    assert batch(place, server).code == 2
    other = place / "other"
    shutil.copytree(place / "tones", other / "tones")
    assert batch(other, server).code == 0
    with Store.open(str(place / STORE)) as store:  # as answers from a file of unsaved ones are
        for outcome in outcomes(other).values():
            store.add_records(1, [AnswerRecord(outcome)])
        assert store.batches.awaited(1) == set()


def test_judgements_that_come_another_way_are_awaited_no_more(
    place: Path, server: OpenAIBatchServer
) -> None:
    told = awaited_verdicts(place, server)
    with Store.open(str(place / STORE)) as store:
        sample, *others = store.run(1).sample_ids
        store.add_judgements(1, [Judgement(JUDGE, sample, 0, sign("by hand"), Status.FAILED)])
        assert store.batches.awaited(1, JUDGE) == {(one, 0) for one in others}
    assert run_command(*told, cwd=place, env=server.settings | {"PATH": ""}).returncode == 0


def test_verdicts_that_a_batch_will_bring_have_not_failed_where_the_judge_refuses_the_rest(
    place: Path, server: OpenAIBatchServer
) -> None:
    told = awaited_verdicts(place, server)
    live = run_command(*(one for one in told if one != "--batch"), cwd=place, env=server.settings)
    assert (live.returncode, f"{CLIPS} questions of run 1 are in a batch" in live.stderr) == (
        2,
        True,
    )
    assert "fresh" not in live.stderr, "which score has not"
    with Store.open(str(place / STORE)) as store:
        assert len(store.batches.awaited(1, JUDGE)) == CLIPS
        assert store.judgements(1, JUDGE) == []
    ended = run_command(*told, cwd=place, env=server.settings | {"PATH": ""})
    assert ended.returncode == 0, ended.stderr
    with Store.open(str(place / STORE)) as store:
        assert [one.status for one in store.judgements(1, JUDGE)] == [Status.OK] * CLIPS
    assert set(server.billed.values()) == {1}, "nothing is sent, and paid for, twice"


def test_a_program_is_told_why_a_judge_has_no_verdict_yet(
    place: Path, server: OpenAIBatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert batch(place, server).code == 0
    for name, value in server.settings.items():
        monkeypatch.setenv(name, value)
    server.refusals = {"/batches/": [revoked()]}
    how: Any = {"store": place / STORE, "batch": True}
    with pytest.raises(FatalError, match="check OPENAI_API_KEY"):
        audiocapbench.judge(1, JUDGE, **how)
    assert audiocapbench.judge(1, JUDGE, **how).summary.judges[JUDGE].judged == CLIPS


def awaited_verdicts(place: Path, server: OpenAIBatchServer) -> tuple[str, ...]:
    """Have verdicts in a batch that the key's owner may no longer look at; the command."""
    assert batch(place, server).code == 0
    told = ("score", "1", "--judge", JUDGE, "--batch", "--metrics", "rouge_l", "--yes")
    server.refusals = {"/batches/": [revoked()]}
    ended = run_command(*told, cwd=place, env=server.settings | {"PATH": ""})
    assert "Revoked" in ended.stderr
    return told


def revoked() -> Any:
    return json_response({"error": {"message": "Revoked"}}, 401)


def test_a_batch_that_is_gone_is_awaited_for_two_days_and_then_its_questions_can_be_sent_again(
    place: Path, server: OpenAIBatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenAIBatches, "most_lines", CLIPS - 1)  # two batches
    server.refusals = {"/batches/": [revoked()]}
    assert batch(place, server).code == 2
    gone = max(server.batches.values(), key=lambda one: len(one.lines))
    del server.batches[gone.id]
    ended = batch(place, server)
    assert (ended.code, "Traceback" in ended.err) == (2, False)
    assert f"{gone.id}, sent on" in ended.err
    assert "only then sent again" in ended.err
    assert len(outcomes(place)) == 1, "what the other batch brought is kept"
    live = finish(place, MODEL, **server.settings)
    assert (live.code, f"{CLIPS - 1} questions of run 1 are in a batch" in live.err) == (2, True)
    with sqlite3.connect(place / STORE) as connection:
        connection.execute("UPDATE batches SET made_at = '2026-01-01T00:00:00.000+00:00'")
    ended = batch(place, server)
    assert (ended.code, "it is given up" in ended.err) == (2, True)
    assert len(server.batches) == 1, "nothing is sent that was not agreed to"
    ended = batch(place, server)
    assert (ended.code, "batch $" in ended.err) == (0, True), ended.err
    check(place, server)


def test_what_the_batch_of_another_run_will_bring_is_not_in_the_price_and_not_asked_live(
    place: Path, server: OpenAIBatchServer
) -> None:
    assert finish(place, MODEL, "--limit", "1", **server.settings).code == 0
    server.refusals = {"/batches/": [revoked()]}
    assert batch(place, server, "--limit", "3").code == 2
    live = finish(place, MODEL, **server.settings)
    assert (live.code, "2 questions of run 3 are in a batch" in live.err) == (2, True), live.err
    ended = batch(place, server)
    assert ended.code == 0, ended.err
    assert f"{MODEL}: 1 clip, " in ended.err
    assert [len(one.lines) for one in server.batches.values()] == [2, 1]
    assert set(server.billed.values()) == {1}
    server.refusals = {"/batches/": [revoked()]}
    assert batch(place, server, "--limit", "2", "--fresh").code == 2
    ended = batch(place, server, "--limit", "2", "--fresh")
    assert f"{MODEL}: 2 clips, " in ended.err, "what is asked afresh is for its own run alone"


def test_answers_for_a_store_that_can_only_be_read_are_kept_beside_it(
    place: Path, server: OpenAIBatchServer
) -> None:
    def lock(one: Batch) -> None:
        with sqlite3.connect(place / STORE) as connection:
            connection.execute(
                "CREATE TRIGGER locked BEFORE INSERT ON outcomes BEGIN "
                "SELECT RAISE(ABORT, 'attempt to write a readonly database'); END"
            )
        server.answer_all(one)

    server.work = lock
    ended = batch(place, server)
    # As many as had been read when the first could not be stored: the others are fetched anew.
    assert re.search(r"[1-9]\d* answers could not be stored", ended.err), ended.err
    assert ended.code == 2
    with sqlite3.connect(place / STORE) as connection:
        connection.execute("DROP TRIGGER locked")
    assert batch(place, server).code == 0
    assert len(server.batches) == 1
    check(place, server)


def test_a_batch_with_errors_alone_fails_its_samples_which_can_be_asked_again(
    place: Path, server: OpenAIBatchServer
) -> None:
    def fail(one: Batch) -> None:
        refused = {"error": {"message": "audio is corrupt", "code": "invalid_value"}}
        one.errors, one.status = [answered(line, refused, 400) for line in one.lines], "completed"

    server.work = fail
    ended = batch(place, server)
    assert (ended.code, "audio is corrupt" in ended.err) == (1, True)
    server.work = server.answer_all
    assert batch(place, server).code == 0
    check(place, server)


def test_an_answer_that_is_too_large_fails_alone_and_is_paid_for_once(
    place: Path, server: OpenAIBatchServer
) -> None:
    def at_length(one: Batch) -> None:
        server.answer_all(one)
        one.answers[0]["response"]["body"] = completion("x" * LARGEST_REPLY)

    server.work = at_length
    ended = batch(place, server)
    assert ended.code == 1, ended.err
    found = outcomes(place)
    [large] = [one.reply.error for one in found.values() if one.reply.error]
    assert "answered with more than 8 MiB" in large
    assert (len(found), len(server.batches)) == (CLIPS, 1)
    assert set(server.billed.values()) == {1}


class TestGemini:
    @pytest.fixture
    def google(self) -> Iterator[GeminiBatchServer]:
        with GeminiBatchServer() as running:
            yield running

    def test_blocked_cut_off_and_failed_answers_are_what_they_are_live(
        self, place: Path, google: GeminiBatchServer
    ) -> None:
        def oddly(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
            keys = [one["key"] for one in lines]
            cut = content()
            cut["candidates"][0]["finishReason"] = "MAX_TOKENS"
            return [
                {"key": keys[0], "response": {"promptFeedback": {"blockReason": "SAFETY"}}},
                {"key": keys[1], "response": cut},
                {"key": keys[2], "error": {"code": 3, "message": "audio is corrupt"}},
                google.answer(lines[3]),
            ]

        google.answers = oddly
        ended = finish(place, "gemini/gemini-2.5-flash", "--batch", **google.settings)
        assert ended.code == 1, ended.err
        found = sorted(str(one.reply.status) for one in outcomes(place).values())
        assert found == ["failed", "filtered", "ok", "truncated"]
        assert len(google.batches) == 1

    def test_answers_whose_file_is_late_are_waited_for(
        self, place: Path, google: GeminiBatchServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        look, late = google._look, [1, 2]

        def without_file(name: str) -> dict[str, Any]:
            told = look(name)
            if told["metadata"].get("output") and late:
                late.pop()
                kept = {key: told["metadata"][key] for key in ("displayName", "state")}
                return told | {"metadata": kept}
            return told

        monkeypatch.setattr(google, "_look", without_file)
        ended = finish(place, "gemini/gemini-2.5-flash", "--batch", **google.settings)
        assert ended.code == 0, ended.err
        assert (len(google.batches), late) == (1, [])
        assert set(google.billed.values()) == {1}

    @pytest.mark.parametrize("cut", [40, 0])
    def test_a_file_that_is_cut_off_is_fetched_again_before_anything_is_sent_again(
        self, place: Path, google: GeminiBatchServer, cut: int
    ) -> None:
        looks = [1, 2]

        def torn(content: bytes) -> bytes:
            *lines, last = content.splitlines(keepends=True)
            return b"".join([*lines, last[:cut]]) if looks and looks.pop() else content

        google.sent = torn
        ended = finish(place, "gemini/gemini-2.5-flash", "--batch", **google.settings)
        assert ended.code == 0, ended.err
        assert (len(google.batches), looks) == (1, [])
        assert set(google.billed.values()) == {1}

    def test_a_file_that_stays_cut_off_is_not_paid_for_again_unasked(
        self, place: Path, google: GeminiBatchServer
    ) -> None:
        google.sent = lambda content: content[:-40] if len(google.batches) == 1 else content
        words = ("gemini/gemini-2.5-flash", "--batch")
        ended = finish(place, *words, **google.settings)
        assert (ended.code, "answered more than its files hold" in ended.err) == (2, True)
        assert len(google.batches) == 1
        assert finish(place, *words, **google.settings).code == 0
        assert len(google.batches) == 2
