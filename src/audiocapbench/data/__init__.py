"""Samples and where they come from: the dataset folder, its metadata and its manifest."""

from audiocapbench.data.folder import Manifest, MissingClip, facts_of, open_folder
from audiocapbench.data.outcome import Clip, Sample
from audiocapbench.data.problems import InvalidDataError, Problem

__all__ = ["Clip", "InvalidDataError", "Manifest", "MissingClip", "Problem", "Sample", "facts_of"]
__all__ += ["open_folder"]
