"""Samples and where they come from: the dataset folder, its metadata and its manifest."""

from audiocapbench.data.folder import Entry, Folder, open_folder
from audiocapbench.data.manifest import (
    FileFacts,
    Manifest,
    MissingClip,
    facts_of,
    read_manifest,
    write_manifest,
)
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.row import UNCATEGORISED, Row
from audiocapbench.data.sample import Clip, Sample

__all__ = [
    "UNCATEGORISED",
    "Clip",
    "Entry",
    "FileFacts",
    "Folder",
    "InvalidDataError",
    "Manifest",
    "MissingClip",
    "Problem",
    "Row",
    "Sample",
    "facts_of",
    "open_folder",
    "read_manifest",
    "write_manifest",
]
