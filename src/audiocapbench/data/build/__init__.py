"""Dataset folders made from public sources: which clips, from where, fetched only once."""

from audiocapbench.data.build.audiocapbench import BuildEnd, BuildSettings, PartEnd, build

__all__ = ["BuildEnd", "BuildSettings", "PartEnd", "build"]
