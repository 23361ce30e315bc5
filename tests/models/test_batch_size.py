"""The batch of a card: doubled while that pays, settled where it does not, remembered."""

import json
from pathlib import Path

import pytest

from audiocapbench.models.batch_size import FIRST, LARGEST, BatchSize


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def grow(size: BatchSize, speeds: dict[int, float], memory: dict[int, float]) -> list[int]:
    """Sizes of twelve full batches."""
    asked = []
    for _ in range(12):
        asked.append(size.now)
        size.answered(size.now, speeds.get(size.now, 1000.0), memory.get(size.now, 0.0))
    return asked


@pytest.mark.parametrize(
    ("speeds", "memory", "wanted"),
    [
        ({32: 10, 64: 20, 128: 30, 256: 40}, {}, [32, 32, 64, 128, 256, 256]),
        ({32: 10, 64: 20, 128: 20.1}, {}, [32, 32, 64, 128, 128, 128]),  # it gained little: kept
        ({32: 10, 64: 20, 128: 19}, {}, [32, 32, 64, 128, 128, 64]),
        ({32: 10, 64: 20}, {64: 0.5}, [32, 32, 64, 64, 64, 64]),  # twice that would not fit
    ],
)
def test_a_batch_grows_while_that_pays_and_fits(
    speeds: dict[int, float], memory: dict[int, float], wanted: list[int]
) -> None:
    size = BatchSize(None, "model card")
    asked = grow(size, speeds, memory)
    assert asked[:6] == wanted
    assert set(asked[5:]) == {wanted[-1]}
    assert BatchSize(None, "model card").now == wanted[-1]  # found once
    assert BatchSize(None, "model other card").now == FIRST


def test_one_slow_batch_is_chance_and_batches_that_are_not_full_tell_nothing() -> None:
    size = BatchSize(None)
    for questions, speed in [(32, 1), (32, 10), (64, 9), (7, 99), (64, 19)]:
        size.answered(questions, speed)
    assert size.now == 128
    assert size.largest == LARGEST


def test_memory_that_runs_out_halves_for_good_and_what_is_given_stays() -> None:
    size = BatchSize(None, "model card")
    size.ran_out(32)
    assert set(grow(size, {}, {})) == {16}
    assert BatchSize(None, "model card").largest == 16
    size.ran_out(32)  # of another lane, prepared before
    assert size.now == 16
    given = BatchSize(8)
    assert set(grow(given, {}, {})) == {8}
    given.ran_out(1)
    assert given.now == 1


@pytest.mark.parametrize("found", ["", "[]", '{"model card": 7}', '{"model card": [100000, true]}'])
def test_a_file_that_is_not_ours_is_as_none(found: str, tmp_path: Path) -> None:
    path = tmp_path / "cache" / "audiocapbench" / "batch_sizes.json"
    path.parent.mkdir(parents=True)
    path.write_text(found)
    size = BatchSize(None, "model card")
    assert size.now == FIRST
    size.ran_out(32)
    assert json.loads(path.read_text()) == {"model card": [16, True]}


def test_a_place_that_cannot_be_written_to_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    size = BatchSize(None, "model card")
    size.ran_out(32)
    assert size.now == 16
