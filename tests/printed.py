"""What a page of the documentation prints: its blocks, its commands, and running them."""

import csv
import itertools
import json
import re
import shlex
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import annotations
from audiocapbench.benchmarks.captioning import demo_clips
from audiocapbench.store import DEFAULT_STORE
from command import run_command
from forks import Forked
from needs import needs
from plugin import environment, install_package

ROOT = Path(__file__).resolve().parents[1]
REMOTE = (
    *("--model openai/", "--judge openai/", "--llm openai/"),
    *("audiocapbench build ", "hf://", "--push"),
)
"""What a block of commands has that needs a provider or the Hub."""


def page(name: str) -> str:
    """The text of a page."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The code blocks of one language."""
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def commands(text: str, *, remote: bool) -> list[str]:
    """The commands that a reader is told to give, of blocks that ask a provider or do not."""
    found = []
    for block in blocks(text, "sh"):
        lines = [line.split(" #")[0].strip() for line in block.splitlines()]
        if any(mark in block for mark in REMOTE) == remote:
            found += [line for line in lines if line.startswith("audiocapbench")]
    return found


def run(place: Path, command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command as printed."""
    words = shlex.split(command)
    assert words[0] == "audiocapbench"
    if _ALONE.fullmatch(command) and not settings:
        return _run_once(place, command)
    if words[1] == "view":
        return _look(place, words[2:], environment(place, **settings))
    return run_command(*words[1:], cwd=place, env=environment(place, **settings))


# Commands that need nothing of the place where they are given. They are the dearest of all, and
# many pages begin with one of them.
_ALONE = re.compile(
    r"audiocapbench (demo|run demo|judges check elements)( --(model|judge|store) [\w/.]+)*"
)


class _Given(NamedTuple):
    done: subprocess.CompletedProcess[str]
    left: Mapping[str, bytes]


_GIVEN: dict[str, _Given] = {}
_STORE = "<store>"  # in the names of what was left: its file, and its journal


def _run_once(place: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command that needs nothing; where it comes again, lay out what it left.

    A check of a judge leaves nothing that another command reads; the others leave a store with
    runs from 1 on, if there was none before, by whatever name, and a report.
    """
    named = [DEFAULT_STORE, *re.findall(r"--store (\S+)", command)][-1]
    key = re.sub(r" --store \S+", "", command)
    is_new = not (place / named).exists()
    if key in _GIVEN and (is_new or " check " in command):
        for name, content in _GIVEN[key].left.items():
            (place / name.replace(_STORE, named)).write_bytes(content)
        return _GIVEN[key].done
    before = set(place.iterdir())
    done = run_command(*shlex.split(command)[1:], cwd=place, env=environment(place))
    made = [] if " check " in command else sorted(set(place.iterdir()) - before)
    if done.returncode == 0 and (is_new or " check " in command):
        left = {path.name.replace(named, _STORE): path.read_bytes() for path in made}
        _GIVEN[key] = _Given(done, left)
    return done


def _look(
    place: Path, words: Sequence[str], env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Open a page that is served, and end the server as a reader does."""
    command = ["-m", "audiocapbench", "view", *words, "--port", "0", "--no-open"]
    server = Forked(*command, cwd=place, env=env, stdout=-1, stderr=subprocess.STDOUT)
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    try:
        urllib.request.urlopen(f"{address}api/board", timeout=120).close()
    finally:
        server.send_signal(signal.SIGINT)
        told, _ = server.communicate(timeout=120)
    ended = server.wait()
    ended = 0 if ended == 130 else ended
    return subprocess.CompletedProcess(command, ended, "", told)


def install(place: Path, module: str, entry_points: str) -> None:
    """Lay a reader's package out as pip would."""
    groups = entry_points.split('[project.entry-points."audiocapbench.')[1:]
    entries = dict(group.replace('"]', "]").replace('"', "").split("]\n", 1) for group in groups)
    install_package(place / "site", "my_package", module, **entries)


def lay_out(place: Path, metadata: str) -> Path:
    """The files that pages speak of: my-clips, predictions.csv and references.csv."""
    folder = place / "my-clips"
    folder.mkdir()
    shutil.copy(demo_clips() / "clips" / "sound_01_rain_thunder.ogg", folder / "rain.ogg")
    shutil.copy(demo_clips() / "clips" / "music_01_solo_piano.ogg", folder / "piano.ogg")
    (folder / "metadata.jsonl").write_text(metadata)
    (place / "predictions.csv").write_text("id,prediction\na,A dog barks.\nb,Rain falls.\n")
    (place / "references.csv").write_text(
        "id,reference\na,A dog is barking.\na,Dogs bark.\nb,It rains.\nb,Rain falls on a roof.\n"
    )
    _write_recordings(place / "recordings")
    _write_mecat(place)
    _write_pairs(place)
    ratings = [f"{'speech' if n % 2 else 'sound'},{1 + (3 * n) % 5}\n" for n in range(60)]
    (place / "ratings.csv").write_text("group,rating\n" + "".join(ratings))
    return place


def _write_recordings(folder: Path) -> None:
    """Clips to be annotated, whose domains somebody knows."""
    folder.mkdir()
    lines = ["file_name,domain,title"]
    for number, (name, demo, domain) in enumerate(
        (
            ("rain", "sound_01_rain_thunder", "00A"),
            ("piano", "music_01_solo_piano", "0M0"),
            ("dog", "sound_03_dog_growl_barks", "00A"),
            ("library", "speech_01_library", "S00"),
            ("guitar", "mixed_01_voice_over_guitar", "SM0"),
        )
    ):
        shutil.copy(demo_clips() / "clips" / f"{demo}.ogg", folder / f"{name}.ogg")
        lines.append(f"{name}.ogg,{domain},clip {number}")
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n")


def _demo_captions() -> dict[str, list[str]]:
    """Every second clip's: enough for intervals, which need ten."""
    lines = (demo_clips() / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines[::2]]
    return {row["file_name"]: row["references"] for row in rows}


def _write_mecat(place: Path) -> None:
    """References in MECAT's form about the demo's clips, and answers to them."""
    domains = itertools.cycle(("000", "00A", "0M0", "0MA", "S00", "S0A", "SM0", "SMA"))
    subtasks = ("long", "short", "speech", "music", "sound", "environment")
    references, answers = [], []
    for key, texts in _demo_captions().items():
        three = (texts * 3)[:3]
        views = {subtask: [f"{text} ({subtask})" for text in three] for subtask in subtasks}
        references.append({key: {**views, "domain": next(domains)}})
        answers.append({key: {subtask: f"{texts[-1]} {subtask}" for subtask in subtasks}})
    (place / "mecat-references").mkdir()
    _write_lines(place / "mecat-references" / "all.jsonl", references)
    _write_lines(place / "my-captions.jsonl", answers)


def _write_pairs(place: Path) -> None:
    """Pairs of a clip's caption and another clip's, and all captions of the demo."""
    captions = _demo_captions()
    others = [texts[0] for texts in captions.values()]
    with (place / "pairs.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["audio", "caption_a", "caption_b", "preferred", "reference_1"])
        for number, (name, texts) in enumerate(captions.items()):
            wrong = others[number - 7]
            pair = [texts[0], wrong, "a"] if number % 2 else [wrong, texts[0], "b"]
            table.writerow([name, *pair, texts[1]])
    for system, shown in (("system-a", 1), ("system-b", 0)):
        with (place / f"{system}.csv").open("w", newline="", encoding="utf-8") as stream:
            rows = [[name, f"{texts[shown]} again"] for name, texts in captions.items()]
            csv.writer(stream).writerows([["id", "prediction"], *rows])
    head = "id audio caption_a caption_b type vote_1 vote_2 vote_3 reference_1".split()
    with (place / "voted.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(head)
        for number, (name, texts) in enumerate(captions.items()):
            cast = ("a", "a", "tie") if number % 3 else ("b", "b", "b")
            pair = [f"{name}/HM_1", name, texts[0], others[number - 7], "HM_1"]
            table.writerow([*pair, *cast, texts[1]])
    with (place / "captions.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["id", "reference"])
        table.writerows([name, text] for name, texts in captions.items() for text in texts)


def _write_lines(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


@contextmanager
def local_providers(place: Path) -> Iterator[dict[str, str]]:
    """The Hub and OpenAI on loopback, and the settings that lead there."""
    for name in ("huggingface_hub", "pyarrow", "openai"):
        needs(name)
    from fakes.hub_repositories import repositories, write_lists
    from fakes.hub_server import HubServer
    from fakes.mecat_shards import repositories as mecat_repositories
    from fakes.openai_batches import KEY, OpenAIBatchServer, completion

    verdict = {"accuracy": 7, "completeness": 5, "hallucination": 9, "reasoning": "Close."}

    def reply(request: object) -> dict[str, object]:
        hears = b"input_audio" in request.body  # type: ignore[attr-defined]
        if b"expert audio analysis synthesizer" in request.body:  # type: ignore[attr-defined]
            number, domain, _ = annotations.asked_about(request)  # type: ignore[arg-type]
            return completion(annotations.reply(annotations.good_fields(number, domain)))
        return completion("A dog barks." if hears else json.dumps(verdict))

    write_lists(place / "ids")
    everything = repositories() | mecat_repositories()
    with HubServer(everything, token=KEY) as hub, OpenAIBatchServer(reply=reply) as openai:
        yield {
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(place / "home"),
            "HF_TOKEN": KEY,
            "XDG_CACHE_HOME": str(place / "cache"),
            **openai.settings,
        }
