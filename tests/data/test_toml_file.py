"""Files in TOML: what is wrong is said at once, a sentence each, whatever was written."""

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from audiocapbench.data.toml_file import TomlTable, read_toml
from audiocapbench.errors import DatasetError


class Part(TomlTable, frozen=True):
    size: int = 1
    names: str | tuple[str, ...] = ()

    def mistakes(self) -> list[str]:
        return [f"size: is {self.size}, and must be even", "and odd"] if self.size == 3 else []


class Whole(TomlTable, frozen=True):
    name: str
    folder: Path = Path()
    limit: float = 0
    part: tuple[Part, ...] = ()
    inner: Part = Part()
    words: dict[str, str] = Field({})
    ends: tuple[int, int] = (0, 1)


def said(path: Path, content: str | bytes) -> list[str]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DatasetError) as caught:
        read_toml(path, Whole, DatasetError)
    return [one.removeprefix(str(path)) for one in str(caught.value).splitlines()]


def test_every_mistake_is_a_sentence_with_its_line(tmp_path: Path) -> None:
    text = """
nmae = "x"
limit = nan
words.a = 1
[inner]
size = "2"
[[part]]
size = 2
[[part]]  # the second
size = 3
[[part]]
names = 5
sise = 1
note = '''
size = 9
'''
"""
    assert said(tmp_path / "a.toml", text) == [
        ": name: is missing",
        " line 3: limit: is nan: input should be a finite number",
        " line 10: part 2: size: is 3, and must be even",
        " line 9: part 2: and odd",
        " line 12: part 3: names: is 5: input should be a valid string or input should be a valid "
        "array",
        " line 13: part 3: sise: is no key; did you mean 'size'? Keys here are size, names",
        " line 14: part 3: note: is no key; keys here are size, names",
        " line 6: inner.size: is '2': input should be a valid integer",
        " line 4: words.a: is 1: input should be a valid string",
        " line 2: nmae: is no key; did you mean 'name'? Keys here are name, folder, limit, part, "
        "inner, words, ends",
    ]


class Parts(TomlTable, frozen=True):
    part: Annotated[tuple[Part, ...], Field(min_length=2)]


def test_a_list_with_wrong_parts_is_not_also_said_to_lack_them(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[[part]]\n[[part]]\nsize = 'x'\n")
    with pytest.raises(DatasetError) as caught:
        read_toml(tmp_path / "a.toml", Parts, DatasetError)
    assert str(caught.value).splitlines() == [
        f"{tmp_path / 'a.toml'} line 3: part 2: size: is 'x': input should be a valid integer"
    ]


def test_a_table_in_the_place_of_several_is_told_how_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[part]\nsize = 1\n")
    with pytest.raises(DatasetError, match=r"line 1: part: is one table.*write \[\[part\]\]"):
        read_toml(tmp_path / "a.toml", Parts, DatasetError)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('name = "a\\u0000b"', " line 1: name: holds a NUL character"),
        ('name = "x"\n[words]\na = "\\u0000"', " line 2: words: holds a NUL character"),
        (b"name = '\0'", ": is not TOML"),
        (b"\xff\xfen\0", ": is not UTF-8 text"),
        ("name = " + "[" * 5000, ": is not TOML: it is nested too deeply"),
        ("[words." + "a." * 200 + "b]\nc = 1", ": words: is nested too deeply"),
        ("name = 'x'\nends = [1]", " line 2: ends 2: is missing"),
        ("name = 'x'\nname = 'y'", ": is not TOML: Cannot overwrite a value"),
        (b"#" * 2_000_000, ": is larger than 1 MiB"),
    ],
)
def test_what_is_no_such_file_is_one_sentence(
    tmp_path: Path, content: str | bytes, words: str
) -> None:
    [line] = said(tmp_path / "a.toml", content)
    assert line.startswith(words)


def test_a_mark_of_bytes_and_carriage_returns_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b'\xef\xbb\xbfname = "x"\r\nfolder = "y"\r\n')
    found, _ = read_toml(tmp_path / "a.toml", Whole, DatasetError)
    assert (found.name, found.folder) == ("x", tmp_path / "y")
