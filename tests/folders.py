"""Small dataset folders for tests, made of real audio files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from audiocapbench.data import Manifest, facts_of
from audiocapbench.data.folder import write_manifest


def write_tone(path: Path, hertz: float = 440.0, seconds: float = 0.25) -> None:
    """A short sine as a WAV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    times = np.arange(int(seconds * 16_000)) / 16_000
    soundfile.write(path, 0.3 * np.sin(2 * np.pi * hertz * times), 16_000)


def write_lines(root: Path, rows: list[dict[str, Any]]) -> None:
    """metadata.jsonl of these rows."""
    lines = [json.dumps(row) for row in rows]
    (root / "metadata.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_folder(root: Path, count: int = 4) -> Path:
    """A folder of so many tones, two references each, in two categories."""
    rows = []
    for index in range(count):
        write_tone(root / "clips" / f"{index}.wav", 200.0 + 50 * index)
        rows.append(
            {
                "file_name": f"clips/{index}.wav",
                "id": f"tone_{index}",
                "category": "music" if index % 2 else "sound",
                "references": [f"A steady tone number {index} sounds.", f"Tone {index} hums on."],
            }
        )
    write_lines(root, rows)
    return root


def write_ten_faults(parent: Path) -> Path:
    """A folder with ten different faults, a line each."""
    root = parent / "faults"
    root.mkdir()
    for name in ("good", "twin", "other", "place", "changed"):
        write_tone(root / f"{name}.wav", 100.0 + len(name))
    (root / "empty.wav").write_bytes(b"")
    (root / "broken.wav").write_bytes(b"no audio")
    write_tone(parent / "outside.wav")
    captions = ["A tone."]
    lines: list[bytes] = [
        json.dumps(row).encode()
        for row in (
            {"file_name": "good.wav", "id": "good", "references": captions, "position": 0},
            {"file_name": "twin.wav", "id": "good", "references": captions},
            {"file_name": "other.wav", "references": []},
            {"file_name": "other.wav", "id": "blank", "references": ["fine", "  "]},
            {"id": "nameless", "references": captions},
            {"file_name": "../outside.wav", "references": captions},
            {"file_name": "nowhere.wav", "references": captions},
            {"file_name": "empty.wav", "references": captions},
            {"file_name": "broken.wav", "references": captions},
            {"file_name": "changed.wav", "references": captions},
        )
    ]
    lines.append(b'{"file_name": "good.wav", ')
    (root / "metadata.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    other = facts_of(root / "good.wav")
    write_manifest(root, Manifest(name="faults", files={"changed.wav": other}))
    return root
