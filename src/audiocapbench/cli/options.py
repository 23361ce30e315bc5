"""How a function becomes a command with options, and the options that several commands share."""

import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import typer
from annotated_types import Ge
from typer import Option
from typer.models import ParameterInfo
from typing_extensions import is_typeddict

from audiocapbench.cli.examples import ExampleCommand, ExampleGroup
from audiocapbench.table.forms import Format

Function = TypeVar("Function", bound=Callable[..., Any])

# What a word ends with that is a file even where there is none.
_FILES = (".csv", ".tsv", ".json", ".jsonl", ".txt", ".parquet")
_ENTRY = re.compile(r"    (\w+)(?: \((\S+)\))?: (.*)")


def _use(credentials: Path | None) -> Path | None:
    """Read a file of credentials while the options are parsed, so that no command has to."""
    from audiocapbench.cli.console import say
    from audiocapbench.credentials import load_credentials

    for warning in load_credentials(credentials) if credentials is not None else ():
        say(warning)
    return credentials


def _use_found(credentials: Path | None) -> Path | None:
    """The same with a file that the published tool reads by itself."""
    from audiocapbench.credentials import found_credentials

    return _use(credentials or found_credentials())


def _amount(usd: float | None) -> float | None:
    """Refuse what is no amount of money while the options are parsed."""
    if usd is not None and not 0 <= usd < float("inf"):
        raise typer.BadParameter(f"{usd} is not an amount of dollars, 0 or more.")
    return usd


def _engine(ctx: typer.Context, given: str) -> str:
    """Join a cluster for as long as the command runs, so that no command has to."""
    if given != "local":
        from audiocapbench.cli.console import say
        from audiocapbench.engine.ray_cluster import joined

        ctx.with_resource(joined(given, say))
    return given


def _own_store(ctx: typer.Context, given: str) -> str:
    """'runs --store X show 1' and 'runs show 1 --store X' mean the same."""
    said = ctx.get_parameter_source("store")
    if ctx.obj is None or (said is not None and said.name == "COMMANDLINE"):
        ctx.obj = given
    return str(ctx.obj)


def _number(given: str) -> Any:
    return int(given) if given.isdecimal() else given


def _listed(given: str) -> Any:
    return [_number(one.strip()) for one in given.split(",")]


def _run_numbers(ctx: typer.Context, given: Any) -> Any:
    """Numbers of runs, for names, tags and models too, while the arguments are parsed."""
    if isinstance(given, list | tuple):
        return [_run_numbers(ctx, one) for one in given]
    if not isinstance(given, str):
        return given
    from audiocapbench.cli.console import say
    from audiocapbench.store import Store

    with Store.open(ctx.params["store"], create=False) as kept:
        number, others = kept.run_called(given)
    newest = f", the newest of {', '.join(map(str, others))}" if len(others) > 1 else ""
    say(f"{given}: run {number}{newest}.")
    return number


_SEE = "by number, name, tag or model (its newest); see 'audiocapbench runs'."


def _number_or_file(given: str) -> Any:
    is_file = Path(given).suffix in _FILES or Path(given).exists()
    return Path(given) if is_file and not given.isdecimal() else _number(given)


def runs_argument(what: str, files: str = "") -> Any:
    """Runs, which become numbers; with words about files also files, which become paths."""
    parser, words = _number_or_file if files else _number, f"{what} {_SEE}{files}"
    return typer.Argument(parser=parser, callback=_run_numbers, metavar="RUN", help=words)


RunArgument = Annotated[int, runs_argument("A run")]
MaybeRun = Annotated[int | None, runs_argument("A run")]
MaybeRuns = Annotated[list[int] | None, runs_argument("Runs")]
RunsArgument = Annotated[list[int], runs_argument("Runs")]
RunList = Annotated[
    Any,  # of Typer's types none is a list with commas
    Option(parser=_listed, callback=_run_numbers, metavar="1,2", help=f"Runs {_SEE}"),
]
Store = Annotated[
    str,
    Option(
        is_eager=True,  # so that a run can be looked up while the arguments are parsed
        callback=_own_store,
        metavar="URL",
        envvar="AUDIOCAPBENCH_STORE",
        help="SQLite file or postgresql+psycopg:// URL that keeps runs and answers.",
    ),
]
Json = Annotated[bool, Option(help="Print one JSON document instead.")]
Engine = Annotated[
    str,
    Option(
        metavar="ENGINE",
        callback=_engine,
        help="Who does the work: local, this process, or ray[=ADDRESS], a Ray cluster.",
    ),
]
Track = Annotated[
    list[str] | None,
    Option(
        metavar="TRACKER",
        help="Log with wandb[=PROJECT], mlflow[=EXPERIMENT] or tensorboard[=DIR].",
        autocompletion=lambda: ["wandb", "mlflow", "tensorboard"],
    ),
]
Credentials = Annotated[
    Path | None,
    Option(metavar="FILE", callback=_use, help="KEY=value lines, such as API keys."),
]
FoundCredentials = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        callback=_use_found,
        help="KEY=value lines, such as API keys. [default: credentials.env, if it is here]",
    ),
]
FollowLinks = Annotated[
    bool,
    Option(help="Read clips that are links out of the folder, as in a Hugging Face cache."),
]
Protocol = Annotated[
    Literal["ours", "published"],
    Option(help="How AudioCapBench is asked and judged: our way, or the published tool's."),
]
Yes = Annotated[bool, Option(help="Agree to what it will cost; do not ask.")]
Repeats = Annotated[int, Option(min=1, metavar="N", help="Rounds that a model judges.")]
Form = Annotated[Format, Option("--format", help="How to write it.")]
Out = Annotated[Path | None, Option(metavar="FILE", help="Write to a file instead.")]
Correction = Annotated[
    Literal["holm", "bh"],
    Option(help="Keep the chance of one false difference below 5 % (holm), or their share (bh)."),
]

