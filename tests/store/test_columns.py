"""Columns are written as their cells are one by one, however odd these are."""

from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from audiocapbench.data.outcome import Status
from audiocapbench.store import schema

DIALECT = sa.create_engine("sqlite://").dialect

TEXT = st.text(st.sampled_from('a "\\[]{}, é\n'), max_size=8) | st.sampled_from(["], [", "}, {"])
VALUES = st.recursive(
    TEXT | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def one_by_one(column: sa.Column[Any], cells: list[Any]) -> list[Any]:
    write = column.type.dialect_impl(DIALECT).bind_processor(DIALECT)
    return cells if write is None else list(map(write, cells))


@given(st.lists(st.lists(VALUES, max_size=3), min_size=1, max_size=5))
def test_arrays(cells: list[Any]) -> None:
    column = schema.samples.c.references
    assert list(schema.written(column, cells, DIALECT)) == one_by_one(column, cells)


@given(st.lists(st.dictionaries(TEXT, VALUES, max_size=3), min_size=1, max_size=5))
def test_objects(cells: list[Any]) -> None:
    column = schema.samples.c.details
    assert list(schema.written(column, cells, DIALECT)) == one_by_one(column, cells)


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=5))
def test_statistics(cells: list[Any]) -> None:
    column = schema.scores.c.statistics
    assert list(schema.written(column, cells, DIALECT)) == one_by_one(column, cells)


@given(st.lists(st.sampled_from([*Status, *map(str, Status)]), min_size=1, max_size=5))
def test_words(cells: list[Any]) -> None:
    column = schema.outcomes.c.status
    assert list(schema.written(column, cells, DIALECT)) == one_by_one(column, cells)


@pytest.mark.parametrize("column", [schema.outcomes.c.error, schema.samples.c.category])
def test_half_a_surrogate_is_refused_among_others(column: sa.Column[Any]) -> None:
    with pytest.raises(UnicodeEncodeError):
        schema.written(column, ["fine", "\ud83d", "é"], DIALECT)
