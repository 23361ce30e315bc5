"""A comparison of two runs: tables for people, records for programs, and a gate for CI."""

from dataclasses import asdict, dataclass
from typing import Any

from audiocapbench.errors import ReportError, did_you_mean
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.scores.estimate import Scorer, counted
from audiocapbench.signature import Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval
from audiocapbench.stats.multiple import Correction
from audiocapbench.stats.power import ALPHA, POWER
from audiocapbench.store import Run
from audiocapbench.table import Column, Result, Row, Table, shown, signature_notes

ALL = "all"
LONGEST, LONGEST_IN_A_FILE = 600, 200
"""Characters of an answer on a terminal, which wraps it, and in a table of a page."""

_COLUMNS = (
    "benchmark run_a run_b model_a model_b scorer category n score_a score_b difference low high "
    "p p_adjusted effect detectable samples_needed needed_unit correction"
).split()


@dataclass(slots=True)
class Difference:
    """One scorer on all common samples, or on those of a category: the second run less the first.

    Both have a score of ``n`` samples, only the first of those ``lost``, the second of ``gained``
    ones. ``p`` is two-sided, by paired permutation, ``p_adjusted`` for all scorers and categories;
    None where so few samples could show nothing. ``effect`` is in standard deviations of samples'
    differences; ``detectable`` is what they show in four of five cases, ``samples_needed`` what it
    would take to see the difference, in clips where some have several.
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
    effect: float | None = None
    detectable: float | None = None
    samples_needed: int | None = None
    needed_unit: str = "samples"
    lost: int = 0
    gained: int = 0


@dataclass(frozen=True, repr=False)
class ComparisonResult(Result):
    """Two runs side by side, on so many ``common`` samples that mean the same in both.

    Others are ``left_out``. ``differences`` are on all samples, then by category; ``moved`` has the
    samples that moved most by the headline, as JSON objects. Answers are shown up to ``longest``.
    """

    first: Run
    second: Run
    common: int
    left_out: dict[str, int]
    headline: Scorer
    differences: tuple[Difference, ...]
    moved: tuple[Row, ...]
    signatures: dict[str, Signature]
    correction: Correction
    notes: tuple[str, ...]
    longest: int = LONGEST

    @property
    def comparison(self) -> "ComparisonResult":
        """The same, as earlier versions had it."""
        return self

    def tables(self) -> list[Table]:
        tables = [_differences(self), _by_category(self), _moved(self)]
        return [one for one in tables if one.rows]

    def records(self) -> list[Row]:
        """A row for each scorer on all samples and on each category; unrounded."""
        one, other = self.first, self.second
        runs: Row = {"benchmark": one.benchmark, "run_a": one.id, "run_b": other.id}
        runs |= {"model_a": one.model, "model_b": other.model}
        runs["correction"] = str(self.correction)
        rows: list[Row] = []
        for row in map(_document, self.differences):
            low, high = row["ci"] or (None, None)
            ends = {"score_a": row["a"], "score_b": row["b"], "low": low, "high": high}
            whole = {**runs, **row, **ends}
            rows.append({name: whole[name] for name in _COLUMNS})
        return rows

    def to_dict(self) -> dict[str, Any]:
        return {
            "benchmark": self.first.benchmark,
            "a": {"run": self.first.id, "model": self.first.model},
            "b": {"run": self.second.id, "model": self.second.model},
            "common": self.common,
            **self.left_out,
            "headline": self.headline.label,
            "differences": [_document(one) for one in self.differences],
            "moved": list(self.moved),
            "signatures": {name: str(one) for name, one in self.signatures.items()},
            "correction": str(self.correction),
            "notes": list(self.notes),
        }


def _document(one: Difference) -> dict[str, Any]:
    row = asdict(one) | {"scorer": one.scorer.label, "ci": list(one.ci) if one.ci else None}
    return {name: value for name, value in row.items() if name not in ("lost", "gained")}


def _notes(comparison: ComparisonResult) -> list[str]:
    headline = comparison.differences[0]
    scored = f"{headline.n:,} of them with {headline.scorer.label}"
    verdict = f"too few {headline.needed_unit} for a test, which takes {FEWEST_FOR_INTERVAL}"
    if headline.p_adjusted is not None and headline.difference is not None:
        verdict = f"{'AB'[headline.difference > 0]} is better"
        if headline.p_adjusted >= ALPHA:
            verdict = "A and B cannot be told apart"
        by = f"{headline.difference:+.{headline.scorer.digits}f}, {_corrected(comparison)}"
        verdict += f" ({by} {shown(headline.p_adjusted, 'p')})"
    said = [f"{headline.scorer.label}: {verdict}."]
    said.append(f"{counted(comparison.common, 'sample')} in common; {scored}.")
    words = ("were asked in A only", "were asked in B only", "are not the same in A and B")
    counts = zip(comparison.left_out.values(), words, strict=True)
    left_out = [f"{count:,} {what}" for count, what in counts if count]
    if left_out:
        said.append(f"Left out: {', '.join(left_out)}.")
    if headline.detectable is not None:
        label, digits, needed = headline.scorer.label, headline.scorer.digits, ""
        if headline.samples_needed is not None:
            found = shown(headline.difference, f"+.{digits}f")
            count = f"{headline.samples_needed:,} {headline.needed_unit}"
            needed = f"; to see one of {found} would take {count}"
        said.append(
            f"These samples could show a difference of {headline.detectable:.{digits}f} in {label} "
            f"(power {POWER:g}, alpha {ALPHA:g}){needed}."
        )
    if any(one.p is not None for one in comparison.differences):
        said.append(
            f"p: paired permutation; {_corrected(comparison)}: corrected over the rows of the "
            "table, where a leaderboard corrects over its pairs of models; "
            "95 %: paired, by bootstrap-t, of shares by Bonett and Price; "
            "effect: difference in standard deviations of the differences; "
            "visible: the smallest difference that so many samples could show."
        )
    said += comparison.notes
    return said + signature_notes(comparison.signatures.values())


def _corrected(comparison: ComparisonResult) -> str:
    return f"p ({comparison.correction.words.partition(' ')[0]})"


def _differences(comparison: ComparisonResult) -> Table:
    number, signed = ":.{digits}f}", ":+.{digits}f}"
    columns = [
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
    rows = []
    for one in comparison.differences:
        if one.category == ALL:
            low, high = one.ci or (None, None)
            rows.append(_document(one) | {"low": low, "high": high, "digits": one.scorer.digits})
    first, second = comparison.first, comparison.second
    sides = f"A = run {first.id} ({first.model}) to B = run {second.id} ({second.model})"
    return Table(f"{sides}: B less A", rows, columns, _notes(comparison))


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
    note = (
        f"*: p below {ALPHA:g}, corrected by {comparison.correction.words} over the "
        f"{counted(tested, 'test')} of this table. "
        "Intervals and p-values of all are in --format csv and json."
    )
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


def worse(comparison: ComparisonResult, name: str) -> tuple[bool, str]:
    """Whether the second run is worse by a metric, or a judge's overall score; and the words.

    Scores are compared where both runs have one; that one fails more often is a test of its own.
    Too few samples to see anything are an error: a gate that cannot close is no gate.
    """
    from scipy.special import bdtr

    rows = {
        one.scorer.name: one
        for one in comparison.differences
        if one.category == ALL and one.scorer.dimension in (None, OVERALL)
    }
    found = rows.get(name)
    if found is None:
        raise ReportError(
            f"the runs were not compared by {name!r}{did_you_mean(name, rows, 'they were by')}"
        )
    if found.p_adjusted is None or found.difference is None:
        raise ReportError(f"{name}: {found.n:,} common samples are too few to test a difference")
    shown = f"{name}: {found.difference:+.3g}, p = {found.p_adjusted:.3g}"
    if found.difference < 0 and found.p_adjusted < ALPHA:
        return True, f"FAIL {shown}: run {comparison.second.id} is worse."
    lost, gained = found.lost, found.gained
    if lost > gained and (p := 2 * float(bdtr(gained, lost + gained, 0.5))) < ALPHA:
        more = f"has no {name} for {lost:,} samples that run {comparison.first.id} has one for"
        return True, f"FAIL {name}: run {comparison.second.id} {more}, p = {p:.3g}."
    least = f"; a loss of {found.detectable:.2g} would be seen" if found.detectable else ""
    return False, f"pass {shown}: run {comparison.second.id} is not shown to be worse{least}."
