"""Which models there are, how a name becomes one, and what it costs."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from importlib.metadata import EntryPoint
from inspect import iscoroutinefunction, unwrap
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from audiocapbench.audio import Mono
from audiocapbench.credentials import without_query
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.data.problems import problems_of
from audiocapbench.errors import ModelError, did_you_mean
from audiocapbench.models.model import (
    AS_PUBLISHED,
    AudioContract,
    KnownModel,
    Model,
    ModelSettings,
    ModelVariant,
    Provider,
    Question,
)
from audiocapbench.models.price import SAID_FREE, Price
from audiocapbench.plugins import load_in_file, plugin_failures, plugins

_RECORDS = (
    "listener.PROVIDER controls.PROVIDER openai_chat.PROVIDER openai_realtime.PROVIDER "
    "gemini.PROVIDER openai_chat.DASHSCOPE openai_chat.ENDPOINT local.PROVIDER vllm.PROVIDER"
).split()
"""The providers' records by module, in the order of the listing."""

PUBLISHED_NAMES = {"openai-realtime": "openai_realtime", "dashscope": "qwen_audio"}
"""Providers that the published tool calls otherwise."""

_PUBLISHED_MAX_TOKENS = 256
_REALTIME = "openai-realtime/"
_OWN = {"endpoint"}
Prices = Callable[[str], Price | None]  # ``price_of``, with what the user says of prices

_DECLARED = ("contract", "settings", "key_names", "price")
_TYPES: Mapping[str, type] = {
    "name": str,
    "contract": AudioContract,
    "parameters": Mapping,
    "cacheable": bool,
    "concurrency": int,
}


def provider_of_plugin(point: EntryPoint) -> Provider:
    """The record that an entry point brings, or one made of what its class declares."""
    where = f"model '{point.name}/…': its plug-in {point.value}"
    with plugin_failures(where, ModelError, loads=True):
        loaded = point.load()
    return _record(loaded, point.name, f"plug-in {point.value}", where, {})


def provider_in_file(name: str) -> Provider | None:
    """The record of ``path/to/file.py:Class``; its hash is among the parameters of the model."""
    where = f"model {name!r}"
    if (found := load_in_file(name, where, ModelError)) is None:
        return None
    short = f"{found.path.name}:{found.attribute}"
    more = {"file": found.digest}
    record = _record(found.value, short, f"in {found.path}", where, more)
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
        with plugin_failures(where, ModelError):
            model = record.factory(name, settings)
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
        to_do = "derive it from audiocapbench.SimpleModel, which has all but contract and answer"
        raise ModelError(f"{made} without {', '.join(missing)}; {to_do}")
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


_in_files: dict[str, Provider] = {}


class PublishedModel(ModelVariant):
    """A model asked as the published tool asks it: text counts however it ended, with thoughts."""

    verbatim = True

    def __init__(self, model: Model) -> None:
        # Stored answers of Realtime, which was told otherwise before, are known apart.
        session = {"session": "tool"} if model.name.startswith(_REALTIME) else {}
        mono: Mono = "mean" if model.contract.mono else False
        contract = replace(model.contract, mono=mono)
        super().__init__(model, {"protocol": "published", **session}, contract)

    async def answer(self, question: Question) -> Reply:
        before = AS_PUBLISHED.set(True)
        try:
            reply = await super().answer(question)
        finally:
            AS_PUBLISHED.reset(before)
        # A model of one's own may end as it likes.
        ended = reply.status in (Status.TRUNCATED, Status.FILTERED) and reply.text.strip()
        return replace(reply, status=Status.OK) if ended else reply


@cache
def built_in_providers() -> dict[str, Provider]:
    places = [place.split(".") for place in _RECORDS]
    records = [getattr(import_module(f"audiocapbench.models.{one}"), name) for one, name in places]
    return {record.name: record for record in records}


def provider_of(name: str) -> Provider | None:
    provider = name.partition("/")[0]
    known = built_in_providers().get(provider) or _in_files.get(name)
    point = None if known else plugins("models").get(provider)
    return known if point is None else provider_of_plugin(point)


