"""A user's models in their places among the published ones, which are marked as such."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from audiocapbench.benchmarks.mecat.groups import Total, score_cap, score_qa
from audiocapbench.benchmarks.mecat.published import (
    CAPTION_DATE,
    QA_DATE,
    TOTAL,
    notes_on,
    published_models,
    published_table,
    source,
)
from audiocapbench.benchmarks.mecat.traits import CAPTION
from audiocapbench.errors import ReportError
from audiocapbench.report.mecat.scored import ScoredAnswers
from audiocapbench.signature import Signature

PUBLISHED = "published, not run here"
_ENCODER = "tinybert"


@dataclass(frozen=True, slots=True)
class Standing:
    """A model in a ranking.

    Attributes:
        name: The model.
        origin: ``run 3``, ``file``, or that it is published and was not run here.
        figures: In percent; None where there is none.
        ranks: Its place by each figure, 1 being the best; equals share the better place.
        note: What is to be known about it.
    """

    name: str
    origin: str
    figures: Mapping[str, float | None]
    ranks: Mapping[str, int | None]
    note: str = ""

    @property
    def published(self) -> bool:
        """Whether it is the paper's and not the user's."""
        return self.origin == PUBLISHED


def ranked(standings: Sequence[Standing], by: str) -> list[Standing]:
    """Give everybody a place by each figure, and sort by one of them; those without come last."""
    columns = list(dict.fromkeys(name for one in standings for name in one.figures))
    ranks = {column: places([one.figures.get(column) for one in standings]) for column in columns}
    placed = [
        Standing(
            one.name,
            one.origin,
            one.figures,
            {column: ranks[column][row] for column in columns},
            one.note,
        )
        for row, one in enumerate(standings)
    ]
    return sorted(
        placed, key=lambda one: (one.figures.get(by) is None, -(one.figures.get(by) or 0))
    )


def places(figures: Sequence[float | None]) -> list[int | None]:
    """The place of each figure, the highest first; equals share the better place."""
    return [
        None
        if figure is None
        else 1 + sum(other is not None and other > figure for other in figures)
        for figure in figures
    ]


def mecat_standings(
    scored: Sequence[ScoredAnswers], benchmark: str = CAPTION, *, published: bool = True
) -> list[Standing]:
    """DATE by group and in total, the user's models in their places among the published ones.

    The total of a published model is the printed one; where that is a misprint, its note says so.

    Args:
        scored: Models on one of the two benchmarks.
        benchmark: The benchmark where there are none.
        published: Whether to show the published models.

    Raises:
        ReportError: The models are scored on different benchmarks.
    """
    benchmark = one_benchmark(scored) or benchmark
    total = score_cap if benchmark == CAPTION else score_qa
    table = published_table(CAPTION_DATE if benchmark == CAPTION else QA_DATE)
    rows = [
        Standing(model, PUBLISHED, row, {}, published_note(table.number, model))
        for model, row in table.rows.items()
        if published
    ]
    for one in scored:
        dates = {group: 100 * score.date for group, score in one.groups.items()}
        figures = {group: dates.get(group) for group in table.columns if group != TOTAL}
        sum_of = total(dates)
        rows.append(
            Standing(one.name, one.origin, {**figures, TOTAL: sum_of.score}, {}, lacking(sum_of))
        )
    return ranked(rows, TOTAL)


def one_benchmark(scored: Iterable[ScoredAnswers]) -> str | None:
    """The benchmark that all of these are scored on; None where there are none.

    Raises:
        ReportError: They are scored on different ones.
    """
    names = sorted({one.benchmark for one in scored})
    if len(names) > 1:
        raise ReportError(f"{' and '.join(names)} cannot be shown in one table; name runs of one")
    return names[0] if names else None


def published_note(table: str, model: str) -> str:
    """What is to be known about a published row."""
    built = {one.name: one.built_with for one in published_models()}
    notes = notes_on(table, model)
    if built.get(model):
        notes.append("An earlier version of it took part in making the dataset.")
    return " ".join(notes)


def lacking(total: Total) -> str:
    """Why there is no total, where there is none."""
    return f"No total: no scores of {', '.join(total.missing)}." if total.missing else ""


def comparison_notes(scored: Sequence[ScoredAnswers]) -> list[str]:
    """How far the user's numbers can be held against the published ones."""
    origin = source()
    notes = [
        f"{PUBLISHED}: figures of the paper ({origin['url']}), encoder {origin['encoder']}, "
        "with a fluency checker."
    ]
    for one in scored:
        differences = _differences(one.signature)
        if differences:
            notes.append(
                f"{one.name} ({one.origin}) is not strictly comparable: {'; '.join(differences)}."
            )
    return notes


def _differences(signature: Signature) -> list[str]:
    if not signature:
        return ["a file of scores does not say how they were made"]
    encoder = signature.get("encoder").partition("@")[0]
    found = []
    if _ENCODER not in encoder.lower():
        found.append(f"its encoder is {encoder or 'not known'}")
    if signature.get("variant") != "published":
        found.append(
            f"its variant of DATE is {signature.get('variant', 'not known')}, not published"
        )
    if signature.get("fluency") == "no":
        found.append("no fluency checker")
    return found
