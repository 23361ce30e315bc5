"""A metric for training loops: captions come batch by batch and process by process, and are scored
as the one corpus that they are."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from audiocapbench.benchmarks.corpora import check_metrics
from audiocapbench.data.predictions import Predictions
from audiocapbench.errors import AudioCapBenchError, DatasetError, MetricError
from audiocapbench.judges.registry import is_judge_name
from audiocapbench.library import captions, scoring
from audiocapbench.metrics.names import split_list
from audiocapbench.scores.estimate import counted
from audiocapbench.scores.summary import score_files

if TYPE_CHECKING:
    from audiocapbench.library.torch_metric import TorchCaptionMetric


class CaptionEntry(NamedTuple):
    """One sample of a loop; its text is None where no caption was made, and it has no references
    where there is only a caption under its id."""

    id: str | None
    text: str | None
    references: list[str]


class AudioCaptionMetric:
    """Scores of captions that come in batches, from one process or from many.

    What processes exchange are the captions themselves, because a corpus score such as CIDEr-D is
    no mean of batches: however the samples are spread, the numbers are those of one process.

    Args:
        metrics: Names as ``audiocapbench metrics`` lists them, in a list or between commas.
        sync_on_compute: Whether ``compute`` is over all processes of ``torch.distributed``, where
            it runs; each of them then has to call it.
    """

    def __init__(self, metrics: str | Iterable[str], *, sync_on_compute: bool = True) -> None:
        self.metrics = _checked(metrics)
        self.sync_on_compute = sync_on_compute
        self.reset()

    def reset(self) -> None:
        """Forget all samples, as before each evaluation."""
        self._parts: list[list[CaptionEntry]] = [[]]  # this process's own first, then merged ones
        self._notes: dict[str, None] = {}  # on how batches were read

    def update(self, predictions: Any, references: Any, ids: Any = None) -> None:
        """Add a batch; one that is refused leaves nothing behind.

        Args:
            predictions: As ``score`` takes them; None where there is none, which counts as missing.
            references: As ``score`` takes them: for each sample one or several.
            ids: The id of each sample, a text or whole number, unless both come by id. A sample
                that comes again under its id counts once, such as those that
                ``DistributedSampler`` repeats to fill batches.
        """
        entries, notes = _batch(predictions, references, ids, self._parts[0])
        self._parts[0] += entries
        self._notes |= dict.fromkeys(notes)

    def __call__(self, predictions: Any, references: Any, ids: Any = None) -> scoring.ScoreResult:
        """Add a batch, and score it by itself; one that cannot be leaves nothing behind."""
        batch = copy(self)
        batch.sync_on_compute = False
        batch.reset()
        batch.update(predictions, references, ids)
        result = batch.compute()  # which may refuse what a larger corpus could be scored with
        self._parts[0] += batch._parts[0]
        self._notes |= batch._notes
        return result

    def compute(self) -> scoring.ScoreResult:
        """Score all samples since the last ``reset``, of all processes."""
        entries, note = _distinct(self._gathered())
        if not any(one.references for one in entries):
            raise DatasetError("there is nothing to score; call update() with captions first")
        # In an order of their own, so that intervals do not depend on how they came.
        entries.sort(key=lambda one: (one.id or "", one.text is None, *one[1:]))
        keyed = {str(place) if one.id is None else one.id: one for place, one in enumerate(entries)}
        texts = {key: one.text for key, one in keyed.items() if one.text is not None}
        known = {key: one.references for key, one in keyed.items() if one.references}
        scores = score_files(Predictions.of_texts(texts), captions.samples_of(known), self.metrics)
        note = "; ".join(filter(None, (scores.note, note)))
        scores = replace(scores, metrics=self.metrics, note=note)
        return scoring.ScoreResult(scores, notes=(*self._notes, *scores.warnings))

    def state_dict(self) -> dict[str, Any]:
        """All samples as plain lists and texts, to be kept, sent or merged."""
        return {"metrics": self.metrics, "parts": [list(map(list, one)) for one in self._parts]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take the place of the metric whose ``state_dict`` this is."""
        self._parts = self._read(state) or [[]]

    def merge_state(self, others: Any) -> None:
        """Add the samples of another metric, of its ``state_dict``, or of several in a list; of two
        captions under one id the first counts, and the result's note says so."""
        listed = isinstance(others, Iterable) and not isinstance(others, Mapping)
        read = [self._read(one) for one in (others if listed else [others])]
        self._parts += [part for parts in read for part in parts]

    def as_torchmetrics(self) -> "TorchCaptionMetric":
        """The same as a ``torchmetrics.Metric``, for a ``MetricCollection`` or Lightning's log."""
        try:
            from audiocapbench.library.torch_metric import TorchCaptionMetric
        except ImportError:
            raise AudioCapBenchError("this needs torchmetrics: pip install torchmetrics") from None
        return TorchCaptionMetric(self)

    def _gathered(self) -> list[list[CaptionEntry]]:
        """What all processes have; what this one has where there are no others."""
        # Whoever has processes has imported it; without it torch need not even be installed.
        dist = sys.modules.get("torch.distributed") if self.sync_on_compute else None
        if dist is None or not dist.is_available() or not dist.is_initialized():
            return self._parts
        states: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(states, self.state_dict())
        return [part for state in states for part in self._read(state)]

    def _read(self, other: Any) -> list[list[CaptionEntry]]:
        state = other.state_dict() if isinstance(other, AudioCaptionMetric) else other
        if not isinstance(state, Mapping) or not {"metrics", "parts"} <= state.keys():
            raise scoring.ArgumentError(
                f"{other!r:.60} is no AudioCaptionMetric, and no state of one"
            )
        if tuple(state["metrics"]) != self.metrics:
            theirs, ours = ", ".join(state["metrics"]), ", ".join(self.metrics)
            raise scoring.ArgumentError(f"this is a state of {theirs}; one of {ours} is needed")
        return [[CaptionEntry(*one) for one in part] for part in state["parts"]]


