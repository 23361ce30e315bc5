"""Where the clips of pairs lie: names from files that are not trusted, within one folder."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from audiocapbench.data import Clip, facts_of
from audiocapbench.data.folder import why_outside
from audiocapbench.errors import AudioError, TrialError
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.settings import TrialSettings

WITHOUT_CLIPS = "/no-audio"
"""Ends the name of a run that was asked without the clips."""

_FOLDERS = ("", "audio", "clips")
_SUFFIXES = ("", ".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".mp4", ".webm")


def find_clip(folder: Path, name: str, *, follow_links: bool = False) -> Path | None:
    """The file of a clip, with or without its suffix, in the folder or in ``audio`` or ``clips``.

    Raises:
        TrialError: The name leads out of the folder.
    """
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).is_absolute() or "\0" in name:
        raise TrialError(f"the pairs name a clip {name[:80]!r} that is not a name within a folder")
    for place in _FOLDERS:
        for suffix in _SUFFIXES:
            within = f"{PurePosixPath(place, f'{name}{suffix}')}"
            try:
                outside = why_outside(folder, within, follow_links=follow_links)
                found = (folder / within).is_file()
            except (OSError, RuntimeError):  # a link to itself, or a name that no disk takes
                continue
            if outside:
                raise TrialError(f"{folder}: the clip {name[:80]!r} {outside}")
            if found:
                return folder / within
    return None


def trial_clips(
    pairs: Sequence[CaptionPair], settings: TrialSettings, name: str, *, hears: bool
) -> dict[str, Clip]:
    """The clips of pairs by their name there, at least one; stand-ins for who hears none."""
    if not hears:
        return {pair.clip: Clip.absent(pair.clip) for pair in pairs}
    folder = settings.data
    if folder is None:
        raise TrialError(f"{name} hears the clips: say with `data` in which folder they are")
    if not folder.is_dir():
        raise TrialError(f"{folder}: no such folder; `data` names the folder with the clips")
    found: dict[str, Clip] = {}
    for pair in {pair.clip: pair for pair in reversed(pairs)}.values():
        path = find_clip(folder, pair.audio or pair.clip, follow_links=settings.follow_links)
        if path is not None:
            try:
                facts = facts_of(path)
            except AudioError as error:
                raise TrialError(f"{error}; mend or remove the file") from None
            shape = (facts.duration_s, facts.sample_rate, facts.channels)
            found[pair.clip] = Clip(path, str(path.relative_to(folder)), facts.sha256, *shape)
    if pairs and not found:
        wanted = pairs[0].audio or pairs[0].clip
        raise TrialError(f"{folder}: has none of the clips, such as {wanted}; check `data`")
    return found
