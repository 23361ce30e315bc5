"""Stores with made-up runs: scores and answers as a test wants them, without audio or models."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from audiocapbench.benchmarks import Traits
from audiocapbench.benchmarks.mecat.groups import TRAITS
from audiocapbench.benchmarks.traits import base_name
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.signature import Signature
from audiocapbench.store import Dataset, Run, RunSpec, Store, schema
from audiocapbench.store.connect import writing
from audiocapbench.store.records import Judgement, RunKind, ScoreColumns
from audiocapbench.store.unsaved import AnswerRecord

Statistics = Sequence[float] | float


def emptied(store: Store) -> Store:
    """A store in memory as it was when it was new; the statements that it has prepared are kept."""
    with writing(store._engine) as connection:
        for table in reversed(schema.metadata.sorted_tables):
            if table is not schema.schema_version:
                connection.execute(table.delete())
        connection.exec_driver_sql("DELETE FROM sqlite_sequence")  # runs are counted from 1 again
    return store


@dataclass(frozen=True, slots=True)
class StoredScore:
    """A score of one sample, as tests make and compare them."""

    sample_id: str
    metric: str
    signature: Signature
    value: float
    statistics: tuple[float, ...]


def columns(scores: Iterable[StoredScore]) -> ScoreColumns:
    """Scores of one metric as the store takes them."""
    return ScoreColumns.of(
        (one.sample_id, one.value, one.statistics, one.signature) for one in scores
    )


def stored_scores(
    store: Store, run_id: int, metric: str | None = None
) -> dict[str, list[StoredScore]]:
    """Scores of a run by metric, a record each."""
    return {
        name: [
            StoredScore(one, name, made, value, parts)
            for one, value, parts, made in zip(*columns, strict=True)
        ]
        for name, columns in store.score_columns(run_id, metric).items()
    }


def made_samples(
    count: int, *, categories: Sequence[str] = ("sound",), questions: int = 1
) -> tuple[Sample, ...]:
    """Samples of categories in turn; so many of them in a row share a clip."""
    return tuple(
        Sample(
            id=f"s{number:04}",
            clip=_clip(number // questions),
            instruction="Describe it.",
            references=(f"reference {number}",),
            category=categories[number % len(categories)],
            position=number,
        )
        for number in range(count)
    )


def _clip(number: int) -> Clip:
    name = f"clip{number:04}.wav"
    digest = hashlib.sha256(name.encode()).hexdigest()
    return Clip(Path("clips") / name, name, digest, 5.0, 16_000, 1)


@dataclass
class MadeRun:
    """A run to put into a store.

    Attributes:
        model: Its model.
        scores: By metric and sample id: a score, or the statistics of one.
        grades: By judge and sample id: scores by dimension.
        statuses: Of samples that were not answered.
        texts: Of answers; the others say which model and sample they are.
        only: Ids of the samples that were asked; all by default.
        signatures: Of metrics and judges, where not their own name.
    """

    model: str
    scores: Mapping[str, Mapping[str, Statistics]] = field(default_factory=dict)
    grades: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    statuses: Mapping[str, Status] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    only: Sequence[str] | None = None
    signatures: Mapping[str, str] = field(default_factory=dict)
    cost_usd: float | None = None
    kind: RunKind = "asked"
    parameters: Mapping[str, int] = field(default_factory=dict)


def put_run(
    store: Store,
    made: MadeRun,
    samples: Sequence[Sample],
    benchmark: str = "made",
    *,
    missing: int = 0,
    asked: Sequence[str] | None = None,
) -> Run:
    """Put a run and its dataset into a store; so many clips of the dataset were not there.

    Of its samples it may have been asked only some before it was stopped.
    """
    run = begin_run(store, made, samples, benchmark, missing=missing)
    ids = run.sample_ids if asked is None else asked
    outcomes = []
    for key in ids:
        status = made.statuses.get(key, Status.OK)
        text = made.texts.get(key, f"{made.model} on {key}") if status is Status.OK else ""
        reply = Reply(text, status, cost_usd=made.cost_usd)
        outcomes.append(Outcome(key, reply, None, 5.0, 0.5))
    store.add_records(run.id, list(map(AnswerRecord, outcomes)))
    for metric, given in made.scores.items():
        signature = Signature.parse(made.signatures.get(metric, metric))
        own = [_score(key, metric, signature, one) for key, one in given.items() if key in ids]
        store.put_scores(run.id, {metric: columns(own)})
    for judge, graded in made.grades.items():
        signature = Signature.parse(made.signatures.get(judge, f"judge-{judge}"))
        store.add_judgements(
            run.id,
            [
                Judgement(judge, key, 0, signature, Status.OK, dict(given))
                for key, given in graded.items()
                if key in ids
            ],
        )
    return run


def begin_run(
    store: Store,
    made: MadeRun,
    samples: Sequence[Sample],
    benchmark: str = "made",
    *,
    missing: int = 0,
) -> Run:
    """Begin a run that has no answers yet."""
    content = repr([(one.id, one.clip.sha256, one.references, one.category) for one in samples])
    fingerprint = hashlib.sha256(f"{benchmark} {content}".encode()).hexdigest()
    ids = tuple(one.id for one in samples) if made.only is None else tuple(made.only)
    spec = RunSpec(benchmark, fingerprint, made.model, made.parameters, "wav", ids, kind=made.kind)
    traits = TRAITS.get(base_name(benchmark), Traits()).to_dict()
    dataset = Dataset(
        fingerprint, benchmark, "clips", tuple(samples), ({"id": "gone"},) * missing, traits
    )
    return store.begin_run(spec, dataset, fresh=True)


def _score(key: str, metric: str, signature: Signature, value: Statistics) -> StoredScore:
    statistics = (float(value),) if isinstance(value, int | float) else tuple(value)
    return StoredScore(key, metric, signature, statistics[0], statistics)
