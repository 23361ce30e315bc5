"""A user's models in their places among the published ones, which are marked as such.

What was left out counts as zero in every place, of the published test set where published models
are shown; who answered less than half has no place at all.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from audiocapbench.benchmarks.mecat.groups import Total, published_count, published_sizes
from audiocapbench.benchmarks.mecat.published import notes_on, published_models, source
from audiocapbench.errors import ReportError
from audiocapbench.report.exports import Heading, Page, number
from audiocapbench.report.mecat.scored import ScoredAnswers
from audiocapbench.scores.scorer import FEWEST_SHARE, SLACK
from audiocapbench.signature import Signature

PUBLISHED = "published, not run here"
WHO = (Heading("model", "left"), Heading("from", "left"))
NOBODY = "there is no model to show: name a run, or allow the published ones"
_ENCODER = "tinybert"

Figures = Mapping[str, float | None]


class RankedModel(NamedTuple):
    """A model in a ranking.

    Attributes:
        origin: ``run 3``, ``file``, or that it is published and was not run here.
        figures: In percent, over what was answered; None where there is none.
        as_zero: The same with what was left out as zero.
        standing: What decides the places; None where there is none.
        n: How many of the ``asked`` samples have a score.
        ranks: Its place by each figure, 1 being the best; equals share the better place.
    """

    name: str
    origin: str
    figures: Figures
    as_zero: Figures
    standing: Figures
    asked: int
    n: int
    note: str = ""
    ranks: Mapping[str, int | None] = {}

    @property
    def coverage(self) -> float:
        """The share of the samples that have a score; 0 where there are none."""
        return self.n / max(1, self.asked)

    @property
    def scored(self) -> str:
        """How many samples have a score, for a table cell."""
        return f"{self.n:,}/{self.asked:,}"

    def record(self) -> dict[str, Any]:
        """Who it is and what its figures are about, as columns of a row."""
        about = {"n": self.n, "asked": self.asked, "coverage": self.coverage}
        return {"model": self.name, "origin": self.origin, **about}


def merge_published(
    scored: Sequence[ScoredAnswers],
    own: Callable[[ScoredAnswers], tuple[Figures, str]],
    printed: Mapping[str, Figures],
    table: str,
    by: str,
    groups: Collection[str],
) -> list[RankedModel]:
    """Give everybody a place by each figure, and sort by one of them; those without come last.

    ``own`` gives a user's model its figures and its note; ``table`` is where the published figures
    are printed, for its notes, and blank for none; ``groups`` are what the figures are made of.
    """
    every = published_count(groups, {})
    models = [
        RankedModel(name, PUBLISHED, row, row, row, every, every, _published_note(table, name))
        for name, row in printed.items()
    ]
    for one in scored:
        asked = {group: one.asked.get(group, 0) for group in groups}
        sizes, whole = published_sizes(groups, asked), published_count(groups, asked)
        if not printed:
            sizes = {group: max(other.asked.get(group, 0) for other in scored) for group in groups}
            whole = sum(sizes.values())
        models.append(_own_model(one, own, sizes, whole, groups))
    if not models:
        raise ReportError(NOBODY)
    columns = {
        column: places([one.standing.get(column) for one in models])
        for column in dict.fromkeys(name for one in models for name in one.figures)
    }
    placed = [
        one._replace(ranks={column: ranks[row] for column, ranks in columns.items()})
        for row, one in enumerate(models)
    ]
    return sorted(placed, key=lambda one: _last_if_none(one.standing, one.figures, by))


def _own_model(
    one: ScoredAnswers,
    own: Callable[[ScoredAnswers], tuple[Figures, str]],
    sizes: Mapping[str, int],
    whole: int,
    groups: Collection[str],
) -> RankedModel:
    figures, note = own(one)
    n = sum(one.groups[group].n for group in groups if group in one.groups)
    zero, standing = own(one.as_zero(sizes))[0], own(one.as_zero(sizes, SLACK))[0]
    if n < whole:
        have = f"{n:,} of {whole:,} samples have a score"
        few = n < FEWEST_SHARE * whole
        rank = f"Not ranked: {have}, and a rank takes {FEWEST_SHARE:.0%}."
        note = " ".join(filter(None, [note, rank if few else f"{have}; the others rank as zero."]))
        standing = dict.fromkeys(standing) if few else standing
    return RankedModel(one.name, one.origin, figures, zero, standing, whole, n, note)


def _last_if_none(standing: Figures, figures: Figures, by: str) -> tuple[bool, bool, float]:
    place, shown = standing.get(by), figures.get(by)
    return (place is None, shown is None, -(shown or 0) if place is None else -place)


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
    headings = [*WHO, Heading("scored")]
    rows = [[one.name, one.origin, one.scored] for one in models]
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
    apart = ((one, "; ".join(_differences(one.signature))) for one in scored)
    return notes + [
        f"{one.name} ({one.origin}) is not strictly comparable: {why}." for one, why in apart if why
    ]


def _published_note(table: str, model: str) -> str:
    if not table:
        return ""
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
