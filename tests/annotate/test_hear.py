"""The stage hear: each clip once, every expert that did not run or failed with its reason."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import expert_plugin
from audiocapbench import audio
from audiocapbench.annotate.experts import DomainRules, decide, kind_of_label, set_up
from audiocapbench.benchmarks.captioning import demo_clips
from audiocapbench.data.loose import list_audio, open_clips
from audiocapbench.errors import AnnotationError
from audiocapbench.store import Store
from audiocapbench.store.cache import Finding
from command import run_command
from folders import write_tone
from forks import Forked
from needs import needs

DOMAINS = ["S00", "0M0", "00A", "SMA"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Twenty clips of known domains, and the plug-in expert."""
    clips = tmp_path / "clips"
    clips.mkdir()
    lines = ["file_name,domain,source"]
    for number in range(20):
        write_tone(clips / f"{number:02}.wav", 200.0 + 10 * number)
        lines.append(f"{number:02}.wav,{DOMAINS[number % 4]},tape {number // 2}")
    (clips / "metadata.csv").write_text("\n".join(lines) + "\n")
    expert_plugin.install(tmp_path)
    return tmp_path


def hear(place: Path, *words: str, **settings: str) -> Any:
    return run_command(
        *("annotate", "hear", "clips", "--expert", "signal", "--expert", "diary", *words),
        cwd=place,
        env=expert_plugin.environment(place, **settings),
    )


def document(done: Any) -> Any:
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_every_clip_is_heard_once_however_often_the_command_is_given(place: Path) -> None:
    first = hear(place, "--json")
    assert first.returncode == 0, first.stderr
    said = document(first)
    assert said["domains"] == dict.fromkeys(sorted(DOMAINS), 5)
    assert said["experts"] == {"signal": {"ok": 20}, "diary": {"ok": 20}}
    assert document(hear(place, "--json")) == said
    assert sorted(expert_plugin.heard(place)) == [f"{number:02}.wav" for number in range(20)]


def test_a_killed_hearing_goes_on_where_it_was(place: Path) -> None:
    words = ["annotate", "hear", "clips", "--expert", "signal", "--expert", "diary"]
    dying = expert_plugin.environment(place, EXPERT_DIES="18.wav")
    died = Forked("-m", "audiocapbench", *words, cwd=place, env=dying)
    assert died.wait(120) == -signal.SIGKILL
    before = expert_plugin.heard(place)
    assert "18.wav" in before
    assert hear(place).returncode == 0
    after = expert_plugin.heard(place)[len(before) :]
    assert {f"{number:02}.wav" for number in range(20)} == {*before, *after}
    assert len(after) == len(set(after)) <= 16, "the batch in flight alone"
    assert before[0] not in after


def test_whoever_interrupts_is_told_that_what_was_done_is_kept(place: Path) -> None:
    done = hear(place, EXPERT_INTERRUPTS="18.wav")
    assert done.returncode == 130
    assert "is kept in audiocapbench.db; the same command goes on" in done.stderr
    before = len(expert_plugin.heard(place))
    assert hear(place).returncode == 0
    after = expert_plugin.heard(place)[before:]
    assert "18.wav" in after
    assert len(after) <= 16, "the batch in flight alone"


@pytest.mark.slow
def test_experts_on_a_ray_cluster_find_the_same(place: Path) -> None:
    needs("ray")
    from ray_cluster import local_cluster

    (place / "clips" / "cut.wav").write_bytes((place / "clips/00.wav").read_bytes()[:3000])
    said = []
    with local_cluster(1) as cluster:
        for engine in ("local", f"ray={cluster.address}"):
            told = ("--expert", "signal", "--engine", engine, "--store", f"{engine[:3]}.db")
            done = run_command("annotate", "hear", "clips", *told, "--json", cwd=place)
            assert done.stdout, done.stderr
            with Store.open(str(place / f"{engine[:3]}.db")) as store:
                records = store.annotations.records(str((place / "clips").resolve()), "hear")
            said.append((json.loads(done.stdout), records))
    assert said[0][0]["experts"] == {"signal": {"ok": 20}}
    assert said[0] == said[1]


def test_an_expert_that_fails_on_a_clip_fails_there_alone(place: Path) -> None:
    words = ("annotate", "hear", "clips", "--expert", "diary", "--json")
    env = expert_plugin.environment(
        place,
        EXPERT_FAILS="03.wav",
        EXPERT_NAN="05.wav",
        EXPERT_EXITS="07.wav",
        EXPERT_SURE="09.wav",
    )
    done = run_command(*words, cwd=place, env=env)
    assert done.returncode == 1
    assert document(done)["experts"] == {"diary": {"ok": 16, "failed": 4}}
    with Store.open(str(place / "audiocapbench.db")) as store:
        records = store.annotations.records(str((place / "clips").resolve()), "hear")
    error = records["03.wav"].document["experts"]["diary"]["error"]
    assert "cannot bear this one" in error
    assert "expert_plugin_module.py:" in error
    assert "had enough" in records["07.wav"].document["experts"]["diary"]["error"]
    sure = records["09.wav"].document["experts"]["diary"]["error"]
    assert "a confidence of 1.5, and not from 0 to 1" in sure
    assert "JSON" in records["05.wav"].document["experts"]["diary"]["error"]
    assert records["03.wav"].status == "ok", "the others' findings are still of use"


