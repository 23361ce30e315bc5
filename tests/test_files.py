"""Result files are written whole or not at all, by one function; CSV holds no formula."""

import csv
import io
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import audiocapbench
from audiocapbench.data.problems import Problem
from audiocapbench.data.records import read_records
from audiocapbench.errors import ReportError
from audiocapbench.files import csv_text, guarded, storable, unguarded, write_file

FORMULAS = ["=1+1", "+cmd", "-1+2", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1", "'=1", "''=1"]
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def test_a_new_file_has_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    new, old = tmp_path / "new.csv", tmp_path / "old.csv"
    old.write_text("before")
    old.chmod(0o640)
    write_file(new, "a\n")
    write_file(old, "a\n")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~umask
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["new.csv", "old.csv"]


@given(st.text(st.characters() | st.sampled_from("\ud83d\udd0a\0")))
def test_text_for_a_database_keeps_all_but_half_pairs_and_nul(text: str) -> None:
    kept = storable(text)
    kept.encode("utf-8")
    assert "\0" not in kept
    assert storable(kept) == kept
    whole = text.replace("\ud83d\udd0a", "\U0001f50a")
    assert kept == re.sub("[\0\ud800-\udfff]", "\ufffd", whole)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("before")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_file(tmp_path / "link.csv", "after")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "after"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("before")
    program = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from audiocapbench.files import write_file\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: write_file(Path('out.csv'), 'x' * 100_000)\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert said.startswith("ReportError out.csv: cannot be written (")
    assert (tmp_path / "out.csv").read_text() == "before"
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("name", ["", "no/such/folder.csv", "x" * 300, "nul\0.csv"])
def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(ReportError, match="cannot be written"):
        write_file(tmp_path / name, "a")


def test_a_full_device_is_one_sentence() -> None:
    with pytest.raises(ReportError, match="No space left"):
        write_file(Path("/dev/full"), "a")


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, heard = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, "through")
    reader.join(120)
    assert heard == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("to_file", [True, False])
def test_standard_output_is_a_file_like_any_other(tmp_path: Path, to_file: bool) -> None:
    program = (
        "from pathlib import Path; from audiocapbench.files import write_file\n"
        "print('zero'); write_file(Path('/dev/stdout'), 'one\\n')\n"
        "write_file(Path('/dev/fd/1'), 'two\\n'); print('three')"
    )
    with (tmp_path / "out").open("wb") as stream:
        done = subprocess.run(
            [sys.executable, "-c", program],
            stdout=stream if to_file else subprocess.PIPE,
            check=True,
        )
    said = (tmp_path / "out").read_bytes() if to_file else done.stdout
    assert said == b"zero\none\ntwo\nthree\n"


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_text_in_every_cell_and_heading(text: str) -> None:
    rows = list(csv.reader(io.StringIO(csv_text([[text, 1], ["a", text]]), newline="")))
    assert rows[0][0].startswith("'")
    assert rows[1][1].startswith("'")
    assert unguarded(guarded(text)) == text


@pytest.mark.parametrize("value", [-1.5, 0.1 + 0.2, -3, -1e-9])
def test_a_number_stays_a_number(value: float) -> None:
    assert csv_text([[value]]) == f"{value}\n"


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1))
def test_what_is_written_as_csv_is_read_again(rows: list[tuple[str, str]]) -> None:
    problems: list[Problem] = []
    content = csv_text([("a", "b"), *rows]).encode()
    read = read_records(Path("x.csv"), problems, ("a", "b"), content)
    as_lines = [tuple(re.sub("\r\n?", "\n", one) for one in row) for row in rows]
    assert [tuple(fields.values()) for _, fields in read] == as_lines
    assert not problems


def test_nobody_else_writes_files() -> None:
    """A new writer uses ``write_file``; what is listed are journals, downloads and scratch."""
    writes = re.compile(
        r"\.write_(?:text|bytes)\(|open\((?:[^()]|\([^()]*\))*[\"'][rbt+]*[wax][bt+]*[\"']"
        r"|csv\.(?:writer|DictWriter)|savefig\(|\.to_csv\(|json\.dump\(|mkstemp|NamedTemporary"
    )
    allowed = {
        "files.py": 4,  # one of them a lock, which stays empty
        "data/build/download.py": 2,  # a download, and a folder that is whole when named
        "data/build/ledger.py": 2,  # the journal, and a clip that is measured before it counts
        "data/build/shards.py": 1,  # a download that goes on where it stopped
        "metrics/java.py": 1,  # a question to another program, in a scratch folder
    }
    root = Path(audiocapbench.__file__).parent
    found = {
        str(path.relative_to(root)): len(writes.findall(path.read_text("utf-8")))
        for path in root.rglob("*.py")
    }
    assert {name: count for name, count in found.items() if count} == allowed
