"""What can be wrong with an annotation."""

from audiocapbench.errors import AudioCapBenchError


class AnnotationError(AudioCapBenchError):
    """A stage cannot be run on what it was given; the message says what to do first."""


class ExpertMissingError(AnnotationError):
    """An expert cannot be set up here: a package, a model or an option is missing."""
