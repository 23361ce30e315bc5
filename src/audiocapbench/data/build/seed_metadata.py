"""metadata.json as the published tool writes it, for whatever reads that."""

import json
from pathlib import Path
from typing import Any

from audiocapbench.data.folder import METADATA, SEED_METADATA
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import json_lines
from audiocapbench.files import write_file

_SEED_FIELDS = ("youtube_id", "ytid", "aspect_list", "caption", "transcript")


def write_seed_metadata(root: Path) -> None:
    """Write metadata.json beside metadata.jsonl."""
    problems: list[Problem] = []
    samples = [
        {
            "id": row["id"],
            "category": row["category"],
            "source": row["source"],
            "audio_file": row["file_name"],
            "duration_s": round(row["duration_s"], 2),
            "reference_captions": row["references"],
        }
        | {name: row[name] for name in _SEED_FIELDS if name in row}
        for _, row in json_lines(root / METADATA, problems)
    ]
    if problems:
        raise InvalidDataError(root, problems)
    categories: dict[str, dict[str, Any]] = {}
    for sample in samples:
        group = categories.setdefault(sample["category"], {"count": 0, "sources": []})
        group["count"] += 1
        if sample["source"] not in group["sources"]:
            group["sources"].append(sample["source"])
    document = {
        "description": "AudioCapBench: clips of sound, music and speech with reference captions",
        "categories": categories,
        "total_samples": len(samples),
        "samples": samples,
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    write_file(root / SEED_METADATA, f"{text}\n")
