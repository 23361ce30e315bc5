"""Prediction files of MECAT: every form is read, and nothing that does not fit is lost."""

import json
from pathlib import Path

import pytest

from audiocapbench.benchmarks.mecat.dataset import read_items
from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.data import InvalidDataError, Sample
from audiocapbench.data.predictions import Asked, PredictionFile, Predictions, read_predictions
from audiocapbench.data.records import LONGEST_LINE
from audiocapbench.errors import DatasetError
from mecat_data import clips, questions, write_references

KEYS = list(clips(2, ("00A",)))


@pytest.fixture
def items(tmp_path: Path) -> list[Sample]:
    return read_items("mecat-caption", write_references(tmp_path, "caption", clips(2, ("00A",))))


def about(items: list[Sample]) -> Asked:
    return Asked((one.id for one in items), SUBTASKS)


def read(path: Path, items: list[Sample], content: str | bytes) -> Predictions:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_predictions([PredictionFile.named(str(path), SUBTASKS)], asked=about(items))


NESTED = {key: {name: f"{key} {name}" for name in SUBTASKS} for key in KEYS}
WIDE = [["key", *SUBTASKS], *([key, *texts.values()] for key, texts in NESTED.items())]
LONG = [["id", "subtask", "text"], *([k, s, t] for k, v in NESTED.items() for s, t in v.items())]
TURNED = {name: {key: f"{key} {name}" for key in KEYS} for name in SUBTASKS}
OWN = [{"id": f"{k}/{s}", "prediction": t} for k, v in NESTED.items() for s, t in v.items()]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.jsonl", "\n".join(json.dumps({key: texts}) for key, texts in NESTED.items())),
        ("p.json", json.dumps(NESTED)),
        ("turned.json", json.dumps(TURNED)),
        ("list.json", json.dumps(OWN)),
        ("own.jsonl", "\n".join(map(json.dumps, OWN))),
        ("wide.csv", "\n".join(",".join(row) for row in WIDE)),
        ("records.csv", "\r\n".join(",".join(row) for row in LONG)),
        ("p.tsv", "\n".join("\t".join(row) for row in WIDE)),
        ("domain.json", json.dumps({key: {**own, "domain": "00A"} for key, own in NESTED.items()})),
    ],
)
def test_one_file_may_answer_all_sub_tasks(
    tmp_path: Path, items: list[Sample], name: str, content: str
) -> None:
    found = read(tmp_path / name, items, content)
    assert found.texts == {f"{k}/{s}": f"{k} {s}" for k in KEYS for s in SUBTASKS}
    assert (found.bad, about(items).unanswered(found.texts)) == ([], [])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("long_caption.csv", f'"{KEYS[0]}", "one, two"\r\n"{KEYS[1]}", "three"\r\n'),
        ("long.csv", f'key,text\n{KEYS[0]},"one, two"\n{KEYS[1]},three\n'),
        ("model-long.tsv", f"{KEYS[0]}\tone, two\n{KEYS[1]}\tthree"),
        ("long.txt", f"\ufeff{KEYS[0]} one, two\r\n\r\n{KEYS[1]}\tthree\r\n"),
        ("LONG.jsonl", f'{{"{KEYS[0]}": "one, two"}}\n{{"{KEYS[1]}": "three"}}\n'),
        ("long.json", f'{{"{KEYS[0]}": "one, two", "{KEYS[1]}": "three"}}'),
    ],
)
def test_one_file_may_answer_one_sub_task(
    tmp_path: Path, items: list[Sample], name: str, content: str
) -> None:
    found = read(tmp_path / name, items, content)
    assert found.texts == {f"{KEYS[0]}/long": "one, two", f"{KEYS[1]}/long": "three"}
    others = [name for name in SUBTASKS if name != "long"]
    assert (found.bad, about(items).unanswered(found.texts)) == ([], others)


def test_a_text_without_a_sub_task_answers_all_six(tmp_path: Path, items: list[Sample]) -> None:
    found = read(tmp_path / "p.csv", items, f"{KEYS[0]},a motor\n")
    assert found.texts == {f"{KEYS[0]}/{name}": "a motor" for name in SUBTASKS}
    assert about(items).unanswered(found.texts) == []


