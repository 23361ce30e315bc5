"""Predictions and references from files: read whole, or every bad line named."""

import re
from pathlib import Path

import pytest

from audiocapbench.data import InvalidDataError
from audiocapbench.data.matching import match_ids
from audiocapbench.data.predictions import Asked, Predictions, read_predictions
from audiocapbench.data.row import read_references
from audiocapbench.errors import DatasetError


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_csv_tsv_and_jsonl_say_the_same(tmp_path: Path) -> None:
    csv = write(tmp_path / "p.csv", 'id,prediction\na,"A dog, barking"\nb,\n')
    tsv = write(tmp_path / "p.tsv", "prediction\tid\nA dog, barking\ta\n\tb\n")
    jsonl = write(
        tmp_path / "p.jsonl",
        '{"id": "a", "prediction": "A dog, barking"}\n\n{"id": "b", "prediction": ""}\n',
    )
    expected = {"a": "A dog, barking", "b": ""}
    for path in (csv, tsv, jsonl):
        found = read_predictions(path)
        assert found.texts == expected
        assert found.bad == []


def test_references_are_rows_or_lists(tmp_path: Path) -> None:
    csv = write(tmp_path / "r.csv", "id,reference,category\na,One.,x\nb,Two.,y\na,Three.,x\n")
    jsonl = write(
        tmp_path / "r.jsonl",
        '{"id": "a", "references": ["One.", "Three."], "category": "x"}\n'
        '{"id": "b", "references": ["Two."], "category": "y"}\n',
    )
    for path in (csv, jsonl):
        found = {one.id: (one.references, one.category) for one in read_references(path)}
        assert found == {"a": (("One.", "Three."), "x"), "b": (("Two.",), "y")}


def test_bad_lines_of_predictions_are_listed_and_the_rest_is_kept(tmp_path: Path) -> None:
    content = (
        b'{"id": "a", "prediction": "fine"}\n'
        b"{broken\n"
        b'{"id": "c"}\n'
        b'["d"]\n'
        b'{"prediction": "whose?"}\n'
        b'{"id": "e", "prediction": "\xff", "by": "\xc3\xa9"}\n'
        b'{"id": "a", "prediction": "other"}\n'
        b'{"id": "a", "prediction": "fine"}\n'
        b'{"id": 7, "prediction": "numbers are ids too"}\n'
        b'{"id": "s", "prediction": "\\ud800"}\n'
    )
    found = read_predictions(write(tmp_path / "p.jsonl", content))
    assert found.texts == {"a": "fine", "7": "numbers are ids too"}
    assert [str(problem).split(" (")[0] for problem in found.bad] == [
        "p.jsonl line 2: is not JSON",
        "p.jsonl line 3: c: its prediction is missing; there is nothing else",
        "p.jsonl line 4: is not a JSON object",
        "p.jsonl line 5: id: is missing or not text",
        "p.jsonl line 6: is not UTF-8",
        "p.jsonl line 7: id: 'a' has another prediction above",
        "p.jsonl line 10: holds half of a surrogate pair, which is not text",
    ]


def test_an_object_as_prediction_is_its_text_or_refused_and_never_blank(tmp_path: Path) -> None:
    lines = '{"id": "a", "output": {"text": "A dog."}}\n{"id": "b", "output": {"role": "x"}}\n'
    found = read_predictions(write(tmp_path / "p.jsonl", lines))
    assert found.texts == {"a": "A dog."}
    assert [str(one) for one in found.bad] == ["p.jsonl line 2: b: its prediction is not text"]


def test_bad_rows_of_a_csv_are_listed(tmp_path: Path) -> None:
    content = b"id,prediction\na,fine\nb,one,two\nc,\xff\nd\ne,\xc3\xa9\n"
    found = read_predictions(write(tmp_path / "p.csv", content))
    assert found.texts == {"a": "fine", "e": "é"}
    assert [str(problem) for problem in found.bad] == [
        "p.csv line 3: has 3 fields and not 2; a text with commas needs quotes",
        "p.csv line 4: is not UTF-8 (byte 3); save it as UTF-8",
        "p.csv line 5: has 1 fields and not 2",
    ]


