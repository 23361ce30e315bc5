"""The errors that AudioCapBench raises on purpose.

Every message says what was wrong, where, and what to do; the command line prints it and exits 2.
"""


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
    """

    def __init__(
        self, message: str, *, retry_after_s: float | None = None, throttled: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.throttled = throttled


class FatalError(ModelError):
    """A provider will answer no question like this one: the run stops and says what to mend."""


class MetricError(AudioCapBenchError):
    """A metric cannot be found or computed on what it was given."""


class ReportError(AudioCapBenchError):
    """A report cannot be written."""


class StoreError(AudioCapBenchError):
    """The store cannot be opened, read or written."""
