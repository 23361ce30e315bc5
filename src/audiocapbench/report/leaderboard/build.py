"""A leaderboard of the runs in a store: which differences are real, and what failures may mean.

Runs on different samples, or with scores made in different ways, stand on different boards.
"""

from collections import Counter
from collections.abc import Sequence

from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.benchmarks.published_results import published_results
from audiocapbench.data.outcome import SCORED
from audiocapbench.errors import ReportError
from audiocapbench.judges.styles import STYLES
from audiocapbench.judges.summary import OVERALL
from audiocapbench.metrics.names import parse_name
from audiocapbench.report.leaderboard.board import Board, Entry, Leaderboard, Wanted
from audiocapbench.report.leaderboard.notes import board_notes
from audiocapbench.report.leaderboard.published import has_published, with_published
from audiocapbench.report.leaderboard.scores import (
    RunReader,
    Scorer,
    StoredRun,
    without_plugin,
)
from audiocapbench.report.leaderboard.standing import (
    Pair,
    Standing,
    Standings,
    Untested,
    score_of,
    standings,
)
from audiocapbench.report.leaderboard.totals import by_category, whole
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL
from audiocapbench.store import Run, Store


def build_leaderboard(store: Store, wanted: Wanted) -> Leaderboard:
    """Put the runs of a store on boards.

    Raises:
        ReportError: There is no run to show, or none with the score to rank by.
    """
    notes: list[str] = []
    runs = _runs(store, wanted, notes)
    if not runs and not (wanted.published and published_results(wanted.benchmark)):
        of = f" of {wanted.benchmark}" if wanted.benchmark else ""
        raise ReportError(" ".join([f"{store.name} has no run{of};", _ADVICE, *notes]))
    reader = RunReader(store)
    groups: dict[tuple[str, str, frozenset[str]], list[StoredRun]] = {}
    for run in runs:
        key = (run.benchmark, run.dataset, frozenset(run.sample_ids))
        groups.setdefault(key, []).append(reader.read(run))
    read = [one for group in groups.values() for one in group]
    unknown = sorted({name for one in read for name in one.unknown_metrics})
    notes += [without_plugin(name) for name in unknown]
    boards = [board for group in groups.values() for board in _boards(group, wanted, notes)]
    if not boards and not (wanted.published and has_published(wanted)):
        name = wanted.scorer.name if wanted.scorer is not None else "any metric or judge"
        there = ", and the published results have none" if wanted.published else ""
        raise ReportError(f"no run has a score of {name}{there}. {notes[-1] if notes else ''}")
    boards.sort(key=lambda one: (-one.samples * len(one.entries), one.benchmark))
    if len(boards) > 1:
        notes.append(
            f"{len(boards)} boards: runs on different samples, or with scores made in different "
            "ways, cannot be ranked together."
        )
    if wanted.published:
        boards = with_published(boards, wanted, notes)
    return Leaderboard(tuple(boards), tuple(notes))


_ADVICE = "'audiocapbench runs' lists them."


def _runs(store: Store, wanted: Wanted, notes: list[str]) -> list[Run]:
    """The newest run of each model on each set of samples, or all runs; no trials unless named."""
    lines = [one for one in store.runs() if wanted.benchmark in (None, one.benchmark)]
    shown = [
        one
        for one in lines
        if wanted.benchmark is not None or not _is_trial(one.benchmark, one.model)
    ]
    if len(shown) < len(lines):
        count = len(lines) - len(shown)
        notes.append(
            f"{count} {'run of a trial is' if count == 1 else 'runs of trials are'} not shown; "
            "--benchmark names what to show."
        )
    found = [store.run(line.id) for line in shown]
    if wanted.all_runs:
        return found
    newest = {(run.dataset, run.model, frozenset(run.sample_ids)): run for run in found}
    older = len(found) - len(newest)
    if older:
        notes.append(
            f"{older} older {'run is' if older == 1 else 'runs are'} not shown; --all-runs does."
        )
    return list(newest.values())


def _is_trial(benchmark: str, model: str) -> bool:
    """Whether a run put a judge on trial, and is no model's result."""
    style = model.rpartition("+")[2] if model.startswith("control/") else ""
    return benchmark.startswith(TRIAL) or style in STYLES


def _boards(group: Sequence[StoredRun], wanted: Wanted, notes: list[str]) -> list[Board]:
    """Boards for runs on the same samples: one for each way in which the scores were made.

    A run without any answer stands on all of them, unranked: there is nothing to score.
    """
    hopeless = [one for one in group if one.is_hopeless]
    scorer = wanted.scorer or _default(group)
    by_signature: dict[Signature, list[StoredRun]] = {}
    for one in group:
        signature = one.scored(scorer).signature if scorer else UNSIGNED
        if one.is_hopeless:
            continue
        if signature:
            by_signature.setdefault(signature, []).append(one)
        else:
            notes.append(_unscored(one, scorer))
    if not by_signature and len(hopeless) == len(group):
        scorer = scorer or Scorer(group[0].traits.headline)
        # A judge that nobody has may be a slip of the pen; metrics were looked up.
        if scorer.dimension is None:
            by_signature[UNSIGNED] = []
    if scorer is None:
        return []
    return [_board([*runs, *hopeless], scorer, mark, wanted) for mark, runs in by_signature.items()]


