"""What a model is: a name, settings, an audio contract, an answer to a question about a clip.

Of one that answers several at once, who asks a question waits until a batch is together.
"""

import itertools
import math
import os
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from copy import copy
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, Protocol, Self, get_args

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from audiocapbench.audio import Mono
from audiocapbench.credentials import credential
from audiocapbench.data.outcome import Reply
from audiocapbench.errors import FatalError, ModelError, TransientError, did_you_mean
from audiocapbench.models.price import Price
from audiocapbench.plugins import require_packages

TIMEOUT_S = 120.0

_numbers = itertools.count()
_SHORTEST_WAIT_S, _LONGEST_WAIT_S, _LONGEST_FILL_S = 0.05, 1.0, 5.0
_AHEAD = 4
_WORTH = 0.1  # of the time that a batch takes, to wait for one more

waited_s: ContextVar[float] = ContextVar("waited_s", default=0.0)
"""Seconds that the last question of a task waited for its batch: no time that its answer took."""


def check_number(
    name: str, value: Any, least: int = 0, *, above: bool = False, whole: bool = False
) -> None:
    """ModelError where a setting is given and is no finite number, or one that is too small."""
    is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    fits = is_number and (value > least if above else value >= least) and value < math.inf
    if value is not None and not fits:
        size = f"above {least}" if above else f"of at least {least}"
        raise ModelError(f"{name} is {value!r}; it must be a {'whole ' * whole}number {size}")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What the user says; None leaves the provider's or the paper's value."""

    temperature: float | None = None
    max_tokens: int | None = None  # of an answer
    timeout: float | None = None  # in seconds
    system: str | None = None  # is told before a question

    def __post_init__(self) -> None:
        check_number("temperature", self.temperature)
        check_number("max_tokens", self.max_tokens, 1, whole=True)
        check_number("timeout", self.timeout, above=True)

    @property
    def given(self) -> Mapping[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def timeout_s(self) -> float:
        """Seconds to wait for one answer, whether or not the user said."""
        return TIMEOUT_S if self.timeout is None else self.timeout

    def filled(self, defaults: "ModelSettings", taken: Collection[str]) -> "ModelSettings":
        """These, and the defaults for what is taken and not given."""
        more = {name: value for name, value in defaults.given.items() if name in taken}
        return ModelSettings(**{**more, **self.given})


SETTINGS = tuple(field.name for field in fields(ModelSettings))
Container = Literal["none", "file", "wav", "pcm16", "float32"]
Parameters = Mapping[str, str | int | float | bool]
PastLimit = Literal["reject", "truncate"]
_WORDS = {"container": get_args(Container), "past_limit": get_args(PastLimit)}

REMOTE_EXECUTION: ContextVar[bool] = ContextVar("remote_execution", default=False)
"""Whether models that compute do so on other machines, so that this one needs no device."""


AS_PUBLISHED: ContextVar[bool] = ContextVar("as_published", default=False)
"""Whether a question is asked, and its reply read, as AudioCapBench's published tool does."""