def test_experts_hear_only_the_domains_that_they_are_for(place: Path) -> None:
    done = hear(place, "--json", EXPERT_DOMAINS="M")
    assert document(done)["experts"]["diary"] == {"ok": 10}
    assert sorted(expert_plugin.heard(place))[:2] == ["01.wav", "03.wav"]


def test_an_expert_that_no_clip_concerned_is_in_the_table_all_the_same(place: Path) -> None:
    (place / "clips" / "metadata.csv").unlink()
    done = hear(place, "--json", EXPERT_DOMAINS="M")
    assert document(done)["experts"] == {"signal": {"ok": 20}, "diary": {}, "listener": {"ok": 20}}


def test_what_cannot_run_or_be_read_is_counted_with_its_reason(place: Path) -> None:
    needs("torch")
    (place / "clips" / "cut.wav").write_bytes(b"RIFF")
    (place / "clips" / "twin.wav").write_bytes((place / "clips" / "00.wav").read_bytes())
    (place / "clips" / "out.wav").symlink_to(place / "elsewhere.wav")
    (place / "clips" / "loop.wav").symlink_to("loop.wav")
    with (place / "clips" / "metadata.csv").open("a") as table:
        table.write("gone.wav,S00,tape\n")
    words = ("--expert", "tags", "--expert", "broken", "--expert", "asr[model=nowhere]", "--json")
    done = hear(place, *words)
    assert done.returncode == 1
    said = document(done)
    assert "download=yes" in said["not_run"]["tags"]
    assert "its weights are gone" in said["not_run"]["broken"]
    assert "nowhere" in said["not_run"]["asr"]
    assert said["experts"]["tags"] == {"not_run": 20}
    lost = said["left_out"]
    assert lost["duplicate"] == {"the same bytes as 00.wav": ["twin.wav"]}
    reasons = {reason for own in lost["unreadable"].values() for reason in own}
    assert reasons == {"cut.wav", "out.wav", "loop.wav", "gone.wav"}
    shown = hear(place, *words[:-1])
    assert "tags was not run: " in shown.stderr


def test_a_sample_is_drawn_by_lot_and_a_smaller_one_is_part_of_it(place: Path) -> None:
    few = {one.id for one in open_clips(place / "clips", sample=4)[0]}
    more = {one.id for one in open_clips(place / "clips", sample=9)[0]}
    assert len(few) == 4
    assert few < more
    assert few != {one.id for one in open_clips(place / "clips", sample=4, seed=1)[0]}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("signa", "did you mean 'signal'"),
        ("signal[loud=yes]", "no option loud"),
        ("diary,diary", "named twice"),
        ("signal[", "is not an expert"),
        ("signal[silence=loud]", "could not convert"),
        ("speech[threshold=]", "is not an option"),
        ("tags[download=maybe]", "yes or no"),
        ("odd", "lacks domains"),
        ("signal[silence=nan]", "silence is nan, and not from -200 to 0"),
    ],
)
def test_an_expert_that_there_is_not_is_refused_before_anything_is_heard(
    place: Path, name: str, words: str
) -> None:
    if name.startswith("tags"):
        needs("torch")
    given = [part for one in name.split(",") for part in ("--expert", one)]
    env = expert_plugin.environment(place)
    done = run_command("annotate", "hear", "clips", *given, cwd=place, env=env)
    assert done.returncode == 2
    assert words in done.stderr
    assert expert_plugin.heard(place) == []


