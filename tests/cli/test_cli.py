"""The command line as a person meets it: real processes, exit codes, and words."""

import contextlib
import gc
import io
import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import soundfile

from audiocapbench import cli
from audiocapbench.benchmarks.benchmark_file import shelf
from audiocapbench.benchmarks.traits import METRICS
from audiocapbench.cli import main
from audiocapbench.data import Manifest, MissingClip
from audiocapbench.data.folder import write_manifest
from command import run_command
from folders import write_folder, write_lines, write_ten_faults, write_tone
from plugin import environment, install

COMMANDS = """demo build annotate run race subset study import score leaderboard compare gate
variance power report view ratings figures site submission export mecat meta corrupt runs costs
models metrics judges benchmarks doctor""".split()


class Asked(NamedTuple):
    """A folder with runs, and how the command ended that made them."""

    folder: Path
    done: subprocess.CompletedProcess[str]


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_command(*words, cwd=folder, env=environment(folder))


def test_the_help_lists_the_commands_by_the_question_that_they_answer(tmp_path: Path) -> None:
    done = call(tmp_path, "--help")
    assert done.returncode == 0
    shown = done.stdout.partition("\nFirst:")[2].partition("\n\n  Exit codes")[0]
    names = [line.split()[0] for line in shown.split("\n") if re.match(r"  \w", line)]
    assert sorted(names) == sorted(COMMANDS)
    for question in ("I have captions:", "I must choose a model:", "I keep a benchmark:"):
        assert f"\n{question}\n" in shown


def test_the_version_is_printed(tmp_path: Path) -> None:
    from audiocapbench import __version__

    assert call(tmp_path, "--version").stdout == f"audiocapbench {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_has_a_help_text(tmp_path: Path, command: str) -> None:
    done = call(tmp_path, command, "--help")
    assert done.returncode == 0
    about, options = done.stdout.split("Options:")
    assert about.split("\n\n")[1].strip()
    for option in re.split(r"\n  (?=--)", options.strip("\n"))[1:]:
        assert re.search(r" {2,}\S+ \S+", option), option


def test_a_folder_with_ten_faults_gives_ten_lines_and_no_run(tmp_path: Path) -> None:
    done = call(tmp_path, "run", str(write_ten_faults(tmp_path)), "--model", "listener")
    assert done.returncode == 2
    assert done.stdout == ""
    head, *lines = done.stderr.splitlines()
    assert head.endswith("10 problems; nothing was done")
    assert len(lines) == 10
    assert all(line.startswith("  metadata.jsonl line ") for line in lines)
    assert not (tmp_path / "audiocapbench.db").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["run", "demo"], "--model"),
        (["run", "demo", "--model", "nobody/knows"], "there is no model 'nobody/knows'"),
        (["run", "demo", "--model", "control/left"], "there is no control/left; choose one of"),
        (["run", "nowhere", "--model", "listener"], "no benchmark and no folder 'nowhere'"),
        (["run", "demo", "--model", "listener", "--metrics", "blue"], "there is no metric 'blue'"),
        (["run", "demo", "--model", "listener", "--metrics", "bleu_1[a=b]"], "has no option 'a'"),
        (["run", "demo", "--model", "listener", "--category", "noise"], "has no category 'noise'"),
        (["run", "demo", "--model", "listener", "--limit", "0"], "--limit"),
        (["run", "demo", "--model", "listener", "--store", "no/where.db"], "does not exist"),
        (
            ["run", "demo", "--model", "listener", "--temperature", "0.7"],
            "listener takes no temperature; it takes no settings",
        ),
        (
            ["run", "demo", "--model", "control/safe", "--timeout", "9"],
            "control/safe takes no timeout; it takes no settings",
        ),
        (["run", "demo", "--model", "nowhere.py:Mine"], "'nowhere.py' cannot be read"),
        (["runs", "--store", "oracle://x"], "oracle is not supported"),
        (["dance"], "dance"),
    ],
)
def test_wrong_use_is_explained_in_one_message_with_exit_code_2(
    tmp_path: Path, words: list[str], reason: str
) -> None:
    done = call(tmp_path, *words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "audiocapbench.db").exists()


