"""Files as pandas, COCO, aac-metrics and colleagues write them: read as meant, or refused."""

import bz2
import gzip
import json
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from audiocapbench.data import InvalidDataError
from audiocapbench.data.cells import parsed
from audiocapbench.data.columns import Reading, fold_name, mapped_columns, numbered
from audiocapbench.data.matching import match_ids, match_samples
from audiocapbench.data.opinions import read_opinions
from audiocapbench.data.pairing import Pairing
from audiocapbench.data.predictions import Asked, PredictionFile, Predictions, read_predictions
from audiocapbench.data.row import read_references
from audiocapbench.errors import DatasetError
from audiocapbench.library.captions import samples_of
from audiocapbench.meta.pairs import read_pairs
from needs import needs

ONE, TWO, THREE, FOUR = "A dog barks.", "Dog barking loudly.", "Rain is falling.", "It rains hard."
BOTH = {"a.wav": (ONE, TWO), "b.wav": (THREE, FOUR)}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def references(path: Path, **mapped: str) -> tuple[dict[str, tuple[str, ...]], Reading]:
    reading = Reading(path, mapped)
    return {one.id: one.references for one in read_references(path, reading)}, reading


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def column(*cells: str) -> str:
    rows = zip(("a.wav", "b.wav", "c.wav", "d.wav"), cells, strict=False)
    return "id,captions\n" + "".join(f"{key},{quoted(cell)}\n" for key, cell in rows)


LISTS: dict[str, Callable[[list[str]], str]] = {
    "Python": str,
    "tuple": lambda texts: str(tuple(texts)),
    "JSON": json.dumps,
    "numpy": lambda texts: "[" + "\n ".join(map(repr, texts)) + "]",
    "numpy with dtype": lambda texts: f"array({texts}, dtype=object)",
    "numpy with a type of strings": lambda texts: f"array({texts},\n      dtype='<U17')",
    "strings of numpy": lambda texts: f"[{', '.join(f'np.str_({text!r})' for text in texts)}]",
    "index of pandas": lambda texts: f"Index({texts}, dtype='object', name='x')",
    "set": lambda texts: "frozenset({" + ", ".join(map(repr, texts)) + "})",
    "objects": lambda texts: json.dumps([{"caption": text, "id": 1} for text in texts]),
    "Python objects": lambda texts: str([{"caption": text} for text in texts]),
    "by number": lambda texts: json.dumps(dict(enumerate(texts))),
    "without brackets": lambda texts: ", ".join(map(json.dumps, texts)),
    "by numbered names": lambda texts: json.dumps(
        {f"caption_{number}": text for number, text in enumerate(texts, 1)}
    ),
    "padded": lambda texts: str([*texts, None]),
    "JSON twice": lambda texts: json.dumps(json.dumps(texts)),
    "wrapped": lambda texts: json.dumps([texts]),
    "R": lambda texts: f"c({json.dumps(texts)[1:-1]})",
    "list of R": lambda texts: f"list({json.dumps(texts)[1:-1]})",
    "Julia": lambda texts: f"String{json.dumps(texts)}",
    "side by side": lambda texts: " ".join(map(json.dumps, texts)),
}


@pytest.mark.parametrize("how", LISTS)
def test_lists_in_cells_are_read_and_said(tmp_path: Path, how: str) -> None:
    made = [LISTS[how](list(texts)) for texts in BOTH.values()]
    found, reading = references(write(tmp_path / "r.csv", column(*made)))
    assert found == BOTH
    assert reading.notes == ["its 'captions' hold lists, and were read as such"]
    lines = "".join(
        json.dumps({"id": key, "captions": cell}) + "\n"
        for key, cell in zip(BOTH, made, strict=True)
    )
    assert references(write(tmp_path / "r.jsonl", lines))[0] == BOTH


SEPARATORS = [
    "|",
    "||",
    "|||",
    " | ",
    ";",
    "; ",
    "\n",
    "\r\n",
    "\t",
    "<sep>",
    " [SEP] ",
    "###",
    "__",
]
SEPARATORS += ["^", " ~ ", "#", "@@", " --- ", "\x1f", " / ", "***", ","]
SEPARATORS += ["::", " %% "]
SEPARATORS += [" // ", "<br>", "\\n", " ## ", " • ", "</s>", "\\t", "\\r\\n", "=>", " -> ", "\n- "]
SEPARATORS += ["\n• ", "</s><s>", "<cap>", "<|sep|>", ">>", "\\", "|\n", " - ", ":", "—", "\n2. "]


@pytest.mark.parametrize("separator", SEPARATORS)
def test_a_separator_that_stands_in_all_cells_splits_them_and_is_said(
    tmp_path: Path, separator: str
) -> None:
    cells = [separator.join(texts) for texts in (*BOTH.values(), (ONE, FOUR))]
    found, reading = references(write(tmp_path / "r.csv", column(*cells)))
    assert list(found.values()) == [*BOTH.values(), (ONE, FOUR)]
    assert "its 'captions' were split at" in reading.notes[0]


@pytest.mark.parametrize("separator", ["|", ";", "||", "\n", " / ", ","])
@pytest.mark.parametrize("quotes", ['"{}"', "'{}'", "“{}”", "«{}»"])
def test_quotes_around_each_text_are_no_part_of_it(
    tmp_path: Path, separator: str, quotes: str
) -> None:
    told = "The dog barks." if separator in "\n," else "The dog's bark."
    texts = {"a.wav": (ONE, told), "b.wav": (THREE, FOUR), "c.wav": (TWO, ONE)}
    cells = [separator.join(map(quotes.format, own)) for own in texts.values()]
    assert references(write(tmp_path / "r.csv", column(*cells)))[0] == texts


@pytest.mark.parametrize("brackets", ["[{}]", "({})"])
def test_brackets_around_texts_with_separators_are_no_part_of_them(
    tmp_path: Path, brackets: str
) -> None:
    cells = [brackets.format("|".join(own)) for own in BOTH.values()]
    assert references(write(tmp_path / "r.csv", column(*cells)))[0] == BOTH


MIXED = {
    "separators": [*(f"{ONE}|{TWO}" for _ in range(12)), f"{THREE};{FOUR}"],
    "lists": [*(str([ONE, TWO]) for _ in range(12)), f"{THREE}|{FOUR}"],
    "within lists": [json.dumps([f"{ONE}|{TWO}"]) for _ in range(12)],
    "numbers": [*(f"{ONE}|{TWO}" for _ in range(12)), str([THREE, FOUR])],
    "one of many": [*(ONE for _ in range(29)), ";".join((ONE, TWO, THREE, FOUR))],
    "commas of many": [*(ONE for _ in range(29)), ",".join((ONE, TWO, THREE, FOUR))],
    "half sentences": [f"{ONE},{TWO},and a cat" for _ in range(12)],
    "lower case": [f"{ONE},{TWO}".lower() for _ in range(12)],
}


