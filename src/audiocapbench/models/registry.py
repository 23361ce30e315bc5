"""Which models there are, how a name becomes one, and what it costs."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from audiocapbench.credentials import without_query
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.data.problems import problems_of
from audiocapbench.errors import ModelError, did_you_mean
from audiocapbench.models.model import AudioContract, Model, ModelSettings, ModelVariant, Question
from audiocapbench.models.plugin_models import provider_in_file, provider_of_plugin
from audiocapbench.models.price import Price
from audiocapbench.models.provider import PAPER, TOOL, KnownModel, Provider
from audiocapbench.plugins import plugins

_RECORDS = (
    "listener.PROVIDER controls.PROVIDER openai_chat.PROVIDER openai_realtime.PROVIDER "
    "gemini.PROVIDER openai_chat.DASHSCOPE openai_chat.ENDPOINT local.PROVIDER local.VLLM"
).split()
"""The providers' records by module, in the order of the listing."""

PUBLISHED_NAMES = {"openai-realtime": "openai_realtime", "dashscope": "qwen_audio"}
"""Providers that the published tool calls otherwise."""

_PUBLISHED_MAX_TOKENS = 256

_in_files: dict[str, Provider] = {}


class ModelEntry(NamedTuple):
    """A line of ``audiocapbench models``."""

    name: str
    description: str
    contract: AudioContract | None
    settings: tuple[str, ...]


class PublishedModel(ModelVariant):
    """A model asked as the published tool asks it: answers count with thoughts, and if cut."""

    verbatim = True

    def __init__(self, model: Model) -> None:
        super().__init__(model, {"protocol": "published"})

    async def answer(self, question: Question) -> Reply:
        """Answer as the model does; what was cut is an answer."""
        reply = await super().answer(question)
        if reply.status is Status.TRUNCATED and reply.text.strip():
            return replace(reply, status=Status.OK)
        return reply


@cache
def built_in_providers() -> dict[str, Provider]:
    """The records of the providers that come with this package, by name."""
    places = [place.split(".") for place in _RECORDS]
    records = [getattr(import_module(f"audiocapbench.models.{one}"), name) for one, name in places]
    return {record.name: record for record in records}


def provider_of(name: str) -> Provider | None:
    """Who answers under a model's name."""
    provider = name.partition("/")[0]
    known = built_in_providers().get(provider) or _in_files.get(name)
    point = None if known else plugins("models").get(provider)
    return known if point is None else provider_of_plugin(point)


def create_model(
    name: str, settings: ModelSettings | None = None, defaults: ModelSettings | None = None
) -> Model:
    """Make the model that a name stands for.

    Args:
        name: ``provider/model``, ``listener``, ``control/KIND`` or ``path/to/file.py:Class``.
        settings: What the user says; a setting that the model does not take is refused.
        defaults: What holds where the user says nothing and the model takes the setting.

    Raises:
        ModelError: There is no such model, it cannot be asked here, or it does not take one of
            the settings.
    """
    in_file = provider_in_file(name)
    if in_file is not None:
        _in_files[in_file.name] = in_file
        return in_file.create(in_file.name, settings, defaults)
    provider = provider_of(name)
    if provider is None:
        near = did_you_mean(name, [one.name for one in list_models()])
        listing = "'audiocapbench models' lists those that can be asked"
        raise ModelError(f"there is no model {without_query(name)!r}{near}; {listing}")
    return provider.create(name, settings, defaults)


def create_models(
    names: Iterable[str], settings: ModelSettings | None = None, *, published: bool = False
) -> list[Model]:
    """Make several models, each once; ``published`` as AudioCapBench's published tool asks them."""
    models: dict[str, Model] = {}
    for name in dict.fromkeys(names):
        model = create_published(name, settings) if published else create_model(name, settings)
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
    if name.startswith("openai-realtime/"):  # today's API takes none
        asked = replace(asked, temperature=None)
    most = None if thinks(name) else _PUBLISHED_MAX_TOKENS
    model = create_model(name, asked, ModelSettings(max_tokens=most))
    # Nothing cuts a control's answer, and it follows the benchmark's rules.
    return model if isinstance(model, ControlModel) else PublishedModel(model)


def published_models() -> tuple[KnownModel, ...]:
    """Every model with published results, in the paper's order."""
    known = [model for provider in built_in_providers().values() for model in provider.models]
    return tuple(model for model in known if model.description in (PAPER, TOOL))


def list_models() -> list[ModelEntry]:
    """Every model that can be asked here; a plug-in stands for all models of its provider."""
    records = built_in_providers().values()
    entries = [
        ModelEntry(model.name, model.description, one.contract_of(model.name), one.settings)
        for one in records
        for model in one.models
        if model.description
    ]
    for one in records:
        if one.any_model:
            access = ", or ".join([*one.key_names[:1], *one.other_access])
            brackets = f"[{'=…,'.join(one.options)}=…]" if one.options else ""
            access = ", ".join(filter(None, (access, brackets)))
            description = one.description + (f"; {access}" if access else "")
            entries.append(ModelEntry(f"{one.name}/…", description, one.contract, one.settings))
    for name, point in sorted(plugins("models").items()):
        try:
            one = provider_of_plugin(point)
            entries.append(ModelEntry(f"{name}/…", one.description, one.contract, one.settings))
        except ModelError as error:
            entries.append(ModelEntry(f"{name}/…", str(error), None, ()))
    return entries


class _PriceFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    currency: Literal["USD"]
    unit: Literal["per 1,000,000 tokens"]
    models: dict[str, Price]


def price_of(model: str, overrides: Path | None = None) -> Price | None:
    """What a model costs, by a user's file or else its provider; None where that is not known."""
    provider = provider_of(model)
    price = provider.price_of(model) if provider is not None else None
    if overrides is None:
        return price
    try:
        prices = _PriceFile.model_validate_json(overrides.read_bytes()).models
    except OSError as error:
        raise ModelError(f"price file {overrides} cannot be read ({error.strerror})") from error
    except ValidationError as error:
        raise ModelError(
            f"price file {overrides}: {problems_of(error)[0]}; it needs currency, unit and models, "
            "as docs/troubleshooting.md shows"
        ) from error
    bare = model.partition("@")[0]
    if model not in prices and bare in prices:
        raise ModelError(f"price file {overrides} prices {bare!r}; write {model!r}")
    return prices.get(model, price)
