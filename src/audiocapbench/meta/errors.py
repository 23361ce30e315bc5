"""What can be wrong with a trial of scorers."""

from audiocapbench.errors import AudioCapBenchError, StoppedError


class TrialError(AudioCapBenchError):
    """A scorer cannot be found, or cannot be put on trial with these pairs."""


class TrialStoppedError(TrialError, StoppedError):
    """A trial was interrupted or its budget is spent; what was answered is kept in the store."""