@pytest.mark.parametrize("name", MIXED)
def test_a_cell_of_another_form_than_the_rest_is_refused(tmp_path: Path, name: str) -> None:
    rows = "".join(f"{at},{quoted(cell)}\n" for at, cell in enumerate(MIXED[name]))
    with pytest.raises(DatasetError, match=r"in another way|may hold one text a cell or several"):
        references(write(tmp_path / "r.csv", f"id,captions\n{rows}"))


def test_commas_within_texts_are_not_those_between_them(tmp_path: Path) -> None:
    texts = {key: (*own, "Wind, rain, and a dog.") for key, own in BOTH.items()} | {
        "c.wav": (ONE, FOUR, TWO)
    }
    cells = [",".join(own) for own in texts.values()]
    assert references(write(tmp_path / "r.csv", column(*cells)))[0] == texts


@pytest.mark.parametrize("form", ["|", "foo", "list", "numbered", "tab"])
def test_a_form_that_fits_no_cell_is_refused(tmp_path: Path, form: str) -> None:
    path = write(tmp_path / "r.csv", column(*(f"{ONE};{TWO};{FOUR}" for _ in range(4))))
    with pytest.raises(DatasetError, match=r"not written so that \["):
        references(path, references=f"captions[{form}]")


@pytest.mark.parametrize(
    "cells",
    [
        ("1. A dog barks. 2. Dog barking loudly.", "1) Rain is falling. 2) It rains hard."),
        ("(1) A dog barks. (2) Dog barking loudly.", "1. Rain is falling.\n2. It rains hard."),
        ("- A dog barks.\n- Dog barking loudly.", "- Rain is falling.\n- It rains hard."),
        ('- "A dog barks."\n- "Dog barking loudly."', "- 'Rain is falling.'\n- It rains hard."),
        ("0. A dog barks. 1. Dog barking loudly.", "0. Rain is falling. 1. It rains hard."),
        ("a) A dog barks. b) Dog barking loudly.", "A) Rain is falling. B) It rains hard."),
        (
            "Ref 1: A dog barks. Ref 2: Dog barking loudly.",
            "Caption 1: Rain is falling. Caption 2: It rains hard.",
        ),
        (
            "<li>A dog barks.</li><li>Dog barking loudly.</li>",
            "<ul><li>Rain is falling.\n<li>It rains hard.</ul>",
        ),
    ],
)
def test_numbered_and_bulleted_texts_are_split(tmp_path: Path, cells: tuple[str, ...]) -> None:
    assert references(write(tmp_path / "r.csv", column(*cells)))[0] == BOTH


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        ((f"{ONE}|{TWO}", THREE, FOUR), "|"),  # in a part of the cells
        ((f"{ONE};{TWO}", THREE), ";"),
        ((f"{ONE}\n{TWO}", THREE, FOUR), "newline"),
        ((f"1. {ONE} 2. {TWO}", THREE, FOUR), "numbered"),
        ((f"{ONE}|{TWO}", "It rains; hard", "Wind; and rain", "A cat; a dog"), "|"),
        (("dog|bark", "rain|water", "cat|purr"), "|"),  # words rather than captions
        (("dog;bark;loud", "rain;water;roof", "cat;purr;soft"), ";"),
        (("['dog', 'bark', 'loud']", "['rain', 'water', 'roof']"), "list"),
        (("[a dog barks, dog barking]", "[rain falls, it rains]"), ","),
        ((f"{ONE};{TWO}",), ";"),
    ],
)
def test_what_may_be_one_text_or_several_is_refused_and_an_option_decides(
    tmp_path: Path, cells: tuple[str, ...], form: str
) -> None:
    path = write(tmp_path / "r.csv", column(*cells))
    with pytest.raises(DatasetError) as error:
        references(path)
    assert "may hold one text a cell or several" in str(error.value)
    assert "references=captions[text]" in str(error.value)
    assert f"references=captions[{form}]" in str(error.value)
    assert [len(texts) for texts in references(path, references="captions[text]")[0].values()] == [
        1 for _ in cells
    ]
    several, _ = references(path, references=f"captions[{form}]")
    assert len(several["a.wav"]) > 1


@pytest.mark.parametrize(
    "cell", ["['A dog barks', 'Dog", "['A dog' barks]", "['a' ... 'b']", "[{'a': 'b'}]", "[1, 2]"]
)
def test_a_list_that_cannot_be_read_is_no_caption(tmp_path: Path, cell: str) -> None:
    with pytest.raises(DatasetError, match="is none that can be read"):
        references(write(tmp_path / "r.csv", column(str(list(BOTH["a.wav"])), cell)))


@pytest.mark.parametrize(
    "text", ["(dog barking)", "[music] A dog", "A dog; a cat", "'A dog'", "[Music]"]
)
def test_a_caption_with_brackets_or_a_semicolon_is_a_caption(tmp_path: Path, text: str) -> None:
    rows = "".join(f"{number},Caption {number} of many.\n" for number in range(20))
    found, _ = references(write(tmp_path / "r.csv", f"id,captions\n{rows}x,{text}\n"))
    assert found["x"] == (text,)


def test_python_joins_texts_without_a_comma_and_numpy_does_not() -> None:
    assert parsed("['a b' 'c d']") == ["a b", "c d"]
    assert parsed("""["it's" 'so']""") == ["it's", "so"]
    assert parsed("__import__('os')") is None
    assert parsed("[" * 50_000) is None
    assert parsed("['a', open('b')]") is None


COCO = {
    "images": [{"id": 7, "file_name": "a.wav"}, {"id": 3, "file_name": "b.wav"}],
    "annotations": [
        {"id": 1, "image_id": 7, "caption": ONE},
        {"id": 2, "image_id": 3, "caption": THREE},
        {"id": 3, "image_id": 7, "caption": TWO},
        {"id": 7, "image_id": 3, "caption": FOUR},
    ],
}


