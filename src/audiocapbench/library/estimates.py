"""A score table as rows for programs and as a page for people."""

from collections.abc import Iterable, Sequence

from audiocapbench.report.exports import Heading, Page, Record
from audiocapbench.scores.estimate import Estimate
from audiocapbench.scores.groups import ALL, category
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.table import ScoreTable

WHOLE = "all"


def estimate_records(table: ScoreTable, scorers: Iterable[Scorer]) -> list[Record]:
    """A row for each scorer and group."""
    # A list, because a category may be called as the whole is.
    keys = [(WHOLE, ALL), *((name, category(name)) for name in table.categories)]
    return [
        _record(scorer, group, table.estimate(scorer, key))
        for scorer in scorers
        for group, key in keys
    ]


def _record(scorer: Scorer, group: str, one: Estimate) -> Record:
    return {
        "scorer": scorer.label,
        "group": group,
        **one.flat(),
        "n": one.n,
        "samples": one.coverage.total,
        "signature": str(one.signature),
    }


def estimate_page(
    title: str, table: ScoreTable, scorers: Sequence[Scorer], notes: Sequence[str] = ()
) -> Page:
    """Each scorer with its interval, what failures may mean, and its categories."""
    failed = any(table.estimate(one).n < table.estimate(one).coverage.total for one in scorers)
    groups = [name for name in table.categories if len(table.categories) > 1]
    headings = [
        Heading("scorer", "left"),
        Heading("score"),
        Heading("95 %", folds=True),
        Heading("scored"),
        *([Heading("as zero")] if failed else []),
        *(Heading(name) for name in groups),
    ]
    rows = []
    for scorer in scorers:
        one = table.estimate(scorer)
        parts = [table.point(scorer, category(name)).value for name in groups]
        rows.append(
            (
                scorer.label,
                scorer.shown(one.value),
                one.shown_interval(scorer.digits),
                f"{one.n:,}/{one.coverage.total:,}",
                *([scorer.shown(one.as_zero)] if failed else []),
                *map(scorer.shown, parts),
            )
        )
    return Page(title, tuple(headings), tuple(rows), tuple(notes))


def find_scorer(scorers: Iterable[Scorer], name: str) -> Scorer:
    """The scorer of a name: ``meteor``, ``elements: accuracy``, or a judge for its overall score.

    Raises:
        KeyError: There is none; the names are in its message.
    """
    by_name = {one.label: one for one in scorers}
    found = by_name.get(name) or by_name.get(f"{name}: overall")
    if found is None:
        raise KeyError(f"no score of {name!r}; there are {', '.join(by_name)}")
    return found
