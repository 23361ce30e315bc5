"""A draw of samples: stratified, the same everywhere, and part of the run's identity."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import audiocapbench as acb
from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.errors import BenchmarkError
from command import run_command
from made_store import made_samples

SAMPLES = made_samples(60, categories=["sound", "sound", "sound", "music", "music", "speech"])
MADE = Benchmark("made", Path(), SAMPLES)


def drawn(benchmark: Benchmark = MADE, **how: int) -> list[str]:
    return [one.id for one in Selection(**how).of(benchmark)]  # type: ignore[arg-type]


@given(st.integers(1, 80), st.integers(0, 5))
def test_every_category_has_its_share_of_a_draw(number: int, seed: int) -> None:
    chosen = Selection(sample=number, seed=seed).of(MADE)
    assert len(chosen) == min(number, 60)
    assert [one.position for one in chosen] == sorted(one.position for one in chosen)
    whole, part = (Counter(one.category for one in several) for several in (SAMPLES, chosen))
    for category, count in whole.items():
        assert abs(part[category] - len(chosen) * count / 60) < 1


def test_a_draw_depends_on_the_seed_and_the_ids_alone() -> None:
    turned = Benchmark("other", Path("x"), [replace(one) for one in reversed(SAMPLES)])
    assert set(drawn(sample=12)) == set(drawn(turned, sample=12))
    assert drawn(sample=12) != drawn(sample=12, seed=1)
    assert drawn(sample=12) != drawn(limit=12)
    assert set(drawn(sample=6)) < set(drawn(sample=30))


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(BenchmarkError, match="choose one"):
        drawn(sample=3, limit=3)
    with pytest.raises(BenchmarkError, match="at least 1"):
        drawn(sample=0)


@pytest.mark.slow
def test_a_draw_is_a_run_of_its_own_and_found_again(tmp_path: Path) -> None:
    def run(*words: str) -> list[tuple[int, int]]:
        line = ("run", "demo", "--model", "control/safe", "--metrics", "rouge_l", "--json", *words)
        done = run_command(*line, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found = json.loads(run_command("runs", "--json", cwd=tmp_path).stdout)["runs"]
        return [(one["id"], one["sample_count"]) for one in found]

    assert run("--sample", "3") == [(1, 3)]
    assert run("--sample", "3", "--seed", "0") == [(1, 3)]
    assert run("--sample", "3", "--seed", "1") == [(1, 3), (2, 3)]
    result = acb.run("demo", "control/safe", sample=3, seed=1, store=tmp_path / "audiocapbench.db")
    assert result.run.id == 2
    done = run_command(
        "judges", "check", "elements", "--sample", "3", "--repeats", "1", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
