"""The printed tables of MECAT: recomputed from their own parts, which also checks the copying."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from audiocapbench.benchmarks.mecat.groups import (
    GROUPS,
    QA_CATEGORIES,
    WEIGHTINGS,
    score_cap,
    score_qa,
)
from audiocapbench.report.mecat.published import (
    CAPTION_DATE,
    CAPTION_SIMILARITY,
    QA_DATE,
    QA_SIMILARITY,
    SPEECH_SPLIT,
    TOTAL,
    published,
)

FITS_WITHIN = 0.1
"""Half a digit of the printed total, and half a digit of the printed parts that it is made of."""

_ROUNDING = 1e-9

KNOWN_MISFITS = {
    ("2", "Pengi", "score"): (29.4, 29.58),
    ("3", "Gemini-3-Flash", "score"): (51.0, 50.15),
    ("K.1", "Pengi", "score"): (29.5, 29.65),
    ("K.1", "Qwen2.5-Omni 3B", "score"): (44.1, 44.35),
    ("K.1", "Gemini-3-Pro", "score"): (53.1, 50.88),
    ("J.1", "Qwen3-Omni-Flash-1201", "date"): (59.2, 59.99),
}


class Misfit(NamedTuple):
    """A printed figure, and what the row's other figures give for it."""

    table: str
    model: str
    column: str
    printed: float
    recomputed: float


class Disagreement(NamedTuple):
    """Two tables that print different figures for the same thing."""

    model: str
    what: str
    first: str
    first_figure: float
    second: str
    second_figure: float


def misfits(within: float = FITS_WITHIN) -> list[Misfit]:
    """Every printed total or DATE that is further than this from what its row gives."""
    found = []
    for table, model, column, recomputed in _recomputed():
        printed = published().tables[table][model][column]
        if abs(recomputed - printed) > within + _ROUNDING:
            found.append(Misfit(table, model, column, printed, recomputed))
    return found


def disagreements() -> list[Disagreement]:
    """Figures on pure speech that table J.1 prints otherwise than tables 2 and K.1."""
    found = []
    for model, row in published().tables[SPEECH_SPLIT].items():
        for what, other in (("similarity", CAPTION_SIMILARITY), ("date", CAPTION_DATE)):
            figure = published().tables[other][model]["pure_speech"]
            if figure != row[what]:
                found.append(Disagreement(model, what, SPEECH_SPLIT, row[what], other, figure))
    return found


def _recomputed() -> Iterator[tuple[str, str, str, float]]:
    for table in (CAPTION_DATE, CAPTION_SIMILARITY):
        for model, row in published().tables[table].items():
            yield table, model, TOTAL, score_cap(row) or 0.0
    for table in (QA_DATE, QA_SIMILARITY):
        for model, row in published().tables[table].items():
            yield table, model, TOTAL, score_qa(row) or 0.0
    for model, row in published().tables[SPEECH_SPLIT].items():
        both = row["similarity"] + row["discriminability"]
        yield SPEECH_SPLIT, model, "date", 2 * row["similarity"] * row["discriminability"] / both


def test_every_total_follows_from_its_row_but_for_the_known_misprints() -> None:
    found = {one[:3]: (one.printed, round(one.recomputed, 2)) for one in misfits()}
    assert found == KNOWN_MISFITS


def test_every_misprint_has_a_note_and_no_other_row_has_one() -> None:
    noted = {
        (one["table"], one["model"], one["column"]): (one["printed"], one["recomputed"])
        for one in published().notes
    }
    assert noted == KNOWN_MISFITS
    texts = {(one["table"], one["model"]): one["text"] for one in published().notes}
    assert texts["2", "Pengi"] == "Score_Cap of the row's own groups is 29.58."


@pytest.mark.parametrize(
    ("number", "models", "columns"),
    [
        ("2", 17, (*GROUPS, "score")),
        ("K.1", 17, (*GROUPS, "score")),
        ("3", 15, (*QA_CATEGORIES, "score")),
        ("K.2", 15, (*QA_CATEGORIES, "score")),
        ("J.1", 17, ("similarity", "discriminability", "date")),
        ("F.4", 15, tuple(WEIGHTINGS)),
    ],
)
def test_tables_are_whole(number: str, models: int, columns: tuple[str, ...]) -> None:
    table = published().tables[number]
    names = {one["name"] for one in published().models}
    assert (len(table), tuple(next(iter(table.values())))) == (models, columns)
    assert set(table) <= names
    assert all(0 < figure < 100 for row in table.values() for figure in row.values())


def test_tables_agree_with_each_other_but_for_two_rows() -> None:
    assert [(one.model, one.first_figure, one.second_figure) for one in disagreements()] == [
        ("Qwen3-Omni", 41.0, 34.1),
        ("Qwen3-Omni-Flash-1201", 47.7, 46.7),
    ]


def test_the_three_weightings_give_the_printed_totals() -> None:
    groups = published().tables["2"]
    for model, row in published().tables["F.4"].items():
        for weighting, printed in row.items():
            assert score_cap(groups[model], weighting) == pytest.approx(printed, abs=0.07)


def test_what_is_kept_says_where_it_is_from() -> None:
    assert "4" not in published().tables
    assert published().source["encoder"] == "paraphrase-TinyBERT-L6-v2"
    assert published().stability["cv"]["pure_sound"]["1"] == 18.62
    assert set(published().stability["cv"]) == set(GROUPS)


def test_the_spread_shrinks_with_every_larger_sample() -> None:
    for row in published().stability["cv"].values():
        assert list(row.values()) == sorted(row.values(), reverse=True)
    assert sum(row["5"] < 3 for row in published().stability["cv"].values()) == 6, (
        "not 7, as printed"
    )
