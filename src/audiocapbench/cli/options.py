"""How a function becomes a command with options, and what several commands share: options, and
where results go besides the terminal, which is never a file that is also read."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, is_dataclass
from functools import cache, wraps
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from annotated_types import Ge
from typer import Option
from typer.models import ParameterInfo
from typing_extensions import is_typeddict

from audiocapbench.asking import ClipOptions, JudgePanel, RequestOptions, SampleOptions
from audiocapbench.cli.app import ExampleCommand, ExampleGroup
from audiocapbench.cli.completion import COMPLETIONS
from audiocapbench.cli.console import json_text, results_alone, say, show_result, show_text
from audiocapbench.credentials import load_credentials
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.files import check_writable, write_file
from audiocapbench.table import Result
from audiocapbench.table.forms import Format, csv_text, latex_text, markdown_text, parquet_content

if TYPE_CHECKING:
    from audiocapbench.engine import Asking
    from audiocapbench.scores.table import ScoreTable
    from audiocapbench.store import Store as OpenStore

_started: ContextVar[typer.Context | None] = ContextVar("started", default=None)

# What a word ends with that is a file even where there is none.
_FILES = (".csv", ".tsv", ".json", ".jsonl", ".txt", ".parquet")
_LISTS = ("A,B", "1,2", "NAME=X,…")  # how options that take lists with commas are written
_ENTRY = re.compile(r"    (\w+)(?: \((\S+)\))?: (.*)")


def _use(credentials: Path | None) -> Path | None:
    """Read a file of credentials while the options are parsed, so that no command has to."""
    say(*(load_credentials(credentials) if credentials is not None else ()))
    return credentials


def _use_found(credentials: Path | None) -> Path | None:
    here = Path("credentials.env")
    return _use(credentials or (here if here.is_file() else None))


def _engine(ctx: typer.Context, name: str) -> str:
    """Join a cluster for as long as the command runs, so that no command has to."""
    if name != "local":
        from audiocapbench.engine.ray_cluster import joined

        ctx.with_resource(joined(name, say))
    return name


def _own_store(ctx: typer.Context, url: str) -> str:
    """'runs --store X show 1' and 'runs show 1 --store X' mean the same."""
    source = ctx.get_parameter_source("store")
    if ctx.obj is None or (source is not None and source.name == "COMMANDLINE"):
        # Others than commands may keep a store in memory.
        ctx.obj = ":memory:" if url in ("sqlite://", "sqlite:///:memory:") else url
    return str(ctx.obj)


def open_store(url: str, *, create: bool = False) -> "OpenStore":
    """A store, which is there already unless it may be made."""
    from audiocapbench.store import Store

    return Store.open(url, create=create)


def number(text: str) -> Any:
    """The number that a text is, or else the text; longer ones are no run's."""
    return int(text) if text.isdecimal() and len(text) < 20 else text


def metric_names(given: str) -> list[str]:
    from audiocapbench.metrics.registry import chosen_metrics

    names, lacking = chosen_metrics(given)
    say(*lacking)
    return names


def _run_numbers(ctx: typer.Context, named: Any) -> Any:
    """Numbers of runs, for names, tags and models too, while the arguments are parsed."""
    if isinstance(named, list | tuple):
        return [_run_numbers(ctx, one) for one in named]
    if not isinstance(named, str):
        return named
    if Path(named).suffix in _FILES and Path(named).is_file():
        scored = f"audiocapbench score --predictions {named} --references FILE"
        raise AudioCapBenchError(f"{named} is a file, and a run is asked for; see '{scored}'")
    with open_store(ctx.params["store"]) as store:
        number, others = store.run_called(named)
    newest = f", the newest of {', '.join(map(str, others))}" if len(others) > 1 else ""
    say(f"{named}: run {number}{newest}.")
    return number


def writable(given: Path | None) -> Path | None:
    if given is not None:
        check_writable(given)
    return given


_SEE = "by number, name, tag or model (its newest); see 'audiocapbench runs'."


def _number_or_file(text: str) -> Any:
    is_file = not text.isdecimal() and (Path(text).suffix in _FILES or Path(text).exists())
    return Path(text) if is_file else number(text)


