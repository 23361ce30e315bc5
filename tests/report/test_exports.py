"""Exports: every form shows a text as it is, and none of them runs it."""

import csv
import io
import sys
from pathlib import Path

import pytest

from audiocapbench.errors import ReportError
from audiocapbench.files import write_file
from audiocapbench.report.exports import (
    Heading,
    Page,
    csv_text,
    fitted,
    latex,
    latex_text,
    markdown,
    markdown_text,
    write_parquet,
)
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


def page(text: str) -> Page:
    return Page(text, (Heading(text, "left"), Heading("n")), ((text, "1"),), (text,))


def test_csv_keeps_numbers_and_disarms_formulas() -> None:
    rows = [{"model": text, "score": -0.1, "none": None} for text in HOSTILE]
    found = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    assert found[0] == ["model", "score", "none"]
    assert {row[1] for row in found[1:]} == {"-0.1"}
    assert {row[2] for row in found[1:]} == {""}
    for text, row in zip(HOSTILE, found[1:], strict=True):
        assert row[0].removeprefix("'") == text
        assert not row[0].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_row_that_goes_on_in_another_part_leaves_no_gap() -> None:
    heads = (Heading("sample", "left"), Heading("score"), Heading("answers", "left"))
    rows = (("a", "1", "A: " + "x" * 40), ("", "", "B: y"), ("b", "2", "A: z"), ("", "", "B: z"))
    first, second = fitted(Page("Moved", heads, rows), 50)
    assert first.rows == (("a", "1"), ("b", "2"))
    assert [row[1] for row in second.rows] == [row[2] for row in rows]


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
    write_parquet(tmp_path / "x.parquet", rows)
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
        write_parquet(tmp_path / "no" / "x.parquet", rows)


def test_parquet_without_its_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ReportError, match=r"pip install 'audiocapbench\[hub\]'"):
        write_parquet(tmp_path / "x.parquet", [{"a": 1}])


def test_a_lone_surrogate_can_be_written(tmp_path: Path) -> None:
    write_file(tmp_path / "x.csv", csv_text([{"a": "\udc80"}]))
    assert (tmp_path / "x.csv").read_text("utf-8") == "a\n\\udc80\n"
    with pytest.raises(ReportError, match="cannot be written"):
        write_file(tmp_path / "no" / "x.csv", "")
