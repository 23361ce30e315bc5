"""Which judges and contracts there are, of ours and of plug-ins, and how a name becomes one."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from audiocapbench.errors import JudgeError, check_options, did_you_mean, read_options
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.judges.contract import Contract, with_shuffled_references
from audiocapbench.judges.contract_file import read_contract
from audiocapbench.judges.judge import (
    Judge,
    ModelJudge,
    TextJudge,
    WithProbabilities,
    held_to_schema,
)
from audiocapbench.judges.published import AUDIOCAPBENCH, CONTRACTS, audiocapbench_contract
from audiocapbench.metrics.names import ScorerName
from audiocapbench.models import Model, ModelSettings, create_model, list_models
from audiocapbench.models.registry import provider_of
from audiocapbench.plugins import load_in_file, plugin_failures, plugins
from audiocapbench.signature import Signature

_NAME = re.compile(r"(?P<name>.+?)(?:\[(?P<options>[^\[\]=]+=[^\[\]]*)\])?", re.DOTALL)
_WAYS = ("prompt", "protocol")
_OPTIONS = ("contract", "hears", "schema", "logprobs", "references", *_WAYS)


class JudgeEntry(NamedTuple):
    """A line of ``audiocapbench judges``; of a contract, with the scores that it asks for."""

    name: str
    description: str
    scores: str = ""


def list_judges() -> list[JudgeEntry]:
    """Every judge that can be asked here; a model of any provider is one."""
    points = sorted(plugins("judges").items())
    return [
        JudgeEntry("elements", "content elements matched offline: deterministic and free"),
        JudgeEntry("PROVIDER/MODEL", "any model that answers text, with the benchmark's prompt"),
        *(JudgeEntry(name, f"plug-in {point.value}") for name, point in points),
    ]


def create_judges(
    names: Iterable[str],
    contract: str,
    *,
    hears: bool = False,
    timeout: float | None = None,
    ways: Mapping[str, str] | None = None,
    unfit: Mapping[str, str] | None = None,
) -> list[Judge]:
    """Judges as ``create_judge`` makes them, each once; ``unfit`` do not hold there, and why."""
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if why := (unfit or {}).get(name.partition("[")[0]):
            raise JudgeError(f"{name} does not judge this benchmark: {why}; choose a model")
    if hears and not chosen:
        raise JudgeError("`hears` is for a judge, and none is named; add `judge`")
    how: dict[str, Any] = {"contract": contract, "hears": hears, "timeout": timeout, "ways": ways}
    return [create_judge(name, **how) for name in chosen]


def create_judge(
    name: str,
    *,
    contract: str = AUDIOCAPBENCH,
    hears: bool = False,
    settings: ModelSettings | None = None,
    timeout: float | None = None,
    ways: Mapping[str, str] | None = None,
) -> Judge:
    """Make the judge that a name stands for.

    Args:
        name: ``elements``, a plug-in's name, or a model's, with options in brackets such as
            ``openai/gpt-4.1[contract=mecat-qa,hears=yes,schema=no]``, which win over the rest.
        contract: What a model is asked; by ``ways``, the ``prompt`` and ``protocol`` of ours.
        hears: Whether a model is given the clip.
        settings: For a model; temperature 0 and the contract's longest reply unless given.
        timeout: Seconds to wait for one answer, of a model that takes this setting.
    """
    plain, options = parse_judge_name(name)
    offline = {**_offline(), **_in_file(plain)}
    if plain in offline:
        if hears:
            to_do = "leave out `hears`, and write [hears=yes] after the names of judges that hear"
            raise JudgeError(f"{plain} judges the words alone; {to_do}")
        if settings is not None and settings.given:
            refused = " and no ".join(settings.given)
            raise JudgeError(f"{plain} takes no {refused}; it takes options in brackets")
        return offline[plain](options)
    if not is_judge_name(plain):
        near = did_you_mean(plain, [*offline, *(one.name for one in list_models())])
        there = ", ".join(offline)
        raise JudgeError(f"there is no judge {plain!r}{near}; there are {there}, and any model")
    options = {**(ways or {}), **options}
    check_options(plain, options, _OPTIONS, JudgeError)
    chosen = options.get("contract", contract)
    made = find_contract(chosen, **{one: options[one] for one in _WAYS if one in options})
    if order := options.get("references"):
        if order != "shuffled":
            raise JudgeError(f"references can only be shuffled, not {order!r}")
        made = with_shuffled_references(made)
    for option in ("hears", "schema", "logprobs"):
        if options.get(option, "no") not in ("yes", "no"):
            raise JudgeError(f"{option} is yes or no, not {options[option]!r}")
    hears = options["hears"] == "yes" if "hears" in options else hears or made.listens
    defaults = ModelSettings(temperature=0.0, timeout=timeout, max_tokens=made.max_tokens)
    model, made = _weighed(create_model(plain, settings, defaults), made, options.get("logprobs"))
    schema = options.get("schema")
    held = None if schema == "no" else held_to_schema(model, made, hears=hears)
    if held is None and schema == "yes":
        raise JudgeError(f"{plain} cannot be held to a schema; leave out schema=yes")
    # Options of the command line are part of the name, so that two judges never share one.
    # Where a contract's file lies does not matter; its text is in the signature.
    called = Path(chosen).name if chosen.endswith(".toml") else chosen
    options |= {"contract": called} if chosen != AUDIOCAPBENCH else {}
    options |= {"hears": "yes"} if hears else {}
    full = str(ScorerName(model.name, dict(sorted(options.items()))))
    return ModelJudge(full, held or model, made, hears)


def _weighed(model: Model, contract: Contract, wanted: str | None) -> tuple[Model, Contract]:
    """The model asked for probabilities where it gives some; else replies count as written."""
    gives = contract.weigh is not None and hasattr(model, "with_options")
    if wanted == "yes" and not gives:
        raise JudgeError(f"{model.name} gives no probabilities here; leave out logprobs=yes")
    if gives and wanted != "no":
        return WithProbabilities(model), contract
    if contract.weigh is not None:
        made_with = dict(contract.made_with) | {"digits": "written"}
        contract = replace(contract, weigh=None, made_with=tuple(made_with.items()))
    return model, contract


def _offline() -> Mapping[str, Callable[[dict[str, str]], Judge]]:
    return {"elements": _elements} | {one: partial(_from_plugin, one) for one in plugins("judges")}


def is_judge_name(name: str) -> bool:
    """Whether a name may stand for a judge: an offline one, or a model's."""
    plain, _ = parse_judge_name(name)
    is_model = "/" in plain or plain.endswith(".py") or provider_of(plain) is not None
    return plain in _offline() or is_model


