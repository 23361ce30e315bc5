"""How a name such as ``metric:cider_d`` becomes a scorer."""

from collections.abc import Callable, Mapping

from audiocapbench.meta.errors import TrialError
from audiocapbench.meta.scorers.scorer import PairScorer
from audiocapbench.meta.settings import TrialSettings

Maker = Callable[[str, TrialSettings], PairScorer]


def create_scorer(text: str, settings: TrialSettings | None = None) -> PairScorer:
    """Make the scorer that ``KIND:NAME`` stands for.

    Args:
        text: Such as ``metric:cider_d``, ``judge:elements``, ``clap:NAME``, ``control:longer`` or
            ``model:PROVIDER/MODEL``.
        settings: What the user says about the trial.

    Raises:
        TrialError: There is no such kind, or no such control.
        AudioCapBenchError: There is no such metric, judge or model, or it cannot be used here.
    """
    kind, colon, name = text.strip().partition(":")
    if kind not in KINDS or not colon or not name.strip():
        kinds = ", ".join(f"{one}:NAME" for one in KINDS)
        raise TrialError(f"{text!r} is not a scorer; write one of {kinds}")
    return KINDS[kind](name.strip(), settings or TrialSettings())


def _metric(name: str, settings: TrialSettings) -> PairScorer:
    from audiocapbench.meta.scorers.metric import MetricScorer

    return MetricScorer(name, settings.protocol)


def _judge(name: str, settings: TrialSettings) -> PairScorer:
    from audiocapbench.meta.scorers.judge import JudgeScorer

    return JudgeScorer(name, settings)


def _clap(name: str, settings: TrialSettings) -> PairScorer:
    from audiocapbench.meta.scorers.clap import create_clap_scorer

    return create_clap_scorer(name, settings)


def _control(name: str, settings: TrialSettings) -> PairScorer:
    from audiocapbench.meta.scorers.controls import create_control

    return create_control(name, settings)


def _model(name: str, settings: TrialSettings) -> PairScorer:
    from audiocapbench.meta.pairwise.scorer import create_pairwise

    return create_pairwise(name, settings)


KINDS: Mapping[str, Maker] = {
    "metric": _metric,
    "judge": _judge,
    "clap": _clap,
    "control": _control,
    "model": _model,
}
"""What may stand before the colon of a scorer's name."""
