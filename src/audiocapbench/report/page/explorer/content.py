"""What the explorer shows, put into columns: clips, answers, scores and the judges' words."""

import base64
import gzip
import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.report.page.document import BoardDocument
from audiocapbench.report.page.explorer.sound import POINTS, Sound
from audiocapbench.report.page.report_data import ReportData
from audiocapbench.store.judgements import Judgement

_ALIGNED = 8
_TYPES = {"uint8": "<u1", "uint32": "<u4", "float32": "<f4"}


class Packer:
    """Collects texts, columns and small facts; the empty text is always number 0."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {"": 0}
        self._columns: dict[str, tuple[str, NDArray[Any]]] = {}

    def text(self, text: str) -> int:
        """The number of a text, the same for the same text."""
        return self._texts.setdefault(text, len(self._texts))

    def column(self, name: str, kind: str, values: Any) -> None:
        """Add numbers: ``uint8``, ``uint32`` or ``float32``."""
        self._columns[name] = (kind, np.asarray(values, dtype=_TYPES[kind]).ravel())

    def packed(self, facts: dict[str, Any]) -> str:
        """Everything as base64 of gzip; the same content gives the same line."""
        places: dict[str, Any] = {}
        body = bytearray()
        for name, (kind, values) in self._columns.items():
            places[name] = [kind, len(body), len(values)]
            body += values.tobytes()
            body += bytes(-len(body) % _ALIGNED)
        # Escaped to ASCII, so that half a surrogate pair is no reason to fail.
        document = {**facts, "texts": list(self._texts), "columns": places}
        head = json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
        head += b" " * (-(len(head) + 4) % _ALIGNED)
        whole = struct.pack("<I", len(head)) + head + bytes(body)
        return base64.b64encode(gzip.compress(whole, compresslevel=9, mtime=0)).decode("ascii")


NONE = 2**32 - 1
"""Stands for no number in a column of unsigned numbers."""

NOT_ASKED = "not asked"
_ANSWER = dict.fromkeys(("text", "error", "note"), "uint32") | {"status": "uint8"}
_ANSWER |= dict.fromkeys(("latency", "cost"), "float32")


def explorer_data(data: ReportData, sounds: Mapping[str, Sound], board: BoardDocument) -> str:
    """The packed line that the page's script reads."""
    packer = Packer()
    _add_clips(packer, data, list(sounds))
    _add_sounds(packer, list(sounds.values()))
    _add_answers(packer, data)
    _add_verdicts(packer, data)
    packer.column("scores", "float32", np.array([data.scores[one] for one in data.scorers]))
    return packer.packed(
        {
            "board": board.to_dict(),
            "rows": board.rows,
            "categories": data.categories,
            "statuses": _statuses(),
            "judges": data.judges,
            "points": POINTS,
        }
    )


def _statuses() -> list[str]:
    return [*(str(status) for status in Status), NOT_ASKED]


def _add_clips(packer: Packer, data: ReportData, audio: Sequence[str]) -> None:
    samples = data.samples
    categories = {name: number for number, name in enumerate(data.categories)}
    places = {sha: number for number, sha in enumerate(audio)}
    packer.column("id", "uint32", [packer.text(one.id) for one in samples])
    packer.column("category", "uint32", [categories[one.category] for one in samples])
    packer.column("seconds", "float32", [one.clip.duration_s for one in samples])
    packer.column("rate", "uint32", [one.clip.rate for one in samples])
    packer.column("file", "uint32", [packer.text(one.clip.file_name) for one in samples])
    packer.column("instruction", "uint32", [packer.text(one.instruction) for one in samples])
    packer.column("details", "uint32", [packer.text(details_of(one)) for one in samples])
    packer.column("sound", "uint32", [places.get(one.clip.sha256, NONE) for one in samples])
    counts = [len(one.references) for one in samples]
    packer.column("references_end", "uint32", np.cumsum(counts))
    packer.column(
        "references", "uint32", [packer.text(text) for one in samples for text in one.references]
    )


def details_of(sample: Sample) -> str:
    """What the dataset adds, a line each."""
    lines = []
    for name, value in sample.details.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{name}: {shown}")
    return "\n".join(lines)


def _add_sounds(packer: Packer, sounds: Sequence[Sound]) -> None:
    packer.column("peaks", "uint8", np.array([one.peaks for one in sounds]))
    packer.column("sound_kind", "uint32", [packer.text(one.kind) for one in sounds])
    packer.column("sound_link", "uint32", [packer.text(one.link) for one in sounds])
    packer.column("sound_missing", "uint32", [packer.text(one.missing) for one in sounds])


def _add_answers(packer: Packer, data: ReportData) -> None:
    numbers = {name: number for number, name in enumerate(_statuses())}
    rows = [
        _answer(packer, numbers, run.table.outcomes.get(sample.id))
        for run in data.runs
        for sample in data.samples
    ]
    for (name, kind), values in zip(_ANSWER.items(), zip(*rows, strict=True), strict=True):
        packer.column(name, kind, values)


def _answer(
    packer: Packer, numbers: Mapping[str, int], outcome: Outcome | None
) -> tuple[float, ...]:
    """What the columns of ``_ANSWER`` hold of one answer."""
    if outcome is None:
        return (0, 0, 0, numbers[NOT_ASKED], np.nan, np.nan)
    reply = outcome.reply
    return (
        *(packer.text(words) for words in (reply.text, reply.error or "", note_of(reply))),
        numbers[str(reply.status)],
        np.nan if outcome.cached else outcome.latency_s,
        np.nan if reply.cost_usd is None else reply.cost_usd,
    )


def note_of(reply: Reply) -> str:
    """What to know of an answer that was a reference itself."""
    if reply.withheld is None:
        return ""
    return f"reference {reply.withheld + 1}, not scored against itself"


def _add_verdicts(packer: Packer, data: ReportData) -> None:
    words = np.zeros((len(data.judges), len(data.runs), len(data.samples)), np.uint32)
    for number, judge in enumerate(data.judges):
        for row, run in enumerate(data.runs):
            said = run.judgements(judge)
            for column, sample in enumerate(data.samples):
                words[number, row, column] = packer.text(words_of(said.get(sample.id, ())))
    packer.column("verdicts", "uint32", words)


def words_of(rounds: Sequence[Judgement]) -> str:
    """What a judge said of an answer, round by round."""
    if len(rounds) == 1:
        return _said(rounds[0])
    return "\n".join(f"Round {one.repeat + 1}: {_said(one)}" for one in rounds)


def _said(one: Judgement) -> str:
    if one.status is Status.OK:
        return one.reasoning or ""
    return f"{one.status}: {one.error}" if one.error else str(one.status)
