"""Asks a model about one sample, by way of cache, budget, limiter and retries, up to an outcome."""

import base64
import math
import random
import re
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Literal, cast

import anyio
from anyio import to_thread

from audiocapbench import audio
from audiocapbench.credentials import redacted
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import SCORED, Outcome, Reply, Status
from audiocapbench.engine.books import Books, CostTracker
from audiocapbench.engine.budget import OverBudgetError
from audiocapbench.engine.limiter import Limiter
from audiocapbench.engine.outage import Refusals, unbilled
from audiocapbench.engine.workers import StoreAccess, look_up_together
from audiocapbench.errors import (
    AudioCapBenchError,
    AudioError,
    AwaitedError,
    FatalError,
    RefusedQuestionError,
    TransientError,
)
from audiocapbench.files import storable
from audiocapbench.models import AudioContract, Model, Question, SentAudio
from audiocapbench.models.model import check_number, waited_s
from audiocapbench.models.price import Price, checked_usage
from audiocapbench.models.remote import BATCH_TRANSPORT, Exchange
from audiocapbench.models.replies import is_blank, without_thoughts
from audiocapbench.plugins import failure_place, failure_words
from audiocapbench.store import Store, cache_key
from audiocapbench.store.unsaved import AnswerRecord

_TOKENS_PER_AUDIO_SECOND = 32
_TOKENS_OF_TEXT = 200
_KINDS = {"text": str, "status": Status, "withheld": int | None}
_KINDS |= {"error": str | None, "raw": str | None}
# How much longer than its header says a clip may be and still be cut: lengths of MP3 are estimates.
_SPARE_S = 1.0
_ENCODED = re.compile(r"[A-Za-z0-9+/]{200,}={0,2}")

CLAIM_HOLDS: ContextVar[Callable[[], bool]] = ContextVar("claim_holds", default=lambda: True)
"""Whether a question may still be asked: a command that was suspended may have lost it."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long a question is worth asking, with exponential back-off and full jitter.

    Waiting for its first turn does not count; waiting for another, once it was refused, does.
    """

    attempts: int = 6  # that may fail for another reason than being asked too much
    first_s: float = 1.0  # longest wait before the second attempt; doubles with each
    longest_s: float = 60.0  # longest wait of all, unless the provider asks for more
    deadline_s: float = 900.0  # of asking and waiting to ask again, whatever the reason
    unreachable_s: float = 15.0  # after which a provider that was never reached is given up
    outage_s: float = 120.0  # the same for one that had answered before

    def __post_init__(self) -> None:
        check_number("attempts", self.attempts, 1, whole=True)
        for name in ("first_s", "longest_s", "deadline_s", "unreachable_s", "outage_s"):
            check_number(name, getattr(self, name))

    def wait_s(self, failures: int, retry_after_s: float | None, draw: random.Random) -> float:
        """Seconds to wait after so many failures; never less than the provider asks for."""
        bound = min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, 16))
        jittered = draw.uniform(0, bound)
        return jittered if retry_after_s is None else retry_after_s + min(1.0, jittered)