def test_bad_references_are_refused_with_every_reason(tmp_path: Path) -> None:
    content = (
        '{"id": "a", "references": []}\n{"id": "b", "references": ["ok", " "]}\n'
        '{"references": ["x"]}\n{"id": "c", "references": ["x"]}\n'
        '{"id": "c", "references": ["y"]}\n{"id": true, "references": ["x"]}\n'
    )
    with pytest.raises(InvalidDataError) as error:
        read_references(write(tmp_path / "r.jsonl", content))
    assert [str(problem) for problem in error.value.problems] == [
        "r.jsonl line 1: references: is empty; give at least one caption",
        "r.jsonl line 3: id: is missing",
        "r.jsonl line 5: id: 'c' has references above",
        "r.jsonl line 6: id: is not text",
    ]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("p.csv", "whose,said\na,b\n", r"path, audio_path\); its first line has whose, said"),
        ("p.csv", "", r"path, audio_path\); its first line has nothing"),
        ("p.csv", "id,prediction,id\na,b,c\n", "names a column twice"),
        ("p.txt", "a b", r"is neither \.csv, \.tsv, \.jsonl, \.json, \.parquet nor \.xlsx"),
    ],
)
def test_a_file_of_another_kind_is_one_sentence(
    tmp_path: Path, name: str, content: str, reason: str
) -> None:
    with pytest.raises(DatasetError, match=reason):
        read_predictions(write(tmp_path / name, content))


def test_missing_and_empty_files_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        read_predictions(tmp_path / "nowhere.csv")
    with pytest.raises(DatasetError, match="holds no references"):
        read_references(write(tmp_path / "r.csv", "id,reference\n"))


def test_odd_text_is_text(tmp_path: Path) -> None:
    long = "dog " * 25_000
    rows = f"id,prediction\nlong,{long}\nemoji,🐕🔊\nrtl,\u05db\u05dc\u05d1\nzh,狗叫\n"
    found = read_predictions(write(tmp_path / "p.csv", "\ufeff" + rows))
    assert found.bad == []
    assert found.texts["long"] == long
    assert found.texts["zh"] == "狗叫"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", "file_name,caption_1,caption_2\na.wav,One.,Two.\nb.wav,Three.,\n"),
        ("r.csv", "File;Caption\na.wav;One.\na.wav;Two.\nb.wav;Three.\n"),
        ("r.json", '{"a.wav": ["One.", "Two."], "b.wav": "Three."}'),
        (
            "r.json",
            '[{"audio": "a.wav", "captions": ["One.", "Two."]},\n'
            ' {"audio": "b.wav", "caption": "Three."}]',
        ),
        (
            "r.jsonl",
            '{"file": "a.wav", "captions": ["One.", "Two."]}\n'
            '{"file": "b.wav", "reference": "Three."}',
        ),
    ],
)
def test_references_are_read_under_the_names_that_people_give(
    tmp_path: Path, name: str, content: str
) -> None:
    found = read_references(write(tmp_path / name, content))
    texts = {one.id: one.references for one in found}
    assert texts == {"a.wav": ("One.", "Two."), "b.wav": ("Three.",)}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.csv", "file_name;caption\na.wav;A dog\n"),
        ("p.json", '{\n "a.wav": "A dog"\n}'),
        ("p.jsonl", '[\n {"audio": "a.wav",\n  "caption": "A dog"}\n]'),
        ("p.jsonl", '{"file": "a.wav", "answer": "A dog"}'),
    ],
)
def test_predictions_are_read_under_the_names_that_people_give(
    tmp_path: Path, name: str, content: str
) -> None:
    found = read_predictions(write(tmp_path / name, content))
    assert (found.texts, found.bad) == ({"a.wav": "A dog"}, [])