def test_a_run_prints_one_json_document_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones")
    models = ["--model", "listener", "--model", "control/safe"]
    done = call(tmp_path, "run", "tones", *models, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["store"] == "audiocapbench.db"
    listener, safe = document["runs"]
    assert (listener["model"], safe["model"]) == ("listener", "control/safe")
    assert listener["benchmark"] == "folder/tones"
    assert set(listener["by_group"]) == {"sound", "music"}
    figure = listener["metrics"]["bleu_4"]
    assert figure["signature"].startswith("bleu_4|variant:nltk|")
    assert figure["coverage"] == 1.0
    assert set(listener["metrics"]) == set(METRICS)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Two models on a part of the demo, one after the other."""
    folder = tmp_path_factory.mktemp("asked")
    models = ("--model", "control/right", "--model", "control/wrong")
    return Asked(folder, call(folder, "run", "demo", *models, "--limit", "12"))


def test_a_run_prints_a_leaderboard_that_fits_a_terminal(asked: Asked) -> None:
    done = asked.done
    assert done.returncode == 0, done.stderr
    assert "Leaderboard, with 95 % intervals" in done.stdout
    assert "meteor by category" in done.stdout
    assert done.stdout.index("control/right") < done.stdout.index("control/wrong")
    tables = [one for one in done.stdout.splitlines() if not one.startswith("Signature: ")]
    assert max(map(len, tables)) <= 80
    assert "…" not in done.stdout


def test_missing_clips_are_stated(tmp_path: Path) -> None:
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", 3)
    gone = MissingClip(id="tone_9", reason="removed")
    write_manifest(tmp_path / "tones", Manifest(name="tones", missing=[gone]))
    done = call(tmp_path, "run", "tones", "--model", "control/safe", "--json")
    assert "3 of 4 clips present" in done.stderr
    assert json.loads(done.stdout)["runs"][0]["missing_clips"] == 1


def test_the_listings_speak_json_too(tmp_path: Path) -> None:
    install(tmp_path)
    models = json.loads(call(tmp_path, "models", "--json").stdout)["models"]
    names = [one["name"] for one in models]
    assert names[:2] == ["listener", "control/right"]
    assert names[-1] == "diary/…"
    assert "openai/gpt-4o-audio-preview" in names
    assert "endpoint/…" in names
    assert models[0]["audio"].startswith("pcm16, 16000 Hz, mono")
    benchmarks = json.loads(call(tmp_path, "benchmarks", "--json").stdout)["benchmarks"]
    names = [one["name"] for one in benchmarks]
    known = ["demo", "audiocapbench", "mecat-caption", "mecat-qa", *shelf()]
    assert names == [*known, "FILE.toml", "FOLDER", "hf://datasets/ORG/NAME:SPLIT"]
    metrics = json.loads(call(tmp_path, "metrics", "--json").stdout)["metrics"]
    assert {"bleu_1", "rouge_l"} <= {one["name"] for one in metrics}
    for command, word in (("models", "listener"), ("benchmarks", "demo"), ("metrics", "rouge_l")):
        assert word in call(tmp_path, command).stdout


def test_runs_lists_what_was_asked(tmp_path: Path) -> None:
    empty = call(tmp_path, "runs")
    assert empty.returncode == 2
    assert "no such store; 'audiocapbench run' makes one" in empty.stderr
    call(tmp_path, "run", "demo", "--model", "control/empty", "--limit", "3")
    (line,) = json.loads(call(tmp_path, "runs", "--json").stdout)["runs"]
    assert (line["model"], line["sample_count"]) == ("control/empty", 3)
    assert line["statuses"] == {"empty": 3}
    assert "3 empty" in call(tmp_path, "runs").stdout


def test_a_clip_whose_header_alone_is_whole_is_a_failure_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    write_folder(tmp_path / "clips", 2)
    path = tmp_path / "clips" / "clips" / "0.wav"
    soundfile.write(path, [0.0, float("nan")] * 4000, 16_000, subtype="FLOAT")
    done = call(tmp_path, "run", "clips", "--model", "listener", "--json")
    assert done.returncode == 1
    assert "tone_0: failed: " in done.stderr
    assert "not finite numbers" in done.stderr
    assert json.loads(done.stdout)["runs"][0]["statuses"] == {"failed": 1, "ok": 1}


def test_failures_are_shown_under_all_three_policies(tmp_path: Path) -> None:
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", 6)
    bad = tmp_path / "tones" / "clips" / "0.wav"
    soundfile.write(bad, [0.0, float("nan")] * 4000, 16_000, subtype="FLOAT")
    done = call(tmp_path, "run", "tones", "--model", "listener", "--judge", "elements")
    assert done.returncode == 1
    found = re.search(
        r"listener: 1 of 6 clips have no answer \(1 failed\)\. "
        r"meteor: (\S+) without them, (\S+) as zero, "
        r"(\S+)–(\S+) at worst and best\.",
        done.stdout,
    )
    assert found
    left_out, zero, low, high = map(float, found.groups())
    assert zero == low == pytest.approx(left_out * 5 / 6, abs=0.001)
    assert high == pytest.approx(zero + 1 / 6, abs=0.001)
    assert "1 of 6 have no verdict of elements (1 failed). overall: " in done.stdout


def test_one_model_that_refuses_leaves_the_others_their_results(tmp_path: Path) -> None:
    site = install(tmp_path)
    module = (site / "diary_plugin.py").read_text()
    refusing = 'raise FatalError("the key is wrong; check DIARY_KEY")'
    module = module.replace(
        'if self.name == "diary/nul":',
        f'if self.name == "diary/no": {refusing}\n        if self.name == "diary/nul":',
    )
    module = module.replace(
        "from audiocapbench import",
        "from audiocapbench.errors import FatalError\nfrom audiocapbench import",
    )
    (site / "diary_plugin.py").write_text(module)
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", 2)
    models = ["--model", "diary/no", "--model", "control/safe"]
    done = call(tmp_path, "run", "tones", *models, "--json")
    assert done.returncode == 2
    assert "check DIARY_KEY" in done.stderr
    assert [run["model"] for run in json.loads(done.stdout)["runs"]] == ["control/safe"]


def test_terminal_escapes_in_data_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    write_tone(tmp_path / "clips" / "a.wav")
    row = {"file_name": "a.wav", "id": "a\x1b[31m", "category": "\x1b[2J", "references": ["only"]}
    write_lines(tmp_path / "clips", [row])
    done = call(tmp_path, "run", "clips", "--model", "control/right", "--model", "control/safe")
    assert "\x1b" not in done.stdout + done.stderr
    assert "a\\x1b[31m has one reference" in done.stderr


def test_no_digit_is_lost_where_there_is_little_room(asked: Asked) -> None:
    narrow = environment(asked.folder, COLUMNS="40")
    done = run_command("score", "1", cwd=asked.folder, env=narrow)
    assert done.returncode == 0, done.stderr
    assert "…" not in done.stdout
    assert len(re.findall(r"0\.\d{3}–0\.\d{3}", done.stdout)) >= 6


def test_a_stream_that_knows_only_ascii_is_no_reason_to_fail(tmp_path: Path) -> None:
    written = io.BytesIO()
    narrow = io.TextIOWrapper(written, encoding="ascii")

    def program() -> None:
        with contextlib.redirect_stdout(narrow):
            main()

    done = run_command("models", cwd=tmp_path, env=environment(tmp_path), program=program)
    assert done.returncode == 0, done.stderr
    narrow.flush()
    assert "listener" in written.getvalue().decode("utf-8")


def test_a_setting_that_a_plug_in_does_not_take_is_refused(tmp_path: Path) -> None:
    install(tmp_path)
    done = call(tmp_path, "run", "demo", "--model", "diary/x", "--temperature", "0.7")
    assert done.returncode == 2
    assert "diary/x takes no temperature; it takes no settings" in done.stderr
    assert not (tmp_path / "audiocapbench.db").exists()


def test_a_plug_in_that_cannot_be_imported_is_named(tmp_path: Path) -> None:
    site = install(tmp_path)
    (site / "diary_plugin.py").write_text("import not_a_package\n")
    done = call(tmp_path, "run", "demo", "--model", "diary/x")
    assert done.returncode == 2
    failure = "(ModuleNotFoundError: No module named 'not_a_package')"
    assert f"its plug-in diary_plugin:create fails {failure}" in done.stderr


@pytest.mark.parametrize("store", [":memory:", "sqlite://", "sqlite:///:memory:"])
def test_a_store_in_memory_is_refused(store: str, tmp_path: Path) -> None:
    done = run_command("runs", "--store", store, cwd=tmp_path)
    assert (done.returncode, "--store is memory" in done.stderr) == (2, True)


def test_a_run_goes_on_with_the_clips_that_are_there_and_counts_the_others(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "tones", 19)
    for number in range(1, 18):
        (root / "clips" / f"{number}.wav").unlink()
    asked = ("tones", "--model", "control/safe", "--json")
    refused = call(tmp_path, "run", *asked)
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 3
    said = "'clips/1.wav' does not exist (and 16 more of this kind, 'clips/2.wav', 'clips/3.wav')"
    assert said in refused.stderr
    assert "go on with the 2 other clips by --skip-missing" in refused.stderr
    done = call(tmp_path, "run", *asked, "--skip-missing")
    assert done.returncode == 0, done.stderr
    assert "2 of 19 clips present; 17 missing (no such file)." in done.stderr
    (found,) = json.loads(done.stdout)["runs"]
    assert found["missing_clips"] == 17
    board = call(tmp_path, "leaderboard").stdout
    assert "2 samples, 17 clips missing" in board


def test_a_run_says_which_channels_were_heard(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "tones", 2)
    noise = np.random.default_rng(0).uniform(-0.4, 0.4, 16_000)
    soundfile.write(root / "clips" / "0.wav", np.stack([noise, -noise], axis=1), 16_000)
    done = call(tmp_path, "run", "tones", "--model", "listener")
    assert done.returncode == 0, done.stderr
    shown = json.loads(call(tmp_path, "runs", "show", "1", "--json").stdout)
    note = "the mean of its 2 channels loses 60.0 dB; heard by channel 1"
    assert (shown["notes"], shown["failures"]) == ({note: 1}, {})
    assert "hiss" in shown["answers"]["tone_0"]
    assert f"1 × {note}" in call(tmp_path, "runs", "show", "1").stdout


def test_what_asks_in_turns_keeps_no_garbage_of_the_turn_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual, frozen = gc.get_threshold(), list[int]()
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    try:
        gc.set_threshold(*cli._FEW)  # as a command begins
        for _ in range(3):
            cli.collect_as_usual()
        assert (frozen, gc.get_threshold()) == ([1], usual)
    finally:
        gc.set_threshold(*usual)
