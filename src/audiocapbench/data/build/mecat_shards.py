"""Which shards of MECAT there are to read, on the Hub or on this disk; reading is elsewhere."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from audiocapbench.audio import sha256
from audiocapbench.data.build.hub import HubError, Repository
from audiocapbench.data.build.splits import split_files
from audiocapbench.errors import DatasetError

SPLIT = "test"
A_DOMAIN, A_SHARD = 20_000_000, 100_000
"""How far the positions of rows are apart from one domain to the next, and from shard to shard."""

_ENDINGS = (".tar", ".tar.gz", ".tgz")


class Shard(NamedTuple):
    """A shard: its name, its place among those of its domain, and its domain where known."""

    name: str
    number: int
    domain: str | None
    size: int
    path: Path | None = None


def remote_shards(repository: Repository, domains: Sequence[str]) -> list[Shard]:
    """The shards of the test split, numbered within their domain."""
    paths = [path for path in split_files(repository, SPLIT) if path.endswith(_ENDINGS)]
    numbers: Counter[str] = Counter()
    shards = []
    for path in paths:
        words = re.split(r"[^A-Za-z0-9]+", path)
        domain = next((word for word in words if word in domains), None)
        shards.append(Shard(path, numbers[domain or ""], domain, repository.sizes[path]))
        numbers[domain or ""] += 1
    if any(count > A_DOMAIN // A_SHARD for count in numbers.values()):
        raise HubError(f"{repository.name} has more shards than a domain can have")
    return shards


def local_shards(given: Sequence[Path]) -> list[Shard]:
    """Shards on this disk: files as given, folders with all that they hold."""
    paths: list[Path] = []
    for path in given:
        if path.is_dir():
            inside = (one for one in path.rglob("*") if one.name.endswith(_ENDINGS))
            paths += sorted(one for one in inside if one.is_file())
        elif path.is_file():
            paths.append(path)
        else:
            raise DatasetError(f"{path}: no such file or folder")
    if not paths:
        raise DatasetError(f"{given[0] if given else '.'}: holds no shards (.tar, .tar.gz, .tgz)")
    named = {f"{path.name}@{sha256(path)[:12]}": path for path in paths}
    return [Shard(name, 0, None, path.stat().st_size, path) for name, path in named.items()]
