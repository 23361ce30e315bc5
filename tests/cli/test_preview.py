"""Nothing is spent unseen: what is said, asked and refused before a paid model is asked."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from audiocapbench.cli import main
from audiocapbench.evaluate import app as evaluate
from command import run_command
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder, write_tone
from forks import Forked
from plugin import asked, environment, install
from terminal import on_a_terminal, on_a_terminal_of_its_own

KEY = "sk-not-a-real-key"
WORDS = "run tones --metrics rouge_l --model diary/paid --prices prices.json".split()
BEFORE = "run tones --metrics rouge_l --model control/right".split()
VERDICT = {"accuracy": 8, "completeness": 6, "hallucination": 9, "reasoning": "Good."}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with clips, a paid plug-in, and its prices."""
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", 4)
    install(tmp_path)
    price = {
        "text_in": 1000.0,
        "audio_in": 1000.0,
        "out": 1000.0,
        "audio_tokens_per_s": 10.0,
        "source": "made up",
        "as_of": "2026-01-01",
    }
    table = {
        "currency": "USD",
        "unit": "per 1,000,000 tokens",
        "models": {"diary/paid": price, "openai/gpt-4.1": price},
    }
    (tmp_path / "prices.json").write_text(json.dumps(table))
    (tmp_path / "pairs.csv").write_text(
        "audio,caption_a,caption_b,preferred,reference_1\n"
        "0.wav,A tone hums.,Rain falls.,a,A steady tone.\n"
        "1.wav,Dogs bark.,A tone sounds.,b,A note sounds.\n"
    )
    (tmp_path / "captions.csv").write_text(
        "id,reference\na,A dog barks loudly.\na,A dog is barking.\nb,Rain falls.\nb,It rains.\n"
    )
    return tmp_path


def settings(place: Path, **more: str) -> dict[str, str]:
    return environment(place, DIARY_PAUSE="0", OPENAI_API_KEY=KEY, **more)


