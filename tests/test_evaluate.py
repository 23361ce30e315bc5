"""``python -m audiocapbench.evaluate`` against servers on loopback."""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from needs import needs

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

from audiocapbench.benchmarks.captioning import load_audiocapbench
from audiocapbench.benchmarks.traits import METRICS
from audiocapbench.evaluate import app
from audiocapbench.metrics import compute
from command import run_command
from fakes.faults import Plan, status
from fakes.http_server import Request, json_response
from fakes.openai_server import OpenAIServer, completion, heard
from folders import write_lines, write_tone
from forks import Forked
from whole_run import interrupt, wait_until

KEY = "sk-test-0123456789abcdef"
OPENAI = ["--provider", "openai", "--model", "gpt-audio", "--data-dir", "data"]
CATEGORIES = ("sound", "sound", "music", "music", "speech", "speech")
IDS = [f"{category}_{index}" for index, category in enumerate(CATEGORIES)]
CAPTIONS = (
    "A steady tone hums on and on.",
    "Somebody plays a high note.",
    "A low tone sounds, then stops.",
    "A bird sings in a tree.",
    "The machine hums at a steady pitch.",
)
DIMENSIONS = ("accuracy", "completeness", "hallucination")
NAMES = (
    "OPENAI_API_KEY OPENAI_BASE_URL OPENAI_REALTIME_BASE_URL GEMINI_API_KEY GOOGLE_API_KEY "
    "VERTEX_PROJECT DASHSCOPE_API_KEY ENDPOINT_API_KEY AUDIOCAPBENCH_STORE"
)


def is_caption(request: Request) -> bool:
    return not isinstance(request.json["messages"][0]["content"], str)


def scores_of(prediction: str) -> dict[str, int]:
    """What the judge of these tests thinks of a caption: anything, but always the same."""
    digest = hashlib.sha256(prediction.encode()).digest()
    return {name: digest[index] % 11 for index, name in enumerate(DIMENSIONS)}


def reply(request: Request) -> dict[str, Any]:
    content = request.json["messages"][0]["content"]
    if is_caption(request):
        digest = hashlib.sha256(heard(content[1]).content).digest()
        return completion(CAPTIONS[digest[0] % len(CAPTIONS)])
    found = re.search('Model prediction:\\s+[“"](.*)[”"]', content)
    assert found
    return completion(json.dumps({**scores_of(found[1]), "reasoning": "So it seems."}))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=KEY, reply=reply) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return furnish(tmp_path)


def furnish(place: Path) -> Path:
    """Put ``data`` into a folder: two clips of each category."""
    (place / "data").mkdir()
    rows = []
    for index, category in enumerate(CATEGORIES):
        write_tone(place / "data" / f"{index}.wav", 200.0 + 50 * index)
        captions = [f"A steady tone number {index} hums.", f"Note {index} sounds."]
        row = {"file_name": f"{index}.wav", "id": IDS[index], "category": category}
        said = {"transcript": f"I say {index}"} if category == "speech" else {}
        rows.append({**row, "references": captions, **said})
    write_lines(place / "data", rows)
    return place


def _kept() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in NAMES.split()}


