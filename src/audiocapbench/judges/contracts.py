"""Which judge contracts there are: ours, and those that plug-ins bring.

Each is a function without arguments that returns a ``Contract``; a benchmark names its own.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from audiocapbench.judges import audiocapbench, mecat
from audiocapbench.judges.contract import Contract
from audiocapbench.judges.errors import JudgeError
from audiocapbench.plugins import plugin_failures, plugins

_BUILT_IN: Mapping[str, Callable[[], Contract]] = {
    audiocapbench.NAME: audiocapbench.contract,
    "mecat-caption": partial(mecat.contract, "caption"),
    "mecat-qa": partial(mecat.contract, "qa"),
}


class ContractEntry(NamedTuple):
    """A line of ``audiocapbench judges``: a contract, what it asks for, and its scores."""

    name: str
    description: str
    scores: str


def find_contract(name: str) -> Contract:
    """The contract of a name.

    Raises:
        JudgeError: There is none here, or its plug-in fails.
    """
    if name in _BUILT_IN:
        return _BUILT_IN[name]()
    point = plugins("contracts").get(name)
    if point is None:
        known = ", ".join([*_BUILT_IN, *sorted(plugins("contracts"))])
        raise JudgeError(
            f"there is no contract {name!r} here; there are {known}. Install its plug-in, or "
            "choose one after the judge's name: [contract=NAME]"
        )
    with plugin_failures(point, f"contract {name!r}", JudgeError):
        contract = point.load()()
    if not isinstance(contract, Contract) or contract.name != name:
        raise JudgeError(f"contract {name!r}: {point.value} returned no Contract of that name")
    return contract


def list_contracts() -> list[ContractEntry]:
    """Every contract that a model can judge by here; of a plug-in that fails, why."""
    entries = []
    for name in [*_BUILT_IN, *sorted(set(plugins("contracts")) - set(_BUILT_IN))]:
        try:
            found = find_contract(name)
        except JudgeError as error:
            entries.append(ContractEntry(name, str(error), ""))
            continue
        entries.append(ContractEntry(name, found.description, ", ".join(found.dimensions)))
    return entries
