"""What an expert is, experts by name, and which of eight domains a clip is of by what they say.

A package names a function or class in the entry point ``audiocapbench.experts``: it takes the
options of the name, and returns an ``Expert``. An option that it leaves there is refused.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, Protocol

import numpy as np

from audiocapbench.audio import Samples, Waveform
from audiocapbench.audio.measure import distinct_channels
from audiocapbench.benchmarks.mecat.groups import CONTENTS, DOMAINS
from audiocapbench.data import Clip
from audiocapbench.errors import AnnotationError, ExpertMissingError, check_known
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.shipped import read_lists
from audiocapbench.plugins import plugin_failures, plugins
from audiocapbench.store.cache import Finding

Options = dict[str, str]
"""What stands in the brackets of an expert's name; each takes out what it knows."""

BUILT_IN = ("signal", "speech", "tags", "asr", "quality", "music")
"""In the order in which they are told to the language model."""

LISTENER = "listener"
"""Who decides domains where nobody labels sounds; the language model is not told what it says."""

_TABLES: Any = read_lists("audiocapbench.annotate", "experts.toml")
ADDS: dict[str, str] = _TABLES["adds"]
"""What each expert that is built in would add."""

_WRAPS: list[str] = _TABLES["wraps"]
TASKS: dict[str, list[str]] = _TABLES["tasks"]
"""What classifiers of speech and of music are about; others hear every clip."""

Said = Mapping[str, Finding]


class ClipAudio:
    """A decoded clip: all channels as they are, and mono at any rate."""

    def __init__(self, clip: Clip, waveform: Waveform) -> None:
        self.clip, self.waveform = clip, waveform
        self._views: dict[int, Samples] = {}
        self.parted: ClipAudio | None = None

    def mono(self, rate: int | None = None) -> Samples:
        """One channel, of shape (frames,), at a rate; within -1 and 1, as many packages demand."""
        wanted = rate or self.waveform.rate
        if wanted not in self._views:
            one = self.waveform.mono()
            changed = one if wanted == one.rate else one.resampled(wanted)
            self._views[wanted] = np.clip(changed.samples[:, 0], -1.0, 1.0)
        return self._views[wanted]

    def voices(self, rate: int) -> list[Samples]:
        """What is heard of it as one channel, and each channel that is not in that already."""
        return distinct_channels(self.waveform, rate, self.mono(rate))


class Expert(Protocol):
    """Analyses a clip and says how sure it is.

    ``version`` is everything beside the clip that changes what it says. ``domains`` are the letters
    of those that it runs on, such as ``SM``; without any it hears every clip, and before others.
    """

    name: str
    version: str
    domains: str

    def analyse(self, clip: ClipAudio) -> Mapping[str, Any]:
        """What it hears, as JSON with confidences from 0 to 1; whatever it raises is a status."""


def signature_of(expert: Expert) -> str:
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
            how = f"pip install 'audiocapbench[{extra}]'" if extra else f"pip install {name}"
            raise ExpertMissingError(f"{expert} needs {name}: {how}") from None
    return ", ".join(said)


class ExpertPanel(NamedTuple):
    """The experts that can run here, as they were named, and why others cannot, by name."""

    experts: tuple[Expert, ...]
    not_run: dict[str, str]
    names: tuple[str, ...]


def set_up(names: Sequence[str]) -> ExpertPanel:
    """Set experts up; one that lacks a package or a model is named with the reason."""
    made, good = dict[str, Expert](), list[str]()
    not_run: dict[str, str] = {}
    for written in names:
        name = parse_name(written, "an expert")
        options = dict(name.options)
        called = options.get("task", name.name) if name.name == "classify" else name.name
        if called in made.keys() | not_run.keys():
            raise AnnotationError(f"the expert {called} is named twice")
        try:
            expert = _create(name.name, options)
            made[expert.name] = expert
            good.append(written)
        except ExpertMissingError as error:
            not_run[called] = str(error)
        except ValueError as error:  # an option that is no number
            raise AnnotationError(f"the expert {written} cannot be set up: {error}") from None
        if called in made and options:
            raise AnnotationError(f"the expert {name.name} has no option {', '.join(options)}")
    if not {"tags", LISTENER} & made.keys():
        made[LISTENER] = _create(LISTENER, {})
        good.append(LISTENER)
    if (separate := made.get("separate")) is not None:
        alone = import_module(f"{__name__}.checkpoints").SeparatedExpert
        for one in [one for one in made.values() if one.name == "speech" or one.domains == "S"]:
            made[one.name] = alone(one, separate)
    return ExpertPanel(tuple(made.values()), not_run, tuple(good))


