"""Asks a model about one sample and turns whatever happens into an outcome.

This is where limits, retries and budgets belong: between the cache and the model.
"""

import time
from dataclasses import replace
from typing import NamedTuple

from anyio import to_thread

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.engine.prepare import prepare
from audiocapbench.errors import AudioCapBenchError, AudioError
from audiocapbench.models import Model, Question, SentAudio
from audiocapbench.store import Store, cache_key


class Asked(NamedTuple):
    """An outcome, and the key to cache its reply under."""

    outcome: Outcome
    cache_key: str | None


async def ask(model: Model, sample: Sample, store: Store, *, use_cache: bool) -> Asked:
    """Ask about one sample; a failure is an outcome, never an exception."""
    try:
        sent = await to_thread.run_sync(prepare, sample.clip, model.contract)
    except AudioError as error:
        return Asked(_outcome(sample, Reply("", Status.FAILED, str(error)), None, 0.0), None)
    key = None
    if model.cacheable:
        digest = sent.sha256 if sent else None
        key = cache_key(model.name, model.parameters, sample.instruction, digest)
    if key is not None and use_cache:
        known = await to_thread.run_sync(store.cached_reply, key)
        if known is not None:
            return Asked(replace(_outcome(sample, known, sent, 0.0), cached=True), None)
    started = time.perf_counter()
    reply = await _reply(model, Question(sample.id, sample.instruction, sent))
    outcome = _outcome(sample, reply, sent, time.perf_counter() - started)
    return Asked(outcome, key if reply.status is Status.OK else None)


async def _reply(model: Model, question: Question) -> Reply:
    try:
        reply = await model.answer(question)
    except AudioCapBenchError as error:
        return Reply("", Status.FAILED, str(error))
    except Exception as error:  # a plug-in may raise anything; one sample must not end the run
        return Reply("", Status.FAILED, f"{type(error).__name__}: {error}")
    text = _storable(reply.text)
    if reply.status is Status.OK and not text.strip():
        return replace(reply, text="", status=Status.EMPTY)
    return replace(reply, text=text)


def _storable(text: str) -> str:
    """Text that any database keeps: no NUL, no half of a surrogate pair."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _outcome(sample: Sample, reply: Reply, sent: SentAudio | None, latency_s: float) -> Outcome:
    return Outcome(
        sample.id,
        reply if reply.error is None else replace(reply, error=_storable(reply.error)),
        sent.sha256 if sent else None,
        sent.duration_s if sent else 0.0,
        latency_s,
    )
