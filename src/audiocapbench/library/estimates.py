"""A score table as rows for programs and as a page for people."""

from collections.abc import Iterable, Sequence

from audiocapbench.report.exports import Heading, Page
from audiocapbench.scores.groups import category
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.table import ScoreTable


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
