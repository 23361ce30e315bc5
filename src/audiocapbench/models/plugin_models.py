"""Models of other people: by entry point, or in a Python file; checked before they are asked."""

import hashlib
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint
from inspect import iscoroutinefunction, unwrap
from pathlib import Path
from types import ModuleType
from typing import Any

from audiocapbench.errors import AudioCapBenchError, ModelError
from audiocapbench.models.model import AudioContract, Model, VariedModel
from audiocapbench.models.provider import KnownModel, Provider
from audiocapbench.models.settings import ModelSettings

_IN_FILE = re.compile(r"(?P<path>.*\.py):(?P<attribute>\w*)", re.DOTALL)
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
    except Exception as error:  # a plug-in may raise anything
        raise ModelError(f"{where} fails ({error})") from error
    return _record(loaded, point.name, f"plug-in {point.value}", where, {})


def provider_in_file(name: str) -> Provider | None:
    """The record of ``path/to/file.py:Class``, named after file and class; None for other names.

    A changed file answers otherwise: its hash is among the parameters of the model.
    """
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
    module = _run(path, content, f"_model_{digest}", where)
    if attribute not in vars(module):
        classes = [one for one in vars(module).values() if isinstance(one, type)]
        own = [one.__name__ for one in classes if one.__module__ == module.__name__]
        has = ", ".join(own) or "none"
        raise ModelError(f"{where}: the file has no class {attribute!r}; it has {has}")
    short = f"{path.name}:{attribute}"
    record = _record(vars(module)[attribute], short, f"in {path}", where, {"file": digest})
    return replace(record, models=(KnownModel(short),), any_model=False)


def _run(path: Path, content: bytes, name: str, where: str) -> ModuleType:
    """The file as a module; what lies beside it can be imported, after what is installed."""
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = str(path)
    try:
        exec(compile(content, str(path), "exec"), vars(module))  # noqa: S102  as the user asks
    except (Exception, SystemExit) as error:  # a file may do anything
        del sys.modules[name]
        raise ModelError(f"{where}: the file fails ({type(error).__name__}: {error})") from error
    return module


def _record(
    loaded: Any, name: str, description: str, where: str, more: Mapping[str, str]
) -> Provider:
    """The record of what was loaded, whose models are checked when they are made."""
    if isinstance(loaded, Provider):
        record = replace(loaded, name=name)
    elif callable(loaded):
        declared = {field: getattr(loaded, field) for field in _DECLARED if hasattr(loaded, field)}
        make = loaded if declared.get("settings") else lambda name, _: loaded(name)
        record = Provider(name, description, make, **declared)
    else:
        raise ModelError(f"{where} is neither a class or function nor a Provider")

    def create(name: str, settings: ModelSettings) -> Model:
        try:
            model = record.factory(name, settings)
        except AudioCapBenchError:
            raise
        except Exception as error:  # it may raise anything
            raise ModelError(f"{where} fails ({type(error).__name__}: {error})") from error
        _check(model, where)
        taken = {key: value for key, value in settings.given.items() if key != "timeout"}
        return _with_parameters(model, taken | dict(more))

    return replace(record, factory=create)


def _check(model: Any, where: str) -> None:
    made = f"{where} makes a {type(model).__name__}"
    missing = [one for one in (*_TYPES, "answer") if not hasattr(model, one)]
    if missing:
        raise ModelError(f"{made} without {', '.join(missing)}; {_DEFAULTS}")
    for attribute, kind in _TYPES.items():
        if not isinstance(getattr(model, attribute), kind):
            raise ModelError(f"{made} whose {attribute} is no {kind.__name__}")
    if not iscoroutinefunction(unwrap(model.answer)):
        raise ModelError(f"{made} whose answer cannot be awaited; write 'async def answer'")


def _with_parameters(model: Model, more: Mapping[str, Any]) -> Model:
    """The model with more parameters, so that the cache tells its answers apart."""
    new = {key: value for key, value in more.items() if key not in model.parameters}
    if not new:
        return model
    try:
        model.parameters = {**model.parameters, **new}  # type: ignore[misc]
    except AttributeError:  # it computes them
        return VariedModel(model, new)
    return model
