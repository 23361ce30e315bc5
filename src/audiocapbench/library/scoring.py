"""Scoring captions that are at hand, without a run; and checks of what callers give."""

import warnings
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from itertools import chain
from math import inf
from numbers import Integral, Real
from os import PathLike
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

from annotated_types import Ge
from anyio import to_thread

from audiocapbench.benchmarks.corpora import check_metrics
from audiocapbench.benchmarks.traits import METRICS
from audiocapbench.data.pairing import Pairing
from audiocapbench.errors import AudioCapBenchError, DatasetError, check_known, did_you_mean
from audiocapbench.library import captions
from audiocapbench.metrics.registry import chosen_metrics, take_several
from audiocapbench.report.runs import estimate_table
from audiocapbench.scores.estimate import Estimate, Scorer, counted
from audiocapbench.scores.summary import FileScores, score_files
from audiocapbench.scores.table import estimate_records
from audiocapbench.table import Result, Row, Table, signature_notes

_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "text",
    NoneType: "None",
    PathLike: "a path",
    Sequence[str]: "a list of texts",
    Sequence[int]: "a list of whole numbers",
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


def checked(call: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Have a call refuse options that it does not have, and values that are not of their kind."""

    @wraps(call)
    def checking(*args: Parameters.args, **options: Parameters.kwargs) -> Returned:
        hints = get_type_hints(call, include_extras=True)
        hints.pop("return", None)
        for name, hint in list(hints.items()):
            if get_origin(hint) is Unpack:
                del hints[name]
                hints |= get_type_hints(get_args(hint)[0], include_extras=True)
        for name, value in options.items():
            check_known("option", name, hints, ArgumentError)
            hint, bounds = hints[name], getattr(hints[name], "__metadata__", ())  # of Annotated
            hint = get_args(hint)[0] if bounds else hint
            least: Any = next((one.ge for one in bounds if isinstance(one, Ge)), -inf)
            number: Any = value if isinstance(value, Real) else least
            if not _fits(value, hint) or not number >= least:  # as NaN is not
                kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
                known = ((_WORDS.get(one, _WORDS.get(get_origin(one))), one) for one in kinds)
                words = [word or f"a {one.__name__}" for word, one in known]
                words[0] += f" of at least {least:g}" if least > -inf else ""
                must = " or ".join(dict.fromkeys(words))
                raise ArgumentError(f"{name} is {value!r:.60}; it must be {must}")
        return call(*args, **options)

    return checking


def metric_names(given: str | Iterable[str], *, none: bool = False) -> list[str]:
    """Metrics in a list or between commas; none only where that makes sense."""
    names = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    if not all(isinstance(one, str) for one in names) or not (names or none):
        raise ArgumentError(f"metrics is {given!r:.60}; it must be names in a list or with commas")
    found = [chosen_metrics(one) for one in names]
    for words in chain.from_iterable(lacking for _, lacking in found):
        warnings.warn(words, stacklevel=3)
    return [one for chosen, _ in found for one in chosen]


def run_number(given: Any) -> int:
    """The number of a run, or of a result's run."""
    if hasattr(given, "run"):
        given = given.run.id
    if isinstance(given, bool) or not isinstance(given, Integral) or abs(int(given)) >= 2**63:
        raise ArgumentError(f"{given!r:.60} is no run; give its number, or what run() returned")
    return int(given)


def find_scorer(scorers: Iterable[Scorer], name: str) -> Scorer:
    """The scorer of a name: ``meteor``, ``elements: accuracy``, or a judge for its overall score.
    For a name of none there is a KeyError with all names in its message."""
    by_name = {one.label: one for one in scorers}
    scorer = by_name.get(name) or by_name.get(f"{name}: overall")
    if scorer is None:
        raise KeyError(f"no score of {name!r}; there are {', '.join(by_name)}")
    return scorer


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


@dataclass(frozen=True, repr=False)
class ScoreResult(Result):
    """Scores of captions.

    Attributes:
        scores: The score table behind it, and what did not take part.
        bad_lines: Lines of a prediction file that could not be read.
        notes: How captions were read where that was a choice, and what is to be doubted.
    """

    scores: FileScores
    bad_lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def scorers(self) -> list[Scorer]:
        """The metrics, in order."""
        return [Scorer(name) for name in self.scores.metrics]

    def __getitem__(self, metric: str) -> Estimate:
        """A metric's score over all samples."""
        if not self.scores.metrics:
            raise KeyError(self._why_none)
        return self.scores.table.estimate(find_scorer(self.scorers, metric))

    @property
    def _why_none(self) -> str:
        return "; ".join(["no sample has a prediction to score", *self.bad_lines[:1]])

    @property
    def samples(self) -> dict[str, dict[str, float]]:
        """The score of each sample, by metric and id."""
        return self.scores.columns

    def __getattr__(self, name: str) -> Any:
        """Of a single metric, ``value``, ``interval``, ``signature``, ``n`` and ``coverage``."""
        if name not in Estimate.__slots__ or len(self.scores.metrics) != 1:
            each = "result[metric] has the score of each metric"
            why = each if self.scores.metrics else self._why_none
            raise AttributeError(f"no {name!r} here; {why}")
        return getattr(self[self.scores.metrics[0]], name)

    def tables(self) -> list[Table]:
        """Every metric with its interval."""
        title = counted(len(self.scores.ids), "sample")
        left_out = {
            "without a prediction": len(self.scores.missing),
            "without references": len(self.scores.surplus),
            "bad lines": len(self.bad_lines),
        }
        notes = [f"{count:,} {what}" for what, count in left_out.items() if count]
        notes += filter(None, (self.scores.note, *self.notes))
        notes += signature_notes(self[one.name].signature for one in self.scorers)
        return [estimate_table(title, self.scores.table, self.scorers, notes)]

    def records(self) -> list[Row]:
        """A row for each metric and group."""
        return estimate_records(self.scores.table, self.scorers)

    def to_dict(self) -> dict[str, Any]:
        """As ``audiocapbench score --json`` prints it."""
        return self.scores.to_dict() | {"bad_lines": list(self.bad_lines)}


def score(
    predictions: Any,
    references: Any,
    metrics: str | Sequence[str] = METRICS,
    *,
    groups: Mapping[str, str] | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> ScoreResult:
    """Score captions against references.

    Args:
        predictions: Captions in a list; by id, in a dict or a series of pandas; in a data frame
            with columns as files have them; or a CSV, JSONL, JSON, Parquet or XLSX file.
        references: For each caption one reference or several, in the same way.
        metrics: Names as ``audiocapbench metrics`` lists them, in a list or between commas.
        groups: The category of each sample, in order or by id, to have scores by category too.
        columns: What columns of tables and files are, by ``id``, ``prediction``, ``references``.

    Raises:
        DatasetError: A file cannot be read, or predictions and references do not match.
        MetricError: A metric is unknown, or cannot be computed on these captions.
    """
    names = metric_names(metrics)
    how: Any = {"columns": columns, "several": take_several(names)}
    pairing = captions.read_captions(predictions, references, **how)
    answers, known = pairing.predictions, pairing.samples
    if not known:
        raise DatasetError("there are no references to score against")
    categories = _groups(captions.read_column(groups, "groups"), pairing)
    known = [replace(one, category=categories.get(one.id, one.category)) for one in known]
    check_metrics(None, names, audio=False)
    scores = score_files(answers, known, names, references=pairing.references)
    if pairing.note and scores.pairing:
        scores = replace(scores, pairing=replace(scores.pairing, note=pairing.note))
    notes = [note for one in pairing.readings for note in one.notes]
    return ScoreResult(scores, tuple(map(str, answers.bad)), (*notes, *scores.warnings))


ascore = in_thread(score)


def _groups(given: captions.Argument, pairing: Pairing) -> dict[str, str]:
    known = [one.id for one in pairing.samples]
    if given.ids is None and given.values and pairing.note != captions.IN_ORDER:
        raise DatasetError("groups are in order, and captions by id; give groups by id, too")
    if given.ids is None and given.values and len(given.values) != len(known):
        raise DatasetError(f"there are {len(given.values):,} groups for {len(known):,} samples")
    places = set(known)
    for key, group in given.by_id.items():
        if key not in places:
            near = did_you_mean(key, known)
            raise DatasetError(f"groups names {key!r:.60}, which is no sample's id{near}")
        if not isinstance(group, str) or not group.strip():
            raise DatasetError(f"the group of {key!r:.60} is {group!r:.60}, which is no text")
    return given.by_id
