"""The errors that AudioCapBench raises on purpose.

Every message says what was wrong, where, and what to do; the command line prints it and exits 2.
An argument that is to be changed stands in backticks, such as `data`: in Python it is called so,
and the command line prints its option.
"""

import copyreg
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

_NEAR = 0.65
SHOWN = 5
"""How many of a long list people are shown; programs get them all."""


def some(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")


def did_you_mean(name: str, known: Iterable[str], there: str = "") -> str:
    """How a sentence about a name that stands for nothing goes on: with the one that is near it.

    Case, dashes and a provider that was left out make no difference. Behind the words ``there``,
    such as ``there are``, come all that are known.
    """
    known = list(map(str, known))
    names = ", ".join(known) or "none"
    near = {other: _likeness(name[:200], other) for other in known if other != name}
    nearest = max(near, key=near.__getitem__, default="")
    if near.get(nearest, 0.0) < _NEAR:
        return f"; {there} {names}" if there else ""
    question = f"did you mean {nearest!r}?"
    return f"; {question} {there.capitalize()} {names}" if there else f" ({question})"


def _likeness(name: str, other: str) -> float:
    """From 0 to 1; what both have before a slash, or only one has, does not count."""
    from difflib import SequenceMatcher  # where a name is wrong, and not at every start

    if "/" not in name or name.partition("/")[0] == other.partition("/")[0]:
        name, other = name.rpartition("/")[2], other.rpartition("/")[2]
    name, other = (re.sub(r"[\W_]+", "", text).casefold() for text in (name, other))
    is_begun = len(name) > 2 and other.startswith(name)
    return 1.0 if is_begun else SequenceMatcher(None, name, other).ratio()


class AudioCapBenchError(Exception):
    """Base of all errors that a user can act on; each argument is a line of its message.

    The message begins with the subject, such as the path of a file and a colon; whoever knows the
    file by another name takes the ``reason``, which is the message without it.
    """

    subject = ""

    def __init__(self, *lines: object, **attributes: Any) -> None:
        super().__init__(*lines)
        for name, value in attributes.items():
            setattr(self, name, value)

    @property
    def reason(self) -> str:
        return "\n".join(map(str, self.args))

    def __str__(self) -> str:
        return f"{self.subject} {self.reason}" if self.subject else self.reason

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes whole, whatever a subclass is made from."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class StoppedError(AudioCapBenchError):
    """Work ended before its end, and what was done is kept; ``stop`` says why."""

    stop = ""


class AudioError(AudioCapBenchError):
    """An audio file cannot be read or converted."""


class DatasetError(AudioCapBenchError):
    """A dataset folder is not what it should be."""


class BenchmarkError(AudioCapBenchError):
    """A benchmark cannot be found or put together."""


class NotHereError(DatasetError):
    """Data that is not on this disk, and is not fetched unasked."""


class ModelError(AudioCapBenchError):
    """A model cannot be found, prepared or asked; ``status`` is what HTTP calls it, if it does."""

    status: int | None = None


class TransientError(ModelError):
    """A provider cannot answer now but may later: it is asked again.

    Of the ``reply`` that it wants money for, the usage or else the text is counted. Where nothing
    came back, as after a time-out, it is None, and the most that the attempt may have cost is
    counted under a budget, else what an answer likely costs.
    """

    retry_after_s: float | None = None  # how long the provider asks to be left alone
    throttled = False  # it said that it is being asked too much
    billed = False  # it may want money for this attempt, as once it has begun to answer
    reply: object | None = None
    unreachable = False  # nobody took the question: no connection, or no sign of life on it


class AwaitedError(ModelError):
    """The answer comes with a batch: the question is left until then."""


class RefusedQuestionError(ModelError):
    """A provider refuses this question; whether it refuses all others too, only they can tell.

    Once a question was answered, this one fails alone; where the first are all refused for one
    reason, the run stops.
    """

    kind = ""  # what refusals of one kind share, such as "400 invalid_value"
    billed = False  # it may want money all the same, as for an answer too large to be read


class FatalError(ModelError):
    """A provider will answer nothing (its key, the model's name, money): the run stops, at once if
    that is ``certain``. What may be said of one question stops it, after answers, only if several
    in a row are refused."""

    certain = True


class MetricError(AudioCapBenchError):
    """A metric cannot be found or computed on what it was given."""


class ReportError(AudioCapBenchError):
    """A report or another result file cannot be written."""


class ClusterError(AudioCapBenchError):
    """A cluster cannot be joined, or cannot do the work."""


class StoreError(AudioCapBenchError):
    """The store cannot be opened, read or written."""


class StoreAwayError(StoreError):
    """The store cannot be used now but may be later: locked, full, restarting, out of reach."""


class JudgeError(AudioCapBenchError):
    """A judge cannot be found, or cannot judge this kind of sample."""


class ReplyError(AudioCapBenchError):
    """A judge's reply does not satisfy its contract; the message is fit to be sent back to it."""


class TrialError(AudioCapBenchError):
    """A scorer cannot be found, or cannot be put on trial with these pairs."""


class AnnotationError(AudioCapBenchError):
    """A stage cannot be run on what it was given; the message says what to do first."""


class ExpertMissingError(AnnotationError):
    """An expert cannot be set up here: a package, a model or an option is missing."""


def check_known(
    what: str, name: str, known: Collection[str], error: type[AudioCapBenchError]
) -> None:
    if name not in known:
        raise error(f"there is no {what} {name!r:.80}{did_you_mean(name, known, 'there are')}")


def read_options(name: str, listed: str | None, error: type[AudioCapBenchError]) -> dict[str, str]:
    """The options that stand in the brackets of a name."""
    options: dict[str, str] = {}
    for part in filter(None, (listed or "").split(",")):
        key, _, value = (piece.strip() for piece in part.partition("="))
        if not (key and value):
            raise error(f"{name!r}: {part!r} is not an option; write option=value")
        if options.setdefault(key, value) != value:
            raise error(f"{name}: {key} is given twice")
    return options


def check_options(
    name: str, options: Iterable[str], known: Collection[str], error: type[AudioCapBenchError]
) -> None:
    for option in options:
        if option not in known:
            has = did_you_mean(option, known, "it has") if known else "; it has none"
            raise error(f"{name} has no option {option!r}{has}")
