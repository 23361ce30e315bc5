"""What is asked: the paper's instructions, fixed by position, and never changed by a filter."""

from pathlib import Path

import pytest

from audiocapbench.benchmarks import Selection, open_benchmark
from audiocapbench.benchmarks.captioning import instruction_for
from audiocapbench.errors import BenchmarkError
from folders import write_folder, write_lines, write_tone


def test_the_instructions_are_those_of_the_paper(shared: Path) -> None:
    paper = next((shared.parent / "seeds").glob("002*.txt")).read_text(encoding="utf-8")
    for category in ("sound", "music", "speech"):
        for position in (0, 1):
            assert f") {instruction_for(category, position)}\n" in paper


def test_instructions_alternate_by_position() -> None:
    for category in ("sound", "music", "speech"):
        first, second = (instruction_for(category, position) for position in (0, 1))
        assert first != second
        assert instruction_for(category, 2) == first
    assert instruction_for("whales", 0) == instruction_for("sound", 0)


def test_a_filter_never_changes_an_instruction() -> None:
    demo = open_benchmark("demo")
    whole = {sample.id: sample.instruction for sample in demo.samples}
    for category in ("sound", "music", "speech"):
        for sample in Selection((category,)).of(demo):
            assert sample.category == category
            assert sample.instruction == whole[sample.id]


def test_a_limit_takes_the_first_samples() -> None:
    demo = open_benchmark("demo")
    assert Selection(limit=3).of(demo) == demo.samples[:3]
    assert len(Selection(("speech",), 100).of(demo)) == 8


def test_a_row_may_bring_its_own_instruction(tmp_path: Path) -> None:
    write_tone(tmp_path / "a.wav")
    row = {"file_name": "a.wav", "references": ["x"], "instruction": "Name the animal."}
    write_lines(tmp_path, [row])
    assert open_benchmark(str(tmp_path)).samples[0].instruction == "Name the animal."


def test_the_fingerprint_changes_with_anything_that_is_asked_or_scored(tmp_path: Path) -> None:
    root = write_folder(tmp_path, 2)
    before = open_benchmark(str(root)).fingerprint
    assert open_benchmark(str(root)).fingerprint == before
    lines = (root / "metadata.jsonl").read_text()
    (root / "metadata.jsonl").write_text(lines.replace("hums on", "sings on"))
    assert open_benchmark(str(root)).fingerprint != before
    (root / "metadata.jsonl").write_text(lines)
    write_tone(root / "clips" / "0.wav", 999.0)
    assert open_benchmark(str(root)).fingerprint != before


def test_wrong_selections_are_explained() -> None:
    demo = open_benchmark("demo")
    with pytest.raises(BenchmarkError, match="has no category 'noise'; it has sound, music"):
        Selection(("noise",)).of(demo)
    with pytest.raises(BenchmarkError, match="must be at least 1"):
        Selection(limit=0).of(demo)
    with pytest.raises(BenchmarkError, match="no benchmark and no folder 'nowhere'"):
        open_benchmark("nowhere")
