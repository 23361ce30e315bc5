"""A table as people see it, cell by cell."""

from audiocapbench.table import Table


def headings(table: Table) -> list[str]:
    """What stands above each column."""
    return [" ".join(one.heading) for one in table.text_columns()]


def cells(table: Table) -> list[tuple[str, ...]]:
    """The rows, as text."""
    columns = ([" ".join(cell) for cell in one.cells] for one in table.text_columns())
    return list(zip(*columns, strict=True))
