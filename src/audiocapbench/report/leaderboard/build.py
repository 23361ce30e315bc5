"""A leaderboard of the runs in a store: which differences are real, and what failures may mean.

Runs on different samples, or with scores made in different ways, stand on different boards, and so
do published results where they are no scores of one kind.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from audiocapbench.benchmarks.benchmark_file import (
    find_file,
    published_results,
    read_benchmark_file,
)
from audiocapbench.benchmarks.captioning import AUDIOCAPBENCH, PublishedResults, are_papers
from audiocapbench.benchmarks.mecat.groups import TRAITS
from audiocapbench.benchmarks.traits import base_name
from audiocapbench.data import Sample
from audiocapbench.errors import ReportError, did_you_mean
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.meta.over_blind import blind_warnings
from audiocapbench.metrics import find_metric
from audiocapbench.report.leaderboard.board import (
    NOTES,
    Board,
    PublishedEntry,
    Ranking,
    RunEntry,
    board_notes,
    rank_runs,
    way_of,
)
from audiocapbench.report.leaderboard.tables import LeaderboardResult
from audiocapbench.scores.compute import ALL, GroupKey, category
from audiocapbench.scores.departures import departures, in_full
from audiocapbench.scores.estimate import Scorer, counted, default_scorer, without_plugin
from audiocapbench.scores.summary import unknown_judge, why_unscored
from audiocapbench.scores.table import RunTable, TableReader, keep_estimates, labels, repeats
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import Run, Store

_MOST_NAMED = 3


def ranking_scorer(metric: str | None, judge: str | None) -> Scorer | None:
    if metric is not None and judge is not None:
        raise ReportError("models are ranked by one score: a metric or a judge, not both")
    if metric is not None:
        return Scorer(str(find_metric(metric)[1]))
    return Scorer(judge, OVERALL) if judge is not None else None


def build_leaderboard(
    store: Store,
    *,
    benchmark: str | None = None,
    scorer: Scorer | None = None,
    by_category: bool = False,
    all_runs: bool = False,
    published: bool = False,
    correction: Correction = Correction.HOLM,
    runs: Sequence[int] = (),
) -> LeaderboardResult:
    """Put the runs of a store, or only some, on boards; trials where their benchmark is named.

    Without a scorer, ``default_scorer`` ranks them; ``all_runs`` shows older runs of a model too.
    """
    notes: list[str] = []
    file = find_file(plain := base_name(benchmark or ""))
    if file is not None:
        benchmark = read_benchmark_file(file).name + (benchmark or "").removeprefix(plain)
    shown = [[store.run(number)] for number in runs] or _runs(store, benchmark, all_runs, notes)
    beside = partial(published_results, file=file)
    results = beside(benchmark or AUDIOCAPBENCH) if published else None
    if not shown and results is None:
        near = did_you_mean(benchmark or "", {one.benchmark for one in store.runs()})
        of = f" of {benchmark}{near}" if benchmark else ""
        advice = f"'audiocapbench runs{store.option}' lists them."
        raise ReportError(" ".join([f"{store.name} has no run{of};", advice, *notes]))
    reader = TableReader(store)
    groups: dict[tuple[str, str, frozenset[str]], list[RunTable]] = {}
    for own in shown:
        key = (own[0].benchmark, own[0].dataset, frozenset(own[0].sample_ids))
        groups.setdefault(key, []).append(reader.read_together(own))
    tables = [one for group in groups.values() for one in group]
    notes += map(without_plugin, sorted({name for one in tables for name in one.unknown_metrics}))
    make = partial(make_board, by_category=by_category, correction=correction)
    boards = [
        make(group, own, signature)
        for same in groups.values()
        for group, own, signature in _comparable(same, scorer, notes)
    ]
    printed = results is not None and (scorer is None or _is_published(scorer, results))
    if not boards and not printed:
        name = scorer.name if scorer is not None else "any metric or judge"
        there = ", and the published results have none" if published else ""
        judge = scorer.judge if scorer is not None else None
        why = None if judge is None else unknown_judge(tables, judge)
        advice = f". {notes[-1] if notes else ''}" if why is None else why
        raise ReportError(f"no run has a score of {name}{there}{advice}")
    keep_estimates(store, tables)
    boards.sort(key=lambda one: (-one.samples * len(one.entries), one.benchmark))
    if len(boards) > 1:
        sizes = " and ".join(f"{one.samples:,}" for one in boards)
        notes.append(NOTES["boards"].format(boards=len(boards), sizes=sizes))
    if published:
        how: Any = {"by_category": by_category, "beside": beside}
        boards = _with_published(store, boards, results, scorer, notes, **how)
    return LeaderboardResult(tuple(boards), tuple(notes))


def _runs(store: Store, benchmark: str | None, all_runs: bool, notes: list[str]) -> list[list[Run]]:
    """The newest run of each model, with its repeats, by way of asking and set of samples; or all
    runs, each by itself."""
    lines = [one for one in store.runs() if benchmark in (None, one.benchmark)]
    shown = [one for one in lines if benchmark is not None or not one.is_trial]
    if trials := len(lines) - len(shown):
        are = "run of a trial is" if trials == 1 else "runs of trials are"
        notes.append(f"{trials} {are} not shown; --benchmark names what to show.")
    runs = [store.run(line.id) for line in shown]
    if all_runs:
        return [[run] for run in runs]
    newest: dict[tuple[object, ...], list[Run]] = {}
    for own in repeats(runs):
        run = own[0]
        key = (run.benchmark, run.dataset, run.model, way_of(run), frozenset(run.sample_ids))
        newest[key] = own
    kept = [run for own in newest.values() for run in own]
    if left := [run for run in runs if run not in kept]:
        settings = [(run.model, run.parameters) for run in kept]
        unlike = sum((run.model, run.parameters) not in settings for run in left)
        other = f" ({unlike} with other settings, or another file of that name)" if unlike else ""
        are = "run is" if len(left) == 1 else "runs are"
        notes.append(f"{len(left)} older {are} not shown{other}; --all-runs does.")
    return list(newest.values())


def _comparable(
    group: Sequence[RunTable], wanted: Scorer | None, notes: list[str]
) -> Iterator[tuple[list[RunTable], Scorer, Signature]]:
    """Runs for each way in which scores were made; runs without answers are among all."""
    hopeless = [one for one in group if one.has_no_answers]
    scored = [one for one in group if not one.has_no_answers]
    counts = Counter(one for table in scored for one in table.scorers if table.signature(one))
    headline = group[0].traits.headline
    scorer = wanted or default_scorer(counts, len(scored), headline)
    ways: dict[tuple[Scorer, Signature], list[RunTable]] = {}
    for one in scored:
        if scorer and (signature := one.signature(scorer)):
            ways.setdefault((scorer, signature), []).append(one)
        unscored = (own for own in one.tables if not scorer or not own.signature(scorer))
        notes += [why_unscored(own, scorer) for own in unscored]
    if not scored:
        scorer = scorer or Scorer(headline)
        # A judge that nobody has may be a slip of the pen; metrics were looked up.
        if scorer.dimension is None:
            ways[scorer, UNSIGNED] = []
    for (by, signature), runs in ways.items():
        yield [*runs, *hopeless], by, signature


def make_board(
    group: Sequence[RunTable],
    scorer: Scorer,
    signature: Signature = UNSIGNED,
    *,
    by_category: bool = False,
    correction: Correction = Correction.HOLM,
) -> Board:
    """Rank runs on the same samples, whose scores were made in one way."""
    first, names = group[0], labels(group)
    (overall,) = rank_runs(scorer, [ALL], group, correction)

    def best_first(place: int) -> tuple[float, ...]:
        rank = overall.places[place].rank
        # A race asked the best of its models about most, perhaps about all.
        asked = len(group[place].replies) if rank is None and group[place].race else 0
        return (rank or float("inf"), -asked, *scorer.sort_key(group[place].estimate(scorer)))

    order = sorted(range(len(group)), key=best_first)
    ranking = overall.reordered(order)
    categories = dict.fromkeys(sample.category for sample in first.samples)
    sizes = {name: len(first.group(scorer, category(name)).samples) for name in categories}
    counts = {name: size for name, size in sizes.items() if size}
    parts: dict[str, Ranking] = {}
    if by_category:
        for one in group:
            for name in counts:
                one.estimate(scorer, category(name))
        if {first.alike(category(name)) for name in counts} == {ALL}:
            parts = dict.fromkeys(counts, ranking)
        else:
            found = rank_runs(scorer, [category(name) for name in counts], group, correction)
            parts = {name: one.reordered(order) for name, one in zip(counts, found, strict=True)}
    entries = []
    for number, place in enumerate(order):
        places = {name: part.places[number] for name, part in parts.items()}
        entries.append(RunEntry(names[place], group[place], scorer, ranking.places[number], places))
    warnings = [text for one in entries for text in blind_warnings(one.label, one.table, scorer)]
    blind = (f"Warning: {text}." for text in dict.fromkeys(warnings))
    return Board(
        first.run.benchmark,
        scorer,
        len(first.group(scorer).samples),
        counts,
        first.run.dataset,
        len(first.missing),
        signature,
        tuple(entries),
        ranking,
        parts,
        correction,
        verdict_of(scorer, ranking, entries, correction),
        notes=(*board_notes(ranking, entries, correction), *blind),
    )


def verdict_of(
    scorer: Scorer,
    ranking: Ranking,
    entries: Sequence[RunEntry],
    correction: Correction,
    key: GroupKey = ALL,
) -> str:
    """What is known of all models, in a sentence; of a race's runs alone, what the race says."""
    places = [(one.rank, place) for place, one in enumerate(ranking.places) if one.rank is not None]
    order = [place for _, place in sorted(places)]
    if not order:
        return next((one.table.race for one in entries if one.table.raced), "")
    group, about = entries[0].table.group(scorer, key), counted(ranking.ground, "sample")
    if len(set(group.clips)) < ranking.ground == len(group.samples):
        about = counted(len(set(group.clips)), "clip")
    at = {place: number for number, place in enumerate(order)}
    better = [(at[one.first], at[one.second]) for one in ranking.pairs if one.different]
    ranked = [entries[place].label for place in order]
    if len(ranked) > 1 and ranking.untested:
        return f"{ranked[0]} has the highest {scorer.label} on {about}. {ranking.untested}"
    tests = f"{correction.words}, {counted(len(ranking.pairs), 'test')}"
    return board_verdict(scorer.label, about, ranked, better, tests)


