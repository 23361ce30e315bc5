"""Benchmarks in files: those that ship open on stand-ins of their layouts, and so does a user's."""

import csv
import hashlib
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from needs import needs

for _package in ("pyarrow", "huggingface_hub", "datasets"):
    needs(_package)

from audiocapbench import open_benchmark
from audiocapbench.benchmarks.benchmark_file import open_file, read_benchmark_file, shelf
from audiocapbench.benchmarks.file_keys import LICENCES
from audiocapbench.benchmarks.registry import named_benchmark
from audiocapbench.data.build import download
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.judges.registry import find_contract
from audiocapbench.signature import Signature
from audiocapbench.store.records import overall_of
from command import run_command
from fakes.faults import Plan, half
from fakes.http_server import HttpServer, Request, Response
from fakes.hub_repositories import tone
from fakes.hub_server import HubServer, Repository, parquet

Rows = Callable[[int], Mapping[str, Any]]


def sound(number: int) -> dict[str, Any]:
    """A cell as the Hub stores audio."""
    return {"bytes": tone(number, 0.1), "path": f"{number}.wav"}


# What the cards of the repositories say of their columns, a row each.
LAYOUTS: dict[str, Rows] = {
    "mteb/Clotho": lambda at: {
        "index": f"clip {at}",
        "datasetname": "clotho",
        "audio": sound(at),
        "audio_len": 0.1,
        "text": "all in one",
        "raw_text": [f"Caption {turn} of {at}." for turn in range(5)],
    },
    "OpenSound/AudioCaps": lambda at: {
        "audiocap_id": at,
        "youtube_id": f"video {at // 2}",
        "start_time": 30,
        "caption": f"Caption {at}.",
        "audio": sound(at // 2),
    },
    "AudioLLMs/audiocaps_test": lambda at: {
        "context": sound(at),
        "instruction": f"Please describe clip {at}.",
        "answer": f"Caption {at}.",
    },
    "renumics/song-describer-dataset": lambda at: {
        "caption_id": at,
        "track_id": 100 + at // 2,
        "caption": f"Song {at}.",
        "is_valid_subset": True,
        "familiarity": 1,
        "path": sound(at // 2),
        "duration": 120.0,
    },
    "lmms-lab/muchomusic": lambda at: {
        "context": sound(at),
        "instruction": f"Which one is {at}?",
        "choices": "(A) A flute\n(B) Drums\n(C) A choir\n(D) Rain",
        "answer": "(B) Drums",
    },
    "lmms-lab-audio/mmau": lambda at: {
        "id": f"q{at}",
        "audio": sound(at),
        "task": "music",
        "question": "Which instrument?",
        "choices": json.dumps(["Flute", "Drum", "Harp"]),
        "answer": "Harp",
    },
    "lmms-lab/ClothoAQA": lambda at: {
        "audio": sound(at),
        "question": "Is it raining?",
        "answer": ("yes", "no")[at % 2],
    },
}
LAYOUTS |= {"CLAPv2/Clotho": LAYOUTS["mteb/Clotho"]}
LAYOUTS |= {"AudioLLMs/wavcaps_test": LAYOUTS["AudioLLMs/audiocaps_test"]}
TABLES: dict[str, Rows] = {
    "audiocaps-2": lambda at: {
        "audiocap_id": at,
        "youtube_id": f"v{at // 2}",
        "start_time": 30 + at // 2,
        "caption": f"Caption {at}.",
    },
    "musiccaps": lambda at: {
        "ytid": f"v{at}",
        "start_s": 30,
        "caption": f"Music {at}.",
        "aspect_list": "['slow', 'sad']",
        "is_audioset_eval": at != 3,
    },
}
FILES = {"audiocaps-2": ("v0_30.wav", "v1_31.wav"), "musiccaps": ("v0.wav", "v1.wav", "v2.wav")}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return tmp_path / "cache"


def repository(rows: list[Mapping[str, Any]], split: str) -> Repository:
    config, _, name = split.rpartition("/")
    path = f"{config or 'data'}/{name}-00000-of-00001.parquet"
    files = [{"split": name, "path": path}]
    other = {"config_name": "default", "data_files": [{"split": "train", "path": "x-*"}]}
    own = {"config_name": config or "default", "data_files": files}
    return Repository({path: parquet(rows)}, {"configs": [own, *([other] if config else [])]})


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    with HubServer({}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def stand_in(path: Path, folder: Path, samples: int) -> Path:
    """A copy of a shipped file that says how small its stand-in is, and is another by name."""
    file, text = read_benchmark_file(path), path.read_text("utf-8")
    text = text.replace(f'name = "{file.name}"', 'name = "stand-in"')
    text = text.replace(f"samples = {file.expected.samples}", f"samples = {samples}")
    text = text.replace(f'revision = "{file.data.revision}"', 'revision = "main"')
    (folder / "mine.toml").write_text(text, "utf-8")
    return folder / "mine.toml"


@pytest.mark.parametrize("name", shelf())
def test_every_shipped_file_opens_a_stand_in_of_its_layout(
    name: str, hub: HubServer, tmp_path: Path
) -> None:
    file = read_benchmark_file(shelf()[name])
    assert file.name == name
    together = name in ("audiocaps", "audiocaps-2", "song-describer")
    if file.data.hub is None:
        rows = [TABLES[name](at) for at in range(4)]
        with (tmp_path / str(file.data.table)).open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        for at, clip in enumerate(FILES[name]):
            (tmp_path / clip).write_bytes(tone(at, 0.1))
        made = open_file(stand_in(shelf()[name], tmp_path, 3))
        assert [one.clip.file_name for one in made.samples] == list(FILES[name])
    else:
        rows = [LAYOUTS[file.data.hub](at) for at in range(4)]
        hub.repositories[file.data.hub] = repository(rows, file.data.split or "train")
        made = open_benchmark(f"{stand_in(shelf()[name], tmp_path, 4)}[download=yes]")
        assert len(made.samples) == (2 if together else 4)
    assert not made.missing
    first = made.samples[0]
    assert first.instruction
    # A table on disk is a person's own; where it is downloaded from, nobody has tried.
    assert any("unverified" in note for note in made.notes) is (file.data.hub is not None)
    if file.task == "choice":
        assert first.instruction.endswith("Answer with the letter of the right option alone.")
        assert first.references[0].count(" | ") == first.instruction.count("\n") - 2
    else:
        assert len(first.references) == {"mteb": 5, "CLAPv2": 5}.get(
            str(file.data.hub).partition("/")[0], 2 if together else 1
        )
        assert first.category == file.category


MINE = """
name = "mine"
about = "two clips"
licence = "CC0-1.0"
citation = "nobody"
facts = "made here"
verified = true
category = "sound"
[data]
folder = "."
table = "captions.tsv"
[columns]
audio = "clip"
references = ["first", "second"]
transcript = "said"
[expected]
samples = 2
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    lines = ["clip\tfirst\tsecond\tsaid", "a.wav\tOne.\tTwo.\thello", "b.wav\tThree.\tFour.\t"]
    (tmp_path / "captions.tsv").write_text("\n".join(lines))
    for at, name in enumerate("ab"):
        (tmp_path / f"{name}.wav").write_bytes(tone(at, 0.1))
    (tmp_path / "mine.toml").write_text(MINE)
    return tmp_path / "mine.toml"


def test_captions_are_scored_by_a_file_and_where_it_lies_does_not_matter(mine: Path) -> None:
    folder = mine.parent / "a [b]"
    folder.mkdir()
    for one in [*mine.parent.glob("*.*")]:
        one.rename(folder / one.name)
    for options in ("", "[download=yes]"):
        assert len(open_benchmark(f"{folder}/mine.toml{options}").samples) == 2
    (folder / "said.csv").write_text("id,prediction\na.wav,One.\nb.wav,Three.\n")
    done = run_command(
        *("score", "--predictions", str(folder / "said.csv"), "--metrics", "rouge_l", "--json"),
        *("--benchmark", str(folder / "mine.toml"), "--references", str(folder / "captions.tsv")),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["rouge_l"]["score"] == 1.0


def test_what_was_guessed_of_a_table_is_said(mine: Path, tmp_path: Path) -> None:
    table = tmp_path / "captions.tsv"
    table.write_bytes(table.read_text().replace("One.", "Un café fermé.").encode("cp1252"))
    made = open_benchmark(str(mine))
    assert made.samples[0].references[0] == "Un café fermé."
    assert any("is not UTF-8, and was read as Windows-1252" in note for note in made.notes)


def test_a_users_file_runs_like_a_name(mine: Path, tmp_path: Path) -> None:
    made = open_benchmark(str(mine))
    assert made.name == "mine"
    assert [one.references for one in made.samples] == [("One.", "Two."), ("Three.", "Four.")]
    assert made.samples[0].details["transcript"] == "hello"
    done = run_command(
        *("run", str(mine), "--model", "control/right", "--metrics", "rouge_l", "--json"),
        *("--store", str(tmp_path / "s.db")),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["n"] == 2


ROW = """system = "a"
samples = 2
variant = "ours"
source = "a paper"
date = "2024"
scores = {meter = 0.5}"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('licence = "CC0-1.0"', 'licence = "CC0"', "did you mean 'CC0-1.0'?"),
        ('licence = "CC0-1.0"', 'licence = " "', "licence: is blank"),
        ('licence = "CC0-1.0"', "", "licence: is missing"),
        ('audio = "clip"', 'audio = "clap"', "has no column 'clap'; did you mean 'clip'?"),
        (
            '["first", "second"]',
            '["first", "secnd"]',
            "has no column 'secnd'; did you mean 'second'?",
        ),
        ('transcript = "said"', 'transcript = "sad"', "has no column 'sad'"),
        ("transcript =", "transcrpt =", "columns.transcrpt"),
        ("category =", "categroy =", "categroy: is no key; did you mean 'category'?"),
        ('folder = "."', 'foldr = "."', "data.foldr: is no key; did you mean 'folder'?"),
        ('folder = "."', 'folder = ".."', "leads out of the folder"),
        ('"captions.tsv"', '"../captions.tsv"', "leads out of the folder"),
        (
            "[expected]",
            '[traits]\nmetrics = ["../a.py:x"]\n[expected]',
            "traits.metrics: '../a.py' lea",
        ),
        ('"captions.tsv"', f'"{"c" * 5000}"', "cannot be read (File name too long)"),
        ('folder = "."', 'folder = ".."', "mine.toml: data.folder: '..' leads out"),
        ('audio = "clip"', 'audio = "{clip.x}.wav"', "has no column 'clip.x'"),
        ('references = ["first", "second"]', "references = []", "should have at least 1 item"),
        ('name = "mine"', f'name = "{"m" * 81}"', "should have at most 80 characters"),
        ("samples = 2", "samples = 3", "mine.toml: expected.samples is 3, and the data has 2"),
        ("samples = 2", f'sha256 = "{"0" * 64}"', "expected.sha256 is wrong"),
        ("samples = 2", 'sha256 = "no"', "expected.sha256: is 'no': string should match pattern"),
        ('folder = "."', 'folder = "."\nsplit = "test"', "data.split: goes with a hub"),
        ('name = "mine"', 'name = "clotho"', "'clotho' is a shipped benchmark; choose another"),
        ('name = "mine"', 'name = "audiocapbench"', "is a shipped benchmark; choose another"),
        ("[expected]", '[traits]\nmetrics = ["metor"]\n[expected]', "did you mean 'meteor'?"),
        ("[expected]", '[traits]\njudge = "no.toml"\n[expected]', "traits.judge: there is no file"),
        (
            "[expected]",
            '[traits]\nmetrics = ["no.py:x"]\n[expected]',
            "traits.metrics: there is no",
        ),
        ("[expected]", '[traits]\nheadline = "bleu_9"\n[expected]', "'bleu_9' is not among"),
        ("[expected]", "[traits]\nmetrix = []\n[expected]", "traits: metrix"),
        ("[expected]", "[traits]\nmax_tokens = 0\n[expected]", "max_tokens: is 0, not 1 to"),
        ("[expected]", '[traits]\nstrata = ["genre"]\n[expected]', "sample has a detail 'genre'"),
        (
            "[expected]",
            '[traits.aggregation]\ntotal = "all"\nweights = {music = 1.0}\n[expected]',
            "all counts 'music', and no sample is of that category",
        ),
        (
            "[expected]",
            f"[[published]]\n{ROW.replace('2024', '2024-13')}\n[expected]",
            "published 1: date: is '2024-13'",
        ),
        (
            "[expected]",
            f"[[published]]\n{ROW}\n[expected]",
            "published: there is no metric 'meter'",
        ),
        (
            "[expected]",
            f"[[published]]\n{ROW.replace('meter', 'meteor').replace('0.5', '45.1')}\n[expected]",
            "published: a has meteor 45.1, which is no score of it",
        ),
        ('category = "sound"', 'instruction = " "', "instruction: is ' '"),
        ('audio = "clip"', 'audio = "clip"\nid = "nope"', "has no column 'nope'"),
        ('folder = "."', 'folder = "."\nkeep = {said = "x"}', "no row has said = 'x'"),
        ('audio = "clip"', 'audio = "/etc/{clip}"', "leads out of the folder"),
        ("samples = 2", f"samples = 1{'0' * 5000}", "is not TOML: Exceeds the limit"),
        ("[expected]", "[expected", "is not TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(
    mine: Path, old: str, new: str, said: str
) -> None:
    text = mine.read_text()
    assert old in text
    mine.write_text(text.replace(old, new))
    with pytest.raises(AudioCapBenchError) as caught:
        open_benchmark(str(mine))
    lines = str(caught.value).splitlines()
    assert said in lines[-1]
    assert len(lines) <= (3 if "/etc" in new else 2)


def test_links_that_lead_in_a_circle_are_one_sentence(mine: Path) -> None:
    (mine.parent / "round").symlink_to(mine.parent / "round")
    mine.write_text(MINE.replace('folder = "."', 'folder = "round"'))
    with pytest.raises(AudioCapBenchError, match=r"mine\.toml: data\.folder: 'round' cannot be"):
        open_benchmark(str(mine))


def test_all_that_is_wrong_is_said_at_once(mine: Path) -> None:
    text = mine.read_text()
    many = text.replace('audio = "clip"', 'audio = "clap"').replace("said", "sad")
    many = many.replace('"second"', '"secnd"').replace('name = "mine"', 'name = "Mine"')
    mine.write_text(many.replace("samples = 2", "samples = '2'"))
    done = run_command("benchmarks", "check", str(mine))
    assert done.returncode == 2
    said = [one.partition(" line ")[2].partition(": is")[0] for one in done.stderr.splitlines()]
    assert said == ["2: name", "17: expected.samples"]
    mine.write_text(many.replace('"Mine"', '"mine"'))
    done = run_command("benchmarks", "check", str(mine))
    said = [one.partition("has no column ")[2][:8] for one in done.stderr.splitlines()]
    assert said == ["'sad'; d", "'secnd';", "'clap'; "]
    (mine.parent / "a.wav").unlink()
    mine.write_text(text)
    done = run_command("benchmarks", "check", str(mine))
    lost = "  sample 'a.wav': file_name: 'a.wav' does not exist"
    assert done.stderr.splitlines()[1] == lost
    assert "go on with the 1 other clips by --skip-missing" in done.stderr


def test_what_a_folder_does_not_read_is_refused(mine: Path) -> None:
    text = mine.read_text().replace('table = "captions.tsv"', 'keep = {said = "x"}')
    mine.write_text(text)
    with pytest.raises(AudioCapBenchError) as caught:
        open_benchmark(str(mine))
    assert [one.partition(" line ")[2] for one in str(caught.value).splitlines()] == [
        "11: data.keep: goes with a hub or a table; metadata of a folder is read as it is",
    ]
    mine.write_text(text.replace('keep = {said = "x"}', ""))
    with pytest.raises(AudioCapBenchError, match=r"columns: goes with a hub or data\.table"):
        open_benchmark(str(mine))


@pytest.mark.parametrize(
    ("old", "new", "references"),
    [
        ('audio = "clip"', 'audio = "clip"\nid = "clip"', ["One.|Two.", "Three.|Four."]),
        ('"first", "second"', '"first", "first"', ["One.", "Three."]),
        ("[columns]", 'keep = {clip = "b.wav"}\n[columns]', ["Three.|Four."]),
        ("[columns]", 'keep = {first = "One."}\n[columns]', ["One.|Two."]),
        (
            'audio = "clip"',
            'audio = "{said}.wav"\ncategory = "said"',
            ["One.|Two.", "Three.|Four."],
        ),
    ],
)
def test_a_column_may_be_read_as_several_things(
    mine: Path, tmp_path: Path, old: str, new: str, references: list[str]
) -> None:
    table = tmp_path / "captions.tsv"
    table.write_text(table.read_text().replace("hello", "a").replace("Four.\t", "Four.\tb"))
    mine.write_text(mine.read_text().replace(old, new).replace("samples = 2", ""))
    made = open_benchmark(str(mine)).samples
    assert ["|".join(one.references) for one in made] == references
    assert {one.clip.file_name for one in made} <= {"a.wav", "b.wav"}


def test_rows_to_keep_are_chosen_before_those_of_a_clip_are_put_together(
    mine: Path, tmp_path: Path
) -> None:
    rows = "clip\tfirst\tlang\na.wav\tOne.\ten\na.wav\tUn.\tfr\nb.wav\tTwo.\ten\n"
    (tmp_path / "captions.tsv").write_text(rows)
    text = mine.read_text().replace('["first", "second"]\ntranscript = "said"', '"first"')
    mine.write_text(text.replace("[columns]", 'keep = {lang = "en"}\n[columns]'))
    heard = open_benchmark(str(mine)).samples
    told = open_benchmark(str(mine), references=tmp_path / "captions.tsv").samples
    for made in (heard, told):
        assert [one.references for one in made] == [("One.",), ("Two.",)]


QUESTIONS = """name = "asked"
about = "two questions"
licence = "unknown"
citation = "nobody"
facts = "made here"
task = "choice"
[data]
folder = "."
table = "questions.csv"
[columns]
audio = "clip"
instruction = "question"
options = ["one", "two"]
references = "right"
"""


def test_the_examples_of_the_docs_run(mine: Path, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/benchmarks/file.md").read_text("utf-8")
    questions, judge = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[1:]
    assert all(one in page for one in LICENCES)
    path, said = tmp_path / "questions.toml", "a.wav,What?,rain,a dog,wind,C\n"
    path.write_text(questions, "utf-8")
    (tmp_path / "questions.csv").write_text(f"clip,question,a,b,c,right\n{said}")
    run = ("run", str(path), "--model", "control/right", "--store", str(tmp_path / "s.db"))
    done = run_command(*run, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["n"] == 1
    (tmp_path / "judge.toml").write_text(judge, "utf-8")
    held = find_contract(str(tmp_path / "judge.toml"))
    reply = '{"accuracy": 5, "detail": 2, "reasoning": "x"}'
    made = Signature("judge", held.made_with)
    assert overall_of(held.parse(reply).scores, made) == pytest.approx(7.5)


def test_turned_options_are_another_benchmark_than_those_as_they_stand(
    mine: Path, tmp_path: Path
) -> None:
    (tmp_path / "questions.csv").write_text(
        "clip,question,one,two,right\na.wav,What?,rain,a dog,B\nb.wav,Who?,a cat,a man,a cat\n"
    )
    path = tmp_path / "asked.toml"
    path.write_text(QUESTIONS)
    run = ("--model", "control/right", "--store", str(tmp_path / "s.db"), "--json")
    for name, n in ((str(path), 2), (f"{path}[rotate=yes]", 4)):
        done = run_command("run", name, *run)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["runs"][0]["n"] == n
        assert "come or gone" not in done.stderr


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("What?,rain,rain,B", "needs 2 to 26 options that differ, in one + two"),
        ("What?,rain,Rain,B", "needs 2 to 26 options that differ"),
        ("What?,rain,,A", "needs 2 to 26 options that differ"),
        ("What?,rain | hail,sun,B", "has ' | ' in its option"),
        ("What?,rain,sun,a fox", "its answer 'a fox' is none of its options"),
        ("What?,rain,sun,C", "its answer 'C' is none of its options"),
        ("What?,rain,sun,(B) rain", "its answer '(B) rain' is none of its options"),
        (",rain,sun,B", "has no question"),
        ("What?,rain,sun,rain\na.wav,What?,rain,sun,sun", "has several answers: rain; sun"),
        ("What?,rain,sun,A\na.wav,Who?,a,b,A", "a column of ids tells such rows apart"),
    ],
)
def test_a_question_that_cannot_be_scored_is_one_sentence(
    mine: Path, tmp_path: Path, row: str, said: str
) -> None:
    (tmp_path / "questions.csv").write_text(f"clip,question,one,two,right\na.wav,{row}\n")
    (tmp_path / "asked.toml").write_text(QUESTIONS)
    with pytest.raises(AudioCapBenchError) as caught:
        open_benchmark(str(tmp_path / "asked.toml"))
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("options", "right", "asked"),
    [
        (("J. S. Bach", "W. A. Mozart"), "J. S. Bach", "A. J. S. Bach"),
        (("(A) C minor", "(B) A minor"), "(B) A minor", "B. A minor"),
        (("C", "A"), "A", "B. A"),
        (("rain", "sun"), "b)", "B. sun"),
        (("rain", "sun"), "(B)", "B. sun"),
        (('"rain\nB. hail"', "sun"), "B", "B. sun | A. rain B. hail"),
    ],
)
def test_letters_before_options_are_not_the_initials_of_names(
    mine: Path, tmp_path: Path, options: tuple[str, str], right: str, asked: str
) -> None:
    row = ",".join(["a.wav", "Who?", *options, right])
    (tmp_path / "questions.csv").write_text(f"clip,question,one,two,right\n{row}\n")
    (tmp_path / "asked.toml").write_text(QUESTIONS)
    [sample] = open_benchmark(str(tmp_path / "asked.toml")).samples
    assert sample.references[0].startswith(asked)
    fixed = QUESTIONS.replace('options = ["one", "two"]\n', "")
    fixed = fixed.replace('task = "choice"', 'task = "choice"\noptions = ["yes", "YES"]')
    (tmp_path / "asked.toml").write_text(fixed)
    with pytest.raises(AudioCapBenchError, match="options that differ; it has"):
        open_benchmark(str(tmp_path / "asked.toml"))


def test_files_that_traits_name_lie_beside_the_benchmark(mine: Path, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "def half(said, held):\n    print('x')\n    return [0.5, 0.5]\n"
    )
    mine.write_text(MINE + '[traits]\nmetrics = ["own.py:half"]\njudge = "contract.toml"\n')
    with pytest.raises(AudioCapBenchError, match=r"traits\.judge: there is no file"):
        open_benchmark(str(mine))
    (tmp_path / "contract.toml").write_text('name = "x"\nscores = ["x"]\nprompt = "{prediction}"\n')
    done = run_command(
        *("run", str(mine), "--model", "control/safe", "--store", str(tmp_path / "s.db"), "--json")
    )
    assert json.loads(done.stdout)["runs"][0]["metrics"][f"{tmp_path}/own.py:half"]["score"] == 0.5
    done = run_command("benchmarks", "check", str(mine))
    assert done.returncode == 2
    assert "has no {references}, which the judge must see" in done.stderr


def test_a_wrong_split_or_column_of_a_repository_is_one_sentence(
    hub: HubServer, tmp_path: Path
) -> None:
    rows = [LAYOUTS["mteb/Clotho"](at) for at in range(2)]
    hub.repositories["mteb/Clotho"] = repository(rows, "test")
    path = stand_in(shelf()["clotho"], tmp_path, 2)
    with pytest.raises(AudioCapBenchError, match=r"mine.toml\[download=yes\]'"):
        open_benchmark(str(path))
    text = path.read_text()
    for old, new, said in (
        ('split = "test"', 'split = "tset"', "has no split 'tset'; did you mean 'test'?"),
        ('references = "raw_text"', 'references = "raw"', "has no column 'raw'"),
        ('split = "test"', 'split = "test"\nkeep = {lang = "en"}', "no column 'lang'; it has"),
        ('split = "test"', 'split = "test"\nkeep = {text = "x"}', "no row has text = 'x'"),
        ('id = "index"', 'id = "datasetname"', "another column for it, id=COLUMN"),
        (
            'audio = "audio"',
            'audio = "{index}.wav"',
            "columns.audio: a pattern goes with data.table",
        ),
    ):
        path.write_text(text.replace(old, new))
        with pytest.raises(AudioCapBenchError) as caught:
            open_benchmark(f"{path}[download=yes]")
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_repository_is_built_into_a_folder_and_read_from_there(
    hub: HubServer, tmp_path: Path
) -> None:
    rows = [LAYOUTS["mteb/Clotho"](at) for at in range(2)]
    hub.repositories["mteb/Clotho"] = repository(rows, "test")
    path, out = stand_in(shelf()["clotho"], tmp_path, 2), tmp_path / "out"
    done = run_command("build", str(path), "--out", str(out), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["present"] == 2
    hub.repositories.clear()
    made = open_benchmark(str(path), out)
    assert [one.id for one in made.samples] == ["clip 0", "clip 1"]
    assert made.traits.headline == "cider_d"


def packed(members: Mapping[str, bytes], link: str = "") -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, own in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(own)
            archive.addfile(about, io.BytesIO(own))
        if link:
            about = tarfile.TarInfo("clips/link.wav")
            about.type, about.linkname = tarfile.SYMTYPE, link
            archive.addfile(about)
    return content.getvalue()


def zipped(members: Mapping[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, own in members.items():
            archive.writestr(name, own)
    return content.getvalue()


CLIPS = {"clips/a.wav": tone(0, 0.1), "clips/b.wav": tone(1, 0.1)}
TABLE = b"clip,text\nclips/a.wav,One.\nclips/b.wav,Two.\n"


def by_address(folder: Path, url: str, files: Mapping[str, bytes]) -> Path:
    text = MINE.partition("[data]")[0] + '[data]\ntable = "captions.csv"\n'
    for name, content in files.items():
        digest = hashlib.sha256(content).hexdigest()
        text += f'[[data.files]]\nurl = "{url}/{name}"\nsha256 = "{digest}"\n'
    text += '[columns]\naudio = "clip"\nreferences = "text"\n[expected]\nsamples = 2\n'
    (folder / "mine.toml").write_text(text)
    return folder / "mine.toml"


def test_data_by_address_is_fetched_when_asked_from_where_it_stopped(tmp_path: Path) -> None:
    files = {"captions.csv": TABLE, "clips.tar.gz": packed(CLIPS)}
    asked: list[str] = []

    def respond(request: Request) -> Response:
        content, rest = files[request.path.rsplit("/", 1)[-1]], request.headers.get("range", "")
        asked.append(rest)
        begin = int(rest.removeprefix("bytes=").rstrip("-") or 0)
        return Response(content[begin:], 206 if rest else 200)

    with HttpServer(respond, Plan([half()])) as server:
        path = by_address(tmp_path, server.url, files)
        with pytest.raises(AudioCapBenchError, match=r"unasked.*mine.toml\[download=yes\]'"):
            open_benchmark(str(path))
        done = run_command("benchmarks", "check", str(path), "--json")
        assert json.loads(done.stdout)["on disk"] == "no"
        made = open_benchmark(f"{path}[download=yes]")
        assert [one.references for one in made.samples] == [("One.",), ("Two.",)]
        assert any(one.startswith("bytes=") for one in asked)
        count = len(server.requests)
        assert len(open_benchmark(str(path)).samples) == 2
        assert len(server.requests) == count
        done = run_command("build", str(path), "--out", str(tmp_path / "out"), "--json")
        assert json.loads(done.stdout)["present"] == 2
        files["captions.csv"] = TABLE.replace(b"One", b"Six")
        done = run_command("build", str(path), "--out", str(tmp_path / "other"))
    assert (done.returncode, (tmp_path / "other").exists()) == (2, False)
    assert "captions.csv: what was downloaded has the SHA-256" in done.stderr


@pytest.mark.parametrize(("name", "pack"), [("c.tar.gz", packed), ("c.zip", zipped)])
def test_a_member_of_an_archive_may_be_long(
    tmp_path: Path, name: str, pack: Callable[[Mapping[str, bytes]], bytes]
) -> None:
    long = {"clips/long.wav": bytes(65 << 20)}
    files = {"captions.csv": TABLE, name: pack({**CLIPS, **long})}
    with HttpServer(lambda one: Response(files[one.path.rsplit("/", 1)[-1]])) as server:
        path = by_address(tmp_path, server.url, files)
        assert len(open_benchmark(f"{path}[download=yes]").samples) == 2


@pytest.mark.parametrize(
    ("archive", "content", "said"),
    [
        ("c.tar", packed({"../a.wav": b"x"}), "'../a.wav' leads out of the folder"),
        ("c.tgz", packed({"/tmp/a.wav": b"x"}), "leads out of the folder"),
        ("c.tar", packed(CLIPS, link="/etc/passwd"), "link or a device"),
        ("c.zip", zipped({"../../a.wav": b"x"}), "leads out of the folder"),
        ("c.zip", zipped({"a\\..\\b.wav": b"x"}), "leads out of the folder"),
        ("c.zip", b"PK not a zip", "not a zip file"),
        ("c.tar", b"no tar", "c.tar: is"),
        ("c.zip", zipped({"captions.csv": b"x"}), "'captions.csv' comes twice"),
    ],
)
def test_nothing_in_an_archive_leads_out(
    tmp_path: Path, archive: str, content: bytes, said: str
) -> None:
    files = {"captions.csv": TABLE, archive: content}
    with HttpServer(lambda one: Response(files[one.path.rsplit("/", 1)[-1]])) as server:
        path = by_address(tmp_path, server.url, files)
        with pytest.raises(AudioCapBenchError, match=said.replace("'", ".")):
            open_benchmark(f"{path}[download=yes]")
        with pytest.raises(AudioCapBenchError, match="unasked"):
            open_benchmark(str(path))
        path.write_text(path.read_text().replace('sha256 = "', 'sha256 = "0', 1)[:-1] + "\n")
        with pytest.raises(AudioCapBenchError, match=r"files 1: sha256: is '0"):
            open_benchmark(f"{path}[download=yes]")


def test_what_unpacks_to_far_more_than_it_is_fills_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "ROOM", 1 << 20)
    files = {"captions.csv": TABLE, "c.zip": zipped({**CLIPS, "long.wav": bytes(9 << 20)})}
    with HttpServer(lambda one: Response(files[one.path.rsplit("/", 1)[-1]])) as server:
        path = by_address(tmp_path, server.url, files)
        with pytest.raises(AudioCapBenchError, match=r"c\.zip: unpacks to more than 100 times"):
            open_benchmark(f"{path}[download=yes]")


def test_new_writes_a_file_that_check_finds_nothing_wrong_with(mine: Path) -> None:
    mine.unlink()
    folder = mine.parent / "My Clips!"
    folder.mkdir()
    for one in list(mine.parent.glob("*.*")):
        one.rename(folder / one.name)
    (folder / "captions.tsv").write_text("file_name\tcaption\na.wav\tOne.\nb.wav\tTwo.\n")
    done = run_command("benchmarks", "new", str(folder))
    assert done.returncode == 0, done.stderr
    written = folder / "benchmark.toml"
    assert done.stderr.splitlines()[1] == f"  audiocapbench benchmarks check '{written}'"
    done = run_command("benchmarks", "check", str(written), "--json")
    found = json.loads(done.stdout)
    assert found["name"] == "my-clips"
    assert found["citation"] == "who made the clips and captions"
    assert found["samples"] == 2
    assert found["lacks"] == []
    assert "only --force writes over it" in run_command("benchmarks", "new", str(folder)).stderr
    assert "no such folder" in run_command("benchmarks", "new", str(folder / "no")).stderr
    (folder / "captions.tsv").write_text("file_name\tsaid\na.wav\tOne.\nb.wav\tTwo.\n")
    failed = run_command("benchmarks", "new", str(folder), "--force")
    assert failed.returncode == 2
    assert "name it: in [columns] references=COLUMN" in failed.stderr
    assert failed.stderr.splitlines()[1].endswith("which is written; then check it")
    (folder / "captions.tsv").write_text("file_name\tcaption\na.wav\tOne.\nb.wav\tTwo.\n")
    assert run_command("benchmarks", "new", str(folder), "--force").returncode == 0
    (folder / "a.wav").write_bytes(tone(9, 0.1))
    done = run_command("benchmarks", "check", str(folder))
    assert "name the file in this folder, which 'benchmarks new' writes" in done.stderr
    done = run_command("benchmarks", "check", str(folder / "benchmark.toml"))
    assert done.returncode == 2
    assert "expected.sha256 is wrong" in done.stderr


@pytest.mark.parametrize(
    ("name", "lacks"), [("mmau-mini", "data.revision"), ("musiccaps", "sha256")]
)
def test_check_of_a_shipped_benchmark_fetches_nothing(name: str, lacks: str) -> None:
    done = run_command("benchmarks", "check", name, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["on disk"] == "no"
    assert lacks in json.loads(done.stdout)["lacks"][-1]


def test_metrics_that_a_table_has_no_room_for_are_named(mine: Path, tmp_path: Path) -> None:
    names = "bleu_1", "bleu_2", "rouge_l", "meteor"
    mine.write_text(MINE + f"[traits]\nmetrics = {list(names)}\n")
    store = ("--store", str(tmp_path / "s.db"))
    done = run_command("run", str(mine), "--model", "control/safe", *store)
    assert done.returncode == 0, done.stderr
    assert "Also scored, and shown by a report or with --json: meteor." in done.stderr
    chosen = run_command("run", str(mine), "--model", "control/safe", "--metrics", "meteor", *store)
    assert "Also scored" not in chosen.stderr


def test_options_in_brackets_and_signs_in_paths_are_no_place_of_data(mine: Path) -> None:
    folder = mine.parent / "a=b"
    folder.mkdir()
    (folder / "mine.toml").write_bytes(mine.read_bytes())
    own = f"{folder}/mine.toml"
    for one in (
        f"{mine}[download=yes]",
        f"{own}={mine.parent}",
        f"{own}[download=no]={mine.parent}",
    ):
        assert len(named_benchmark(one).samples) == 2
    with pytest.raises(AudioCapBenchError, match=r"a=b/captions.tsv: cannot be read"):
        named_benchmark(own)


def test_answers_to_questions_are_scored_without_audio(mine: Path, tmp_path: Path) -> None:
    table = tmp_path / "questions.csv"
    table.write_text("clip,right\na.wav,yes\nb.wav,No\n")
    text = QUESTIONS.replace('options = ["one", "two"]\n', "").replace('n = "question"', 'n = "x"')
    text = text.replace('instruction = "x"\n', "").replace(
        'task = "choice"', 'task = "choice"\ninstruction = "Rain?"\noptions = ["yes", "no"]'
    )
    (tmp_path / "asked.toml").write_text(text)
    (tmp_path / "said.csv").write_text("id,prediction\na.wav,Yes.\nb.wav,A\n")
    done = run_command(
        *("score", "--predictions", str(tmp_path / "said.csv"), "--json"),
        *("--benchmark", str(tmp_path / "asked.toml"), "--references", str(table)),
    )
    assert json.loads(done.stdout)["metrics"]["choice"]["score"] == 0.5
    assert json.loads(done.stdout)["read"]["references"]["rows"] == 2


def test_published_scores_of_a_users_file_stand_beside_runs_that_it_names(
    mine: Path, tmp_path: Path
) -> None:
    store = ("--store", str(tmp_path / "s.db"))
    row = ROW.replace("meter", "rouge_l")
    mine.write_text(f"{MINE}[[published]]\n{row}\n")
    run_command("run", str(mine), "--model", "control/safe", "--metrics", "rouge_l", *store)
    board = ("leaderboard", "--published", "--metric", "rouge_l", "--json", *store)

    def rows(*more: str) -> Any:
        done = run_command(*board, *more)
        return [one["model"] for one in json.loads(done.stdout)["boards"][0]["published"]], done

    assert rows("--benchmark", str(mine))[0] == ["a"]
    without, done = rows("--benchmark", "mine")
    assert without == []
    assert "of your own file, --benchmark FILE.toml shows them" in done.stderr + done.stdout
    mine.write_text(f"{MINE}[[published]]\n{row.replace('samples = 2', 'samples = 3')}\n")
    assert rows("--benchmark", str(mine))[0] == []
