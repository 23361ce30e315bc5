"""How far scores and ranks hang on how a judge is asked, with a judge whose whims are known."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.errors import JudgeError
from audiocapbench.judges import create_judge
from audiocapbench.judges.contract import shuffled
from audiocapbench.judges.sensitivity import judge_variants
from audiocapbench.store import Store
from command import run_command
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

CLIPS = 12
UNIT = "per 1,000,000 tokens"


class Whims:
    """Likes the tool's layout less, needs a schema to be strict, and reads the first reference.

    Each further round is one point stricter about inventions. In the tool's layout the safe
    sentence loses to captions of other clips.
    """

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, bool]] = Counter()

    def __call__(self, request: Request) -> dict[str, Any]:
        content = request.json["messages"][0]["content"]
        prompt = content if isinstance(content, str) else content[0]["text"]
        tool, schema = "Model prediction:\n" in prompt, "response_format" in request.json
        again = self.asked[prompt, schema]
        self.asked[prompt, schema] += 1
        references, _, answer = prompt.partition("Reference captions")[2].partition("prediction:")
        safe = "tone" not in answer.lower()
        first = references.partition("  - ")[2]
        scores = {
            "accuracy": (2 if safe else 6) if tool else (6 if safe else 4),
            "completeness": 5 if first.startswith("A steady tone") else 3,
            "hallucination": 9 - again if schema else 10,
        }
        return completion(json.dumps(scores | {"reasoning": "So."}))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None, reply=Whims()) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Run 1 says one safe sentence, run 2 captions of other clips."""
    write_folder(tmp_path / "tones", CLIPS)
    models = ["--model", "control/safe", "--model", "control/wrong"]
    done = run_command("run", "tones", *models, "--metrics", "rouge_l", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


def study(place: Path, server: OpenAIServer, *words: str) -> Any:
    judge = f"endpoint/gpt@{server.base_url}"
    command = ["judges", "sensitivity", *words, "--judge", judge, "--yes", "--json"]
    done = run_command(*command, cwd=place)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_change_shows_in_its_own_row_and_dimension(place: Path, server: OpenAIServer) -> None:
    found = study(place, server, "1", "--repeats", "1")
    rows = {one["variant"]: one for one in found["figures"]}
    assert list(rows) == ["prompt: tool", "schema: no", "references: shuffled"]
    means = {
        name: {key: shift["mean"] for key, shift in one["shifts"].items() if shift["mean"]}
        for name, one in rows.items()
    }
    assert means["prompt: tool"] == pytest.approx({"overall": -4 / 3, "accuracy": -4})
    assert means["schema: no"] == pytest.approx({"overall": 1 / 3, "hallucination": 1})
    assert means["references: shuffled"] == pytest.approx({"overall": -2 / 3, "completeness": -2})
    assert rows["schema: no"]["shifts"]["overall"]["changed"] == 1
    assert all(one["n"] == CLIPS and one["failed"] == 0 for one in rows.values())
    assert found["signature"].startswith("judge-audiocapbench|")


def test_rounds_are_held_against_the_first(place: Path, server: OpenAIServer) -> None:
    second, third, *_ = study(place, server, "1")["figures"]
    assert (second["variant"], third["variant"]) == ("round 2", "round 3")
    for one in (second, third):
        moved = {name for name, shift in one["shifts"].items() if shift["changed"]}
        assert moved == {"overall", "hallucination"}
        # Questions of several rounds are under way at once, in no order.
        assert one["shifts"]["hallucination"]["mean_size"] >= 1


def test_ranks_of_several_runs_are_held_against_the_judge_as_named(
    place: Path, server: OpenAIServer
) -> None:
    found = study(place, server, "1", "2", "--repeats", "1")
    rows = {one["variant"]: one for one in found["figures"]}
    assert rows["prompt: tool"]["tau"] == pytest.approx(-1)
    assert rows["prompt: tool"]["ranks"] == {"1": [1, 2], "2": [2, 1]}
    assert rows["schema: no"]["tau"] == pytest.approx(1)
    assert rows["schema: no"]["n"] == 2 * CLIPS


def test_verdicts_are_kept_under_the_variants_names_and_asked_once(
    place: Path, server: OpenAIServer
) -> None:
    first = study(place, server, "1", "--sample", "5", "--repeats", "2")
    assert first["samples"] == 5
    assert len(server.requests) == 5 * (2 + 3)
    assert study(place, server, "1", "--sample", "5", "--repeats", "2") == first
    assert len(server.requests) == 5 * (2 + 3)
    kept = Store.open(str(place / "audiocapbench.db"))
    judge = f"endpoint/gpt@{server.base_url}"
    for options in ("", "[prompt=tool]", "[schema=no]", "[references=shuffled]"):
        assert kept.judgements(1, create_judge(judge + options).name), options
    # A judge of that name goes on with the others, and does not ask these again.
    done = run_command("score", "1", "--judge", f"{judge}[schema=no]", "--yes", cwd=place)
    assert done.returncode == 0, done.stderr
    assert len(server.requests) == 5 * (2 + 3) + CLIPS - 5


def test_the_table_fits_words_and_the_figure_is_an_svg(place: Path, server: OpenAIServer) -> None:
    judge = ["--judge", f"endpoint/gpt@{server.base_url}", "--yes"]
    command = ["judges", "sensitivity", "1", "2", *judge, "--repeats", "1", "--out", "moves.svg"]
    done = run_command(*command, cwd=place)
    assert done.returncode == 0, done.stderr
    assert "prompt: tool" in done.stdout
    assert "2 of 2" in done.stdout
    assert "hallucination" in done.stdout
    assert max(map(len, done.stdout.partition("Signature")[0].splitlines())) <= 80
    drawn = (place / "moves.svg").read_text("utf-8")
    assert drawn.startswith("<?xml")
    assert "references: shuffled" in drawn
    assert "with 95 % intervals" in drawn


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["1", "--judge", "elements"], "elements is computed on this machine"),
        (["9", "--judge", "elements"], "9"),
        (["1", "--judge", "endpoint/m@http://127.0.0.1:1/v1"], "Add --yes"),
        (["1", "--judge", "elements", "--out", "moves.gif"], "there is no format 'gif'"),
        (["1", "--judge", "elements", "--out", "nowhere/moves.svg"], "cannot be written"),
        (["1", "--judge", "endpoint/m@http://127.0.0.1:1/v1", "--budget", "1"], "no price"),
    ],
)
def test_what_cannot_be_studied_is_said_and_nothing_asked(
    place: Path, words: list[str], reason: str
) -> None:
    done = run_command("judges", "sensitivity", *words, cwd=place)
    assert done.returncode == 2
    assert reason in " ".join(done.stderr.split())


