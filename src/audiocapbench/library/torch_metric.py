"""A caption metric as torchmetrics knows metrics; imported only by who has torchmetrics."""

from typing import Any

import torch
from torchmetrics import Metric

from audiocapbench.library.scoring import ScoreResult


class TorchCaptionMetric(Metric):  # type: ignore[misc]
    """The values of ``captions``, an ``AudioCaptionMetric``, for collections and Lightning."""

    higher_is_better = True
    full_state_update = False

    def __init__(self, captions: Any) -> None:
        super().__init__(sync_on_compute=False)  # the captions find their other processes
        self.captions = captions

    def update(self, preds: Any, target: Any, ids: Any = None) -> None:
        self.captions.update(preds, target, ids)

    def compute(self) -> dict[str, torch.Tensor]:
        """The value of each metric over all processes; not a number where nothing was scored."""
        return _tensors(self.captions.compute())

    def forward(self, preds: Any, target: Any, ids: Any = None) -> dict[str, torch.Tensor]:
        result = self.captions(preds, target, ids)
        self.update([], [])  # so that torchmetrics knows of it
        return _tensors(result)

    def reset(self) -> None:
        super().reset()
        self.captions.reset()


def _tensors(result: ScoreResult) -> dict[str, torch.Tensor]:
    values = {one: result[one].value for one in result.scores.metrics}
    numbers = {name: float("nan") if one is None else one for name, one in values.items()}
    return {name: torch.tensor(one, dtype=torch.float64) for name, one in numbers.items()}
