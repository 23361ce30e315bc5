"""Models compared: ``leaderboard``, ``compare``, ``gate``, ``subset``, ``variance``, ``power``."""

from dataclasses import asdict, replace
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from audiocapbench.asking import BoardOptions
from audiocapbench.cli import options
from audiocapbench.cli.app import app, leave
from audiocapbench.cli.console import json_text, say, show_lines, show_result
from audiocapbench.errors import AudioCapBenchError, did_you_mean
from audiocapbench.files import write_file
from audiocapbench.table import Findings, Table
from audiocapbench.table.forms import Format, markdown_text

if TYPE_CHECKING:
    from audiocapbench.study.gate import GateResult


@options.command(app.command)
def leaderboard(
    *,
    query: BoardOptions,
    table: Annotated[int | None, Option(min=1, max=3)] = None,
    columns: options.Metrics = None,
    correction: options.Correction = "holm",
    calibrated: str | None = None,
    fail_under: float | None = None,
    shown: options.Shown,
) -> None:
    """Rank the models of a store, with intervals, and say which cannot be told apart.

    Args:
        table (N): A table of AudioCapBench's paper: 1 all scores, 2 by category, 3 the data.
        columns (A,B): Which columns of that table, comma-separated.
        calibrated (FILE): Rank by what people would have given, from ratings of a part: a file or
            a rating project; see 'audiocapbench judges calibrate'. Needs --judge.
        fail_under (SCORE): Exit with 1 if a model is surely below, for CI: failures as 0, by
            one-sided tests at 5 % that are corrected for all models of the board.
    """
    from audiocapbench.cli.progress import warn_about
    from audiocapbench.library import comparing

    published, by_category = query["published"], query["by_category"]
    if calibrated is not None and query["judge"] is None:
        raise AudioCapBenchError("--calibrated puts a judge right; name it with --judge")
    other = {shown.out, table, fail_under} != {None} or published or by_category
    if calibrated is not None and (other or shown.format not in (Format.TABLE, Format.JSON)):
        raise AudioCapBenchError("--calibrated goes with --benchmark, --all-runs and --json alone")
    if fail_under is not None and not isfinite(fail_under):
        raise AudioCapBenchError(f"--fail-under takes a score, not {fail_under}")
    if columns is not None and table is None:
        raise AudioCapBenchError("--columns chooses those of a --table")
    if query["votes"] and (calibrated or table):
        raise AudioCapBenchError("--votes adds to a leaderboard, not to --calibrated or a --table")
    with comparing.board_store(shown.store, published=published) as store:
        query["by_category"] = by_category or table == 2
        ranked = comparing.leaderboard(store=store, correction=correction, **query)
        if calibrated is not None:
            from audiocapbench.report.judge_studies import calibration_report
            from audiocapbench.study.calibration import calibrate_runs

            if len(boards := ranked.boards) > 1:
                raise AudioCapBenchError(
                    f"--calibrated is of one board, and there are {len(boards)}; choose with "
                    "--benchmark, or runs with 'audiocapbench judges calibrate'"
                )
            runs = [entry.run.id for entry in boards[0].entries]
            put_right = calibrate_runs(store, runs, calibrated, boards[0].scorer, partly=True)
            show_result(calibration_report(put_right), json=shown.format is Format.JSON)
            return
        shown.write(ranked if table is None else ranked.table(table, columns or ()))
        say(*ranked.notes)
        for board in ranked.boards:
            if board.scorer.dimension and board.entries:
                warn_about(store, [board.scorer.name], [entry.run.id for entry in board.entries])
        if fail_under is not None:
            from audiocapbench.study.gate import Case, Gate, check_cases

            floor = {"kind": "floor", "least": fail_under, "must": "not-missed"}
            cases = [
                Case(Gate.by(board.scorer, run=one.run.id, **floor), one.label, one.table)
                for board in ranked.boards
                for one in board.entries
            ]
            gates = check_cases(cases)
            say(*(one.line for one in gates.findings))
            _leave(gates)


