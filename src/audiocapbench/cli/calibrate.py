"""``audiocapbench judges calibrate``: what people would have given, from ratings of a part."""

from math import isfinite
from pathlib import Path
from typing import Annotated

from typer import BadParameter, Option

from audiocapbench.cli import options
from audiocapbench.cli.console import show_findings
from audiocapbench.cli.judges import judges_app
from audiocapbench.errors import AudioCapBenchError


def _scale(given: str) -> str:
    low, colon, high = given.partition(":")
    try:
        if colon and float(low) < float(high) and isfinite(float(high) - float(low)):
            return given
    except ValueError:
        pass
    raise BadParameter(f"{given!r} is no scale; write LOW:HIGH, such as 1:5.")


@options.command(judges_app.command)
def calibrate(
    runs: options.RunsArgument,
    *,
    ratings: Path,
    judge: str | None = None,
    metric: str | None = None,
    dimension: str = "overall",
    scale: Annotated[str, Option(callback=_scale)] = "0:10",
    category: str | None = None,
    width: Annotated[float | None, Option(min=1e-6)] = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Put a judge right by people's ratings of a random part of what it has judged.

    Prediction-powered inference (PPI++): the judge's mean over everything, less how far it is off
    where people rated. The interval holds whatever the judge is worth; one that adds nothing is
    told so.

    Args:
        ratings (FILE): Ratings of a random part: item, value and, where there are several, run or
            model, person, dimension; what 'audiocapbench view --rate' exports.
        judge (JUDGE): The judge that has judged the runs.
        metric (M): A metric instead of a judge.
        dimension (NAME): What was rated: overall (or the mean of the others), accuracy, …
        scale (LOW:HIGH): The scale of the ratings.
        category (NAME): Only samples of this category.
        width (X): Say how many ratings an interval of this width takes.
    """
    from audiocapbench.report.calibration import calibration_report
    from audiocapbench.scores.scorer import Scorer
    from audiocapbench.store import Store
    from audiocapbench.study.calibration import calibrate_runs

    if (judge is None) == (metric is None):
        raise AudioCapBenchError("name what to put right: --judge or --metric")
    scorer = Scorer(judge, dimension) if judge is not None else Scorer(str(metric))
    low, _, high = scale.partition(":")
    found = calibrate_runs(
        Store.open(store, create=False),
        list(dict.fromkeys(runs)),
        ratings,
        scorer,
        dimension=dimension,
        scale=(float(low), float(high)),
        width=width,
        category=category,
    )
    show_findings(calibration_report(found, width), json=json)
