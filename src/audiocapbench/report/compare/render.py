"""A comparison of two runs as tables for people, as records for programs, and as a gate for CI."""

from collections.abc import Callable
from typing import Any

from audiocapbench.errors import ReportError, meant
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report.compare.compute import (
    ALL,
    AnswerScore,
    Comparison,
    Difference,
    SampleChange,
)
from audiocapbench.report.exports import Align, Heading, Page, Record
from audiocapbench.scores.estimate import counted
from audiocapbench.stats import FEWEST_FOR_INTERVAL
from audiocapbench.stats.power import ALPHA, POWER

LONGEST, LONGEST_IN_A_FILE = 600, 200
"""Characters of an answer on a terminal, which wraps it, and in a table of a page."""

_LEFT: Align = "left"
_COLUMNS = (
    "benchmark run_a run_b model_a model_b scorer category n score_a score_b difference low high "
    "p p_adjusted effect detectable samples_needed needed_unit correction"
).split()


def pages(comparison: Comparison, longest: int = LONGEST) -> list[Page]:
    """Differences on all samples and by category, and what moved; answers are cut at a length."""
    whole = [one for one in comparison.differences if one.category == ALL]
    parts = [one for one in comparison.differences if one.category != ALL]
    title = f"{_named(comparison, 0)} to {_named(comparison, 1)}: B less A"
    found = [_differences(title, whole, comparison)]
    if parts:
        found.append(_by_category(parts, comparison))
    if comparison.moved:
        found.append(_moved(comparison, longest))
    return found


def notes(comparison: Comparison) -> tuple[str, ...]:
    """What a reader must know: what the test found, the samples, and what they could show."""
    common, total = comparison.common, len(comparison.common.samples)
    headline = comparison.differences[0]
    scored = f"{headline.n:,} of them with {headline.scorer.label}"
    said = [_verdict(comparison), f"{counted(total, 'sample')} in common; {scored}."]
    left_out = [
        f"{count:,} {words}"
        for count, words in (
            (common.only_first, "were asked in A only"),
            (common.only_second, "were asked in B only"),
            (common.changed, "are not the same in A and B"),
        )
        if count
    ]
    if left_out:
        said.append(f"Left out: {', '.join(left_out)}.")
    if headline.detectable is not None:
        label, digits, needed = headline.scorer.label, headline.scorer.digits, ""
        if headline.needed is not None:
            found = _signed(headline.difference, digits)
            needed = f"; to see one of {found} would take {headline.needed:,} {_unit(headline)}"
        said.append(
            f"These samples could show a difference of {headline.detectable:.{digits}f} in {label} "
            f"(power {POWER:g}, alpha {ALPHA:g}){needed}."
        )
    if any(one.p_value is not None for one in comparison.differences):
        said.append(
            f"p: paired permutation; {_corrected(comparison)}: corrected over the rows of the "
            "table, where a leaderboard corrects over its pairs of models; "
            "95 %: paired, by bootstrap-t, of shares by Bonett and Price; "
            "effect: difference in standard deviations of the differences; "
            "visible: the smallest difference that so many samples could show."
        )
    said += comparison.notes
    said += [f"Signature: {signature}" for signature in comparison.signatures.values()]
    return tuple(said)


def _verdict(comparison: Comparison) -> str:
    """Whether the difference is real, by the first scorer."""
    one = comparison.differences[0]
    if one.adjusted is None or one.difference is None:
        few = f"too few {_unit(one)} for a test, which takes {FEWEST_FOR_INTERVAL}"
        return f"{one.scorer.label}: {few}."
    better = f"{'AB'[one.difference > 0]} is better"
    found = better if one.adjusted < ALPHA else "A and B cannot be told apart"
    by = f"{_signed(one.difference, one.scorer.digits)}, {_corrected(comparison)}"
    return f"{one.scorer.label}: {found} ({by} {_probability(one.adjusted)})."