@options.command(app.command)
def compare(
    first: options.RunArgument,
    second: options.RunsArgument,
    *,
    metrics: options.Metrics = None,
    judge: list[str] | None = None,
    clips: Annotated[int, Option(min=0)] = 5,
    correction: options.Correction = "holm",
    repeats: bool = False,
    paper: bool = False,
    fail_if_worse: list[str] | None = None,
    margin: float | None = None,
    shown: options.Shown,
) -> None:
    """Compare runs with the first on their common samples: what is known, differences, p-values.

    Args:
        metrics (A,B): Only these; by default all that both have.
        judge (JUDGE): Only these judges; repeat for several.
        clips (N): How many clips that moved to show.
        repeats: Let a run stand for all its repeats ('run --repeats'): the mean of their answers.
        paper: Print a paragraph for a paper instead, with signatures and power.
        fail_if_worse (SCORER): Exit with 1 if another run is surely worse than the first by this
            metric or judge, for CI: by a one-sided test, corrected for such gates alone. May be
            repeated.
        margin (D): Exit with 1 unless they are surely worse by less than this.
    """
    from audiocapbench.cli.progress import warn_about
    from audiocapbench.library import comparing
    from audiocapbench.metrics import find_metric
    from audiocapbench.report.compare.result import LONGEST, LONGEST_IN_A_FILE

    if margin is not None and (not fail_if_worse or not 0 < margin < inf):
        raise AudioCapBenchError("--margin is a number above 0, and goes with --fail-if-worse")
    if paper and (shown.out is not None or shown.format is not Format.TABLE):
        raise AudioCapBenchError("--paper is a paragraph; leave out --json, --format and --out")
    for name in metrics or ():
        find_metric(name)
    store = shown.open()
    comparison = comparing.compare(
        first,
        *second,
        store=store,
        metrics=metrics or (),
        judges=judge or (),
        clips=clips,
        correction=correction,
        repeats=repeats,
    )
    scorers = {one.scorer.name: one.scorer for one in reversed(comparison.differences)}
    gates = None
    if fail_if_worse:
        from audiocapbench.study.gate import Gate, check_gates

        for name in fail_if_worse:
            if name not in scorers:
                there = did_you_mean(name, scorers, "they were by")
                raise AudioCapBenchError(f"the runs were not compared by {name!r}{there}")
        kind = "not-worse" if margin is None else "margin"
        named = {"kind": kind, "run": tuple(second), "against": first, "margin": margin}
        by = [Gate.by(scorers[name], **named) for name in dict.fromkeys(fail_if_worse)]
        gates = check_gates(store, by, repeated=repeats)
        comparison = replace(comparison, gates=gates.to_dict())
    if paper:
        show_lines(comparison.paper())
    else:
        longest = LONGEST if shown.format is Format.TABLE else LONGEST_IN_A_FILE
        shown.write(replace(comparison, longest=longest))
    warn_about(store, [name for name, one in scorers.items() if one.judge], [first, *second])
    if gates is not None:
        say(*(one.line for one in gates.findings))
        _leave(gates)


@options.command(app.command)
def gate(
    file: Path,
    *,
    junit: options.MaybeNewFile = None,
    markdown: options.MaybeNewFile = None,
    at: options.StoreOptions,
) -> None:
    """Test what a file says must hold of runs, and exit by it, for CI.

    Exit codes: 0 open, 1 closed, 2 wrong use, or a gate that cannot be told (too few samples, a
    race's runs). Tests are one-sided, and corrected for the gates of the file and nothing else.

    Args:
        file (FILE): A TOML file of gates; see the documentation, "Certainty per dollar".
        junit (FILE): Write the results as JUnit XML, for a CI's list of tests.
        markdown (FILE): Write them as Markdown, for a pull request, with clips that got worse.
    """
    from audiocapbench.study.gate import check_gates, read_gates

    for written in (junit, markdown):
        options.refuse_overwriting(written, [file])
    gates = read_gates(file)
    with at.open() as store:
        results = check_gates(store, gates.gate, gates.alpha)
    at.show(results)
    if junit is not None:
        write_file(junit, results.junit())
    if markdown is not None:
        write_file(markdown, markdown_text(results.tables()))
    _leave(results)


def _leave(gates: "GateResult") -> None:
    """Exit with 1 where a gate failed, and else with 2 where one cannot be told."""
    closed = gates.count("fail") > 0
    unknown = [AudioCapBenchError(gates.verdict)] if gates.count("error") and not closed else []
    leave(failed=closed, refusals=unknown)