def start(place: Path, *words: str, **settings: str) -> Forked:
    return Forked(
        "-m",
        "audiocapbench.evaluate",
        *words,
        "--yes",
        cwd=place,
        env=_kept() | settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def call(place: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    program = partial(app, prog_name="python -m audiocapbench.evaluate")
    return run_command(*words, "--yes", cwd=place, env=_kept() | settings, program=program)


class Evaluated(NamedTuple):
    """The result JSON, what was said on stderr, and what the server was asked."""

    document: dict[str, Any]
    said: str
    requests: list[Request]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    """A run with every default, which several tests look at."""
    with OpenAIServer(key=KEY, reply=reply) as server:
        document, said = evaluate(furnish(tmp_path_factory.mktemp("whole")), server)
        return Evaluated(document, said, list(server.requests))


def evaluate(
    place: Path, server: OpenAIServer, *more: str, code: int = 0
) -> tuple[dict[str, Any], str]:
    """Run the command on gpt-audio; returns the result JSON and what was said on stderr."""
    keys = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url}
    done = call(place, *OPENAI, "--output", "out.json", *more, **keys)
    assert done.returncode == code, done.stderr
    return json.loads((place / "out.json").read_text(encoding="utf-8")), done.stderr


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def captioned(server: OpenAIServer) -> list[Request]:
    return [request for request in server.requests if is_caption(request)]


def check_numbers(document: dict[str, Any]) -> None:
    """Every number of a result must be what our own metrics say about its predictions."""
    good = [one for one in document["results"] if one["success"]]
    predictions = [one["prediction"] for one in good]
    references = [one["reference_captions"] for one in good]
    for result in compute([*METRICS, "cider_d"], predictions, references):
        assert document["corpus_scores"][result.name] == pytest.approx(result.score, abs=1e-12)
        values = [one["metrics"][result.name] for one in good]
        assert values == pytest.approx(result.samples.tolist(), abs=1e-12)
        for category, scores in document["per_category_scores"].items():
            part = [one["metrics"][result.name] for one in good if one["category"] == category]
            assert scores[result.name] == pytest.approx(mean(part), abs=1e-12)


def test_the_result_has_the_published_shape_and_our_numbers(whole: Evaluated, place: Path) -> None:
    document = whole.document
    assert (document["provider"], document["model_id"]) == ("openai", "gpt-audio")
    counts = (document["total_samples"], document["successful"], document["failed"])
    assert counts == (6, 6, 0)
    assert [one["id"] for one in document["results"]] == IDS
    benchmark = load_audiocapbench(place / "data")
    for one, sample in zip(document["results"], benchmark.samples, strict=True):
        assert one["reference_captions"] == list(sample.references)
        assert one["instruction"] == sample.instruction
        assert one["audio_file"] == sample.clip.file_name
        assert one["prediction"] in CAPTIONS
        assert one.get("transcript") == sample.details.get("transcript")
        assert "error" not in one
    assert set(document["per_category_scores"]) == {"sound", "music", "speech"}
    assert document["corpus_scores"]["rouge_l"] > 0
    assert document["protocol"] == "published"
    departs = {one["name"]: one["short"] for one in document["departures"]}
    assert departs == {"clips": "2 of 1,000 clips, 4 not the paper's", "music": "0.25 s music"}
    check_numbers(document)


def test_the_judge_is_gpt_4_1_with_the_published_means(whole: Evaluated) -> None:
    document = whole.document
    assert document["judge"] == "openai/gpt-4.1[protocol=published]"
    judged = [request.json for request in whole.requests if not is_caption(request)]
    assert {body["model"] for body in judged} == {"gpt-4.1"}
    assert sum("I say" in body["messages"][0]["content"] for body in judged) == 2
    for one in document["results"]:
        expected = scores_of(one["prediction"])
        assert {name: one["llm_judge"][name] for name in DIMENSIONS} == expected
        assert one["llm_judge"]["overall"] == round(mean(list(expected.values())), 2)
        assert one["llm_judge"]["reasoning"] == "So it seems."
    for name in (*DIMENSIONS, "overall"):
        values = [one["llm_judge"][name] for one in document["results"]]
        assert document["corpus_scores"][f"llm_{name}"] == pytest.approx(mean(values))
        speech = document["per_category_scores"]["speech"][f"llm_{name}"]
        assert speech == pytest.approx(mean(values[4:]))


def test_another_judge_can_be_named(place: Path, server: OpenAIServer) -> None:
    evaluate(place, server, "--judge-model", "gpt-5", "--max-samples", "1")
    assert [one.json["model"] for one in server.requests] == ["gpt-audio", "gpt-5"]


def test_without_a_judge_nobody_judges(place: Path, server: OpenAIServer) -> None:
    document, _ = evaluate(place, server, "--no-llm-judge", "--no-aac-metrics")
    assert len(server.requests) == len(captioned(server)) == 6
    assert document["judge"] is None
    assert set(document["corpus_scores"]) == set(METRICS)
    assert document["left_out"] == {}
    assert all("llm_judge" not in one for one in document["results"])


def test_a_metric_that_cannot_be_had_is_named_with_its_reason(whole: Evaluated) -> None:
    document = whole.document
    had = {name for name in document["corpus_scores"] if not name.startswith("llm_")}
    assert "cider_d" in had
    assert had | set(document["left_out"]) == {*METRICS, "cider_d", "spice", "spider", "fense"}
    assert not had & set(document["left_out"])
    assert "detector" in document["left_out"]["fense"]
    assert "Without fense: " in whole.said
    assert set(document["signatures"]) == {*had, "llm"}


def test_failures_are_counted_and_left_out_of_the_means(place: Path, server: OpenAIServer) -> None:
    server.plan = Plan([status(500), None, status(500)])
    words = ["--concurrency", "1", "--max-retries", "1"]
    document, said = evaluate(place, server, *words, code=1)
    assert (document["total_samples"], document["successful"], document["failed"]) == (6, 4, 2)
    first, second, third, *_ = document["results"]
    assert (first["success"], second["success"], third["success"]) == (False, True, False)
    assert "given up after 1 attempts" in first["error"]
    assert first["prediction"] == ""
    assert "metrics" not in first
    assert "llm_judge" not in first
    assert "2 of 6 without an answer" in said
    check_numbers(document)
    overall = [one["llm_judge"]["overall"] for one in document["results"] if one["success"]]
    assert document["corpus_scores"]["llm_overall"] == pytest.approx(mean(overall))


def test_when_nothing_is_answered_there_are_no_scores_but_a_result(
    place: Path, server: OpenAIServer
) -> None:
    server.plan = Plan(always=status(500))
    document, _ = evaluate(place, server, "--max-retries", "1", code=1)
    assert (document["successful"], document["failed"]) == (0, 6)
    assert document["corpus_scores"] == document["signatures"] == {}
    assert not any(one["success"] for one in document["results"])


def test_an_answer_that_was_cut_off_is_scored_as_published_and_a_failure_in_our_way(
    place: Path, server: OpenAIServer
) -> None:
    server.reply = lambda one: (
        completion("A dog ba", finish_reason="length") if is_caption(one) else reply(one)
    )
    document, _ = evaluate(place, server, "--max-samples", "1")
    [one] = document["results"]
    assert (one["success"], one["status"], one["prediction"]) == (True, "ok", "A dog ba")
    document, _ = evaluate(place, server, "--max-samples", "1", "--protocol", "ours", code=1)
    [one] = document["results"]
    assert (one["success"], one["status"], one["prediction"]) == (False, "truncated", "")


def test_the_same_command_asks_only_what_failed(place: Path, server: OpenAIServer) -> None:
    server.plan = Plan([status(500)])
    words = ["--concurrency", "1", "--max-retries", "1", "--no-aac-metrics"]
    evaluate(place, server, *words, code=1)
    before = len(server.requests)
    document, _ = evaluate(place, server, *words)
    assert document["failed"] == 0
    # The failed sample is asked and judged; captions that are alike are judged once.
    assert len(captioned(server)) == 7
    assert len(server.requests) - before <= 2
    before = len(server.requests)
    again, _ = evaluate(place, server, *words)
    assert len(server.requests) == before
    assert again == document


def test_a_category_and_a_limit_choose_samples_and_change_no_prompt(
    place: Path, server: OpenAIServer
) -> None:
    words = ["--no-llm-judge", "--no-aac-metrics"]
    document, _ = evaluate(place, server, *words, "--category", "music")
    assert [one["id"] for one in document["results"]] == ["music_2", "music_3"]
    assert set(document["per_category_scores"]) == {"music"}
    assert document["total_samples"] == len(server.requests) == 2
    known = {one.id: one.instruction for one in load_audiocapbench(place / "data").samples}
    assert all(one["instruction"] == known[one["id"]] for one in document["results"])
    document, _ = evaluate(place, server, *words, "--max-samples", "3")
    assert [one["id"] for one in document["results"]] == IDS[:3]


def test_a_judge_that_talks_nonsense_is_counted_and_never_a_score(
    place: Path, server: OpenAIServer
) -> None:
    server.reply = lambda one: reply(one) if is_caption(one) else completion("Lovely.")
    document, said = evaluate(place, server, "--max-samples", "2", code=1)
    assert document["failed"] == 0
    assert all("llm_judge" not in one for one in document["results"])
    assert all("Lovely." in one["llm_judge_error"] for one in document["results"])
    assert not any(name.startswith("llm_") for name in document["corpus_scores"])
    assert "2 answers could not be judged" in said


def test_keys_and_settings_reach_the_model_and_the_result_gets_a_name(
    place: Path, server: OpenAIServer
) -> None:
    keys = f"export OPENAI_API_KEY={KEY}\nOPENAI_BASE_URL={server.base_url}\n"
    (place / "credentials.env").write_text(keys)
    words = ["--provider", "openai", "--data-dir", "data", "--credentials", "credentials.env"]
    words += ["--max-tokens", "77", "--temperature", "0.5", "--max-samples", "1"]
    done = call(place, *words, "--no-llm-judge", "--no-aac-metrics")
    assert done.returncode == 0, done.stderr
    [request] = server.requests
    assert (request.json["max_completion_tokens"], request.json["temperature"]) == (77, 0.5)
    [path] = (place / "results").iterdir()
    assert path.name.startswith("openai_gpt-4o-audio-preview_")
    assert KEY not in path.read_text()


def test_a_realtime_model_is_asked_in_its_own_way(place: Path, server: OpenAIServer) -> None:
    needs("websockets")
    words = ["--provider", "openai", "--model", "gpt-realtime", "--data-dir", "data"]
    keys = {"OPENAI_API_KEY": KEY, "OPENAI_REALTIME_BASE_URL": server.url.replace("http", "ws")}
    call(place, *words, "--max-samples", "1", "--max-retries", "1", "--no-llm-judge", **keys)
    assert server.requests
    assert {(one.method, one.path.split("?")[1]) for one in server.requests} == {
        ("GET", "model=gpt-realtime")
    }


def test_all_models_are_one_a_provider_with_a_key_and_one_that_is_gone_stops_no_other(
    place: Path, server: OpenAIServer
) -> None:
    needs("websockets")
    gone = json_response({"error": {"message": "no such model", "code": "model_not_found"}}, 404)
    well = server.respond

    def respond(request: Request) -> Any:
        chat = request.method == "POST"
        return well(request) if chat and request.json["model"] != "gpt-audio" else gone

    server.respond = respond
    keys = {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_REALTIME_BASE_URL": server.url.replace("http", "ws"),
    }
    words = ["--all-models", "--data-dir", "data", "--output", "made/out.json"]
    more = ["--max-samples", "1", "--max-retries", "1", "--no-llm-judge", "--no-aac-metrics"]
    done = call(place, *words, *more, **keys)
    assert done.returncode == 1, done.stderr
    made = {path.name for path in (place / "made").iterdir()}
    assert made == {"out_openai_gpt-4o-audio-preview.json"}
    assert "no such model" in done.stderr
    assert "Without gemini: GEMINI_API_KEY or GOOGLE_API_KEY" in done.stderr
    assert "Without qwen_audio: DASHSCOPE_API_KEY" in done.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--provider", "openai"], "OPENAI_API_KEY is not set"),
        (["--provider", "gemini"], "GEMINI_API_KEY or GOOGLE_API_KEY is not set"),
        (["--provider", "qwen_audio"], "DASHSCOPE_API_KEY is not set"),
        (["--provider", "openai_realtime"], "OPENAI_API_KEY is not set"),
        (["--provider", "control", "--model", "safe"], "is not set; export it"),
        (["--all-models"], "--all-models needs a key, and none is set"),
        (["--all-models", "--provider", "openai"], "--all-models stands alone"),
        (["--model", "gpt-audio"], "give --provider"),
        (["--provider", "nobody", "--model", "knows"], "there is no model 'nobody/knows'"),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(
    place: Path, words: list[str], reason: str
) -> None:
    done = call(place, *words, "--data-dir", "data", "--output", "out.json")
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("audiocapbench: ")
    assert reason in line
    assert done.stdout == ""
    assert {path.name for path in place.iterdir()} == {"data"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--data-dir", "nowhere"], "nowhere: no such folder"),
        (["--category", "noise"], "has no category 'noise'"),
        (["--metadata", "nowhere.json"], "nowhere.json: no such file"),
        (["--metadata", "other.txt"], "is neither .csv, .tsv, .jsonl, .json, .parquet nor .xlsx"),
        (["--output", "data"], "data: cannot be written"),
        (["--output", "other.json/out.json"], "other.json: File exists"),
    ],
)
def test_wrong_use_is_found_before_anything_is_asked(
    place: Path, words: list[str], reason: str
) -> None:
    (place / "other.json").write_text("{}")
    (place / "other.txt").write_text("{}")
    start_of = ["--provider", "control", "--model", "safe", "--data-dir", "data", "--no-llm-judge"]
    done = call(place, *start_of, *words)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert reason in line
    assert not (place / "audiocapbench.db").exists()


