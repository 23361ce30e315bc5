"""MECAT from a dataset folder: six samples a clip, a sample a question, all of it checked."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks import Selection, list_benchmarks, open_benchmark
from audiocapbench.benchmarks.mecat.dataset import caption_prompt, read_items
from audiocapbench.benchmarks.mecat.groups import CAPTION_AGGREGATION, SUBTASKS
from audiocapbench.data import InvalidDataError
from audiocapbench.errors import BenchmarkError, DatasetError
from folders import write_lines, write_tone
from mecat_data import clips, questions


def caption_rows(count: int = 1, domains: tuple[str, ...] = ("0M0", "S0A")) -> list[dict[str, Any]]:
    rows = []
    for place, (key, fields) in enumerate(clips(count, domains).items()):
        texts = {name: fields[name] for name in SUBTASKS}
        row = {"file_name": f"{key}.wav", "id": key, "category": fields["domain"]}
        more = {"references": texts["long"], "captions": texts, "domain": fields["domain"]}
        rows.append(row | more | {"position": place})
    return rows


def question_rows() -> list[dict[str, Any]]:
    return [
        {
            "file_name": f"{key.rpartition('_')[0]}.wav",
            "id": key,
            "category": fields["domain"],
            "references": [fields["answer"]],
            "instruction": fields["question"],
            "clip": key.rpartition("_")[0],
            "qa_category": fields["category"],
            "difficulty": fields["difficulty"],
            "domain": fields["domain"],
        }
        for key, fields in questions(1, ("0M0", "S0A")).items()
    ]


def folder_of(root: Path, rows: list[dict[str, Any]]) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for name in {row["file_name"] for row in rows}:
        write_tone(root / name, 200 + len(name))
    write_lines(root, rows)
    return root


def test_a_clip_is_asked_what_counts_in_a_group_and_probes_by_choice(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "data", caption_rows())
    plain = open_benchmark("mecat-caption", folder)
    benchmark = open_benchmark("mecat-caption[probes=all]", folder)
    assert (plain.name, plain.traits.headline) == ("mecat-caption", "date")
    assert benchmark.name == "mecat-caption[probes=all]"
    counted = [one for one in benchmark.samples if not one.category.startswith("outside_")]
    assert list(plain.samples) == counted
    assert len(counted) == 10
    quiet = folder_of(tmp_path / "quiet", caption_rows(1, ("000", "0M0")))
    for probes, count in (("no", 3), ("silence", 6), ("all", 6)):
        asked = open_benchmark(f"mecat-caption[probes={probes}]", quiet).samples
        assert sum(one.details["domain"] == "000" for one in asked) == count
    both = open_benchmark("mecat-caption[prompts=i1,probes=silence]", folder)
    assert both.name == "mecat-caption[probes=silence,prompts=i1]"
    with pytest.raises(BenchmarkError, match="no probes 'x'; there are no, silence, all"):
        open_benchmark("mecat-caption[probes=x]", folder)
    music = benchmark.samples[:6]
    assert [one.id for one in music] == [f"clip_0M0_0/{name}" for name in SUBTASKS]
    assert [one.category for one in music] == [
        "long",
        "short",
        "outside_speech",
        "pure_music",
        "outside_sound",
        "environment",
    ]
    assert [one.category for one in benchmark.samples[8:11]] == [
        "mixed_speech",
        "mixed_music",
        "mixed_sound",
    ]
    assert music[3].instruction == caption_prompt("music", "i2")
    assert music[3].details == {"clip": "clip_0M0_0", "subtask": "music", "domain": "0M0"}
    assert music[3].references == tuple(clips(1, ("0M0",))["clip_0M0_0"]["music"])
    assert [one.position for one in benchmark.samples] == list(range(12))


def test_the_other_prompts_make_another_benchmark(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "data", caption_rows())
    plain = open_benchmark("mecat-caption", folder)
    other = open_benchmark("mecat-caption[prompts=i1]", folder)
    assert other.name == "mecat-caption[prompts=i1]"
    assert other.samples[0].instruction == "Provide a caption for this audio within 1-2 sentences"
    assert other.fingerprint != plain.fingerprint
    assert other.traits == plain.traits
    assert plain.traits.aggregation is not None
    assert open_benchmark("mecat-caption[prompts=i2]", folder).name == "mecat-caption"
    for wrong, words in (("prompts=i9", "no prompts 'i9'"), ("x=1", "no option 'x'")):
        with pytest.raises(BenchmarkError, match=words):
            open_benchmark(f"mecat-caption[{wrong}]", folder)


def test_a_question_is_asked_alone_and_several_share_a_clip(tmp_path: Path) -> None:
    rows = question_rows()
    benchmark = open_benchmark("mecat-qa", folder_of(tmp_path / "data", rows))
    assert [one.id for one in benchmark.samples] == [row["id"] for row in rows]
    first = benchmark.samples[0]
    assert first.instruction == rows[0]["instruction"]
    assert first.category == "direct_perception"
    assert first.references == (rows[0]["references"][0],)
    assert first.details == {"clip": "clip_0M0_0", "domain": "0M0", "difficulty": "basic"}
    assert len({one.clip.file_name for one in benchmark.samples}) == 2


def test_a_folder_with_both_parts_serves_both(tmp_path: Path) -> None:
    folder_of(tmp_path / "caption", caption_rows())
    folder_of(tmp_path / "qa", question_rows())
    assert len(open_benchmark("mecat-caption", tmp_path).samples) == 10
    assert len(open_benchmark("mecat-qa", tmp_path).samples) == 12
    assert len(read_items("mecat-caption", tmp_path)) == 12


def test_references_are_read_from_a_dataset_folder_without_its_audio(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "data", caption_rows())
    samples = open_benchmark("mecat-caption[probes=all]", folder).samples
    for clip in folder.glob("*.wav"):
        clip.unlink()
    items = read_items("mecat-caption", folder)
    assert [(one.id, one.category, one.references) for one in items] == [
        (one.id, one.category, one.references) for one in samples
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"captions": 7}, "long: is not a list of captions"),
        ({"domain": "XYZ"}, "domain: is 'XYZ', not one of 000"),
        ({"captions": {"long": ["a"]}}, "short: is not a list of captions"),
        ({"position": 2**31 - 1}, "position: is too large"),
    ],
)
def test_a_wrong_row_is_refused_with_its_reason(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    rows = caption_rows()
    rows[0] |= change
    with pytest.raises(InvalidDataError, match=words):
        open_benchmark("mecat-caption", folder_of(tmp_path / "data", rows))


def test_a_part_of_the_samples_is_taken_from_every_domain_in_turn(tmp_path: Path) -> None:
    rows = caption_rows(4, ("000", "0M0", "S0A"))
    benchmark = open_benchmark("mecat-caption", folder_of(tmp_path / "data", rows))
    first = Selection(limit=3 + 4 + 6).of(benchmark)
    assert {one.details["clip"] for one in first} == {"clip_000_0", "clip_0M0_0", "clip_S0A_0"}
    assert [one.position for one in first] == sorted(one.position for one in first)
    drawn = Counter(one.details["domain"] for one in Selection(sample=26).of(benchmark))
    assert drawn == {"000": 6, "0M0": 8, "S0A": 12}


def test_questions_are_not_taken_for_captions(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "data", question_rows())
    with pytest.raises(DatasetError, match=r"is not of mecat-caption.*mecat-qa") as caught:
        open_benchmark("mecat-caption", folder)
    assert "\n" not in str(caught.value), "one line, not one for each row"
    with pytest.raises(BenchmarkError, match="make a folder with 'audiocapbench build"):
        open_benchmark("mecat-qa", tmp_path / "nowhere")


def test_both_are_listed() -> None:
    assert {"mecat-caption", "mecat-qa"} <= {one.name for one in list_benchmarks()}
    assert open_benchmark("demo").traits.aggregation is None


@pytest.mark.slow
def test_the_real_references_are_read_whole(shared: Path) -> None:
    items = read_items("mecat-caption", shared / "mecat")
    assert len(items) == 6 * (179 + 848 + 2593)
    null = [one for one in items if CAPTION_AGGREGATION.null(one)]
    assert len(null) == 3620 + 1027 + 2772
    assert {one.category for one in null} == {"outside_speech", "outside_music", "outside_sound"}
    asked = read_items("mecat-qa", shared / "mecat")
    assert len(asked) == 5 * 3620
    assert len({one.details["clip"] for one in asked}) == 3620
