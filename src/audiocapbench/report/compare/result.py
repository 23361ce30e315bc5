"""A comparison of runs: tables and a paragraph for people, records for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from audiocapbench.files import read_lists
from audiocapbench.scores.estimate import Scorer, counted
from audiocapbench.signature import Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval
from audiocapbench.stats.bootstrap import SWAPS
from audiocapbench.stats.multiple import Correction
from audiocapbench.stats.power import ALPHA, POWER
from audiocapbench.store import Run
from audiocapbench.table import Column, Result, Row, Table, p_words, shown, signature_notes

ALL = "all"
_NOTES: dict[str, str] = read_lists("audiocapbench.report", "notes.toml")["comparison"]
LONGEST, LONGEST_IN_A_FILE = 600, 200
"""Characters of an answer on a terminal, which wraps it, and in a table of a page."""

_COLUMNS = (
    "benchmark run_a run_b model_a model_b scorer category n score_a score_b difference low high "
    "p p_adjusted effect detectable unit as_zero failed_a failed_b correction"
).split()


@dataclass(slots=True)
class Difference:
    """One scorer on all common samples, or on those of a category: the second run less the first.

    ``n`` samples are settled in both; where not the same ones failed, failures count ``as_zero``.
    ``p`` is two-sided, ``p_adjusted`` for all rows; None where so few samples could show nothing.
    ``effect`` is in standard deviations (``sd``) of samples' differences; ``detectable`` is what so
    many clips show in four of five cases, at the corrected level.
    """

    scorer: Scorer
    category: str
    n: int
    a: float | None
    b: float | None
    difference: float | None
    ci: Interval | None = None
    p: float | None = None
    p_adjusted: float | None = None
    sd: float | None = None
    effect: float | None = None
    detectable: float | None = None
    clips: int = 0
    unit: str = "samples"
    failed_a: int = 0
    failed_b: int = 0
    as_zero: bool = False

    @property
    def about(self) -> str:
        return f"{self.clips if self.unit == 'clips' else self.n:,} {self.unit}"


class PairVerdict(NamedTuple):
    """A sentence, and the place of the one that it calls better, if any."""

    words: str
    best: int | None = None


@dataclass(frozen=True, repr=False)
class ComparisonResult(Result):
    """Two runs side by side, on so many ``common`` samples that mean the same in both.

    Others are ``left_out``. ``differences`` are on all samples, then by category; ``moved`` has the
    samples that moved most by the headline, as JSON objects. Answers are shown up to ``longest``.
    ``race`` is what is known of runs that one stopped; ``more`` compares others with the first run.
    """

    first: Run
    second: Run
    names: Sequence[str]
    common: int
    left_out: dict[str, int]
    headline: Scorer
    differences: tuple[Difference, ...]
    moved: tuple[Row, ...]
    signatures: dict[str, Signature]
    correction: Correction = Correction.HOLM
    notes: tuple[str, ...] = ()
    longest: int = LONGEST
    race: str = ""
    more: tuple["ComparisonResult", ...] = field(default=())
    gates: dict[str, Any] | None = None
    compared: int = 1  # runs, over which the headline is corrected

    @property
    def every(self) -> tuple["ComparisonResult", ...]:
        return (self, *self.more)

    @property
    def verdict(self) -> PairVerdict:
        """What is known by the headline."""
        if self.race:
            return PairVerdict(self.race)
        several = f"{self.correction.words}, {self.compared} tests"
        tests = several if self.compared > 1 else "one test"
        return pair_verdict(self.names, self.differences[0], tests)

    def tables(self) -> list[Table]:
        if self.more:
            return [_against(self)]
        tables = [_differences(self), _by_category(self), _moved(self)]
        return [one for one in tables if one.rows]

    def records(self) -> list[Row]:
        """A row for each scorer on all samples and on each category; unrounded."""
        rows: list[Row] = []
        for one in self.every:
            runs: Row = {"benchmark": one.first.benchmark, "correction": str(one.correction)}
            for side, run in zip("ab", (one.first, one.second), strict=True):
                runs |= {f"run_{side}": run.id, f"model_{side}": run.model}
            for row in map(_row, one.differences):
                whole = {**runs, **row, "score_a": row["a"], "score_b": row["b"]}
                rows.append({name: whole[name] for name in _COLUMNS})
        return rows

    def to_dict(self) -> dict[str, Any]:
        verdict = self.verdict
        return {
            "verdict": verdict.words,
            "better": None if verdict.best is None else "ab"[verdict.best],
            "benchmark": self.first.benchmark,
            "a": {"run": self.first.id, "model": self.first.model, "name": self.names[0]},
            "b": {"run": self.second.id, "model": self.second.model, "name": self.names[1]},
            "common": self.common,
            **self.left_out,
            "headline": self.headline.label,
            "differences": [_document(one) for one in self.differences],
            "moved": list(self.moved),
            "signatures": {name: str(one) for name, one in self.signatures.items()},
            "correction": str(self.correction),
            "test": "permutation",
            "notes": list(self.notes),
            **({"others": [one.to_dict() for one in self.more]} if self.more else {}),
            **({} if self.gates is None else {"gates": self.gates}),
        }

    def paper(self) -> str:
        """A paragraph to paste: what was compared and found, how it was tested, and signatures."""
        said = []
        for one in self.every:
            on = "" if one.race else f"On {one.first.benchmark}, "
            said.append(f"{on}{one.verdict.words}")
            whole = [row for row in one.differences if row.category == ALL and row.n]
            told = (f"{row.scorer.label} {_found(row)}" for row in whole)
            said.append(
                f"{one.names[0]} and {one.names[1]} have, with B less A: {'; '.join(told)}."
            )
        rows = [row for one in self.every for row in one.differences if row.category == ALL]
        if failed := sum(row.failed_a + row.failed_b for row in rows[:1]):
            said.append(f"{counted(failed, 'answer')} that failed count as 0.")
        if any(row.p_adjusted is not None for row in rows):
            said.append(_NOTES["paper"].format(swaps=SWAPS, correction=self.correction.words))
        signed = {str(one) for each in self.every for one in each.signatures.values()}
        return " ".join([*said, f"Signatures: {'; '.join(sorted(signed))}."])


def pair_verdict(names: Sequence[str], row: Difference, tests: str) -> PairVerdict:
    """What is known of two models by a score; ``tests`` is what its p is corrected for."""
    (first, second), label, about = names, row.scorer.label, row.about
    difference, p, interval = row.difference, row.p_adjusted, row.ci
    if difference is None or p is None:
        few = f"too few samples for a test, which takes {FEWEST_FOR_INTERVAL}"
        return PairVerdict(f"{first} and {second} were not tested by {label} on {about}: {few}.")
    form = f".{row.scorer.digits}f"
    if p < ALPHA and difference:
        best, worst = (second, first) if difference > 0 else (first, second)
        ends = interval if difference > 0 or interval is None else (-interval[1], -interval[0])
        span = "" if ends is None else f"{ends[0]:{form}} to {ends[1]:{form}}, "
        by = f"by {abs(difference):{form}} ({span}{p_words(p)}, {tests})"
        words = f"{best} beats {worst} {by} in {label} on {about}."
        return PairVerdict(words, int(difference > 0))
    span = ""  # one that is not corrected may leave out the 0 that the corrected test cannot
    if interval is not None and interval[0] <= 0 <= interval[1]:
        span = f", {interval[0]:+z{form}} to {interval[1]:+z{form}}"
    known = f"{difference:+z{form}}{span}, {p_words(p)}, {tests}"
    words = f"{first} and {second} cannot be told apart by {label} on {about} ({known})"
    if row.detectable:
        words += f"; a difference above {row.detectable:{form}} would have been seen ({POWER:.0%})"
    return PairVerdict(f"{words}.")


def _found(row: Difference) -> str:
    form = f".{row.scorer.digits}f"
    span = "" if row.ci is None else f", {row.ci.low:+{form}} to {row.ci.high:+{form}}"
    p = "" if row.p_adjusted is None else f", {p_words(row.p_adjusted)}"
    return f"{row.a:{form}} and {row.b:{form}} ({row.difference:+{form}}{span}{p})"


def _row(one: Difference) -> dict[str, Any]:
    low, high = one.ci or (None, None)
    return _document(one) | {"low": low, "high": high, "digits": one.scorer.digits}


def _document(one: Difference) -> dict[str, Any]:
    return asdict(one) | {"scorer": one.scorer.label, "ci": list(one.ci) if one.ci else None}


def _notes(comparison: ComparisonResult) -> list[str]:
    headline = comparison.differences[0]
    scored = f"{headline.n:,} of them with {headline.scorer.label}"
    said = [f"{counted(comparison.common, 'sample')} in common; {scored}."]
    words = ("were asked in A only", "were asked in B only", "are not the same in A and B")
    counts = zip(comparison.left_out.values(), words, strict=True)
    left_out = [f"{count:,} {what}" for count, what in counts if count]
    said += [f"Left out: {', '.join(left_out)}."] if left_out else []
    signatures = signature_notes(comparison.signatures.values())
    return [*said, *_how([comparison]), *comparison.notes, *signatures]


def _how(comparisons: Sequence[ComparisonResult]) -> Iterator[str]:
    named = [
        ("B" if len(comparisons) == 1 else f"run {own.second.id}", row)
        for own in comparisons
        for row in own.differences
    ]
    failing = {name: row for name, row in reversed(named) if row.as_zero and row.category == ALL}
    for other, one in reversed(failing.items()):
        failed = f"{one.failed_a:,} in A and {one.failed_b:,} in {other}"
        yield f"Not the same samples failed ({failed} by {one.scorer.label}): failures count as 0."
    if any(row.p_adjusted is not None for _, row in named):
        yield _NOTES["how"].format(corrected=_corrected(comparisons[0]), power=POWER)


def _corrected(comparison: ComparisonResult) -> str:
    return f"p ({comparison.correction.words.partition(' ')[0]})"


def _columns(comparison: ComparisonResult) -> list[Column]:
    number, signed = ":.{digits}f}", ":+.{digits}f}"
    return [
        Column("scorer", "score"),
        Column("n", importance=3),
        Column("a", "A", "{a" + number),
        Column("b", "B", "{b" + number),
        Column("difference", "B − A", "{difference" + signed),
        Column("ci", "95 %", "{low" + signed + " to {high" + signed, folds=True),
        Column("p", form="p", importance=4),
        Column("p_adjusted", _corrected(comparison), "p"),
        Column("effect", form="+.2f", importance=2),
        Column("detectable", "visible", "{detectable" + number, importance=1),
    ]


def _differences(comparison: ComparisonResult) -> Table:
    rows = [_row(one) for one in comparison.differences if one.category == ALL]
    first, second = comparison.first, comparison.second
    sides = f"A = run {first.id} ({first.model}) to B = run {second.id} ({second.model})"
    said = [comparison.verdict.words]
    title, columns = f"{sides}: B less A", _columns(comparison)
    return Table(title, rows, columns, _notes(comparison), verdicts=said)


def _against(first: ComparisonResult) -> Table:
    """One run against several: a row for each of them and each scorer."""
    rows = [
        _row(row) | {"run": one.second.id, "model": one.second.model}
        for one in first.every
        for row in one.differences
        if row.category == ALL
    ]
    columns = [Column("run"), Column("model"), *_columns(first)]
    base = f"A = run {first.first.id} ({first.first.model}) to {counted(len(first.every), 'run')}"
    notes = [*_how(first.every), *dict.fromkeys(note for one in first.every for note in one.notes)]
    notes += signature_notes(first.signatures.values())
    said = [one.verdict.words for one in first.every]
    return Table(f"{base}: B less A", rows, columns, notes, verdicts=said)


def _by_category(comparison: ComparisonResult) -> Table:
    """Scorers down, categories across: there are too many rows to read one below the other."""
    parts = [one for one in comparison.differences if one.category != ALL]
    counts: dict[str, int] = {}
    rows: dict[str, Row] = {}
    for one in parts:
        counts[one.category] = max(one.n, counts.get(one.category, 0))
        row = rows.setdefault(one.scorer.label, {"score": one.scorer.label})
        is_sure = one.p_adjusted is not None and one.p_adjusted < ALPHA
        mark = "" if one.difference is None else "*" if is_sure else " "
        row[f"in {one.category}"] = shown(one.difference, f"+.{one.scorer.digits}f") + mark
    columns = [
        Column("score"),
        *(Column(f"in {one}", f"{one} ({n:,})", align="right") for one, n in counts.items()),
    ]
    tested = sum(one.p_adjusted is not None for one in parts)
    how = {"correction": comparison.correction.words, "tests": counted(tested, "test")}
    note = _NOTES["by_category"].format(alpha=ALPHA, **how)
    title = "B less A by category (number of samples)"
    return Table(title, list(rows.values()), columns, [note] * (tested > 0))


def _moved(comparison: ComparisonResult) -> Table:
    form, longest = f".{comparison.headline.digits}f", comparison.longest
    rows: list[Row] = []
    for one in comparison.moved:
        answers = []
        for side in "ab":
            text = " ".join(one[side]["text"].split())
            cut = text if len(text) <= longest else f"{text[:longest]}…"
            answers.append(f"{side.upper()}: {cut or '(' + one[side]['status'] + ')'}")
        scores = {"from": one["a"]["score"], "to": one["b"]["score"]}
        rows += [one | scores | {"answers": answers[0]}, {"answers": answers[1]}]
    columns = (
        Column("id", "sample"),
        Column("category", importance=1),
        Column("difference", "B − A", f"+{form}"),
        Column("score", form=f"{{from:{form}}} to {{to:{form}}}", folds=True),
        Column("answers", wraps=True),
    )
    return Table(f"Moved most in {comparison.headline.label}", rows, columns)