def test_a_spent_budget_stops_it_and_more_goes_on(place: Path, server: OpenAIServer) -> None:
    judge = f"endpoint/gpt@{server.base_url}"
    price = {"text_in": 10, "out": 10, "source": "a test", "as_of": "2026-01-01"}
    (place / "prices.json").write_text(
        json.dumps({"currency": "USD", "unit": UNIT, "models": {judge: price}})
    )
    words = ["judges", "sensitivity", "1", "--judge", judge, "--yes", "--prices", "prices.json"]
    done = run_command(*words, "--budget", "0.05", cwd=place)
    assert done.returncode == 1, done.stdout
    assert "the study was stopped" in " ".join(done.stderr.split())
    before = len(server.requests)
    assert before < 6 * CLIPS
    assert run_command(*words, "--budget", "50", cwd=place).returncode == 0
    assert len(server.requests) == 6 * CLIPS


def test_runs_of_other_data_are_refused(place: Path, server: OpenAIServer) -> None:
    run_command("run", "demo", "--model", "control/safe", "--limit", "2", cwd=place)
    judge = ["--judge", f"endpoint/gpt@{server.base_url}"]
    done = run_command("judges", "sensitivity", "1", "3", *judge, cwd=place)
    assert done.returncode == 2
    assert "different benchmarks" in done.stderr


@pytest.mark.parametrize(
    ("options", "contract", "changed"),
    [
        ("", "audiocapbench", ["[prompt=tool]", "[schema=no]", "[references=shuffled]"]),
        ("[prompt=tool,schema=no]", "audiocapbench", ["paper", "[prompt=tool]", "shuffled"]),
        (
            "[protocol=published]",
            "audiocapbench",
            ["[prompt=paper,protocol=published]", "shuffled"],
        ),
        ("[references=shuffled]", "audiocapbench", ["prompt=tool", "schema=no", "/v1"]),
        ("", "mecat-caption", ["[contract=mecat-caption,schema=no]", "references=shuffled]"]),
    ],
)
def test_one_thing_is_changed_at_a_time_whatever_the_judge_is_named(
    options: str, contract: str, changed: list[str]
) -> None:
    found, left_out = judge_variants(f"endpoint/m@http://127.0.0.1:1/v1{options}", contract)
    names = [one.name for label, one in found.items() if label]
    assert len(names) == len(changed)
    assert all(part in name for part, name in zip(changed, names, strict=True)), names
    assert len({str(one.signature) for one in found.values()}) == 1 + len(changed)
    assert len(left_out) == 3 - len(changed)


def test_another_order_is_really_another_and_always_the_same() -> None:
    for count in (2, 3, 5):
        references = tuple(f"reference {number}" for number in range(count))
        for seed in map(str, range(20)):
            order = shuffled(references, seed)
            assert order != references
            assert sorted(order) == sorted(references)
            assert order == shuffled(references, seed)
    assert shuffled(("one",), "x") == ("one",)
    assert shuffled(("one", "one"), "x") == ("one", "one")


def test_the_order_of_references_is_in_name_and_signature() -> None:
    judge = create_judge("endpoint/m@http://127.0.0.1:1/v1[references=shuffled]")
    assert judge.name.endswith("[references=shuffled]")
    assert "|references:shuffled" in str(judge.signature)
    with pytest.raises(JudgeError, match="can only be shuffled"):
        create_judge("endpoint/m@http://127.0.0.1:1/v1[references=sorted]")
