"""A user's models in their places among the published ones, which are marked as such."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from audiocapbench.benchmarks.mecat.groups import Total
from audiocapbench.benchmarks.mecat.published import notes_on, published_models, source
from audiocapbench.errors import ReportError
from audiocapbench.report.exports import Heading, Page, number
from audiocapbench.report.mecat.analysis import WHO
from audiocapbench.report.mecat.scored import ScoredAnswers
from audiocapbench.signature import Signature

PUBLISHED = "published, not run here"
NOBODY = "there is no model to show: name a run, or allow the published ones"
_ENCODER = "tinybert"

Figures = Mapping[str, float | None]


class RankedModel(NamedTuple):
    """A model in a ranking.

    Attributes:
        origin: ``run 3``, ``file``, or that it is published and was not run here.
        figures: In percent; None where there is none.
        ranks: Its place by each figure, 1 being the best; equals share the better place.
    """

    name: str
    origin: str
    figures: Figures
    note: str = ""
    ranks: Mapping[str, int | None] = {}


def merge_published(
    scored: Sequence[ScoredAnswers],
    own: Callable[[ScoredAnswers], tuple[Figures, str]],
    printed: Mapping[str, Figures],
    table: str,
    by: str,
) -> list[RankedModel]:
    """Give everybody a place by each figure, and sort by one of them; those without come last.

    ``own`` gives a user's model its figures and its note; ``table`` is where the published figures
    are printed, for its notes, and blank for none.
    """
    models = [
        RankedModel(name, PUBLISHED, row, _published_note(table, name) if table else "")
        for name, row in printed.items()
    ]
    models += [RankedModel(one.name, one.origin, *own(one)) for one in scored]
    if not models:
        raise ReportError(NOBODY)
    columns = {
        column: places([one.figures.get(column) for one in models])
        for column in dict.fromkeys(name for one in models for name in one.figures)
    }
    placed = [
        one._replace(ranks={column: ranks[row] for column, ranks in columns.items()})
        for row, one in enumerate(models)
    ]
    return sorted(
        placed, key=lambda one: (one.figures.get(by) is None, -(one.figures.get(by) or 0))
    )


def places(figures: Sequence[float | None]) -> list[int | None]:
    """The place of each figure, the highest first; equals share the better place."""
    known = [one for one in figures if one is not None]
    return [None if one is None else 1 + sum(other > one for other in known) for one in figures]


def ranks_page(
    title: str,
    models: Sequence[RankedModel],
    columns: Mapping[str, str],
    digits: int,
    notes: Sequence[str],
) -> Page:
    """A table of figures with the rank beside each; ``columns`` has what stands above them."""
    headings, rows = [*WHO], [[one.name, one.origin] for one in models]
    for name, text in columns.items():
        headings += [Heading(text), Heading("rank")]
        for row, one in zip(rows, models, strict=True):
            row += [number(one.figures[name], digits), number(one.ranks[name], 0)]
    return Page(title, tuple(headings), tuple(map(tuple, rows)), tuple(notes))


def dates_of(one: ScoredAnswers) -> dict[str, float]:
    """DATE by group, in percent."""
    return {group: 100 * score.date for group, score in one.groups.items()}


def one_benchmark(scored: Iterable[ScoredAnswers]) -> str | None:
    """The one benchmark that all of these are scored on, or an error; None where there are none."""
    names = sorted({one.benchmark for one in scored})
    if len(names) > 1:
        raise ReportError(f"{' and '.join(names)} cannot be shown in one table; name runs of one")
    return names[0] if names else None


def lacking(total: Total) -> str:
    """Why there is no total, where there is none."""
    return f"No total: no scores of {', '.join(total.missing)}." if total.missing else ""


def notes_of(models: Iterable[RankedModel]) -> list[str]:
    """The notes on models, each with the model's name and where it is from."""
    return [f"{one.name} ({one.origin}): {one.note}" for one in models if one.note]


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


def _published_note(table: str, model: str) -> str:
    notes = notes_on(table, model)
    if any(one.built_with for one in published_models() if one.name == model):
        notes.append("An earlier version of it took part in making the dataset.")
    return " ".join(notes)


def _differences(signature: Signature) -> list[str]:
    if not signature:
        return ["a file of scores does not say how they were made"]
    encoder = signature.get("encoder").partition("@")[0]
    found = []
    if _ENCODER not in encoder.lower():
        found.append(f"its encoder is {encoder or 'not known'}")
    if signature.name == "date" and signature.get("variant") != "published":
        found.append(
            f"its variant of DATE is {signature.get('variant', 'not known')}, not published"
        )
    if signature.get("fluency") == "no":
        found.append("no fluency checker")
    return found
