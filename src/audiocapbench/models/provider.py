"""What the package knows of a provider: one record, which everything else reads."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from audiocapbench.credentials import credential
from audiocapbench.errors import ModelError, did_you_mean
from audiocapbench.models.model import SETTINGS, AudioContract, Model, ModelSettings
from audiocapbench.models.price import Price

PAPER, TOOL = "of the paper", "of the published tool"
_IN_WORDS = {"system": "system prompt"}


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that is known by name, with its published settings where it has some."""

    name: str
    description: str = ""  # in the listing, if it is there
    temperature: float | None = None
    thinking_budget: int | None = None
    max_output_tokens: int | None = None
    contract: AudioContract | None = None  # where that is not its provider's
    price: Price | None = None

    @property
    def provider(self) -> str:
        """What stands before the first slash."""
        return self.name.partition("/")[0]

    @property
    def model_id(self) -> str:
        """The provider's own name for it."""
        return self.name.partition("/")[2]

    @property
    def in_paper(self) -> bool:
        """Whether it is one of the paper's 13."""
        return self.description == PAPER


@dataclass(frozen=True, slots=True)
class Provider:
    """Who answers under the names that begin with ``name/``.

    Attributes:
        description: What the listing says of it.
        factory: Makes a model of a name and the settings that are taken.
        contract: The audio that its models take, where that is known beforehand.
        settings: Names of the settings that it takes; others are refused.
        key_names: Variables of which the first that is set holds the key.
        other_access: Variables that stand for a key, such as the name of a project.
        extra: The extra of this package that brings its libraries, if only for some ways to ask.
        packages: Modules that must be there.
        models: Those of its models that something is known of; with ``any_model`` there are more.
        price: What every model costs that has no price of its own.
        options: What may stand in brackets after a model's name, which is then part of it.
    """

    name: str
    description: str
    factory: Callable[[str, ModelSettings], Model]
    contract: AudioContract | None = None
    settings: tuple[str, ...] = ()
    key_names: tuple[str, ...] = ()
    other_access: tuple[str, ...] = ()
    key_optional: bool = False
    extra: str = ""
    packages: tuple[str, ...] = ()
    models: tuple[KnownModel, ...] = ()
    any_model: bool = True
    price: Price | None = None
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in ("settings", "key_names", "other_access", "packages", "contract", "price"):
            value = getattr(self, field)
            wrong = f"{self.name}/… declares the {field} {value!r}"
            if kind := {"contract": AudioContract, "price": Price}.get(field):
                if not isinstance(value, kind | None):
                    raise ModelError(f"{wrong}; it is of type {kind.__name__}, or left out")
                continue
            names = isinstance(value, tuple | list) and all(
                isinstance(one, str) and one for one in value
            )
            if field == "settings" and not (names and set(value) <= set(SETTINGS)):
                raise ModelError(f"{wrong}; a tuple of these is known: {', '.join(SETTINGS)}")
            if not names:
                raise ModelError(f"{wrong}; write a tuple of names")
            object.__setattr__(self, field, tuple(value))

    def create(
        self,
        name: str,
        settings: ModelSettings | None = None,
        defaults: ModelSettings | None = None,
    ) -> Model:
        """Make the model of a name; settings are taken or refused, defaults hold for the rest."""
        given = settings or ModelSettings()
        if self.known(name) is None and not self.any_model:
            choices = [model.name for model in self.models]
            near = did_you_mean(name, choices)
            raise ModelError(f"there is no {name}{near}; choose one of {', '.join(choices)}")
        if self.known(name) is None and not name.partition("/")[2]:
            example = self.models[0].name if self.models else f"{self.name}/MODEL"
            raise ModelError(f"{name!r} names no model; write for example {example}")
        refused = [_IN_WORDS.get(one, one) for one in given.given if one not in self.settings]
        if refused:
            taken = ", ".join(_IN_WORDS.get(one, one) for one in self.settings) or "no settings"
            raise ModelError(f"{name} takes no {' and no '.join(refused)}; it takes {taken}")
        require_packages(f"{self.name}/…", self.extra, *self.packages)
        optional = self.key_optional or any(map(os.environ.get, self.other_access))
        if self.key_names and not optional:
            credential(*self.key_names)
        return self.factory(name, given.filled(defaults or ModelSettings(), self.settings))

    def known(self, name: str) -> KnownModel | None:
        """What is known of the model of this name."""
        return next((model for model in self.models if model.name == name), None)

    def contract_of(self, name: str) -> AudioContract | None:
        """The audio that a model takes, where it is known beforehand."""
        known = self.known(name)
        return (known.contract if known else None) or self.contract

    def price_of(self, name: str) -> Price | None:
        """What a model costs; None where that is not known."""
        known = self.known(name)
        return (known.price if known else None) or (self.price if known or self.any_model else None)


def require_packages(what: str, extra: str, *packages: str) -> None:
    """Refuse to go on where packages are missing that an extra of this package brings."""
    try:
        missing = any(find_spec(package) is None for package in packages)
    except ImportError:
        missing = True
    if missing:
        raise ModelError(f"{what} needs: pip install 'audiocapbench[{extra}]'")