def texts(*ids: str) -> Predictions:
    return Predictions.of_texts({key: f"about {key}" for key in ids})


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["a.wav", "b.wav"], ["a", "b"]),
        (["a", "b"], ["a.wav", "b.flac"]),
        (["clips/a.wav", "clips/b.wav"], ["a", "b", "c"]),
        (["A.WAV", "b"], ["a", "b"]),
        (["x\\a.mp3"], ["y/a.wav"]),
        (["a.wav", "odd.wav"], ["a"]),  # of a larger set
        (["1/a.wav", "2/a.wav"], ["data/1/a.wav", "data/2/a.wav"]),
        (["a/0", "A/1"], ["a.wav/0", "a.wav/1"]),  # turns of a question
        (["x/1/a.wav", "y/1/a.wav"], ["data\\x\\1\\a.flac", "data\\Y\\1\\a.flac"]),
    ],
)
def test_ids_that_differ_by_extension_folder_or_case_meet_and_say_so(
    given: list[str], wanted: list[str]
) -> None:
    met, note = match_ids(texts(*given), wanted)
    assert set(met.texts) <= {*wanted, "odd.wav"}
    assert list(met.texts.values()) == [f"about {key}" for key in given]
    assert "differ from them only by extension, folder, case or zeros" in note


def test_spaces_may_be_written_otherwise() -> None:
    wanted = ["a dog.wav", "rain.wav", "dog.wav"]
    for given in ("a%20dog.wav", "a_dog", "a\u00a0dog.wav", "x/a+dog.wav", "A-Dog"):
        met, note = match_ids(texts(given, "rain.wav"), wanted)
        assert met.texts == {"a dog.wav": f"about {given}", "rain.wav": "about rain.wav"}
        assert "only by signs for spaces" in note or "accents" in note
    with pytest.raises(DatasetError, match="'a_dog' has no references"):
        match_ids(texts("a_dog"), ["a dog", "a-dog"])


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["a.wav", "odd"], ["a", "b"]),  # one meets, one does not
        (["x/a.wav", "y/a.wav"], ["a", "b"]),  # two for one
        (["a.wav", "b"], ["x/a", "y/a", "b"]),  # one for two
        (["a.wav", "a"], ["a", "b"]),  # the place is taken
    ],
)
def test_ids_that_meet_only_in_part_are_refused_with_an_example(
    given: list[str], wanted: list[str]
) -> None:
    with pytest.raises(DatasetError, match="only by extension, folder, case or zeros") as refused:
        match_ids(texts(*given), wanted)
    said = re.findall(r"'[^']*'", str(refused.value))
    assert len(said) == len(set(said))  # it names nobody against himself


def test_ids_that_have_nothing_in_common_are_refused_and_true_strangers_are_left_over() -> None:
    wanted = ("a", "b")
    with pytest.raises(DatasetError, match=r"such as 'x', references such as 'a'"):
        match_ids(texts("x", "y"), wanted)
    assert match_ids(texts("a", "x"), wanted)[1] == ""
    assert match_ids(texts("a"), wanted)[1] == ""


def test_a_table_about_known_ids_may_have_no_names(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", 'a, "A dog, barking"\nb,"open\nc,A cat\n')
    found = read_predictions(path, asked=Asked(["a", "b", "c"]))
    assert found.texts == {"a": "A dog, barking", "c": "A cat"}
    assert [str(one) for one in found.bad] == ["p.csv line 2: opens a quote that nothing closes"]
    lines = write(tmp_path / "p.jsonl", '{"a": "A dog"}\n{"prediction": "whose?"}\n')
    found = read_predictions(lines, asked=Asked(["a", "b"]))
    assert found.texts == {"a": "A dog"}
    assert [str(one) for one in found.bad] == ["p.jsonl line 2: id: is missing or not text"]


@pytest.mark.parametrize("written", ['a,None\nb,NA\nc,""\n', "a,none\nb,null\nc,nan\n"])
def test_a_mark_that_references_say_too_is_an_answer(tmp_path: Path, written: str) -> None:
    path = write(tmp_path / "p.csv", "id,prediction\n" + written)
    asked = Asked(["a", "b", "c"], references=[("None", "No music."), ("A cat",), ("A dog",)])
    found = read_predictions(path, asked=asked)
    assert found.texts == {"a": written[2:6], "b": "", "c": ""}
    assert not any(read_predictions(path, asked=Asked(["a", "b", "c"])).texts.values())
