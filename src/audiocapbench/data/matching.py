"""Predictions under the ids that samples have, however these are written."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from unicodedata import normalize
from urllib.parse import unquote

from audiocapbench.data.columns import FILES, names_by_role
from audiocapbench.data.outcome import Sample
from audiocapbench.data.predictions import Predictions
from audiocapbench.errors import DatasetError
from audiocapbench.grouping import grouped

_AUDIO = re.compile(
    r"\.(?:wav|flac|mp3|ogg|opus|m4a|mp4|aac|wma|aiff?|webm|au|caf)$", re.IGNORECASE
)
_WHOLE = re.compile(r"0*([0-9]+)(?:\.0+)?")
_VIDEO = re.compile(r"Y?([\w-]{11})(?:_[0-9.]+){0,2}")


def match_samples(
    predictions: Predictions, samples: Sequence[Sample], absent: Mapping[str, str] | None = None
) -> tuple[Predictions, str]:
    """Predictions under the samples' ids; where none has one, by the files of their clips.

    ``absent`` are ids and files of those that would be samples, were their clips there.
    """
    files = {one.id: one.clip.file_name for one in samples} | dict(absent or {})
    given, by_file = predictions.by_id.keys(), {name: key for key, name in files.items()}
    strangers = len(by_file) == len(files) and not given & files.keys()
    try:
        if strangers and given & by_file.keys():
            raise DatasetError("they are names of files")
        met, note = match_ids(predictions, files)
        _check_files(met, files)
        return met, note
    except DatasetError:
        if not strangers:
            raise
        try:
            met, note = match_ids(predictions, by_file)
        except DatasetError:
            met, note = predictions, ""
        if not met.by_id.keys() & by_file.keys():
            raise
        return met.under(by_file), note or "ids were met by the names of files"


def _check_files(predictions: Predictions, named: Mapping[str, str]) -> None:
    """Refuse ids that meet where both sides name files, and these say otherwise."""
    files = {key: name for key, name in named.items() if name != key}
    if not files or any("id" in (one.mapped or ()) for one in predictions.readings):
        return
    stems, columns = set(map(_stem, files.values())), dict[tuple[str, ...], str]()
    for key, one in predictions.by_id.items():
        there = tuple(one.fields)
        if there not in columns:
            columns[there] = names_by_role(there, {"file": FILES}).get("file", "")
        own, name = one.fields.get(columns[there]), columns[there]
        if key not in files or not isinstance(own, str) or _stem(own) in ("", _stem(files[key])):
            continue
        if key.isdecimal() or _stem(own) in stems:
            raise DatasetError(
                f"ids and files contradict each other: {_shown(key)} is of {_shown(own)} in the "
                f"predictions and of {_shown(files[key])} in the references; say which counts: "
                f"`columns` id={name} or `columns` id=id"
            )


def match_ids(predictions: Predictions, ids: Iterable[str]) -> tuple[Predictions, str]:
    """Predictions under the ids that the references have, and a note where ids were changed.

    Ids that differ only by an audio file's extension, its folder, their case or how accents,
    numbers and spaces are written, or by what AudioCaps' files add to an id of YouTube, are taken
    for the same where every prediction without references has exactly one such counterpart, or
    every sample without a prediction has.
    """
    given, known = predictions.by_id, dict.fromkeys(ids)
    strange = [key for key in given if key not in known]
    left = [key for key in known if key not in given]
    if not strange or not left:
        return predictions, ""
    example, odd = None, ""
    for fold, what in _FOLDS:
        by_stem = grouped((fold(key), key) for key in known)
        stems = Counter(map(fold, given))
        same = {key: by_stem[fold(key)] for key in strange}
        met = {
            key: alike[0]
            for key, alike in same.items()
            if len(alike) == 1 == stems[fold(key)] and alike[0] not in given
        }
        # All predictions have their references, or else all references their predictions.
        if len(met) == len(strange) or set(met.values()) == set(left):
            theirs, ours = next(iter(met.items()))
            note = (
                f"{len(met):,} predictions were taken for the references that differ from them only"
                f" by {what}, such as {_shown(theirs)} for {_shown(ours)}"
            )
            return predictions.under(met), note
        if example is None:
            example = next(((key, alike[0], what) for key, alike in same.items() if alike), None)
            odd = next(key for key in strange if key not in met)
    if example is not None:
        key, alike, what = example
        but = f"but {_shown(odd)} has no such one of its own"
        if odd == key:
            but = "but so does another, or another prediction from that one"
        raise DatasetError(
            f"ids do not meet: {_shown(key)} has no references, and {_shown(alike)} differs from "
            f"it only by {what}; {but}. Write the same ids in both files"
        )
    if len(strange) == len(given):
        raise DatasetError(
            "no prediction has references under its id; both must name the same: predictions have "
            f"ids such as {_shown(strange[0])}, references such as {_shown(left[0])} (`columns` "
            "id=COLUMN says which column they are in)"
        )
    return predictions, ""


def _shown(key: str) -> str:
    """An id, so that one can be told from another that looks the same."""
    return repr(key) if key == normalize("NFC", key) else ascii(key)


def _nfc(key: str) -> str:
    return normalize("NFC", key).strip()


def _stem(key: str, folders: int = 0) -> str:
    """A file's name without its extension, after so many of its folders."""
    *path, name = (_AUDIO.sub("", one) for one in re.split(r"[/\\]", _nfc(key)))
    name = name.casefold()
    number = _WHOLE.fullmatch(name)
    above = "/".join(path[-folders:]).casefold() if folders and path else ""
    return f"{above}/{number[1] if number else name}".removeprefix("/")


def _loose(key: str) -> str:
    return re.sub(r"[\s_+-]+", " ", normalize("NFKC", _stem(unquote(key))))


def _video(key: str) -> str:
    """The id of YouTube in a name as AudioCaps' files have it."""
    name = _AUDIO.sub("", re.split(r"[/\\]", key.strip())[-1])
    found = _VIDEO.fullmatch(name)
    return found[1] if found else name


_FOLDS: Sequence[tuple[Callable[[str], str], str]] = (
    (_nfc, "how accents are written"),
    *((partial(_stem, folders=depth), "extension, folder, case or zeros") for depth in (2, 1, 0)),
    (_loose, "signs for spaces"),
    (_video, "what stands before and after the id of YouTube"),
)