@pytest.mark.parametrize("key", ["number", "file"])
def test_coco_annotations_are_about_their_images_and_results_meet_them(
    tmp_path: Path, key: str
) -> None:
    path = write(tmp_path / "captions.json", json.dumps(COCO))
    samples = read_references(path)
    assert {one.id: one.references for one in samples} == {"7": (ONE, TWO), "3": (THREE, FOUR)}
    ids = (7, 3) if key == "number" else ("a.wav", "b")
    results = [{"image_id": one, "id": 3, "caption": ONE} for one in ids]
    found = read_predictions(write(tmp_path / "results.json", json.dumps(results)))
    met, _ = match_samples(found, samples)
    assert set(met.texts) == {"7", "3"}


FORMS = {
    "by id.json": json.dumps({"a.wav": [ONE, TWO], "b.wav": [THREE, FOUR]}),
    "pandas index.csv": ",file_name,caption_1,caption_2\n"
    f"0,a.wav,{ONE},{TWO}\n1,b.wav,{THREE},{FOUR}\n",
    "rows.csv": "Unnamed: 0,key,caption\n"
    f"0,a.wav,{ONE}\n1,a.wav,{TWO}\n2,b.wav,{THREE}\n3,b.wav,{FOUR}\n",
    "audiocaps.csv": "audiocap_id,youtube_id,start_time,caption\n"
    f"1,a.wav,3,{ONE}\n2,a.wav,3,{TWO}\n3,b.wav,0,{THREE}\n4,b.wav,0,{FOUR}\n",
    "audiofolder.csv": f"file_name,text\na.wav,{ONE}\na.wav,{TWO}\nb.wav,{THREE}\nb.wav,{FOUR}\n",
    "wide.csv": f"Audio Path,Caption (1),Caption (2)\na.wav,{ONE},{TWO}\nb.wav,{THREE},{FOUR}\n",
    "dots.csv": f"ytid,captions.0,captions.1\na.wav,{ONE},{TWO}\nb.wav,{THREE},{FOUR}\n",
    "pandas twice.csv": f"fname,caption,caption.1\na.wav,{ONE},{TWO}\nb.wav,{THREE},{FOUR}\n",
    "ref.tsv": f"wav\tref0\tref1\na.wav\t{ONE}\t{TWO}\nb.wav\t{THREE}\t{FOUR}\n",
    "rows.jsonl": "".join(
        json.dumps({"sound": key, "reference": text}) + "\n"
        for key, texts in BOTH.items()
        for text in texts
    ),
    "columns.json": json.dumps(
        {"id": {"0": "a.wav", "1": "b.wav"}, "refs": {"0": [ONE, TWO], "1": [THREE, FOUR]}}
    ),
    "lists.json": json.dumps({"fname": ["a.wav", "b.wav"], "refs": [[ONE, TWO], [THREE, FOUR]]}),
    "split.json": json.dumps(
        {
            "columns": ["audio_path", "mult_references"],
            "index": [0, 1],
            "data": [["a.wav", [ONE, TWO]], ["b.wav", [THREE, FOUR]]],
        }
    ),
    "index.json": json.dumps(
        {"0": {"id": "a.wav", "refs": [ONE, TWO]}, "1": {"id": "b.wav", "refs": [THREE, FOUR]}}
    ),
    "split index.json": json.dumps(
        {"columns": ["refs"], "index": list(BOTH), "data": [[texts] for texts in BOTH.values()]}
    ),
    "audios.json": json.dumps(
        {
            "info": {"year": 1},
            "audios": [{"id": key, "path": f"x/{key}"} for key in BOTH],
            "annotations": [
                {"id": 9 - n, "audio_id": key, "caption": text}
                for n, (key, text) in enumerate((key, one) for key in BOTH for one in BOTH[key])
            ],
        }
    ),
    "examples.json": json.dumps(
        {"model": "m", "examples": [{"id": key, "refs": texts} for key, texts in BOTH.items()]}
    ),
    "zeros.csv": f"Audiofile,captions_01,captions_02\na.wav,{ONE},{TWO}\nb.wav,{THREE},{FOUR}\n",
    "dashes.csv": f"AudioID,caption-1,caption-2\na.wav,{ONE},{TWO}\nb.wav,{THREE},{FOUR}\n",
    "bars.csv": f"Clip ID|Caption #01|Caption #02\na.wav|{ONE}|{TWO}\nb.wav|{THREE}|{FOUR}\n",
    "excel.csv": f'sep=;\n"id";"refs 1";"refs 2"\na.wav;{ONE};{TWO}\nb.wav;{THREE};{FOUR}\n',
    "NaN.jsonl": "".join(
        json.dumps({"id": key, "refs": texts, "loss": float("nan")}) + "\n"
        for key, texts in BOTH.items()
    ),
    "both.json": json.dumps(
        {
            "predictions": [{"id": "a.wav", "caption": "x"}, {"id": "b.wav", "caption": "y"}],
            "references": [{"id": key, "captions": texts} for key, texts in BOTH.items()],
        }
    ),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("packed", ["", ".gz", ".bz2", ".xz"])
def test_references_are_read_in_every_form(tmp_path: Path, name: str, packed: str) -> None:
    packers: dict[str, Callable[[bytes], bytes]]
    packers = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    pack = packers.get(packed, bytes)
    found, _ = references(write(tmp_path / f"{name}{packed}", pack(FORMS[name].encode())))
    assert found == BOTH


PREDICTED = {
    "by id.json": json.dumps({"a.wav": [ONE], "b.wav": [THREE]}),
    "plain.json": json.dumps({"a.wav": ONE, "b.wav": THREE}),
    "coco.json": json.dumps(
        [{"image_id": "a.wav", "caption": ONE}, {"image_id": "b.wav", "caption": THREE}]
    ),
    "pandas.csv": f",id,prediction\n0,a.wav,{ONE}\n1,b.wav,{THREE}\n",
    "pandas.json": json.dumps(
        {"fname": {"0": "a.wav", "1": "b.wav"}, "pred": {"0": ONE, "1": THREE}}
    ),
    "cands.csv": f'fname,cands\na.wav,[\'{ONE}\']\nb.wav,"(""{THREE}"",)"\n',
    "conette.csv": f'preds,cands,fname\n"[92, 6]",{ONE},a.wav\n"[4, 1]",{THREE},b.wav\n',
    "preds.tsv": f"youtube_id\tpreds\na.wav\t{ONE}\nb.wav\t{THREE}\n",
    "fold.csv": f"audio_path;Predicted Caption\na.wav;{ONE}\nb.wav;{THREE}\n",
    "split.json": json.dumps(
        {"columns": ["output"], "index": ["a.wav", "b.wav"], "data": [[ONE], [THREE]]}
    ),
    "short index.json": json.dumps(
        {"columns": ["id", "output"], "index": [0], "data": [["a.wav", ONE], ["b.wav", THREE]]}
    ),
    "outputs.json": json.dumps(
        {"ids": ["a.wav", "b.wav"], "outputs": [ONE, THREE], "bleu": 0.3, "losses": [1, 2, 3]}
    ),
    "within.json": json.dumps({"model": "m", "predictions": {"a.wav": ONE, "b.wav": THREE}}),
    "examples.json": json.dumps(
        {
            "model": "m",
            "seeds": [1],
            "examples": [{"id": "a.wav", "output": ONE}, {"id": "b.wav", "output": THREE}],
        }
    ),
    "NaN.json": json.dumps(
        [{"id": "a.wav", "pred": ONE, "loss": float("nan")}, {"id": "b.wav", "pred": THREE}]
    ),
    "index only.csv": f",prediction\na.wav,{ONE}\nb.wav,{THREE}\n",
}


@pytest.mark.parametrize("name", PREDICTED)
def test_predictions_are_read_in_every_form(tmp_path: Path, name: str) -> None:
    found = read_predictions(write(tmp_path / name, PREDICTED[name]))
    assert (found.texts, found.bad) == ({"a.wav": ONE, "b.wav": THREE}, [])
    assert found.readings[0].rows == 2


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("cp1252", "Windows-1252"),
        ("latin-1", "Windows-1252"),
        ("utf-16-le", "UTF-16-LE"),
        ("utf-16-be", "UTF-16-BE"),
        ("utf-16", ""),
        ("utf-8-sig", ""),
    ],
)
@pytest.mark.parametrize("name", ["r.csv", "r.jsonl", "r.json"])
def test_encodings_are_found_and_said(tmp_path: Path, name: str, encoding: str, said: str) -> None:
    text = "id,captions\ncafé,Ein Käuzchen ruft in der Nähe.\n"
    if name != "r.csv":
        row = {"id": "café", "captions": "Ein Käuzchen ruft in der Nähe."}
        text = json.dumps(row if name == "r.jsonl" else [row], ensure_ascii=False)
    found, reading = references(write(tmp_path / name, text.encode(encoding)))
    assert found == {"café": ("Ein Käuzchen ruft in der Nähe.",)}
    assert reading.notes == ([f"it is not UTF-8, and was read as {said}"] if said else [])