def test_the_sub_task_is_named_by_hand_where_the_name_misleads(
    tmp_path: Path, items: list[Sample]
) -> None:
    path = tmp_path / "long_short.csv"
    with pytest.raises(DatasetError, match=r"has the sub-tasks long, short in it; write long="):
        read(path, items, f"{KEYS[0]},x\n")
    (tmp_path / "music.csv").write_text(f"{KEYS[0]},x\n")
    named = PredictionFile.named
    assert named(f"sound={tmp_path / 'music.csv'}", SUBTASKS).part == "sound"
    assert named(f"all={tmp_path / 'music.csv'}", SUBTASKS).part is None
    assert named(str(tmp_path / "music.csv"), SUBTASKS).part == "music"
    assert named(str(tmp_path / "music.csv")).part is None


def test_an_open_quote_costs_its_own_line_only(tmp_path: Path, items: list[Sample]) -> None:
    content = f'{KEYS[0]},"never closed\n{KEYS[1]},"two\nlines"\n'
    found = read(tmp_path / "long.csv", items, content)
    assert found.texts == {f"{KEYS[1]}/long": "two\nlines"}
    assert [str(one) for one in found.bad] == ["long.csv line 1: opens a quote that nothing closes"]


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("p.jsonl", b'{"half": ', "line 1: is not JSON"),
        ("p.jsonl", b'["x"]', "line 1: is not a JSON object"),
        ("p.jsonl", b'{"odd": true}', "line 1: odd: its prediction is not text"),
        ("p.jsonl", b'{"long": ["a"]}', 'line 1: long: is a sub-task: write {"long": {"CLIP": '),
        (
            "p.jsonl",
            b'{"odd": {"long": ["a", "b"]}}',
            "odd/long: its prediction is a list of texts",
        ),
        ("p.jsonl", b'{"odd": {"long": true}}', "line 1: odd/long: its prediction is not text"),
        ("p.jsonl", b'{"odd": {"loud": "x"}}', "is missing; there is loud; sub-tasks are long"),
        (
            "p.jsonl",
            b'{"id": "odd", "subtask": "loud", "text": "x"}',
            "no sub-task 'loud'; there are",
        ),
        ("p.jsonl", b'{"clip": "a\\u0000b"}', "holds a NUL character"),
        ("p.jsonl", b'{"clip": "\\ud800"}', "half of a surrogate pair"),
        ("p.jsonl", b'{"clip": "a", "clip": "b"}', "'clip' stands twice"),
        ("p.jsonl", b"[" * 100_000, "is not JSON"),
        ("p.csv", b"no comma", "has 1 fields and not 2"),
        ("p.csv", b"k,a,b", "a text with commas needs quotes"),
        ("p.csv", b'k,"a"b', "is not CSV"),
        ("p.csv", b"k,a\0b", "holds a NUL character"),
        ("p.csv", b"k,\xff\xfe", "is not UTF-8 (byte 3)"),
        ("p.txt", b"@@@@", "has no text after its key"),
        ("p.txt", b"k " + b"x" * LONGEST_LINE, "is longer than 16 MiB"),
    ],
)
def test_a_bad_line_is_named_and_the_next_one_is_read(
    tmp_path: Path, items: list[Sample], name: str, line: bytes, words: str
) -> None:
    good = {
        "p.jsonl": json.dumps({KEYS[0]: "a motor"}),
        "p.csv": f"{KEYS[0]},a motor",
        "p.txt": f"{KEYS[0]} a motor",
    }[name]
    found = read(tmp_path / name, items, line + b"\n" + good.encode())
    (problem,) = found.bad
    assert words in str(problem)
    assert problem.where == f"{name} line 1"
    assert found.texts[f"{KEYS[0]}/long"] == "a motor"


