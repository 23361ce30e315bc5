"""The metric ``preference`` side by side with NLTK's METEOR: pairs of captions a second.

Both see people's pairs of AudioCaps-Eval and BRACE's of AudioCaps, each caption with its own
references, on one core and in processor time. Ours runs cold in a process of its own: what it
imports and loads is said apart, and counted in.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"  # one core: set before numpy reads it

sys.path.insert(0, str(Path(__file__).resolve().parent))

FILES = {
    "human": "fense/audiocaps_eval_pairs.json",
    "brace-main": "brace/AudioCaps_Main.json",
    "brace-hallucination": "brace/AudioCaps_Hallu.json",
}
Sides = list[tuple[str, list[str]]]


def read_sides(data: Path) -> Sides:
    """First and second captions of all pairs, with the references that each is held to."""
    from audiocapbench.meta.pairs import read_pairs

    pairs = [one for name, file in FILES.items() for one in read_pairs(name, [data / file])]
    kept = [one for one in pairs if one.references_first and one.references_second]
    first = [(one.first, list(one.references_first)) for one in kept]
    return first + [(one.second, list(one.references_second)) for one in kept]


def measure_here(sides: Sides) -> dict[str, float]:
    """Processor seconds of imports, of what is loaded once, and of all captions after that."""
    started = time.process_time()
    from audiocapbench.metrics.preference.blend import preference

    imported = time.process_time()
    preference(["a dog barks"], [["a cat meows"]])
    loaded = time.process_time()
    preference([text for text, _ in sides], [held_to for _, held_to in sides])
    done = time.process_time()
    return {"import": imported - started, "load": loaded - imported, "score": done - loaded}


def measure_cold(sides: Sides) -> dict[str, float]:
    """The same in a process that has imported nothing."""
    command = [sys.executable, __file__, "--here"]
    given = json.dumps(sides)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure and print."""
    if sys.argv[1:] == ["--here"]:
        print(json.dumps(measure_here(json.load(sys.stdin))))
        return
    from elements import REPOSITORY, measure_meteor, read_clips

    default = os.environ.get("AUDIOCAPBENCH_SHARED", REPOSITORY.parent / "shared")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(default) / "data")
    options = parser.parse_args()
    sides = read_sides(options.data)
    spent, pairs = measure_cold(sides), len(sides) / 2
    clips = read_clips(options.data)
    peer = measure_meteor(clips, options.data / "wordnet-3.0", 200).a_second / 2
    print(f"{pairs:,.0f} pairs; " + ", ".join(f"{name} {own:.2f} s" for name, own in spent.items()))
    rates = {"nltk meteor": peer, "cold": pairs / sum(spent.values())}
    for name, rate in (rates | {"without imports": pairs / spent["score"]}).items():
        print(f"{name:18}{rate:9,.0f} pairs/s{rate / peer:8.1f}x")


if __name__ == "__main__":
    main()
