"""``--model path/to/file.py:Class``: a model without a package, in real processes."""

import json
import subprocess
from pathlib import Path

import pytest

from audiocapbench.errors import ModelError
from audiocapbench.models import create_model
from command import run_command
from folders import write_folder
from plugin import environment

CAPTIONER = '''
"""A captioner with a neighbour."""

from audiocapbench import AudioContract, Reply, SimpleModel

from words import HEARD


class Captioner(SimpleModel):
    contract = AudioContract("wav", rate=8_000)
    settings = ("temperature",)
    cacheable = True

    async def answer(self, question):
        with open("diary.txt", "a") as diary:
            diary.write(question.sample_id + "\\n")
        return Reply(f"{HEARD} at {self.given.temperature}")


class Verdicts(SimpleModel):
    contract = AudioContract("none")

    async def answer(self, question):
        return Reply('{"accuracy": 7, "completeness": 5, "hallucination": 9, "reasoning": ""}')
'''


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for folder in ("tones", "code"):
        (tmp_path / folder).mkdir()
    write_folder(tmp_path / "tones", 3)
    (tmp_path / "code" / "captioner.py").write_text(CAPTIONER)
    (tmp_path / "code" / "words.py").write_text('HEARD = "A steady tone"\n')
    return tmp_path


def run(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    told = ("run", "tones", "--metrics", "rouge_l", "--json", "--yes", *words)
    return run_command(*told, cwd=place, env=environment(place))


def document(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    assert done.returncode == 0, done.stderr
    (only,) = json.loads(done.stdout)["runs"]
    return dict(only)


def test_a_class_in_a_file_is_a_model_under_a_name_that_does_not_move(place: Path) -> None:
    first = document(run(place, "--model", "code/captioner.py:Captioner"))
    assert (first["model"], first["answered"]) == ("captioner.py:Captioner", 3)
    moved = document(run(place, "--model", f"{place}/./code/captioner.py:Captioner"))
    assert moved["run"] == first["run"]
    assert len((place / "diary.txt").read_text().split()) == 3


def test_a_changed_file_or_setting_is_another_run_and_asks_again(place: Path) -> None:
    words = ("--model", "code/captioner.py:Captioner")
    first = document(run(place, *words))
    warmer = document(run(place, *words, "--temperature", "0.7"))
    (place / "code" / "captioner.py").write_text(CAPTIONER + "# changed\n")
    changed = document(run(place, *words))
    assert len({first["run"], warmer["run"], changed["run"]}) == 3
    assert len((place / "diary.txt").read_text().split()) == 9


def test_a_class_in_a_file_judges(place: Path) -> None:
    words = ("--model", "control/safe", "--judge", "./code/captioner.py:Verdicts[schema=no]")
    found = document(run(place, *words))
    assert list(found["judges"]) == ["captioner.py:Verdicts[schema=no]"]  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.py:Captioner", "'none.py' cannot be read (No such file or directory)"),
        ("folder.py:Captioner", "'folder.py' cannot be read (Is a directory)"),
        ("a\0b.py:Captioner", "cannot be read"),
        ("a\n\x1b[31m.py:Captioner", "cannot be read"),
        (".py:Captioner", "'.py' cannot be read"),
        ("good.py:", "the file has no class or function ''; it has Captioner, Verdicts"),
        (
            "good.py:Missing",
            "the file has no class or function 'Missing'; it has Captioner, Verdicts",
        ),
        ("good.py:HEARD", "is neither a class or function nor a Provider"),
        ("empty.py:Mine", "the file has no class or function 'Mine'; it has none"),
        ("syntax.py:Mine", "the file fails (SyntaxError: "),
        ("binary.py:Mine", "the file fails ("),
        ("imports.py:Mine", "the file fails (ModuleNotFoundError: No module named 'nobody_has'"),
        ("exits.py:Mine", "the file fails (SystemExit: 0)"),
        (
            "bare.py:Mine",
            "makes a Mine without contract, answer; derive it from audiocapbench.Simple",
        ),
        ("raises.py:Mine", "fails (OSError: no weights)"),
        ("nameless.py:Mine", "fails (TypeError: "),
    ],
)
def test_a_file_that_is_no_model_is_one_sentence(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    monkeypatch.chdir(place / "code")
    files = {
        "good.py": CAPTIONER.encode(),
        "empty.py": b"",
        "syntax.py": b"class Mine(:\n",
        "binary.py": b"\x00\xff",
        "imports.py": b"import nobody_has\n",
        "exits.py": b"raise SystemExit(0)\n",
        "bare.py": b"from audiocapbench import SimpleModel\nclass Mine(SimpleModel): ...\n",
        "raises.py": b"def Mine(name): raise OSError('no weights')\n",
        "nameless.py": b"class Mine: ...\n",
    }
    for file, content in files.items():
        Path(file).write_bytes(content)
    Path("folder.py").mkdir()
    with pytest.raises(ModelError) as caught:
        create_model(name)
    assert reason in str(caught.value)
    assert str(caught.value).startswith(f"model {name!r}")


def test_a_board_says_where_another_file_of_the_same_name_is_not_shown(place: Path) -> None:
    for folder in ("code", "other"):
        (place / folder).mkdir(exist_ok=True)
        (place / folder / "captioner.py").write_text(f"{CAPTIONER}\nFOLDER = {folder!r}\n")
        (place / folder / "words.py").write_text('HEARD = "A steady tone"\n')
        document(run(place, "--model", f"{folder}/captioner.py:Captioner"))
    board = run_command("leaderboard", cwd=place, env=environment(place))
    hidden = "1 older run is not shown (1 with other settings, or another file of that name)"
    assert hidden in " ".join((board.stdout + board.stderr).split())
