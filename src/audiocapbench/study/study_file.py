"""A study in a file: benchmark, models, settings, judges, metrics, budget, and what is written."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from audiocapbench.asking import RequestOptions
from audiocapbench.benchmarks.traits import base_name
from audiocapbench.data.toml_file import TomlTable, read_toml
from audiocapbench.errors import MetricError, ReportError
from audiocapbench.files import write_file
from audiocapbench.metrics import compute
from audiocapbench.models import Model, ModelSettings, create_models
from audiocapbench.plan import RunPlan
from audiocapbench.version import VERSION

Table = Literal["leaderboard", "by-category", "table1", "table2", "table3"]
TableForm = Literal["md", "csv", "latex", "json"]
Positive = Annotated[int, Field(ge=1)]


class StudyModel(TomlTable, frozen=True):
    """One model, with settings of its own where they are not the study's."""

    name: str
    temperature: Annotated[float, Field(ge=0)] | None = None
    max_tokens: Positive | None = None
    timeout: Annotated[float, Field(ge=1)] | None = None
    system: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:
        return {"name": given} if isinstance(given, str) else given


class Output(TomlTable, frozen=True):
    tables: tuple[Table, ...] = ("leaderboard",)
    formats: tuple[TableForm, ...] = ("md", "csv")
    figures: bool = False
    report: bool = True


class Study(TomlTable, frozen=True):
    """A study as its file has it; options of asking stand there beside the other keys."""

    name: str
    benchmark: str
    models: Annotated[tuple[StudyModel, ...], Field(min_length=1)]
    data: Path | None = None
    skip_missing: bool = False
    judges: tuple[str, ...] = ()
    metrics: tuple[str, ...] | None = None
    protocol: Literal["ours", "published"] = "ours"
    category: tuple[str, ...] = ()
    limit: Positive | None = None
    sample: Positive | None = None
    seed: int = 0
    asking: RequestOptions = Field(default_factory=RequestOptions)
    store: str = "audiocapbench.db"
    folder: Path = Path("study")
    published: bool = False
    output: Output = Output()

    def mistakes(self) -> Iterator[str]:
        names = Counter(one.name for one in self.models)
        for name in [name for name, count in names.items() if count > 1]:
            yield f"models: {name} stands twice among them"

    def create(self, max_tokens: int | None = None) -> list[Model]:
        models: list[Model] = []
        how: Any = {"published": self.protocol == "published", "max_tokens": max_tokens}
        for one in self.models:
            settings = ModelSettings(**one.model_dump(exclude={"name"}))
            timeout = settings.timeout or self.asking.get("timeout")
            models += create_models([one.name], replace(settings, timeout=timeout), **how)
        return models


def read_study(path: Path) -> Study:
    """Read and check a study; relative paths become those beside the file."""
    study, _ = read_toml(path, Study, ReportError)
    changed: dict[str, Any] = {}
    if "://" not in study.store:
        changed["store"] = str(path.parent / os.path.expanduser(study.store))
    for place in (study.benchmark, base_name(study.benchmark)):
        if "benchmark" not in changed and (path.parent / place).exists():
            changed["benchmark"] = str(path.parent / study.benchmark)
    return study.model_copy(update=changed)


def lock_of(study: Study, plan: RunPlan) -> dict[str, Any]:
    return {
        "toolkit": VERSION,
        "benchmark": {"name": plan.subject.name, "fingerprint": plan.subject.fingerprint},
        "samples": study.model_dump(include={"category", "limit", "sample", "seed"}),
        "models": {
            one.name: {"parameters": dict(one.parameters), "audio": str(one.contract)}
            for one in plan.models
        },
        "judges": {one.name: str(one.signature) for one in plan.judges},
        "metrics": {name: _signature(name) for name in plan.metrics},
    }


def _signature(metric: str) -> str:
    """How a metric makes its numbers; of one that needs more than text, its name as written."""
    try:
        [result] = compute([metric], ["a dog barks"], [["a dog barks loudly", "a dog"]])
    except MetricError:
        return metric
    return str(result.signature)


def lock_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}.lock.json")


def write_lock(path: Path, lock: Mapping[str, Any]) -> Path:
    write_file(lock_path(path), json.dumps(lock, indent=1, default=str, sort_keys=True) + "\n")
    return lock_path(path)


def changed_since(path: Path, lock: Mapping[str, Any]) -> list[str]:
    """What is another than when the study was locked; nothing where it never was."""
    place = lock_path(path)
    if not place.exists():
        return []
    try:
        before = dict(json.loads(place.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise ReportError(f"{place} cannot be read ({error}); lock the study anew") from None
    now = json.loads(json.dumps(lock, default=str))
    return list(_differences("", before | {"toolkit": None}, now | {"toolkit": None}))


def _differences(place: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            yield from _differences(f"{place}.{name}".lstrip("."), old.get(name), new.get(name))
    elif old != new:
        yield f"{place}: {old!r:.80} is now {new!r:.80}"