def board_verdict(
    score: str, about: str, ranked: Sequence[str], better: Sequence[tuple[int, int]], tests: str
) -> str:
    """What is known of models in the order of their ranks, from pairs of whom the first is better.

    The first is said to beat, or to lead, only those that ``tests`` tell from it.
    """
    if len(ranked) < 2:
        return ""
    beaten = {second for first, second in better if first == 0}
    level = [name for place, name in enumerate(ranked) if place and place not in beaten]
    how = f" ({tests})" if len(ranked) > 2 else ""
    if not level:
        others = f"the other {len(ranked) - 1}" if len(ranked) > 2 else ranked[1]
        return f"{ranked[0]} beats {others} in {score} on {about}{how}."
    if not better:
        them = f"The {len(ranked)} models" if len(ranked) > 2 else " and ".join(ranked)
        return f"{them} cannot be told apart by {score} on {about}{how}."
    first = f"leads in {score}" if beaten else f"has the highest {score}"
    return f"{ranked[0]} {first} on {about}; {_names(level)} may be as good{how}."


def _names(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{', '.join(names[: _MOST_NAMED - 1])} and {len(names) - _MOST_NAMED + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _with_published(
    store: Store,
    boards: Sequence[Board],
    results: PublishedResults | None,
    wanted: Scorer | None,
    notes: list[str],
    *,
    by_category: bool,
    beside: Callable[..., PublishedResults | None],
) -> list[Board]:
    shown, mixed = [], list[PublishedResults]()
    for board in boards:
        scorer, samples = board.scorer, board.entries[0].table.samples
        own = beside(board.benchmark, samples)
        alike = own is not None and _is_published(scorer, own)
        tables = {one.label: one.table for one in board.entries}
        found = departures(store, tables, scorer.judge)
        placed = replace(board, departures=found, notes=(*board.notes, *in_full(found)))
        if own is None:
            which = "in_standings" if base_name(board.benchmark) in TRAITS else "unpublished"
            told = NOTES[which].format(benchmark=board.benchmark)
            notes += [told] if told not in notes else []
        # Published scores stand among a board's where they are of the same kind, and about every
        # sample of the benchmark, but for clips that were not there.
        elif alike and (board.samples + board.missing_clips == own.total or are_papers(samples)):
            rows, absent = _entries(own, scorer, by_category=by_category), own.total - board.samples
            said = [*placed.notes, _source(own, scorer, "Rows", ", and are part of no test")]
            if absent:
                said.append(NOTES["absent"].format(total=own.total, absent=absent))
            placed = replace(placed, published=rows, missing_clips=absent, notes=tuple(said))
            mixed.append(own)
        elif alike:
            notes.append(NOTES["apart"].format(total=own.total, samples=board.samples))
        else:
            notes.append(f"The published results have no {scorer.label}.")
        shown.append(placed)
    if results is None:
        return shown
    # Beside totals of corpora alone, scores of a single corpus would say nothing.
    single = [one for one in boards if not (one.entries and one.entries[0].table.aggregation)]
    if not mixed and (single or not boards):
        ranked = [one.scorer for one in boards if one.benchmark == results.benchmark]
        ranked = ranked if wanted is None else [wanted]
        printed = [one for one in ranked if one.judge is None and _is_published(one, results)]
        if printed or wanted is None or wanted.judge is not None:
            # Another judge's name above the published judge's scores would be untrue.
            own_metric = Scorer(next(iter(results.rows[0].metrics)))
            paper = Scorer(results.judge, OVERALL) if results.judge else own_metric
            scorer = next(iter(printed), paper)
            rows = _entries(results, scorer, by_category=by_category)
            about = (results.benchmark, scorer, results.total, dict(results.counts))
            note = f"Not run here, and part of no test. Source: {results.source}."
            shown.append(Board(*about, published=rows, notes=(note,)))
            mixed.append(results)
    misfits = dict.fromkeys(one.benchmark for one in mixed if one.misfits)
    notes += [NOTES["misfits"].format(name=name) for name in misfits]
    return shown


def _source(results: PublishedResults, scorer: Scorer, what: str, more: str = "") -> str:
    judged = f"were judged by {results.judge}, " if scorer.judge is not None else ""
    return f"{what} marked 'published' {judged}were not run here{more}. Source: {results.source}."


def published_beside(
    benchmark: str, headline: Scorer, samples: Sequence[Sample]
) -> tuple[tuple[PublishedEntry, ...], list[str]]:
    results = published_results(benchmark, samples)
    if results is None:
        return (), [f"There are no published results of {benchmark} in this package."]
    if not _is_published(headline, results):
        return (), [f"The published models are not shown: they have no score of {headline.label}."]
    return _entries(results, headline, by_category=True), [_source(results, headline, "Models")]


def _is_published(scorer: Scorer, results: PublishedResults) -> bool:
    """Whether the paper prints such a score: its judge's, of any provider and day, or a metric."""
    if scorer.judge is None:
        return any(scorer.name in row.metrics for row in results.rows)
    return scorer.is_overall and results.is_judge(scorer.name)


def _entries(
    results: PublishedResults, scorer: Scorer, *, by_category: bool
) -> tuple[PublishedEntry, ...]:
    entries, judged = [], scorer.judge is not None
    for row in results.rows:
        score = row.judged[OVERALL] if judged else row.metrics.get(scorer.name)
        dimensions = {name: one for name, one in row.judged.items() if judged and name != OVERALL}
        parts = dict(row.by_category) if judged and by_category else {}
        about = (row.model, results.judge if judged else "", results.source, row.rank)
        if score is not None:
            entries.append(PublishedEntry(*about, score, dimensions, parts, dict(row.metrics)))
    return tuple(sorted(entries, key=lambda one: -one.score))