def create_model(
    name: str, settings: ModelSettings | None = None, defaults: ModelSettings | None = None
) -> Model:
    """Make the model that a name stands for; ModelError where it cannot be asked here.

    Args:
        name: ``provider/model``, ``listener``, ``control/KIND`` or ``path/to/file.py:Class``.
        settings: What the user says; a setting that the model does not take is refused.
        defaults: What holds where the user says nothing and the model takes the setting.
    """
    from audiocapbench.models.gemini import THINKING_BUDGET, thinks

    in_file = provider_in_file(name)
    if in_file is not None:
        _in_files[in_file.name] = in_file
        return in_file.create(in_file.name, settings, defaults)
    provider = provider_of(name)
    if provider is None:
        near = did_you_mean(name, [one.name for one in list_models()])
        listing = "'audiocapbench models' lists those that can be asked"
        raise ModelError(f"there is no model {without_query(name)!r}{near}; {listing}")
    if defaults is not None and defaults.max_tokens and thinks(name):
        defaults = replace(defaults, max_tokens=defaults.max_tokens + THINKING_BUDGET)
    return provider.create(name, settings, defaults)


def create_models(
    names: Iterable[str],
    settings: ModelSettings | None = None,
    *,
    published: bool = False,  # as AudioCapBench's published tool asks them
    max_tokens: int | None = None,  # else the longest answer, of who is asked with a key
) -> list[Model]:
    """Make several models, each once."""
    models: dict[str, Model] = {}
    for name in dict.fromkeys(names):
        keyed = bool(getattr(provider_of(name), "key_names", ())) and not published
        limit = ModelSettings(max_tokens=max_tokens if keyed else None)
        make = create_published if published else partial(create_model, defaults=limit)
        model = make(name, settings)
        known = models.setdefault(model.name, model)
        if known.parameters != model.parameters:
            to_do = "rename one of the files, or its class"
            raise ModelError(f"two different models are called {model.name!r}; {to_do}")
    return list(models.values())


def create_published(name: str, settings: ModelSettings | None = None) -> Model:
    """Make a model as ``create_model`` does, to be asked as the published tool asks it."""
    from audiocapbench.models.controls import ControlModel
    from audiocapbench.models.gemini import thinks

    asked = settings or ModelSettings()
    if name.startswith(_REALTIME):  # today's API takes none
        asked = replace(asked, temperature=None)
    # The tool sends these no limit, and others the paper's.
    free = name.startswith((_REALTIME, "dashscope/")) or thinks(name)
    most = None if free else _PUBLISHED_MAX_TOKENS
    model = create_model(name, asked, ModelSettings(max_tokens=most))
    # Nothing cuts a control's answer, and it follows the benchmark's rules.
    return model if isinstance(model, ControlModel) else PublishedModel(model)


def list_models() -> list[KnownModel]:
    """Every model that can be asked here; a plug-in stands for all models of its provider."""
    records = built_in_providers().values()
    entries = [
        replace(
            model,
            contract=model.contract or one.contract,
            settings=one.settings,
            price=one.price_of(model.name),
        )
        for one in records
        for model in one.models
        if model.description
    ]
    entries += [one.listed for one in records if one.any_model]
    for name, point in sorted(plugins("models").items()):
        try:
            entries.append(provider_of_plugin(point).listed)
        except ModelError as error:
            entries.append(KnownModel(f"{name}/…", str(error)))
    return entries


class _PriceFile(BaseModel, extra="forbid", frozen=True, strict=True):
    currency: Literal["USD"]
    unit: Literal["per 1,000,000 tokens"]
    models: dict[str, Price]


def price_of(model: str, overrides: Path | None = None, *, free: bool = False) -> Price | None:
    """What a model costs, by a user's file or else its provider; None where that is not known."""
    provider = provider_of(model)
    price = provider.price_of(model) if provider is not None else None
    # Of one's own server and of plug-ins alone, the user can say so.
    if free and price is None and model.partition("/")[0] not in built_in_providers().keys() - _OWN:
        price = SAID_FREE
    if overrides is None:
        return price
    try:
        prices = _PriceFile.model_validate_json(overrides.read_bytes()).models
    except OSError as error:
        raise ModelError(f"price file {overrides} cannot be read ({error.strerror})") from error
    except ValidationError as error:
        raise ModelError(
            f"price file {overrides}: {problems_of(error)[0]}; it needs currency, unit and models, "
            "as docs/money.md shows"
        ) from error
    bare = model.partition("@")[0]
    if model not in prices and bare in prices:
        raise ModelError(f"price file {overrides} prices {bare!r}; write {model!r}")
    return prices.get(model, price)
