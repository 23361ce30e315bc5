"""Which of the eight domains a clip is of, by stated thresholds on labels, speech and level.

MECAT's thresholds were not published; these are options, and are recorded with every clip.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from audiocapbench.annotate.experts import number
from audiocapbench.benchmarks.mecat.groups import DOMAINS
from audiocapbench.errors import AnnotationError, did_you_mean
from audiocapbench.store.annotations import Finding

Said = Mapping[str, Finding]


class DomainRules(NamedTuple):
    """Thresholds at or above which something counts as heard.

    The share of speech in the clip, the likeliest label of speech, of music and of any other sound;
    below ``silence_dbfs``, an RMS level, a clip is silent whatever else is said of it.
    """

    speech_share: float = 0.1
    speech_label: float = 0.5
    music_label: float = 0.4
    sound_label: float = 0.3
    silence_dbfs: float = -60.0

    @classmethod
    def of(cls, given: Sequence[str]) -> "DomainRules":
        """Read ``NAME=VALUE`` thresholds; the others keep their defaults."""
        changed = {}
        for one in given:
            name, _, value = one.partition("=")
            if name not in cls._fields:
                near = did_you_mean(name, cls._fields, "there are")
                raise AnnotationError(f"there is no threshold {name!r}{near}")
            bounds = (-200.0, 0.0) if name == "silence_dbfs" else (0.0, 1.0)
            try:
                changed[name] = number({name: value}, name, 0.0, *bounds)
            except ValueError as error:
                raise AnnotationError(f"the threshold {one!r} cannot be: {error}") from None
        return cls(**changed)


class Decision(NamedTuple):
    """A domain, or why there is none, and the figures that it was decided by."""

    domain: str | None
    evidence: dict[str, Any]
    reason: str | None = None


def decide(said: Said, rules: DomainRules, given: str | None = None) -> Decision:
    """The domain of a clip by what experts said, or as the user gave it."""
    evidence: dict[str, Any] = {"thresholds": rules._asdict()}
    if given is not None:
        if given not in DOMAINS:
            near = f"its metadata says {given[:20]!r}, not one of {', '.join(DOMAINS)}"
            return Decision(None, evidence, f"no such domain: {near}")
        return Decision(given, evidence | {"by": "metadata"})
    level = said_by(said, "signal").get("rms_dbfs")
    share = said_by(said, "speech").get("speech_share")
    evidence |= {"by": "experts", "rms_dbfs": level, "speech_share": share}
    if level is not None and level < rules.silence_dbfs:
        return Decision("000", evidence)
    if "highest" not in said_by(said, "tags"):
        why = "the expert tags has not run: give it a model, or a domain in the metadata"
        return Decision(None, evidence, why)
    heard = dict.fromkeys(("speech", "music", "sound"), ("", 0.0))
    for label, sure in said_by(said, "tags")["highest"].items():
        kind = kind_of_label(label)
        if kind in heard and sure > heard[kind][1]:
            heard[kind] = (label, sure)
    evidence |= {f"{kind}_label": label for kind, label in heard.items()}
    there = {
        "S": (share or 0.0) >= rules.speech_share or heard["speech"][1] >= rules.speech_label,
        "M": heard["music"][1] >= rules.music_label,
        "A": heard["sound"][1] >= rules.sound_label,
    }
    if not any(there.values()):
        return Decision(None, evidence, "no label stands out, and it is not silent")
    return Decision("".join(one if there[one] else "0" for one in there), evidence)


def said_by(said: Said, expert: str) -> Mapping[str, Any]:
    """What an expert said of a clip; nothing where it failed or was not run."""
    one = said.get(expert)
    return one.document if one is not None and one.status == "ok" else {}


@cache
def kind_of_label(label: str) -> str:
    """What a label is of: speech, music, sound, or neutral, which says nothing of a domain."""
    name, known = label.strip().lower(), _labels()
    if name in known["neutral"]:
        return "neutral"
    for kind in ("speech", "music"):
        words = "|".join(map(re.escape, known[kind]))
        if name not in known[f"not {kind}"] and re.search(rf"\b(?:{words})\b", name):
            return kind
    return "sound"


@cache
def _labels() -> dict[str, list[str]]:
    text = files("audiocapbench.annotate").joinpath("labels.json").read_text("utf-8")
    return TypeAdapter(dict[str, list[str]]).validate_json(text)
