"""A leaderboard of the runs in a store: which differences are real, and what failures may mean.

Runs on different samples, or with scores made in different ways, stand on different boards.
"""

from collections import Counter
from collections.abc import Sequence

from audiocapbench.benchmarks.published_results import published_results
from audiocapbench.data.outcome import SCORED
from audiocapbench.errors import ReportError
from audiocapbench.judges.summary import OVERALL
from audiocapbench.report.leaderboard.board import Board, Entry, Leaderboard, Wanted
from audiocapbench.report.leaderboard.published import with_published
from audiocapbench.report.leaderboard.scores import RunReader, Scorer, StoredRun
from audiocapbench.report.leaderboard.standing import (
    FEWEST_SHARE,
    MOST_PAIRS,
    Pair,
    Standing,
    Standings,
    Untested,
    standings,
)
from audiocapbench.report.leaderboard.totals import Part, by_category, whole
from audiocapbench.stats.power import ALPHA
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
        raise ReportError(f"{store.name} has no run{of}; 'audiocapbench runs' lists them")
    reader = RunReader(store)
    groups: dict[tuple[str, str, frozenset[str]], list[StoredRun]] = {}
    for run in runs:
        key = (run.benchmark, run.dataset, frozenset(run.sample_ids))
        groups.setdefault(key, []).append(reader.read(run))
    boards = [board for group in groups.values() for board in _boards(group, wanted, notes)]
    if runs and not boards and not wanted.published:
        name = wanted.scorer.name if wanted.scorer is not None else "any metric or judge"
        raise ReportError(f"no run has a score of {name}. {notes[-1]}")
    boards.sort(key=lambda one: (-one.samples * len(one.entries), one.benchmark))
    if len(boards) > 1:
        notes.append(
            f"{len(boards)} boards: runs on different samples, or with scores made in different "
            "ways, cannot be ranked together."
        )
    if wanted.published:
        boards = with_published(boards, wanted, notes)
    return Leaderboard(tuple(boards), tuple(notes))


def _runs(store: Store, wanted: Wanted, notes: list[str]) -> list[Run]:
    """The newest run of each model on each set of samples, or all runs."""
    lines = [one for one in store.runs() if wanted.benchmark in (None, one.benchmark)]
    found = [store.run(line.id) for line in lines]
    if wanted.all_runs:
        return found
    newest = {(run.dataset, run.model, frozenset(run.sample_ids)): run for run in found}
    older = len(found) - len(newest)
    if older:
        notes.append(
            f"{older} older {'run is' if older == 1 else 'runs are'} not shown; --all-runs does."
        )
    return list(newest.values())


def _boards(group: Sequence[StoredRun], wanted: Wanted, notes: list[str]) -> list[Board]:
    """Boards for runs on the same samples: one for each way in which the scores were made."""
    scorer = wanted.scorer or _most_common(group)
    by_signature: dict[str, list[StoredRun]] = {}
    for one in group:
        signature = one.scored(scorer).signature if scorer else ""
        if signature:
            by_signature.setdefault(signature, []).append(one)
        else:
            notes.append(_unscored(one, scorer))
    if scorer is None:
        return []
    return [_board(runs, scorer, mark, wanted) for mark, runs in by_signature.items()]


def _most_common(group: Sequence[StoredRun]) -> Scorer | None:
    """What most runs have a score of; judges before metrics, in the order of ``scorers``."""
    counts = Counter(scorer for one in group for scorer in one.scorers)
    order = list(dict.fromkeys(scorer for one in group for scorer in one.scorers))
    return min(order, key=lambda one: (-counts[one], order.index(one)), default=None)


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


