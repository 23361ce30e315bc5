"""Gates for CI: what must hold of runs, tested one-sidedly and corrected by Holm for the gates that
are named, whatever else is in the store. A gate that could not close is an error."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self
from xml.etree import ElementTree as Xml

import numpy as np
from pydantic import Field

from audiocapbench.data.toml_file import TomlTable, read_toml
from audiocapbench.errors import ReportError
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.metrics import find_metric
from audiocapbench.scores import paired as pairing
from audiocapbench.scores.compute import ALL, corpus_means, group_samples
from audiocapbench.scores.estimate import Scorer, counted, missing_words
from audiocapbench.scores.summary import why_lacking, why_unscored
from audiocapbench.scores.table import RunTable, TableReader, labels
from audiocapbench.stats import FEWEST_FOR_INTERVAL, bootstrap
from audiocapbench.stats.multiple import Correction, corrected
from audiocapbench.stats.power import ALPHA, POWER
from audiocapbench.store import Store
from audiocapbench.table import Column, Result, Row, Table, p_words, shown
from audiocapbench.table.escape_controls import escape_line

CLIPS = 5
_NEEDS = {"margin": ["against", "margin"], "floor": ["least"], "coverage": ["least"]}
_CLAIMS = {  # where the test is sure, where it is not, and what it could show
    "not-worse": ("surely worse than", "not shown to be worse than", "a loss of {} would be seen"),
    "better": ("surely better than", "not surely better than", "a gain of {} would be seen"),
    "margin": (
        "surely not {} worse than",
        "perhaps {} worse than",
        "a true difference of {} passes",
    ),
}
_STEPS = 12
_NO_XML = {0xFFFE: "?", 0xFFFF: "?"}
RunName = Annotated[str, Field(min_length=1)] | Annotated[int, Field(ge=1)]


class Gate(TomlTable, frozen=True):
    """What must hold of runs, by number, name, tag or model (its newest, with its repeats).

    A floor must surely be "reached", or is "not-missed" unless it surely is.
    """

    kind: Literal["not-worse", "better", "margin", "floor", "coverage"]
    run: RunName | Annotated[tuple[RunName, ...], Field(min_length=1, strict=False)]
    name: str = ""
    metric: str | None = None
    judge: str | None = None
    dimension: str | None = None
    against: RunName | None = None
    margin: Annotated[float, Field(gt=0)] | None = None
    least: float | None = None
    must: Literal["reached", "not-missed"] | None = None

    def mistakes(self) -> Iterator[str]:
        needs = _NEEDS.get(self.kind, ["against"])
        for name in ("against", "margin", "least", "must"):
            given, may = getattr(self, name) is not None, name == "must" and self.kind == "floor"
            if given is not (name in needs) and not may:
                yield f"{self.kind} {'takes no' if given else 'needs'} {name}"
        named = (self.metric is not None) + (self.judge is not None)
        if named != 1 and (named or self.kind != "coverage"):
            yield "name a metric or a judge"
        if self.dimension is not None and self.judge is None:
            yield "a dimension is a judge's"

    @classmethod
    def by(cls, scorer: Scorer, **given: Any) -> Self:
        """A gate by a column of scores."""
        judge = {"judge": scorer.name, "dimension": scorer.dimension}
        return cls(**given, **(judge if scorer.dimension else {"metric": scorer.name}))

    @property
    def runs(self) -> tuple[str | int, ...]:
        return self.run if isinstance(self.run, tuple) else (self.run,)

    @property
    def scorer(self) -> Scorer | None:
        if self.metric is not None:
            return Scorer(str(find_metric(self.metric)[1]))
        return None if self.judge is None else Scorer(self.judge, self.dimension or OVERALL)

    @property
    def closes_if_sure(self) -> bool:
        """Whether what is tested closes it, or opens it."""
        return self.kind == "not-worse" or self.must == "not-missed"

    def called(self, run: str | int) -> str:
        """A name that stays from build to build, where runs are not named by number."""
        if self.name:
            return self.name if len(self.runs) == 1 else f"{self.name}: {run}"
        kind = "worse at most by" if self.kind == "margin" else self.kind
        parts = [f"{run}: {kind}", self.margin or self.least, self.against and "than"]
        by = self.scorer and f"by {self.scorer.label}"
        return " ".join(str(one) for one in (*parts, self.against, by) if one is not None)


class GateFile(TomlTable, frozen=True):
    gate: Annotated[tuple[Gate, ...], Field(min_length=1)]
    alpha: Annotated[float, Field(ge=0.0001, le=0.5)] = ALPHA

    def mistakes(self) -> Iterator[str]:
        names = Counter(gate.called(run) for gate in self.gate for run in gate.runs)
        for name in [name for name, count in names.items() if count > 1]:
            yield f"{name!r} stands there twice; give each gate a name"


def read_gates(path: Path) -> GateFile:
    return read_toml(path, GateFile, ReportError)[0]


class Case(NamedTuple):
    """A gate for one run, and what it is held against."""

    gate: Gate
    name: str
    table: RunTable
    base: RunTable | None = None


@dataclass(slots=True)
class GateFinding:
    """What became of a gate; a floor that need only not be missed may be unsure.

    ``p`` is one-sided and ``opposite`` the other way, of margins and floors; ``visible`` is how far
    from what is tested the truth must be for a power of .8 where Holm is strictest.
    """

    gate: str
    run: str
    against: str | None = None
    scorer: str | None = None
    verdict: Literal["pass", "fail", "unsure", "error"] = "error"
    known: Literal["reached", "missed", "unsure"] | None = None
    n: int = 0
    score: float | None = None
    base: float | None = None
    difference: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    opposite: float | None = None
    visible: float | None = None
    unasked: int = 0
    words: str = ""
    worse: list[Row] = field(default_factory=list)

    @property
    def line(self) -> str:
        return f"{'pass' if self.verdict == 'pass' else self.verdict.upper()} {self.words}"


@dataclass(frozen=True, repr=False)
class GateResult(Result):
    """Gates and what became of them; the smallest p is held to ``alpha`` by so many tests."""

    findings: tuple[GateFinding, ...]
    alpha: float
    tested: int

    def count(self, verdict: str) -> int:
        return sum(one.verdict == verdict for one in self.findings)

    @property
    def verdict(self) -> str:
        of = f"of {counted(len(self.findings), 'gate')}"
        if failed := self.count("fail"):
            return f"Closed: {failed} {of} failed"
        errors = self.count("error")
        return f"Not known: {errors} {of} cannot be told" if errors else f"Open: none {of} failed"

    def tables(self) -> list[Table]:
        columns = [Column("verdict"), Column("gate", wraps=True), Column("score", form=".3f")]
        columns += [Column("difference", form="+.3f"), Column("p_adjusted", "p (Holm)", "p")]
        notes = [one.line for one in self.findings]
        if self.tested:
            held = f"the smallest p is held to {self.alpha / self.tested:.2g}"
            over = f"corrected by Holm over {counted(self.tested, 'test')} and nothing else"
            notes.append(f"One-sided tests at {self.alpha:g}, {over}: {held}.")
        return [Table(self.verdict, self.records(), columns, notes), *self._worse()]

    def _worse(self) -> Iterator[Table]:
        """What lost most by gates that failed, or else by the first."""
        having = [one for one in self.findings if one.worse]
        for one in [one for one in having if one.verdict == "fail"] or having[:1]:
            rows = [
                {side: row[side]["text"] or f"({row[side]['status']})" for side in "ab"}
                | {"sample": row["id"], "from": row["a"]["score"], "to": row["b"]["score"]}
                for row in one.worse
            ]
            columns = [Column("sample"), Column("from", form=".3f"), Column("to", form=".3f")]
            sides = (("a", one.against or ""), ("b", one.run))
            columns += [Column(side, run, wraps=True) for side, run in sides]
            yield Table(f"Lost most: {one.gate}", rows, columns)

    def records(self) -> list[Row]:
        rows = [asdict(one) for one in self.findings]
        return [{name: one for name, one in row.items() if name != "worse"} for row in rows]

    def to_dict(self) -> dict[str, Any]:
        is_open = not self.count("fail") + self.count("error")
        tests = {"alpha": self.alpha, "tests": self.tested, "correction": "holm"}
        tests["level"] = self.alpha / max(self.tested, 1)
        gates = [asdict(one) for one in self.findings]
        return {"verdict": self.verdict, "open": is_open, **tests, "gates": gates}

    def junit(self) -> str:
        counts = {"tests": len(self.findings), "failures": self.count("fail")}
        counts["errors"] = self.count("error")
        suite = Xml.Element(
            "testsuite", {name: str(one) for name, one in counts.items()}, name="gate"
        )
        for one in self.findings:
            # XML takes neither controls, which are written out, nor these two.
            name, words = (escape_line(t).translate(_NO_XML) for t in (one.gate, one.line))
            case = Xml.SubElement(suite, "testcase", classname="gate", name=name)
            tags = {"fail": "failure", "error": "error", "unsure": "skipped"}
            tag = tags.get(one.verdict, "system-out")
            Xml.SubElement(case, tag).text = words
        return Xml.tostring(suite, encoding="unicode") + "\n"


def check_gates(
    store: Store, gates: Iterable[Gate], alpha: float = ALPHA, *, repeated: bool = False
) -> GateResult:
    """Test gates; models stand for their repeats, and if ``repeated``, so do runs by number."""
    reader = TableReader(store)

    @cache
    def read(run: str | int) -> RunTable:
        newest = store.run(run if isinstance(run, int) else store.run_called(run)[0])
        together = repeated or run == newest.model
        return reader.read_repeats(newest) if together else reader.read(newest)

    cases = [
        Case(gate, gate.called(run), read(run), read(gate.against) if gate.against else None)
        for gate in gates
        for run in gate.runs
    ]
    for one in cases:
        if one.base is not None and one.base.run == one.table.run:
            raise ReportError(f"{one.name}: a run is held against itself; name another")
    return check_cases(cases, alpha)


def check_cases(cases: Sequence[Case], alpha: float = ALPHA) -> GateResult:
    count = sum(one.gate.kind != "coverage" for one in cases)
    found = [_measured(one, alpha / max(count, 1)) for one in cases]
    for name, adjusted in (("p", "p_adjusted"), ("opposite", "opposite")):
        having = [one for one in found if getattr(one, name) is not None]
        values = [getattr(one, name) for one in having]
        # What cannot be told counts too, as a test that shows nothing.
        values += [1.0] * (count - len(values))
        raised = corrected(np.array(values), Correction.HOLM).tolist()
        for one, value in zip(having, raised, strict=False):
            setattr(one, adjusted, value)
    for case, one in zip(cases, found, strict=True):
        if one.p_adjusted is not None:
            _decide(case.gate, one, alpha)
    return GateResult(tuple(found), alpha, count)


def _measured(case: Case, level: float) -> GateFinding:
    """What decides a gate; coverage and errors are decided."""
    gate, table, base = case.gate, case.table, case.base
    scorer, runs = gate.scorer, [table] if base is None else [table, base]
    names = labels(runs, numbered=True)
    found = GateFinding(case.name, names[0], None if base is None else names[1])
    found.scorer = None if scorer is None else scorer.label
    try:
        if scorer is None or gate.kind == "coverage":
            _cover(found, table, scorer, gate.least or 0.0)
        elif raced := [one.race for one in runs if one.raced]:
            raise ReportError(f"runs that a race stopped cannot be tested so. {raced[0]}")
        else:
            _test(found, case, scorer, level)
    except ReportError as error:
        found.words = f"{case.name}: {error}"
    return found


def _cover(found: GateFinding, table: RunTable, scorer: Scorer | None, least: float) -> None:
    total, having, lost = table.coverage.total, table.coverage.answered, table.unanswered
    if scorer is not None:
        point = table.point(scorer)
        total, having, lost = point.coverage.total, point.n, {**point.missing}
    found.n, found.score = total, having / max(total, 1)
    found.verdict = "pass" if found.score >= least else "fail"
    what = f"{having:,} of {counted(total, 'sample')} have {found.scorer or 'an answer'}"
    why = f" ({missing_words(lost)})" if lost else ""
    found.words = f"{found.run}: {what}{why}, which is {found.score:.1%}; {least:.1%} must have."


def _test(found: GateFinding, case: Case, scorer: Scorer, level: float) -> None:
    """One-sided p-values, with room for failures that nobody has seen."""
    from scipy.special import ndtri

    gate, rounds = case.gate, max(bootstrap.SWAPS, ceil(20 / level))
    pair = _pair(found, case, scorer)
    found.n, units = pair.n, pair.clips
    few = units < FEWEST_FOR_INTERVAL or 2.0**-units >= level
    if pair.scores is None or not pair.testable or few:
        having = "with a score" if case.base is None else "in common"
        lacks = [why_lacking(one, scorer) for one in (case.table, case.base) if one is not None]
        why = "; ".join(filter(None, lacks))
        words = f"{counted(pair.n, 'sample')} {having} are too few for a gate"
        raise ReportError(words + (f" ({why})" if why else ""))
    base, found.score = pair.scores
    (sides,) = pairing.together([pair])
    rows, other = sides.runs.transpose(1, 0, 2)[sides.pairs[0]]
    made, clips = sides.alone, pair.clusters
    if case.base is None:  # it stands beside one that scores nothing
        value, center, other = gate.least or 0.0, found.score, np.zeros_like(rows)
        means = corpus_means(rows.mean(axis=0), len(pair.group.weights))
        made = pair.group.aggregate_of(scorer, means, as_zero=True)
    else:
        value, center = -(gate.margin or 0.0), found.score - base
        found.base, found.difference = base, center
    systems = np.stack([rows, other], axis=1)
    (spread,) = bootstrap.paired_spreads(systems, bootstrap.ONE_PAIR, made, clips).tolist()
    most, second = scorer.max_value, None if case.base is None else other
    runs = [one for one in (case.table, case.base) if one is not None]
    least = min(min(one.sample_scores(scorer).values.values()) for one in runs)
    lowest = -most if least < 0 else 0.0
    how = bootstrap.Resampling(clusters=clips, bounds=(lowest, most))
    test = partial(bootstrap.one_sided, rows, made, second=second, **how)
    own, opposite = (1, 0) if gate.closes_if_sure else (0, 1)
    both = test(value, rounds=rounds)
    found.p, found.opposite = both[own], both[opposite]
    # How far from a value it is told from it, and further for the power.
    low, high = 0.0, most if gate.closes_if_sure else -most
    for _ in range(_STEPS):
        middle = (low + high) / 2
        sure = test(center + middle, rounds=rounds // 5)[own] < level
        low, high = (low, middle) if sure else (middle, high)
    seen = abs(high) + float(ndtri(POWER)) * spread / units**0.5
    found.visible = seen if seen < most else None
    found.unasked = case.table.coverage.not_asked


def _pair(found: GateFinding, case: Case, scorer: Scorer) -> pairing.PairedScores:
    """Two runs, or one beside itself with its failures as 0, as models are ranked."""
    base, table, notes = case.base, case.table, list[str]()
    if base is None:
        if not table.signature(scorer):
            raise ReportError(why_unscored(table, scorer))
        return pairing.PairedScores(scorer, table.group(scorer), table, table, as_zero=True)
    samples, _ = pairing.common_samples(base, table)
    metrics, judges = ((), (scorer.name,)) if scorer.dimension else ((scorer.name,), ())
    if scorer not in pairing.common_scorers(base, table, metrics, judges, notes):
        raise ReportError(" ".join(notes) or f"{scorer.name} has no {scorer.dimension}")
    group = group_samples(samples, base.aggregation)[ALL].asked_by(scorer, base.aggregation)
    pair = pairing.PairedScores(scorer, group, base, table)
    moved = pairing.moved_samples(base, table, scorer, samples) if pair.testable else ()
    found.worse = [row for row in moved if row["difference"] < 0][:CLIPS]
    return pair


def _decide(gate: Gate, found: GateFinding, alpha: float) -> None:
    p, opposite = found.p_adjusted or 0.0, found.opposite or 0.0
    sure, form = p < alpha, ".3f" if gate.judge is None else ".2f"
    found.verdict = "fail" if sure is gate.closes_if_sure else "pass"
    score, visible = shown(found.score, form), shown(found.visible, form)
    if gate.kind == "floor":
        above, below = (opposite, p) if gate.closes_if_sure else (p, opposite)
        found.known = "reached" if above < alpha else "missed" if below < alpha else "unsure"
        if (sure := found.known != "unsure") is False and gate.closes_if_sure:
            found.verdict = "unsure"
        side = "under" if (found.score or 0.0) < (gate.least or 0.0) else "above"
        claimed = below if side == "under" else above
        claim = f"{'surely' if sure else 'not surely'} {side} {gate.least}"
        power = f"{{}} {'under' if gate.closes_if_sure else 'above'} it would be seen"
    else:
        claimed, (is_so, is_not, power) = p, _CLAIMS[gate.kind]
        claim = f"{(is_so if sure else is_not).format(gate.margin)} {found.against}"
        score = f"{shown(found.difference, f'+{form}')}, now {score}"
        if gate.margin is not None and found.visible is not None:
            visible = shown(found.visible - gate.margin, f"+{form}")
    seen = f"; {power.format(visible)} ({POWER:.0%})" if found.visible else ""
    if found.unasked:
        seen += f"; {found.unasked:,} of its samples were not asked"
    about = f"{score} on {counted(found.n, 'sample')}, {p_words(claimed)}"
    found.words = f"{found.scorer}: {found.run} is {claim} ({about}){seen}."
