"""For inspect_ai: benchmarks as tasks, and metrics and judges as scorers, ``audiocapbench/NAME``.

Metrics are scorers there where a sample's score depends on nothing else and the whole is the mean.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from anyio import to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.dataset import Sample as TaskSample
from inspect_ai.model import ChatMessageUser, ContentAudio, ContentText, get_model
from inspect_ai.scorer import Score, mean, metric, scorer
from inspect_ai.solver import generate

from audiocapbench import judges
from audiocapbench.benchmarks import Benchmark, open_benchmark
from audiocapbench.benchmarks.corpora import check_metrics
from audiocapbench.bridges.inspect_logs import ABOUT, PLACE, status_of
from audiocapbench.data import Clip
from audiocapbench.data.categories import UNCATEGORISED
from audiocapbench.data.outcome import SCORED
from audiocapbench.engine.retrying_client import prepare
from audiocapbench.errors import MetricError
from audiocapbench.files import cache_folder, write_file
from audiocapbench.judges import JudgeInput
from audiocapbench.judges.judge import judge_texts
from audiocapbench.metrics import compute
from audiocapbench.metrics.names import ScorerName, parse_name, split_names
from audiocapbench.metrics.registry import METRICS
from audiocapbench.metrics.result import first_column
from audiocapbench.models import AudioContract
from audiocapbench.scores.estimate import Scorer
from audiocapbench.signature import Signature
from audiocapbench.stats import mean_interval
from audiocapbench.store.records import overall_of

Grade = Callable[[JudgeInput], Awaitable[tuple[float, str] | str]]
"""A score and what explains it, or why there is none."""

Metrics = str | list[str] | None

_CLIP = "clip_sha256"
_PLAYED = {".wav": "wav", ".mp3": "mp3"}


def _interval(scorer_name: str) -> Callable[[Sequence[Any]], dict[str, float]]:
    """The 95 % interval of a mean, as everywhere in the toolkit."""
    own = Scorer(scorer_name, None if scorer_name in METRICS else "overall")

    def measure(scores: Sequence[Any]) -> dict[str, float]:
        values = np.array([[one.score.as_float()] for one in scores])
        clips = [str((one.sample_metadata or {}).get(_CLIP, one.sample_id)) for one in scores]
        bounds = own.bounds(float(values.min(initial=0)))
        found = mean_interval(values, first_column, bounds=bounds, clusters=clips)
        return dict(zip(("low", "high"), found or (float("nan"),) * 2, strict=True))

    return measure


interval = metric(name="interval")(_interval)


def _registered(name: str, grader: Callable[..., Grade]) -> Any:
    """A scorer of inspect's whose options are those of the grader."""

    def make(**options: Any) -> Any:
        grade = grader(**options)

        async def score(state: Any, target: Any) -> Any:
            text, status, about = state.output.completion, status_of(state.output), state.metadata
            if status not in SCORED:
                return Score.unscored(reason=str(status), answer=text)
            known = {"category": UNCATEGORISED, "instruction": "", "transcript": None, **about}
            named = (known["category"], known["instruction"], known["transcript"], about)
            given = await grade(JudgeInput(str(state.sample_id), text, tuple(target), *named))
            if isinstance(given, str):
                return Score.unscored(reason="grader_failed", answer=text, explanation=given)
            return Score(value=given[0], answer=text, explanation=given[1])

        return score

    return scorer([mean(), interval(name)], name=name)(make)


def _by_metric(metric_name: str, **options: str) -> Grade:
    named = [str(ScorerName(metric_name, options))]
    check_metrics(None, named, audio=False)  # before any answer is paid for

    async def grade(case: JudgeInput) -> tuple[float, str]:
        asked = (named, [case.prediction], [case.references])
        (result,) = await to_thread.run_sync(compute, *asked)
        return float(result.samples[0]), str(result.signature)

    return grade


def _by_elements() -> Grade:
    judge = cast(judges.TextJudge, judges.create_judge("elements"))

    async def grade(case: JudgeInput) -> tuple[float, str] | str:
        (verdict,) = judge_texts(judge, [case])
        return verdict if isinstance(verdict, str) else _told(verdict, judge.signature)

    return grade