@dataclass(frozen=True, slots=True)
class AudioContract:
    """The audio that a model takes, and what happens past its limits."""

    container: Container  # ``file`` is its bytes as they are, ``pcm16`` and ``float32`` are raw
    rate: int | None = None  # in hertz; None keeps the clip's
    mono: Mono = True  # whether channels are mixed down
    longest_s: float | None = None  # seconds of a clip
    largest_bytes: int | None = None  # of what is sent
    past_limit: PastLimit = "reject"  # what to do with a clip that is longer

    def __post_init__(self) -> None:
        for name, known in _WORDS.items():
            if (value := getattr(self, name)) not in known:
                words = f"AudioContract: {name} is {value!r}"
                raise ModelError(f"{words}; it is one of {', '.join(known)}")
        for name in ("rate", "longest_s", "largest_bytes"):
            check_number(f"AudioContract: {name}", getattr(self, name), above=True)

    def __str__(self) -> str:
        if self.container in ("none", "file"):
            return {"none": "no audio", "file": "the file as it is"}[self.container]
        parts = [self.container, f"{self.rate} Hz" if self.rate else "any rate"]
        parts += ["mono"] if self.mono else []
        if self.longest_s is not None:
            parts.append(f"longest {self.longest_s:g} s, then {self.past_limit}")
        if self.largest_bytes is not None:
            parts.append(f"at most {self.largest_bytes / 1e6:g} MB")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class SentAudio:
    """Audio as a contract asks for it: what is sent, byte for byte."""

    content: bytes
    container: Container
    rate: int
    channels: int
    duration_s: float
    sha256: str
    note: str = ""  # which channels are heard, where not all are


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked. References are not part of it."""

    sample_id: str
    instruction: str
    audio: SentAudio | None


class Model(Protocol):
    """Answers an instruction about a clip with text.

    It may also ``prepare(samples)``, once and with all samples of the benchmark, before the first
    question; ``aclose()`` the connections of this event loop; ``complete(messages, **options)`` a
    conversation as in OpenAI's protocol; and make a model of itself ``with_schema(schema)``, to
    answer with JSON, or ``with_options(options, most_tokens)`` in every request.
    """

    @property
    def name(self) -> str: ...  # ``provider/model``, as the user wrote it
    @property
    def contract(self) -> AudioContract: ...
    @property
    def parameters(self) -> Parameters: ...  # all beside the question that changes the answer
    @property
    def cacheable(self) -> bool: ...  # whether the same may be answered from the store
    @property
    def concurrency(self) -> int: ...  # most questions at once unless the user says otherwise

    async def answer(self, question: Question) -> Reply:
        """Answer one question.

        Raises:
            TransientError: It may answer later; ``billed`` says if this attempt is to be paid for.
            FatalError: It will answer nothing; the message says what to mend.
            RefusedQuestionError: It will not answer this one, and maybe none.
            ModelError: It could not answer this one; the sample becomes ``failed``.
        """


class SimpleModel:
    """A model to derive from: declare a contract, write ``answer``, and the rest has defaults.

    What the user said of the settings that the class declares in ``settings`` is in ``given``.
    """

    contract: AudioContract
    parameters: Parameters = MappingProxyType({})
    settings: tuple[str, ...] = ()
    cacheable = False
    concurrency = 1

    def __init__(self, name: str, settings: ModelSettings | None = None) -> None:
        self.name = name
        self.given = settings or ModelSettings()


class BatchModel(SimpleModel):
    """A model to derive from: declare a contract and a batch, and write ``answer_many``."""

    batch = 8  # most questions that are answered at once
    lanes = 1  # batches in work at the same time, each in a thread of its own
    patience_s = 0.2  # to wait for one more question while no batch has shown how long it takes

    @abstractmethod
    def answer_many(self, questions: Sequence[Question]) -> Sequence[Reply]:
        """Answer questions, a reply each in their order; called in a thread, may take its time.

        What it raises fails the batch, whose questions are then asked one by one, so that each
        fails or not by itself; a ``FatalError`` or ``TransientError`` is that of all of them.
        """

    @property
    def concurrency(self) -> int:  # type: ignore[override]
        """What is in work, and a batch that is being put together, decoded ahead."""
        return self.lanes * self.batch + max(self.batch, _AHEAD)

    @property
    def first_batch(self) -> int:
        """How many the first batch has: few where a device waits until they are prepared."""
        return self.batch

    async def answer(self, question: Question) -> Reply:
        if "_queues" not in vars(self):
            self._queues: RunVar[_Queue] = RunVar(f"queue {next(_numbers)}")
        queue = self._queues.get(None)
        if queue is None:
            self._queues.set(queue := _Queue(self.lanes, self.patience_s))
        place, batch = _Place(question), list[_Place]()
        queue.waiting.append(place)
        queue.arrived.set()
        try:
            async with queue.lanes:
                async with queue.filling:
                    if place in queue.waiting:  # else another has it in its batch
                        queue.waiting.remove(place)
                        batch.append(place)
                        size = self.first_batch if queue.is_new else self.batch
                        await queue.fill(size)
                        more, queue.is_new = min(size - 1, len(queue.waiting)), False
                        batch += [queue.waiting.popleft() for _ in range(more)]
                if batch:
                    await to_thread.run_sync(
                        self._settle, batch, abandon_on_cancel=True, limiter=queue.threads
                    )
                    queue.took_s = time.monotonic() - place.began
            if not batch:
                await place.settled.wait()
        finally:
            for one in batch:
                one.settled.set()
            with suppress(ValueError):
                queue.waiting.remove(place)
        if place.error is not None:
            raise place.error
        if not isinstance(place.reply, Reply):
            raise ModelError(f"{self.name}: its batch was dropped")
        waited_s.set(place.began - place.came)
        return place.reply

    def _settle(self, batch: Sequence["_Place"]) -> None:
        began = time.monotonic()
        for place in batch:
            place.began = began
        try:
            replies = self.answer_many([place.question for place in batch])
            if len(replies) != len(batch):
                got = f"{len(replies)} replies to {len(batch)} questions"
                raise ModelError(f"{self.name}: answer_many returned {got}; it returns one each")
            for place, reply in zip(batch, replies, strict=True):
                place.reply = reply
        except Exception as error:
            alone = len(batch) == 1 or isinstance(error, FatalError | TransientError)
            for place in batch:
                if alone:
                    place.error = error
                else:
                    self._settle([place])


class _Place:
    """A question that waits until a batch with it is settled."""

    def __init__(self, question: Question) -> None:
        self.question, self.settled = question, anyio.Event()
        self.came = self.began = time.monotonic()
        self.reply: Reply | None = None
        self.error: Exception | None = None


class _Queue:
    """Who waits, in the order of coming, in one event loop; of lanes one is filled at a time."""

    def __init__(self, lanes: int, patience_s: float) -> None:
        self.waiting: deque[_Place] = deque()
        self.lanes, self.filling = anyio.Semaphore(lanes), anyio.Lock()
        self.took_s, self.is_new = patience_s / _WORTH, True
        self.threads = CapacityLimiter(math.inf)
        self.arrived = anyio.Event()

    async def fill(self, size: int) -> None:
        """Wait until a batch of this size is there, or for too long nobody came."""
        patience = min(_LONGEST_WAIT_S, max(_SHORTEST_WAIT_S, _WORTH * self.took_s))
        latest = anyio.current_time() + _LONGEST_FILL_S
        with anyio.CancelScope() as scope:
            while len(self.waiting) + 1 < size:
                scope.deadline = min(latest, anyio.current_time() + patience)
                self.arrived = anyio.Event()
                await self.arrived.wait()


class ModelVariant:
    """A model under its own name with more parameters, which are part of its cache key."""

    cacheable: bool
    concurrency: int
    _PASSED_ON = "cacheable concurrency batch batches num_gpus prepare aclose".split()
    _PASSED_ON += ["verbatim", "follow_rules", "reseed"]

    def __init__(
        self, model: Model, more: Parameters, contract: AudioContract | None = None
    ) -> None:
        self._model, self.name = model, model.name
        self.parameters: Parameters = {**model.parameters, **more}
        self.contract = contract or model.contract

    def __getattr__(self, name: str) -> Any:
        if name not in self._PASSED_ON:
            raise AttributeError(name)
        return getattr(self._model, name)

    def seeded(self, seed: int) -> Self:
        """The same with a seed in its requests, where the model takes one."""
        variant, seeded = copy(self), getattr(self._model, "seeded", None)
        variant._model = seeded(seed) if seeded else self._model
        return variant

    async def answer(self, question: Question) -> Reply:
        return await self._model.answer(question)


REPEAT = "repeat"
"""The parameter of runs that ask a model once more, from 1; the first has none."""


class RepeatedModel(ModelVariant):
    """A model to ask once more: apart in the cache, with a seed of its own where it takes one."""

    def __init__(self, model: Model, repeat: int) -> None:
        super().__init__(model, {REPEAT: repeat})
        self._model, self._repeat = self.seeded(repeat)._model, repeat

    def prepare(self, samples: Sequence[Any]) -> None:
        for name, given in (("prepare", samples), ("reseed", self._repeat)):
            if hasattr(self._model, name):
                getattr(self._model, name)(given)


def may_vary(model: Model) -> bool:
    """Whether a model draws its words; one without a temperature at a provider draws by default."""
    temperature = model.parameters.get("temperature")
    return bool(temperature) if temperature is not None else "host" in model.parameters


def batch_of(model: Model) -> int | None:
    """How many questions a model answers at once; None where it answers each by itself."""
    batch = getattr(model, "batch", None)
    return batch if isinstance(batch, int) else None


def without_audio(model: Model) -> ModelVariant:
    """The model asked without the clip: to read answers, or to see what words alone give away."""
    return ModelVariant(model, {"audio": False}, AudioContract("none"))


PAPER, TOOL = "of the paper", "of the published tool"
_IN_WORDS = {"system": "system prompt"}


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that is known by name, with its published settings where it has some."""

    name: str
    description: str = ""  # in the listing, if it is there
    temperature: float | None = None
    thinking_budget: int | None = None
    max_output_tokens: int | None = None
    contract: AudioContract | None = None  # where that is not its provider's
    price: Price | None = None
    settings: tuple[str, ...] = ()  # those that it takes, in the listing

    @property
    def model_id(self) -> str:
        return self.name.partition("/")[2]


