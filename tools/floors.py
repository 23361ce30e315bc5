"""Prints the lowest version of every dependency that pyproject.toml allows, as pip's constraints.

``make test-floor`` installs them and runs the light suite: what is promised is what works.
"""

import re
import sys
import tomllib
from pathlib import Path

_PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_NEEDED = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,-]+\])?(?:(?:>=|==)(?P<version>[\w.]+))?(?:,.*)?")


def floors(project: Path = _PROJECT) -> dict[str, str]:
    """The lowest version of each dependency, by name; of two floors the higher one."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    lists = [table["dependencies"], *table["optional-dependencies"].values()]
    lowest: dict[str, str] = {}
    for line in (one for needed in lists for one in needed):
        found = _NEEDED.fullmatch(line)
        if found is None or (found["version"] is None and found["name"] != table["name"]):
            sys.exit(f"{project.name}: {line!r} has no lowest version; write NAME>=VERSION")
        if found["name"] != table["name"]:
            known = lowest.get(found["name"], "0")
            lowest[found["name"]] = max(known, found["version"], key=_parts)
    return lowest


def _parts(version: str) -> list[int]:
    return [int(one) for one in re.findall(r"\d+", version)]


if __name__ == "__main__":
    print("\n".join(f"{name}=={version}" for name, version in sorted(floors().items())))
