"""Which files of a Hub repository make up a split: as its card says, or by their names."""

import fnmatch
import re
from collections.abc import Iterable
from typing import Any

from audiocapbench.data.build.hub import HubError, Repository

_SPLITS = ("train", "validation", "test", "dev", "val", "eval", "evaluation", "valid")


def split_files(repository: Repository, split: str) -> list[str]:
    """The data files of a split, in the order in which they are read."""
    hidden = re.compile(r"(.*/)?\.|README\.md$")
    paths = sorted(path for path in repository.sizes if not hidden.match(path))
    patterns = _patterns(repository.configs, split)
    if patterns:
        chosen = [path for path in paths if any(fnmatch.fnmatchcase(path, one) for one in patterns)]
    else:
        named = {path for path in paths if any(_names(path, one) for one in _SPLITS)}
        chosen = [path for path in paths if _names(path, split)]
        if not named and split == "train":
            chosen = paths
    if not chosen:
        raise HubError(f"{repository.name} has no files for the split {split!r}")
    return chosen


def _names(path: str, split: str) -> bool:
    return re.search(rf"(?:^|[^a-z0-9]){split}(?:[^a-z0-9]|$)", path.lower()) is not None


def _patterns(configs: Iterable[Any], split: str) -> list[str]:
    """The patterns of a split in the card's default configuration."""
    known = [one for one in configs if isinstance(one, dict)]
    known.sort(key=lambda one: one.get("config_name") != "default")
    known.sort(key=lambda one: one.get("default") is not True)
    data_files = known[0].get("data_files") if known else None
    if isinstance(data_files, dict):
        data_files = [{"split": name, "path": path} for name, path in data_files.items()]
    found: list[Any] = []
    for one in data_files if isinstance(data_files, list) else ():
        if isinstance(one, dict) and one.get("split") == split:
            path = one.get("path")
            found += path if isinstance(path, list) else [path]
    return [pattern for pattern in found if isinstance(pattern, str)]
