"""The silence probe: how many answers about silent clips claim speech, music or sound events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.layouts import QA
from audiocapbench.errors import ReportError
from audiocapbench.report.exports import Heading, Page, Record
from audiocapbench.report.mecat.answers import QA_SUBTASK, AnswerSet, GivenAnswer
from audiocapbench.report.mecat.claims import KINDS, claims
from audiocapbench.stats import Interval

SILENCE = "000"
ANY = "any"
_Z = 1.959964
_SHOWN = 300
_RULES = (
    "Claims are found by rules in English. On the dataset's own references of silent clips, which "
    "should claim nothing, they find one in 0.3 %; they miss up to a quarter of sound events."
)
_QUESTIONS = "A question may itself speak of speech or music, so read the answers that are listed."


class Share(NamedTuple):
    """How many answers to a sub-task claim something that is not there.

    Attributes:
        claimed: Answers with a claim, by kind and for any kind.
        interval: 95 % for the share of any kind, by Wilson's method.
    """

    subtask: str
    answers: int
    claimed: dict[str, int]
    interval: Interval

    def of(self, kind: str) -> float:
        """The share of answers with a claim of a kind."""
        return self.claimed[kind] / self.answers


class Offence(NamedTuple):
    """An answer that claims something, and the words that do."""

    id: str
    subtask: str
    kinds: tuple[str, ...]
    evidence: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class SilenceReport:
    """One model on silent clips."""

    model: str
    origin: str
    shares: tuple[Share, ...]
    offences: tuple[Offence, ...]
    notes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "model": self.model,
            "origin": self.origin,
            "subtasks": {
                one.subtask: {
                    "answers": one.answers,
                    "claimed": one.claimed,
                    "share": one.of(ANY),
                    "ci": list(one.interval),
                }
                for one in self.shares
            },
            "offending": [one._asdict() for one in self.offences],
            "notes": list(self.notes),
        }

    def records(self) -> list[Record]:
        """A row an offending answer."""
        return [
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

    def pages(self, shown: int | None = None) -> list[Page]:
        """Tables for people: shares, then the first offending answers."""
        names = ("answers", *KINDS, ANY, "95 % interval")
        headings = (Heading("asked for", "left"), *(Heading(name) for name in names))
        rows = tuple(
            (
                one.subtask,
                f"{one.answers:,}",
                *(f"{100 * one.of(kind):.1f} %" for kind in (*KINDS, ANY)),
                f"{100 * one.interval.low:.1f}–{100 * one.interval.high:.1f} %",
            )
            for one in self.shares
        )
        title = f"{self.model} ({self.origin}): answers about silence that claim …"
        pages = [Page(title, headings, rows, self.notes)]
        listed = self.offences[:shown]
        if listed:
            left = len(self.offences) - len(listed)
            more = (f"… and {left:,} more; --json lists them all",) if left else ()
            columns = ("sample", "asked for", "claims", "because of", "answer")
            cells = tuple(
                (
                    one.id,
                    one.subtask,
                    ", ".join(one.kinds),
                    ", ".join(one.evidence),
                    _shortened(one.text),
                )
                for one in listed
            )
            heads = tuple(Heading(name, "left") for name in columns)
            pages.append(Page(f"{len(self.offences):,} offending answers", heads, cells, more))
        return pages


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
    subtasks = [
        name for name in (*SUBTASKS, QA_SUBTASK) if any(one.subtask == name for one in silent)
    ]
    shares = [_share(name, silent, offences) for name in subtasks]
    if len(shares) > 1:
        shares.append(_share("all", silent, offences))
    notes = [_RULES, *([_QUESTIONS] if given.benchmark == QA else [])]
    return SilenceReport(given.name, given.origin, tuple(shares), tuple(offences), tuple(notes))


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


def _share(subtask: str, silent: Sequence[GivenAnswer], offences: Sequence[Offence]) -> Share:
    total = sum(subtask in ("all", one.subtask) for one in silent)
    own = [one for one in offences if subtask in ("all", one.subtask)]
    claimed = {kind: sum(kind in one.kinds for one in own) for kind in KINDS}
    return Share(subtask, total, {**claimed, ANY: len(own)}, wilson(len(own), total))


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
