"""What comes from data cannot speak to the terminal: one console prints it all."""

import json
import re
import subprocess
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import audiocapbench
from audiocapbench.cli.console import json_text
from audiocapbench.cli.progress import Terminal
from audiocapbench.table.escape_controls import escape_controls
from command import run_command
from fakes.http_server import HttpServer, json_response
from folders import write_lines, write_tone
from forks import Forked

FORGED = "\nAll is well"
HOSTILE = FORGED + "a\x9b31m\x1b]0;x\x07\x00\u202e\u2066\u200f\u061c\u2028\U000e0041z"
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0041]"
)


@given(st.text())
def test_no_control_reaches_the_terminal(text: str) -> None:
    shown = escape_controls(text)
    assert not UNSEEN.search(shown)
    shown.encode()
    assert escape_controls(shown) == shown


@settings(max_examples=50)
@given(st.recursive(st.text() | st.integers(), lambda one: st.dictionaries(st.text(), one)))
def test_json_without_controls_says_the_same(document: object) -> None:
    text = json_text(document)
    assert not UNSEEN.search(text)
    text.encode()
    assert json.loads(text) == document


def test_only_the_console_prints() -> None:
    """Bars come from ``progress``, pages of the library go to a text.

    Ctrl-C before anything is imported is answered with fixed words.
    """
    prints = re.compile(
        r"typer\.(?:echo|secho)\(|(?<![\w.])print\(|sys\.std(?:out|err)\.write|[^\w]Console\("
    )
    root = Path(audiocapbench.__file__).parent
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if prints.search(path.read_text("utf-8"))
    }
    assert found == {"cli/__init__.py", "cli/console.py", "table/terminal.py"}


class Hostile(NamedTuple):
    """A folder in which hostile names were run, and what that command said."""

    place: Path
    said: CompletedProcess[str]


@pytest.fixture(scope="module")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    """A run on a dataset whose own name and all of whose names and categories are hostile."""
    place = tmp_path_factory.mktemp("hostile")
    hostile = HOSTILE.replace("\0", "")
    folder = place / f"set{hostile}"
    rows = []
    for number in range(3):
        write_tone(folder / f"{number}.wav", 200 + 50 * number)
        rows.append(
            {
                "file_name": f"{number}.wav",
                "id": f"{number}{hostile}",
                "category": hostile,
                "references": ["A dog barks."],
            }
        )
    write_lines(folder, rows)
    return Hostile(place, run_command("run", str(folder), "--model", "control/safe", cwd=place))


@pytest.mark.parametrize("form", [["--json"], [], ["--format", "csv"], ["--format", "md"]])
def test_hostile_captions_and_names_are_written_out_in_every_form(
    hostile_run: Hostile, form: list[str]
) -> None:
    said = hostile_run.said
    said2 = run_command("leaderboard", *form, cwd=hostile_run.place)
    for text in (said.stdout, said.stderr, said2.stdout, said2.stderr):
        assert "Traceback" not in text
        if form != ["--format", "csv"]:
            assert FORGED not in text
        assert not UNSEEN.search(text), repr(UNSEEN.search(text))


def test_a_name_cannot_begin_a_line_of_its_own(tmp_path: Path) -> None:
    """Neither in failures, listings and comparisons nor in errors, which have lines of ours."""
    folder = tmp_path / f"set{FORGED}"
    rows = []
    for number in range(2):
        write_tone(folder / f"{number}.wav", 200 + 50 * number)
        names = {"file_name": f"{number}.wav", "id": f"{number}{FORGED}", "category": f"c{FORGED}"}
        rows.append({**names, "references": ["A dog barks."]})
    write_lines(folder, rows)
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"id": f"x{FORGED}", "prediction": "y"}) + "\n")
    asked = ("run", str(folder), "--model")
    refusal = json_response({"error": {"message": f"no{FORGED}"}}, 400)
    with HttpServer(lambda _: refusal) as no:
        for words in (
            [*asked, f"endpoint/a@{no.url}/v1", "--yes"],
            [*asked, "control/safe"],
            [*asked, "control/right"],
            ["runs"],
            ["runs", "show", "2"],
            ["compare", "2", "3"],
            ["compare", f"x{FORGED}", "3"],
            ["import", str(answers), "--model", "m", "--benchmark", str(folder)],
        ):
            said = run_command(*words, cwd=tmp_path)
            assert "Traceback" not in said.stderr
            assert FORGED not in said.stdout + said.stderr, words
    write_lines(folder, [*rows, {**rows[0], "references": []}, {**rows[0], "file_name": 3}])
    wrong = run_command(*asked, "control/safe", cwd=tmp_path)
    assert wrong.returncode == 2
    assert FORGED not in wrong.stderr
    assert len(wrong.stderr.splitlines()) > 2  # every problem has its line


def test_a_bar_writes_out_what_it_names(capsys: pytest.CaptureFixture[str]) -> None:
    with Terminal() as terminal:
        terminal.advance(HOSTILE, 0, 1, HOSTILE)
    assert "\\x9b31m" in (said := capsys.readouterr().err)
    assert not UNSEEN.search(said)


def test_listings_are_readable_at_eighty_columns() -> None:
    for listing in ("models", "metrics", "benchmarks", "judges"):
        said = run_command(listing).stdout
        assert max(map(len, said.splitlines())) <= 80, listing
        assert not re.search(r"^ {40,}\S", said, re.MULTILINE), listing


def test_what_c_prints_beside_json_goes_to_stderr(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "import ctypes, os\n"
        "def score(predictions, references):\n"
        "    ctypes.CDLL(None).puts(b'kept in a buffer')\n"
        "    os.write(1, b'at once')\n"
        "    return [1.0 for _ in predictions]\n"
    )
    write_lines(tmp_path, [{"id": "1", "prediction": "A dog.", "references": ["A cat."]}])
    words = ["-m", "audiocapbench", "score", "--metrics", "loud.py:score", "--json"]
    words += ["--predictions", "metadata.jsonl", "--references", "metadata.jsonl"]
    pipe = subprocess.PIPE
    said, told = Forked(*words, cwd=tmp_path, stdout=pipe, stderr=pipe).communicate(timeout=120)
    assert json.loads(said)
    assert {"kept in a buffer", "at once"} <= set(re.findall("kept in a buffer|at once", told))
