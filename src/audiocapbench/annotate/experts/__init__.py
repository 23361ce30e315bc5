"""Experts by name: the built-in ones, a file each, and those that packages bring.

A package names a function or class in the entry point ``audiocapbench.experts``: it takes the
options of the name, and returns an ``Expert``. An option that it leaves there is refused.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from audiocapbench.annotate.expert import Expert
from audiocapbench.errors import (
    AnnotationError,
    AudioCapBenchError,
    ExpertMissingError,
    did_you_mean,
)
from audiocapbench.metrics.names import parse_name
from audiocapbench.plugins import failure_words, plugins

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


def _load(name: str, options: dict[str, str]) -> Expert:
    module = import_module(f"audiocapbench.annotate.experts.{name}")
    expert: Expert = getattr(module, f"{name.title()}Expert")(options)
    return expert


def _plugin(name: str, options: dict[str, str]) -> Expert:
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
