"""Which models there are and how a name becomes one."""

from importlib import import_module
from typing import NamedTuple

from audiocapbench.errors import AudioCapBenchError, ModelError
from audiocapbench.models.contracts import contract_of
from audiocapbench.models.controls import KINDS, Control
from audiocapbench.models.model import AudioContract, Model
from audiocapbench.models.published import published_models
from audiocapbench.models.settings import ModelSettings
from audiocapbench.plugins import plugins


class ModelEntry(NamedTuple):
    """A line of ``audiocapbench models``."""

    name: str
    description: str
    contract: AudioContract | None


class _Provider(NamedTuple):
    module: str
    description: str


_PROVIDERS = {
    "openai": _Provider("openai_chat", "OpenAI chat completions; OPENAI_API_KEY"),
    "openai-realtime": _Provider("openai_realtime", "OpenAI Realtime; OPENAI_API_KEY"),
    "gemini": _Provider("gemini", "Google Gemini; GEMINI_API_KEY, or VERTEX_PROJECT"),
    "dashscope": _Provider("dashscope", "Alibaba DashScope; DASHSCOPE_API_KEY"),
    "endpoint": _Provider("endpoint", "NAME@URL: any OpenAI-compatible server"),
}

_TAKE_SYSTEM = ("openai", "endpoint", "dashscope")

_CONTROLS = {
    "right": "one of the clip's references, withheld from scoring: the level of a person",
    "safe": "one generic sentence for the category: what saying nothing earns",
    "wrong": "a reference of another clip (seeded): what fluent nonsense earns",
    "empty": "nothing at all: the floor",
}


def create_model(name: str, settings: ModelSettings | None = None) -> Model:
    """Make the model that a name stands for.

    Args:
        name: ``provider/model``, ``listener`` or ``control/KIND``.
        settings: What the user says about a remote model; others ignore it.

    Raises:
        ModelError: There is no such model, or it cannot be asked here.
    """
    provider, _, rest = name.partition("/")
    if settings is not None and settings.system is not None and provider not in _TAKE_SYSTEM:
        raise ModelError(
            f"{name} takes no system prompt; {', '.join(f'{one}/…' for one in _TAKE_SYSTEM)} do"
        )
    if name == "listener":
        from audiocapbench.models.listener import Listener

        return Listener()
    if provider == "control":
        return Control(rest)
    if provider in _PROVIDERS and rest:
        module = import_module(f"audiocapbench.models.{_PROVIDERS[provider].module}")
        remote: Model = module.create(name, settings or ModelSettings())
        return remote
    found = plugins("models").get(provider)
    if found is None:
        raise ModelError(
            f"there is no model {name!r}; 'audiocapbench models' lists those that can be asked"
        )
    try:
        model: Model = found.load()(name)
    except AudioCapBenchError:
        raise
    except Exception as error:  # a plug-in may raise anything
        raise ModelError(f"model {name!r}: its plug-in {found.value} fails ({error})") from error
    return model


def list_models() -> list[ModelEntry]:
    """Every model that can be asked here; a plug-in stands for all models of its provider."""
    from audiocapbench.models.listener import Listener

    entries = [
        ModelEntry("listener", "embedded captioner, offline and free", Listener.contract),
        *(ModelEntry(f"control/{kind}", _CONTROLS[kind], Control.contract) for kind in KINDS),
    ]
    for model in published_models():
        where = "of the paper" if model.in_paper else "of the published tool"
        entries.append(ModelEntry(model.name, where, contract_of(model.name)))
    for provider, (_, description) in _PROVIDERS.items():
        entries.append(ModelEntry(f"{provider}/…", description, contract_of(provider)))
    for provider, point in sorted(plugins("models").items()):
        entries.append(ModelEntry(f"{provider}/…", f"plug-in {point.value}", None))
    return entries
