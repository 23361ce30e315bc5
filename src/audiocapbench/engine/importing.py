"""Makes a run of predictions that were made elsewhere; no model is asked.

The same files about the same samples are the same run: their hash is among its parameters.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from audiocapbench import audio
from audiocapbench.benchmarks import Benchmark
from audiocapbench.data import Problem, Sample
from audiocapbench.data.outcome import SCORED, Outcome, Reply, Status
from audiocapbench.data.predictions import (
    Asked,
    Prediction,
    PredictionFile,
    Predictions,
    blank_note,
    match_ids,
    read_predictions,
)
from audiocapbench.engine.runner import dataset_of
from audiocapbench.errors import DatasetError, ModelError
from audiocapbench.models.registry import PUBLISHED_NAMES
from audiocapbench.signature import Signature, sign
from audiocapbench.store import Run, RunSpec, Store
from audiocapbench.store.records import IMPORTED, Judgement
from audiocapbench.store.unsaved import AnswerRecord

UNNAMED_JUDGE = "unnamed-judge"
"""What a judge is called whose name neither a result file nor the user says."""

_AT_A_TIME = 500
_LONGEST_NAME, _MOST_SPENT = 200, 1 << 31
_OVERALL, _REASONING, _MOST = "overall", "reasoning", 10.0


class ImportEnd(NamedTuple):
    """How an import ended.

    Attributes:
        is_new: Whether the run was not there before.
        bad: What could not be read.
        missing: Samples without a prediction; they are kept as skipped.
        surplus: Ids with a prediction that no sample has.
        note: What had to be done for ids to meet, in a sentence.
    """

    run: Run
    is_new: bool
    bad: tuple[Problem, ...]
    missing: tuple[str, ...]
    surplus: tuple[str, ...]
    note: str

    def to_dict(self) -> dict[str, Any]:
        """What did not fit, as a JSON object."""
        return {
            "new": self.is_new,
            "missing_ids": list(self.missing),
            "surplus_ids": list(self.surplus),
            "bad_lines": [str(one) for one in self.bad],
            "note": self.note,
        }


def read_files(
    files: Sequence[str], benchmark: Benchmark, system: str | None = None
) -> Predictions:
    """Read predictions in any of the forms that there are, under the ids of a benchmark.

    Args:
        files: Their names; for MECAT-Caption also ``long=FILE`` and so on.
        benchmark: Whose samples they are about.
        system: Whose predictions to take of files that have those of several.

    Raises:
        DatasetError: A file cannot be read, or has no prediction that is about one of the samples.
    """
    if not files:
        raise DatasetError("name at least one file of predictions")
    sources = [PredictionFile.named(str(one), benchmark.parts) for one in files]
    digest = _digest(sources)
    asked = Asked([one.id for one in benchmark.samples], benchmark.parts)
    found = read_predictions(sources, system, asked)
    if not found.by_id:
        why = f": {found.bad[0]}" if found.bad else ""
        raise DatasetError(f"{', '.join(map(str, files))}: holds no prediction{why}")
    met, note = _match_samples(found, benchmark.samples)
    answered = {key.rpartition("/")[2] for key in met.by_id if key in asked.ids}
    absent = [part for part in benchmark.parts if part not in answered]
    absence = f"no file has answers to {', '.join(absent)}" if absent else ""
    notes = [absence, note, _other_references(met, benchmark), blank_note(met.texts)]
    return replace(met, sha256=digest, note="; ".join(filter(None, notes)))


def _other_references(found: Predictions, benchmark: Benchmark) -> str:
    """What to say where a result file has other references than the benchmark."""
    differing = [
        one.id
        for one in benchmark.samples
        if one.id in found.by_id
        and found.by_id[one.id].fields.get("reference_captions", list(one.references))
        != list(one.references)
    ]
    if not differing:
        return ""
    return f"{len(differing):,} results have other references than {benchmark.name}, whose count"


def _digest(sources: Sequence[PredictionFile]) -> str:
    """One hash for files, in whatever order they are named; what they are called is not in it."""
    for one in sources:
        if not one.path.is_file():
            raise DatasetError(f"{one.path}: no such file")
    parts = sorted(f"{one.part or ''}={audio.sha256(one.path)}" for one in sources)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _match_samples(predictions: Predictions, samples: Sequence[Sample]) -> tuple[Predictions, str]:
    """Predictions under the samples' ids; where none has one, by the files of their clips."""
    ids = [one.id for one in samples]
    by_file = {one.clip.file_name: one.id for one in samples}
    try:
        return match_ids(predictions, ids)
    except DatasetError:
        if len(by_file) < len(samples) or predictions.by_id.keys() & set(ids):
            raise
        try:
            met, note = match_ids(predictions, by_file)
        except DatasetError:
            met, note = predictions, ""
        if not met.by_id.keys() & by_file.keys():
            raise
        return met.under(by_file), note


def model_name(given: str | None, predictions: Predictions) -> str:
    """What the model is called: as the user says, or else the file.

    Raises:
        ModelError: Nobody says, or it is no name.
    """
    name = given
    if name is None:
        head = predictions.head or {}
        ours = {theirs: one for one, theirs in PUBLISHED_NAMES.items()}
        provider = head.get("provider")
        parts = [ours.get(str(provider), provider), head.get("model_id")]
        said = "/".join(one for one in parts if isinstance(one, str) and one.strip())
        name = said or predictions.system
        if not name:
            raise ModelError("the file does not say whose predictions these are; give `model` NAME")
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise ModelError(
            f"{name!r:.80} is no name for a model; give one of at most {_LONGEST_NAME} characters"
        )
    return name.strip()


