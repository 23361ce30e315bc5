"""Tables: every form is made from the same values, shows a text as it is and runs none."""

import csv
import io
import re
import sys
from pathlib import Path

import pytest

from audiocapbench.errors import ReportError
from audiocapbench.files import write_file
from audiocapbench.stats import Interval
from audiocapbench.table import Column, Findings, Table, ValueWithInterval
from audiocapbench.table.forms import (
    csv_text,
    html_text,
    latex,
    latex_text,
    markdown,
    markdown_text,
    parquet_content,
)
from audiocapbench.table.terminal import fitted, text_of
from cells import cells, headings
from needs import needs

HOSTILE = [
    '=HYPERLINK("http://example.org","x")',
    "+1",
    "-1",
    "@SUM(A1)",
    "\tx",
    'a,"b"\nc',
    "a|b",
    "\\input{x}",
    "100 % & $5 #1 {a_b}^~<>",
    "\x00\x1b[31m",
    "\udc80",
    "עברית 🎧",
    "x" * 100_000,
]


def page(text: str) -> Table:
    return Table(text, [{"a": text, "n": 1}], [Column("a", text), Column("n")], [text])


def test_csv_keeps_numbers_and_disarms_formulas() -> None:
    rows = [{"model": text, "score": -0.1, "none": None} for text in HOSTILE]
    found = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    assert found[0] == ["model", "score", "none"]
    assert {row[1] for row in found[1:]} == {"-0.1"}
    assert {row[2] for row in found[1:]} == {""}
    for text, row in zip(HOSTILE, found[1:], strict=True):
        assert row[0].removeprefix("'") == text
        assert not row[0].startswith(("=", "+", "-", "@", "\t", "\r"))


ROWS = [
    {"model": "provider/a-long-name@http://host/v1", "score": ValueWithInterval(0.5, (0.4, 0.6)),
     "n": 1200, "cost": 0.0042, "p": 0.004},
    {"model": "b", "score": ValueWithInterval(None), "n": 3, "p": None},
]  # fmt: skip
COLUMNS = [
    Column("model"),
    Column("score"),
    Column("scored", form="{n:,}/{n:,}"),
    Column("cost", form="$", importance=1),
    Column("p", form="p"),
]


def test_one_table_has_cells_for_people_and_values_for_programs() -> None:
    table = Table("T", ROWS, COLUMNS, name="models")
    assert headings(table) == ["model", "score", "95 %", "scored", "cost", "p"]
    first, second = cells(table)
    assert first[1:] == ("0.500", "0.400–0.600", "1,200/1,200", "$0.0042", "0.0040")
    assert second[1:] == ("–", "", "3/3", "", "–"), "None is a dash, and what is not there blank"
    found = Findings([table, Table("Empty", [], name="others")], {"n": 2})
    assert found.tables() == [table]
    assert found.to_dict()["models"][0]["score"] == {"value": 0.5, "ci": (0.4, 0.6)}
    assert (found.to_dict()["n"], found.to_dict()["others"]) == (2, [])
    assert [found.records()[0][name] for name in ("score", "score_low", "score_high")] == [
        *(0.5, 0.4, 0.6)
    ]
    assert "0.500" in html_text(table)


def test_a_narrow_table_folds_then_breaks_names_and_then_leaves_out_what_matters_least() -> None:
    table = Table("T", ROWS, COLUMNS)
    assert fitted(table, 200) == (table.text_columns(), [])
    folded, left_out = fitted(table, 80)
    assert (folded[1].heading, folded[1].cells[0], left_out) == (
        *(("score", "95 %"), ("0.500", "0.400–0.600"), []),
    )
    broken, left_out = fitted(table, 64)
    assert (broken[0].cells[0][0], left_out) == ("provider/a-long-name", ["cost"])
    text = text_of([table], 64)
    assert "Not shown, for want of room: cost; JSON has all." in text
    assert max(map(len, text.splitlines())) <= 64


def test_a_long_name_is_broken_before_a_score_is_left_out() -> None:
    names = ["a", f"endpoint/Qwen2.5-Omni-7B-{'with-a-long-name-' * 3}of-80", "vllm/" + "x" * 75]
    score = ValueWithInterval(0.5, Interval(0.4, 0.6))
    table = Table("T, 95 %", [{"model": one, "score": score, "scored": 1045} for one in names])
    columns, left_out = fitted(table, 60)
    assert (len(columns), left_out) == (3, [])
    assert ["".join(cell) for cell in columns[0].cells] == names
    assert max(map(len, text_of([table], 60).splitlines())) <= 60


def test_intervals_but_the_first_are_left_out_before_any_value() -> None:
    names = ("meteor", "bleu", "rouge", "cider")
    score = ValueWithInterval(0.5, Interval(0.4, 0.6))
    rows = [{"model": model} | dict.fromkeys(names, score) for model in ("a", "b")]
    columns, left_out = fitted(Table("T", rows), 50)
    assert [one.heading for one in columns] == [
        *(("model",), ("meteor", "95 %"), ("bleu",), ("rouge",), ("cider",)),
    ]
    assert left_out == ["other intervals"]


