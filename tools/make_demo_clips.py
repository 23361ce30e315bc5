"""Synthesise the embedded demo benchmark: thirty clips, metadata.jsonl and manifest.json.

Run from the repository with the package installed: `python tools/make_demo_clips.py`.
"""

import argparse
import hashlib
import json
import sys
import zlib
from pathlib import Path

import numpy as np

from audiocapbench.errors import AudioCapBenchError, DatasetError
from demo_clips.catalogue import CLIPS, Clip
from demo_clips.dsp import RATE, Signal, at_level, resample
from demo_clips.encode import encode
from demo_clips.take import Take

TOOLS = Path(__file__).resolve().parent
CAPTIONS = TOOLS / "demo_clips" / "captions.jsonl"
OUT = TOOLS.parent / "src" / "audiocapbench" / "benchmarks" / "demo_clips"
REFERENCES_PER_CLIP = 5


def read_captions(path: Path) -> dict[str, list[str]]:
    """The references of every clip by its id.

    Raises:
        DatasetError: If a clip has no line, an unknown one has, or the references are not five
            different sentences.
    """
    rows = [json.loads(text) for text in path.read_text("utf-8").splitlines() if text.strip()]
    captions = {row["id"]: row["references"] for row in rows}
    wanted = {clip.id for clip in CLIPS}
    if len(captions) != len(rows) or set(captions) != wanted:
        odd = sorted(wanted ^ set(captions)) or "repeated ids"
        raise DatasetError(f"{path} must have one line a clip; look at {odd}")
    for name, references in captions.items():
        if (
            len({text.strip().lower() for text in references if text.strip()})
            != (REFERENCES_PER_CLIP)
            or len(references) != REFERENCES_PER_CLIP
        ):
            raise DatasetError(f"{path} must give {name} exactly five different references")
    return captions


def render(clip: Clip) -> tuple[Take, Signal]:
    """Make a clip, level it and bring it to its stored rate."""
    take = clip.make(np.random.default_rng(zlib.crc32(clip.id.encode())))
    sound = take.sound if clip.level_db is None else at_level(take.sound, clip.level_db)
    return take, resample(sound, RATE, clip.rate)


def metadata_row(clip: Clip, take: Take, references: list[str]) -> dict[str, object]:
    """One line of metadata.jsonl."""
    marks = sorted(take.marks, key=lambda mark: mark.at)
    return {
        "file_name": clip.file_name,
        "id": clip.id,
        "category": clip.category,
        "source": "demo",
        "references": references,
        "position": CLIPS.index(clip),
        "events": [mark.event for mark in marks],
        "onsets_s": [round(mark.at, 2) for mark in marks],
        **take.facts,
    }


def write_clips(out: Path, clips: list[Clip]) -> None:
    """Write the audio of the given clips, and the metadata and manifest that describe them."""
    captions = read_captions(CAPTIONS)
    (out / "clips").mkdir(parents=True, exist_ok=True)
    rows, files = [], {}
    for clip in clips:
        take, sound = render(clip)
        encoded = encode(sound, clip.rate, clip.file_name)
        (out / clip.file_name).write_bytes(encoded)
        rows.append(metadata_row(clip, take, captions[clip.id]))
        files[clip.file_name] = {
            "sha256": hashlib.sha256(encoded).hexdigest(),
            "bytes": len(encoded),
            "duration_s": round(sound.size / clip.rate, 6),
            "sample_rate": clip.rate,
            "channels": 1,
        }
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (out / "metadata.jsonl").write_text(lines, "utf-8")
    manifest = {"version": 1, "name": "demo", "files": files, "missing": []}
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")


def main(arguments: list[str]) -> int:
    """Parse, make and report; a wrong input prints one sentence and returns 2."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write")
    parser.add_argument("--only", nargs="+", metavar="ID", help="make only these clips")
    options = parser.parse_args(arguments)
    known = {clip.id for clip in CLIPS}
    if options.only and not known.issuperset(options.only):
        parser.error(f"there is no clip {sorted(set(options.only) - known)}")
    if options.only and options.out == OUT:
        parser.error("--only would drop the other clips from the benchmark; give another --out")
    clips = [clip for clip in CLIPS if not options.only or clip.id in options.only]
    try:
        write_clips(options.out, clips)
    except AudioCapBenchError as error:
        print(error, file=sys.stderr)
        return 2
    size = sum(path.stat().st_size for path in options.out.rglob("*") if path.is_file())
    print(f"{len(clips)} clips, {size / 1e6:.2f} MB in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
