"""``annotate hear`` beside its experts alone, in processor seconds, the better of some turns each.

    python perf/hear.py --clips 60 --experts signal,music

Alone, clips are decoded once and handed to one expert after the other, in batches as large as the
command's: what the command adds is a store, its leases and claims, and a domain for each clip. Both
run in a process of their own, whose start is not counted for either. ``signal``, 30 clips: 189 and
193 ms a clip, 1.02 of it.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from audiocapbench.audio import Waveform, wav

ALONE = """
import sys
from pathlib import Path
from audiocapbench import audio
from audiocapbench.annotate.experts import ClipAudio, set_up
from audiocapbench.annotate.hear import analysed
from audiocapbench.data.loose import open_clips

panel = set_up(sys.argv[2].split(","))
if panel.not_run:
    sys.exit("; ".join(panel.not_run.values()))
clips = [one.clip for one in open_clips(Path(sys.argv[1]))[0]] if len(sys.argv) == 3 else []
for one in clips:
    heard = ClipAudio(one, audio.decode(one.path))
    for expert in panel.experts:
        analysed(expert, heard)
"""


def write_clips(folder: Path, count: int) -> Path:
    """Ten seconds each of noise that swells, with a tone."""
    folder.mkdir()
    times = np.arange(441_000) / 44_100
    for number in range(count):
        draw = np.random.default_rng(number)
        noise = draw.normal(0, 0.05, len(times)) * (1 + np.sin(number + times))
        tone = 0.3 * np.sin(2 * np.pi * (100 + 10 * number) * times)
        samples = np.stack([noise + tone, tone], axis=1).astype(np.float32)
        (folder / f"{number}.wav").write_bytes(wav(Waveform(samples, 44_100)))
    return folder


def seconds(words: list[str], place: Path) -> float:
    """Processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=place, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure in turn, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=60)
    parser.add_argument("--experts", default="signal,music")
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    named = [word for name in given.experts.split(",") for word in ("--expert", name)]
    times: dict[str, list[float]] = {"alone": [], "start alone": [], "hear": [], "start": []}
    with tempfile.TemporaryDirectory() as root:
        place = Path(root)
        many, few = write_clips(place / "clips", given.clips), write_clips(place / "one", 1)
        for turn in range(given.turns):
            times["alone"].append(seconds(["-c", ALONE, str(many), given.experts], place))
            times["start alone"].append(seconds(["-c", ALONE, "", given.experts, "-"], place))
            command = ["-m", "audiocapbench", "annotate", "hear", *named]
            for name, folder in (("hear", many), ("start", few)):
                at = ["--store", str(place / f"{name}{turn}.db")]
                times[name].append(seconds([*command, *at, str(folder)], place))
    best = {name: min(took) for name, took in times.items()}
    each = (best["alone"] - best["start alone"]) / given.clips
    ours = (best["hear"] - best["start"]) / (given.clips - 1)
    print(
        f"{given.experts}, {given.clips} clips of 10 s: experts alone {1000 * each:.0f} ms a clip, "
        f"hear {1000 * ours:.0f} ms, {ours / each:.2f} of it; {best['start']:.1f} s to the first"
    )


if __name__ == "__main__":
    main()
