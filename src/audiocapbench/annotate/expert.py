"""What an expert is, and the clip as it hears it: decoded once, each view of it made once."""

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol, runtime_checkable

import numpy as np

from audiocapbench.audio import Samples, Waveform
from audiocapbench.data import Clip
from audiocapbench.errors import ExpertMissingError

Options = dict[str, str]
"""What stands in the brackets of an expert's name; each takes out what it knows."""


class ClipAudio:
    """A decoded clip: all channels as they are, and mono at any rate."""

    def __init__(self, clip: Clip, waveform: Waveform) -> None:
        self.clip, self.waveform = clip, waveform
        self._views: dict[int, Samples] = {}

    @property
    def duration_s(self) -> float:
        """Length in seconds, as decoded."""
        return self.waveform.duration_s

    def mono(self, rate: int | None = None) -> Samples:
        """One channel, of shape (frames,), at a rate; within -1 and 1, as many packages demand."""
        wanted = rate or self.waveform.rate
        if wanted not in self._views:
            one = self.waveform.mono()
            changed = one if wanted == one.rate else one.resampled(wanted)
            self._views[wanted] = np.clip(changed.samples[:, 0], -1.0, 1.0)
        return self._views[wanted]


class Expert(Protocol):
    """Analyses a clip and says how sure it is.

    ``version`` is everything beside the clip that changes what it says. ``domains`` are the letters
    of those that it runs on, such as ``SM``; without any it hears every clip, and before others.
    """

    @property
    def name(self) -> str: ...
    @property
    def needs(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def domains(self) -> str: ...

    def analyse(self, clip: ClipAudio) -> Mapping[str, Any]:
        """What it hears, as JSON with confidences from 0 to 1; whatever it raises is a status."""


@runtime_checkable
class BatchExpert(Protocol):
    """An expert that is quicker with many clips at once."""

    def analyse_batch(self, clips: Sequence[ClipAudio]) -> Sequence[Mapping[str, Any]]:
        """What ``analyse`` says of each."""


def signature_of(expert: Expert) -> str:
    """The expert as findings are kept under."""
    return f"{expert.name}|{expert.version}"


def number(options: Options, name: str, default: float, low: float, high: float) -> float:
    """Take an option that is a number from ``low`` to ``high``; ValueError for any other."""
    value = float(options.pop(name, default))
    if not low <= value <= high:  # which what is no number is not, either
        raise ValueError(f"{name} is {value:g}, and not from {low:g} to {high:g}")
    return value


def package_version(expert: str, *packages: str, extra: str = "experts") -> str:
    """Names and versions of packages; ExpertMissingError where one is not installed."""
    said = []
    for name in packages:
        try:
            said.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            raise ExpertMissingError(
                f"{expert} needs {name}: pip install 'audiocapbench[{extra}]'"
            ) from None
    return ", ".join(said)