@pytest.mark.parametrize(
    "content",
    [
        "id,captions\na,狗在大声地叫着\n".encode("gbk"),
        "id,captions\na,Собака громко лает\n".encode("cp1251"),
        b"id,captions\na,A dog\x81 barks\n",
        "id,captions\na,Un café fermé\n".encode("mac_roman"),
        "id,captions\na,The dog’s bark\n".encode("mac_roman"),
        "id,captions\na,Un café schön\n".encode("cp437"),
        "id,captions\na,Pies głośno szczeka\n".encode("cp1250"),
        "id,captions\na,Кот\n".encode("cp1251"),
        "id,captions\na,雨\n".encode("gbk"),
        "id,captions\na,Ο σκύλος γαβγίζει\n".encode("cp1253"),
        "id,captions\na,It’s\n".encode() + b"b,Gr\xf6\xdfe\n",
        b"id,captions\na,A dog\xe9\x07 barks\n",
        "id,captions\na,Größe\n".encode() + b"b,Gr\xf6\xdfe\n",
    ],
)
def test_an_encoding_that_is_not_plain_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DatasetError, match="is not UTF-8"):
        references(write(tmp_path / "r.csv", content))


@pytest.mark.parametrize(
    "text",
    [
        "“Öl”",
        "“été”",
        "‘é’",
        "“groß”",
        "“É’ so",
        "«\xa0Où ça\xa0?\xa0»",
        "“à…”",
        "it’s 5 °C – 3½ m²",
    ],
)
def test_accents_beside_typographic_signs_are_windows_1252(tmp_path: Path, text: str) -> None:
    found, reading = references(
        write(tmp_path / "r.csv", f"id,captions\na,A man says {text}\n".encode("cp1252"))
    )
    assert found == {"a": (f"A man says {text}",)}
    assert reading.encoding == "Windows-1252"


def test_ids_with_accents_meet_however_they_are_written(tmp_path: Path) -> None:
    found = read_predictions(write(tmp_path / "p.csv", "id,prediction\ncafe\u0301,A dog\n"))
    met, note = match_ids(found, ["caf\u00e9", "tea"])
    assert met.texts == {"caf\u00e9": "A dog"}
    assert "how accents are written, such as 'cafe\\u0301' for 'café'" in note
    twice = "id,captions\ncafe\u0301,A dog barks\ncaf\u00e9,A cat purrs\n"
    with pytest.raises(InvalidDataError, match=r"'caf\\xe9' has references above as 'cafe\\u0301'"):
        references(write(tmp_path / "r.csv", twice))


def test_ids_of_youtube_and_numbers_meet_as_people_write_them(tmp_path: Path) -> None:
    for theirs, ours in (
        ("Yrtz-Zqm6pYG.wav", "rtz-Zqm6pYG"),
        ("rtz-Zqm6pYG_30_40.wav", "rtz-Zqm6pYG"),
        ("12.0", "12"),
        ("7", "0007"),
    ):
        found = read_predictions(write(tmp_path / "p.csv", f"id,prediction\n{theirs},A dog\n"))
        assert match_ids(found, [ours, "another"])[0].texts == {ours: "A dog"}


def test_columns_are_named_by_the_user(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "id,where it lies,said\n1,a.wav,A dog\n2,b.wav,Rain\n")
    columns = mapped_columns(["id=where it lies,prediction=said"], ("id", "prediction"))
    found = read_predictions(path, columns=columns)
    assert found.texts == {"a.wav": "A dog", "b.wav": "Rain"}
    with pytest.raises(
        DatasetError, match=r"has no column 'sayd'; did you mean 'said'\? It has id"
    ):
        read_predictions(path, columns={"prediction": "sayd"})
    path = write(tmp_path / "r.csv", f"id,ana,ben\na,{ONE},{TWO}\n")
    assert references(path, references="ana+ben")[0] == {"a": (ONE, TWO)}
    with pytest.raises(DatasetError, match="ROLE=COLUMN"):
        mapped_columns(["prediktion=x"], ("id", "prediction"))


