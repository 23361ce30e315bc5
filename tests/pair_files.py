"""Small pair files of every kind, as their publishers write them."""

import json
from pathlib import Path
from typing import Any

REFERENCES = ["a dog barks", "a hound is barking", "barking of a dog", "a dog", "one dog barks"]


def main_clip(name: str = "1.wav", /, **changes: Any) -> dict[str, Any]:
    """A clip of BRACE-Main."""
    return {
        "file_name": name,
        "references": REFERENCES,
        "Human-Human": ["a dog barks", "a dog", "caption_1", "caption_4", [1, 1, 1]],
        "Human-Machine_1": ["rain falls.", "a dog barks", "LTU", "human", [-1, -1, 0]],
        "Machine-Machine_2": ["dog dog dog", "a dog is heard", "LTU_broken", "LTU", [-1, -1, -1]],
        "Machine-Machine_3": ["a cat", "a car", "LTU", "GAMA", [1, -1, 0]],
    } | changes


def human_clip(name: str = "clip", /, **changes: Any) -> dict[str, Any]:
    """A clip of AudioCaps-Eval."""
    return {
        "audio_id": name,
        "raw_name": f"{name}.wav",
        "references": REFERENCES,
        "HC": ["a dog barks", "a dog", "t1", "t4", [1, 1, 1, -1]],
        "HI": ["a dog", "rain falls on a roof", "t4", "t9", [1, 1, 1, 1]],
        "MM_1": ["a dog is barking", "a cat", "m1", "m2", 7, [1, 1, -1, -1]],
        "MM_2": None,
    } | changes


def write(path: Path, content: Any) -> Path:
    """Write JSON to a file."""
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