def runs_argument(what: str, files: str = "") -> Any:
    """Runs, which become numbers; with words about files also files, which become paths."""
    parser, words = _number_or_file if files else number, f"{what} {_SEE}{files}"
    return typer.Argument(parser=parser, callback=_run_numbers, metavar="RUN", help=words)


RunArgument = Annotated[int, runs_argument("A run")]
MaybeRun = Annotated[int | None, runs_argument("A run")]
MaybeRuns = Annotated[list[int] | None, runs_argument("Runs")]
RunsArgument = Annotated[list[int], runs_argument("Runs")]
RunList = Annotated[
    Any,
    Option(
        parser=lambda given: [number(one.strip()) for one in given.split(",")],
        callback=_run_numbers,
        metavar="1,2",
        help=f"Runs {_SEE}",
    ),
]
Metrics = Annotated[Any, Option(parser=metric_names)]
Columns = Annotated[list[str] | None, Option("--map")]
Store = Annotated[  # eager, so that a run can be looked up while the arguments are parsed
    str, Option(is_eager=True, callback=_own_store, envvar="AUDIOCAPBENCH_STORE")
]
Engine = Annotated[str, Option(callback=_engine)]
NewFile = Annotated[Path, Option(callback=writable)]
MaybeNewFile = Annotated[Path | None, Option(callback=writable)]
Track = Annotated[
    list[str] | None, Option(autocompletion=lambda: ["wandb", "mlflow", "tensorboard"])
]
Credentials = Annotated[Path | None, Option(callback=_use)]
FoundCredentials = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        callback=_use_found,
        help="KEY=value lines, such as API keys. [default: credentials.env, if it is here]",
    ),
]
ClipFolder = Annotated[
    Path | None, Option(metavar="DIR", help="Folder with the clips, for who hears them.")
]
Repeats = Annotated[int, Option(min=1)]
Protocol = Literal["ours", "published"]
Correction = Literal["holm", "bh"]


class SharedHelp:
    """The help of options that several commands have, where these say nothing else.

    Attributes:
        store (URL): SQLite file or postgresql+psycopg:// URL that keeps runs and answers.
        json: Print one JSON document instead.
        engine (ENGINE): Who does the work: local, this process, or ray[=ADDRESS], a Ray cluster.
        track (TRACKER): Log with wandb[=PROJECT], mlflow[=EXPERIMENT] or tensorboard[=DIR].
        credentials (FILE): KEY=value lines, such as API keys.
        yes: Agree to what it will cost; do not ask.
        data (DIR): The folder that 'audiocapbench build' made.
        metrics (A,B): Comma-separated metrics, or a preset: aac (what captioning papers report, as
            far as it can be had here), paper, offline. [default: the benchmark's own, else paper]
        repeats (N): Rounds that a model judges.
        seed (N): Decides what is drawn by lot.
        by (SCORE): Rank by this metric or judge. [default: a judge's overall score, else a metric]
        published: Show the paper's models too.
        dataset (HASH): Only samples with this hash; its first 12 digits will do.
        project: Its name.
        form: How to write it.
        out (FILE): Write to a file instead.
        correction: Keep the chance of one false difference below 5 % (holm), or their share (bh).
    """


# Repeated here because importing the store takes longer than printing a help text may.
DEFAULT_STORE = "audiocapbench.db"


@dataclass(frozen=True)
class Session:
    """Options of every command that asks: how, where, as whom, and whether to agree to the cost."""

    requests: RequestOptions
    engine: Engine = "local"
    credentials: Credentials = None
    yes: bool = False
    store: Store = DEFAULT_STORE

    def asking(self, **how: Any) -> "Asking":
        """How this command asks; started again, with more money or other limits, it is the same."""
        from audiocapbench.engine import Asking
        from audiocapbench.engine.budget import command_name

        asking, context = Asking.of(self.requests, **how), _started.get()
        if context is not None and not asking.fresh:
            options = (RequestOptions, Session, Outputs)
            own = {"out", "format", "skip_missing"}.union(*(one.__annotations__ for one in options))
            named = {name: one for name, one in context.params.items() if name not in own}
            asking.budget.command = command_name(str(context.info_name), named)
        return asking

    @property
    def files(self) -> list[Path]:
        files = (self.requests.get("prices"), self.credentials, store_file(self.store))
        return [path for path in files if path is not None]


def store_file(store: str) -> Path:
    """The file of a store as the user names it; one that does not exist for a server."""
    return Path(store.removeprefix("sqlite:///"))


@dataclass(frozen=True)
class Outputs:
    """What a command is to do with its results: a file of samples, trackers, and JSON.

    Attributes:
        per_sample (FILE): Write each sample's answer, scores and reasons as CSV or JSONL.
    """

    per_sample: MaybeNewFile = None
    track: Track = None
    json: bool = False

    def __post_init__(self) -> None:
        """Refuse files and trackers that nothing can be written to, before anybody is asked."""
        from audiocapbench.data.records import DELIMITERS, JSON_LINES

        kind = self.per_sample.suffix.lower() if self.per_sample is not None else ""
        if kind not in ("", *DELIMITERS, *JSON_LINES):
            raise AudioCapBenchError(f"--per-sample writes CSV, TSV and JSONL, and no {kind}")
        if self.track:
            from audiocapbench.bridges.trackers import check_trackers

            check_trackers(self.track)

    def write(self, results: Sequence[tuple[dict[str, Any], "ScoreTable"]]) -> None:
        if self.per_sample is not None:
            from audiocapbench.report.runs import write_samples

            write_samples(self.per_sample, [table for _, table in results])
        if self.track and results:
            from audiocapbench.bridges.trackers import track

            say(*track(self.track, results))


@dataclass(frozen=True)
class StoreOptions:
    store: Store = DEFAULT_STORE
    json: bool = False

    def open(self) -> "OpenStore":
        return open_store(self.store)

    def show(self, result: Result) -> None:
        show_result(result, json=self.json)


@dataclass(frozen=True)
class Shown(StoreOptions):
    form: Annotated[Format, Option("--format")] = Format.TABLE
    out: MaybeNewFile = None

    @property
    def format(self) -> Format:
        return Format.JSON if self.json else self.form

    def write(self, result: Result) -> None:
        write(result, self.format, self.out)


def write(result: Result, form: Format, file: Path | None) -> None:
    if form is Format.TABLE and file is not None:
        raise AudioCapBenchError("--out needs a --format: csv, json, md, latex or parquet")
    if form is Format.PARQUET and file is None:
        raise AudioCapBenchError("--format parquet needs --out FILE; it is not text")
    if form is Format.TABLE:
        show_result(result, json=False)
        return
    ways: dict[Format, Callable[[], str | bytes]] = {
        Format.JSON: lambda: f"{json_text(result.to_dict())}\n",
        Format.CSV: lambda: csv_text(result.records()),
        Format.PARQUET: lambda: parquet_content(result.records()),
        Format.MD: lambda: markdown_text(result.tables()),
        Format.LATEX: lambda: latex_text(result.print_tables()),
    }
    content = ways[form]()
    if file is None:
        show_text(str(content))
        return
    write_file(file, content)
    say(f"Written: {file}")
    if form in (Format.CSV, Format.PARQUET) and (tests := result.tests()):
        beside = file.with_name(f"{file.stem}_tests{file.suffix}")
        write_file(beside, csv_text(tests) if form is Format.CSV else parquet_content(tests))
        say(f"Written: {beside}")


def refuse_overwriting(out: Path | None, inputs: Iterable[Path]) -> None:
    """Refuse to write a file that is read, also one of a folder's JSON files, whatever name or link
    leads to it; the inputs are not looked at where there is nothing to overwrite."""
    if out is None or not out.exists():
        return
    for path in inputs:
        # An input that is not there, or is no name that a disk takes, cannot be overwritten.
        with suppress(OSError, ValueError):
            if any(map(out.samefile, (path, *path.rglob("*.json*")))):
                what = f"{out} is read by this command and would be overwritten"
                raise AudioCapBenchError(f"{what}; name another file")


