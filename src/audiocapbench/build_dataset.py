"""The published tool's first command, ``python -m audiocapbench.build_dataset``: a thin door.

It builds the same folder as ``audiocapbench build`` and adds the published metadata.json.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from audiocapbench.cli import interrupt_again
from audiocapbench.cli.console import print_errors, say
from audiocapbench.errors import AudioCapBenchError

_SOME_FAILED, _WRONG_USE, _INTERRUPTED = 1, 2, 130
_PARTS = {
    "sound_clotho": "clotho",
    "sound_audiocaps": "audiocaps",
    "music": "music",
    "speech": "speech",
}


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    options = _parser().parse_args(words)
    try:
        return _build(options)
    except AudioCapBenchError as error:
        print_errors(error)
        return _WRONG_USE
    except KeyboardInterrupt:
        say("audiocapbench: interrupted; what was done is kept")
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m audiocapbench.build_dataset",
        description="Download the clips and captions of AudioCapBench into a folder.",
    )
    parser.add_argument(
        "--output-dir", type=Path, default=Path("data/audio_caption"), help="the folder to make"
    )
    parser.add_argument("--cache-dir", type=Path, help="where downloaded ID lists are kept")
    parser.add_argument("--dry-run", action="store_true", help="only look up what is missing")
    for option, part in _PARTS.items():
        name = f"--{option.replace('_', '-')}"
        parser.add_argument(name, type=int, metavar="N", help=f"how many clips of {part}")
    parser.add_argument("--ids-dir", type=Path, help="folder with the four ID lists")
    parser.add_argument(
        "--clip",
        choices=("published", "annotation"),
        default="published",
        help="MusicCaps: what the paper evaluated, or the 10 s that the annotation describes",
    )
    parser.add_argument(
        "--credentials",
        type=Path,
        help="file of KEY=value lines (HF_TOKEN); credentials.env here is read by itself",
    )
    return parser


def _build(options: argparse.Namespace) -> int:
    from audiocapbench.cli.build import build_audiocapbench
    from audiocapbench.credentials import load_credentials
    from audiocapbench.data.build import BuildSettings
    from audiocapbench.data.build.audiocapbench import write_seed_metadata

    if options.credentials is not None:
        say(*load_credentials(options.credentials))
    counts = {part: getattr(options, option) for option, part in _PARTS.items()}
    settings = BuildSettings(
        ids_dir=options.ids_dir,
        counts={part: count for part, count in counts.items() if count is not None},
        cache_dir=options.cache_dir,
        clip=options.clip,
    )
    end = build_audiocapbench(options.output_dir, settings, dry_run=options.dry_run)
    if not options.dry_run:
        write_seed_metadata(options.output_dir)
    return _SOME_FAILED if not options.dry_run and end.present < end.wanted else 0


if __name__ == "__main__":
    sys.unraisablehook = interrupt_again
    sys.exit(main())
