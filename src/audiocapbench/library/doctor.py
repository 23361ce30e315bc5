"""What works here and now, and the one command that brings what does not.

Each thing is tried as far as its use would refuse it; no download, no question, no key is shown.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from audiocapbench.annotate.experts import ADDS, set_up
from audiocapbench.credentials import credential
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.grouping import grouped
from audiocapbench.judges.registry import create_judge
from audiocapbench.metrics.encoders import ENCODERS, load
from audiocapbench.metrics.encoders.sbert import find_folder
from audiocapbench.metrics.registry import METRICS, refusal
from audiocapbench.metrics.shipped import read_lists
from audiocapbench.models.registry import built_in_providers, provider_of_plugin
from audiocapbench.plugins import failure_words, plugins, require_packages
from audiocapbench.table import Column, Findings, Table

_LISTS = read_lists("audiocapbench.library", "doctor.toml")
EXTRAS: Mapping[str, Sequence[str]] = _LISTS["extras"]
"""Extras that users install: what each brings, and the modules by which that is known."""

_INSTALL = re.compile(r"pip install (?:--\S+ )*(?:'[^']+'|[\w.-]+\w)")
_NOTE = (
    "Keys are looked for, and not tried; no server is asked. Any model that works is a judge, too."
)


class Check(NamedTuple):
    """Whether a thing works; else what is missing, and the command that brings it, if one does."""

    part: str
    name: str
    works: bool
    missing: str
    command: str


def examine() -> Findings:
    """Try everything that may be there, and say what is."""
    checks = [_check(part, name, why) for part, name, why in _tried_things()]
    shown = list[dict[str, str]]()
    alike = grouped(((one.part, one.works, _how(one)), one) for one in checks)
    parts = list(dict.fromkeys(one.part for one in checks))
    for part, works, how in sorted(alike, key=lambda one: (parts.index(one[0]), not one[1])):
        same = alike[part, works, how]
        # What a command says by itself needs no reason.
        why = "" if how.startswith(("pip", "export")) else same[0].missing
        what = f"{part}: {', '.join(one.name for one in same)}"
        shown.append({"what": what, "description": "works" if works else why, "command": how})
    columns = [Column("what", align="left"), Column("description", "", align="left", wraps=True)]
    columns.append(Column("command", align="left"))
    rows = [one._asdict() for one in checks]
    table = Table("What works here and now", shown, columns, [_NOTE], stacks=True)
    return Findings([table], {"checks": rows}, rows)


def _how(check: Check) -> str:
    """The command that brings it, by which things are shown together."""
    own = check.part in ("extras", "keys")
    return check.command.replace(check.name, "NAME") if own else check.command


def _tried_things() -> Iterator[tuple[str, str, str]]:
    """Of each thing its part, its name, and why it cannot be used."""
    records, keys = built_in_providers(), dict[str, tuple[str, ...]]()
    for name in EXTRAS:
        yield "extras", name, _refusal(_require, name)
    for name, one in records.items():
        yield "models", f"{name}/…" if one.any_model else name, _refusal(one.check_access)
        keys |= dict.fromkeys(one.key_names[:1], one.key_names)
    for name, point in sorted(plugins("models").items()):
        why = _refusal(lambda one=point: provider_of_plugin(one).check_access())
        yield "models", f"{name}/…", why
    for name in [*METRICS, *sorted(plugins("metrics").keys() - METRICS)]:
        yield "metrics", name, refusal(name)
    for name in ("elements", *sorted(plugins("judges"))):
        yield "judges", name, _refusal(create_judge, name)
    for name in [*ADDS, *sorted(plugins("experts"))]:
        yield "experts", name, _refusal(_set_up, name)
    for name, where in ENCODERS.items():  # a published one is found, and not loaded
        find = partial(find_folder, name, where.split(",")[0], download=False)
        yield "encoders", name, _refusal(find if "/" in where else partial(load, name))
    for name, extra in _LISTS["formats"].items():
        yield "formats", name, _refusal(_require, extra) if extra else ""
    for name, names in keys.items():
        yield "keys", name, _refusal(credential, *names)


def _refusal(use: Callable[..., object], *given: Any) -> str:
    try:
        use(*given)
    except Exception as error:  # of a package that is broken, any
        return str(error) if isinstance(error, AudioCapBenchError) else failure_words(error)
    return ""


def _require(extra: str) -> None:
    require_packages(AudioCapBenchError, EXTRAS[extra][0], extra, *EXTRAS[extra][1:])


def _set_up(expert: str) -> None:
    for why in set_up([expert]).not_run.values():
        raise AudioCapBenchError(why)


def _check(part: str, name: str, why: str) -> Check:
    if (installs := _INSTALL.search(why)) is not None:
        command = installs[0]
    elif " is not set" in why:
        command = f"export {why.partition(' ')[0]}=…"
    elif "[download=yes]" in why or part == "encoders":
        command = _LISTS["downloads"].get(part, "").format(name)
    else:
        command = next((own for words, own in _LISTS["commands"].items() if words in why), "")
    return Check(part, name, not why, why, command if why else "")
