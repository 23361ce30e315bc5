"""Makes a run of predictions that were made elsewhere; no model is asked.

The same files about the same samples are the same run: their hash is among its parameters.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, NamedTuple

from audiocapbench import audio
from audiocapbench.benchmarks import Benchmark
from audiocapbench.data import Problem
from audiocapbench.data.columns import Mapped
from audiocapbench.data.matching import match_samples
from audiocapbench.data.outcome import SCORED, Outcome, Reply, Status
from audiocapbench.data.pairing import Pairing
from audiocapbench.data.predictions import (
    Asked,
    Prediction,
    PredictionFile,
    Predictions,
    read_predictions,
)
from audiocapbench.engine.runner import dataset_of
from audiocapbench.errors import DatasetError, ModelError
from audiocapbench.models.registry import PUBLISHED_NAMES
from audiocapbench.signature import sign
from audiocapbench.store import Dataset, Run, RunSpec, Store
from audiocapbench.store.records import IMPORTED, Judgement

UNNAMED_JUDGE = "unnamed-judge"
"""What a judge is called whose name neither a result file nor the user says."""

_AT_A_TIME = 4000
_LONGEST_NAME, _MOST_SPENT = 200, 1 << 31
_SPENT, _TIME = ("input_tokens", "output_tokens", "cost_usd"), "inference_time"
_NUMBERS, _WITH_TEXT = frozenset((*_SPENT, _TIME)), (*SCORED, Status.TRUNCATED)
_MISSING = Prediction("", Status.SKIPPED, "there is no prediction for it in the file")
_OVERALL, _REASONING, _MOST = "overall", "reasoning", 10.0


class ImportEnd(NamedTuple):
    """How an import ended: ``missing`` samples, ``surplus`` ids, ids of clips
    that are ``absent``, what could not be read, and what metrics gave it.

    ``dataset`` and ``outcomes`` are what the store has by now, where that is known.
    """

    run: Run
    is_new: bool
    bad: tuple[Problem, ...]
    missing: tuple[str, ...]
    surplus: tuple[str, ...]
    absent: tuple[str, ...]
    note: str
    pairing: Pairing
    dataset: Dataset | None = None
    outcomes: Mapping[str, Outcome] | None = None
    scores: Mapping[str, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "new": self.is_new,
            "missing_ids": list(self.missing),
            "surplus_ids": list(self.surplus),
            "ids_of_missing_clips": list(self.absent),
            "bad_lines": [str(one) for one in self.bad],
            "note": self.note,
            "read": self.pairing.to_dict(),
            "warnings": self.pairing.warnings(self.scores),
        }


def read_files(
    files: Sequence[str],
    benchmark: Benchmark,
    system: str | None = None,
    columns: Mapped | None = None,
) -> Predictions:
    """Read predictions, or those of one ``system``; ``PART=FILE`` where a benchmark has parts."""
    if not files:
        raise DatasetError("name at least one file of predictions")
    sources = [PredictionFile.named(str(file), benchmark.parts) for file in files]
    for source in sources:
        if not source.path.is_file():
            raise DatasetError(f"{source.path}: no such file")
    # One hash in whatever order files are named; what they are called is not in it.
    parts = sorted(f"{source.part or ''}={audio.sha256(source.path)}" for source in sources)
    digest = audio.sha256("\n".join(parts).encode())
    missing = _absent(benchmark)
    told = {one.id: one.references for one in benchmark.samples}
    asked = Asked([*told, *missing], benchmark.parts, references=told.values())
    # Predictions and references of one file, as AudioBench writes them, belong together by row.
    reading = benchmark.reading
    by_row = reading is not None and [reading.path] == [one.path for one in sources]
    found = read_predictions(sources, system, asked, columns=columns, by_row=by_row)
    if not found.by_id:
        why = f": {found.bad[0]}" if found.bad else ""
        raise DatasetError(f"{', '.join(map(str, files))}: holds no prediction{why}")
    met, note = match_samples(found, benchmark.samples, missing)
    absent = ", ".join(asked.unanswered(met.by_id))
    absence = f"no file has answers to {absent}" if absent else ""
    differing = sum(
        "reference_captions" in (fields := met.by_id[one.id].fields)
        and fields["reference_captions"] != list(one.references)
        for one in benchmark.samples
        if one.id in met.by_id
    )
    words = f"{differing:,} results have other references than {benchmark.name}, whose count"
    notes = [absence, note, words if differing else ""]
    return replace(met, sha256=digest, note="; ".join(filter(None, notes)))


def _absent(benchmark: Benchmark) -> dict[str, str]:
    """Ids about clips that are missing, and the files that those would be."""
    tails = [f"/{one}" for one in benchmark.parts] or [""]
    missing = benchmark.missing
    return {one.id + tail: one.file_name or one.id for one in missing for tail in tails}


def model_name(given: str | None, predictions: Predictions) -> str:
    """What the model is called: as the user says, or else the file."""
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
    """Keep predictions as a run; what a result file's judge, or ``judge``, said are judgements."""
    samples = benchmark.samples
    by_id = {one.id: one for one in samples}
    others = [key for key in found.by_id if key not in by_id]
    absent = tuple(filter(_absent(benchmark).__contains__, others))
    surplus = tuple(key for key in others if key not in absent)
    if found.head is not None:  # a result file lists its samples
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
        source=None if found.bad or others else found.head,
    )
    is_new = store.find_run(spec) is None
    dataset, outcomes = dataset_of(benchmark), None
    run = store.begin_run(spec, dataset)
    if is_new or len(store.catalog.ended([run.id])) < len(samples):
        outcomes = [_outcome(one.id, found) for one in samples]
        for start in range(0, len(outcomes), _AT_A_TIME):
            store.add_outcomes(run.id, outcomes[start : start + _AT_A_TIME], new=is_new)
    # Last, and only where there are none: whoever was interrupted before begins here again.
    judgements = _judgements([one.id for one in samples], found, judge)
    if judgements and not store.judgements(run.id, judgements[0].judge):
        store.add_judgements(run.id, judgements)
    missing = tuple(one.id for one in samples if one.id not in found.by_id)
    notes = [found.note, str((found.head or {}).get("note") or "")]
    said = found.system or str((found.head or {}).get("model_id") or "").strip()
    if said and said != model and not model.endswith(f"/{said}"):
        notes.append(f"the file says {said!r:.80}; kept as {model!r}")
    notes.append(_odd_overalls(found))
    if judgements and judgements[0].judge == UNNAMED_JUDGE:
        unnamed = f"the file does not say who judged, so its judge is {UNNAMED_JUDGE!r}"
        notes.append(f"{unnamed}; --judge names it")
    note = "; ".join(filter(None, notes))
    pairing = Pairing(found, samples, references=benchmark.reading)
    told = (run, is_new, tuple(found.bad), missing, surplus, absent, note, pairing)
    return ImportEnd(*told, *(_as_stored(benchmark, dataset, outcomes) if is_new else ()))


