"""A leaderboard of the runs in a store: which differences are real, and what failures may mean.

Runs on different samples, or with scores made in different ways, stand on different boards.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from audiocapbench.benchmarks.captioning import AUDIOCAPBENCH
from audiocapbench.benchmarks.corpora import leaves_null_out
from audiocapbench.benchmarks.published_results import published_results
from audiocapbench.errors import ReportError
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.metrics import find_metric
from audiocapbench.metrics.names import parse_name
from audiocapbench.report.leaderboard.board import (
    Board,
    Leaderboard,
    LeaderboardQuery,
    RunEntry,
    board_notes,
    way_of,
)
from audiocapbench.report.leaderboard.published import has_published, with_published
from audiocapbench.report.leaderboard.ranking import Ranking, rank_runs
from audiocapbench.scores.groups import ALL, category
from audiocapbench.scores.run_table import RunTable, TableReader, keep_estimates, labels
from audiocapbench.scores.scorer import Scorer, without_plugin
from audiocapbench.scores.summary import unknown_judge, why_unscored
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import Run, Store


def ranking_scorer(metric: str | None, judge: str | None) -> Scorer | None:
    """What to rank by, where it was said: a metric, or a judge's overall score.

    Raises:
        MetricError: There is no such metric.
        ReportError: Both were said.
    """
    if metric is not None and judge is not None:
        raise ReportError("models are ranked by one score: a metric or a judge, not both")
    if metric is not None:
        return Scorer(str(find_metric(metric)[1]))
    return Scorer(judge, OVERALL) if judge is not None else None


def build_leaderboard(store: Store, query: LeaderboardQuery) -> Leaderboard:
    """Put the runs of a store on boards.

    Raises:
        ReportError: There is no run to show, or none with the score to rank by.
    """
    notes: list[str] = []
    runs = _runs(store, query, notes)
    if not runs and not (query.published and published_results(query.benchmark or AUDIOCAPBENCH)):
        of = f" of {query.benchmark}" if query.benchmark else ""
        advice = f"'audiocapbench runs{store.option}' lists them."
        raise ReportError(" ".join([f"{store.name} has no run{of};", advice, *notes]))
    reader = TableReader(store)
    groups: dict[tuple[str, str, frozenset[str]], list[RunTable]] = {}
    for run in runs:
        key = (run.benchmark, run.dataset, frozenset(run.sample_ids))
        groups.setdefault(key, []).append(reader.read(run))
    read = [one for group in groups.values() for one in group]
    gone = sorted({name for one in read for name in one.unknown_metrics})
    notes += [without_plugin(name) for name in gone]
    boards = [board for group in groups.values() for board in _boards(group, query, notes)]
    if not boards and not (query.published and has_published(query)):
        name = query.scorer.name if query.scorer is not None else "any metric or judge"
        there = ", and the published results have none" if query.published else ""
        is_judge = query.scorer is not None and query.scorer.dimension is not None
        unknown = unknown_judge(read, name) if is_judge else None
        advice = f". {notes[-1] if notes else ''}" if unknown is None else unknown
        raise ReportError(f"no run has a score of {name}{there}{advice}")
    keep_estimates(store, read)
    boards.sort(key=lambda one: (-one.samples * len(one.entries), one.benchmark))
    if len(boards) > 1:
        notes.append(
            f"{len(boards)} boards: runs on different samples, or with scores made in different "
            "ways, cannot be ranked together."
        )
    if query.published:
        boards = with_published(boards, query, notes)
    return Leaderboard(tuple(boards), tuple(notes))


def _runs(store: Store, query: LeaderboardQuery, notes: list[str]) -> list[Run]:
    """The newest run of each model, asked in each way, on each set of samples, or all runs.

    An imported run never hides one that was asked; trials are shown only where they are named.
    """
    if query.runs:
        return [store.run(number) for number in query.runs]
    lines = [one for one in store.runs() if query.benchmark in (None, one.benchmark)]
    shown = [one for one in lines if query.benchmark is not None or not one.is_trial]
    if len(shown) < len(lines):
        count = len(lines) - len(shown)
        notes.append(
            f"{count} {'run of a trial is' if count == 1 else 'runs of trials are'} not shown; "
            "--benchmark names what to show."
        )
    found = [store.run(line.id) for line in shown]
    if query.all_runs:
        return found
    keys = [
        (run.benchmark, run.dataset, run.model, way_of(run), frozenset(run.sample_ids))
        for run in found
    ]
    newest = dict(zip(keys, found, strict=True))
    older = len(found) - len(newest)
    if older:
        pairs = zip(keys, found, strict=True)
        unlike = sum(run.parameters != newest[key].parameters for key, run in pairs)
        other = f" ({unlike} with other settings, or another file of that name)" if unlike else ""
        is_are = "run is" if older == 1 else "runs are"
        notes.append(f"{older} older {is_are} not shown{other}; --all-runs does.")
    return list(newest.values())


def _boards(group: Sequence[RunTable], query: LeaderboardQuery, notes: list[str]) -> list[Board]:
    """Boards for runs on the same samples: one for each way in which the scores were made.

    A run without any answer stands on all of them, unranked: there is nothing to score.
    """
    hopeless = [one for one in group if one.has_no_answers]
    scored = [one for one in group if not one.has_no_answers]
    found = Counter(one for table in scored for one in table.scorers if table.signature(one))
    scorer = query.scorer or default_scorer(found, len(scored), group[0].traits.headline)
    by_signature: dict[Signature, list[RunTable]] = {}
    for one in scored:
        signature = one.signature(scorer) if scorer else UNSIGNED
        if signature:
            by_signature.setdefault(signature, []).append(one)
        else:
            notes.append(why_unscored(one, scorer))
    if not by_signature and len(hopeless) == len(group):
        scorer = scorer or Scorer(group[0].traits.headline)
        # A judge that nobody has may be a slip of the pen; metrics were looked up.
        if scorer.dimension is None:
            by_signature[UNSIGNED] = []
    if scorer is None:
        return []
    return [
        make_board(
            [*runs, *hopeless],
            scorer,
            signature,
            by_category=query.by_category,
            correction=query.correction,
        )
        for signature, runs in by_signature.items()
    ]


def default_scorer(counts: Mapping[Scorer, int], runs: int, headline: str) -> Scorer | None:
    """What runs are ranked by unless somebody says otherwise.

    A judge that most runs have; else the benchmark's headline, whatever its options; else what most
    runs have.

    Args:
        counts: How many of so many runs have each score.
    """
    order = sorted(counts, key=lambda one: -counts[one])
    judges = [one for one in order if one.is_overall and 2 * counts[one] > runs]
    metrics = [one for one in order if one.judge is None and not leaves_null_out(one.name)]
    own = [one for one in metrics if one.name == headline]
    own += [one for one in metrics if parse_name(one.name).name == headline]
    return next(iter([*judges, *own, *order]), None)


def make_board(
    group: Sequence[RunTable],
    scorer: Scorer,
    signature: Signature = UNSIGNED,
    *,
    by_category: bool = False,
    correction: Correction = Correction.HOLM,
) -> Board:
    """Rank runs on the same samples, whose scores were made in one way."""
    first, shown = group[0], labels([one.run for one in group])
    (overall,) = rank_runs(scorer, [ALL], group, correction)

    def best_first(place: int) -> tuple[float, bool, float, float]:
        rank, estimate = overall.runs[place].rank, overall.runs[place].estimate
        return (rank or float("inf"), *scorer.sort_key(estimate))

    order = sorted(range(len(group)), key=best_first)
    ranking = overall.reordered(order)
    names = dict.fromkeys(sample.category for sample in first.samples)
    sizes = {name: len(first.group(scorer, category(name)).samples) for name in names}
    counts = {name: size for name, size in sizes.items() if size}
    parts: dict[str, Ranking] = {}
    if by_category:
        found = rank_runs(scorer, [category(name) for name in counts], group, correction)
        parts = {name: one.reordered(order) for name, one in zip(counts, found, strict=True)}
    entries = [
        RunEntry(
            shown[place],
            group[place],
            scorer,
            ranking.runs[number],
            {name: part.runs[number] for name, part in parts.items()},
        )
        for number, place in enumerate(order)
    ]
    return Board(
        first.run.benchmark,
        scorer,
        len(first.group(scorer).samples),
        counts,
        first.run.dataset,
        first.missing_clips,
        signature,
        tuple(entries),
        ranking,
        parts,
        correction,
        notes=tuple(board_notes(ranking, entries, first.aggregation, correction)),
    )
