"""The models of the paper by name, with the settings that it used; any other id works too."""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model with published results.

    Attributes:
        name: ``provider/model``.
        in_paper: Whether it is one of the paper's 13; the others are in the tool's README alone.
        temperature: Sampling temperature; None where the provider's own was left.
        thinking_budget: Tokens it may think with; None where it does not think.
        max_output_tokens: Most tokens of an answer; None where the provider's own limit was left.
    """

    name: str
    in_paper: bool
    temperature: float | None = None
    thinking_budget: int | None = None
    max_output_tokens: int | None = None

    @property
    def provider(self) -> str:
        """What stands before the first slash."""
        return self.name.partition("/")[0]

    @property
    def model_id(self) -> str:
        """The provider's own name for it."""
        return self.name.partition("/")[2]


@cache
def published_models() -> tuple[PublishedModel, ...]:
    """Every published model, in the paper's order."""
    text = resources.files("audiocapbench.models").joinpath("published.json").read_text("utf-8")
    return tuple(PublishedModel(**entry) for entry in json.loads(text)["models"])


def published(name: str) -> PublishedModel | None:
    """The published model of this name (``openai/gpt-audio``), if there is one."""
    return next((model for model in published_models() if model.name == name), None)
