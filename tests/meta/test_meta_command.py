"""``audiocapbench meta``: the document as designed, the page, exit codes, hostile names."""

import csv
import json
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from audiocapbench.meta.scorers.prompts import document as prompt_document
from command import run_command
from pair_files import human_clip, main_clip, write

PROMPTS = tuple(prompt_document()["prompts"])
MEASURES = {"accuracy", "f1", "macro_f1", "balanced_accuracy"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(tmp_path / "AudioCaps_Main.json", [main_clip(f"{n}.wav") for n in range(8)])
    write(tmp_path / "human.json", [human_clip(f"clip{n}") for n in range(8)])
    return tmp_path


def meta(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_command("meta", *words, cwd=place)


def test_the_document_of_one_scorer_is_as_designed(place: Path) -> None:
    done = meta(
        place, "brace-main", "--pairs", "AudioCaps_Main.json", "--scorer", "control:always-1",
        "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["n"] == 24
    assert document["scorer"] == "control:always-1"
    assert document["signature"].startswith(
        "control-always-1|pairs:brace-main|text:as-is|protocol:1"
    )
    assert set(document["all"]) >= MEASURES
    assert set(document["by_type"]) == {"HH", "HM", "MM"}
    assert set(document["by_type"]["HH"]) >= MEASURES
    assert document["answers"] == {"first": 0, "second": 24, "tie": 0, "unknown": 0}
    assert document["all"]["accuracy"] == pytest.approx(100 * 2 / 3)
    assert document["undecided"] == 8
    assert not (place / "audiocapbench.db").exists()


def test_several_scorers_are_a_list_and_a_page_and_a_table(place: Path) -> None:
    done = meta(
        place, "brace-main", "--pairs", "AudioCaps_Main.json", "--votes-from",
        "AudioCaps_Main.json", "--scorer", "control:longer", "--scorer", "metric:rouge_l",
        "--swap", "--json", "--html", "page.html", "--per-pair", "choices.csv",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [one["scorer"] for one in document["scorers"]] == ["control:longer", "metric:rouge_l"]
    assert document["scorers"][0]["position"] is not None
    assert document["kappa"]["before"] is not None
    with (place / "choices.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 24
    assert {row["control:longer"] for row in rows} <= {"0", "1"}
    page = (place / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "default-src &#39;none&#39;" in page
    assert "always 1: " in page
    for words in ("24 pairs of captions from", "8 left out as undecided", "Fleiss&#39; kappa: "):
        assert words in page
    assert page.count("Signature: ") == 2


def test_one_scorer_and_several_have_one_shape_and_what_a_person_has_beside_them(
    place: Path,
) -> None:
    words = ["human", "--pairs", "human.json", "--json", "--scorer", "control:always-0"]
    one, two = (
        json.loads(meta(place, *words, *more).stdout)
        for more in ([], ["--scorer", "control:longer"])
    )
    assert one["scorers"] == [{key: one[key] for key in one["scorers"][0]}]
    assert one["scorers"][0] | {"seconds": 0} == two["scorers"][0] | {"seconds": 0}
    # HC: three of 1 1 1 -1 agree with the others, who take the first as he does; MM_1: nobody does.
    assert one["ceiling"]["by_type"]["HC"]["accuracy"] == pytest.approx(75)
    assert one["ceiling"]["by_type"]["HI"]["accuracy"] == pytest.approx(100)
    assert one["ceiling"]["by_type"]["MM"]["accuracy"] == pytest.approx(0)
    assert {key: own["n"] for key, own in one["by_strength"].items()} == {"2": 8, "4": 8}
    assert {key: own["n"] for key, own in one["ceiling"]["by_strength"].items()} == {
        "1": 56,
        "3": 40,
    }


def test_human_pairs_rank_by_accuracy(place: Path) -> None:
    done = meta(
        place, "human", "--pairs", "human.json", "--scorer", "metric:rouge_l_coco", "--json"
    )
    document = json.loads(done.stdout)
    assert document["headline"] == "accuracy"
    assert "trial:fense" in document["signature"]


def test_the_table_says_what_a_person_needs(place: Path) -> None:
    done = meta(
        place, "brace-main", "--pairs", "AudioCaps_Main.json", "--scorer", "control:always-0"
    )
    assert done.returncode == 0
    assert "macro-F1" in done.stdout
    assert "HM_1 (8)" in done.stdout
    assert "24 pairs, captions as-is; 8 left out as undecided" in done.stdout
    assert "Warning: control:always-0 scores 0.00" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pairs", "none.json", "--scorer", "control:longer"], "cannot be read"),
        (["--pairs", "AudioCaps_Main.json", "--scorer", "poem"], "is not a scorer"),
        (["--pairs", "human.json", "--scorer", "control:longer"], "holds pairs of the kind human"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_2(words: list[str], message: str, place: Path) -> None:
    done = meta(place, "brace-main", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prompt", "bogus"], "--prompt is for model: scorers"),
        (["--prompt", "simple"], "--prompt is for model: scorers"),
        (["--prompt-file", "nope"], "--prompt-file is for model: scorers"),
        (["--reader", "foo"], "--reader is for model: scorers"),
        (["--answer", "schema"], "--answer is for model: scorers"),
        (["--read", "all"], "name one with --reader MODEL"),
        (["--swap"], "--swap is for model: and control: scorers"),
    ],
)
def test_an_option_that_no_scorer_reads_is_refused(
    options: list[str], message: str, place: Path
) -> None:
    words = ["--pairs", "AudioCaps_Main.json", "--scorer", "metric:rouge_l", *options]
    done = meta(place, "brace-main", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_the_prompts_are_named_in_the_help_and_where_one_is_wrong(place: Path) -> None:
    assert len(PROMPTS) == 12
    shown = "".join(meta(place, "csv", "--help").stdout.split())
    assert ",".join(PROMPTS) in shown
    words = ["--pairs", "AudioCaps_Main.json", "--scorer", "model:control/empty[audio=no]"]
    done = meta(place, "brace-main", *words, "--prompt", "bogus")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"there is no prompt 'bogus'; there are {', '.join(PROMPTS)}" in line
    both = meta(place, "brace-main", *words, "--prompt", "naive", "--prompt-file", "mine.txt")
    assert both.returncode == 2


def test_all_prompts_are_asked_in_turn_and_told_apart(place: Path) -> None:
    write(place / "one.json", [main_clip()])
    words = ["--pairs", "one.json", "--scorer", "model:control/empty[audio=no]"]
    done = meta(place, "brace-main", *words, "--scorer", "control:longer", "--prompt", "all",
                "--json")  # fmt: skip
    trials = json.loads(done.stdout)["scorers"]
    names = [f"model:control/empty[audio=no] {prompt}" for prompt in PROMPTS]
    assert [one["scorer"] for one in trials] == [*names, "control:longer"]
    assert len({one["signature"] for one in trials}) == 13


def test_pairs_of_one_type_are_one_table_without_intervals_that_are_not_there(place: Path) -> None:
    rows = [f"{n}.wav,A dog barks.,Rain.,0" for n in range(3)]
    (place / "own.csv").write_text("\n".join(["audio,caption_a,caption_b,preferred", *rows]))
    done = meta(place, "csv", "--pairs", "own.csv", "--scorer", "control:longer")
    assert done.returncode == 0, done.stderr
    assert "in percent (too few clips for intervals)" in done.stdout
    assert "by type of pair" not in done.stdout


def test_what_one_trial_wrote_is_tried_again_in_both_forms(place: Path) -> None:
    words = ["brace-main", "--pairs", "AudioCaps_Main.json", "--scorer"]
    done = meta(place, *words, "control:longer", "--per-pair", "chosen.csv", "--swap")
    assert done.returncode == 0, done.stderr
    assert "as given" in done.stdout
    assert "voted" in done.stdout
    assert "F1 by type of pair" in done.stdout
    again = meta(place, *words, "choices:chosen.csv", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["scorer"] == "choices:chosen.csv"
    refused = meta(place, *words, "choices:chosen.csv", "--per-pair", "chosen.csv")
    assert "is read by this command" in refused.stderr


@pytest.mark.parametrize("option", ["--per-pair", "--html"])
def test_pairs_are_never_overwritten(option: str, place: Path) -> None:
    before = (place / "AudioCaps_Main.json").read_bytes()
    (place / "link").symlink_to("AudioCaps_Main.json")
    words = ["--pairs", "AudioCaps_Main.json", "--scorer", "control:longer", option]
    for out in ("AudioCaps_Main.json", "./AudioCaps_Main.json", "link"):
        done = meta(place, "brace-main", *words, out)
        assert done.returncode == 2
        assert f"{Path(out)} is read by this command" in done.stderr
        assert (place / "AudioCaps_Main.json").read_bytes() == before


def test_a_wrong_scorer_is_found_before_the_first_is_tried(place: Path) -> None:
    done = meta(
        place, "brace-main", "--pairs", "AudioCaps_Main.json", "--per-pair", "c.csv",
        "--scorer", "control:longer", "--scorer", "metric:poem",
    )  # fmt: skip
    assert done.returncode == 2
    assert not (place / "c.csv").exists()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)


@pytest.mark.parametrize("rows", ["id,choice\nelsewhere,a\n", "id,score_a\nelsewhere,1\n"])
@pytest.mark.parametrize("kind", ["choices", "scores"])
def test_a_scorer_that_cannot_be_tried_costs_no_other_its_trial(
    kind: str, rows: str, place: Path
) -> None:
    (place / "file.csv").write_text(rows)
    done = meta(
        place, "brace-main", "--pairs", "AudioCaps_Main.json", "--scorer", "metric:rouge_l",
        "--scorer", f"{kind}:file.csv", "--scorer", "control:longer", "--per-pair", "pairs.csv",
        "--json",
    )  # fmt: skip
    assert done.returncode == 2
    assert "file.csv: " in done.stderr
    document = json.loads(done.stdout)
    assert [one["scorer"] for one in document["scorers"]] == ["metric:rouge_l", "control:longer"]
    columns = (place / "pairs.csv").read_text().splitlines()[0].split(",")
    assert {"metric:rouge_l", "control:longer"} < {*columns}


def test_hostile_names_stay_text_on_the_page(place: Path) -> None:
    hostile = "<script>alert(1)</script>\u202e"
    with (place / "pairs.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["audio", "caption_a", "caption_b", "preferred", "type", "dataset"])
        for number in range(6):
            writer.writerow([f"{number}.wav", "a", "bb", "ab"[number % 2], hostile, hostile])
            writer.writerow([f"{number}.wav", "a", "b", "a", "<img src=x>", "plain"])
    done = meta(
        place, "csv", "--pairs", "pairs.csv", "--scorer", "control:longer", "--html", "p.html"
    )
    assert done.returncode == 0, done.stderr
    assert "\u202e" not in done.stdout
    tags = _Tags()
    tags.feed((place / "p.html").read_text(encoding="utf-8"))
    assert not {"script", "img"} & tags.seen
    assert {"svg", "table"} <= tags.seen