def test_a_second_answer_is_listed_and_the_first_stays(tmp_path: Path, items: list[Sample]) -> None:
    lines = [f"{KEYS[0]},one", f"{KEYS[0]},one", f"{KEYS[0]},two", "stranger,x", "stranger,x"]
    found = read(tmp_path / "long.csv", items, "\n".join(lines))
    assert found.texts == {f"{KEYS[0]}/long": "one", "stranger": "x"}
    assert [one.where for one in found.bad] == ["long.csv line 3"]
    assert "has another prediction above" in str(found.bad[0])


def test_an_answer_to_all_sub_tasks_fills_those_that_have_none(
    tmp_path: Path, items: list[Sample]
) -> None:
    first, every = tmp_path / "long.csv", tmp_path / "rest.csv"
    first.write_text(f"{KEYS[0]},one\n")
    every.write_text(f"{KEYS[0]},two\n")
    sources = [PredictionFile.named(str(path), SUBTASKS) for path in (first, every)]
    found = read_predictions(sources, asked=about(items))
    expected = {f"{KEYS[0]}/{name}": "one" if name == "long" else "two" for name in SUBTASKS}
    assert found.texts == expected
    assert [one.field for one in found.bad] == [f"{KEYS[0]}/long"]


def test_an_empty_answer_is_an_answer(tmp_path: Path, items: list[Sample]) -> None:
    found = read(tmp_path / "long.csv", items, f"{KEYS[0]},\n{KEYS[1]},x\n")
    assert found.texts == {f"{KEYS[0]}/long": "", f"{KEYS[1]}/long": "x"}
    assert read(tmp_path / "long.txt", items, f"{KEYS[0]}\n").texts == {f"{KEYS[0]}/long": ""}


def test_answers_to_questions_have_no_sub_task(tmp_path: Path) -> None:
    asked = questions(1, ("00A",))
    items = read_items("mecat-qa", write_references(tmp_path, "qa", asked))
    first, second, *_ = asked
    path = tmp_path / "long.jsonl"
    path.write_text(f'{{"{first}": "a kettle"}}\n{{"{second}": {{"long": "x"}}}}\n')
    found = read_predictions(path, asked=Asked(one.id for one in items))
    assert found.texts == {first: "a kettle"}
    assert "is missing; there is long" in str(found.bad[0])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("p.json", b"{", "is not JSON"),
        ("p.json", b"\x81", "is not UTF-8"),
        ("p.json", b"7", "neither a JSON object nor a list"),
        ("p.md", b"", "is neither .csv, .tsv, .jsonl, .json, .parquet, .xlsx nor .txt"),
        ("p.csv", b"key,a,b\n", "has no column 'prediction' .* its first line has key, a, b"),
        ("p.csv", b"key,long,long\n", "names a column twice"),
    ],
)
def test_a_file_that_says_nothing_is_refused(
    tmp_path: Path, items: list[Sample], name: str, content: bytes, words: str
) -> None:
    with pytest.raises(DatasetError, match=words):
        read(tmp_path / name, items, content)


def test_wrong_references_are_refused_line_by_line(tmp_path: Path) -> None:
    entries = clips(3, ("00A",))
    first, second, third = entries
    entries[first]["domain"] = "ZZZ"
    entries[second]["long"] = []
    folder = write_references(tmp_path, "caption", entries)
    lines = [json.dumps({third: entries[third]}), "{"]
    (folder / "caption_test" / "again.jsonl").write_text("\n".join(lines))
    with pytest.raises(InvalidDataError) as error:
        read_items("mecat-caption", folder)
    told = "\n".join(map(str, error.value.problems))
    for words in (
        "'ZZZ', not one of",
        "long: is not a list",
        "stands above already",
        "is not JSON",
    ):
        assert words in told
    assert str(error.value).endswith("\n  … and 4 more"), "five are shown, and it is no other part"
    with pytest.raises(DatasetError, match="no such file or folder"):
        read_items("mecat-qa", tmp_path / "nowhere")
    with pytest.raises(DatasetError, match=r"holds no \.jsonl file"):
        read_items("mecat-qa", tmp_path)
