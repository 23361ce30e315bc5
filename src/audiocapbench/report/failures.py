"""What failures do to a number, in words: left out, counted as zero, and at worst or best."""

from collections.abc import Sequence

from audiocapbench.judges import JudgeFigure
from audiocapbench.report.figures import Figure
from audiocapbench.report.summary import RunSummary


def failure_lines(summaries: Sequence[RunSummary], metric: str) -> list[str]:
    """A line for every run and judge with samples that have no score."""
    lines = []
    for one in summaries:
        if one.coverage.failed and metric in one.overall:
            missing = f"{one.coverage.failed} of {one.coverage.total} clips have no answer"
            figure = one.overall[metric]
            if figure.lacks:
                lines.append(f"{one.run.model}: {missing}.")
            else:
                lines.append(_line(one.run.model, missing, metric, figure, 3))
        for name, judged in one.judges.items():
            whole = judged.overall
            overall = whole.figures.get("overall")
            if whole.judged < whole.total and overall is not None:
                missing = f"{whole.total - whole.judged} of {whole.total} have no verdict of {name}"
                lines.append(_line(one.run.model, missing, "overall", overall, 2))
    return lines


def _line(model: str, missing: str, name: str, figure: Figure | JudgeFigure, digits: int) -> str:
    if figure.score is None or figure.as_zero is None or figure.bounds is None:
        return f"{model}: {missing}; there is nothing to score."
    left_out, zero, low, high = (
        f"{value:.{digits}f}" for value in (figure.score, figure.as_zero, *figure.bounds)
    )
    scores = f"{left_out} without them, {zero} as zero, {low}–{high} at worst and best"
    return f"{model}: {missing}. {name}: {scores}."
