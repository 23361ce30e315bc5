"""Pair files, each read whole or refused with every problem in one list, and the sets they make.

BRACE-Main: pairs with votes; one without two votes to spare has no answer, and every caption is
held to the clip's references other than the pair's own captions.
BRACE-Hallucination: as BRACE publishes it, and as ``audiocapbench corrupt`` writes it; the type of
a pair is what was made wrong, where the file says so, else ``noun``.
Human pairs: those of FENSE, with the references that its protocol holds each caption to. HC: each
caption against the others that people wrote. HI and HM: the references without the first caption.
MM: all of them. Where a caption is left with fewer than four, because people wrote the same words
twice, its references are counted from the start again up to four.
Tables, also as JSON lines: one pair a row; ``preferred`` is a, b or tie, or follows from the votes
in columns whose names begin with ``vote``, each a, b or tie, or 1, -1 or 0. Further columns:
``id``, ``type``, ``dataset``, and references in any columns whose names begin with ``reference``;
both captions are held to those that are neither of them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.data.json_text import read_json
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import read_records
from audiocapbench.errors import DatasetError, TrialError, meant
from audiocapbench.meta.pairs.pair import (
    AGREED,
    CaptionPair,
    Headline,
    PairSet,
    Preference,
    TrialProtocol,
    normalised,
    preferred,
)
from audiocapbench.store import Store

_DATASETS = ("AudioCaps", "Clotho")
BRACE_MAIN = {
    "Human-Human": "HH",
    "Human-Machine_1": "HM_1",
    "Human-Machine_2": "HM_2",
    "Machine-Machine_1": "MM_1",
    "Machine-Machine_2": "MM_2",
    "Machine-Machine_3": "MM_3",
}
_HUMAN_PAIRS = ("HC", "HI", "HM", "MM_1", "MM_2", "MM_3", "MM_4", "MM_5")
_FEWEST_REFERENCES = 4
_HUMAN, _WRONG = "human", "hallucination"
_COLUMNS = ("audio", "caption_a", "caption_b", "preferred")
_PREFERRED: dict[str, Preference | None] = {
    **dict.fromkeys(("a", "caption_a", "0", "first"), 0),
    **dict.fromkeys(("b", "caption_b", "1", "second"), 1),
    **dict.fromkeys(("tie", ""), None),
}
_VOTES = {
    **dict.fromkeys(("a", "caption_a", "first", "1"), 1),
    **dict.fromkeys(("b", "caption_b", "second", "-1"), -1),
    **dict.fromkeys(("tie", "both_bad", "0"), 0),
}


def read_brace_hallucination(path: Path) -> list[CaptionPair]:
    """Read pairs of BRACE-Hallucination."""
    return _read_clips(path, _hallucination_pair, references=None)


def read_human_pairs(path: Path) -> list[CaptionPair]:
    """Read human pairs."""
    names = ("audio_id", "raw_name")
    pairs = _read_clips(path, _human_pair, names, audio="raw_name", keys=_HUMAN_PAIRS)
    if not pairs:
        raise DatasetError(f"{path}: has no pair; pairs are {', '.join(_HUMAN_PAIRS)}")
    return pairs


def read_csv_pairs(path: Path) -> list[CaptionPair]:
    """Read a table of pairs, or one in JSON lines."""
    pairs: list[CaptionPair] = []
    problems: list[Problem] = []
    for number, (where, fields) in enumerate(read_records(path, problems, _COLUMNS[:3]), 1):
        row = _as_row(fields)
        made = row if isinstance(row, Problem) else _row_pair(row, f"row {number}", path.stem)
        if isinstance(made, CaptionPair):
            pairs.append(made)
        else:
            problems.append(made._replace(where=where))
    if not pairs and not problems:
        raise DatasetError(f"{path}: holds no pairs")
    return _checked(path, pairs, problems)


def project_pairs(store: Store, project: str) -> list[CaptionPair]:
    """The pairs of a rating project with people's votes; a gold question has its answer alone.

    Raises:
        TrialError: There is no such project, or it is not about pairs.
    """
    kinds = {one.name: one.kind for one in store.ratings.projects()}
    if project not in kinds:
        near = meant(project, kinds, "there are")
        raise TrialError(f"{project}: there is no such file, and no such rating project{near}")
    if kinds[project] != "pairs":
        raise TrialError(f"{project} is of kind {kinds[project]!r}; only pairs have votes")
    items, votes = store.ratings.items(project), defaultdict[str, list[int]](list)
    for one in store.ratings.of(project):
        if not items[one.item]["gold"]:
            votes[one.item].append(_VOTES[one.answer["vote"]])
    pairs = []
    for key, item in items.items():
        if item["gold"] or key in votes:
            cast, kind = tuple(votes[key]), item["group"] or "all"
            answer = preferred(cast) if cast else _PREFERRED[item["gold"]]
            held_to = _without(item["references"], *item["captions"])
            (first, second), audio = item["captions"], item["audio"]
            about = (answer, kind, kind, project, held_to, held_to, cast, audio)
            pairs.append(CaptionPair(key, audio, first, second, *about))
    return pairs


def kind_of(path: Path) -> str | None:
    """The kind of pairs that a JSON file looks to hold, by the fields of its first clip."""
    clips = read_json(path) if path.suffix.lower() == ".json" else None
    clip = clips[0] if isinstance(clips, list) and clips else None
    if not isinstance(clip, dict):
        return None
    if BRACE_MAIN.keys() & clip.keys():
        return "brace-main"
    if set(_HUMAN_PAIRS) & clip.keys():
        return "human"
    return "brace-hallucination" if "caption_1" in clip else None


def _read_clips(
    path: Path,
    pair_of: Callable[[str, Any, tuple[str, ...]], CaptionPair | str],
    names: tuple[str, ...] = ("file_name",),
    *,
    audio: str = "file_name",
    references: str | None = "references",
    keys: Iterable[str] | None = None,
) -> list[CaptionPair]:
    """The pairs of every clip of a JSON file.

    ``pair_of`` makes a pair of a field of a clip, or says what is wrong with it. The first of
    ``names`` that is there names the clip, ``audio`` its file. Pairs stand in ``keys``, else in all
    other fields.
    """
    clips = read_json(path)
    if isinstance(clips, Problem):
        raise DatasetError(f"{path}: {clips.what}")
    if not isinstance(clips, list) or not clips:
        raise DatasetError(f"{path}: is not a list of clips, or an empty one")
    dataset = next((name for name in _DATASETS if name.lower() in path.stem.lower()), path.stem)
    pairs: list[CaptionPair] = []
    problems: list[Problem] = []
    for number, clip in enumerate(clips):
        where = f"{path.name} clip {number}"
        if not isinstance(clip, dict):
            problems.append(Problem(where, "", "is not a JSON object"))
            continue
        name = next(filter(None, (_text(clip.get(one)) for one in names)), None)
        if name is None:
            problems.append(Problem(where, names[0], "is missing or not text"))
        texts = _texts(clip.get(references)) if references else ()
        if texts is None:
            problems.append(Problem(where, "references", "is not a list of texts"))
        others = [key for key in clip if key not in (*names, references)]
        own = others if keys is None else [key for key in keys if clip.get(key) is not None]
        for key in own:
            made = pair_of(key, clip[key], texts or ())
            if isinstance(made, str):
                problems.append(Problem(where, key, made))
            elif name is not None:
                place = f"{dataset}/{name}"
                file = _text(clip.get(audio))
                pairs.append(
                    replace(made, id=f"{place}/{made.id}", clip=place, dataset=dataset, audio=file)
                )
    return _checked(path, pairs, problems)


def _checked(path: Path, pairs: list[CaptionPair], problems: list[Problem]) -> list[CaptionPair]:
    """The pairs of a file that has no problem."""
    for key, count in Counter(pair.id for pair in pairs).items():
        if count > 1:
            problems.append(Problem(path.name, "id", f"{key!r} names {count} pairs"))
    if problems:
        raise InvalidDataError(path, problems)
    return pairs


def _brace_main_pair(key: str, value: Any, references: tuple[str, ...]) -> CaptionPair | str:
    if key not in BRACE_MAIN:
        return f"is no kind of pair; there are {', '.join(BRACE_MAIN)}"
    if not isinstance(value, list) or len(value) != 5:
        return "is not [caption, caption, source, source, votes]"
    made = _pair(BRACE_MAIN[key], value, votes=value[4], least=AGREED)
    if isinstance(made, str):
        return made
    held_to = _without(references, made.first, made.second)
    # One caption of these was broken on purpose, and the answer was set.
    was_set = made.subtype in ("HM_2", "MM_2")
    return replace(made, references_first=held_to, references_second=held_to, answer_set=was_set)


def _hallucination_pair(key: str, value: Any, _references: tuple[str, ...]) -> CaptionPair | str:
    if not isinstance(value, list) or len(value) != 5 or not isinstance(value[4], dict):
        return "is not [caption, caption, type, type, {references}]"
    made = _pair(key, value)
    if isinstance(made, str):
        return made
    if sorted(map(str, value[2:4])) != [_WRONG, _HUMAN]:
        return f"has types {value[2]!r} and {value[3]!r}, not {_HUMAN} and {_WRONG}"
    references = _texts(value[4].get("references"))
    if references is None:
        return "has no list of references"
    kind = _text(value[4].get("kind")) or "noun"
    made = replace(made, answer=0 if value[2] == _HUMAN else 1, type=kind, subtype=kind)
    return replace(made, references_first=references, references_second=references)


def _human_pair(key: str, value: Any, references: tuple[str, ...]) -> CaptionPair | str:
    if not isinstance(value, list) or len(value) < 3:
        return "is not [caption, caption, …, votes]"
    made = _pair(key, value, votes=value[-1])
    if isinstance(made, str):
        return made
    left = right = references
    if not key.startswith("MM"):
        left = right = _filled(_without(references, made.first))
    if key == "HC":
        right = _filled(_without(references, made.second))
    return replace(made, references_first=left, references_second=right)


def _pair(key: str, value: list[Any], *, votes: Any = (), least: int = 1) -> CaptionPair | str:
    """A pair of the first two values whose clip is not filled in, or what is wrong with it."""
    first, second = _text(value[0]), _text(value[1])
    if first is None or second is None:
        return "has a caption that is blank or not text"
    cast = _votes(votes) if votes != () else ()
    if cast is None:
        return "has votes other than 1, 0 and -1"
    answer = preferred(cast, least)
    return CaptionPair(key, "", first, second, answer, type=key[:2], subtype=key, votes=cast)


def _as_row(fields: dict[str, Any]) -> dict[str, str] | Problem:
    """The fields of a JSON object as a row has them; a list of references is as many columns."""
    lists = {name: own for name, own in fields.items() if isinstance(own, list)}
    columns = {f"{name}_{n}": text for name, own in lists.items() for n, text in enumerate(own, 1)}
    row = {name: own for name, own in fields.items() if name not in lists} | columns
    for name, value in row.items():
        if not isinstance(value, str | int | None):
            return Problem("", name, "is neither text nor a whole number")
    return {name: "" if value is None else str(value) for name, value in row.items()}


def _row_pair(row: dict[str, str], number: str, dataset: str) -> CaptionPair | Problem:
    audio, first, second = (_text(row.get(name)) or "" for name in _COLUMNS[:3])
    for name, value in zip(_COLUMNS, (audio, first, second), strict=False):
        if not value:
            return Problem("", name, "is missing or blank")
    voted = [name for name, text in row.items() if name.startswith("vote") and text.strip()]
    cast = [_VOTES.get(row[name].strip().lower()) for name in voted]
    if None in cast:
        name = voted[cast.index(None)]
        return Problem("", name, f"is {row[name][:40]!r}, not a, b or tie")
    votes = tuple(one for one in cast if one is not None)
    said = (row.get("preferred") or "").strip().lower()
    if said not in _PREFERRED or ("preferred" not in row and not votes):
        return Problem("", "preferred", f"is {said[:40]!r}, not a, b or tie")
    answer = _PREFERRED[said] if said else preferred(votes)
    texts = [text for name, text in row.items() if name.startswith("reference")]
    held_to = _without(filter(_text, texts), first, second)
    kind = _text(row.get("type")) or "all"
    name, dataset = _text(row.get("id")) or number, _text(row.get("dataset")) or dataset
    about = (answer, kind, kind, dataset, held_to, held_to)
    return CaptionPair(name, audio, first, second, *about, votes, audio)


def _text(value: Any) -> str | None:
    """The value, if it is a text that is not blank."""
    return value if isinstance(value, str) and value.strip() else None


def _texts(value: Any) -> tuple[str, ...] | None:
    """The value, if it is a list of texts and none of them is blank."""
    if not isinstance(value, list) or not value:
        return None
    return tuple(value) if all(_text(one) is not None for one in value) else None


def _votes(value: Any) -> tuple[int, ...] | None:
    """The value, if it is a list of votes, each 1, 0 or -1."""
    if not isinstance(value, list) or not value:
        return None
    return tuple(value) if all(type(one) is int and abs(one) <= 1 for one in value) else None


def _without(references: Iterable[str], *given: str) -> tuple[str, ...]:
    """References other than the captions that are compared."""
    return tuple(text for text in references if text not in given)


def _filled(references: tuple[str, ...]) -> tuple[str, ...]:
    """At least four references, repeated from the start: as the published figures were made."""
    if not references or len(references) >= _FEWEST_REFERENCES:
        return references
    return (references * _FEWEST_REFERENCES)[:_FEWEST_REFERENCES]


class PairFileKind(NamedTuple):
    """A kind of pair file.

    Attributes:
        as_is: Whether captions are left as written unless the user says otherwise: where people
            voted on them, what they saw is what is scored.
        least: What votes must add up to, one way or the other, for a pair to have an answer.
        undecided_leave: Whether pairs without an answer are dropped at once; FENSE keeps them in
            the corpus that word weights come from.
    """

    read: Callable[[Path], list[CaptionPair]]
    as_is: bool
    undecided_leave: bool = True
    protocol: TrialProtocol = "plain"
    headline: Headline = "f1"
    least: int = 1


KINDS: Mapping[str, PairFileKind] = {
    "human": PairFileKind(read_human_pairs, True, False, "fense", "accuracy"),
    "brace-main": PairFileKind(partial(_read_clips, pair_of=_brace_main_pair), True, least=AGREED),
    "brace-hallucination": PairFileKind(read_brace_hallucination, False),
    "csv": PairFileKind(read_csv_pairs, False),
}


def read_pairs(kind: str, paths: Sequence[Path], least: int | None = None) -> list[CaptionPair]:
    """All pairs of some files, with and without an answer.

    Where votes must add up to so many (``least``) is the kind's, unless it is given.

    Raises:
        TrialError: There is no such kind, or no file.
        DatasetError: A file cannot be read, or two files hold the same pairs.
    """
    if kind not in KINDS:
        raise TrialError(f"there are no pairs of kind {kind!r}{meant(kind, KINDS, 'there are')}")
    if not paths:
        raise TrialError("a trial needs pairs; give --pairs FILE")
    pairs: dict[str, CaptionPair] = {}
    for path in paths:
        for pair in _read_as(kind, path):
            if pair.id in pairs:
                raise DatasetError(f"{path}: the pair {pair.id!r} is in another file as well")
            voted = pair.votes and not pair.answer_set and least is not None
            pairs[pair.id] = (
                replace(pair, answer=preferred(pair.votes, least or 1)) if voted else pair
            )
    return list(pairs.values())


def _read_as(kind: str, path: Path) -> list[CaptionPair]:
    try:
        return KINDS[kind].read(path)
    except DatasetError:
        other = kind_of(path)
        if other in (None, kind):
            raise
        what = f"holds pairs of the kind {other}, not {kind}"
        raise DatasetError(f"{path}: {what}; write 'audiocapbench meta {other}'") from None


def pair_set(kind: str, pairs: Sequence[CaptionPair], *, as_is: bool | None = None) -> PairSet:
    """Make the set that is judged together, with captions as written if ``as_is`` or so the kind.

    Raises:
        DatasetError: No pair has an answer.
    """
    traits = KINDS[kind]
    decided = [pair for pair in pairs if pair.answer is not None]
    if not decided:
        raise DatasetError(f"{kind}: no pair has an answer that people agree on")
    made = PairSet(
        kind,
        tuple(decided if traits.undecided_leave else pairs),
        left_out=len(pairs) - len(decided),
        protocol=traits.protocol,
        headline=traits.headline,
    )
    leave = traits.as_is if as_is is None else as_is
    return made if leave else made.map_text(normalised, "normalised")
