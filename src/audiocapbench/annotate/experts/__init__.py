"""Experts by name: the built-in ones, a file each, and those that packages bring.

A package names a function or class in the entry point ``audiocapbench.experts``: it takes the
options of the name, and returns an ``Expert``. An option that it leaves there is refused.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from audiocapbench.annotate.errors import AnnotationError, ExpertMissingError
from audiocapbench.annotate.expert import Expert
from audiocapbench.errors import AudioCapBenchError, meant
from audiocapbench.metrics.names import ScorerName, parse_name
from audiocapbench.plugins import failure_words, plugins

BUILT_IN = ("signal", "speech", "tags", "asr", "quality", "music")
"""In the order in which they are told to the language model."""


class ExpertPanel(NamedTuple):
    """The experts that can run here, and why others cannot, by name."""

    experts: tuple[Expert, ...]
    not_run: dict[str, str]


def known_experts() -> list[str]:
    """Names of all experts, without the options that they take."""
    return [*BUILT_IN, *sorted(set(plugins("experts")) - set(BUILT_IN))]


def set_up(names: Sequence[str]) -> ExpertPanel:
    """Set experts up; one that lacks a package or a model is named with the reason.

    Raises:
        AnnotationError: There is no such expert, it is named twice or has no such option.
    """
    experts: list[Expert] = []
    not_run: dict[str, str] = {}
    for written in names:
        name = parse_name(written)
        if name.name in (*not_run, *(one.name for one in experts)):
            raise AnnotationError(f"the expert {name.name} is named twice")
        try:
            experts.append(_create(name))
        except ExpertMissingError as error:
            not_run[name.name] = str(error)
    return ExpertPanel(tuple(experts), not_run)


def _create(name: ScorerName) -> Expert:
    options = dict(name.options)
    if name.name in BUILT_IN:
        module = import_module(f"audiocapbench.annotate.experts.{name.name}")
        expert: Expert = module.create(options)
    else:
        expert = _plugin(name.name, options)
    if options:
        raise AnnotationError(f"the expert {name.name} has no option {', '.join(options)}")
    return expert


def _plugin(name: str, options: dict[str, str]) -> Expert:
    point = plugins("experts").get(name)
    if point is None:
        near = meant(name, known_experts(), "there are")
        raise AnnotationError(f"there is no expert {name!r}{near}")
    try:
        expert: Expert = point.load()(options)
    except AudioCapBenchError:
        raise
    except (Exception, SystemExit) as error:  # a plug-in may raise anything
        raise ExpertMissingError(
            f"its plug-in {point.value} fails ({failure_words(error)})"
        ) from error
    lacking = [
        one
        for one in ("name", "needs", "version", "domains", "analyse")
        if not hasattr(expert, one)
    ]
    if lacking or expert.name != name or set(expert.domains) - set("SMA"):
        why = f"lacks {', '.join(lacking)}" if lacking else "says another name or odd domains"
        raise AnnotationError(f"the expert {name}: {point.value} {why}")
    return expert