def _by_model(model: str, contract: str = "audiocapbench") -> Grade:
    """A model of inspect's that is held to one of our contracts: its prompt and its parser."""
    held = judges.find_contract(contract)
    if held.listens:
        raise judges.JudgeError(f"contract {contract!r} must hear, and inspect's judges read")
    made = Signature(contract, held.made_with)
    get_model(model)  # one that is not there is said before any answer is paid for

    async def grade(case: JudgeInput) -> tuple[float, str] | str:
        prompt, problem = held.prompt(case), ""
        if known := held.without_asking(case):
            return _told(known, made)
        for _ in range(held.asked_at_most):
            reply = await get_model(model).generate(prompt)
            try:
                return _told(held.parse(reply.completion), made)
            except judges.ReplyError as error:
                problem, prompt = str(error), held.prompt_again(case, str(error))
        return f"unparsed: {problem}; asked {held.asked_at_most} times"

    return grade


def _told(verdict: judges.Verdict, made: Signature) -> tuple[float, str]:
    parts = ", ".join(f"{name} {value:g}" for name, value in verdict.scores.items())
    return overall_of(verdict.scores, made), f"{parts}: {verdict.reasoning or verdict.note}"


SCORERS: Mapping[str, Callable[..., Any]] = {
    name: _registered(name, partial(_by_metric, name))
    for name, one in METRICS.items()
    if not one.hears and one.aggregate is first_column
    if not one.of_corpus or "contrast" in one.options  # a sample alone is contrasted with none
} | {"elements": _registered("elements", _by_elements), "judge": _registered("judge", _by_model)}


def _task_of(
    benchmark: Benchmark, about: Mapping[str, Any], metrics: Metrics, judge: str | None
) -> Any:
    fit = [name for name in benchmark.traits.metrics if name in SCORERS]
    given = [metrics] if isinstance(metrics, str) else metrics  # inspect splits at commas itself
    names = split_names(",".join(given)) if given else fit or ["fluent_similarity"]
    named = {name: parse_name(name) for name in names}
    for name, one in named.items():
        if one.name not in SCORERS:
            raise MetricError(
                f"{name} scores samples together, or is unknown: 'audiocapbench import LOG', then "
                f"'audiocapbench score RUN --metrics {name}'; inspect has {', '.join(SCORERS)}"
            )
    chosen = [SCORERS[one.name](**one.options) for one in named.values()]
    if judge is not None:
        asked = {"model": judge, "contract": benchmark.traits.judge}
        chosen.append(SCORERS[judge]() if judge in SCORERS else SCORERS["judge"](**asked))
    samples = [
        TaskSample(
            input=[ChatMessageUser(content=[ContentText(text=one.instruction), _audio(one.clip)])],
            target=list(one.references),
            id=one.id,
            metadata={
                **one.details,
                _CLIP: one.clip.sha256,
                "category": one.category,
                "instruction": one.instruction,
            },
        )
        for one in benchmark.samples
    ]
    return Task(
        dataset=MemoryDataset(samples, name=benchmark.name),
        solver=generate(),
        scorer=chosen,
        metadata={ABOUT: {**about, "fingerprint": benchmark.fingerprint}},
    )


def _audio(clip: Clip) -> Any:
    """A clip as inspect takes it: WAV and MP3 as they are, others as WAV in the cache."""
    kind, path = _PLAYED.get(clip.path.suffix.lower()), clip.path
    if kind is None:
        kind, path = "wav", cache_folder() / "inspect" / f"{clip.sha256}.wav"
        if not path.is_file() and (sent := prepare(clip, AudioContract("wav", mono=False))):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, sent.content)
    return ContentAudio(audio=str(path), format=kind)


def _registered_task(name: str) -> Any:
    def make(data: str | None = None, metrics: Metrics = None, judge: str | None = None) -> Any:
        place = data if data is None or "://" in data else str(Path(data).resolve())
        given = (place or ".", None) if name == "folder" else (name, place)
        opened = open_benchmark(given[0], Path(given[1]) if given[1] else None)
        return _task_of(opened, dict(zip(PLACE, given, strict=True)), metrics, judge)

    return task(name=name)(make)


TASKS = [
    _registered_task(one) for one in "demo folder audiocapbench mecat-caption mecat-qa".split()
]
