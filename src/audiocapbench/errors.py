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


class MetricError(AudioCapBenchError):
    """A metric cannot be found or computed on what it was given."""


class ReportError(AudioCapBenchError):
    """A report cannot be written."""


class StoreError(AudioCapBenchError):
    """The store cannot be opened, read or written."""