def _default(group: Sequence[StoredRun]) -> Scorer | None:
    """A judge that most runs have; else the benchmark's metric; else what most runs have."""
    scored = [one for one in group if not one.is_hopeless]
    counts = Counter(scorer for one in scored for scorer in one.scorers)
    order = list(dict.fromkeys(scorer for one in scored for scorer in one.scorers))
    order.sort(key=lambda one: -counts[one])
    judges = [one for one in order if one.dimension is not None and 2 * counts[one] > len(scored)]
    headline = group[0].traits.headline
    metrics = [one for one in order if one.dimension is None]
    own = [one for one in metrics if one.name == headline] or [
        one for one in metrics if parse_name(one.name).name == headline
    ]
    return next(iter([*judges, *own, *order]), None)


def _unscored(one: StoredRun, scorer: Scorer | None) -> str:
    run = one.run
    if scorer is None:
        return (
            f"Run {run.id} ({run.model}) has no scores; 'audiocapbench score {run.id}' adds some."
        )
    option = f"--metrics {scorer.name}" if scorer.dimension is None else f"--judge {scorer.name}"
    return (
        f"Run {run.id} ({run.model}) has no score of {scorer.name}; "
        f"'audiocapbench score {run.id} {option}' adds it."
    )


def _board(
    group: Sequence[StoredRun], scorer: Scorer, signature: Signature, wanted: Wanted
) -> Board:
    first = group[0]
    scored = [one.scored(scorer) for one in group]
    everything = whole(first.samples, scorer, first.aggregation)
    (overall,) = standings(scorer, [everything], scored, wanted.correction)
    order = sorted(range(len(group)), key=lambda place: _sort_key(overall.runs[place]))
    categories = by_category(first.samples, first.aggregation, scorer)
    parts: dict[str, Standings] = {}
    if wanted.by_category:
        found = standings(scorer, list(categories.values()), scored, wanted.correction)
        parts = dict(zip(categories, found, strict=True))
    names = Counter(one.run.model for one in group)
    entries = [
        _entry(group[place], place, scorer, overall, parts, twice=names[group[place].run.model] > 1)
        for place in order
    ]
    pairs = _moved(overall.pairs, order)
    counts = {name: len(part.samples) for name, part in categories.items()}
    return Board(
        first.run.benchmark,
        first.run.dataset,
        len(everything.samples),
        first.missing_clips,
        scorer,
        signature,
        counts,
        tuple(entries),
        pairs,
        {name: _moved(one.pairs, order) for name, one in parts.items()},
        tuple(name for name, one in parts.items() if _has_too_few(one, counts[name])),
        overall.common,
        overall.by_zero,
        tuple(name for name, one in parts.items() if one.by_zero),
        wanted.correction,
        notes=tuple(board_notes(overall, entries, pairs, everything, wanted.correction)),
    )


def _has_too_few(part: Standings, samples: int) -> bool:
    return part.untested is Untested.FEW_SAMPLES or samples < FEWEST_FOR_INTERVAL


def _sort_key(standing: Standing) -> tuple[float, bool, float, float]:
    rank = float("inf") if standing.rank is None else standing.rank
    return (rank, standing.score is None, -(standing.score or 0.0), -(standing.as_zero or 0.0))


def _entry(
    stored: StoredRun,
    place: int,
    scorer: Scorer,
    overall: Standings,
    parts: dict[str, Standings],
    *,
    twice: bool,
) -> Entry:
    run = stored.run
    judged = stored.judged.get(scorer.name) if scorer.dimension == OVERALL else None
    dimensions = {}
    for one in stored.dimensions(scorer.name) if judged is not None else ():
        part = whole(stored.samples, one, stored.aggregation)
        score = score_of(one, part, stored.scored(one))
        if score is not None and one.dimension is not None:
            dimensions[one.dimension] = score
    return Entry(
        f"{run.model} (run {run.id})" if twice else run.model,
        run,
        overall.runs[place],
        {name: part.runs[place] for name, part in parts.items()},
        dimensions,
        stored.statuses,
        len(stored.samples) - len(stored.outcomes),
        unscored_samples(stored, scorer),
        stored.cost_usd,
        judged.cost_usd if judged is not None else None,
        stored.latency_s,
    )


def unscored_samples(stored: StoredRun, scorer: Scorer) -> dict[str, int]:
    """How many samples that count have no score, for each reason."""
    have = stored.scored(scorer).statistics
    reasons: Counter[str] = Counter()
    for sample in whole(stored.samples, scorer, stored.aggregation).samples:
        outcome = stored.outcomes.get(sample.id)
        if sample.id in have:
            continue
        if outcome is None:
            reasons["not asked"] += 1
        elif outcome.reply.status in SCORED:
            reasons["answered but not scored"] += 1
        else:
            reasons[str(outcome.reply.status)] += 1
    return dict(reasons)


def _moved(pairs: Sequence[Pair], order: Sequence[int]) -> tuple[Pair, ...]:
    """Pairs by the places of the entries rather than of the runs as they were read."""
    at = {place: number for number, place in enumerate(order)}
    return tuple(pair._replace(first=at[pair.first], second=at[pair.second]) for pair in pairs)