def test_a_single_row_that_does_not_fit_has_a_line_for_each_value() -> None:
    score = ValueWithInterval(0.5, Interval(0.4, 0.6))
    row = {"model": "a"} | {f"metric {n}": score for n in range(9)}
    columns, left_out = fitted(Table("T", [row]), 40)
    assert [one.heading for one in columns] == [("model",), ("a",), ("95 %",)]
    assert [one.cells[8] for one in columns] == [("metric 8",), ("0.500",), ("0.400–0.600",)]
    assert left_out == []


def test_the_sign_of_a_difference_is_shown_on_its_interval_too() -> None:
    rows = [{"gain": ValueWithInterval(0.1, Interval(-0.25, 0.45)), "digits": 1, "low": 2.25}]
    shown = cells(
        Table("", rows, [Column("gain", form="+.2f"), Column("low", form="{low:.{digits}f}")])
    )
    assert shown == [("+0.10", "-0.25 to +0.45", "2.2")]


def test_long_text_is_wrapped_and_no_cell_lost() -> None:
    words = " ".join(f"word{place}" for place in range(40))
    rows = [{"fact": name, "of it": words} for name in ("needs", "options")]
    shown = text_of([Table("", rows)], width=80)
    assert " ".join(shown.split()).count("word39") == 2
    assert "Not shown" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    listed = [{"name": "a", "description": words}] * 2
    stacked = text_of([Table("A title", listed, notes=["A note"], stacks=True)], width=80)
    assert stacked.startswith("A title\n")
    assert stacked.endswith("\nA note")


def test_a_notebook_has_one_scrollable_table_of_all_cells() -> None:
    rows = [{f"column {place}": place for place in range(30)} | {"model": "<b>x"}] * 3
    made = Table("T", rows, winners={"column 3": 1})._repr_html_()
    assert made.count("<table>") == made.count('<div style="overflow-x:auto">') == 1
    numbers = re.findall(r'<td style="text-align:right([^"]*)">', made)
    assert set(numbers) == {";white-space:nowrap"}  # no interval is broken at its dash
    assert made.count("<td") == 3 * 31
    assert made.count("<strong>3</strong>") == 1
    assert "<b>" not in made


def test_csv_without_rows_is_empty() -> None:
    assert csv_text([]) == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_a_markdown_table_keeps_its_columns(text: str) -> None:
    lines = markdown_text([page(text)]).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 3
    for line in table:
        assert line.replace("\\\\", "").replace("\\|", "").count("|") == 3


def test_markdown_shows_marks_as_they_are() -> None:
    assert markdown("*a* _b_ `c` [d](e) <f>") == r"\*a\* \_b\_ \`c\` \[d\](e) \<f\>"
    assert markdown("a\nb\x1b") == r"a b\\x1b"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_latex_table_holds_no_command_of_a_text(text: str) -> None:
    made = latex_text([page(text)])
    assert "\\input" not in made
    assert made.count("\\begin{table}") == made.count("\\end{table}") == 1
    (row,) = [line for line in made.splitlines() if line.endswith("& {}1 \\\\")]
    assert row.replace("\\&", "").count("&") == 1


def test_latex_escapes_every_special_character() -> None:
    assert latex("100 % & $5 #1 {a_b}^~\\") == (
        r"100 \% \& \$5 \#1 \{a\_b\}\textasciicircum{}\textasciitilde{}\textbackslash{}"
    )
    assert latex("0.1–0.2") == "0.1--0.2"
    assert latex('B − A "x"') == "B $-$ A ''x''"
    assert latex_text([page("[2em]")]).count("{}[2em]") == 2, "no option of a line break"


def test_parquet_holds_texts_as_they_are_and_types_for_all_columns(tmp_path: Path) -> None:
    parquet = needs("pyarrow.parquet")
    texts = [text for text in HOSTILE if text != "\udc80"]
    rows = [
        {"model": text, "run": place, "score": 0.5, "low": None, "mixed": 1 if place else 0.5}
        for place, text in enumerate(texts)
    ]
    write_file(tmp_path / "x.parquet", parquet_content(rows))
    table = parquet.read_table(tmp_path / "x.parquet")
    assert table["model"].to_pylist() == texts
    assert [str(field.type) for field in table.schema] == [
        "string",
        "int64",
        "double",
        "double",
        "double",
    ]
    with pytest.raises(ReportError, match="cannot be written"):
        write_file(tmp_path / "no" / "x.parquet", parquet_content(rows))


def test_parquet_without_its_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ReportError, match=r"pip install 'audiocapbench\[hub\]'"):
        write_file(tmp_path / "x.parquet", parquet_content([{"a": 1}]))


def test_a_lone_surrogate_can_be_written(tmp_path: Path) -> None:
    write_file(tmp_path / "x.csv", csv_text([{"a": "\udc80"}]))
    assert (tmp_path / "x.csv").read_text("utf-8") == "a\n\\udc80\n"
    with pytest.raises(ReportError, match="cannot be written"):
        write_file(tmp_path / "no" / "x.csv", "")
