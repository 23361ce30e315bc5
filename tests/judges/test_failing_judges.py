"""A judge that fails takes nothing with it: its reason is shown, all else goes on and is kept."""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import audiocapbench as acb
from audiocapbench.benchmarks import open_benchmark
from audiocapbench.data.outcome import Status
from audiocapbench.engine import RateLimits, run_benchmark
from audiocapbench.errors import ModelError
from audiocapbench.evaluate import app as evaluate
from audiocapbench.judges import JudgeError, create_judge, judge_run
from audiocapbench.models import create_model
from audiocapbench.store import Run, Store
from command import run_command
from fakes.faults import Plan, hang, status
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from plugin import asked, environment, install

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

CLIPS = 4
VERDICT = {"accuracy": 8, "completeness": 6, "hallucination": 9, "reasoning": "Good."}


PAIRS = "audio,caption_a,caption_b,preferred,reference_1\na.wav,A tone hums.,Rain.,a,A tone.\n"


def verdict(_request: Request) -> dict[str, Any]:
    return completion(json.dumps(VERDICT))


@pytest.fixture
def good() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None, reply=verdict) as server:
        yield server


@pytest.fixture
def bad() -> Iterator[OpenAIServer]:
    """A server that knows no key of ours."""
    with OpenAIServer(key="another", reply=verdict) as server:
        yield server


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", CLIPS)
    install(tmp_path)
    return tmp_path


@pytest.fixture
def run(place: Path, store: Store) -> Run:
    benchmark = open_benchmark(str(place / "tones"))
    return run_benchmark(benchmark, create_model("control/right"), store).run


def name_at(server: OpenAIServer, name: str = "gpt") -> str:
    return f"endpoint/{name}@{server.base_url}"


def call(place: Path, *words: str) -> CompletedProcess[str]:
    return run_command(*words, cwd=place, env=environment(place, DIARY_PAUSE="0"))


# A judge that refuses


def test_a_refused_judge_stops_alone_and_is_asked_again_the_next_time(
    bad: OpenAIServer, good: OpenAIServer, store: Store, run: Run
) -> None:
    judges = [create_judge(name_at(bad)), create_judge(name_at(good)), create_judge("elements")]
    end = judge_run(store, run, judges)
    assert end.stop is None
    assert [one.statuses for one in end.judges] == [{"failed": CLIPS}, {"ok": CLIPS}, {"ok": CLIPS}]
    assert [one.fatal is None for one in end.judges] == [False, True, True]
    assert "401" in str(end.refusals[0])
    kept = store.judgements(run.id, judges[0].name)
    assert {one.status for one in kept} == {Status.FAILED}
    assert all("401" in (one.error or "") for one in kept)
    bad._key = None
    end = judge_run(store, run, judges)
    assert [one.statuses for one in end.judges] == [{"ok": CLIPS}] * 3