@dataclass(slots=True)
class RetryingClient:
    """Everything that stands between a run and its model; ``batches`` take a question's body."""

    model: Model
    store: Store
    limiter: Limiter
    retry: RetryPolicy
    books: Books
    price: Price | None
    use_cache: bool
    stopping: anyio.Event
    access: StoreAccess = field(default_factory=StoreAccess)
    draw: random.Random = field(default_factory=random.Random)
    refusals: Refusals = field(default_factory=Refusals)
    batches: Callable[[str, str, CostTracker], Exchange] | None = None
    repeat: int = 0
    _cache: Callable[[str], Awaitable[Reply | None]] = field(init=False)

    def __post_init__(self) -> None:
        self._cache = look_up_together(self.store.cache.replies, self.access)

    async def ask(self, sample: Sample) -> AnswerRecord | None:
        """Ask about one sample; None if the run is told to stop before the model was asked."""
        try:
            sent, contract = None, self.model.contract
            if contract.container != "none":
                sent = await to_thread.run_sync(prepare, sample.clip, contract)
        except AudioError as error:
            failed = Reply("", Status.FAILED, str(error))
            return AnswerRecord(_outcome(sample.id, failed, None, 0.0, 0), None)
        answer = await self.ask_question(Question(sample.id, sample.instruction, sent))
        if answer is not None and not getattr(self.model, "verbatim", False):
            answer = _spoken(answer, sample.instruction)
        withheld = answer.outcome.reply.withheld if answer else None
        if answer is None or withheld is None or 0 <= withheld < len(sample.references):
            return answer
        wrong = f"{self.model.name}: there is no reference {withheld} to withhold"
        reply = replace(
            answer.outcome.reply, text="", status=Status.FAILED, error=wrong, withheld=None
        )
        return replace(answer, outcome=replace(answer.outcome, reply=reply), cache_key=None)

    async def ask_question(self, question: Question) -> AnswerRecord | None:
        """Ask a question whose audio, if any, is ready to be sent; otherwise as ``ask``."""
        key = self._key(question)
        if key is not None and self.use_cache:
            known = await self._cache(key)
            if known is not None:
                outcome = _outcome(question.sample_id, known, question.audio, 0.0, 0)
                return AnswerRecord(replace(outcome, cached=True), None)
        costs = CostTracker(self.books, self.price, self.model, question, self.repeat)
        try:
            answer = await self._attempts(question, costs)
        except anyio.get_cancelled_exc_class():
            costs.abandon()
            raise
        finally:
            costs.release()
        if answer is None:
            return None
        key = key if answer.reply.status is Status.OK else None
        return AnswerRecord(answer, key, tuple(costs.bills))

    def _key(self, question: Question) -> str | None:
        if not self.model.cacheable:
            return None
        digest = question.audio.sha256 if question.audio else None
        return cache_key(self.model.name, self.model.parameters, question.instruction, digest)

    async def _attempts(self, question: Question, costs: CostTracker) -> Outcome | None:
        attempts = failures = refusals = 0
        # Waiting for one's turn is no fault of the provider's: it does not count.
        asking_s, latency, refused_at = 0.0, 0.0, math.inf
        problem: TransientError | None = None
        sent = question.audio
        tokens = _TOKENS_OF_TEXT + int(_TOKENS_PER_AUDIO_SECOND * (sent.duration_s if sent else 0))

        def ended(reply: Reply) -> Outcome:
            return _outcome(question.sample_id, costs.on(reply), sent, latency, attempts)

        def given_up(why: str) -> Outcome:
            return ended(Reply("", Status.FAILED, f"{why}: {problem}"))

        while True:
            # What goes into a batch is set aside with it.
            if self.batches is None and not await costs.hold(self.stopping):
                return given_up(f"not asked again, because {self.books.budget.refusal}")
            came = anyio.current_time()
            start = await self.limiter.enter(self.stopping, tokens)
            if start is None:
                return given_up("stopped") if costs.attempts else None
            attempts, started, costs.is_asked = attempts + 1, time.perf_counter(), True
            waited_s.set(0.0)
            try:
                reply = await self._answer(question, costs)
            except TransientError as error:
                problem = error
                problem.throttled = error.throttled and self.batches is None
                costs.failed(error)
            else:
                latency = 0.0 if self.batches else time.perf_counter() - started - waited_s.get()
                self.limiter.answered(start)
                costs.answered(reply)
                return ended(reply)
            finally:
                self.limiter.leave()
            latency, deadline_s = time.perf_counter() - started, self.retry.deadline_s
            asking_s, asks_s = asking_s + latency, problem.retry_after_s or 0.0
            if problem.throttled:
                refusals += 1
            elif not self.limiter.unreachable(start, problem):
                failures += 1
            pause = self.retry.wait_s(failures + refusals, problem.retry_after_s, self.draw)
            if refusals:
                refused_at = min(refused_at, start.at)
                asking_s += min(self.retry.longest_s, start.at - came) if refusals > 1 else 0.0
                dry_since = max(refused_at, self.limiter.last_answer)
                asking_s = max(asking_s, anyio.current_time() - dry_since)
            if problem.throttled:
                self.limiter.refused(start, problem, deadline_s)
                # The door knows when to ask again; only who is refused alone steps back.
                alone_s = self.retry.wait_s(refusals - 1, None, self.draw) if refusals > 1 else 0.0
                pause = max(alone_s, asks_s)
            asking_s += pause
            if asking_s > deadline_s or failures >= self.retry.attempts:
                asks = f", for it asks to wait {asks_s:,.12g} s and a question is given"
                why = f"{asks} {deadline_s:g} s" if asks_s > deadline_s else ""
                return given_up(f"given up after {attempts} attempts{why}")
            await self.limiter.rest(pause, self.stopping)

    async def _answer(self, question: Question, costs: CostTracker) -> Reply:
        """The model's reply, or the failure of a question that it alone refuses."""
        if not CLAIM_HOLDS.get()():
            raise AwaitedError("another may have been asked it meanwhile")
        try:
            try:
                if self.batches is not None:
                    asked = (question.sample_id, self._key(question) or "", costs)
                    BATCH_TRANSPORT.set(self.batches(*asked))
                reply = await checked_reply(self.model, question)
            except (RefusedQuestionError, FatalError) as error:
                if isinstance(error, RefusedQuestionError) and error.billed:
                    costs.lost()
                return self.refusals.failure(error)
        except FatalError as error:
            told = _kept(str(error), question.audio)
            raise FatalError(f"{told} (asked about {question.sample_id})") from error
        self.refusals.note(reply)
        return reply