def records(comparison: Comparison) -> list[Record]:
    """A row for each scorer on all samples and on each category; unrounded."""
    one, other = comparison.first, comparison.second
    runs = {
        "benchmark": one.benchmark,
        "run_a": one.id,
        "run_b": other.id,
        "model_a": one.model,
        "model_b": other.model,
        "correction": str(comparison.correction),
    }
    rows: list[Record] = []
    for found in map(_document, comparison.differences):
        low, high = found.pop("ci") or (None, None)
        scores = {"score_a": found.pop("a"), "score_b": found.pop("b")}
        whole = {**runs, **found, **scores, "low": low, "high": high}
        rows.append({name: whole[name] for name in _COLUMNS})
    return rows


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as a JSON object."""
    common = comparison.common
    return {
        "benchmark": comparison.first.benchmark,
        "a": {"run": comparison.first.id, "model": comparison.first.model},
        "b": {"run": comparison.second.id, "model": comparison.second.model},
        "common": len(common.samples),
        "only_a": common.only_first,
        "only_b": common.only_second,
        "changed": common.changed,
        "headline": comparison.headline.label,
        "differences": [_document(one) for one in comparison.differences],
        "moved": [_moved_document(one) for one in comparison.moved],
        "signatures": {name: str(one) for name, one in comparison.signatures.items()},
        "correction": str(comparison.correction),
        "notes": list(comparison.notes),
    }


def _document(one: Difference) -> dict[str, Any]:
    return {
        "scorer": one.scorer.label,
        "category": one.category,
        "n": one.n,
        "a": one.first,
        "b": one.second,
        "difference": one.difference,
        "ci": list(one.interval) if one.interval else None,
        "p": one.p_value,
        "p_adjusted": one.adjusted,
        "effect": one.effect,
        "detectable": one.detectable,
        "samples_needed": one.needed,
        "needed_unit": _unit(one),
    }


def _moved_document(one: SampleChange) -> dict[str, Any]:
    return {
        "id": one.sample.id,
        "category": one.sample.category,
        "file_name": one.sample.clip.file_name,
        "references": list(one.sample.references),
        "difference": one.difference,
        "a": one.first._asdict(),
        "b": one.second._asdict(),
    }


def _unit(one: Difference) -> str:
    """What is counted as one piece of evidence."""
    return "clips" if one.by_clip else "samples"


def _corrected(comparison: Comparison) -> str:
    return f"p ({comparison.correction.words.partition(' ')[0]})"


def _named(comparison: Comparison, side: int) -> str:
    run = (comparison.first, comparison.second)[side]
    return f"{'AB'[side]} = run {run.id} ({run.model})"


def _differences(title: str, rows: list[Difference], comparison: Comparison) -> Page:
    columns: list[tuple[Heading, Callable[[Difference], str]]] = [
        (Heading("score", _LEFT), lambda one: one.scorer.label),
        (Heading("n"), lambda one: f"{one.n:,}"),
        (Heading("A"), lambda one: one.scorer.shown(one.first)),
        (Heading("B"), lambda one: one.scorer.shown(one.second)),
        (Heading("B − A"), lambda one: _signed(one.difference, one.scorer.digits)),
        (Heading("95 %", folds=True), _interval),
        (Heading("p"), lambda one: _probability(one.p_value)),
        (Heading(_corrected(comparison)), lambda one: _probability(one.adjusted)),
        (Heading("effect"), lambda one: _signed(one.effect, 2)),
        (Heading("visible"), lambda one: one.scorer.shown(one.detectable)),
    ]
    cells = tuple(tuple(shown(one) for _, shown in columns) for one in rows)
    return Page(title, tuple(heading for heading, _ in columns), cells, notes(comparison))


def _interval(one: Difference) -> str:
    return " to ".join(_signed(end, one.scorer.digits) for end in one.interval or ())


def _by_category(rows: list[Difference], comparison: Comparison) -> Page:
    """Scorers down, categories across: there are too many rows to read one below the other."""
    counts: dict[str, int] = {}
    for one in rows:
        counts[one.category] = max(one.n, counts.get(one.category, 0))
    by_scorer: dict[str, dict[str, Difference]] = {}
    for one in rows:
        by_scorer.setdefault(one.scorer.label, {})[one.category] = one
    tested = sum(one.adjusted is not None for one in rows)
    headings = (
        Heading("score", _LEFT),
        *(Heading(f"{name} ({count:,})") for name, count in counts.items()),
    )
    cells = tuple(
        (label, *(_marked(found[name]) for name in counts)) for label, found in by_scorer.items()
    )
    note = (
        f"*: p below {ALPHA:g}, corrected by {comparison.correction.words} over the {tested} "
        "tests of this table. Intervals and p-values of all are in --format csv and json."
    )
    return Page("B less A by category (number of samples)", headings, cells, (note,) * (tested > 0))


def _marked(one: Difference) -> str:
    if one.difference is None:
        return "–"
    mark = "*" if one.adjusted is not None and one.adjusted < ALPHA else " "
    return f"{_signed(one.difference, one.scorer.digits)}{mark}"


def _moved(comparison: Comparison, longest: int) -> Page:
    digits = comparison.headline.digits
    rows = []
    for one in comparison.moved:
        scores = f"{one.first.score:.{digits}f} to {one.second.score:.{digits}f}"
        head = (one.sample.id, one.sample.category, f"{one.difference:+.{digits}f}", scores)
        rows += [
            (*head, f"A: {_said(one.first, longest)}"),
            ("", "", "", "", f"B: {_said(one.second, longest)}"),
        ]
    headings = (
        Heading("sample", _LEFT),
        Heading("category", _LEFT),
        Heading("B − A"),
        Heading("score"),
        Heading("answers", _LEFT),
    )
    title = f"Moved most in {comparison.headline.label}"
    return Page(title, headings, tuple(rows), wraps=True)


def _said(answer: AnswerScore, longest: int) -> str:
    line = " ".join(answer.text.split())
    if not line:
        return f"({answer.status})"
    return line if len(line) <= longest else f"{line[:longest]}…"


def _signed(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:+.{digits}f}"


def _probability(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


def worse(comparison: Comparison, name: str) -> tuple[bool, str]:
    """Whether the second run is worse by a metric, or a judge's overall score; and the words.

    Scores are compared where both runs have one; that one fails more often is a test of its own.

    Raises:
        ReportError: Nothing was compared by that name, or on so few samples that nothing could be
            seen: a gate that cannot close is no gate.
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
            f"the runs were not compared by {name!r}{meant(name, rows, 'they were by')}"
        )
    if found.adjusted is None or found.difference is None:
        raise ReportError(f"{name}: {found.n:,} common samples are too few to test a difference")
    shown = f"{name}: {found.difference:+.3g}, p = {found.adjusted:.3g}"
    if found.difference < 0 and found.adjusted < ALPHA:
        return True, f"FAIL {shown}: run {comparison.second.id} is worse."
    lost, gained = found.lost, found.gained
    if lost > gained and (p := 2 * float(bdtr(gained, lost + gained, 0.5))) < ALPHA:
        more = f"has no {name} for {lost:,} samples that run {comparison.first.id} has one for"
        return True, f"FAIL {name}: run {comparison.second.id} {more}, p = {p:.3g}."
    least = f"; a loss of {found.detectable:.2g} would be seen" if found.detectable else ""
    return False, f"pass {shown}: run {comparison.second.id} is not shown to be worse{least}."
