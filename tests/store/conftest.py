"""What more than one test of the store uses."""

from collections.abc import Iterator

import pytest

from forks import Forks


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Starts processes with the store imported."""
    with Forks() as started:
        yield started
