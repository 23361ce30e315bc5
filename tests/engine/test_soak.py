"""A short soak; ``make soak`` takes minutes."""

import pytest

from needs import needs

needs("psycopg")

import soak


@pytest.mark.slow
def test_nothing_is_lost_or_asked_twice_while_everything_fails() -> None:
    tallies = soak.soak(0, seed=3, round_s=4)
    assert [one for tally in tallies.values() for one in tally.problems] == []
    assert all(tally.lost == 0 and tally.questions for tally in tallies.values())
