"""Models of other people: by entry point, or in a Python file; checked before they are asked."""

import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint
from inspect import iscoroutinefunction, unwrap
from pathlib import Path
from types import ModuleType
from typing import Any

from audiocapbench.data.sample import Sample
from audiocapbench.errors import AudioCapBenchError, ModelError
from audiocapbench.models.model import (
    AudioContract,
    CorpusModel,
    Model,
    ModelSettings,
    ModelVariant,
)
from audiocapbench.models.provider import KnownModel, Provider
from audiocapbench.plugins import failure_place, failure_words

_IN_FILE = re.compile(r"(?P<path>.*\.py):(?P<attribute>\w*)", re.DOTALL)
MODULE_OF_FILE = "_model_"
_DECLARED = ("contract", "settings", "key_names", "price")
_TYPES: Mapping[str, type] = {
    "name": str,
    "contract": AudioContract,
    "parameters": Mapping,
    "cacheable": bool,
    "concurrency": int,
}
_DEFAULTS = (
    "audiocapbench.SimpleModel, to derive from, has defaults for all but contract and answer"
)


def provider_of_plugin(point: EntryPoint) -> Provider:
    """The record that an entry point brings, or one made of what its class declares."""
    where = f"model '{point.name}/…': its plug-in {point.value}"
    try:
        loaded = point.load()
    except (Exception, SystemExit) as error:  # a plug-in may raise anything
        raise ModelError(f"{where} fails ({error}){failure_place(error)}") from error
    return _record(loaded, point.name, f"plug-in {point.value}", where, {})


def provider_in_file(name: str) -> Provider | None:
    """The record of ``path/to/file.py:Class``; its hash is among the parameters of the model."""
    found = _IN_FILE.fullmatch(name)
    if found is None:
        return None
    path, attribute = Path(found["path"]), found["attribute"]
    where = f"model {name!r}"
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelError(f"{where}: {found['path']!r} cannot be read ({reason})") from None
    digest = hashlib.sha256(content).hexdigest()[:16]
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    module = ModuleType(f"{MODULE_OF_FILE}{digest}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        exec(compile(content, str(path), "exec"), vars(module))  # noqa: S102  as the user asks
    except (Exception, SystemExit) as error:  # a file may do anything
        del sys.modules[module.__name__]
        words = f"{failure_words(error)}){failure_place(error)}"
        raise ModelError(f"{where}: the file fails ({words}") from error
    if attribute not in vars(module):
        classes = [one for one in vars(module).values() if isinstance(one, type)]
        own = [one.__name__ for one in classes if one.__module__ == module.__name__]
        has = ", ".join(own) or "none"
        raise ModelError(f"{where}: the file has no class {attribute!r}; it has {has}")
    short = f"{path.name}:{attribute}"
    record = _record(vars(module)[attribute], short, f"in {path}", where, {"file": digest})
    return replace(record, models=(KnownModel(short),), any_model=False)


def _record(loaded: Any, name: str, description: str, where: str, more: dict[str, str]) -> Provider:
    """The record of what was loaded, whose models are checked when they are made."""
    if isinstance(loaded, Provider):
        record = replace(loaded, name=name)
    elif callable(loaded):
        # What a class computes, its models know and it does not.
        declared = {
            field: value
            for field in _DECLARED
            if not isinstance(value := getattr(loaded, field, None), property | None)
        }
        make = loaded if declared.get("settings") else lambda name, _: loaded(name)
        try:
            record = Provider(name, description, make, **declared)
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None
    else:
        raise ModelError(f"{where} is neither a class or function nor a Provider")

    def create(name: str, settings: ModelSettings) -> Model:
        try:
            model = record.factory(name, settings)
        except AudioCapBenchError:
            raise
        except (Exception, SystemExit) as error:  # it may raise anything
            words = f"{failure_words(error)}){failure_place(error)}"
            raise ModelError(f"{where} fails ({words}") from error
        check_model(model, where)
        if model.name != name:
            raise ModelError(f"{where} calls itself {model.name!r}; it is asked for as {name!r}")
        # What the cache is to tell its answers apart by.
        given = {key: value for key, value in settings.given.items() if key != "timeout"} | more
        if new := {key: value for key, value in given.items() if key not in model.parameters}:
            try:
                model.parameters = {**model.parameters, **new}  # type: ignore[misc]
            except AttributeError:  # it computes them
                return ModelVariant(model, new)
        return model

    return replace(record, factory=create)


def check_model(model: Any, where: str) -> None:
    """Refuse what is no model, or declares what a run would trip over later."""
    made = f"{where} makes a {type(model).__name__}"
    missing = [one for one in (*_TYPES, "answer") if not hasattr(model, one)]
    if missing:
        raise ModelError(f"{made} without {', '.join(missing)}; {_DEFAULTS}")
    for attribute, kind in _TYPES.items():
        if not isinstance(getattr(model, attribute), kind):
            raise ModelError(f"{made} whose {attribute} is no {kind.__name__}")
    if not model.name.strip() or not model.name.isprintable():
        raise ModelError(f"{made} whose name is {model.name!r}; it has letters")
    if isinstance(model.concurrency, bool) or model.concurrency < 1:
        raise ModelError(f"{made} whose concurrency is {model.concurrency}; it is at least 1")
    try:
        json.dumps(dict(model.parameters), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"{made} whose parameters are not JSON ({error})") from None
    odd = [key for key in model.parameters if not isinstance(key, str)]
    if odd:
        raise ModelError(f"{made} whose parameters have the name {odd[0]!r}; names are text")
    if not iscoroutinefunction(unwrap(model.answer)):
        raise ModelError(f"{made} whose answer cannot be awaited; write 'async def answer'")


def prepare_model(model: CorpusModel, samples: Sequence[Sample]) -> None:
    """Let a model prepare itself; what it raises is said in one sentence."""
    try:
        model.prepare(samples)
    except AudioCapBenchError:
        raise
    except (Exception, SystemExit) as error:  # it may raise anything
        words = failure_words(error) + failure_place(error)
        raise ModelError(f"{type(model).__name__} cannot prepare: {words}") from error
