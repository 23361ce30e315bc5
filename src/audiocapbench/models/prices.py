"""What a model costs: its provider's dated price with its source, or the one in a user's file."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from audiocapbench.errors import ModelError
from audiocapbench.models.price import Price
from audiocapbench.models.registry import provider_of

__all__ = ["Price", "price_of"]


class _PriceFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    currency: Literal["USD"]
    unit: Literal["per 1,000,000 tokens"]
    models: dict[str, Price]


def price_of(model: str, overrides: Path | None = None) -> Price | None:
    """Look up what a model costs; None where nobody has said.

    Args:
        model: The whole name, as ``openai/gpt-audio``.
        overrides: A file of prices that come before the providers' own.

    Raises:
        ModelError: The file cannot be read or is not a price table.
    """
    given = None if overrides is None else _read(overrides).models.get(model)
    provider = provider_of(model)
    return given or (provider.price_of(model) if provider is not None else None)


def _read(path: Path) -> _PriceFile:
    try:
        return _PriceFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ModelError(f"price file {path} cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "the file"
        raise ModelError(
            f"price file {path}: {field}: {first['msg']}; it needs currency, unit and models, as "
            "docs/troubleshooting.md shows"
        ) from error