def _as_stored(
    benchmark: Benchmark, dataset: Dataset, outcomes: list[Outcome] | None
) -> tuple[Dataset | None, dict[str, Outcome]]:
    """What has just been kept, as the store would give it, so that it need not be read again.

    Details that are of no file may change on their way, and files of clips have other paths.
    """
    # By status and cost, as sums of floats depend on their order.
    made = sorted(outcomes or (), key=lambda one: (one.reply.status, one.reply.cost_usd or -1.0))
    places = [one.position for one in dataset.samples]
    is_plain = benchmark.reading is not None and places == list(range(len(places)))
    traits = json.loads(json.dumps(dataset.traits))
    same = replace(dataset, traits=traits) if is_plain else None
    return same, {one.sample_id: one for one in made}


def _outcome(key: str, found: Predictions) -> Outcome:
    answer = found.by_id.get(key, _MISSING)
    fields = answer.fields
    text = answer.text if answer.status in _WITH_TEXT else ""
    if found.head is None and _NUMBERS.isdisjoint(fields):
        reply = Reply(text, answer.status, answer.error)
        return Outcome(key, reply, None, 0.0, 0.0, attempts=0)
    tokens_in, tokens_out, cost = (
        number if number is not None and 0 <= number < _MOST_SPENT else None
        for number in map(_number, map(fields.get, _SPENT))
    )
    reply = Reply(
        text,
        answer.status,
        answer.error,
        # Only what a result file says is given back by an export, word for word.
        raw=json.dumps(fields, ensure_ascii=False) if found.head is not None and fields else None,
        input_tokens=None if tokens_in is None else int(tokens_in),
        output_tokens=None if tokens_out is None else int(tokens_out),
        cost_usd=cost,
    )
    # The published form has a time of every answer; nobody answers in none, so that 0 is no time.
    seconds = max(0.0, _number(fields.get(_TIME)) or 0.0)
    return Outcome(key, reply, None, 0.0, seconds, attempts=int(seconds > 0))


def _judgements(ids: Sequence[str], found: Predictions, judge: str | None) -> list[Judgement]:
    """What the judge of a result file said, signed so that it is never compared with ours."""
    head = found.head
    if head is None:
        return []
    known = head.get("judge") or head.get("judge_model")
    name = known.strip() if isinstance(known, str) and known.strip() else judge or UNNAMED_JUDGE
    signatures = head.get("signatures")
    made = signatures.get("llm") if isinstance(signatures, Mapping) else None
    signature = sign(IMPORTED, judge=name, made=str(made or "not said"))
    if not made or "overall:rounded" in str(made):
        signature = signature.with_fields(overall="rounded")  # as the published tool does
    judgements = []
    for key in ids:
        answer = found.by_id.get(key)
        fields = answer.fields if answer is not None and answer.status in SCORED else {}
        if not {"llm_judge", "llm_judge_error"} & fields.keys():
            continue
        verdict, error = fields.get("llm_judge"), fields.get("llm_judge_error")
        verdict = verdict if isinstance(verdict, Mapping) else {}
        reasoning = verdict.get(_REASONING)
        reasoning = reasoning if isinstance(reasoning, str) else None
        numbers = {dimension: _number(value) for dimension, value in verdict.items()}
        overall = numbers.pop(_OVERALL, 0.0)
        scores = {name: value for name, value in numbers.items() if value is not None}
        within = all(0 <= value <= _MOST for value in scores.values())
        if scores and within and overall is not None and overall >= 0:
            judgements.append(Judgement(name, key, 0, signature, Status.OK, scores, reasoning))
        else:
            why = error or verdict.get("error") or reasoning or "the file has no scores of it"
            judgements.append(Judgement(name, key, 0, signature, Status.FAILED, error=str(why)))
    return judgements


def _odd_overalls(found: Predictions) -> str:
    """How many samples of a result file have an overall that is not the mean of their scores."""
    said = [one.fields.get("llm_judge") for one in found.by_id.values() if found.head]
    odd = 0
    for verdict in (one for one in said if isinstance(one, Mapping)):
        numbers = {name: one for name in verdict if (one := _number(verdict[name])) is not None}
        overall = numbers.pop(_OVERALL, None)
        # However it was rounded, it is no further away.
        if overall is not None and numbers:
            odd += abs(overall - fmean(numbers.values())) > 0.51
    is_ = f"overall is not the mean of its scores in {odd:,} of {len(found.by_id):,} results"
    return f"{is_}; the scores count" if odd else ""


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None