def test_metadata_elsewhere_says_which_clips_there_are(place: Path) -> None:
    samples = [
        {
            "id": one.id,
            "category": one.category,
            "audio_file": one.clip.file_name,
            "reference_captions": list(one.references),
        }
        for one in load_audiocapbench(place / "data").samples
    ]
    words = ["--provider", "control", "--model", "safe", "--data-dir", "data", "--no-llm-judge"]
    words += ["--metadata", "elsewhere.json", "--output", "out.json"]
    path = place / "elsewhere.json"
    path.write_text(json.dumps({"samples": samples[:-1]}))
    assert call(place, *words).returncode == 0
    assert json.loads((place / "out.json").read_text())["total_samples"] == 5
    path.write_text("[]")
    assert "its metadata holds no samples" in call(place, *words).stderr
    path.unlink()
    assert "elsewhere.json: no such file" in call(place, *words).stderr


def test_an_interrupted_command_keeps_its_answers_and_writes_no_result(
    place: Path, server: OpenAIServer
) -> None:
    goes_on = threading.Event()

    def slow(request: Request) -> dict[str, Any]:
        if len(captioned(server)) > 2:
            goes_on.wait(120)
        return reply(request)

    server.reply = slow
    keys = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url}
    words = [*OPENAI, "--output", "out.json", "--concurrency", "1", "--no-aac-metrics"]
    process = start(place, *words, **keys)
    wait_until(lambda: len(server.requests) == 3)
    interrupt(process)
    goes_on.set()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Stopped after 3 of 6" in said
    assert not (place / "out.json").exists()
    document, _ = evaluate(place, server, "--no-aac-metrics", "--no-llm-judge")
    assert document["failed"] == 0
    assert len(captioned(server)) == 6


def test_importing_the_command_loads_nothing_heavy() -> None:
    code = (
        "import sys, audiocapbench.evaluate; print(sorted({'numpy', 'openai'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
