"""Checks submissions: what can be computed here is computed anew, and must be what they say.

That is every metric that needs the texts alone, the judge ``elements``, and the sums of a judge's
words where they are there. Any other score is a claim: it is shown as one, and never ranked.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from audiocapbench.engine import score_run
from audiocapbench.engine.runner import dataset_of
from audiocapbench.errors import MetricError, ReportError
from audiocapbench.judges.aggregation import MAX_VALUE
from audiocapbench.judges.executor import judge_run
from audiocapbench.judges.registry import create_judge
from audiocapbench.metrics import METRICS
from audiocapbench.report.page.report_data import ReportRun, gather, stored_summaries
from audiocapbench.report.site.submission import ScoreClaim, Submission, skeleton
from audiocapbench.scores.scorer import Scorer
from audiocapbench.signature import Signature
from audiocapbench.store import Run, RunSpec, Store
from audiocapbench.store.judgements import Judgement
from audiocapbench.store.unsaved import AnswerRecord

_ELEMENTS = "elements"
_EXACT = 1e-9
_NEARLY = 0.01
"""Of the scale: ends of an interval may fall on another tie of another NumPy."""


class CheckedSubmission(NamedTuple):
    """A submission, as a run of the store that it was put into to be checked.

    Attributes:
        name: The file, or the run that it was made of.
        claims: Scores that nothing here can check.
        problems: Why it is refused, in sentences.
    """

    name: str
    submission: Submission
    run: Run
    claims: tuple[ScoreClaim, ...] = ()
    problems: tuple[str, ...] = ()


def check_submissions(
    store: Store, submissions: Sequence[tuple[str, Submission]], dataset: str | None = None
) -> list[CheckedSubmission]:
    """Put submissions into an empty store, score them anew and compare.

    All about the same samples get every score that any of them says, so that they can be ranked.

    Args:
        dataset: The hash, or its beginning, that the samples must have.
    """
    first: dict[tuple[str, str], Submission] = {}
    names: dict[tuple[str, str], set[str]] = {}
    ways: dict[tuple[str, str], Counter[tuple[str, Signature]]] = {}
    for _, own in submissions:
        first.setdefault(own.board, own)
        names.setdefault(own.board, set()).update(claim.scorer for claim in own.scores)
        said = {(one.judge, one.signature) for one in own.verdicts()}
        ways.setdefault(own.board, Counter()).update(said)
    checked = []
    for name, own in submissions:
        # The way in which most were judged counts, so that one submission cannot unrank all.
        usual = dict(key for key, _ in reversed(ways[own.board].most_common()))
        verdicts = [one for one in own.verdicts() if usual[one.judge] == one.signature]
        run, known = _keep(store, own, verdicts), first[own.board]
        made = _score(store, run, names[own.board]) | {one.judge for one in verdicts}
        claims = [one for one in own.scores if one.scorer not in made]
        problems = _differences(store, run, [one for one in own.scores if one.scorer in made])
        problems += [
            f"{one.scorer}: no judge gives {one.value:g}"
            for one in claims
            if one.dimension is not None and not 0 <= one.value <= MAX_VALUE
        ]
        if dataset is not None and not own.dataset.startswith(dataset):
            problems.append(f"its dataset is {own.dataset[:12]}, and not {dataset[:12]}")
        if (own.samples, own.traits, own.missing) != (known.samples, known.traits, known.missing):
            problems.append("says other things about the samples than one before it")
        checked.append(CheckedSubmission(name, own, run, tuple(claims), tuple(problems)))
    return checked


def look_alikes(checked: Iterable[CheckedSubmission]) -> list[str]:
    """In sentences, which submissions are of models whose names only look the same."""
    first: dict[str, CheckedSubmission] = {}
    pairs = [(first.setdefault(skeleton(one.submission.model), one), one) for one in checked]
    return [
        f"Warning: {one.name} and {other.name} are of models that look alike and are not: "
        f"{one.submission.model!a} and {other.submission.model!a}."
        for one, other in pairs
        if one.submission.model != other.submission.model
    ]


def _keep(store: Store, one: Submission, verdicts: Sequence[Judgement]) -> Run:
    benchmark, outcomes = one.opened(), one.outcomes()
    ids = tuple(answer.sample_id for answer in outcomes)
    head = (one.benchmark, one.dataset, one.model, one.parameters, one.contract)
    run = store.begin_run(RunSpec(*head, ids, "imported"), dataset_of(benchmark), fresh=True)
    store.add_records(run.id, list(map(AnswerRecord, outcomes)))
    store.add_judgements(run.id, [said for said in verdicts if said.judge != _ELEMENTS])
    return run


def _score(store: Store, run: Run, names: Iterable[str]) -> set[str]:
    """Compute what of these scores needs nothing but the texts; the names of what was."""
    made = set()
    for name in sorted(names):
        metric = METRICS.get(name)  # with options it could be one of a file or a download
        if name == _ELEMENTS:
            judge_run(store, run, [create_judge(name)])
            made.add(name)
        elif metric is not None and not metric.needs and not metric.hears:
            try:
                score_run(store, run, [name])
            except MetricError:  # its weights are not here
                continue
            made.add(name)
    return made


def _differences(store: Store, run: Run, claims: Iterable[ScoreClaim]) -> list[str]:
    """How scores differ from what the answers give, in sentences."""
    try:
        (found,) = gather(stored_summaries(store, [run.id])).runs
    except ReportError:
        return ["nothing of it can be scored here"]
    return [words for one in claims if (words := _difference(found, one))]


def _difference(run: ReportRun, claim: ScoreClaim) -> str | None:
    scorer = Scorer(claim.scorer, claim.dimension)
    what = scorer.label + (f" of {claim.category}" if claim.category else "")
    known = scorer in run.table.scores and claim.category in (None, *run.table.categories)
    found = run.estimate(scorer, claim.category) if known else None
    if found is None or found.value is None:
        return f"{what}: the answers give no such score"
    if str(found.signature) != claim.signature:
        return f"{what}: was made by {claim.signature[:200]}, and here by {found.signature}"
    if abs(found.value - claim.value) > _EXACT or found.n != claim.n:
        said = f"says {claim.value!r} of {claim.n:,} samples"
        return f"{what}: {said}, the answers give {found.value!r} of {found.n:,}"
    ends, given = found.interval or (), claim.interval or ()
    apart = [abs(one - other) for one, other in zip(ends, given, strict=False)]
    if len(ends) != len(given) or max(apart, default=0.0) > _NEARLY * scorer.max_value:
        return f"{what}: says the interval {given}, the answers give {tuple(ends)}"
    return None
