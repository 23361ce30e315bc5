"""What the columns of people's files are called, and which of them is what."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from audiocapbench.errors import DatasetError, did_you_mean
from audiocapbench.files import read_lists


def role_names(table: str) -> dict[str, tuple[str, ...]]:
    """The names of one table of columns.toml, by role, ours first."""
    listed: Mapping[str, str] = read_lists("audiocapbench.data", "columns.toml")[table]
    return {role: tuple(names.split()) for role, names in listed.items()}


_NAMES = role_names("captions")
FILES, SYSTEMS, INDEXES = _NAMES["files"], _NAMES["systems"], (*_NAMES["indexes"], "")
IDS = ("id", *FILES, *_NAMES["ids"], *INDEXES)
_SURELY_PREDICTED, _SURELY_REFERENCES = _NAMES["surely_predicted"], _NAMES["surely_references"]
PREDICTIONS = (*_SURELY_PREDICTED, *_NAMES["perhaps_predicted"])
REFERENCES = (*_SURELY_REFERENCES, *_NAMES["perhaps_references"])
TEXTS = (*PREDICTIONS, *REFERENCES)
"""Names as people write them, ours first."""

_EQUAL = {"prediction": _SURELY_PREDICTED, "references": _SURELY_REFERENCES}
_STEMS = (*_NAMES["first_stems"], *REFERENCES, *_NAMES["last_stems"])
NUMBERED = tuple(f"{stem}{gap}{n}" for stem in _STEMS for gap in ("_", "") for n in range(21))
_NUMBERED = re.compile(r"(.*?\D)_?([0-9]{1,3})")
_ALSO = re.compile(
    rf"(?:(?:alt|human|other|extra)_)?(?:{'|'.join(_STEMS)})_?(?:[0-9]+(?:_.*|st|nd|rd|th)?|alt)"
)
IN_PATTERN = re.compile(r"\{([^{}]*)\}")
_MAPPED = re.compile(r"(?P<name>.*?)\[(?P<form>.+)\]", re.DOTALL)

Roles = Mapping[str, Sequence[str]]
"""Our names, each with those that people give it."""

ROLES = ("id", "prediction", "references", "category", "instruction", "file_name", "system")
Mapped = Mapping[str, str]
"""Columns by role, as the user names them: ``{"id": "audio_path"}``; a form may follow the name of
one that holds several texts, such as ``captions[|]``, ``[list]``, ``[numbered]`` or ``[text]``."""


@lru_cache(1 << 14)
def fold_name(name: str) -> str:
    """A name without what people write differently: case, spaces, dashes, dots, leading zeros."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    words = re.sub(r"[\s_.:/()\[\]#-]+", "_", words.casefold()).strip("_")
    return re.sub(r"(?<=[^\W\d_])_?0+(?=\d+$)", "_", words)


@lru_cache(1 << 14)
def _bare(name: str) -> str:
    return fold_name(name).replace("_", "")


@lru_cache
def _bares(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_bare, names))


def names_of(column: str | Sequence[str]) -> Sequence[str]:
    return (column,) if isinstance(column, str) else column


def has_column(column: str | Sequence[str], names: Iterable[str]) -> bool:
    return not _bares(tuple(names_of(column))).isdisjoint(map(_bare, names))


@lru_cache
def numbered(names: tuple[str, ...]) -> tuple[str, ...]:
    """Columns such as ``caption_1``, ``captions.0`` and ``Reference (2)``, of one stem, in order;
    one without a number comes first where pandas numbered those of the same name."""
    stems: dict[str, dict[int, str]] = {}
    for name in names:
        if found := _NUMBERED.fullmatch(fold_name(name)):
            stems.setdefault(found[1].rstrip("_"), {}).setdefault(int(found[2]), name)
    known = [stem for stem in dict.fromkeys(_STEMS) if stem in stems]
    if not known:
        return ()
    stem = max(known, key=lambda one: len(stems[one]))
    numbers = stems[stem]
    plain = [name for name in names if fold_name(name) == stem and 0 not in numbers]
    return (*plain, *(numbers[number] for number in sorted(numbers)))


def fill_pattern(pattern: str, fields: Mapping[str, Any]) -> str:
    return IN_PATTERN.sub(lambda found: str(fields.get(found[1])), pattern)


def no_column(where: object, name: str, names: Iterable[str]) -> str:
    return f"{where}: has no column {name!r:.80}{did_you_mean(name, names, 'it has')}"