def import_run(
    store: Store, benchmark: Benchmark, found: Predictions, model: str, judge: str | None = None
) -> ImportEnd:
    """Keep predictions as a run; what a result file's judge said becomes judgements.

    A run of a result file has the samples that the file lists, any other all of the benchmark's.

    Args:
        store: Where to keep it.
        benchmark: What the predictions are about.
        found: What was read.
        model: Whose they are.
        judge: Who judged, where a result file does not say it.
    """
    samples = benchmark.samples
    by_id = {one.id: one for one in samples}
    surplus = tuple(key for key in found.by_id if key not in by_id)
    if found.head is not None:
        samples = tuple(by_id[key] for key in found.by_id if key in by_id)
    spec = RunSpec(
        benchmark.name,
        benchmark.fingerprint,
        model,
        {"file_sha256": found.sha256} | ({} if judge is None else {"judge": judge}),
        "none: imported",
        tuple(one.id for one in samples),
        kind="imported",
        # Numbers of the whole are given back only with all that they were made of.
        source=None if found.bad or surplus else found.head,
    )
    is_new = store.find_run(spec) is None
    run = store.begin_run(spec, dataset_of(benchmark))
    if len(store.outcomes(run.id)) < len(samples):
        outcomes = [_outcome(one.id, found) for one in samples]
        for start in range(0, len(outcomes), _AT_A_TIME):
            part = outcomes[start : start + _AT_A_TIME]
            store.add_records(run.id, [AnswerRecord(one) for one in part])
    # Last, and only where there are none: whoever was interrupted before begins here again.
    judgements = _judgements([one.id for one in samples], found, judge)
    if judgements and not store.judgements(run.id, judgements[0].judge):
        store.add_judgements(run.id, judgements)
    missing = tuple(one.id for one in samples if one.id not in found.by_id)
    note = "; ".join(filter(None, [found.note, str((found.head or {}).get("note") or "")]))
    if judgements and judgements[0].judge == UNNAMED_JUDGE:
        unnamed = f"the file does not say who judged, so its judge is {UNNAMED_JUDGE!r}"
        note = "; ".join(filter(None, [note, f"{unnamed}; --judge names it"]))
    return ImportEnd(run, is_new, tuple(found.bad), missing, surplus, note)


def _outcome(key: str, found: Predictions) -> Outcome:
    missing = Prediction("", Status.SKIPPED, "there is no prediction for it in the file")
    answer = found.by_id.get(key, missing)
    text, status, fields = answer.text, answer.status, answer.fields
    # The published form has a time of every answer; nobody answers in none, so that 0 is no time.
    seconds = _number(fields.get("inference_time")) or None
    # Only what a result file says is given back by an export, word for word.
    raw = json.dumps(fields, ensure_ascii=False) if found.head is not None and fields else None
    said = text if status in (*SCORED, Status.TRUNCATED) else ""
    reply = Reply(said, status, answer.error, raw=raw)
    spent = [_number(fields.get(one)) for one in ("input_tokens", "output_tokens", "cost_usd")]
    given, made, cost = (
        one if one is not None and 0 <= one < _MOST_SPENT else None for one in spent
    )
    counts = [None if one is None else int(one) for one in (given, made)]
    reply = replace(reply, input_tokens=counts[0], output_tokens=counts[1], cost_usd=cost)
    asked = seconds is not None and seconds >= 0
    return Outcome(key, reply, None, 0.0, seconds or 0.0 if asked else 0.0, attempts=int(asked))


def _judgements(ids: Sequence[str], found: Predictions, judge: str | None) -> list[Judgement]:
    """What the judge of a result file said, signed so that it is never compared with ours."""
    head = found.head
    if head is None:
        return []
    said = head.get("judge") or head.get("judge_model")
    name = said.strip() if isinstance(said, str) and said.strip() else judge or UNNAMED_JUDGE
    signatures = head.get("signatures")
    made = signatures.get("llm") if isinstance(signatures, Mapping) else None
    signature = sign(IMPORTED, judge=name, made=str(made or "not said"))
    if not made or "overall:rounded" in str(made):
        signature = signature.with_fields(overall="rounded")  # as the published tool does
    return [
        _judgement(name, key, signature, one.fields)
        for key in ids
        if (one := found.by_id.get(key)) is not None
        and one.status in SCORED
        and {"llm_judge", "llm_judge_error"} & one.fields.keys()
    ]


def _judgement(judge: str, key: str, signature: Signature, fields: Mapping[str, Any]) -> Judgement:
    verdict = fields.get("llm_judge")
    given = verdict if isinstance(verdict, Mapping) else {}
    reason = given.get(_REASONING)
    reasoning = reason if isinstance(reason, str) else None
    scores = {name: _number(one) for name, one in given.items() if name != _OVERALL}
    kept = {name: one for name, one in scores.items() if one is not None}
    overall = _number(given.get(_OVERALL, 0.0))
    within = all(0 <= one <= _MOST for one in kept.values())
    if kept and within and overall is not None and overall >= 0:
        return Judgement(judge, key, 0, signature, Status.OK, kept, reasoning)
    said = fields.get("llm_judge_error") or given.get("error") or reasoning
    error = str(said) if said else "the file has no scores of it"
    return Judgement(judge, key, 0, signature, Status.FAILED, error=error)


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None
