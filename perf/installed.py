"""How programs are measured that run from a source tree: as pip would have installed them.

pip writes the bytecode of what it installs; without that a third of each start is spent compiling.
"""

import compileall
import os
from importlib.util import find_spec


def installed() -> dict[str, str]:
    """Write the package's bytecode, and return an environment in which it is used."""
    spec = find_spec("audiocapbench")
    for folder in (spec and spec.submodule_search_locations) or ():
        compileall.compile_dir(folder, quiet=2)
    return {name: one for name, one in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