def test_columns_of_pairs_and_ratings_are_named_by_the_user(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "clip,left,right,preferred\na.wav,A dog,A cat,a\n")
    named = {"audio": "clip", "caption_a": "left", "caption_b": "right"}
    (pair,) = read_pairs("csv", [path], columns=named)
    assert (pair.audio, pair.first, pair.second) == ("a.wav", "A dog", "A cat")
    path = write(tmp_path / "o.csv", "clip,stars,score\na.wav,4,99\n")
    (opinion,) = read_opinions(path, {"item": "clip", "value": "stars"}).opinions
    assert (opinion.item, opinion.value) == ("a.wav", "4")


def test_two_columns_that_may_both_be_meant_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "id,prediction,output\na,A dog,A cat\n")
    with pytest.raises(
        DatasetError, match="`columns` prediction=prediction or `columns` prediction=output"
    ):
        read_predictions(path)
    assert read_predictions(path, columns={"prediction": "output"}).texts == {"a": "A cat"}
    same = write(tmp_path / "s.csv", "id,prediction,output\na,A dog,A dog\n")
    assert read_predictions(same).texts == {"a": "A dog"}
    clotho = write(tmp_path / "r.csv", "file_name,text,raw_text\na,a dog,A dog.\n")
    found, reading = references(clotho)
    assert found == {"a": ("A dog.",)}
    assert "'raw_text' was taken for the references; there is also 'text'" in reading.notes[0]


def test_ids_of_captions_are_not_taken_for_ids_of_clips(tmp_path: Path) -> None:
    rows = "".join(f"{n},clip{n // 5},Caption {n} here\n" for n in range(10))
    path = write(tmp_path / "r.csv", f"id,audio_id,caption\n{rows}")
    with pytest.raises(DatasetError, match="`columns` id=audio_id or `columns` id=id"):
        references(path)
    assert len(references(path, id="audio_id")[0]) == 2
    assert len(references(path, id="id")[0]) == 10


def test_one_file_without_ids_is_paired_by_row(tmp_path: Path) -> None:
    path = write(tmp_path / "both.csv", f"prediction,references\nA dog,{ONE}\nRain,{THREE}\n")
    with pytest.raises(DatasetError, match="has no column 'id'"):
        read_predictions(path)
    assert read_predictions(path, by_row=True).texts == {"row 1": "A dog", "row 2": "Rain"}
    found = read_references(path, by_row=True)
    assert {one.id: one.references for one in found} == {"row 1": (ONE,), "row 2": (THREE,)}
    kept = Reading(path, keep={"references": THREE})
    assert [one.id for one in read_references(path, kept, by_row=True)] == ["row 2"]
    alone = write(tmp_path / "alone.csv", "id,caption\na,A dog\n")
    with pytest.raises(DatasetError):
        read_references(alone, by_row=True)


def test_a_row_without_its_prediction_does_not_take_the_reference_for_it(tmp_path: Path) -> None:
    whole = {"text": "What is heard?", "answer": ONE, "model_prediction": "A dog"}
    lost = {"text": "What is heard?", "answer": THREE}
    path = write(tmp_path / "a.json", json.dumps([whole, lost]))
    found = read_predictions(path, by_row=True)
    assert found.texts == {"row 1": "A dog"}
    assert "its prediction is missing" in str(found.bad[0])
    assert [one.references for one in read_references(path, by_row=True)] == [(ONE,), (THREE,)]
    path = write(tmp_path / "b.json", json.dumps([lost, whole]))
    with pytest.raises(DatasetError, match="say which is the prediction: `columns` prediction=mod"):
        read_predictions(path, by_row=True)


def test_several_predictions_in_a_cell_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", f"id,pred\na,{ONE}|{TWO}\nb,{THREE} | {FOUR}\n")
    with pytest.raises(DatasetError, match=r"`columns` 'prediction=pred\[text\]'"):
        read_predictions(path)
    found = read_predictions(path, columns={"prediction": "pred[text]"})
    assert found.texts["a"] == f"{ONE}|{TWO}"
    several = write(tmp_path / "s.csv", f"id,pred\na,\"['{ONE}', '{TWO}']\"\n")
    assert "is a list of texts; give one" in str(read_predictions(several).bad[0])


def test_names_of_files_come_before_numbers_that_look_like_them(tmp_path: Path) -> None:
    images = [{"id": 7, "file_name": "3.wav"}, {"id": 3, "file_name": "7.wav"}]
    path = write(tmp_path / "captions.json", json.dumps(COCO | {"images": images}))
    results = [{"image_id": "3.wav", "caption": ONE}, {"image_id": "7.wav", "caption": THREE}]
    found = read_predictions(write(tmp_path / "results.json", json.dumps(results)))
    met, note = match_samples(found, read_references(path))
    assert met.texts == {"7": ONE, "3": THREE}
    assert "names of files" in note


def test_a_number_of_captions_is_no_caption(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", f"id,captions,caption_1,caption_2\na,2,{ONE},{TWO}\n")
    found, reading = references(path)
    assert found == {"a": (ONE, TWO)}
    assert reading.columns["references"] == "caption_1 … caption_2"


def test_names_are_folded_and_numbers_found() -> None:
    assert fold_name(" File-Name ") == fold_name("fileName") == "file_name"
    assert numbered(("id", "Caption (2)", "caption1", "vote_1")) == ("caption1", "Caption (2)")


def test_a_packed_file_that_is_damaged_is_one_sentence(tmp_path: Path) -> None:
    whole = gzip.compress(FORMS["rows.csv"].encode())
    for content in (whole[:-9], b"no gzip", whole[:20] + b"x" + whole[21:]):
        with pytest.raises(DatasetError, match="cannot be unpacked"):
            references(write(tmp_path / "r.csv.gz", content))


def test_one_cause_is_one_line(tmp_path: Path) -> None:
    rows = "".join(f'{{"caption": "text {n}"}}\n' for n in range(40))
    with pytest.raises(InvalidDataError) as error:
        references(write(tmp_path / "r.jsonl", rows))
    assert len(error.value.problems) == 40
    assert str(error.value).splitlines()[1:] == [
        "  r.jsonl line 1: id: is missing (and 39 more of this kind)"
    ]


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def workbook(path: Path, rows: list[list[str | int]]) -> Path:
    """A workbook as Excel lays it out: numbers are numbers, texts stand in their cells."""

    def cell(one: str | int) -> str:
        number = f"<c><v>{one}</v></c>"
        return number if type(one) is int else f'<c t="inlineStr"><is><t>{one}</t></is></c>'

    body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    link = f'Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"'
    main = f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" {main}/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" {link}/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}"><sheetData>{body}</sheetData>'
        "</worksheet>",
    }
    with zipfile.ZipFile(path, "w") as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return path


