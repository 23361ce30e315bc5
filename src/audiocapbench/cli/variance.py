"""``audiocapbench variance`` and ``power``: where noise comes from, and what a run could see."""

from typing import Annotated

from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import say
from audiocapbench.errors import AudioCapBenchError


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

    with at.open() as kept:
        entries, scorer = report.read_entries(kept, runs or (), metric, judge)
        named = zip(labels(entries), entries, strict=True)
        found = [report.noise_of_runs(name, one, scorer) for name, one in named]
        if ratings is not None:
            found.append(report.noise_of_people(kept.ratings.opinions(ratings), rating_usd))
    at.show(report.variance_report(found, scorer, spend))
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
    with at.open() as kept:
        entries, scorer = report.read_entries(kept, runs or (), metric, judge)
    how = {"difference": difference, "clips": clips, "tests": tests, "times": repeats}
    at.show(report.power_report(entries, scorer, **how))  # type: ignore[arg-type]