def test_a_refusal_that_repeats_the_key_is_kept_without_it(
    bad: OpenAIServer, store: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-secret-0123456789abcdef"
    monkeypatch.setenv("ENDPOINT_API_KEY", key)
    told = {"error": {"message": f"wrong key {key}\0", "type": "x", "param": None, "code": None}}
    bad.plan = Plan(always=status(401, json.dumps(told).encode()))
    end = judge_run(store, run, [create_judge(name_at(bad))])
    kept = [one.error or "" for one in store.judgements(run.id)]
    assert len(kept) == CLIPS
    for text in [*kept, *map(str, end.refusals)]:
        assert "wrong key" in text
        assert key not in text
        assert "\0" not in text


def test_what_was_judged_before_a_refusal_stays(bad: OpenAIServer, store: Store, run: Run) -> None:
    judge = create_judge(name_at(bad))
    bad._key = None
    judge_run(store, run, [judge])
    bad._key = "another"
    end = judge_run(store, run, [judge], fresh=True)
    assert end.judges[0].fatal is not None
    assert end.judges[0].statuses == {"ok": CLIPS}


def test_later_models_still_run_and_all_is_shown(
    place: Path, bad: OpenAIServer, good: OpenAIServer
) -> None:
    models = ("--model", "control/right", "--model", "control/safe")
    judges = ("--judge", name_at(bad), "--judge", name_at(good))
    words = ("run", "tones", "--metrics", "rouge_l", *models, *judges, "--yes")
    done = call(place, *words, "--json")
    assert done.returncode == 2
    assert f"judge {name_at(bad)}: " in done.stderr
    assert "401" in done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [one["model"] for one in runs] == ["control/right", "control/safe"]
    for one in runs:
        refused, judged = (one["judges"][name_at(server)] for server in (bad, good))
        assert (refused["judged"], refused["failed"], judged["judged"]) == (0, CLIPS, CLIPS)
        [reason] = refused["reasons"]
        assert reason["count"] == CLIPS
        assert "401" in reason["reason"]
        assert one["panel"] is None
    shown = call(place, *words)
    assert shown.returncode == 2
    assert "Leaderboard" in shown.stdout
    assert f"{name_at(bad)} failed in 4 of 4 judgements: " in shown.stdout


def test_an_old_run_is_scored_and_shown_though_its_judge_refuses(
    place: Path, bad: OpenAIServer
) -> None:
    call(place, "run", "tones", "--metrics", "bleu_1", "--model", "control/right")
    words = ("score", "1", "--metrics", "rouge_l", "--judge", name_at(bad), "--yes")
    done = call(place, *words, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["metrics"]["rouge_l"]["score"] > 0
    assert "401" in done.stderr


def test_the_reason_is_in_the_report_and_in_what_the_library_returns(
    place: Path, bad: OpenAIServer
) -> None:
    store = place / "library.db"
    result = acb.run(place / "tones", "control/right", judge=name_at(bad), store=store)
    assert result["meteor"].value is not None
    told = result.to_dict()["judges"][name_at(bad)]
    assert "401" in told["reasons"][0]["reason"]
    assert "failed in 4 of 4 judgements" in str(result)
    again = acb.judge(result, [name_at(bad), "elements"], store=store)
    assert again["elements"].value is not None
    assert "401" in str(again)
    done = call(place, "report", "1", "--store", str(store), "--out", "page.html")
    assert done.returncode == 0, done.stderr
    assert "failed in 4 of 4 judgements: " in (place / "page.html").read_text()


def test_a_trial_tells_of_the_scorers_that_were_not_refused(place: Path, bad: OpenAIServer) -> None:
    (place / "pairs.csv").write_text(PAIRS)
    scorers = ("--scorer", f"judge:{name_at(bad)}", "--scorer", "control:longer")
    done = call(place, "meta", "csv", "--pairs", "pairs.csv", *scorers, "--yes", "--json")
    assert done.returncode == 2
    assert "401" in done.stderr
    assert json.loads(done.stdout)["scorer"] == "control:longer"


def test_the_published_command_writes_its_result_though_the_judge_refuses(
    place: Path, bad: OpenAIServer
) -> None:
    words = ["--provider", "control", "--model", "right", "--data-dir", "tones", "--yes"]
    words += ["--no-aac-metrics", "--judge-model", name_at(bad), "--output", "out.json"]
    program = partial(evaluate, prog_name="evaluate")
    done = run_command(*words, cwd=place, env=environment(place), program=program)
    assert done.returncode == 1, done.stderr
    assert "401" in done.stderr
    document = json.loads((place / "out.json").read_text())
    assert document["corpus_scores"]["meteor"] > 0
    assert all("401" in one["llm_judge_error"] for one in document["results"])


# A judge that nobody can read


def test_a_judge_that_is_never_readable_stops_alone_before_it_is_paid_for_everything(
    tmp_path: Path, good: OpenAIServer, store: Store
) -> None:
    with OpenAIServer(key=None, reply=lambda _request: completion("Lovely sound!")) as mad:
        folder = tmp_path / "many"
        folder.mkdir()
        write_folder(folder, 20)
        made = run_benchmark(open_benchmark(str(folder)), create_model("control/right"), store).run
        judges = [create_judge(name_at(mad)), create_judge(name_at(good))]
        end = judge_run(store, made, judges, rate_limits=RateLimits(1))
        assert len(mad.requests) <= 3 * (8 + 1)  # one may be in flight
        unparsed = end.judges[0].statuses["unparsed"]
        assert unparsed in (8, 9)
        assert end.judges[0].statuses == {"unparsed": unparsed, "failed": 20 - unparsed}
        assert end.judges[1].statuses == {"ok": 20}
        [refusal] = end.refusals
        assert str(refusal).startswith(f"judge {name_at(mad)}: none of its first 8 verdicts can")
        assert "Lovely sound!" in str(refusal)
        mad.reply = verdict
        end = judge_run(store, made, judges, rate_limits=RateLimits(1))
        assert end.judges[0].statuses == {"unparsed": unparsed, "ok": 20 - unparsed}


def test_a_judge_that_was_read_once_is_asked_to_the_end(
    tmp_path: Path, good: OpenAIServer, store: Store
) -> None:
    write_folder(tmp_path, 12)
    made = run_benchmark(open_benchmark(str(tmp_path)), create_model("control/right"), store).run
    judge = create_judge(name_at(good))
    judge_run(store, made, [judge], samples=frozenset(made.sample_ids[:1]))
    good.reply = lambda _request: completion("Lovely sound!")
    end = judge_run(store, made, [judge])
    assert end.judges[0].statuses == {"ok": 1, "unparsed": 11}
    assert not end.refusals


def test_a_run_whose_judge_is_stopped_says_how_many_were_judged(
    place: Path, good: OpenAIServer
) -> None:
    priced = {"text_in": 1000, "out": 1000, "source": "mine", "as_of": "2026-01-01"}
    file = {"currency": "USD", "unit": "per 1,000,000 tokens", "models": {name_at(good): priced}}
    (place / "prices.json").write_text(json.dumps(file))
    judge = ("--judge", name_at(good), "--prices", "prices.json", "--yes", "--concurrency", "1")
    words = ("run", "tones", "--metrics", "rouge_l", "--model", "control/right", *judge)
    done = call(place, *words, "--budget", "0.8")
    assert done.returncode == 1, done.stderr
    judged = f"Judged {len(good.requests)} of {CLIPS} by {name_at(good)}: the budget is spent: $"
    assert judged in done.stderr
    assert 0 < len(good.requests) < CLIPS
    assert "Stopped after" not in done.stderr


# A judge that fails at some


def test_the_most_frequent_reason_is_told_with_its_count(place: Path, good: OpenAIServer) -> None:
    def reply(request: Request) -> dict[str, Any]:
        number = len(good.requests)
        if b"tone number 0" in request.body or b"Note 0" in request.body:
            return completion(None, refusal="I would rather not.")
        return completion(f"Score {number}: fine, of course.")

    good.reply = reply
    words = ("run", "tones", "--metrics", "rouge_l", "--model", "control/right")
    done = call(place, *words, "--judge", name_at(good), "--yes", "--json")
    assert done.returncode == 1
    told = json.loads(done.stdout)["runs"][0]["judges"][name_at(good)]
    assert told["failed"] == CLIPS
    assert sum(one["count"] for one in told["reasons"]) == CLIPS
    assert "no JSON object" in told["reasons"][0]["reason"]
    assert told["reasons"][0]["count"] >= CLIPS - 1


def test_a_check_tells_why_judgements_failed(place: Path, good: OpenAIServer) -> None:
    good.reply = lambda _request: completion("No idea.")
    words = ("judges", "check", name_at(good), "--data", "tones", "--repeats", "1", "--yes")
    done = call(place, *words)
    assert done.returncode == 2
    assert "failed in 4 of 4 judgements: there is no JSON object" in done.stderr
    good.reply = lambda request: (
        completion("No idea.") if b"In this recording, the" in request.body else verdict(request)
    )
    words = (
        "judges",
        "check",
        name_at(good, "other"),
        "--data",
        "tones",
        "--repeats",
        "1",
        "--yes",
    )
    done = call(place, *words, "--json")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert document["failed"] == CLIPS
    assert list(document["reasons"].values()) == [CLIPS]
    assert "4 without a verdict: there is no JSON object" in done.stderr


def test_a_trial_tells_why_captions_were_not_judged(place: Path, good: OpenAIServer) -> None:
    good.reply = lambda _request: completion("No idea.")
    (place / "pairs.csv").write_text(PAIRS)
    words = ("meta", "csv", "--pairs", "pairs.csv", "--scorer", f"judge:{name_at(good)}", "--yes")
    done = call(place, *words)
    assert done.returncode == 1, done.stderr
    assert "failed in 2 of 2 judgements: there is no JSON object" in done.stderr


def test_a_board_tells_of_a_judge_that_failed_and_of_a_model_that_did(
    place: Path, bad: OpenAIServer
) -> None:
    words = ("run", "tones", "--metrics", "rouge_l", "--model", "control/right")
    call(place, *words, "--judge", name_at(bad), "--yes")
    done = call(place, "leaderboard", "--judge", name_at(bad))
    assert done.returncode == 2
    assert "failed in 4 of 4 judgements" in done.stderr
    assert f"'audiocapbench score 1 --judge {name_at(bad)}' asks again" in done.stderr
    other = call(place, "leaderboard")
    assert other.returncode == 0, other.stderr
    assert "rouge_l" in other.stdout


def test_a_run_without_answers_is_not_sent_to_be_scored(place: Path) -> None:
    (place / "no.py").write_text(
        "from audiocapbench import FREE, AudioContract, SimpleModel\n"
        "class No(SimpleModel):\n"
        "    contract, price = AudioContract('wav', rate=8000), FREE\n"
        "    async def answer(self, question):\n"
        "        raise ValueError('no idea')\n"
    )
    assert call(place, "run", "tones", "--model", "no.py:No").returncode == 1
    done = call(place, "report", "1", "--out", "page.html")
    assert done.returncode == 2
    assert "has no answer that could be scored; 'audiocapbench run' asks again" in done.stderr


# Its settings


def test_the_timeout_holds_for_judges(place: Path, good: OpenAIServer) -> None:
    good.plan = Plan([hang()])
    call(place, "run", "tones", "--metrics", "rouge_l", "--model", "control/right", "--limit", "1")
    judge = ("--judge", name_at(good), "--timeout", "1", "--yes")
    done = call(place, "score", "1", "--metrics", "rouge_l", *judge)
    assert done.returncode == 0, done.stderr
    assert len(good.requests) == 2


@pytest.mark.parametrize(
    "words",
    [
        "run tones --model control/right --judge elements --judge-hears",
        "run tones --model control/right --judge-hears",
        "judges check elements --judge-hears",
    ],
)
def test_who_cannot_hear_is_not_told_to(place: Path, words: str) -> None:
    done = call(place, *words.split())
    assert done.returncode == 2
    assert "--judge-hears" in done.stderr
    assert not (place / "audiocapbench.db").exists() or "check" in words


def test_a_judge_without_a_price_is_refused_by_the_library_before_the_model_is_paid(
    place: Path, good: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    with pytest.raises(ModelError, match="no price is known for judge endpoint/gpt"):
        acb.run("tones", "control/right", judge=name_at(good), budget=5.0)
    assert not (place / "audiocapbench.db").exists() or not Store.open("audiocapbench.db").runs()
    assert asked(place) == []
    assert good.requests == []
    with pytest.raises(JudgeError, match="hears"):
        acb.judge(acb.run("tones", "control/right"), "elements", hears=True)


def test_a_price_without_the_address_is_said_and_an_example_shows_how_to_write_it(
    place: Path, good: OpenAIServer
) -> None:
    words = ("run", "tones", "--metrics", "rouge_l", "--model", name_at(good), "--yes")
    done = call(place, *words, "--budget", "0.2")
    assert done.returncode == 2
    written = done.stderr[done.stderr.index("{") : done.stderr.rindex("}") + 1]
    example = json.loads(written.replace("…", "1").replace("YYYY-MM-DD", "2026-11-01"))
    assert list(example["models"]) == [name_at(good)]
    [priced] = example["models"].values()
    example["models"] = {"endpoint/gpt": priced}
    (place / "prices.json").write_text(json.dumps(example))
    done = call(place, *words, "--budget", "0.2", "--prices", "prices.json")
    assert done.returncode == 2
    assert f"prices 'endpoint/gpt'; write '{name_at(good)}'" in done.stderr
    assert good.requests == []
    example["models"] = {name_at(good): priced | {"text_in": 0.1, "audio_in": 0.1, "out": 0.1}}
    (place / "prices.json").write_text(json.dumps(example))
    good.reply = lambda _request: completion("")
    done = call(place, *words, "--budget", "0.2", "--prices", "prices.json")
    assert f"{CLIPS} of {CLIPS} answers are empty; they score 0." in done.stderr
    assert re.search(r"Spent \$0\.0000\d+ of \$0\.20\.", done.stderr)
    shown = call(place, "runs", "show", "1")
    assert re.search(r"cost +\$0\.0000\d+", shown.stdout)
