"""The published tool's second command, ``python -m audiocapbench.evaluate``: a thin door."""

import os
import re
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from audiocapbench.asking import ClipOptions, JudgePanel, ModelOptions
from audiocapbench.cli import interrupt_again, options
from audiocapbench.cli.app import PublishedCommand, leave, published_app
from audiocapbench.cli.console import json_text, print_errors, say
from audiocapbench.errors import AudioCapBenchError, MetricError
from audiocapbench.files import check_writable, write_file

if TYPE_CHECKING:
    from audiocapbench.engine import RunEnd
    from audiocapbench.plan import RunPlan

AAC_METRICS = ("cider_d", "spice", "spider", "fense")
"""What the published tool takes from aac-metrics, and --no-aac-metrics leaves out."""

_PROVIDERS = {
    "openai": ("openai", "gpt-4o-audio-preview"),
    "gemini": ("gemini", "gemini-2.5-flash"),
    "openai_realtime": ("openai-realtime", "gpt-4o-realtime-preview"),
    "qwen_audio": ("dashscope", "qwen-audio-turbo"),
}
"""By the published tool's names: what a provider is called here, and its default model."""

_DEFAULTS = dict(_PROVIDERS.values())
_OLD_NAMES = {"qwen": "qwen_audio"}


app = published_app()


@options.command(app.command, cls=PublishedCommand)
def evaluate(
    *,
    provider: str | None = None,
    model: str | None = None,
    all_models: bool = False,
    data_dir: Path = Path("data/audio_caption"),
    clips: ClipOptions,
    metadata: Path | None = None,
    output: Path | None = None,
    credentials: options.FoundCredentials = None,
    told: ModelOptions,
    no_aac_metrics: Annotated[bool, Option(help=f"Leave out {', '.join(AAC_METRICS)}.")] = False,
    no_llm_judge: bool = False,
    judge_model: str = "gpt-4.1",
    max_retries: Annotated[int | None, Option(min=1)] = None,
    category: str | None = None,
    max_samples: Annotated[int | None, Option(min=1)] = None,
    protocol: options.Protocol = "published",
    session: options.Session,
) -> None:
    """Evaluate a model on AudioCapBench and write the published result JSON.

    The same command goes on where it was stopped: only what is missing is asked. Such as:
    python -m audiocapbench.evaluate --provider openai --model gpt-4o-audio-preview

    Args:
        provider (NAME): openai, gemini, openai_realtime or qwen_audio; or one of ours.
        model (ID): [default: the provider's, as published]
        all_models: One model of every provider whose key is set.
        data_dir (DIR): The folder that was built.
        metadata (FILE): What says which clips there are. [default: the data folder's own]
        output (FILE): The result JSON; with --all-models, the model's name is added to it.
            [default: results/PROVIDER_MODEL_TIME.json]
        max_tokens (N): Longest answer, in tokens. [default: as published 256, thoughts 8,192]
        temperature (T): [default: the paper's]
        no_llm_judge: Ask no judge.
        judge_model (ID): OpenAI's name, or one of our judges.
        max_retries (N): Most attempts a question.
        category (NAME): Only sound, music or speech.
        max_samples (N): Only the first so many samples.
    """
    from audiocapbench import benchmarks, engine
    from audiocapbench.benchmarks.captioning import load_audiocapbench
    from audiocapbench.cli.progress import carry_out, explain_end
    from audiocapbench.models import create_models
    from audiocapbench.plan import RunPlan

    if all_models and (provider or model):
        raise AudioCapBenchError("--all-models stands alone; leave out --provider and --model")
    retry = None if max_retries is None else engine.RetryPolicy(attempts=max_retries)
    how = session.asking(retry=retry)
    named = _one_a_provider() if all_models else dict([_named(provider, model)])
    settings, models, outputs = how.model_settings(told), [], {}
    benchmark = load_audiocapbench(data_dir, metadata=metadata, **clips)
    published, limit = protocol == "published", benchmark.traits.max_tokens
    for name, whose in named.items():
        try:
            [made] = create_models([name], settings, published=published, max_tokens=limit)
        except AudioCapBenchError as error:
            if len(named) == 1:
                raise
            say(f"Without {whose[0]}: {error}")
            continue
        models.append(made)
        outputs[made.name] = (*whose, _output(output, *whose, several=all_models))
    panel = JudgePanel([] if no_llm_judge else [_judge(judge_model)], protocol=protocol)
    chosen = benchmarks.Selection((category,) if category is not None else (), max_samples)
    plan = RunPlan.of_models(session.store, benchmark, models, how, panel=panel, selection=chosen)
    result = carry_out(plan, yes=session.yes)
    if result.refusals and not result.ends and not all_models:
        raise result.refusals[0]
    print_errors(*result.refusals)
    failed = len(models) < len(named) or bool(result.refusals)
    for end in result.ends:
        explain_end(end, plan.store)
        if end.stop is not None:
            # Half a result would be taken for a whole one.
            say("No result was written.")
            leave(end.stop)
        extra = () if no_aac_metrics else AAC_METRICS
        failed |= _write_result(plan, end, extra, *outputs[end.run.model])
    leave(failed=failed)


