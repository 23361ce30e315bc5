"""Which option an answer names, by letter or in words; and questions whose options are rotated."""

import json
from pathlib import Path

import pytest

from audiocapbench import open_benchmark
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.metrics import compute
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.store import Store
from command import run_command
from fakes.hub_repositories import tone

REFERENCE = "B. A dog | A. A cat | C. Rain | D. A dog and rain"
YES = "B. yes | A. no"


def score(text: str, reference: str = REFERENCE) -> float:
    return compute(["choice"], [text], [[reference]])[0].score


@pytest.mark.parametrize(
    "text",
    [
        *(
            "B",
            "b",
            "(B)",
            "B.",
            "**B**",
            "B. A dog",
            "B) a dog",
            "[B]",
            "B: a dog",
            "B\n\nBecause",
        ),
        *("The answer is B.", "Answer: B", "The correct option is (B)", "the answer is B because"),
        *("A dog", "a dog.", "A dog barks", "It is a dog.", "I hear a dog", REFERENCE),
        *("The right choice is B, a dog.", "Option B", "B. A dog, not a cat", "B: it is no cat"),
    ],
)
def test_the_right_option_is_read(text: str) -> None:
    assert score(text) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        *("A", "C. Rain", "A cat", "D", "", "I cannot tell", "A or B", "(A) or (B)", "E"),
        *("A dog and rain", "It is not a dog", "a cat and a dog", "A. A dog", "The answer is A."),
        *("A man speaks", "I think it is a bird", "B or C: the answer is C", "dog"),
        *("B. A cat", "(B) Rain", "The answer is B: a dog and rain", "**B**: rain, I think"),
    ],
)
def test_another_option_none_or_several_are_wrong(text: str) -> None:
    assert score(text) == 0.0


@pytest.mark.parametrize("text", ["Yes", "yes.", "Yes, there is no rain.", "B", "YES!"])
def test_yes_is_read_from_a_sentence_that_begins_with_it(text: str) -> None:
    assert score(text, YES) == 1.0


@pytest.mark.parametrize("text", ["No", "No, yes is wrong", "maybe", "A", "I know not"])
def test_what_is_not_yes_is_wrong(text: str) -> None:
    assert score(text, YES) == 0.0


def test_captions_are_refused() -> None:
    with pytest.raises(AudioCapBenchError, match="questions with options"):
        score("B", "A dog barks.")


FILE = """
name = "asked"
about = "two questions"
licence = "CC0-1.0"
citation = "nobody"
facts = "made here"
verified = true
task = "choice"
[data]
folder = "."
table = "questions.csv"
[columns]
audio = "clip"
id = "number"
instruction = "asked"
references = "key"
options = ["one", "two", "three"]
"""


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    rows = ["number,clip,asked,one,two,three,key", "1,a.wav,What?,cat,dog,rain,B"]
    rows += ["2,a.wav,Where?,park,house,,house"]
    (tmp_path / "questions.csv").write_text("\n".join(rows))
    (tmp_path / "a.wav").write_bytes(tone(1, 0.1))
    (tmp_path / "asked.toml").write_text(FILE)
    return tmp_path / "asked.toml"


def test_questions_are_asked_with_their_options(asked: Path) -> None:
    first, second = open_benchmark(str(asked)).samples
    assert first.instruction.splitlines()[:4] == ["What?", "A. cat", "B. dog", "C. rain"]
    assert first.references == ("B. dog | A. cat | C. rain",)
    assert second.references == ("B. house | A. park",)


def test_options_are_rotated_through_every_place(asked: Path) -> None:
    turned = open_benchmark(f"{asked}[rotate=yes]").samples
    assert [one.id for one in turned] == ["1/0", "1/1", "1/2", "2/0", "2/1"]
    assert [one.category[-1] for one in turned] == ["B", "C", "A", "B", "A"]
    assert [one.references[0].partition(" |")[0] for one in turned[:3]] == [
        "B. dog",
        "C. dog",
        "A. dog",
    ]


@pytest.mark.parametrize("how", [["--metrics", "choice,meteor"], ["--judge", "elements"]])
def test_what_compares_captions_is_refused_for_options(asked: Path, how: list[str]) -> None:
    store = asked.parent / "s.db"
    done = run_command("run", str(asked), "--model", "control/right", *how, "--store", str(store))
    assert done.returncode == 2
    assert "about captions, and these are questions with options: score them by ch" in done.stderr
    assert not store.exists()


def test_options_are_refused_for_captions_before_anybody_is_asked(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    words = ("--model", "control/safe", "--metrics", "choice,rouge_l", "--store", str(store))
    done = run_command("run", "demo", *words)
    assert done.returncode == 2
    assert "choice is for questions with options (task = 'choice' in a" in done.stderr
    assert not store.exists()


def test_a_file_of_questions_is_scored_by_choice(asked: Path) -> None:
    asked.write_text(FILE + '[traits]\nmetrics = ["meteor"]\n')
    with pytest.raises(AudioCapBenchError, match="scored by choice; name it"):
        open_benchmark(str(asked))


def test_what_always_says_b_is_seen_by_place(asked: Path, tmp_path: Path) -> None:
    done = run_command(
        *("run", f"{asked}[rotate=yes]", "--model", "control/right", "--model", "control/empty"),
        *("--json", "--store", str(tmp_path / "s.db")),
    )
    assert done.returncode == 0, done.stderr
    right, empty = json.loads(done.stdout)["runs"]
    assert right["metrics"]["choice"]["score"] == 1.0
    assert empty["metrics"]["choice"]["score"] == 0.0
    assert set(right["by_group"]) == {"right at A", "right at B", "right at C"}
    with Store.open(str(tmp_path / "s.db")) as store:
        (board,) = build_leaderboard(store, benchmark=f"{asked}[rotate=yes]").boards
        assert board.benchmark == "asked[rotate=yes]"
        with pytest.raises(AudioCapBenchError) as refused:
            build_leaderboard(store, benchmark=str(asked))
        assert "has no run of asked (did you mean 'asked[rotate=yes]'?)" in str(refused.value)


def test_who_hears_nothing_is_not_told_the_place_by_the_category(
    asked: Path, tmp_path: Path
) -> None:
    table, rows = asked.parent / "questions.csv", ["number,clip,asked,one,two,three,key"]
    for at in range(4):
        (asked.parent / f"{at}.wav").write_bytes(tone(at, 0.1))
        rows.append(f"{at},{at}.wav,What is {at}?,cat,dog,rain,{'ABCA'[at]}")
    table.write_text("\n".join(rows))
    done = run_command(
        *("run", f"{asked}[rotate=yes]", "--model", "control/blind", "--json"),
        *("--store", str(tmp_path / "s.db")),
    )
    assert done.returncode == 0, done.stderr
    blind = json.loads(done.stdout)["runs"][0]["metrics"]["choice"]["score"]
    assert blind == pytest.approx(1 / 3)
    assert "unverified" not in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (",B\n", ",E\n", "its answer 'E' is none of its options"),
        ("cat,dog", "dog,dog", "needs 2 to 26 options that differ"),
        ("cat,dog", "a | b,dog", "has ' | ' in its option"),
    ],
)
def test_what_is_wrong_with_a_question_is_one_line(
    asked: Path, old: str, new: str, said: str
) -> None:
    table = asked.with_name("questions.csv")
    table.write_text(table.read_text().replace(old, new))
    with pytest.raises(AudioCapBenchError) as caught:
        open_benchmark(str(asked))
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 2
