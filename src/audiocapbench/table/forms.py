"""Tables for other programs: CSV, Markdown, LaTeX, HTML and Parquet, each escaped its way."""

import html
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from audiocapbench.errors import ReportError
from audiocapbench.files import csv_text as rows_as_csv
from audiocapbench.files import encodable
from audiocapbench.table import Mark, MultilineCell, Row, Table, TextColumn
from audiocapbench.table.escape_controls import escape_controls, escape_line


class Format(StrEnum):
    """What a table can be written as."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MD = "md"
    LATEX = "latex"
    PARQUET = "parquet"


_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~&$])")
_LATEX: dict[int, str] = str.maketrans({one: f"\\{one}" for one in "{}&%$#_"}) | str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
        "−": "$-$",
        "–": "--",
        "—": "---",
        "…": r"\ldots{}",
    }
)
_Signs = Mapping[Mark | None, tuple[str, str]]
_MARKDOWN_MARKS: _Signs = {"best": ("**", "**"), "second": ("<u>", "</u>"), None: ("", "")}
_LATEX_MARKS: _Signs = {"best": (r"\textbf{", "}"), "second": (r"\underline{", "}"), None: ("", "")}


def csv_text(records: Sequence[Row]) -> str:
    """Records as CSV at full precision, a row each; a missing value is an empty field."""
    rows = [tuple(one.values()) for one in records]
    return rows_as_csv([tuple(records[0]), *rows]) if rows else ""


def markdown_text(tables: Iterable[Table]) -> str:
    """Tables as Markdown under headings."""
    blocks = []
    for table in tables:
        notes = "\n".join(f"- {markdown(note)}" for note in table.notes)
        lines = "\n".join(markdown_rows(table))
        blocks.append(f"## {markdown(table.title)}\n\n{lines}\n\n{notes}".rstrip())
    return "\n\n".join(blocks) + "\n"


def markdown_rows(table: Table) -> list[str]:
    """The lines of a table alone."""
    columns = table.text_columns()
    rules = ("---" if one.look.align == "left" else "---:" for one in columns)
    head, *rows = _lines(columns, markdown, _MARKDOWN_MARKS)
    return [f"| {' | '.join(head)} |", f"|{'|'.join(rules)}|"] + [
        f"| {' | '.join(row)} |" for row in rows
    ]


def latex_text(tables: Iterable[Table]) -> str:
    """Tables as LaTeX in the manner of the booktabs package, which they need."""
    blocks = ["% Needs \\usepackage{booktabs}; other scripts than Latin need XeLaTeX or LuaLaTeX"]
    for table in tables:
        columns = table.text_columns()
        aligned = "".join("l" if one.look.align == "left" else "r" for one in columns)
        # A cell that begins with a bracket would be read as the option of the line break before.
        head, *rows = (
            " & ".join("{}" + text for text in row) + r" \\"
            for row in _lines(columns, latex, _LATEX_MARKS)
        )
        notes = (rf"\par\footnotesize {latex(note)}" for note in table.notes)
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{latex(table.title)}}}"]
        lines += [rf"\begin{{tabular}}{{{aligned}}}", r"\toprule", head, r"\midrule", *rows]
        lines += [r"\bottomrule", r"\end{tabular}", *notes, r"\end{table}"]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def html_text(table: Table, *, in_page: bool = False) -> str:
    """A table as HTML, every text escaped; within a page, whose own style aligns it, bare."""
    columns = table.text_columns()

    def row(cells: Iterable[MultilineCell], tag: str) -> str:
        texts = []
        for one, cell in zip(columns, cells, strict=True):
            is_head = tag == "th" or (in_page and one is columns[0])
            scope = f' scope="{"col" if tag == "th" else "row"}"' if is_head else ""
            align = one.look.align or "right"
            look = f' class="{align}"' if in_page else f' style="text-align:{align}"'
            name = "th" if is_head else "td"
            texts.append(f"<{name}{scope}{look}>{'<br>'.join(map(_html, cell))}</{name}>")
        return f"<tr>{''.join(texts)}</tr>"

    rows = zip(*(one.cells for one in columns), strict=True)
    body = "".join(row(cells, "td") for cells in rows)
    head = f"<thead>{row((one.heading for one in columns), 'th')}</thead><tbody>{body}</tbody>"
    if in_page:
        return f"<table>{head}</table>"
    notes = (f"<p><small>{_html(note)}</small></p>" for note in table.notes)
    return f"<table><caption>{_html(table.title)}</caption>{head}</table>{''.join(notes)}"


def parquet_content(records: Sequence[Row]) -> bytes:
    """Records as a Parquet file, a row each; a column has one type, also where all is missing."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise ReportError("Parquet needs: pip install 'audiocapbench[hub]'") from None
    types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    arrays = {}
    for name in records[0] if records else ():
        cells = (record[name] for record in records)
        values = [encodable(one) if isinstance(one, str) else one for one in cells]
        kinds = {type(one) for one in values if one is not None}
        kind = kinds.pop() if len(kinds) == 1 else float if kinds <= {int, float} else str
        arrays[name] = pa.array(values, type=types[kind])
    content = io.BytesIO()
    pq.write_table(pa.table(arrays), content)
    return content.getvalue()


def markdown(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(escape_controls(text).split()))


def latex(text: str) -> str:
    """Text that LaTeX prints as it is, on one line."""
    return " ".join(escape_controls(text).split()).translate(_LATEX)


def _html(text: str) -> str:
    return html.escape(escape_line(text))


def _lines(
    columns: Sequence[TextColumn], escaped: Callable[[str], str], signs: _Signs
) -> list[tuple[str, ...]]:
    """The headings and then each row, escaped, with the signs of what is marked around it."""
    texts = []
    for one in columns:
        texts.append([escaped(" ".join(one.heading))])
        for cell, mark in zip(one.cells, one.marks, strict=True):
            before, after = signs[mark]
            texts[-1].append(f"{before}{escaped(' '.join(cell))}{after}")
    return list(zip(*texts, strict=True))