def call(place: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return run_command(*WORDS, *more, cwd=place, env=settings(place))


def typed_at(place: Path, keys: bytes, *more: str, **files: Path) -> tuple[int, str]:
    return on_a_terminal([*WORDS, *more], keys, cwd=place, env=settings(place), files=files)


def test_the_preview_counts_what_is_left_and_what_it_will_cost(place: Path) -> None:
    first = call(place, "--limit", "3", "--yes")
    assert "diary/paid: 3 clips, 1 s of audio, about $0." in first.stderr
    again = call(place, "--limit", "3")
    assert again.returncode == 0
    assert "about $" not in again.stderr


@pytest.fixture
def provider(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Runs commands with a paid model and judge that a server on loopback answers."""

    def reply(request: Request) -> dict[str, Any]:
        return completion("A tone." if b"input_audio" in request.body else json.dumps(VERDICT))

    with OpenAIServer(key=KEY, reply=reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)

        def ask(*more: str) -> tuple[subprocess.CompletedProcess[str], int]:
            words = "run tones --metrics rouge_l --model openai/gpt-4o-audio-preview".split()
            done = run_command(*words, *more, cwd=place, env=settings(place))
            return done, len(server.requests)

        yield ask


def test_what_the_cache_answers_is_not_counted_as_paid(provider: Callable[..., Any]) -> None:
    assert provider("--limit", "3", "--yes")[1] == 3
    more, _ = provider()
    assert "preview: 1 clip, 0 s of audio, answers up to 1,024 tokens, about $0." in more.stderr
    assert "; 3 reused from the cache" in more.stderr
    assert "preview: 4 clips, 1 s" in provider("--fresh")[0].stderr
    fewer, requests = provider("--limit", "2")  # a run of its own, all of it answered before
    assert fewer.returncode == 0, fewer.stderr
    assert "about $" not in fewer.stderr
    assert requests == 3


def test_verdicts_that_the_cache_has_are_not_counted_as_paid(provider: Callable[..., Any]) -> None:
    judged = ("--judge", "openai/gpt-4.1")
    assert provider("--limit", "3", *judged, "--yes")[1] == 6
    more, _ = provider(*judged)
    [line] = [one for one in more.stderr.splitlines() if one.startswith("judge")]
    assert line.startswith("judge openai/gpt-4.1: 1 answer, about $")
    assert line.endswith("; 3 reused from the cache")
    fewer, requests = provider("--limit", "2", *judged)
    assert (fewer.returncode, requests) == (0, 6), fewer.stderr


def test_a_changed_reference_is_said_to_begin_a_new_run_and_pays_nothing_again(
    place: Path, provider: Callable[..., Any]
) -> None:
    assert provider("--yes")[0].returncode == 0
    file = place / "tones" / "metadata.jsonl"
    first = file.read_text()
    file.write_text(first.replace("number 3 sounds", "number three sounds"))
    again, _ = provider()
    assert again.returncode == 0, again.stderr
    assert "1 sample has other references, instruction or category since run 1" in again.stderr
    assert "since run 1, so this is a new run: tone_3" in again.stderr
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:3]))
    fewer, requests = provider()
    assert "1 sample has come or gone since run 2, so this is a new run: tone_3" in fewer.stderr
    file.write_text(first)
    assert "so this is a new run" not in provider()[0].stderr  # run 1 goes on
    assert requests == 4


def test_audio_that_the_metadata_does_not_name_is_said(place: Path) -> None:
    write_tone(place / "tones" / "clips" / "extra.wav")
    said = run_command(*BEFORE, cwd=place, env=settings(place)).stderr
    assert "1 audio file not named in the metadata, left out: clips/extra.wav" in said


def test_a_spent_budget_is_no_interruption_and_what_was_judged_is_shown(
    place: Path, provider: Callable[..., Any]
) -> None:
    assert provider("--yes")[0].returncode == 0
    words = "score 1 --metrics rouge_l --judge openai/gpt-4.1 --yes --budget".split()
    none = run_command(*words, "0.0001", cwd=place, env=settings(place))
    assert none.returncode == 1, none.stderr
    assert "rouge_l" in none.stdout
    assert "Judge openai" not in none.stdout
    assert "a budget of $0.0001 is too small" in none.stderr
    some = run_command(*words, "0.002", cwd=place, env=settings(place))
    assert some.returncode == 1, some.stderr
    assert "Judge openai/gpt-4.1" in some.stdout
    stopped = next(one for one in some.stderr.splitlines() if one.startswith("Judged "))
    assert stopped.startswith(("Judged 1 of 4", "Judged 2 of 4", "Judged 3 of 4")), stopped
    assert "the budget is spent" in stopped


def test_the_judge_is_counted_apart(place: Path) -> None:
    done = call(place, "--judge", "openai/gpt-4.1", "--budget", "0.01", "--yes")
    assert "diary/paid: 4 clips, 1 s of audio, about $0." in done.stderr
    [line] = [line for line in done.stderr.splitlines() if line.startswith("judge")]
    assert line.startswith("judge openai/gpt-4.1: 4 answers, about $")
    # The published prompt has some 2,000 letters, so at this price half a dollar or so each.
    assert 1.5 < float(line.rpartition("$")[2]) < 5.0
    assert "The budget is $0.01" in done.stderr
    assert done.returncode == 1


# A terminal


def test_a_terminal_is_asked_before_anything_is_spent(place: Path) -> None:
    code, shown = typed_at(place, b"n\n")
    assert code == 130
    assert "Nothing was asked." in shown
    assert asked(place) == []
    code, shown = typed_at(place, b"y\n")
    assert code == 0, shown
    assert len(asked(place)) == 4


@pytest.mark.parametrize("keys", [b"\n", b"\x04", b"\x03"])
def test_anything_but_yes_is_no(place: Path, keys: bytes) -> None:
    asking = on_a_terminal_of_its_own if keys == b"\x03" else on_a_terminal
    code, shown = asking(WORDS, keys, cwd=place, env=settings(place))
    assert code == 130, shown
    assert "Traceback" not in shown
    assert asked(place) == []


def test_yes_is_not_asked(place: Path) -> None:
    code, shown = typed_at(place, b"", "--yes")
    assert code == 0
    assert "Go on?" not in shown


def test_the_question_leaves_the_document_alone(place: Path) -> None:
    code, shown = typed_at(place, b"y\n", "--json", stdout=place / "out.json")
    assert code == 0, shown
    text = (place / "out.json").read_text()
    assert text.startswith("{")
    assert json.loads(text)["runs"][0]["answered"] == 4


# No one to be asked


def test_without_a_terminal_nothing_is_spent_and_the_cost_is_said(place: Path) -> None:
    done = call(place, "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "diary/paid: 4 clips, 1 s of audio, about $0." in done.stderr
    assert "this will cost about $0." in done.stderr
    assert "--yes" in done.stderr
    assert asked(place) == []
    assert call(place, "--yes").returncode == 0


def test_yes_from_a_pipe_is_no_one_s_word(place: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"y\n" * 100)
    os.close(writer)

    def program() -> None:
        with os.fdopen(reader, encoding="utf-8") as pipe, patch.object(sys, "stdin", pipe):
            main()

    done = run_command(*WORDS, cwd=place, env=settings(place), program=program)
    assert done.returncode == 2, done.stderr
    assert "--yes" in done.stderr
    assert asked(place) == []


def test_a_closed_standard_input_is_no_one_s_word(place: Path) -> None:
    # As an interpreter finds it that starts without one.
    code = (
        "import os, sys; os.close(0); sys.stdin = None; from audiocapbench.cli import main; main()"
    )
    process = Forked("-c", code, *WORDS, cwd=place, env=settings(place), stderr=subprocess.PIPE)
    _, said = process.communicate(120)
    assert process.returncode == 2, said
    assert "--yes" in said
    assert "Traceback" not in said
    assert asked(place) == []


def test_a_question_that_no_one_would_see_is_not_asked(place: Path) -> None:
    code, _shown = typed_at(place, b"y\n", stderr=place / "said.txt")
    assert code == 2
    assert "--yes" in (place / "said.txt").read_text()
    assert asked(place) == []


def test_an_unknown_price_is_agreed_to_like_a_known_one(place: Path) -> None:
    words = ("run", "tones", "--metrics", "rouge_l", "--model", "diary/new")
    unknown = settings(place, DIARY_PRICE="unknown")
    done = run_command(*words, cwd=place, env=unknown)
    assert done.returncode == 2
    assert "cost unknown" in done.stderr
    assert "this will cost an unknown amount" in done.stderr
    assert asked(place) == []
    assert run_command(*words, "--yes", cwd=place, env=unknown).returncode == 0


def test_what_is_free_is_never_asked_about(place: Path) -> None:
    models = ("--model", "listener", "--model", "control/safe", "--model", "diary/free")
    done = run_command(
        "run", "tones", *models, "--judge", "elements", cwd=place, env=settings(place)
    )
    assert done.returncode == 0, done.stderr
    assert "cost" not in done.stderr


# Every command that may pay


@pytest.fixture
def server() -> Iterator[OpenAIServer]:

    def reply(request: Request) -> dict[str, Any]:
        judging = b"Model prediction" in request.body
        return completion(json.dumps(VERDICT) if judging else "A tone hums.")

    with OpenAIServer(key=None, reply=reply) as running:
        yield running


COMMANDS = {
    "run": "run tones --metrics rouge_l --model {model}",
    "run with a paid judge": "run tones --metrics rouge_l --model control/safe --judge {model}",
    "score": "score 1 --metrics rouge_l --judge {model}",
    "score in rounds": "score 1 --metrics rouge_l --judge elements --judge {model} --repeats 2",
    "judges check": "judges check {model} --data tones --limit 2",
    "meta, a judge": "meta csv --pairs pairs.csv --scorer control:longer --scorer judge:{model}",
    "meta, a model": "meta csv --pairs pairs.csv --data tones/clips --scorer model:{model} --swap",
    "meta, a reader": "meta csv --pairs pairs.csv --scorer model:control/safe[audio=no] "
    "--reader {model}[read=all]",
    "corrupt": "corrupt captions.csv --out made.csv --model {model}",
    "evaluate": "evaluate --provider endpoint --model {id} --data-dir tones --no-llm-judge "
    "--no-aac-metrics",
    "evaluate with a paid judge": "evaluate --provider control --model safe --data-dir tones "
    "--judge-model {model} --no-aac-metrics",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_spending_agreed_to(
    place: Path, server: OpenAIServer, name: str
) -> None:
    own = settings(place)
    model = f"endpoint/gpt@{server.base_url}"
    words = COMMANDS[name].format(model=model, id=model.partition("/")[2]).split()
    if words[0] == "score":
        run_command(*BEFORE, cwd=place, env=own)
    program: Callable[[], object] = main
    if words[0] == "evaluate":
        words, program = words[1:], partial(evaluate, prog_name="evaluate")
    refused = run_command(*words, cwd=place, env=own, program=program)
    assert refused.returncode == 2, refused.stderr
    assert refused.stdout == ""
    assert "cost unknown" in refused.stderr
    assert "--yes" in refused.stderr
    assert server.requests == []
    agreed = run_command(*words, "--yes", cwd=place, env=own, program=program)
    assert server.requests, agreed.stderr
    assert "Traceback" not in agreed.stderr
    # What is known is not paid for: nothing is left to agree to.
    before = len(server.requests)
    again = run_command(*words, cwd=place, env=own, program=program)
    assert again.returncode == agreed.returncode, again.stderr
    assert len(server.requests) == before


def test_all_scorers_of_a_trial_are_agreed_to_before_the_first_is_asked(
    place: Path, server: OpenAIServer
) -> None:
    names = [f"judge:endpoint/{name}@{server.base_url}" for name in ("first", "second")]
    words = ["meta", "csv", "--pairs", "pairs.csv", "--scorer", names[0], "--scorer", names[1]]
    code, shown = on_a_terminal(words, b"y\n", cwd=place, env=settings(place))
    assert code == 0, shown
    assert shown.count("Go on?") == 1
    assert shown.index("endpoint/second") < shown.index("Go on?")


@pytest.mark.parametrize("words", ["run tones --model diary/paid --prices prices.json", "score 1"])
def test_a_judge_without_a_price_is_refused_before_the_model_is_paid(
    place: Path, server: OpenAIServer, words: str
) -> None:
    if words.startswith("score"):
        run_command(*BEFORE, cwd=place, env=settings(place))
    judge = ("--judge", f"endpoint/gpt@{server.base_url}", "--budget", "5", "--yes")
    done = run_command(*words.split(), *judge, cwd=place, env=settings(place))
    assert done.returncode == 2
    assert "no price is known for judge endpoint/gpt" in done.stderr
    assert asked(place) == []
    assert server.requests == []