# Repeated here because importing the store takes longer than printing a help text may.
DEFAULT_STORE = "audiocapbench.db"


def _completion(module: str, listing: str) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        """Names that the last word of a list may become, with the words before it."""
        before = incomplete[: incomplete.rfind(",") + 1]
        every = getattr(import_module(f"audiocapbench.{module}.registry"), listing)()
        return [before + one.name for one in every if (before + one.name).startswith(incomplete)]

    return complete


def _benchmarks(incomplete: str) -> list[str]:
    """Benchmarks, datasets of the hub and folders that a word may become."""
    from glob import escape, glob

    from audiocapbench.benchmarks.registry import list_benchmarks

    names = [one.name.partition("ORG/")[0] for one in list_benchmarks() if one.name != "FOLDER"]
    folders = glob(f"{escape(incomplete)}*/")
    return [one for one in (*names, *folders) if one.startswith(incomplete)]


_COMPLETIONS = {
    "benchmark": _benchmarks,
    "metrics": _completion("metrics", "list_metrics"),
    "metric": _completion("metrics", "list_metrics"),
    "judge": _completion("judges", "list_judges"),
    "model": _completion("models", "list_models"),
}


@dataclass(frozen=True)
class Session:
    """Options of every command that asks: where, as whom, and whether the cost is agreed to."""

    engine: Engine = "local"
    credentials: Credentials = None
    yes: Yes = False
    store: Store = DEFAULT_STORE


def command(
    add: Callable[..., Any], name: str | None = None, **how: Any
) -> Callable[[Function], Function]:
    """A decorator that makes a function a command, with its docstring as the help.

    Positional parameters are arguments, keyword-only ones options. A line of ``Args`` such as
    ``limit (N): At most so many.`` is the help of ``--limit N``. A parameter whose type is a
    dataclass or a TypedDict stands for an option of each of its fields; an option that the
    function itself has under the same name comes before such a field, which has its default then.

    Args:
        add: The ``command`` or ``callback`` of an app.
        name: The command's name, where it is not the function's.
        **how: What else ``add`` takes.
    """

    def decorate(function: Function) -> Function:
        text, helps = _read_help(function)
        own = signature(function, eval_str=True).parameters
        declared: list[Parameter] = []
        groups: dict[str, list[str]] = {}
        for parameter in own.values():
            if not (is_dataclass(parameter.annotation) or is_typeddict(parameter.annotation)):
                declared.append(_declared(parameter, helps))
                continue
            fields = [one for one in _fields(parameter.annotation) if one.name not in own]
            groups[parameter.name] = [one.name for one in fields]
            more = _read_help(parameter.annotation)[1] | helps
            declared += [_declared(one, more) for one in fields]

        @wraps(function)
        def grouped(**given: Any) -> Any:
            made = {
                group: own[group].annotation(**{field: given.pop(field) for field in fields})
                for group, fields in groups.items()
            }
            return function(**given, **made)

        callback = grouped if groups else function
        vars(callback)["__signature__"] = Signature(declared)
        named = {} if name is None else {"name": name}
        kind = ExampleGroup if add.__name__ == "callback" else ExampleCommand
        add(**named, **{"cls": kind, "help": text, **how})(callback)
        return cast("Function", callback)

    return decorate


def _fields(group: Any) -> Iterator[Parameter]:
    """The fields of a dataclass or a TypedDict as options; what has no default is off or None."""
    for name, kind in get_type_hints(group, include_extras=True).items():
        plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        default = getattr(group, name, False if plain is bool else None)
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _read_help(described: Any) -> tuple[str, dict[str, tuple[str | None, str]]]:
    """A docstring's text, and of each entry of its ``Args`` the metavar and the help."""
    text, *lines = re.split(r"\n(?:Args|Attributes):\n", getdoc(described) or "")
    helps: dict[str, tuple[str | None, str]] = {}
    for line in "\n".join(lines).splitlines():
        if entry := _ENTRY.fullmatch(line):
            name, metavar, words = entry.groups()
            helps[name] = (metavar, words)
        else:
            metavar, words = helps[name]
            helps[name] = (metavar, f"{words} {line.strip()}")
    return text.strip(), helps


def _declared(parameter: Parameter, helps: dict[str, tuple[str | None, str]]) -> Parameter:
    """The parameter as typer reads it: an annotation that says all about an option."""
    kind, is_option = parameter.annotation, parameter.kind is Parameter.KEYWORD_ONLY
    if kind is typer.Context:
        return parameter
    info: Any = Option() if is_option else typer.Argument()
    if get_origin(kind) is Annotated:
        kind, *notes = get_args(kind)
        info = next((copy(one) for one in notes if isinstance(one, ParameterInfo)), info)
        info.min = next((one.ge for one in notes if isinstance(one, Ge)), info.min)
    if is_option and info.default is ...:
        info.default = f"--{parameter.name.replace('_', '-')}"  # where typer keeps the names
    if parameter.name in helps:
        info.metavar, info.help = helps[parameter.name]
    if parameter.name == "budget":
        info.min, info.callback = None, _amount
    info.autocompletion = info.autocompletion or _COMPLETIONS.get(parameter.name)
    return parameter.replace(annotation=Annotated[kind, info])
