"""What people think of answers: ratings and votes in one form, and the reader of their files."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from audiocapbench.data.cells import is_missing
from audiocapbench.data.columns import IDS, Mapped, Reading, fold_name, role_names
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import read_records

_NAMES = role_names("opinions")
_VALUES = _NAMES.pop("value")
_NAMES["item"] += (*IDS, "clip")
ROLES = (*_NAMES, "value")
_VOTES = tuple(f"vote_{number}" for number in range(1, 21))
_COMMA = re.compile(r"(-?\d+),(\d{1,2})$")  # of a number, in most of Europe
_SHOWN = 20


class Opinion(NamedTuple):
    """What one person thinks of one answer: of a sample, or of a pair of captions.

    The value is a rating as written, or a vote: ``a``, ``b`` or ``tie``.
    """

    item: str
    value: str
    run: str = ""
    person: str = ""
    dimension: str = ""
    group: str = ""
    where: str = ""
    chosen: str = ""  # what 'judges calibrate --next' says of the answer


class Opinions(NamedTuple):
    """All opinions of a file or of a rating project; ``problems`` are lines that were not read."""

    source: str
    opinions: Sequence[Opinion]
    digest: str
    problems: Sequence[Problem] = ()
    notes: Sequence[str] = ()

    @property
    def given(self) -> list[Opinion]:
        """Those that say something."""
        return [one for one in self.opinions if one.value and not is_missing(one.value)]

    def numbers(self, low: float, high: float, says: str = "") -> list[tuple[Opinion, float]]:
        """Every opinion as a number of a scale; an error names each that is none."""
        found, problems = [], list(self.problems)
        for one in self.given:
            try:
                value = float(one.value)
            except ValueError:
                value = float("nan")
            if low <= value <= high:
                found.append((one, value))
            else:
                problems.append(Problem(one.where, "", f"is {one.value!r:.40}, no number{says}"))
        self.refuse(problems if found or problems else [Problem("", "", "holds no ratings")])
        return found

    def refuse(self, problems: Sequence[Problem]) -> None:
        if problems:
            raise InvalidDataError(PurePath(self.source), problems, shown=_SHOWN)


def read_opinions(path: Path, columns: Mapped | None = None) -> Opinions:
    """The opinions of a table: one in a column such as ``value``, or several ``vote_1`` and on.
    ``columns`` are names by role."""
    problems: list[Problem] = []
    found: list[Opinion] = []
    roles = _NAMES | ({"value": _VALUES} if columns and "value" in columns else {})
    reading = Reading(path, columns)
    wanted = ((*_VALUES, *_VOTES),)
    for where, fields in read_records(path, problems, wanted, roles=roles, reading=reading):
        row = {
            fold_name(name): "" if value is None else _COMMA.sub(r"\1.\2", str(value).strip())
            for name, value in fields.items()
        }
        about = {role: row.get(role, "") for role in _NAMES}
        values = [name for name in _VALUES if name in row]
        votes = [name for name, text in row.items() if name[:5] == "vote_" and text]
        # Votes are a person's each; what is preferred is what they come to.
        rated = [name for name in values if row[name] and not (votes and name == "preferred")]
        for one in rated[:1] or votes or values[:1]:
            whose = {} if one in values or about["person"] else {"person": one[5:]}
            of = whose and {"item": about["item"] or where} | whose
            found.append(Opinion(value=row[one], where=f"{where}: {one}", **about | of))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    made = Opinions(str(path), found, digest, problems, reading.notes)
    if lost := len(found) - len(made.given):
        reading.note(f"{lost:,} of {len(found):,} ratings are blank or NA, and were left out")
    return made
