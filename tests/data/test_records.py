"""The reader of records: every form, the same strictness, and every fault with its line."""

import contextlib
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from audiocapbench.data.problems import Problem, read_json
from audiocapbench.data.records import LONGEST_LINE, read_records
from audiocapbench.errors import DatasetError


def read(path: Path, content: bytes) -> tuple[list[dict[str, str]], list[str]]:
    path.write_bytes(content)
    problems: list[Problem] = []
    fields = [fields for _, fields in read_records(path, problems)]
    return fields, [str(problem) for problem in problems]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_marks_of_every_system_are_read(
    tmp_path: Path, end: bytes, mark: bytes
) -> None:
    table = mark + end.join([b"id,text", b"a,one", b"", b'b,"two, three"', b""])
    lines = mark + end.join(
        [b'{"id": "a", "text": "one"}', b"", b'{"id": "b", "text": "two, three"}']
    )
    expected = [{"id": "a", "text": "one"}, {"id": "b", "text": "two, three"}]
    assert read(tmp_path / "a.csv", table) == (expected, [])
    assert read(tmp_path / "a.jsonl", lines) == (expected, [])


def test_a_quoted_text_may_have_several_lines(tmp_path: Path) -> None:
    fields, problems = read(tmp_path / "a.csv", b'id,text\na,"one\n\ntwo ""so""\n"\nb,three\n')
    assert fields == [{"id": "a", "text": 'one\n\ntwo "so"\n'}, {"id": "b", "text": "three"}]
    assert problems == []


def test_an_open_quote_does_not_swallow_the_rest_of_the_file(tmp_path: Path) -> None:
    rows = b"".join(b"%d,text\n" % number for number in range(50))
    fields, problems = read(tmp_path / "a.csv", b'id,text\na,"open\n' + rows + b'x,"so, closed"\n')
    assert [row["id"] for row in fields] == [*map(str, range(50)), "x"]
    assert problems == ["a.csv line 2: opens a quote that nothing closes"]


@pytest.mark.parametrize(
    ("name", "line", "what"),
    [
        ("a.csv", b"a,b\0c", "holds a NUL character"),
        ("a.csv", b"a,b\xffc", "is not UTF-8 (byte 4); save it as UTF-8"),
        ("a.csv", b"a", "has 1 fields and not 2"),
        ("a.csv", b"a,b,c", "has 3 fields and not 2; a text with commas needs quotes"),
        ("a.csv", b'a,"b"c', "is not CSV (',' expected after '\"')"),
        ("a.csv", b"a," + b"b" * LONGEST_LINE, "is longer than 16 MiB"),
        ("a.jsonl", b'{"id": "a\0"}', "holds a NUL character"),
        ("a.jsonl", b'{"id": "\xc3"}', "is not UTF-8 (byte 9); save it as UTF-8"),
        ("a.jsonl", b'{"id": }', "is not JSON (Expecting value, column 8)"),
        ("a.jsonl", b'{"id": 1e999}', "is not JSON (1e999 is not a JSON number)"),
        ("a.jsonl", b'{"id": 1, "id": 1}', "is not JSON ('id' stands twice in one object)"),
        ("a.jsonl", b'{"id": "\\ud83d"}', "holds half of a surrogate pair, which is not text"),
        ("a.jsonl", b"[" * 100_000, "is not JSON (nested too deeply)"),
        ("a.jsonl", b"7", "is not a JSON object"),
        ("a.jsonl", b'"' + b"b" * LONGEST_LINE, "is longer than 16 MiB"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(
    tmp_path: Path, name: str, line: bytes, what: str
) -> None:
    good = (
        b'{"id": "g", "text": "\xf0\x9f\x90\x95"}' if name == "a.jsonl" else b"g,\xf0\x9f\x90\x95"
    )
    first = good if name == "a.jsonl" else b"id,text"
    fields, problems = read(tmp_path / name, b"\n".join([first, line, good]))
    assert fields[-1] == {"id": "g", "text": "\N{DOG}"}
    assert problems == [f"{name} line 2: {what}"]


def test_a_first_line_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"its first line is not UTF-8 \(byte 1\)"):
        read(tmp_path / "latin.csv", "é,text\na,b\n".encode("latin-1"))


def test_a_fault_in_a_document_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1,\n "b": }')
    found = read_json(tmp_path / "a.json")
    assert str(found) == "a.json: is not JSON (Expecting value, line 2 column 7)"


WHOLE = [{"id": "a", "text": "A dog; barks,\ntwice"}, {"id": "b", "text": "Größe"}]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_tables_are_read_whatever_stands_between_their_fields(
    tmp_path: Path, delimiter: str, end: str, encoding: str
) -> None:
    rows = [["id", " text "], *([one["id"], f'"{one["text"]}"'] for one in WHOLE)]
    text = end.join(delimiter.join(row) for row in rows).replace("barks,\n", f"barks,{end}")
    for name in ("a.csv", "a.tsv"):
        assert read(tmp_path / name, text.encode(encoding)) == (WHOLE, [])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_json_document_is_read_like_lines(
    tmp_path: Path, name: str, indent: int | None, encoding: str
) -> None:
    by_key = {one["id"]: one["text"] for one in WHOLE}
    documents = [WHOLE, {"version": 1, "samples": WHOLE}]
    if name == "a.json" or indent:
        documents += [by_key, {one["id"]: {"text": one["text"]} for one in WHOLE}]
    for document in documents:
        if name == "a.jsonl" and not indent and isinstance(document, dict):
            continue
        text = json.dumps(document, indent=indent, ensure_ascii=False)
        (tmp_path / name).write_bytes(text.encode(encoding))
        problems: list[Problem] = []
        found = read_records(tmp_path / name, problems, ("id", "text"))
        assert [fields for _, fields in found] == WHOLE
        assert problems == []


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_none_is_nothing(tmp_path: Path, number: str) -> None:
    text = f'{{"id": "a", "n": {number}, "m": [{{"x": {number}}}]}}'
    row = {"id": "a", "n": None, "m": [{"x": None}]}
    assert read(tmp_path / "a.jsonl", text.encode()) == ([row], [])


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 5000])
def test_a_number_that_no_computer_holds_is_refused(tmp_path: Path, number: str) -> None:
    for text in (f'{{"id": "a", "n": {number}}}', f'{{"id": "a", "n": [{{"x": {number}}}]}}'):
        fields, problems = read(tmp_path / "a.jsonl", text.encode())
        assert fields == []
        assert "is not JSON (" in problems[0]
        assert len(problems[0]) < 200


