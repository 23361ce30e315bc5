"""The published tool's first command, ``python -m audiocapbench.build_dataset``: a thin door."""

import sys
from functools import partial
from pathlib import Path
from typing import Literal

from audiocapbench.cli import interrupt_again, options
from audiocapbench.cli.app import PublishedCommand, leave, published_app
from audiocapbench.cli.build import SubsetOptions, build_folder

app = published_app()


@options.command(app.command, cls=PublishedCommand)
def build_dataset(
    *,
    output_dir: Path = Path("data/audio_caption"),
    cache_dir: Path | None = None,
    dry_run: bool = False,
    subset: SubsetOptions,
    clip: Literal["published", "annotation"] = "published",
    credentials: options.FoundCredentials = None,
) -> None:
    """Download the clips and captions of AudioCapBench into a folder.

    Args:
        output_dir (DIR): The folder to make.
        cache_dir (DIR): Where downloaded ID lists are kept.
        dry_run: Only look up what is missing.
        clip: MusicCaps: what the paper evaluated, or the 10 s that the annotation describes.
    """
    from audiocapbench.data.build import audiocapbench as builder

    given = (subset.ids_dir, subset.counts)
    settings = builder.BuildSettings(*given, cache_dir=cache_dir, clip=clip)
    end = build_folder(output_dir, partial(builder.build, output_dir, settings), dry_run=dry_run)
    if not dry_run:
        builder.write_seed_metadata(output_dir)
    leave(failed=not dry_run and end.present < end.wanted)


if __name__ == "__main__":
    sys.unraisablehook = interrupt_again
    app(prog_name="python -m audiocapbench.build_dataset")
