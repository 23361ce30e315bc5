"""Categories as datasets write them: read as they were meant, and said; no guess without a word."""

from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks import Benchmark, open_benchmark
from audiocapbench.benchmarks.benchmark import Selection
from audiocapbench.benchmarks.captioning import load_audiocapbench
from audiocapbench.benchmarks.registry import file_benchmark
from audiocapbench.data.categories import fold_category
from audiocapbench.judges import JudgeInput, create_judge
from audiocapbench.judges.judge import TextJudge
from audiocapbench.judges.published import audiocapbench_contract
from folders import write_lines, write_tone


@pytest.mark.parametrize(
    ("meant", "names"),
    {
        "music": "music|Music|MUSIC| Music |Ｍｕｓｉｃ|musics|song|Songs|music_clip|Melodies",
        "speech": "speech|SPEECH|Speeches|spoken|Spoken word|spoken-words|HumanSpeech|dialogues",
        "sound": "sound|sounds|Sound effects|SoundEffects|sound_event|audio event|SFX|Audio Events|"
        "environmental sounds|Non-speech sounds",
    }.items(),
)
def test_case_plural_and_synonyms_are_folded(meant: str, names: str) -> None:
    assert {one: fold_category(one) for one in names.split("|")} == dict.fromkeys(
        names.split("|"), meant
    )


@pytest.mark.parametrize(
    "name",
    [
        *("", "s", "other", "mixed", "silence", "audio", "voice", "singing", "ambient", "Muzik"),
        *("field recording", "music/speech", "speech, music", "speech & music", "non-speech"),
        *("speech and music", "pure_music", "mixed_speech", "no music", "Speech (male)", "long"),
    ],
)
def test_what_may_mean_something_else_stays_as_it_is(name: str) -> None:
    assert fold_category(name) == name


def benchmark_of(root: Path, *categories: str | None, **more: Any) -> Benchmark:
    rows = []
    for place, category in enumerate(categories):
        write_tone(root / f"{place}.wav", 200 + 50 * place)
        row = {"file_name": f"{place}.wav", "references": ["A tone."], "category": category}
        rows.append({name: one for name, one in (row | more).items() if one is not None})
    write_lines(root, rows)
    return open_benchmark(str(root))


def test_folded_clips_are_asked_as_the_others_and_it_is_said_once(tmp_path: Path) -> None:
    odd = benchmark_of(tmp_path / "a", "Music", "SPEECH", "sounds", "Music")
    plain = benchmark_of(tmp_path / "b", "music", "speech", "sound", "music")
    asked = [[(one.category, one.instruction) for one in own.samples] for own in (odd, plain)]
    assert asked[0] == asked[1]
    assert len({instruction for _, instruction in asked[0]}) == 4
    assert odd.fingerprint == plain.fingerprint
    assert odd.notes == (
        "category 'Music' is read as music (2 clips)",
        "category 'SPEECH' is read as speech (1 clip)",
        "category 'sounds' is read as sound (1 clip)",
    )
    assert plain.notes == ()
    drawn = Selection(categories=("Music", "spoken")).of(odd)
    assert [one.category for one in drawn] == ["music", "speech", "music"]


def test_an_unknown_category_is_said_and_kept(tmp_path: Path) -> None:
    found = benchmark_of(tmp_path, "field recording", "Birds", None)
    assert [one.category for one in found.samples] == ["field recording", "Birds", "other"]
    (note,) = found.notes
    assert note.startswith(
        "category 'field recording', 'Birds' is none of sound, music, speech: it"
    )
    assert open_benchmark("demo").notes == ()


def test_audiocapbench_with_capitals_is_audiocapbench(tmp_path: Path) -> None:
    benchmark_of(tmp_path, "Music", "Speech", "Sound")
    assert [one.category for one in load_audiocapbench(tmp_path).samples] == [
        *("music", "speech", "sound")
    ]


def test_a_file_of_references_is_folded_too(tmp_path: Path) -> None:
    path = tmp_path / "refs.csv"
    path.write_text("id,category,caption\na,Songs,A tune.\nb,,A dog.\n", encoding="utf-8")
    found = file_benchmark(path)
    assert [one.category for one in found.samples] == ["music", "other"]
    assert found.reading is not None
    assert found.reading.notes == ["category 'Songs' is read as music"]


@pytest.mark.parametrize("protocol", ["ours", "published"])
def test_a_judge_gets_the_guidance_and_the_transcript_of_what_was_meant(protocol: str) -> None:
    contract = audiocapbench_contract(protocol=protocol)

    def prompt(category: str) -> str:
        own = ("a", "A man talks.", ("A man speaks.",), category, "", "hello there")
        return contract.prompt(JudgeInput(*own))

    assert prompt("Speech") == prompt("spoken") == prompt("speech")
    assert "hello there" in prompt("SPEECH")
    assert prompt("Music") == prompt("music") != prompt("sound") == prompt("voice")


def test_the_offline_judge_weighs_what_was_meant() -> None:
    judge = create_judge("elements")
    assert isinstance(judge, TextJudge)
    said = ("A gentle piano plays slowly.", ["A gentle calm piano with soft strings plays."])
    music, capital = (judge.judge(*said, one, None) for one in ("music", "Music"))
    assert capital.scores == music.scores != judge.judge(*said, "sound", None).scores
