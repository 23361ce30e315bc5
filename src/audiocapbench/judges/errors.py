"""What can be wrong with a judge, and with what a judge replied."""

from audiocapbench.errors import AudioCapBenchError


class JudgeError(AudioCapBenchError):
    """A judge cannot be found, or cannot judge this kind of sample."""


class ReplyError(AudioCapBenchError):
    """A judge's reply does not satisfy its contract; the message is fit to be sent back to it."""