def no_row(keep: Mapping[str, str]) -> str:
    rows = " and ".join(f"{column} = {value!r}" for column, value in keep.items())
    return f"no row has {rows}" if keep else "there are no rows"


def _candidates(names: Sequence[str], role: str, theirs: Sequence[str]) -> list[str]:
    """The columns that may stand for a role, the best first."""
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(_bare(name), name)
    # An annotation of COCO has an id of its own beside that of what it is about.
    wanted = [role] if role in names else []
    if role == "id" and "image_id" in theirs:
        wanted.insert(0, "image_id")
    found = [folded.get(_bare(one)) for one in (*wanted, *theirs)]
    return list(dict.fromkeys(one for one in found if one is not None))


def names_by_role(names: Iterable[str], roles: Roles) -> dict[str, str]:
    """Which of a file's names stands for each of ours, where one does; each for one at most."""
    there, found = tuple(names), dict[str, str]()
    for role, theirs in roles.items():
        left = [one for one in _candidates(there, role, theirs) if one not in found.values()]
        if left:
            found[role] = left[0]
    return found


def renamed(fields: Mapping[str, Any], roles: Roles) -> dict[str, Any]:
    """Fields under our names, each taken from the first of the names that people give it."""
    return under_roles(fields, names_by_role(fields, roles))


def under_roles(
    fields: Mapping[str, Any], names: Mapping[str, str], kept: Container[str] = ()
) -> dict[str, Any]:
    """Fields by role; one column may stand for several, and some are ``kept`` as they are, too."""
    found = dict(fields)
    for name in names.values():
        if name not in names and name not in kept:
            found.pop(name, None)
    for role, name in names.items():
        found[role] = fields[name]
    return found


def _is_numbers(value: Any) -> bool:
    """Whether a cell is blank, or holds what is no text, such as tokens by number."""
    if isinstance(value, list):
        return not any(isinstance(one, str | list) for one in value)
    return not isinstance(value, str) or not value.strip("[]()0123456789.,-+e \n")


