"""Samples and where they come from: the dataset folder, its metadata and its manifest."""

from audiocapbench.data.folder import Manifest, MissingClip, facts_of, open_folder
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.sample import Clip, Sample

__all__ = ["Clip", "InvalidDataError", "Manifest", "MissingClip", "Problem", "Sample", "facts_of"]
__all__ += ["open_folder"]
