"""Samples and where they come from: the dataset folder, its metadata and its manifest."""

from audiocapbench.data.folder import (
    FileFacts,
    Folder,
    FolderEntry,
    Manifest,
    MissingClip,
    facts_of,
    open_folder,
    read_manifest,
    write_manifest,
)
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.row import UNCATEGORISED, MetadataRow
from audiocapbench.data.sample import Clip, Sample

__all__ = ["UNCATEGORISED", "Clip", "FileFacts", "Folder", "FolderEntry", "InvalidDataError"]
__all__ += ["Manifest", "MetadataRow", "MissingClip", "Problem", "Sample", "facts_of"]
__all__ += ["open_folder", "read_manifest", "write_manifest"]