async def checked_reply(model: Model, question: Question) -> Reply:
    """What a model replies to one question; whatever else it does is a failure of that one."""
    try:
        reply = await model.answer(question)
    except (TransientError, RefusedQuestionError, FatalError, AwaitedError, OverBudgetError):
        raise
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except AudioCapBenchError as error:
        return unbilled(str(error))
    except BaseException as error:  # a plug-in may raise anything; one sample must not end the run
        is_cancelled = anyio.current_effective_deadline() == -math.inf  # by whoever runs this
        if isinstance(error, anyio.get_cancelled_exc_class()) and is_cancelled:
            raise
        return unbilled(failure_words(error) + failure_place(error))
    must = f"{model.name}: answer must return a Reply with text, and returned"
    if not isinstance(reply, Reply):
        return unbilled(f"{must} {type(reply).__name__}")
    for name, expected in _KINDS.items():
        if not isinstance(value := getattr(reply, name), expected):
            return unbilled(f"{must} one whose {name} is of type {type(value).__name__}")
    reply, text = checked_usage(reply), _kept(reply.text, question.audio)
    if reply.status is Status.OK and is_blank(text):
        return replace(reply, text="", status=Status.EMPTY)
    return replace(reply, text=text)


def _spoken(answer: AnswerRecord, instruction: str) -> AnswerRecord:
    """The answer without a model's thoughts, which are no caption; they stay in ``raw``."""
    reply = answer.outcome.reply
    text = without_thoughts(reply.text, instruction)
    if text == reply.text:
        return answer
    changed = replace(reply, text=(text or "").strip(), raw=reply.raw or reply.text)
    if text is None:
        why = "the answer ends within its thoughts; allow more output tokens"
        changed = replace(changed, status=Status.TRUNCATED, error=reply.error or why)
    elif reply.status is Status.OK and is_blank(text):
        changed = replace(changed, text="", status=Status.EMPTY, error="nothing but thoughts")
    key = answer.cache_key if changed.status is Status.OK else None
    return replace(answer, outcome=replace(answer.outcome, reply=changed), cache_key=key)


def _kept(text: str, sent: SentAudio | None) -> str:
    """Text that may be kept, without keys and without the audio that a server may send back."""
    text = redacted(storable(text))
    if sent is None or not _ENCODED.search(text):
        return text
    # Other long words are the answer's own.
    encoded = base64.b64encode(sent.content).decode("ascii")
    return _ENCODED.sub(lambda run: "[data]" if run[0][60:160] in encoded else run[0], text)


def _outcome(
    sample_id: str, reply: Reply, sent: SentAudio | None, latency_s: float, attempts: int
) -> Outcome:
    error, raw = (None if text is None else _kept(text, sent) for text in (reply.error, reply.raw))
    reply = replace(reply, error=error, raw=raw)
    digest, seconds = (sent.sha256, sent.duration_s) if sent else (None, 0.0)
    if sent and sent.note and reply.status in SCORED:
        reply = replace(reply, error=sent.note)
    return Outcome(sample_id, reply, digest, seconds, latency_s, attempts)


def prepare(clip: Clip, contract: AudioContract) -> SentAudio | None:
    """What is sent for a clip; None where the model takes no audio, AudioError if it cannot be."""
    if contract.container == "none":
        return None
    if clip.is_absent:
        raise AudioError(f"{clip.file_name}: there is no audio; only its references were given")
    as_it_is = contract.container == "file"
    too_long = contract.longest_s is not None and clip.duration_s > contract.longest_s
    if too_long and (contract.past_limit == "reject" or as_it_is):
        raise AudioError(
            f"{clip.file_name}: is {clip.duration_s:.1f} s long; "
            f"this model takes at most {contract.longest_s:g} s"
        )
    limit = min(contract.largest_bytes or audio.MOST_BYTES, audio.MOST_BYTES)
    try:
        sent = _sent(clip, contract, limit)
    except AudioError as error:
        # What is kept and shown names the clip, not where it lies on somebody's disk.
        raise AudioError(error.reason, subject=f"{clip.file_name}:") from None
    size = len(sent.content)
    if size > limit:
        if not as_it_is:  # it was not converted to its end
            frame = sent.channels * (4 if sent.container == "float32" else 2)
            size = max(size, round(clip.duration_s * sent.rate) * frame)
        who = "this model takes" if limit == contract.largest_bytes else "a clip may have"
        raise AudioError(
            f"{clip.file_name}: is {size / 1e6:.1f} MB as sent; {who} at most {limit / 1e6:g} MB"
        )
    return sent


def _sent(clip: Clip, contract: AudioContract, most: int) -> SentAudio:
    is_file = contract.container == "file"
    if is_file:
        shape = (clip.rate, clip.channels)
        return SentAudio(clip.read(), "file", *shape, clip.duration_s, clip.sha256)
    clip.check()
    container = cast(Literal["wav", "pcm16", "float32"], contract.container)
    spare_s = None if contract.past_limit == "truncate" else _SPARE_S
    cut = {"seconds": contract.longest_s, "spare_s": spare_s}
    with audio.open_stream(clip.path, mono=contract.mono, rate=contract.rate, **cut) as stream:
        shape = (stream.rate, stream.channels)
        content, frames = audio.encode(stream.blocks, *shape, container, most)
    seconds, digest = frames / stream.rate, audio.sha256(content)
    return SentAudio(content, container, *shape, seconds, digest, stream.note)