def is_listed(name: str) -> bool:
    """Whether a name stands for a judge or a model that is known to be there."""
    plain, _ = parse_judge_name(name)
    return plain in _offline() or plain in {one.name for one in list_models()}


def _elements(options: dict[str, str]) -> Judge:
    from audiocapbench.judges.elements import Elements
    from audiocapbench.metrics.encoders import DEFAULT, load

    check_options("elements", options, ["encoder"], JudgeError)
    return Elements(load(options.get("encoder", DEFAULT)))


def _in_file(name: str) -> Mapping[str, Callable[[dict[str, str]], Judge]]:
    """The judge that a class ``path/to/file.py:Class`` is, where it is no model; it is called so
    wherever the file lies, and signs with the hash of the file."""
    found = load_in_file(name, f"judge {name!r}", JudgeError)
    if found is None or not callable(getattr(found.value, "judge", None)):
        return {}
    short, value, digest = f"{found.path.name}:{found.attribute}", found.value, found.digest

    def made(options: dict[str, str]) -> Judge:
        judge = _made(name, short, lambda: value, options)
        parts = ("dimensions", "judge", "judge_many")
        own: Any = {one: getattr(judge, one) for one in parts if hasattr(judge, one)}
        own["signature"] = judge.signature.with_fields(file=digest)
        return SimpleNamespace(name=str(ScorerName(short, options)), **own)

    return {name: made}


