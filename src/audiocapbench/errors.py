"""The errors that AudioCapBench raises on purpose.

Every message says what was wrong, where, and what to do; the command line prints it and exits 2.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str], there: str = "") -> str:
    """How a sentence about a name that stands for nothing goes on: with the one that is near it.

    Case, dashes and a provider that was left out make no difference.

    Args:
        name: What was written.
        known: What might have been.
        there: Words that all that is known follows, such as ``there are``.
    """
    known = list(known)
    end = f"; {there} {', '.join(known) or 'none'}" if there else ""
    forms: dict[str, str] = {}
    for one in known:
        forms.setdefault(_form(one.rpartition("/")[2]), one)
    forms |= {_form(one): one for one in list(forms.values())}
    form = _form(name[:200])
    near = get_close_matches(form, forms, n=1, cutoff=0.6)
    near = near or [one for one in forms if len(form) > 2 and (one.startswith(form))][:1]
    found = forms[near[0]] if near else name
    return (f"; did you mean {found!r}?" if found != name else "") + end


def _form(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold() or name


class AudioCapBenchError(Exception):
    """Base of all errors that a user can act on."""


class AudioError(AudioCapBenchError):
    """An audio file cannot be read or converted."""


class DatasetError(AudioCapBenchError):
    """A dataset folder is not what it should be."""


class BenchmarkError(AudioCapBenchError):
    """A benchmark cannot be found or put together."""


class ModelError(AudioCapBenchError):
    """A model cannot be found, prepared or asked."""


class TransientError(ModelError):
    """A provider cannot answer now but may later: it is asked again.

    Attributes:
        retry_after_s: How long the provider asks to be left alone, where it says so.
        throttled: Whether it said that it is being asked too much.
        billed: Whether it may want money for this attempt, as once it has begun to answer.
        reply: The ``Reply`` that it wants money for; its usage, or else its text, is counted. None
            where nothing came back, as after a time-out: what an answer likely costs is counted.
        unreachable: Whether nobody took the question: no connection, or no sign of life on it.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        throttled: bool = False,
        billed: bool = False,
        reply: object | None = None,
        unreachable: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.throttled = throttled
        self.billed = billed
        self.reply = reply
        self.unreachable = unreachable


class RefusedQuestionError(ModelError):
    """A provider refuses this question; whether it refuses all others too, only they can tell.

    Once a question was answered, this one fails alone; where the first are all refused for one
    reason, the run stops.

    Attributes:
        reason: What refusals of one kind share, such as ``400 invalid_value``.
    """

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class FatalError(ModelError):
    """A provider will answer nothing (its key, the model's name, money): the run stops."""


class MetricError(AudioCapBenchError):
    """A metric cannot be found or computed on what it was given."""


class ReportError(AudioCapBenchError):
    """A report or another result file cannot be written."""


class StoreError(AudioCapBenchError):
    """The store cannot be opened, read or written."""


class StoreAwayError(StoreError):
    """The store cannot be used now but may be later: locked, full, restarting, out of reach."""
