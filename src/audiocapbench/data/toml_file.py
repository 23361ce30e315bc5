"""TOML that people write: benchmarks, contracts, studies, gates and rating projects, by one reader.

Everything that is wrong with a file is said at once, a sentence each, with its line.
"""

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar, get_args

from pydantic import BaseModel, ValidationError, model_validator
from typing_extensions import is_typeddict

from audiocapbench.data.problems import check_storable
from audiocapbench.errors import AudioCapBenchError, did_you_mean

_LARGEST = 1 << 20
_SHOWN = 20
_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"(\s*)([\w.\s\"'-]+?)\s*=")
_OF_KEY = re.compile(r"([a-z_]+(?:\.[\w.-]+)?): (.*)", re.DOTALL)


class TomlTable(
    BaseModel, extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True
):
    """A table of a file, whose keys must fit together too."""

    def mistakes(self) -> Iterable[str]:
        """What is wrong with keys that are right by themselves: ``key: what``, or ``what``."""
        return ()

    @model_validator(mode="after")
    def _without_mistakes(self) -> Self:
        if found := list(self.mistakes()):
            raise ValueError("\n".join(found))
        return self


Table = TypeVar("Table", bound=TomlTable)


def read_toml(path: Path, model: type[Table], error: type[AudioCapBenchError]) -> tuple[Table, str]:
    """A file as a table, and its text; relative paths in its keys become those beside it."""
    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise error(f"{path}: is larger than {_LARGEST >> 20} MiB, as no such file is")
        text = content.decode("utf-8-sig")
        given = tomllib.loads(text)
    except OSError as problem:
        raise error(f"{path}: cannot be read ({problem.strerror or problem})") from None
    except UnicodeDecodeError:
        raise error(f"{path}: is not UTF-8 text") from None
    except RecursionError:
        raise error(f"{path}: is not TOML: it is nested too deeply") from None
    except ValueError as problem:  # also of a number with thousands of digits
        raise error(f"{path}: is not TOML: {str(problem).partition(';')[0]}") from None
    whole = dict(given)
    for name, value in given.items():
        try:
            check_storable([name, value])
        except ValueError as problem:
            raise error(f"{path}{_line(text, [name])}: {name}: {problem}") from None
    for name, kind in _typed(model).items():
        whole[name] = {key: whole.pop(key) for key in (name, *kind) if key in whole}
    try:
        # As JSON, so that a number is a number, a list is a list and a date is text.
        found = model.model_validate_json(json.dumps(whole, default=str))
    except ValidationError as problem:
        lines = [
            f"{path}{_line(text, keys)}: {_name(keys)}{what}{' or '.join(wants)}"
            for (keys, what), wants in _said(model, given, problem).items()
        ]
        more = [f"… and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
        raise error(*lines[:_SHOWN], *more) from None
    placed = {name: _placed(own, path.parent) for name, own in found}
    return found.model_copy(update=placed), text


def _placed(value: Any, root: Path) -> Any:
    if isinstance(value, dict):
        return {key: _placed(own, root) for key, own in value.items()}
    return root / os.path.expanduser(value) if isinstance(value, Path) else value


def _name(keys: Sequence[Any]) -> str:
    """Keys as a sentence begins with them: ``gate 1: metric: ``."""
    name = "".join(f" {one + 1}:" if isinstance(one, int) else f".{one}" for one in keys)
    name = name.removeprefix(".").removesuffix(":").replace(":.", ": ")
    return f"{name}: " if name else ""


def _said(
    model: type[TomlTable], given: Any, error: ValidationError
) -> dict[tuple[tuple[Any, ...], str], dict[str, None]]:
    """What is wrong by its keys, and what each might be instead, such as text or a list."""
    found: dict[tuple[tuple[Any, ...], str], dict[str, None]] = {}
    wrong = error.errors(include_url=False)
    inner = {one["loc"][:depth] for one in wrong for depth in range(len(one["loc"]))}
    for one in wrong:
        if one["loc"] in inner:  # what is wrong with its parts says more than that it lacks them
            continue
        keys, here, kind = list[Any](), given, one["type"]
        for part in one["loc"]:  # in which names of types are no keys
            there = range(len(here)) if isinstance(here, list) else here
            if isinstance(there, range | dict) and part in there:
                keys, here = [*keys, part], here[part]
        words = str(one["msg"]).removeprefix("Value error, ")
        what, wants = words, ""
        if kind == "missing":
            keys, what = [*keys, one["loc"][-1]], "is missing"
        elif kind == "extra_forbidden":
            near = did_you_mean(str(keys[-1]), _known(model, keys), "keys here are")
            what = f"is no key{near}"
        elif kind == "tuple_type" and isinstance(here, dict) and one["loc"] == tuple(keys):
            what = f"is one table, and may be several: write [[{'.'.join(map(str, keys))}]]"
        elif kind != "value_error":
            what = "is no key: " if "[key]" in one["loc"] else f"is {one['input']!r:.60}: "
            wants = words[:1].lower() + words[1:]
        for line in what.split("\n"):
            of_key = _OF_KEY.fullmatch(line) if kind == "value_error" else None
            own = (*keys, *of_key[1].split(".")) if of_key else tuple(keys)
            found.setdefault((own, of_key[2] if of_key else line), {})[wants] = None
    return found


def _known(model: Any, keys: Sequence[Any]) -> list[str]:
    """The keys of the table in which a key stands; options of a TypedDict stand beside the rest."""
    fields: dict[str, Any] = {"": model}
    for key in ("", *(one for one in keys[:-1] if isinstance(one, str))):
        kinds = (fields.get(key), *get_args(fields.get(key)))
        model = next((one for one in kinds if hasattr(one, "model_fields")), model)
        fields = {name: one.annotation for name, one in model.model_fields.items()}
    typed = _typed(model)
    return [name for one in fields for name in typed.get(one, [one])]


def _typed(model: type[TomlTable]) -> dict[str, list[str]]:
    """The options of each TypedDict among the fields; a file has them beside its other keys."""
    kinds = {name: one.annotation for name, one in model.model_fields.items()}
    typed = {name: kind for name, kind in kinds.items() if is_typeddict(kind)}
    return {name: list(kind.__annotations__) for name, kind in typed.items()}


def _line(text: str, keys: Sequence[Any]) -> str:
    """Where a key stands, or else the table that lacks it."""
    here, best, depth, inside = list[Any](), "", 0, False
    counts: Counter[str] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        header, was_inside = _HEADER.fullmatch(line), inside
        found = header or _KEY.match(line)
        inside ^= bool((line.count('"""') + line.count("'''")) % 2)
        if was_inside or not found:
            continue
        names = [one.strip(" \"'") for one in found[2].split(".")]
        own = names if header else [*here, *names]
        if header:
            own = here = [*names, counts[header[2]]] if header[1] == "[[" else names
            counts[header[2]] += 1
        if len(own) > depth and [*keys[: len(own)]] == own:
            best, depth = f" line {number}", len(own)
    return best