@given(st.binary(max_size=300), st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.json"]))
@example(b"\xff\xfe\x00", "a.csv")
@example(b"\xff\xfe{\x00\x00\xd8", "a.json")
def test_any_bytes_are_records_or_problems(content: bytes, name: str) -> None:
    problems: list[Problem] = []
    with contextlib.suppress(DatasetError):
        for _, fields in read_records(Path(name), problems, (), content):
            json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()
    assert all(str(one) for one in problems)


def test_what_separates_the_wanted_names_separates_the_fields(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text,note (x; y; z)\na,one; two; three,\n")
    problems: list[Problem] = []
    found = list(read_records(tmp_path / "a.csv", problems, ("id", "text")))
    assert found[0][1]["text"] == "one; two; three"
    (tmp_path / "b.csv").write_text('"id";"text, as said"; text\na;b;one, two\n')
    found = list(read_records(tmp_path / "b.csv", problems, ("id", "text")))
    assert found[0][1]["text"] == "one, two"
    assert not problems


QUOTED = [["id", "text"], ["a", "A dog, barks; twice|"], ["b", 'So "it" is']]


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize("columns", [(), ("id", "text")])
def test_a_quoted_first_line_shows_its_delimiter(
    tmp_path: Path, name: str, sign: str, columns: tuple[str, ...]
) -> None:
    lines = [sign.join('"' + one.replace('"', '""') + '"' for one in row) for row in QUOTED]
    for first in ([], [f"sep={sign}"], [f'"sep={sign}"']):
        (tmp_path / name).write_text("\n".join([*first, *lines]))
        problems: list[Problem] = []
        found = [list(row.values()) for _, row in read_records(tmp_path / name, problems, columns)]
        assert (found, problems) == (QUOTED[1:], [])


def test_a_line_without_names_is_split_after_its_id(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,one|two|three\nb,four\n")
    found = read_records(tmp_path / "a.csv", [], ("id", "text"), known={"a", "b"})
    texts = [fields for _, fields in found]
    assert texts == [{"id": "a", "text": "one|two|three"}, {"id": "b", "text": "four"}]


@pytest.mark.parametrize("sign", [",", "\t"])
def test_rows_that_r_numbers_are_read_and_others_are_told_what_to_quote(
    tmp_path: Path, sign: str
) -> None:
    text = '"id" "text"\n"1" "a" "one"\n"2" "b" "two"\n'.replace(" ", sign)
    fields, problems = read(tmp_path / "a.csv", text.encode())
    assert (fields[1], problems) == ({"": "2", "id": "b", "text": "two"}, [])
    _, problems = read(tmp_path / "b.tsv", b"id\ttext\na\tone\ttwo\n")
    assert problems == ["b.tsv line 2: has 3 fields and not 2; a text with tabs needs quotes"]


def test_a_packed_file_is_called_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"id,text\na\n"))
    problems: list[Problem] = []
    assert list(read_records(path, problems)) == []
    assert [one.where for one in problems] == ["a.csv.gz line 2"]
    with pytest.raises(DatasetError, match=r"a\.csv\.gz: has no column 'x'"):
        list(read_records(path, problems, ("x",)))
