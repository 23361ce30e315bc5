"""Which models there are and how a name becomes one."""

from typing import NamedTuple

from audiocapbench.errors import ModelError
from audiocapbench.models.controls import KINDS, Control
from audiocapbench.models.model import AudioContract, Model
from audiocapbench.plugins import plugins


class ModelEntry(NamedTuple):
    """A line of ``audiocapbench models``."""

    name: str
    description: str
    contract: AudioContract | None


_CONTROLS = {
    "right": "one of the clip's references, withheld from scoring: the level of a person",
    "safe": "one generic sentence for the category: what saying nothing earns",
    "wrong": "a reference of another clip (seeded): what fluent nonsense earns",
    "empty": "nothing at all: the floor",
}


def create_model(name: str) -> Model:
    """Make the model that a name stands for.

    Raises:
        ModelError: There is no such model.
    """
    provider, _, rest = name.partition("/")
    if name == "listener":
        from audiocapbench.models.listener.model import Listener

        return Listener()
    if provider == "control":
        return Control(rest)
    found = plugins("models").get(provider)
    if found is None:
        raise ModelError(
            f"there is no model {name!r}; 'audiocapbench models' lists those that can be asked"
        )
    try:
        model: Model = found.load()(name)
    except (ImportError, AttributeError) as error:
        raise ModelError(f"model {name!r}: its plug-in {found.value} fails ({error})") from error
    return model


def list_models() -> list[ModelEntry]:
    """Every model that can be asked here; a plug-in stands for all models of its provider."""
    from audiocapbench.models.listener.model import Listener

    entries = [
        ModelEntry("listener", "embedded captioner, offline and free", Listener.contract),
        *(ModelEntry(f"control/{kind}", _CONTROLS[kind], Control.contract) for kind in KINDS),
    ]
    for provider, point in sorted(plugins("models").items()):
        entries.append(ModelEntry(f"{provider}/…", f"plug-in {point.value}", None))
    return entries
