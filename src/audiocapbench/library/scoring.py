"""Scoring captions that are at hand, without a run; and checks of what callers give."""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

from anyio import to_thread

from audiocapbench.benchmarks.corpora import check_metrics
from audiocapbench.benchmarks.traits import METRICS
from audiocapbench.data import Clip, Sample
from audiocapbench.data.predictions import Predictions, read_predictions
from audiocapbench.data.row import read_references
from audiocapbench.errors import AudioCapBenchError, DatasetError, check_known, did_you_mean
from audiocapbench.metrics.names import split_names
from audiocapbench.report.runs import estimate_table
from audiocapbench.scores.estimate import Estimate, Scorer, counted
from audiocapbench.scores.summary import FileScores, score_files
from audiocapbench.scores.table import estimate_records
from audiocapbench.table import Result, Row, Table, signature_notes

Texts = str | PathLike[str] | Mapping[str, str] | Iterable[str]
Captions = str | PathLike[str] | Mapping[str, str | Sequence[str]] | Iterable[str | Sequence[str]]

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


def checked(call: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Have a call refuse options that it does not have, and values that are not of their kind."""

    @wraps(call)
    def checking(*args: Parameters.args, **options: Parameters.kwargs) -> Returned:
        hints = get_type_hints(call)
        hints.pop("return", None)
        for name, hint in list(hints.items()):
            if get_origin(hint) is Unpack:
                del hints[name]
                hints |= get_type_hints(get_args(hint)[0])
        for name, value in options.items():
            check_known("option", name, hints, ArgumentError)
            hint = hints[name]
            if not _fits(value, hint):
                kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
                words = [_WORDS.get(get_origin(one) or one, f"a {one.__name__}") for one in kinds]
                must = " or ".join(dict.fromkeys(words))
                raise ArgumentError(f"{name} is {value!r:.60}; it must be {must}")
        return call(*args, **options)

    return checking


def metric_names(given: str | Iterable[str], *, none: bool = False) -> list[str]:
    """Metrics in a list or between commas; none only where that makes sense."""
    if isinstance(given, str):
        return split_names(given)
    names = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(one, str) for one in names) or not (names or none):
        raise ArgumentError(f"metrics is {given!r:.60}; it must be names in a list or with commas")
    return [one for name in names for one in split_names(name)]


def run_number(given: Any) -> int:
    """The number of a run, or of a result's run."""
    if hasattr(given, "run"):
        given = given.run.id
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise ArgumentError(f"{given!r:.60} is no run; give its number, or what run() returned")
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


@dataclass(frozen=True, repr=False)
class ScoreResult(Result):
    """Scores of captions.

    Attributes:
        scores: The score table behind it, and what did not take part.
        bad_lines: Lines of a prediction file that could not be read.
    """

    scores: FileScores
    bad_lines: tuple[str, ...] = ()

    @property
    def scorers(self) -> list[Scorer]:
        """The metrics, in order."""
        return [Scorer(name) for name in self.scores.metrics]

    def __getitem__(self, metric: str) -> Estimate:
        """A metric's score over all samples."""
        return self.scores.table.estimate(find_scorer(self.scorers, metric))

    @property
    def samples(self) -> dict[str, dict[str, float]]:
        """The score of each sample, by metric and id."""
        return self.scores.columns

    def __getattr__(self, name: str) -> Any:
        """Of a single metric, ``value``, ``interval``, ``signature``, ``n`` and ``coverage``."""
        if name not in Estimate.__slots__ or len(self.scores.metrics) != 1:
            raise AttributeError(f"no {name!r} here; result[metric] has the score of each metric")
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
        notes += [self.scores.note] if self.scores.note else []
        notes += signature_notes(self[one.name].signature for one in self.scorers)
        return [estimate_table(title, self.scores.table, self.scorers, notes)]

    def records(self) -> list[Row]:
        """A row for each metric and group."""
        return estimate_records(self.scores.table, self.scorers)

    def to_dict(self) -> dict[str, Any]:
        """As ``audiocapbench score --json`` prints it."""
        return self.scores.to_dict() | {"bad_lines": list(self.bad_lines)}


def score(
    predictions: Texts,
    references: Captions,
    metrics: str | Sequence[str] = METRICS,
    *,
    groups: Mapping[str, str] | Sequence[str] = (),
) -> ScoreResult:
    """Score captions against references.

    Args:
        predictions: Captions in order or by id; or a CSV or JSONL file of them.
        references: For each caption one reference or several, in the same order or by id; or a
            CSV or JSONL file of them.
        metrics: Names as ``audiocapbench metrics`` lists them, in a list or between commas.
        groups: The category of each sample, in order or by id, to have scores by category too.

    Raises:
        DatasetError: A file cannot be read, or predictions and references do not match.
        MetricError: A metric is unknown, or cannot be computed on these captions.
    """
    if isinstance(predictions, str | PathLike):
        answers = read_predictions(_file(predictions, "predictions"))
    else:
        texts = {key: text_of(text, key) for key, text in _by_id(predictions)}
        answers = Predictions.of_texts(texts)
    known = references_of(references)
    categories = _groups(groups, [one.id for one in known])
    known = [replace(one, category=categories.get(one.id, one.category)) for one in known]
    named = (isinstance(one, str | PathLike | Mapping) for one in (predictions, references))
    if not any(named) and len(answers.by_id) != len(known):
        raise DatasetError(
            f"there are {len(answers.by_id):,} predictions and {len(known):,} references; "
            "give as many of each, or both by id"
        )
    names = metric_names(metrics)
    check_metrics(None, names, audio=False)
    bad = tuple(str(problem) for problem in answers.bad)
    return ScoreResult(score_files(answers, known, names), bad)


ascore = in_thread(score)


def _groups(given: Mapping[str, str] | Sequence[str], known: Sequence[str]) -> dict[str, str]:
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        raise DatasetError(f"groups is {given!r:.60}; give one for each sample, in order or by id")
    if not isinstance(given, Mapping) and given and len(given) != len(known):
        raise DatasetError(f"there are {len(given):,} groups for {len(known):,} samples")
    found = given if isinstance(given, Mapping) else dict(zip(known, given, strict=False))
    places = set(known)
    for key, group in found.items():
        if key not in places:
            near = did_you_mean(str(key), known)
            raise DatasetError(f"groups names {key!r:.60}, which is no sample's id{near}")
        if not isinstance(group, str) or not group.strip():
            raise DatasetError(f"the group of {key!r:.60} is {group!r:.60}, which is no text")
    return dict(found)


def samples_of(references: Mapping[str, Sequence[str]]) -> list[Sample]:
    """Samples without audio, of references by id."""
    return [
        Sample(key, Clip.absent(key), "", tuple(texts), "", place)
        for place, (key, texts) in enumerate(references.items())
    ]


def references_of(given: Captions) -> list[Sample]:
    if isinstance(given, str | PathLike):
        return read_references(_file(given, "references"))
    found = {}
    for key, texts in _by_id(given):
        listed = isinstance(texts, Iterable) and not isinstance(texts, str | bytes | Mapping)
        several = list(texts) if listed else [texts]
        found[key] = [text_of(text, key) for text in several]
        if not found[key] or not all(text.strip() for text in found[key]):
            raise DatasetError(f"sample {key} has no reference, or a blank one")
    if not found:
        raise DatasetError("there are no references to score against")
    return samples_of(found)


def _by_id(given: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(given, set | frozenset) or hasattr(given, "columns"):
        how = "of a table frame.set_index('id')['prediction']; a set has no order"
        raise DatasetError(f"captions come in a list, by id or as one column: {how}")
    if hasattr(given, "index") and hasattr(given, "to_dict"):
        given = given.to_dict()  # A series of pandas has ids of its own.
    if isinstance(given, Mapping):
        found = {str(key): value for key, value in given.items()}
        if len(found) < len(given):
            raise DatasetError("two ids are the same text; give each sample an id of its own")
        return found.items()
    if not isinstance(given, Iterable):
        raise DatasetError(f"{given!r:.60} is no captions; give them in a list or by id")
    return [(str(place), value) for place, value in enumerate(given)]


def text_of(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise DatasetError(f"sample {key}: {value!r:.60} is no text")
    return value


def _file(given: str | PathLike[str], what: str) -> Path:
    path = Path(given)
    if not path.is_file():
        is_ = "is a folder, and not" if path.is_dir() else "is not there, as"
        raise DatasetError(
            f"{str(path)!r:.80} {is_} a file of {what}; captions themselves come in a list"
        )
    return path
