"""Embeddings in the store: the same bits back, whoever wrote them."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.errors import StoreError
from audiocapbench.store import Store
from forks import run_at_once


def vector(seed: int, size: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size).astype(np.float32)


def test_a_vector_comes_back_to_the_last_bit(tmp_path: Path, store: Store) -> None:
    odd = np.array([0.0, -0.0, 1e-45, 3.4e38, np.pi], dtype=np.float32)
    store.cache.add_embeddings("m@1", [("s", "a", odd)])
    store.close()
    found = Store.open(str(tmp_path / "runs.db")).cache.embeddings("m@1", "s", ["a", "b"], 5)
    assert list(found) == ["a"]
    assert found["a"].dtype == np.float32
    assert found["a"].tobytes() == odd.tobytes()


def test_model_setting_and_content_all_count(store: Store) -> None:
    keys = [("m@1", "s", "a"), ("m@2", "s", "a"), ("m@1", "t", "a"), ("m@1", "s", "b")]
    for seed, (model, setting, content) in enumerate(keys):
        store.cache.add_embeddings(model, [(setting, content, vector(seed))])
    for seed, (model, setting, content) in enumerate(keys):
        found = store.cache.embeddings(model, setting, [content], 5)
        np.testing.assert_array_equal(found[content], vector(seed))
    assert store.cache.embeddings("m@3", "s", ["a"], 5) == {}


def test_the_first_one_stays(store: Store) -> None:
    store.cache.add_embeddings("m@1", [("s", "a", vector(1)), ("s", "a", vector(2))])
    store.cache.add_embeddings("m@1", [("s", "a", vector(3)), ("s", "b", vector(4))])
    found = store.cache.embeddings("m@1", "s", ["a", "b"], 5)
    np.testing.assert_array_equal(found["a"], vector(1))
    np.testing.assert_array_equal(found["b"], vector(4))


def test_thousands_are_looked_up_at_once(store: Store) -> None:
    contents = [f"{number:064x}" for number in range(1_234)]
    made = [("s", content, vector(row)) for row, content in enumerate(contents)]
    store.cache.add_embeddings("m@1", made)
    found = store.cache.embeddings("m@1", "s", contents, 5)
    assert len(found) == len(contents)
    np.testing.assert_array_equal(found[contents[1_000]], vector(1_000))


def test_other_dimensions_are_an_error_that_says_what_to_do(tmp_path: Path, store: Store) -> None:
    store.cache.add_embeddings("m@1", [("s", "a", vector(1))])
    with pytest.raises(StoreError, match="has 5 dimensions in 20 bytes, the model gives 6"):
        store.cache.embeddings("m@1", "s", ["a"], 6)
    with sqlite3.connect(tmp_path / "runs.db") as other:
        other.execute("UPDATE embeddings SET vector = x'0011'")
    with pytest.raises(StoreError, match="5 dimensions in 2 bytes"):
        store.cache.embeddings("m@1", "s", ["a"], 5)


@pytest.mark.parametrize(
    "odd", [np.array([1, np.nan]), np.array([np.inf]), np.zeros(0), np.zeros((2, 2))]
)
def test_what_is_no_vector_is_refused_and_nothing_is_kept(store: Store, odd: np.ndarray) -> None:
    with pytest.raises(StoreError, match="is not a list of finite numbers"):
        store.cache.add_embeddings("m@1", [("s", "a", vector(1)), ("s", "b", odd)])
    assert store.cache.embeddings("m@1", "s", ["a"], 5) == {}


WRITER = """
import sys
import numpy as np
from audiocapbench.store import Store
store = Store.open(sys.argv[1])
for start in range(0, 60, 4):
    some = range(start, start + 4)
    store.cache.add_embeddings(
        "m@1", [("s", f"{n}", np.full(5, n, dtype=np.float32)) for n in some]
    )
"""


def test_processes_write_the_same_embeddings_at_once(tmp_path: Path, store: Store) -> None:
    assert run_at_once(WRITER, *[[str(tmp_path / "runs.db")]] * 3) == [0, 0, 0]
    found = store.cache.embeddings("m@1", "s", [str(number) for number in range(60)], 5)
    assert {content: float(row[0]) for content, row in found.items()} == {
        str(number): float(number) for number in range(60)
    }
