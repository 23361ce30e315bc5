"""An empty store for the tests of a file, made once."""

from collections.abc import Iterator

import pytest

from audiocapbench.store import Store
from made_store import emptied


@pytest.fixture(scope="module")
def opened() -> Iterator[Store]:
    with Store.open("sqlite:///:memory:") as made:
        yield made


@pytest.fixture
def store(opened: Store) -> Store:
    return emptied(opened)