def _named(provider: str | None, model: str | None) -> tuple[str, tuple[str, str]]:
    """A model by our name, and by the published tool's names of its provider and itself."""
    if not provider:
        raise AudioCapBenchError(f"give --provider {', '.join(_PROVIDERS)}; or --all-models")
    known = _PROVIDERS.get(_OLD_NAMES.get(provider, provider))
    ours = known[0] if known else provider
    model = model or _DEFAULTS.get(ours)
    if model is None:
        raise AudioCapBenchError(f"--provider {provider} has no default; give --model too")
    if provider == "openai" and "realtime" in model:
        ours = "openai-realtime"
    return f"{ours}/{model}", (provider, model)


def _one_a_provider() -> dict[str, tuple[str, str]]:
    """The default model of every provider whose key is set; what is left out is said."""
    from audiocapbench.models.registry import built_in_providers

    records = {name: built_in_providers()[ours] for name, (ours, _) in _PROVIDERS.items()}
    keys = {name: (*one.key_names, *one.other_access) for name, one in records.items()}
    able = [name for name in keys if any(os.environ.get(key, "").strip() for key in keys[name])]
    if not able:
        wanted = ", ".join(dict.fromkeys(key for own in keys.values() for key in own))
        raise AudioCapBenchError(f"--all-models needs a key, and none is set: {wanted}")
    absent = [name for name in keys if name not in able]
    say(*(f"Without {name}: {' or '.join(keys[name])} is not set." for name in absent))
    return dict(_named(name, None) for name in able)


def _judge(name: str) -> str:
    from audiocapbench.judges.registry import list_judges

    ours = "/" in name or name in {entry.name for entry in list_judges()}
    return name if ours else f"openai/{name}"


def _output(path: Path | None, provider: str, model: str, *, several: bool) -> Path:
    """Where a model's result goes; made sure of before anything is spent."""
    label = re.sub(r"[^\w-]+", "_", f"{provider}_{model}")
    if path is None:
        path = Path("results", f"{label}_{datetime.now():%Y%m%d_%H%M%S}.json")
    elif several:
        path = path.with_name(f"{path.stem}_{label}{path.suffix}")
    path.parent.mkdir(parents=True, exist_ok=True)
    check_writable(path)
    return path


def _write_result(
    plan: "RunPlan", end: "RunEnd", extra: Sequence[str], provider: str, model: str, path: Path
) -> bool:
    """Score with what may not be installed, and write and show the published tool's result; says
    whether some answers failed."""
    from audiocapbench.cli.progress import show_runs
    from audiocapbench.data.outcome import SCORED
    from audiocapbench.engine import score_run
    from audiocapbench.report.runs import published_result
    from audiocapbench.scores.summary import summarise

    metrics, left_out = list(plan.metrics), {}
    for name in extra:
        try:
            score_run(plan.store, end.run, [name])
            metrics.append(name)
        except MetricError as error:
            left_out[name] = str(error)
            say(f"Without {name}: {error}")
    answered = any(end.statuses[status] for status in SCORED)
    summary = summarise(plan.store, end.run, metrics, plan.judge_names if answered else [])
    document = published_result(plan.store, summary, provider=provider, model_id=model)
    document |= {"left_out": left_out}
    write_file(path, f"{json_text(document)}\n")
    if unjudged := sum("llm_judge_error" in one for one in document["results"]):
        say(f"{unjudged} answers could not be judged; the same command asks again.")
    say(f"Results saved to {path}")
    show_runs(plan.store, [summary])
    if plan.subject.missing:
        say(plan.subject.presence)
    return bool(document["failed"] or unjudged)


if __name__ == "__main__":
    sys.unraisablehook = interrupt_again
    app(prog_name="python -m audiocapbench.evaluate")