def test_a_workbook_is_read_and_a_damaged_one_is_one_sentence(tmp_path: Path) -> None:
    needs("python_calamine")
    rows: list[list[str | int]] = [["id", "captions"], [1, f"{ONE}|{TWO}"], [2, f"{THREE}|{FOUR}"]]
    found, _ = references(workbook(tmp_path / "r.xlsx", rows))
    assert found == {"1": (ONE, TWO), "2": (THREE, FOUR)}
    with pytest.raises(DatasetError, match="is no workbook that can be read"):
        references(write(tmp_path / "bad.xlsx", b"PK"))


MANY = {f"clip{n}": [f"Caption {n} of a dog", f"Another {n} about dogs"] for n in range(6)}


@pytest.mark.parametrize(
    ("texts", "given", "scores", "words"),
    [
        ({key: f"text {key}" for key in MANY}, MANY, {"meteor": 0.3}, None),
        ({key: texts[1] for key, texts in MANY.items()}, MANY, {}, "word for word"),
        (dict.fromkeys(MANY, "A dog"), MANY, {}, "all predictions are the same text"),
        (
            {key: f"text {key}" for key in MANY},
            {key: ["A dog"] for key in MANY},
            {},
            "all samples have the same references",
        ),
        ({"clip0": "x"}, MANY, {}, "5 of 6 samples have no prediction"),
        ({key: f"text {key}" for key in MANY}, MANY, {"cider_d": 5.0}, "cider_d: higher than"),
        ({key: f"text {key}" for key in MANY}, MANY, {"cider_d": 0.0}, "no score is above 0"),
        (
            {key: f"text {key}" for key in MANY},
            MANY | {key: [f"One {key}"] for key in list(MANY)[:5]} | {"clip5": ["a"] * 5},
            {},
            "most samples have one reference, but some have 5",
        ),
        (
            {key: f"text {key}" for key in MANY},
            {key: [f"{key} a dog barks " * 20] for key in MANY},
            {},
            "words on median",
        ),
        (
            {key: f"a short text of {key}" for key in MANY},
            {key: [", ".join([f"A dog of {key} barks."] * 5)] for key in MANY},
            {},
            "several may be written as one",
        ),
        (
            {key: f"a text of {key}" for key in MANY},
            {key: [f"One of {key}.", "Two."] for key in MANY},
            {"meteor": 0.2, "rouge_l": 0.3},
            "only references end with a full stop: meteor split",
        ),
        ({key: "nan" if key == "clip1" else key for key in MANY}, MANY, {}, "1 caption is 'nan'"),
    ],
)
def test_what_a_careful_colleague_would_doubt_is_said(
    texts: dict[str, str], given: dict[str, list[str]], scores: dict[str, float], words: str | None
) -> None:
    found = Pairing.of(Predictions.of_texts(texts), samples_of(given)).warnings(scores)
    assert (found == []) if words is None else any(words in one for one in found)


def test_one_reference_of_clotho_is_doubted(tmp_path: Path) -> None:
    rows = "".join(f"{n}.wav,A caption of clip {n}\n" for n in range(5))
    found, reading = references(write(tmp_path / "clotho_eval.csv", f"file_name,caption\n{rows}"))
    texts = {key: f"text {key}" for key in found}
    samples = samples_of({key: list(own) for key, own in found.items()})
    pairing = Pairing.of(Predictions.of_texts(texts), samples, reading)
    assert any("clotho has five" in one for one in pairing.warnings())
    lines = pairing.lines(width=60)
    assert "5 rows (id in 'file_name', references in 'caption')" in lines[0]
    assert lines[1] == "5 of 5 samples have a prediction; references a sample: 1."
    assert lines[2] == "  '0.wav': 'text 0.wav' beside 'A caption of clip 0'"
    assert len(lines) == 5


def test_ids_that_contradict_the_files_beside_them_are_refused(tmp_path: Path) -> None:
    own = write(tmp_path / "p.csv", f"id,fname,pred\n0,b.wav,{THREE}\n1,a.wav,{ONE}\n")
    path = write(tmp_path / "r.csv", f"id,file_name,caption\n0,a.wav,{TWO}\n1,b.wav,{FOUR}\n")
    with pytest.raises(DatasetError, match="`columns` id=fname or `columns` id=id"):
        match_samples(read_predictions(own), read_references(path))
    by_file = read_predictions(own, columns={"id": "fname"})
    assert match_samples(by_file, read_references(path))[0].texts == {"0": ONE, "1": THREE}
    as_is = read_predictions(own, columns={"id": "id"})
    assert match_samples(as_is, read_references(path))[0].texts == {"0": THREE, "1": ONE}


@pytest.mark.parametrize("stem", ["text", "gold", "gts", "mrefs", "ground_truths", "targets"])
def test_columns_that_pandas_numbered_are_references_together(tmp_path: Path, stem: str) -> None:
    rows = f"a.wav,{ONE},{TWO}\nb.wav,{THREE},{FOUR}\n"
    assert references(write(tmp_path / "r.csv", f"id,{stem},{stem}.1\n{rows}"))[0] == BOTH


@pytest.mark.parametrize(
    "names",
    [
        "reference_1,caption_1,caption_2",
        "caption_1,caption_2,ref_3",
        "captions_1,caption_2,caption_3",
        "caption1,caption2,caption3_final",
        "caption_1,caption_2,reference",
        "caption,alt_caption_1,alt_caption_2",
        "reference,reference2nd,reference_alt",
    ],
)
def test_references_that_would_be_left_out_are_refused(tmp_path: Path, names: str) -> None:
    path = write(tmp_path / "r.csv", f"id,{names}\na,{ONE},{TWO},{THREE}\n")
    with pytest.raises(DatasetError, match="would be left out; say which count: `columns` 'ref"):
        references(path)
    assert references(path, references=names.replace(",", "+"))[0] == {"a": (ONE, TWO, THREE)}


def test_a_column_of_predictions_that_pandas_numbered_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", f"id,prediction,prediction.1\na,{ONE},{TWO}\n")
    with pytest.raises(
        DatasetError, match=r"`columns` prediction=prediction or `columns` prediction=.*\.1"
    ):
        read_predictions(path)
    assert read_predictions(path, columns={"prediction": "prediction.1"}).texts == {"a": TWO}