def _create(name: str, options: Options) -> Expert:
    if name in (*ADDS, LISTENER):
        module = import_module(f"{__name__}.{'checkpoints' if name in _WRAPS else 'built_in'}")
        expert: Expert = getattr(module, f"{name.title()}Expert")(options)
        return expert
    check_known("expert", name, [*ADDS, *sorted(plugins("experts"))], AnnotationError)
    point = plugins("experts")[name]
    with plugin_failures(f"{name}: its plug-in {point.value}", ExpertMissingError):
        expert = point.load()(options)
    parts: dict[str, Any] = {"name": str, "version": str, "domains": str, "analyse": Callable}
    lacking = [one for one in parts if not isinstance(getattr(expert, one, None), parts[one])]
    if lacking or expert.name != name or set(expert.domains) - set("SMA"):
        why = f"lacks {', '.join(lacking)}" if lacking else "says another name or odd domains"
        raise AnnotationError(f"the expert {name}: {point.value} {why}")
    return expert


class DomainRules(NamedTuple):
    """Thresholds from which something counts as heard; what is below the level is silent."""

    speech_share: float = 0.1
    speech_label: float = 0.5
    music_label: float = 0.4
    sound_label: float = 0.3
    silence_dbfs: float = -60.0
    music_share: float = 0.3
    background_db: float = -20.0

    @classmethod
    def of(cls, given: Sequence[str]) -> "DomainRules":
        """Read ``NAME=VALUE`` thresholds; the others keep their defaults."""
        changed = {}
        for one in given:
            name, _, value = one.partition("=")
            check_known("threshold", name, cls._fields, AnnotationError)
            bounds = (-200.0, 0.0) if "_db" in name else (0.0, 1.0)
            try:
                changed[name] = number({name: value}, name, 0.0, *bounds)
            except ValueError as error:
                raise AnnotationError(f"the threshold {one!r} cannot be: {error}") from None
        return cls(**changed)


def decide(
    said: Said, rules: DomainRules, given: str | None = None
) -> tuple[str | None, dict[str, Any], str]:
    """A clip's domain by what experts said, or as the user gave it; its evidence; why none."""
    evidence: dict[str, Any] = {"thresholds": rules._asdict()}
    if given is not None:
        if given not in DOMAINS:
            near = f"its metadata says {given[:20]!r}, not one of {', '.join(DOMAINS)}"
            return None, evidence, f"no such domain: {near}"
        return given, evidence | {"by": "metadata"}, ""
    rough, labels = said_by(said, LISTENER), said_by(said, "tags").get("highest")
    level = said_by(said, "signal").get("rms_dbfs", rough.get("level_dbfs"))
    share = said_by(said, "speech").get("speech_share", rough.get("speech_share"))
    evidence |= {"by": "experts", "rms_dbfs": level, "speech_share": share}
    evidence["decided_by"] = {"silence_dbfs": rules.silence_dbfs}
    if level is not None and level < rules.silence_dbfs:
        return "000", evidence, ""
    if labels is None and not rough:
        why = "neither tags nor listener has heard it: give tags a model, or a domain in metadata"
        return None, evidence, why
    spoken = (share or 0.0) >= rules.speech_share
    if labels is None:
        used = ["speech_share", "music_share", "background_db"]
        evidence |= {"by": "experts without labels", LISTENER: dict(rough)}
        music = rough["music_share"] >= rules.music_share
        # What is neither is another sound; beside music nobody could tell one without labels.
        sound = not music and (not spoken or rough["background_db"] >= rules.background_db)
    else:
        used = ["speech_share", "speech_label", "music_label", "sound_label"]
        there = []
        for kind in CONTENTS:
            own = [one for one in labels if kind_of_label(one) == kind]
            evidence[f"{kind}_label"] = best = max(own, key=labels.get, default="")
            there.append(labels.get(best, 0.0) >= getattr(rules, f"{kind}_label"))
        spoken, music, sound = spoken or there[0], *there[1:]
    evidence["decided_by"] |= {name: getattr(rules, name) for name in used}
    letters = zip("SMA", (spoken, music, sound), strict=True)
    found = "".join(letter if heard else "0" for letter, heard in letters)
    if found == "000":
        return None, evidence, "no label stands out, and it is not silent"
    return found, evidence, ""


def said_by(said: Said, expert: str) -> Mapping[str, Any]:
    """What an expert said of a clip; nothing where it failed or was not run."""
    one = said.get(expert)
    return one.document if one is not None and one.status == "ok" else {}


@cache
def kind_of_label(label: str) -> str:
    """What a label is of: speech, music, sound, or neutral, which says nothing of a domain."""
    name, known = label.strip().lower(), read_lists("audiocapbench.annotate", "labels.json")
    if name in known["neutral"]:
        return "neutral"
    for kind in ("speech", "music"):
        words = "|".join(map(re.escape, known[kind]))
        if name not in known[f"not {kind}"] and re.search(rf"\b(?:{words})\b", name):
            return kind
    return "sound"


@lru_cache(100_000)
def plain_words(text: str) -> str:
    """Small letters and single spaces."""
    return " ".join(re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower().replace("’", "'")))


_PHANTOMS = "|".join(map(plain_words, _TABLES["phantoms"].strip().splitlines()))


def is_phantom(text: str) -> bool:
    """Whether a transcript is made of what Whisper makes up in silence, be it over and over."""
    return bool(re.fullmatch(rf"(?:\b(?:{_PHANTOMS})\b ?)+", plain_words(text)))