def _board(group: Sequence[StoredRun], scorer: Scorer, signature: str, wanted: Wanted) -> Board:
    first = group[0]
    scored = [one.scored(scorer) for one in group]
    everything = whole(first.samples, scorer, first.layout)
    (overall,) = standings(scorer, [everything], scored)
    order = sorted(range(len(group)), key=lambda place: _sort_key(overall.runs[place]))
    categories = by_category(first.samples, first.layout, scorer)
    parts: dict[str, Standings] = {}
    if wanted.by_category:
        found = standings(scorer, list(categories.values()), scored)
        parts = dict(zip(categories, found, strict=True))
    names = Counter(one.run.model for one in group)
    entries = [
        _entry(group[place], place, scorer, overall, parts, twice=names[group[place].run.model] > 1)
        for place in order
    ]
    return Board(
        first.run.benchmark,
        first.run.dataset,
        len(everything.samples),
        first.missing_clips,
        scorer,
        signature,
        {name: len(part.samples) for name, part in categories.items()},
        tuple(entries),
        _moved(overall.pairs, order),
        {name: _moved(one.pairs, order) for name, one in parts.items()},
        tuple(name for name, one in parts.items() if one.untested is Untested.FEW_SAMPLES),
        overall.common,
        notes=tuple(_board_notes(overall, entries, everything)),
    )


def _sort_key(standing: Standing) -> tuple[float, bool, float]:
    rank = float("inf") if standing.rank is None else standing.rank
    return (rank, standing.score is None, -(standing.score or 0.0))


def _entry(
    stored: StoredRun,
    place: int,
    scorer: Scorer,
    whole: Standings,
    parts: dict[str, Standings],
    *,
    twice: bool,
) -> Entry:
    run = stored.run
    judged = scorer.dimension == OVERALL
    dimensions = {}
    for one in stored.dimensions(scorer.name) if judged else ():
        values = list(stored.scored(one).values.values())
        if values and one.dimension is not None:
            dimensions[one.dimension] = sum(values) / len(values)
    return Entry(
        f"{run.model} (run {run.id})" if twice else run.model,
        run,
        whole.runs[place],
        {name: part.runs[place] for name, part in parts.items()},
        dimensions,
        stored.statuses,
        len(stored.samples) - len(stored.outcomes),
        stored.cost_usd,
        stored.judged[scorer.name].cost_usd if judged else None,
        stored.latency_s,
    )


def _moved(pairs: Sequence[Pair], order: Sequence[int]) -> tuple[Pair, ...]:
    """Pairs by the places of the entries rather than of the runs as they were read."""
    at = {place: number for number, place in enumerate(order)}
    return tuple(pair._replace(first=at[pair.first], second=at[pair.second]) for pair in pairs)


def _board_notes(overall: Standings, entries: Sequence[Entry], part: Part) -> list[str]:
    notes = []
    if part.is_total and part.layout is not None:
        notes.append(f"The score is {part.layout.total}, the weighted sum of the categories.")
    ranked = [one for one in entries if one.overall.rank is not None]
    if overall.untested is Untested.FEW_SAMPLES:
        notes.append("There are too few samples to tell any two models apart.")
    if overall.untested is Untested.MANY_PAIRS:
        notes.append(
            f"{len(ranked)} runs make more than {MOST_PAIRS:,} pairs and were not tested; "
            "show fewer to see which are tied."
        )
    if overall.pairs:
        notes.append(
            f"Models that share a letter cannot be told apart: {len(overall.pairs)} paired "
            f"permutation tests on common samples, corrected by Holm, alpha {ALPHA:g}. "
            f"Ranks are those of 95 % of resamples of the {overall.common:,} samples that all have."
        )
    for one in entries:
        standing = one.overall
        if standing.rank is None:
            notes.append(
                f"{one.label} is not ranked: {standing.scored:,} of {standing.total:,} samples "
                f"have a score; a rank takes {FEWEST_SHARE:.0%}, five at least, in every category "
                "of a sum."
            )
        if standing.scored < standing.total:
            notes.append(_failures(one))
    shares = {one.overall.scored for one in ranked}
    if len(shares) > 1:
        notes.append("Scores are over what each model answered; tests and ranks are not.")
    return notes


def _failures(entry: Entry) -> str:
    """What has no score, and why; the table says what that may do to the number."""
    good = [str(status) for status in SCORED]
    counts = {name: count for name, count in sorted(entry.statuses.items()) if name not in good}
    if entry.unasked > 0:
        counts["not asked"] = entry.unasked
    missing = entry.overall.total - entry.overall.scored - sum(counts.values())
    if missing > 0:
        counts["answered but not scored"] = missing
    statuses = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return f"{entry.label}: {statuses}."