def _from_plugin(name: str, options: dict[str, str]) -> Judge:
    point = plugins("judges")[name]
    return _made(name, point.value, point.load, options)


def _made(
    name: str, where: str, load: Callable[[], Callable[..., Any]], options: dict[str, str]
) -> Judge:
    """The judge that a plug-in or a file makes, checked."""
    what = f"judge {name!r}"
    with plugin_failures(f"{what}: its plug-in {where}", JudgeError):
        judge = load()(options)
        if not isinstance(judge, TextJudge):
            parts = "name, signature, dimensions and judge()"
            raise JudgeError(f"{what}: {where} made no judge; one has {parts}")
        names: Any = judge.dimensions
        listed = isinstance(names, tuple | list) and all(isinstance(one, str) for one in names)
        if not listed or not names or len({*names} - {OVERALL, ""}) < len(names):
            known = f"dimensions are {names!r:.80}"
            mend = f"give a tuple of different names, none of them {OVERALL}"
            raise JudgeError(f"{what}: {known}; {mend}")
        if not isinstance(judge.signature, Signature):
            mend = "make its signature with audiocapbench.sign"
            raise JudgeError(f"{what} signs with text; {mend}")
    return judge


def parse_judge_name(text: str) -> tuple[str, dict[str, str]]:
    """A judge's plain name, and the options in its brackets; a model's own stay in its name."""
    found = _NAME.fullmatch(text.strip())
    if found is None:
        raise JudgeError("a judge needs a name; 'audiocapbench judges' lists them")
    options = read_options(text, found["options"], JudgeError)
    plain, provider = found["name"], provider_of(found["name"])
    own = [key for key in options if provider is not None and key in provider.options]
    if own:
        plain += f"[{','.join(f'{key}={options.pop(key)}' for key in own)}]"
    return plain, options


def find_contract(name: str, **ways: str) -> Contract:
    """The contract of a name; ``ways`` are the layout and the protocol of AudioCapBench's own."""
    if name == AUDIOCAPBENCH:
        return audiocapbench_contract(**ways)
    if ways:
        raise JudgeError(f"contract {name!r} has no {next(iter(ways))}; audiocapbench's has")
    if name in CONTRACTS:
        return CONTRACTS[name]()
    if name.endswith(".toml"):
        contract = read_contract(Path(name))
        if contract.name in CONTRACTS:
            raise JudgeError(
                f"{name}: name: {contract.name!r} is a contract of ours; choose another"
            )
        return contract
    if (point := plugins("contracts").get(name)) is None:
        near = did_you_mean(name, [*CONTRACTS, *sorted(plugins("contracts"))], "there are")
        to_do = "Install its plug-in, or choose one after the judge's name: [contract=NAME]"
        raise JudgeError(f"there is no contract {name!r} here{near}. {to_do}")
    with plugin_failures(f"contract {name!r}: its plug-in {point.value}", JudgeError):
        contract = point.load()()
    if not isinstance(contract, Contract) or contract.name != name:
        raise JudgeError(f"contract {name!r}: {point.value} returned no Contract of that name")
    return contract


def list_contracts() -> list[JudgeEntry]:
    """Every contract that a model can judge by here; of a plug-in that fails, why."""
    entries = []
    for name in [*CONTRACTS, *sorted(set(plugins("contracts")) - set(CONTRACTS))]:
        try:
            found = find_contract(name)
        except JudgeError as error:
            entries.append(JudgeEntry(name, str(error)))
            continue
        entries.append(JudgeEntry(name, found.description, ", ".join(found.dimensions)))
    return entries
