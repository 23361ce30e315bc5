"""A model whose questions are answered by copies of it on a Ray cluster.

The engine asks it like any other: leases, budget, cache, retries and commits stay where they are.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Reply
from audiocapbench.engine.ray_cluster import AT_ONCE, ActorPool, Cluster, WorkerLostError
from audiocapbench.engine.retrying_client import checked_reply
from audiocapbench.engine.store_access import Note
from audiocapbench.errors import ClusterError, FatalError, ModelError
from audiocapbench.models import Model, Question
from audiocapbench.models.model import CorpusModel, batch_of, gpus_of
from audiocapbench.models.plugin_models import MODULE_OF_FILE
from audiocapbench.models.registry import provider_of

_MOST_LOSSES = 3


class _Answering:
    """What a worker does: prepares its copy of the model, and answers."""

    def __init__(self, model: Model, samples: Sequence[Sample]) -> None:
        self._model, self._samples = model, samples
        self._declared = dict(model.parameters)

    def prepare(self) -> None:
        # A model may travel as its name and find another device or checkpoint where it arrives.
        for key, value in self._declared.items():
            if (found := self._model.parameters.get(key)) != value:
                raise ModelError(f"its {key} is {found} there, and {value} where it was asked for")
        if isinstance(self._model, CorpusModel):
            self._model.prepare(self._samples)

    async def __call__(self, question: Question) -> Reply:
        return await checked_reply(self._model, question)


class ClusterModel:
    """A model on a cluster; what it declares is what the model itself does."""

    def __init__(self, cluster: Cluster, model: Model, note: Note) -> None:
        self._cluster, self._model, self._note = cluster, model, note
        self._gpus = gpus_of(model)
        batch = batch_of(model)
        self._at_once = AT_ONCE if batch is None else model.concurrency
        self._samples: Sequence[Sample] = ()
        self._losses: Counter[str] = Counter()
        self._pool: ActorPool[Question, Reply] | None = None
        self.name, self.contract, self.parameters = model.name, model.contract, model.parameters
        self.cacheable, self.batch = model.cacheable, batch or 1

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._model, name)

    @property
    def concurrency(self) -> int:
        """Questions that all nodes together can have; more once the cluster has grown."""
        if self._pool is not None:
            return self._pool.capacity
        spec = self._cluster.spec
        return self._at_once * max(
            spec.least, min(spec.most, self._cluster.actors_that_fit(self._gpus))
        )

    def prepare(self, samples: Sequence[Sample]) -> None:
        """Keep what the copies are to be prepared with; this process loads no weights."""
        if isinstance(self._model, CorpusModel):
            self._samples = samples

    async def answer(self, question: Question) -> Reply:
        """Have a copy answer; one that is lost with the question is no answer yet."""
        try:
            if self._pool is None:
                self._pool = self._begin()
            lost = self._losses[question.sample_id]
            return await asyncio.wrap_future(self._pool.submit(question, alone=lost > 0))
        except WorkerLostError as error:
            self._losses[question.sample_id] += 1
            if lost + 1 < _MOST_LOSSES:
                raise
            raise ModelError(f"given up after {_MOST_LOSSES} attempts: {error}") from error
        except ClusterError as error:
            raise FatalError(str(error)) from error

    def _begin(self) -> ActorPool[Question, Reply]:
        for name, module in list(sys.modules.items()):
            if name.startswith(MODULE_OF_FILE):  # other machines have no such file: send the code
                self._cluster.ray.cloudpickle.register_pickle_by_value(module)
        work = _Answering(self._model, self._samples)
        return ActorPool(
            self._cluster,
            work,
            name=self.name,
            gpus=self._gpus,
            at_once=self._at_once,
            # The engine itself asks again after a loss, with the bill and limits of any attempt.
            retries=0,
            note=self._note,
        )

    async def aclose(self) -> None:
        """End the copies."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None


def on_cluster(cluster: Cluster, model: Model, note: Note) -> Model:
    """The model on a cluster; a service, which answers elsewhere, is asked from here as ever.

    Its key then goes nowhere else, and no attempt is paid for of which nobody knows.
    """
    provider = provider_of(model.name)
    if provider is not None and provider.key_names:
        note(f"ray: {model.name} is a service and needs no worker; it is asked from here")
        return model
    return ClusterModel(cluster, model, note)
