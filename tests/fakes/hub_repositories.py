"""Small copies of the four repositories of AudioCapBench, ID lists for them, and builds of them."""

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from audiocapbench.data import Manifest
from audiocapbench.data.build.audiocapbench import BuildSettings, build
from audiocapbench.data.build.hub import Hub
from audiocapbench.data.build.ledger import BuildResult
from audiocapbench.data.folder import read_manifest
from fakes.hub_server import HubServer, Repository, parquet

CLOTHO = "piyushsinghpasi/clotho-multilingual"
AUDIOCAPS = "OpenSound/AudioCaps"
MUSIC = "kelvincai/MusicCaps_30s_wav"
SPEECH = "seastar105/emo_speech_caption_test"

SOUND_NAMES = ["Pulley &amp; Rope", "O&#39;Farrell", "Heat duct ", "Park 3", "../escape"]
VIDEOS = ["-abc", "_x/yz", "rPkCYq4Zjwk", "ünï🎵cø", "zzz"]
MUSIC_TIMES = {"m0": (30, 40), "m1": (10, 20), "m2": (0, 10), "m3": (20, 30)}
RATE = 8_000


def tone(number: int, seconds: float = 0.5, kind: str = "WAV", channels: int = 1) -> bytes:
    """A sine of its own pitch, so that no two clips are alike."""
    times = np.arange(int(seconds * RATE)) / RATE
    wave = 0.3 * np.sin(2 * np.pi * (100 + 7 * number) * times)
    buffer = io.BytesIO()
    soundfile.write(buffer, np.column_stack([wave] * channels), RATE, format=kind)
    return buffer.getvalue()


def ramp(seconds: int = 30) -> bytes:
    """A stereo file whose samples say at which sample they stand."""
    count = np.arange(seconds * RATE)
    samples = np.column_stack([count % 30_000, count // 30_000]).astype(np.int16)
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, RATE, format="WAV", subtype="PCM_16")
    return buffer.getvalue()


def clotho() -> Repository:
    """Two parquet files, a row a caption, the rows of a clip far apart."""
    rows = [
        {
            "audio_name": name,
            "audio": tone(number, kind="WAV"),
            "caption": f"Caption {turn} of sound {number}.",
            "language": "en",
        }
        for turn in range(5)
        for number, name in enumerate([*SOUND_NAMES, "somebody else's"])
    ]
    files = {
        "data/test-00000-of-00002.parquet": parquet(rows[:18], group=4),
        "data/test-00001-of-00002.parquet": parquet(rows[18:], group=4),
        "data/train-00000-of-00001.parquet": parquet(rows[:1]),
        "README.md": b"a card",
    }
    split = [{"split": one, "path": f"data/{one}-*"} for one in ("train", "test")]
    return Repository(files, {"configs": [{"config_name": "default", "data_files": split}]})


def audiocaps() -> Repository:
    """One parquet file without a card; FLAC inside."""
    rows = [
        {
            "audiocap_id": 10 * number + turn,
            "youtube_id": name,
            "start_time": 30,
            "caption": f"Caption {turn} of video {number}.",
            "audio": tone(50 + number, kind="FLAC"),
        }
        for number, name in enumerate(["first", *VIDEOS, "last"])
        for turn in range(5)
    ]
    return Repository({"data/test-00000-of-00001.parquet": parquet(rows, group=3)})


def music() -> Repository:
    """One parquet file of 30 s stereo cuts."""
    rows = [
        {"ytid": name, "audio": ramp(), "caption": "as listed", "start_s": start, "end_s": end}
        for name, (start, end) in MUSIC_TIMES.items()
    ]
    return Repository({"data/train-00000-of-00001.parquet": parquet(rows, group=2)})


def music_files(*, metadata: bool) -> Repository:
    """The same cuts as files of their own."""
    names = {name: f"clips/{name}.wav" if metadata else f"{name}.wav" for name in MUSIC_TIMES}
    files = {path: ramp() for path in names.values()}
    if metadata:
        lines = ["file_name,ytid", *(f"{path},{name}" for name, path in names.items())]
        files["metadata.csv"] = "\n".join(lines).encode()
    return Repository(files | {".gitattributes": b"*.wav filter=lfs"})


def speech() -> Repository:
    """One parquet file in which two rows share a transcript; MP3 inside."""
    rows = [
        {
            "audio": tone(200 + number, kind="MP3"),
            "caption": f"A calm voice, number {number}.",
            "transcript": "Hello there." if number == 0 else f'She said "{number // 2}".',
        }
        for number in range(9)
    ]
    return Repository({"data/train-00000-of-00001.parquet": parquet(rows, group=2)})


def repositories() -> dict[str, Repository]:
    """All four by name."""
    return {CLOTHO: clotho(), AUDIOCAPS: audiocaps(), MUSIC: music(), SPEECH: speech()}


def write_lists(root: Path, **changes: Sequence[Mapping[str, Any]]) -> Path:
    """The four ID lists for these repositories, except where other rows are given."""
    root.mkdir(parents=True, exist_ok=True)
    lists: dict[str, Sequence[Mapping[str, Any]]] = {
        "clotho": [
            {"audio_name": name, "duration_s": 0.5, "num_captions": 5, "sample_caption": "x"}
            for name in SOUND_NAMES
        ],
        "audiocaps": [
            {"youtube_id": name, "duration_s": 0.5, "num_captions": 5, "sample_caption": "x"}
            for name in VIDEOS
        ],
        "musiccaps": [
            {
                "ytid": name,
                "start_s": start,
                "end_s": end,
                "caption": f"Music {name}.",
                "aspect_list": "['slow', \"it's\"]",
            }
            for name, (start, end) in MUSIC_TIMES.items()
        ],
        "speech": [
            {
                "index": index,
                "transcript": "Hello there." if number == 0 else f'She said "{number // 2}".',
                "caption": f"A calm voice, number {number}.",
                "duration_s": 0.5,
            }
            for index, number in enumerate((0, 3, 5))
        ],
    }
    for name, rows in (lists | changes).items():
        with (root / f"{name}_eval.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return root


def build_from(server: HubServer, out: Path, ids: Path, **settings: Any) -> BuildResult:
    """Build a folder from this server."""
    return build(out, BuildSettings(ids_dir=ids, **settings), hub=Hub(server.url))


def rows_of(root: Path) -> dict[str, dict[str, Any]]:
    """The rows of the metadata by id."""
    lines = (root / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def manifest_of(root: Path) -> Manifest:
    """The manifest, which must be readable."""
    manifest = read_manifest(root)
    assert isinstance(manifest, Manifest)
    return manifest


def origin_of(root: Path) -> dict[str, str]:
    """What the manifest says that the folder was made from."""
    return manifest_of(root).origin or {}


def tree(root: Path) -> dict[str, str]:
    """Every file of a folder and its hash."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }
