"""Scoring captions that are at hand, without a run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks.corpora import check_metrics
from audiocapbench.benchmarks.traits import METRICS
from audiocapbench.data import Clip, Sample
from audiocapbench.data.predictions import Predictions, read_predictions
from audiocapbench.data.row import read_references
from audiocapbench.errors import DatasetError, did_you_mean
from audiocapbench.library.arguments import find_scorer, in_thread, metric_names
from audiocapbench.report.tables import estimate_table
from audiocapbench.scores.estimate import Estimate, Scorer, counted
from audiocapbench.scores.file_scores import FileScores, score_files
from audiocapbench.scores.table import estimate_records
from audiocapbench.table import Result, Row, Table, signature_notes

Texts = str | PathLike[str] | Mapping[str, str] | Iterable[str]
Captions = str | PathLike[str] | Mapping[str, str | Sequence[str]] | Iterable[str | Sequence[str]]


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
    answers = _predictions(predictions)
    known = references_of(references)
    categories = _groups(groups, [one.id for one in known])
    known = [replace(one, category=categories.get(one.id, one.category)) for one in known]
    if _is_listed(predictions) and _is_listed(references) and len(answers.by_id) != len(known):
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


def _is_listed(given: object) -> bool:
    return not isinstance(given, str | PathLike | Mapping)


def _predictions(given: Texts) -> Predictions:
    if isinstance(given, str | PathLike):
        return read_predictions(_file(given, "predictions"))
    return Predictions.of_texts({key: text_of(text, key) for key, text in _by_id(given)})


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
        raise DatasetError("captions come in a list, by id or as one column; a set has no order")
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
