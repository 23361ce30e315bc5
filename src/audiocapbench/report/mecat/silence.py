"""The silence probe: how many answers about silent clips claim speech, music or sound events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.traits import QA
from audiocapbench.errors import ReportError
from audiocapbench.report.exports import Heading, Page, Record
from audiocapbench.report.mecat.answers import QA_SUBTASK, AnswerSet, GivenAnswer
from audiocapbench.report.mecat.claims import KINDS, claims, readable
from audiocapbench.stats import Interval

SILENCE = "000"
ANY = "any"
_Z = 1.959964
_SHOWN = 300
_RULES = (
    "Claims are found by rules in English. They miss up to a quarter of sound events, and how many "
    "claims of speech they miss was not measured: read the shares as lower bounds."
)
_UNREAD = "have too few Latin letters for the rules; they are in no share."
_OFFENDING = ("sample", "asked for", "claims", "because of", "answer")
_BARE = ("sample", "asked for", "answer")
_QUESTIONS = "A question may itself speak of speech or music, so read the answers that are listed."


class Share(NamedTuple):
    """How many answers to a sub-task claim something that is not there.

    Attributes:
        answers: All of them; the shares are of those that could be read.
        unread: Answers that the rules cannot read, such as those in Chinese.
        claimed: Answers with a claim, by kind and for any kind.
        interval: 95 % for the share of any kind, by Wilson's method; None where none was read.
    """

    subtask: str
    answers: int
    unread: int
    claimed: dict[str, int]
    interval: Interval | None

    def of(self, kind: str) -> float | None:
        """The share of answers with a claim of a kind; None where none could be read."""
        read = self.answers - self.unread
        return self.claimed[kind] / read if read else None


class Offence(NamedTuple):
    """An answer that claims something, and the words that do."""

    id: str
    subtask: str
    kinds: tuple[str, ...]
    evidence: tuple[str, ...]
    text: str


class Unread(NamedTuple):
    """An answer that the rules cannot read."""

    id: str
    subtask: str
    text: str


@dataclass(frozen=True, slots=True)
class SilenceReport:
    """One model on silent clips."""

    model: str
    origin: str
    shares: tuple[Share, ...]
    offences: tuple[Offence, ...]
    unread: tuple[Unread, ...]
    notes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "model": self.model,
            "origin": self.origin,
            "subtasks": {
                one.subtask: {
                    "answers": one.answers,
                    "unread": one.unread,
                    "claimed": one.claimed,
                    "share": one.of(ANY),
                    "ci": list(one.interval) if one.interval else None,
                }
                for one in self.shares
            },
            "offending": [one._asdict() for one in self.offences],
            "unread": [one._asdict() for one in self.unread],
            "notes": list(self.notes),
        }

    def records(self) -> list[Record]:
        """A row an offending answer, then a row an answer that was not read."""
        offending: list[Record] = [
            {
                "model": self.model,
                "id": one.id,
                "subtask": one.subtask,
                "claims": " ".join(one.kinds),
                "evidence": ", ".join(one.evidence),
                "text": one.text,
            }
            for one in self.offences
        ]
        unread: list[Record] = [
            {
                "model": self.model,
                "id": one.id,
                "subtask": one.subtask,
                "claims": "unread",
                "evidence": "",
                "text": one.text,
            }
            for one in self.unread
        ]
        return offending + unread

    def pages(self, shown: int | None = None) -> list[Page]:
        """Tables for people: shares, then the first offending answers and the first unread ones."""
        names = ("answers", "unread", *KINDS, ANY, "95 % interval")
        headings = (Heading("asked for", "left"), *(Heading(name) for name in names))
        rows = tuple(
            (
                one.subtask,
                f"{one.answers:,}",
                f"{one.unread:,}",
                *(_percent(one.of(kind)) for kind in (*KINDS, ANY)),
                _range(one.interval),
            )
            for one in self.shares
        )
        title = f"{self.model} ({self.origin}): answers about silence that claim …"
        pages = [Page(title, headings, rows, self.notes)]
        offending = [
            (one.id, one.subtask, ", ".join(one.kinds), ", ".join(one.evidence), one.text)
            for one in self.offences
        ]
        pages += _listed("offending answers", _OFFENDING, offending, shown)
        return pages + _listed("answers that the rules cannot read", _BARE, self.unread, shown)


def silence_report(given: AnswerSet) -> SilenceReport:
    """Look for claims in a model's answers about silent clips.

    Raises:
        ReportError: It has no answers about silent clips.
    """
    silent = [one for one in given.answers if one.domain == SILENCE]
    if not silent:
        raise ReportError(
            f"{given.name} ({given.origin}) has no answers about silent clips (domain {SILENCE})"
        )
    offences = [one for one in map(_offence, silent) if one is not None]
    found = {one.id for one in offences}
    unread = [
        Unread(one.id, one.subtask, one.text)
        for one in silent
        if one.id not in found and not readable(one.text)
    ]
    subtasks = [
        name for name in (*SUBTASKS, QA_SUBTASK) if any(one.subtask == name for one in silent)
    ]
    shares = [_share(name, silent, offences, unread) for name in subtasks]
    if len(shares) > 1:
        shares.append(_share("all", silent, offences, unread))
    notes = [_RULES, *([_QUESTIONS] if given.benchmark == QA else [])]
    if unread:
        notes.append(f"{len(unread):,} of {len(silent):,} answers {_UNREAD}")
    return SilenceReport(
        given.name, given.origin, tuple(shares), tuple(offences), tuple(unread), tuple(notes)
    )


def wilson(hits: int, total: int) -> Interval:
    """95 % interval of a share, which holds for few answers and for shares near 0 or 1."""
    share = hits / total
    base = 1 + _Z**2 / total
    centre = (share + _Z**2 / (2 * total)) / base
    half = _Z * (share * (1 - share) / total + _Z**2 / (4 * total**2)) ** 0.5 / base
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def _offence(one: GivenAnswer) -> Offence | None:
    found = claims(one.text)
    if not found:
        return None
    kinds, evidence = zip(*found, strict=True)
    return Offence(one.id, one.subtask, kinds, evidence, one.text)


def _share(
    subtask: str,
    silent: Sequence[GivenAnswer],
    offences: Sequence[Offence],
    unread: Sequence[Unread],
) -> Share:
    total, lost = (
        sum(subtask in ("all", one.subtask) for one in answers) for answers in (silent, unread)
    )
    own = [one for one in offences if subtask in ("all", one.subtask)]
    claimed = {kind: sum(kind in one.kinds for one in own) for kind in KINDS}
    interval = wilson(len(own), total - lost) if total > lost else None
    return Share(subtask, total, lost, {**claimed, ANY: len(own)}, interval)


def _listed(
    what: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]], shown: int | None
) -> list[Page]:
    """A page with the first answers, whose text stands last; none where there is none to show."""
    listed = tuple((*row[:-1], _shortened(row[-1])) for row in rows[:shown])
    if not listed:
        return []
    left = len(rows) - len(listed)
    more = (f"… and {left:,} more; --json lists them all",) if left else ()
    heads = tuple(Heading(name, "left") for name in columns)
    return [Page(f"{len(rows):,} {what}", heads, listed, more)]


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _range(interval: Interval | None) -> str:
    return "–" if interval is None else f"{100 * interval.low:.1f}–{100 * interval.high:.1f} %"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
