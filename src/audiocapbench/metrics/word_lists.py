"""Lists of words that lie beside the code as TOML files: names, and words between white space."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def read_lists(package: str, file: str) -> dict[str, Any]:
    """The lists of a file that ships with the package, each as it is written."""
    return tomllib.loads(resources.files(package).joinpath(file).read_text("utf-8"))


def word_set(package: str, file: str, name: str) -> frozenset[str]:
    """One of the lists as a set of words."""
    return frozenset(read_lists(package, file)[name].split())
