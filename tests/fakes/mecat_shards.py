"""Small shards of MECAT, whole and hostile, and builds from them."""

import gzip
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks.mecat.build import MecatSettings, build_mecat
from audiocapbench.benchmarks.mecat.groups import DIFFICULTIES, QA_CATEGORIES, SUBTASKS
from audiocapbench.data.build.hub import Hub
from audiocapbench.data.build.ledger import BuildResult
from fakes.hub_repositories import tone
from fakes.hub_server import HubServer, Repository

CAPTION, QA = "mispeech/MECAT-Caption", "mispeech/MECAT-QA"
SIZES = {"000": 2, "00A": 3, "S00": 4}

Files = Iterable[tuple[str, bytes]]


def clip_key(domain: str, number: int) -> str:
    """A key such as the real ones: a video, and from when to when."""
    return f"-{domain}_video{number}_10_5_20_5"


def captions(domain: str, number: int, /, **changes: Any) -> dict[str, Any]:
    """The JSON beside a clip."""
    texts = {kind: [f"{kind} {turn} of {domain} {number}." for turn in "abc"] for kind in SUBTASKS}
    if domain == "000":
        texts["speech"] = ["None", "No speech", "Nobody speaks"]
    return {**texts, "domain": domain, **changes}


def question(domain: str, number: int, turn: int, /, **changes: Any) -> dict[str, Any]:
    """The JSON beside a question."""
    fields = {
        "category": QA_CATEGORIES[turn],
        "difficulty": list(DIFFICULTIES)[turn % 4],
        "question": f"Question {turn} about {domain} {number}?",
        "answer": f"Answer {turn}.",
        "domain": domain,
    }
    return {**fields, **changes}


def pair(key: str, fields: Mapping[str, Any] | bytes, audio: bytes) -> list[tuple[str, bytes]]:
    """A clip and its JSON as two members."""
    content = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
    return [(f"{key}.flac", audio), (f"{key}.json", content)]


def clip(domain: str, number: int) -> bytes:
    """A clip of its own."""
    return tone(10 * list(SIZES).index(domain) + number, seconds=0.1, kind="FLAC")


def caption_files(domain: str, numbers: Iterable[int]) -> list[tuple[str, bytes]]:
    """Members of a shard of captions."""
    return [
        member
        for number in numbers
        for member in pair(clip_key(domain, number), captions(domain, number), clip(domain, number))
    ]


def question_files(domain: str, numbers: Iterable[int]) -> list[tuple[str, bytes]]:
    """Members of a shard of questions: five a clip, each with a copy of the clip."""
    return [
        member
        for number in numbers
        for turn in range(5)
        for member in pair(
            f"{clip_key(domain, number)}_{number:04x}{turn:04x}",
            question(domain, number, turn),
            clip(domain, number),
        )
    ]


def tar(files: Files, *, zipped: bool = True) -> bytes:
    """A shard of these members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as shard:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            shard.addfile(member, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0) if zipped else buffer.getvalue()


def repositories() -> dict[str, Repository]:
    """Small copies of both repositories, with two shards of S00 and one of the others."""
    kinds = {CAPTION: caption_files, QA: question_files}
    found = {}
    for name, files in kinds.items():
        shards = {"README.md": b"a card", "S00/train_0000-0000000.tar.gz": tar([])}
        for domain, size in SIZES.items():
            if domain == "S00":
                shards["S00/test_0000-0000000.tar.gz"] = tar(files(domain, range(size - 1)))
                shards["S00/test_0001-0000000.tar.gz"] = tar(files(domain, [size - 1]))
            else:
                shards[f"{domain}/test_0000-0000000.tar.gz"] = tar(files(domain, range(size)))
        found[name] = Repository(shards)
    return found


def build_shards(out: Path, *shards: Path, **settings: Any) -> BuildResult:
    """Build a folder from shards on disk."""
    return build_mecat(out, MecatSettings(shards=shards, sizes=SIZES, **settings))


def build_hub(server: HubServer, out: Path, **settings: Any) -> BuildResult:
    """Build a folder from this server."""
    return build_mecat(out, MecatSettings(sizes=SIZES, **settings), hub=Hub(server.url))
