"""A model that is asked without the clip: to read answers, or to see what words alone give away."""

from collections.abc import Mapping, Sequence

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Reply
from audiocapbench.models import AudioContract, Model, Question


class TextOnly:
    """The same model under a contract of no audio."""

    contract = AudioContract("none")

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name

    @property
    def parameters(self) -> Mapping[str, str | int | float | bool]:
        """The model's own, and that nothing was sent to hear."""
        return {**self._model.parameters, "audio": False}

    @property
    def cacheable(self) -> bool:
        """As the model."""
        return self._model.cacheable

    @property
    def concurrency(self) -> int:
        """As the model."""
        return self._model.concurrency

    def prepare(self, samples: Sequence[Sample]) -> None:
        """What the model prepares."""
        self._model.prepare(samples)

    async def answer(self, question: Question) -> Reply:
        """Answer as the model does."""
        return await self._model.answer(question)

    async def aclose(self) -> None:
        """Close the model's connections, where it keeps any."""
        close = getattr(self._model, "aclose", None)
        if close is not None:
            await close()
