"""Where the clips of pairs lie: names from files that are not trusted, within one folder."""

from pathlib import Path, PurePosixPath, PureWindowsPath

from audiocapbench.meta.errors import TrialError

_FOLDERS = ("", "audio", "clips")
_SUFFIXES = ("", ".wav", ".flac", ".mp3", ".ogg")


def find_clip(folder: Path, name: str) -> Path | None:
    """The file of a clip, with or without its suffix, in the folder or in ``audio`` or ``clips``.

    Raises:
        TrialError: The name leads out of the folder.
    """
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).is_absolute() or "\0" in name:
        raise TrialError(f"the pairs name a clip {name[:80]!r} that is not a name within a folder")
    for place in _FOLDERS:
        for suffix in _SUFFIXES:
            path = folder / place / f"{name}{suffix}"
            try:
                inside = path.resolve().is_relative_to(folder.resolve())
                found = path.is_file()
            except (OSError, RuntimeError):  # a link to itself, or a name that no disk takes
                continue
            if not inside:
                raise TrialError(f"the clip {name[:80]!r} leads out of {folder}")
            if found:
                return path
    return None