def command(
    add: Callable[..., Any], name: str | None = None, **how: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that makes a function a command, with its docstring as the help.

    Positional parameters are arguments, keyword-only ones options. A line of ``Args`` such as
    ``limit (N): At most so many.`` is the help of ``--limit N``. A parameter whose type is a
    dataclass or a TypedDict stands for an option of each of its fields; an option that the
    function itself has under the same name comes before such a field, which has its default then.
    A file that is written (``NewFile``) can be, and is never the store. ``add`` is the ``command``
    or ``callback`` of an app; the callback is what a group does alone.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        text, helps = _read_help(function)
        fields = signature(function, eval_str=True).parameters
        declared: list[Parameter] = []
        for parameter in fields.values():
            if not _is_group(parameter.annotation):
                declared.append(_declared(parameter, helps))
                continue
            for group, field in _fields(parameter.annotation):
                if field.name not in fields:
                    declared.append(_declared(field, _read_help(group)[1] | helps))

        infos = {one.name: get_args(one.annotation)[1] for one in declared}
        written = [name for name, info in infos.items() if info.callback is writable]
        joined = [
            name for name, one in infos.items() if one.metavar in _LISTS and one.callback is None
        ]

        @wraps(function)
        def call(**given: Any) -> Any:
            context: typer.Context | None = given.pop("ctx", None)  # none where Python calls it
            if context is not None and context.invoked_subcommand is not None:
                return None
            _started.set(context)
            given |= {name: ",".join(given[name]) for name in joined if given.get(name) is not None}
            for out in written if "store" in given else ():
                refuse_overwriting(given[out], [store_file(given["store"])])
            values = {name: given.pop(name) for name in fields if name in given}
            groups = {name: one.annotation for name, one in fields.items() if name not in values}
            made = {name: _made(groups[name], given) for name in groups}
            as_json = values.get("json") or any(
                getattr(one, "json", False) for one in made.values()
            )
            with results_alone() if as_json else nullcontext():
                return function(**values, **made)

        is_callback = add.__name__ == "callback"
        declared.append(Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context))
        vars(call)["__signature__"] = Signature(declared)
        more = {"cls": ExampleGroup, "invoke_without_command": True} if is_callback else {}
        more |= {} if name is None else {"name": name}
        add(**{"cls": ExampleCommand, "help": text, **more, **how})(call)
        return call

    return decorate


def _is_group(kind: Any) -> bool:
    return is_dataclass(kind) or is_typeddict(kind)


def _fields(group: Any) -> Iterator[tuple[Any, Parameter]]:
    """The fields of a dataclass or a TypedDict, and of groups in it, as options, each with its
    group; what has no default is off or None."""
    for name, kind in get_type_hints(group, include_extras=True).items():
        if _is_group(kind):
            yield from _fields(kind)
            continue
        plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        default = getattr(group, name, False if plain is bool else None)
        yield group, Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _made(group: Any, values: dict[str, Any]) -> Any:
    """A group of the values of its fields, as far as they are given."""
    kinds = get_type_hints(group)
    inner = {name: _made(kind, values) for name, kind in kinds.items() if _is_group(kind)}
    return group(**inner, **{name: values[name] for name in kinds if name in values})


@cache
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
    info: Any = Option() if is_option else typer.Argument()
    if get_origin(kind) is Annotated:
        kind, *notes = get_args(kind)
        info = next((copy(one) for one in notes if isinstance(one, ParameterInfo)), info)
        info.min = next((one.ge for one in notes if isinstance(one, Ge)), info.min)
    if is_option and info.default is ...:
        info.default = f"--{parameter.name.replace('_', '-')}"  # where typer keeps the names
        other = {"metric": "--metrics", "metrics": "--metric"}.get(parameter.name)
        info.param_decls = (other,) if other else info.param_decls
    shared: dict[str, tuple[str | None, str]] = {}
    for group in (JudgePanel, SampleOptions, ClipOptions, SharedHelp):
        shared |= _read_help(group)[1]
    known = helps if info.help else shared | helps
    if parameter.name in known:
        info.metavar, info.help = known[parameter.name]
    info.autocompletion = info.autocompletion or COMPLETIONS.get(parameter.name)
    if is_option and info.metavar in _LISTS:
        kind, default = list[str], parameter.default
        parameter = parameter.replace(default=[default] if isinstance(default, str) else default)
        if info.parser is not None:
            info.callback, info.parser = _whole_list(info.parser, info.callback), None
    return parameter.replace(annotation=Annotated[kind, info])


def _whole_list(read: Callable[[str], Any], use: Callable[..., Any] | None) -> Callable[..., Any]:
    """What reads a list with commas as a whole, however often the option is given."""

    def join(ctx: typer.Context, given: list[str] | None) -> Any:
        value = read(",".join(given)) if given else None
        return value if use is None else use(ctx, value)

    return join