@dataclass(slots=True)
class Reading:
    """How a file was read: which column is what, and what else was found or done, as sentences.

    ``mapped`` are columns that the user names, None where nobody can. A file is only read with a
    guess, such as of its encoding, where there is a Reading to say it.
    """

    path: PurePath
    mapped: Mapped | None = None
    rows: int = 0
    encoding: str = "UTF-8"
    columns: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    forms: dict[str, str] = field(default_factory=dict)
    several: tuple[str, ...] = ()
    content: bytes | None = None  # of what is no file
    names: Sequence[str] = ()
    guesses: bool = True  # somebody says the notes
    needed: Sequence[str] = ()  # columns that must be there, and stay, beside those of a role
    keep: Mapping[str, str] = field(default_factory=dict)  # only rows of these values are read
    pattern: str = ""  # of the names of files, such as {youtube_id}_{start}.wav
    _equal: list[tuple[str, str]] = field(default_factory=list)
    _others: dict[tuple[str, ...], list[str]] = field(default_factory=dict)

    def note(self, words: str) -> None:
        if words and words not in self.notes:
            self.notes.append(words)

    def named(self, names: Sequence[str], roles: Roles) -> dict[str, str]:
        """Which of the names stands for each role: as the user says, or as people call it."""
        self.names = names
        found = self._mapped(names, roles)
        for role, theirs in roles.items():
            if role in found or (role == "references" and self.several):
                continue
            left = [one for one in _candidates(names, role, theirs) if one not in found.values()]
            numbers = numbered(tuple(names)) if role == "references" else ()
            if numbers and not (
                left and left[0] not in numbers and (left[0] == role or not numbers[1:])
            ):
                wide = f"{numbers[0]} … {numbers[-1]}"
                self.columns.setdefault(role, wide)
                self._say_others(role, [wide, *(one for one in left if one not in numbers)], ())
            elif left and (role != "prediction" or self._is_known(left[0], names)):
                found[role] = left[0]
                self._say_others(role, left, numbers)
            if role == "references" and (numbers or left):
                taken = (found[role],) if role in found else numbers
                like = (*_SURELY_REFERENCES, "caption") if numbers else ()
                others = [
                    one
                    for one in names
                    if one not in (*taken, *found.values())
                    and (fold_name(one) in like or _ALSO.fullmatch(fold_name(one)))
                ]
                self._others |= {taken: others} if others else {}
        index = names[0] if names and fold_name(names[0]) in INDEXES else None
        if index is not None and found.get("id", index) != index:
            self.note("its first column numbers the rows, and was left out")
        self.columns |= {role: name for role, name in found.items() if role not in self.columns}
        return found

    def _is_known(self, name: str, names: Sequence[str]) -> bool:
        """Whether predictions are of this name in all rows; one that lacks it has none, whatever
        else it has."""
        known = self.columns.get("prediction", name)
        if known != name and known in names:
            raise DatasetError(
                f"{self.path}: rows without {name!r} have {known!r}, and others have both; say "
                f"which is the prediction: `columns` prediction={name}"
            )
        return known == name

    def _mapped(self, names: Sequence[str], roles: Roles) -> dict[str, str]:
        """Roles that the user names; what is not there is said of all at once."""
        found, lost = dict[str, str](), [one for one in self.needed if one not in names]
        for role in roles:
            if not (name := (self.mapped or {}).get(role)):
                continue
            if name not in names and (form := _MAPPED.fullmatch(name)):
                name, self.forms[role] = form["name"], form["form"]
            several = (*dict.fromkeys(name.split("+")),) if role == "references" else (name,)
            absent = [one for one in several if one not in names]
            if name in names:
                found[role] = name
            elif role == "references" and not absent:
                self.several = several
                self.columns.setdefault(role, name)
            elif role != "id" or not has_column(roles[role], names):
                lost += absent
        if lost:
            raise DatasetError(*(no_column(self.path, one, names) for one in dict.fromkeys(lost)))
        return found

    def _say_others(self, role: str, left: Sequence[str], numbers: Sequence[str]) -> None:
        first, *others = left
        others = [one for one in others if fold_name(one) not in INDEXES]
        sure = _EQUAL.get(role, ())
        if fold_name(first) in sure:
            self._equal += [(first, one) for one in others if fold_name(one) in sure]
        if role == "prediction":
            again = re.compile(rf"{re.escape(fold_name(first))}_?[0-9]+")
            self._equal += [(first, one) for one in self.names if again.fullmatch(fold_name(one))]
        if also := [*others, *numbers[:1]]:
            there = ", ".join(map(repr, also[:4]))
            words = (
                f"{first!r} was taken for the {role}; there is also {there} (`columns` {role}=…)"
            )
            self.note(words if role in ("id", "prediction", "references") else "")

    def check_equal(self, fields: Mapping[str, Any]) -> None:
        """Refuse a file of which nobody can say which of two columns is meant, or is left out."""
        for taken, others in self._others.items():
            shown = [str(fields.get(name)) for name in taken]
            for one in others:
                own = fields.get(one)
                if not _is_numbers(own) and not any(str(own).strip() in text for text in shown):
                    every = "+".join((*taken, *others))
                    raise DatasetError(
                        f"{self.path}: {one!r} ({own!r:.60}) looks like references too, and would "
                        f"be left out; say which count: `columns` 'references={every}' or "
                        f"`columns` 'references={'+'.join(taken)}'"
                    )
        for one, other in self._equal:
            texts = [fields[name] for name in (one, other) if not _is_numbers(fields.get(name))]
            if len(texts) > 1 and texts[0] != texts[1]:
                role = "references" if fold_name(one) in _SURELY_REFERENCES else "prediction"
                raise DatasetError(
                    f"{self.path}: {one!r} and {other!r} may both be the {role}, and differ "
                    f"({fields[one]!r:.60} and {fields[other]!r:.60}); say which: "
                    f"`columns` {role}={one} or `columns` {role}={other}"
                )

    def to_dict(self) -> dict[str, Any]:
        return {
            "file": str(self.path),
            "rows": self.rows,
            "encoding": self.encoding,
            "columns": dict(self.columns),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        columns = ", ".join(
            role if role == name else f"{role} in {name!r}" for role, name in self.columns.items()
        )
        return f"{self.path}: {self.rows:,} rows" + (f" ({columns})" if columns else "")


def mapped_columns(text: Iterable[str], roles: Iterable[str]) -> dict[str, str]:
    """Columns by role of ``ROLE=COLUMN``, several with commas between them."""
    known = list(roles)
    found: dict[str, str] = {}
    for part in (one for given in text for one in re.split(r",(?=\s*\w+\s*=)", given)):
        role, equals, name = (one.strip() for one in part.partition("="))
        if not equals or not name or role not in known:
            near = did_you_mean(role, known, "columns that can be named are")
            raise DatasetError(f"--map takes ROLE=COLUMN, and not {part.strip()!r:.80}{near}")
        if found.setdefault(role, name) != name:
            raise DatasetError(f"--map names two columns for {role}: {found[role]!r} and {name!r}")
    return found