def test_without_labels_domains_come_from_levels_and_what_sounds_like_talk_or_music(
    tmp_path: Path,
) -> None:
    """Nothing is downloaded or installed for it; the demo's clips are of the kind in their name."""
    (tmp_path / "clips").mkdir()
    quiet = audio.Waveform(np.zeros((8000, 1), np.float32), 8000)
    (tmp_path / "clips/quiet.wav").write_bytes(audio.wav(quiet))
    kinds = ("speech_01_library", "music_01_solo_piano", "sound_04_birds_wind")
    for name in kinds:
        (tmp_path / f"clips/{name}.ogg").symlink_to(demo_clips() / f"clips/{name}.ogg")
    words = ("annotate", "hear", "clips", "--expert", "signal", "--follow-links", "--json")
    done = run_command(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert document(done)["domains"] == {"000": 1, "00A": 1, "0M0": 1, "S00": 1}
    assert "labels of sounds" in document(done)["would_add"]["tags"]
    assert "signal" not in document(done)["would_add"]


@pytest.mark.parametrize(
    ("speech", "listener", "domain"),
    [
        (0.95, (0.0, 0.0, -40.0), "S00"),
        (0.95, (0.0, 0.0, -12.0), "S0A"),
        (0.5, (0.0, 0.9, -12.0), "SM0"),
        (0.0, (0.9, 0.0, -40.0), "00A"),
        (None, (0.9, 0.0, -40.0), "S00"),
        (None, (0.0, 0.5, -40.0), "0M0"),
    ],
)
def test_who_hears_speech_is_believed_before_who_only_listens(
    speech: float | None, listener: tuple[float, float, float], domain: str
) -> None:
    names = ("speech_share", "music_share", "background_db")
    rough = dict(zip(names, listener, strict=True)) | {"level_dbfs": -20.0}
    said = finding("listener", **rough)
    said |= {} if speech is None else finding("speech", speech_share=speech)
    found, evidence, _ = decide(said, DomainRules())
    assert found == domain
    assert evidence["by"] == "experts without labels"
    assert set(evidence["decided_by"]) == {*names, "silence_dbfs"}
    assert decide(finding("signal", rms_dbfs=-20.0), DomainRules())[0] is None


def finding(expert: str, **document: Any) -> dict[str, Finding]:
    return {expert: Finding("0" * 64, expert, "", "ok", document)}


@pytest.mark.parametrize(
    ("labels", "share", "domain"),
    [
        ({"Speech": 0.9, "Inside, small room": 0.8}, 0.0, "S00"),
        ({"Music": 0.9, "Dog": 0.1}, 0.0, "0M0"),
        ({"Acoustic guitar": 0.5, "Rain": 0.5}, 0.3, "SMA"),
        ({"Dog": 0.7, "Bird vocalization, bird call, bird song": 0.4}, 0.05, "00A"),
        ({"Silence": 0.9}, 0.0, None),
        ({"Computer keyboard": 0.6}, 0.0, "00A"),
        ({"Hubbub, speech noise, speech babble": 0.6}, 0.0, "00A"),
    ],
)
def test_the_domain_follows_from_labels_and_segments(
    labels: dict[str, float], share: float, domain: str | None
) -> None:
    said = finding("tags", highest=labels) | finding("speech", speech_share=share)
    found, evidence, reason = decide(said | finding("signal", rms_dbfs=-20.0), DomainRules())
    assert found == domain
    assert evidence["thresholds"]["music_label"] == 0.4
    assert (reason == "") == (domain is not None)


def test_thresholds_are_options_and_an_unknown_one_is_refused() -> None:
    said = finding("tags", highest={"Music": 0.35})
    assert decide(said, DomainRules.of(["music_label=0.3"]))[0] == "0M0"
    assert decide(said, DomainRules())[0] is None
    wrong_values = ("nan", "inf", "1e400", "-0.1", "7", "")
    for wrong in (
        *("musik_label=0.3", "music_label=loud", "silence_dbfs=3", "silence_dbfs=-inf"),
        *(f"{name}={one}" for name in ("music_label", "speech_share") for one in wrong_values),
    ):
        with pytest.raises(AnnotationError):
            DomainRules.of([wrong])


def test_labels_of_music_speech_and_places_are_told_apart() -> None:
    assert kind_of_label("Drum and bass") == "music"
    assert kind_of_label("Male speech, man speaking") == "speech"
    assert kind_of_label("Outside, rural or natural") == "neutral"
    assert kind_of_label("Speech synthesizer") == "speech"
    assert kind_of_label("Chainsaw") == "sound"
    assert kind_of_label("Harpsichord") == "music"


def test_a_domain_of_the_metadata_must_be_one_of_the_eight() -> None:
    assert decide({}, DomainRules(), "S0A")[0] == "S0A"
    assert "no such domain" in decide({}, DomainRules(), "jazz")[2]


def test_experts_that_are_built_in_can_be_set_up_or_say_why_not() -> None:
    panel = set_up(["signal", "speech", "asr", "quality", "music", "tags"])
    assert "signal" in {one.name for one in panel.experts}
    for name, reason in panel.not_run.items():
        assert name in reason


def test_a_file_of_a_kind_that_is_not_read_is_said(tmp_path: Path) -> None:
    write_tone(tmp_path / "a.wav")
    for name in ("b.m4a", "c.WMA", "d.ape"):
        (tmp_path / name).write_bytes(b"no audio at all")
    (tmp_path / "notes.txt").write_text("not a clip")
    clips, unreadable = open_clips(tmp_path)
    assert [one.id for one in clips] == ["a.wav"]
    assert sorted(unreadable) == ["b.m4a", "c.WMA", "d.ape"]
    (tmp_path / "clip").write_bytes(b"no ending")
    assert list_audio(tmp_path)[1] == {".txt": 1, "no ending": 1}


def test_what_lasts_for_hours_is_not_heard_and_that_is_said(place: Path) -> None:
    write_tone(place / "clips" / "00.wav", 100.0, seconds=601)
    said = document(hear(place, "--json"))
    assert said["experts"]["signal"] == {"ok": 19}
    assert said["left_out"] == {
        "too_long": {"lasts 601 s, more than 600; cut it first": ["00.wav"]}
    }
