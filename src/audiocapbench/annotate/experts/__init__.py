"""What an expert is, and experts by name: the built-in ones, and those of other packages.

A package names a function or class in the entry point ``audiocapbench.experts``: it takes the
options of the name, and returns an ``Expert``. An option that it leaves there is refused.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from audiocapbench.audio import Samples, Waveform
from audiocapbench.data import Clip
from audiocapbench.errors import (
    AnnotationError,
    AudioCapBenchError,
    ExpertMissingError,
    did_you_mean,
)
from audiocapbench.metrics.names import parse_name
from audiocapbench.plugins import failure_words, plugins

Options = dict[str, str]
"""What stands in the brackets of an expert's name; each takes out what it knows."""


class ClipAudio:
    """A decoded clip: all channels as they are, and mono at any rate."""

    def __init__(self, clip: Clip, waveform: Waveform) -> None:
        self.clip, self.waveform = clip, waveform
        self._views: dict[int, Samples] = {}

    @property
    def duration_s(self) -> float:
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

    name: str
    needs: str
    version: str
    domains: str

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


BUILT_IN = ("signal", "speech", "tags", "asr", "quality", "music")
"""In the order in which they are told to the language model."""


class ExpertPanel(NamedTuple):
    """The experts that can run here, as they were named, and why others cannot, by name."""

    experts: tuple[Expert, ...]
    not_run: dict[str, str]
    names: tuple[str, ...]


def set_up(names: Sequence[str]) -> ExpertPanel:
    """Set experts up; one that lacks a package or a model is named with the reason."""
    experts: list[Expert] = []
    not_run: dict[str, str] = {}
    for written in names:
        name = parse_name(written, "an expert")
        if name.name in (*not_run, *(one.name for one in experts)):
            raise AnnotationError(f"the expert {name.name} is named twice")
        try:
            options = dict(name.options)
            create = _load if name.name in BUILT_IN else _plugin
            experts.append(create(name.name, options))
            if options:
                raise AnnotationError(f"the expert {name.name} has no option {', '.join(options)}")
        except ExpertMissingError as error:
            not_run[name.name] = str(error)
        except ValueError as error:  # an option that is no number
            raise AnnotationError(f"the expert {written} cannot be set up: {error}") from None
    good = tuple(one for one in names if parse_name(one).name not in not_run)
    return ExpertPanel(tuple(experts), not_run, good)


def _load(name: str, options: Options) -> Expert:
    file = "signal" if name == "signal" else "packaged"
    module = import_module(f"audiocapbench.annotate.experts.{file}")
    expert: Expert = getattr(module, f"{name.title()}Expert")(options)
    return expert


def _plugin(name: str, options: Options) -> Expert:
    point = plugins("experts").get(name)
    if point is None:
        known = [*BUILT_IN, *sorted(set(plugins("experts")) - set(BUILT_IN))]
        near = did_you_mean(name, known, "there are")
        raise AnnotationError(f"there is no expert {name!r}{near}")
    try:
        expert: Expert = point.load()(options)
    except AudioCapBenchError:
        raise
    except (Exception, SystemExit) as error:  # a plug-in may raise anything
        words = f"{name}: its plug-in {point.value} fails ({failure_words(error)})"
        raise ExpertMissingError(words) from error
    parts = ("name", "needs", "version", "domains")
    lacking = [one for one in parts if not isinstance(getattr(expert, one, None), str)]
    lacking += [] if callable(getattr(expert, "analyse", None)) else ["analyse"]
    why = f"lacks {', '.join(lacking)}, or has no text there" if lacking else ""
    if not lacking and (expert.name != name or set(expert.domains) - set("SMA")):
        why = "says another name or odd domains"
    if why:
        raise AnnotationError(f"the expert {name}: {point.value} {why}")
    return expert