@pytest.mark.parametrize(
    "mark", ["NA", "#N/A", "\\N", "nan", "-", "(null)", "''", "--", "—", "n.a."]
)
def test_marks_of_what_is_missing_are_no_captions(tmp_path: Path, mark: str) -> None:
    said = "1 references that are blank, or marks such as NA, were left out"
    for content in (
        f"id,caption_1,caption_2\na,{ONE},{mark}\nb,None.,{FOUR}\n",
        f"id,caption\na,{ONE}\na,{mark}\nb,None.\nb,{FOUR}\n",
    ):
        found, reading = references(write(tmp_path / "r.csv", content))
        assert found == {"a": (ONE,), "b": ("None.", FOUR)}
        assert said in reading.notes
    with pytest.raises(InvalidDataError, match="is missing or blank"):
        references(write(tmp_path / "r.csv", f"id,caption\na,{mark}\nb,{ONE}\n"))
    own = read_predictions(write(tmp_path / "p.csv", f"id,pred\na,{mark}\nb,None.\n"))
    assert own.texts == {"a": "", "b": "None."}
    assert own.readings[0].notes == ["1 predictions are marks such as NA, and count as empty"]


def test_a_blank_row_among_captions_of_a_clip_is_left_out_and_said(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", f"id,caption\na,\na,{ONE}\nb,{THREE}\n")
    found, reading = references(path)
    assert found == {"a": (ONE,), "b": (THREE,)}
    assert "1 references that are blank" in reading.notes[0]


def test_a_column_that_repeats_a_numbered_one_counts_once(tmp_path: Path) -> None:
    rows = f"a.wav,{TWO},{ONE},{TWO}\nb.wav,{THREE},{THREE},{FOUR}\nc.wav,,{ONE},{TWO}\n"
    found, reading = references(
        write(tmp_path / "r.csv", f"id,caption,caption_1,caption_2\n{rows}")
    )
    assert found == BOTH | {"c.wav": (ONE, TWO)}
    assert "repeats a numbered one, and was left out" in reading.notes[-1]
    others = rows.replace(f"a.wav,{TWO}", f"a.wav,{FOUR}")
    path = write(tmp_path / "r.csv", f"id,caption,caption_1,caption_2\n{others}")
    assert references(path)[0]["a.wav"] == (FOUR, ONE, TWO)


def test_a_blank_text_in_a_list_is_left_out_and_said(tmp_path: Path) -> None:
    row = json.dumps({"id": "a", "references": [ONE, TWO, ""]})
    found, reading = references(write(tmp_path / "r.jsonl", row))
    assert found == {"a": (ONE, TWO)}
    assert "1 references that are blank" in reading.notes[0]


@pytest.mark.parametrize(
    "cell",
    [
        json.dumps({"caption": ONE}),
        str({"generated_text": ONE, "score": 0.5}),
        json.dumps([{"generated_text": ONE}]),
        f"['{ONE}']",
    ],
)
def test_a_prediction_that_is_an_object_with_one_text_is_read_and_said(
    tmp_path: Path, cell: str
) -> None:
    own = read_predictions(write(tmp_path / "p.csv", f"id,pred\na,{quoted(cell)}\nb,{TWO}\n"))
    assert own.texts == {"a": ONE, "b": TWO}
    assert own.readings[0].notes == [
        "1 predictions are written as a list or an object, and their text was read"
    ]


@pytest.mark.parametrize(
    "cell",
    [
        json.dumps({"caption": ONE, "text": TWO}),
        json.dumps({"score": 1}),
        json.dumps([{"caption": ONE}, {"caption": TWO}]),
        '{"caption": "A dog',
        "[92, 6]",
    ],
)
def test_a_prediction_that_is_no_text_is_none(tmp_path: Path, cell: str) -> None:
    own = read_predictions(write(tmp_path / "p.csv", f"id,pred\na,{quoted(cell)}\nb,{TWO}\n"))
    assert own.texts == {"b": TWO}
    assert len(own.bad) == 1
    with pytest.raises(DatasetError, match=r"\[foo\] is no form of a prediction"):
        read_predictions(tmp_path / "p.csv", columns={"prediction": "pred[foo]"})


@pytest.mark.parametrize(
    "marked", ["<think>hm</think>{}", "<s> {} </s>", "{} <pad>", "b'{}'", '"{}"', "**Caption:** {}"]
)
def test_markup_around_predictions_is_said(marked: str) -> None:
    texts = {key: marked.format(f"a text of {key}") for key in MANY}
    found = Pairing.of(Predictions.of_texts(texts), samples_of(MANY)).warnings()
    assert any("6 of 6 predictions have markup" in one for one in found)


def test_references_that_repeat_within_a_clip_are_said() -> None:
    given = {key: [*texts, texts[0]] for key, texts in MANY.items()}
    texts = {key: f"a text of {key}" for key in MANY}
    found = Pairing.of(Predictions.of_texts(texts), samples_of(given)).warnings()
    assert found == ["6 references repeat another of their clip, and count again"]


def test_column_names_within_a_file_are_no_sample(tmp_path: Path) -> None:
    """As where two files were joined."""
    path = tmp_path / "joined.csv"
    path.write_text("id,prediction\na,dog barks\nid, prediction\nb,rain\n")
    found = read_predictions(path)
    assert list(found.texts) == ["a", "b"]
    assert [str(one) for one in found.bad] == [
        "joined.csv line 3: names the columns again; take that line out"
    ]


def test_a_quotation_mark_that_swallows_rows_is_refused(tmp_path: Path) -> None:
    rows = f'a\t"{ONE}\nb\t{TWO}\nc\t{THREE}"\nd\t{FOUR}\n'
    with pytest.raises(DatasetError, match=r"r\.tsv line 2: a quotation mark .* 2 lines below"):
        references(write(tmp_path / "r.tsv", f"id\tcaption\n{rows}"))
    with pytest.raises(DatasetError, match=r"r\.csv line 2: a quotation mark"):
        references(write(tmp_path / "r.csv", f"id\tcaption\n{rows}".replace("\t", ",")))


def test_rows_without_ids_that_repeat_a_prediction_are_refused(tmp_path: Path) -> None:
    rows = "".join(f"{text},{one}\n" for text, own in BOTH.items() for one in own)
    path = write(tmp_path / "both.csv", f"prediction,references\n{rows}")
    with pytest.raises(DatasetError, match="2 of 4 rows repeat the prediction"):
        read_predictions(path, by_row=True)


def test_captions_in_another_order_are_doubted() -> None:
    things = ["dog", "rain", "train", "bell", "crowd", "bird"]
    own = {f"c{n}": [f"A {things[n % 6]} is heard, number {n}."] for n in range(36)}
    said = [f"The {things[n % 6]} number {n}." for n in range(36)]

    def doubts(texts: list[str]) -> str:
        predictions = Predictions.of_texts(dict(zip(own, texts, strict=True)))
        return "".join(Pairing.of(predictions, samples_of(own)).warnings())

    assert "another order" not in doubts(said)
    assert "they may be in another order" in doubts([*said[5:], *said[:5]])


def test_what_is_usual_is_not_doubted(tmp_path: Path) -> None:
    texts = {f"clip{n}": f"a text about clip {n} with ten words, as others" for n in range(6)}
    long = {
        key: [f"{key} is a slow song with drums, " * 3 + "Loud. " * n]
        for n, key in enumerate(texts)
    }
    reading = Reading(tmp_path / "audiocaps" / "train.csv")
    pairing = Pairing.of(Predictions.of_texts(texts), samples_of(long), reading)
    assert pairing.warnings() == []


@pytest.mark.parametrize(
    "cell",
    ["0    A dog barks.\n1    Dog\nName: a, dtype: object", "shape: (2,)\nSeries: 'a' [str]"],
)
def test_a_printed_column_is_no_caption(tmp_path: Path, cell: str) -> None:
    with pytest.raises(DatasetError, match="as they are printed"):
        references(write(tmp_path / "r.csv", column(cell, cell)))


def test_references_beside_each_of_several_systems_count_once(tmp_path: Path) -> None:
    rows = "".join(f"a,{whose},{text}\n" for whose in "xyz" for text in (ONE, TWO, TWO))
    found, reading = references(write(tmp_path / "r.csv", f"id,model,caption\n{rows}"))
    assert found == {"a": (ONE, TWO, TWO)}
    assert reading.notes == ["6 references that it repeats for each system count once"]


def test_columns_that_the_user_names_are_names_where_ids_are_known(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", f"clipz,outz,method\na.wav,{ONE},m\n")
    asked, named = Asked(["a.wav"]), {"id": "clipz", "prediction": "outz", "system": "method"}
    found = read_predictions([PredictionFile(path)], asked=asked, columns=named)
    assert (found.texts, found.system, found.bad) == ({"a.wav": ONE}, "m", [])


def test_a_column_that_is_missing_can_be_named_where_that_is_possible(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", f"clipz,outz\na.wav,{ONE}\n")
    with pytest.raises(DatasetError, match=r"clipz, outz; name it: `columns` id=COLUMN$"):
        read_predictions(path, columns={})
    with pytest.raises(DatasetError, match=r"clipz, outz$"):
        read_predictions(path)


def test_columns_of_a_document_are_rows_unless_one_of_ours_is_of_another_length(
    tmp_path: Path,
) -> None:
    whole = {"predictions": [ONE, THREE], "references": [[TWO], [FOUR]], "bleu": 0.3, "n": [1]}
    path = write(tmp_path / "a.json", json.dumps(whole))
    found = read_predictions(path, by_row=True)
    assert found.texts == {"row 1": ONE, "row 2": THREE}
    samples = read_references(path, Reading(path), by_row=True)
    assert [one.references for one in samples] == [(TWO,), (FOUR,)]
    path = write(tmp_path / "b.json", json.dumps(whole | {"references": [[TWO]]}))
    assert read_predictions(path, by_row=True).texts == {}


@pytest.mark.parametrize("value", ["null", "NaN"])
def test_a_prediction_that_is_nothing_is_empty_like_a_blank_cell(
    tmp_path: Path, value: str
) -> None:
    line = f'{{"id": "a.wav", "prediction": {value}}}\n'
    found = read_predictions(write(tmp_path / "p.jsonl", line))
    assert (found.texts, found.bad) == ({"a.wav": ""}, [])


PAIRS = "AUDIO,Caption A,caption_b,Preferred,REFERENCE\n"


def test_pairs_are_read_as_captions_are(tmp_path: Path) -> None:
    rows = f"x.wav,{ONE},{THREE},%s,\"['{TWO}', '{FOUR}']\"\n"
    path = write(
        tmp_path / "a.csv", PAIRS + "".join(rows % one for one in ("0.0", "1.0", "", "NA"))
    )
    notes: list[str] = []
    pairs = read_pairs("csv", [path], notes=notes)
    assert [one.answer for one in pairs] == [0, 1, None, None]
    assert {one.references_first for one in pairs} == {(TWO, FOUR)}
    assert notes[0].startswith(f"{path}: 4 rows (")
    assert notes[0].endswith("; references a pair: 2")
    assert notes[2] == f"{path}: 2 of 4 pairs have no 'preferred', and were left out"
    path = write(tmp_path / "b.csv", (PAIRS + rows % "a" + rows % "tie").replace(ONE, "nan"))
    with pytest.raises(InvalidDataError, match="caption_a: is missing or blank"):
        read_pairs("csv", [path])
    path = write(tmp_path / "c.csv", PAIRS.replace("Preferred", "won") + rows % "a" + rows % "b")
    with pytest.raises(DatasetError, match=r"has no column 'preferred' .*name it: `columns`"):
        read_pairs("csv", [path])
    text = "preferred=won,reference=REFERENCE"
    mapped = mapped_columns([text], ("preferred", "reference"))
    assert [one.answer for one in read_pairs("csv", [path], columns=mapped)] == [0, 1]
    with pytest.raises(DatasetError, match="takes ROLE=COLUMN, and not 'gold=x'"):
        mapped_columns(["preferred=won,gold=x"], ("preferred", "reference"))


def test_ratings_that_are_missing_are_left_out_and_said(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "item;rating\na;5,0\nb;NA\nc;\nd;3\ne;4,25\n")
    people = read_opinions(path)
    assert [value for _, value in people.numbers(1, 5)] == [5, 3, 4.25]
    assert people.notes == ["2 of 5 ratings are blank or NA, and were left out"]
    with pytest.raises(InvalidDataError, match="is '1,000', no number"):
        read_opinions(write(tmp_path / "b.csv", 'item,rating\na,"1,000"\n')).numbers(1, 5)


def test_bytes_that_are_text_are_read_from_parquet(tmp_path: Path) -> None:
    pyarrow = needs("pyarrow")
    from pyarrow import parquet

    sound, texts = [b"\xff\xfb\x00", b"RIFF\xf0"], [[ONE.encode(), TWO.encode()], [THREE.encode()]]
    columns = {"id": [b"a.wav", b"b.wav"], "references": texts, "audio": sound}
    parquet.write_table(pyarrow.table(columns), tmp_path / "r.parquet")
    found, _ = references(tmp_path / "r.parquet")
    assert found == {"a.wav": (ONE, TWO), "b.wav": (THREE,)}