def _checked(metrics: str | Iterable[str]) -> tuple[str, ...]:
    """The metrics of names, each of which can be computed here without hearing a clip."""
    given: Any = [metrics] if isinstance(metrics, str) else metrics
    given = list(given) if isinstance(given, Iterable) else given  # which may be read only once
    try:
        names = scoring.metric_names(given)
        check_metrics(None, names, audio=False)
    except MetricError:
        for name in (part for one in given for part in split_list(one)):
            if is_judge_name(name):
                raise scoring.ArgumentError(
                    f"{name} is a judge, which is asked about a run and may cost money; a loop is "
                    "scored by metrics. import_run() makes a run of captions, judge() judges it"
                ) from None
        raise
    return tuple(names)


def _distinct(parts: Sequence[Sequence[CaptionEntry]]) -> tuple[list[CaptionEntry], str]:
    """The samples, each once where they have ids, and in words what came again."""
    entries = [one for part in parts for one in part]
    if len({one.id is None for one in entries}) > 1:
        raise DatasetError(
            "some samples have ids and some have none, as with an index of 0, 1, 2, …; give ids to "
            "all, or to none"
        )
    if not entries or entries[0].id is None:
        return entries, ""
    by_id: dict[str | None, CaptionEntry] = {}
    differing = 0
    for part in parts:
        texts: dict[str | None, str | None] = {}
        for one in part:
            first = by_id.setdefault(one.id, one)
            if first.references != one.references:
                raise DatasetError(f"sample {one.id!r} has two sets of references")
            if texts.setdefault(one.id, one.text) != one.text:
                what = f"sample {one.id!r} has two captions"
                raise DatasetError(f"{what}; call reset() before each evaluation")
            differing += first.text != one.text
    again = counted(len(entries) - len(by_id), "sample")
    others = f", {differing:,} with another caption" if differing else ""
    note = f"{again} came again{others}; the first counts" if len(by_id) < len(entries) else ""
    return list(by_id.values()), note


def _batch(
    predictions: Any, references: Any, ids: Any, before: Sequence[CaptionEntry]
) -> tuple[list[CaptionEntry], list[str]]:
    sides = [one for one in (predictions, references, ids) if one is not None]
    indexes: list[Any] = [getattr(one, "index", None) for one in sides]
    counted = ids is not None or all(type(one).__name__ == "RangeIndex" for one in indexes)
    if counted and all(hasattr(one, "equals") and one.equals(indexes[0]) for one in indexes):
        # Slices of one table: the first, from 0, is in order, and so are the others.
        same = predictions is references
        predictions, *others = (one.reset_index(drop=True) for one in sides)
        references, ids = predictions if same else others[0], (*others[1:], None)[0]
    named = [] if ids is None else [captions.read_column(ids, "ids")]
    latest = [(one.text or "", *one.references) for one in before[-captions.ROWS_COMPARED :]]
    pairing = captions.read_captions(predictions, references, *named, before=latest)
    if pairing.predictions.bad:
        raise DatasetError(f"predictions cannot all be read: {pairing.predictions.bad[0]}")
    known, texts = {one.id: one.references for one in pairing.samples}, pairing.predictions.texts
    places = dict.fromkeys([*known, *texts])
    names: dict[str, Any] = {key: None if pairing.note else key for key in places}
    for one in named:
        names = {key: captions.id_text(name) for key, name in one.by_id.items()}
        if names.keys() != places.keys():
            raise DatasetError("ids are not about the same samples as predictions and references")
    entries = [CaptionEntry(names[key], texts.get(key), [*known.get(key, ())]) for key in places]
    return entries, [note for one in pairing.readings for note in one.notes]
