"""Dataset folders made from public sources: which clips, from where, fetched only once."""

from audiocapbench.data.build.audiocapbench import BuildSettings, build
from audiocapbench.data.build.ledger import BuildResult, PartResult

__all__ = ["BuildResult", "BuildSettings", "PartResult", "build"]