@dataclass(frozen=True, slots=True)
class Provider:
    """Who answers under the names that begin with ``name/``."""

    name: str
    description: str  # in the listing
    factory: Callable[[str, ModelSettings], Model]  # is given the settings that are taken
    contract: AudioContract | None = None  # of its models, where that is known beforehand
    settings: tuple[str, ...] = ()  # those that it takes; others are refused
    key_names: tuple[str, ...] = ()  # variables of which the first that is set holds the key
    other_access: tuple[str, ...] = ()  # variables that stand for a key, such as a project's name
    key_optional: bool = False
    extra: str = ""  # of this package, which brings its libraries, if only for some ways to ask
    packages: tuple[str, ...] = ()  # modules that must be there
    models: tuple[KnownModel, ...] = ()  # what is known of some
    any_model: bool = True  # whether there are more
    price: Price | None = None  # of models that have none of their own
    options: tuple[str, ...] = ()  # what may stand in brackets after a name, as part of it

    def __post_init__(self) -> None:
        declares = f"{self.name}/… declares the"
        for field, kind in {"contract": AudioContract, "price": Price}.items():
            if not isinstance(value := getattr(self, field), kind | None):
                known = f"it is of type {kind.__name__}, or left out"
                raise ModelError(f"{declares} {field} {value!r}; {known}")
        for field in ("settings", "key_names", "other_access", "packages"):
            value, known = getattr(self, field), "write a tuple of names"
            names = value if isinstance(value, tuple | list) else [None]
            right = all(isinstance(one, str) and one for one in names)
            if field == "settings":
                known = f"a tuple of these is known: {', '.join(SETTINGS)}"
                right = all(one in SETTINGS for one in names)
            if not right:
                raise ModelError(f"{declares} {field} {value!r}; {known}")
            object.__setattr__(self, field, tuple(names))

    def create(
        self, name: str, settings: ModelSettings | None, defaults: ModelSettings | None
    ) -> Model:
        """Make the model of a name; settings are taken or refused, defaults hold for the rest."""
        given, choices = settings or ModelSettings(), [model.name for model in self.models]
        if name not in choices and not self.any_model:
            near = did_you_mean(name, choices)
            raise ModelError(f"there is no {name}{near}; choose one of {', '.join(choices)}")
        if name not in choices and not name.partition("/")[2]:
            example = next(iter(choices), f"{self.name}/MODEL")
            raise ModelError(f"{name!r} names no model; write for example {example}")
        refused = [_IN_WORDS.get(one, one) for one in given.given if one not in self.settings]
        if refused:
            taken = ", ".join(_IN_WORDS.get(one, one) for one in self.settings) or "no settings"
            raise ModelError(f"{name} takes no {' and no '.join(refused)}; it takes {taken}")
        self.check_access()
        return self.factory(name, given.filled(defaults or ModelSettings(), self.settings))

    def check_access(self) -> None:
        """Refuse where a package or a key is missing that its models need."""
        require_packages(ModelError, f"{self.name}/…", self.extra, *self.packages)
        optional = self.key_optional or any(map(os.environ.get, self.other_access))
        if self.key_names and not optional:
            credential(*self.key_names)

    def known(self, name: str) -> KnownModel | None:
        return next((model for model in self.models if model.name == name), None)

    @property
    def listed(self) -> KnownModel:
        """All of its models as one in the listing, with what they need."""
        access = ", or ".join([*self.key_names[:1], *self.other_access])
        brackets = f"[{'=…,'.join(self.options)}=…]" if self.options else ""
        words = "; ".join(filter(None, (self.description, access, brackets)))
        return KnownModel(f"{self.name}/…", words, contract=self.contract, settings=self.settings)

    def price_of(self, name: str) -> Price | None:
        """What a model costs; None where that is not known."""
        known = self.known(name)
        return (known.price if known else None) or (self.price if known or self.any_model else None)
