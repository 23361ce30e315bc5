"""What callers of the library give, checked before anything is done; calls for async code."""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial, wraps
from numbers import Integral, Real
from os import PathLike
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from anyio import to_thread

from audiocapbench.errors import AudioCapBenchError, did_you_mean
from audiocapbench.metrics.names import split_names
from audiocapbench.scores.estimate import Scorer
from audiocapbench.stats.multiple import Correction

_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "text",
    NoneType: "None",
    PathLike: "a path",
    Sequence: "a list of texts",
}


Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def in_thread(
    call: Callable[Parameters, Returned],
) -> Callable[Parameters, Coroutine[Any, Any, Returned]]:
    """The same call for async code: in a thread, so that the event loop goes on."""

    @wraps(call)
    async def threaded(*args: Parameters.args, **options: Parameters.kwargs) -> Returned:
        return await to_thread.run_sync(partial(call, *args, **options))

    return threaded


class ArgumentError(AudioCapBenchError, TypeError):
    """An argument is not what a call takes."""


def check_options(options: Mapping[str, Any], known: type) -> None:
    """Refuse options that a call does not have, and values that are not of their kind."""
    hints = get_type_hints(known)
    for name, value in options.items():
        if name not in hints:
            near = did_you_mean(name, hints, "there are")
            raise ArgumentError(f"there is no option {name!r}{near}")
        if not _fits(value, hints[name]):
            hint = hints[name]
            kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
            words = [_WORDS.get(get_origin(one) or one, f"a {one.__name__}") for one in kinds]
            must = " or ".join(dict.fromkeys(words))
            raise ArgumentError(f"{name} is {value!r:.60}; it must be {must}")


def metric_names(given: str | Iterable[str], *, none: bool = False) -> list[str]:
    """Metrics in a list or between commas; none only where that makes sense."""
    if isinstance(given, str):
        return split_names(given)
    names = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(one, str) for one in names) or not (names or none):
        raise ArgumentError(
            f"metrics is {given!r:.60}; it must be names in a list or between commas, and "
            "'audiocapbench metrics' lists them"
        )
    return [one for name in names for one in split_names(name)]


def correction(given: object) -> Correction:
    try:
        return Correction(str(given))
    except ValueError:
        known = [str(one.value) for one in Correction]
        there = did_you_mean(str(given), known, "there are")
        raise ArgumentError(f"there is no correction {given!r:.60}{there}") from None


def run_number(given: Any) -> int:
    """The number of a run, or of a result's run."""
    if hasattr(given, "run"):
        given = given.run.id
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise ArgumentError(
            f"{given!r:.60} is no run; give its number, as 'audiocapbench runs' lists it, or what "
            "run() returned"
        )
    return int(given)


def find_scorer(scorers: Iterable[Scorer], name: str) -> Scorer:
    """The scorer of a name: ``meteor``, ``elements: accuracy``, or a judge for its overall score.
    For a name of none there is a KeyError with all names in its message."""
    by_name = {one.label: one for one in scorers}
    found = by_name.get(name) or by_name.get(f"{name}: overall")
    if found is None:
        raise KeyError(f"no score of {name!r}; there are {', '.join(by_name)}")
    return found


def _fits(value: Any, hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if hint is bool or isinstance(value, bool):
        return hint in (bool, Any) and isinstance(value, bool)
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real)
    if origin is Sequence:
        listed = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
        return listed and all(_fits(one, get_args(hint)[0]) for one in value)
    kind = origin or hint
    return isinstance(value, kind) if isinstance(kind, type) else True