@options.command(app.command)
def subset(
    runs: options.RunsArgument,
    *,
    size: Annotated[int, Option(min=2)] = 100,
    metric: str | None = None,
    judge: str | None = None,
    seed: Annotated[int, Option(min=0)] = 0,
    out: options.MaybeNewFile = None,
    use: Path | None = None,
    at: options.StoreOptions,
) -> None:
    """Choose clips that rank models as the whole benchmark would, and say how well they do.

    How far the subset is off is measured on each of the runs in turn, chosen by the others. Then
    'audiocapbench run --only FILE' asks a new model about these clips alone, and 'audiocapbench
    subset RUN --use FILE' says what it would score on all, within an honest interval.

    Args:
        size (N): How many clips.
        metric (M): Choose by this metric. [default: the benchmark's headline]
        judge (JUDGE): Choose by this judge's overall score instead.
        out (FILE): Write the subset as JSON.
        use (FILE): Estimate runs by this subset instead of choosing one.
    """
    from audiocapbench.report.leaderboard.build import ranking_scorer
    from audiocapbench.scores.estimate import Scorer
    from audiocapbench.scores.table import TableReader
    from audiocapbench.study.subset import choose_subset, estimate_by, read_subset

    wanted, store = ranking_scorer(metric, judge), at.open()
    reader = TableReader(store)
    tables = [reader.read(store.run(number)) for number in dict.fromkeys(runs)]
    if use is not None:
        if out is not None:
            raise AudioCapBenchError("--out writes what is chosen; --use only estimates")
        chosen = read_subset(use)
        rows = estimate_by(chosen, tables)
        title = f"{chosen.scorer} on all clips, by {len(chosen.ids):,} of {chosen.of:,}"
        table = Table(title, rows, notes=[f"Signature: {chosen.signature}"], name="models")
        at.show(Findings([table], {"subset": chosen.to_dict()}))
        return
    scorer = wanted or Scorer(tables[0].traits.headline)
    chosen = choose_subset(tables, scorer, size, seed=seed)
    if out is not None:
        write_file(out, f"{json_text(chosen.to_dict())}\n")
        say(f"Written: {out}")
    rows = [
        {"way": name, **asdict(one), "": "chosen" if name == chosen.method else ""}
        for name, one in chosen.held_out.items()
    ]
    what = f"{len(chosen.ids):,} of {chosen.of:,} clips of {chosen.benchmark}"
    title = f"{what}, by {chosen.scorer}: {len(chosen.models)} models, each left out in turn"
    notes = (
        f"A model that was not looked at is {chosen.held_out[chosen.method].rank_error:.2f} places "
        "off on average; its score on the subset stands for that on all clips within "
        f"±{chosen.half_width:.3g} (95 %).",
        f"Signature: {chosen.signature}",
    )
    at.show(Findings([Table(title, rows, notes=notes)], chosen.to_dict()))


@options.command(app.command)
def variance(
    runs: options.MaybeRuns = None,
    *,
    metric: str | None = None,
    judge: str | None = None,
    ratings: str | None = None,
    spend: Annotated[float, Option(min=0)] = 10.0,
    rating_usd: Annotated[float, Option(min=0)] = 0.0,
    at: options.StoreOptions,
) -> None:
    """See what a score varies by: clips, decoding, the judge, raters; and what to spend on next.

    Decoding is known of 'run --repeats', the judge of 'score --repeats'; the standard error counts
    all of them. Without runs, it is of each model's newest.

    Args:
        metric (M): Of this metric.
        judge (J): Of this judge's overall score.
        ratings (FILE): Also of people's ratings: a file, or a rating project.
        spend (USD): What the next clips, repeats, rounds or raters may cost; where nothing has a
            price, it is 100 questions.
        rating_usd (USD): What a rating costs; 0 for 100 ratings.
    """
    from audiocapbench.report import variance as report
    from audiocapbench.scores.table import labels

    with at.open() as store:
        entries, scorer = report.read_entries(store, runs or (), metric, judge)
        named = zip(labels(entries), entries, strict=True)
        noises = [report.noise_of_runs(name, one, scorer) for name, one in named]
        if ratings is not None:
            noises.append(report.noise_of_people(store.ratings.opinions(ratings), rating_usd))
    at.show(report.variance_report(noises, scorer, spend, entries[0].run.benchmark))
    if ratings is None:
        say("Raters are not measured; --ratings names a file of ratings, or a rating project.")


@options.command(app.command)
def power(
    runs: options.MaybeRuns = None,
    *,
    difference: Annotated[float | None, Option(min=1e-9)] = None,
    clips: Annotated[int | None, Option(min=2)] = None,
    tests: Annotated[int, Option(min=1)] = 1,
    repeats: Annotated[int | None, Option(min=1)] = None,
    metric: str | None = None,
    judge: str | None = None,
    at: options.StoreOptions,
) -> None:
    """Before a run: how many clips a difference takes, or what difference they would show.

    From how far the store's own models differ from clip to clip: the median over their pairs, or
    of the runs that are named.

    Args:
        difference (D): The true difference to see in 4 of 5 cases.
        clips (N): So many clips instead.
        tests (K): Corrected over so many tests.
        repeats (K): Each question asked so often; known of 'run --repeats'.
        metric (M): By this metric.
        judge (J): By this judge's overall score.
    """
    from audiocapbench.report import variance as report

    if (difference is None) == (clips is None):
        raise AudioCapBenchError("name what is given: --difference or --clips")
    with at.open() as store:
        entries, scorer = report.read_entries(store, runs or (), metric, judge)
    how = {"difference": difference, "clips": clips, "tests": tests, "times": repeats}
    at.show(report.power_report(entries, scorer, **how))  # type: ignore[arg-type]
