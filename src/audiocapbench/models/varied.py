"""A model under its own name with something about it changed, and the rest as it is."""

from collections.abc import Sequence

from audiocapbench.data.outcome import Reply
from audiocapbench.data.sample import Sample
from audiocapbench.models.model import (
    AudioContract,
    ClosableModel,
    CorpusModel,
    Model,
    Parameters,
    Question,
)


class VariedModel:
    """A model with more parameters, which are part of its cache key, or with another contract.

    Args:
        model: Who answers.
        more: What tells its answers from those of the model as it is.
        contract: The audio that it is sent instead.
    """

    def __init__(
        self, model: Model, more: Parameters, contract: AudioContract | None = None
    ) -> None:
        self._model, self.name = model, model.name
        self.cacheable, self.concurrency = model.cacheable, model.concurrency
        self.parameters: Parameters = {**model.parameters, **more}
        self.contract = contract or model.contract

    def prepare(self, samples: Sequence[Sample]) -> None:
        """What the model prepares, if anything."""
        if isinstance(self._model, CorpusModel):
            self._model.prepare(samples)

    async def answer(self, question: Question) -> Reply:
        """Answer as the model does."""
        return await self._model.answer(question)

    async def aclose(self) -> None:
        """Close the model's connections, where it keeps any."""
        if isinstance(self._model, ClosableModel):
            await self._model.aclose()


def without_audio(model: Model) -> VariedModel:
    """The model asked without the clip: to read answers, or to see what words alone give away."""
    return VariedModel(model, {"audio": False}, AudioContract("none"))
