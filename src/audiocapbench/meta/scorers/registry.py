"""How a name such as ``metric:cider_d`` becomes a scorer."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import cast

from audiocapbench.meta.errors import TrialError
from audiocapbench.meta.scorers.scorer import PairScorer
from audiocapbench.meta.settings import TrialSettings

KINDS: Mapping[str, tuple[str, str]] = {
    "metric": ("scorers.metric", "create_metric_scorer"),
    "judge": ("scorers.judge", "JudgeScorer"),
    "clap": ("scorers.clap", "create_clap_scorer"),
    "control": ("scorers.controls", "create_control"),
    "model": ("pairwise.scorer", "create_pairwise"),
}
"""What may stand before the colon of a scorer's name; each is imported when it is asked for."""


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
    kind, _, name = (part.strip() for part in text.partition(":"))
    if kind not in KINDS or not name:
        kinds = ", ".join(f"{one}:NAME" for one in KINDS)
        raise TrialError(f"{text!r} is not a scorer; write one of {kinds}")
    module, maker = KINDS[kind]
    create = getattr(import_module(f"audiocapbench.meta.{module}"), maker)
    create = cast("Callable[[str, TrialSettings], PairScorer]", create)
    return create(name, settings or TrialSettings())
