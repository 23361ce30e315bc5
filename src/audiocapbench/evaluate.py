"""The published tool's second command, ``python -m audiocapbench.evaluate``: a thin door.

It asks, scores and judges as ``audiocapbench run`` does and writes the published result JSON.
"""

import json
import os
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Option
from typer.core import TyperCommand

from audiocapbench.cli import options
from audiocapbench.cli.app import INTERRUPTED, SOME_FAILED, explained
from audiocapbench.cli.console import json_text, say
from audiocapbench.errors import AudioCapBenchError, DatasetError, FatalError, MetricError

if TYPE_CHECKING:
    from audiocapbench.benchmarks import Benchmark
    from audiocapbench.judges import Judge
    from audiocapbench.scores.summary import RunSummary
    from audiocapbench.store import Run, Store

AAC_METRICS = ("cider_d", "spice", "spider", "fense")
"""What the published tool takes from aac-metrics, and --no-aac-metrics leaves out."""

_OURS = {"qwen": "dashscope"}
_THEIRS = {"dashscope": "qwen", "openai-realtime": "openai"}
_DEFAULT_MODELS = {
    "openai": "gpt-4o-audio-preview",
    "gemini": "gemini-2.5-flash",
    "qwen": "qwen-audio-turbo",
}


class _Command(TyperCommand):
    def make_context(self, *words: Any, **more: Any) -> Any:
        with explained():
            return super().make_context(*words, **more)

    def invoke(self, ctx: Any) -> Any:
        with explained():
            return super().invoke(ctx)


app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@options.command(app.command, cls=_Command)
def evaluate(
    *,
    provider: str | None = None,
    model: str | None = None,
    all_models: bool = False,
    data_dir: Path = Path("data/audio_caption"),
    follow_links: options.FollowLinks = False,
    metadata: Path | None = None,
    output: Path | None = None,
    credentials: options.Credentials = None,
    max_tokens: Annotated[int | None, Option(min=1)] = None,
    temperature: Annotated[float | None, Option(min=0)] = None,
    no_aac_metrics: Annotated[bool, Option(help=f"Leave out {', '.join(AAC_METRICS)}.")] = False,
    no_llm_judge: bool = False,
    judge_model: str = "gpt-4.1",
    max_retries: Annotated[int | None, Option(min=1)] = None,
    category: str | None = None,
    max_samples: Annotated[int | None, Option(min=1)] = None,
    concurrency: options.Concurrency = None,
    yes: options.Yes = False,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Evaluate a model on AudioCapBench and write the published result JSON.

    The same command goes on where it was stopped: only what is missing is asked.

    Args:
        provider (NAME): openai, gemini or qwen; or one of ours.
        model (ID): [default: the provider's, as published]
        all_models: Every published model whose key is set.
        data_dir (DIR): The folder that was built.
        metadata (FILE): The data folder's own metadata file.
        output (FILE): The result JSON; with --all-models, the model's name is added to it.
            [default: results/PROVIDER_MODEL_TIME.json]
        max_tokens (N): Longest answer, in tokens.
        temperature (T): [default: the paper's]
        no_llm_judge: Ask no judge.
        judge_model (ID): OpenAI's name, or one of our judges.
        max_retries (N): Most attempts a question.
        category (NAME): Only sound, music or speech.
        max_samples (N): Only the first so many samples.
    """
    from audiocapbench.benchmarks import Selection
    from audiocapbench.benchmarks.captioning import load_audiocapbench
    from audiocapbench.cli.preview import confirm, preview_run
    from audiocapbench.cli.progress import ask_and_score, explain_end
    from audiocapbench.cli.results import print_tables
    from audiocapbench.data.outcome import SCORED
    from audiocapbench.engine import RateLimits, RetryPolicy
    from audiocapbench.models import ModelSettings, create_model
    from audiocapbench.scores.run_table import keep_estimates
    from audiocapbench.scores.summary import summarise
    from audiocapbench.store import Store

    if all_models and (provider or model):
        raise AudioCapBenchError("--all-models stands alone; leave out --provider and --model")
    asked = _with_keys() if all_models else [_named(provider, model)]
    settings = ModelSettings(temperature, max_tokens)
    models = [create_model(one.name, settings) for one in asked]
    judge = None if no_llm_judge else _judge(judge_model)
    benchmark = load_audiocapbench(data_dir, follow_links=follow_links)
    _check_metadata(benchmark, metadata)
    selection = Selection((category,) if category is not None else (), max_samples)
    selection.of(benchmark)
    outputs = [_output(output, one, several=all_models) for one in asked]
    retry = RetryPolicy() if max_retries is None else RetryPolicy(attempts=max_retries)
    limits, extra = RateLimits(concurrency, retry=retry), () if no_aac_metrics else AAC_METRICS
    kept, some_failed = Store.open(store), False
    judges = [] if judge is None else [judge]
    confirm(preview_run(benchmark, models, judges, kept, selection=selection), yes=yes)
    for one, made, path in zip(asked, models, outputs, strict=True):
        refused: list[FatalError] = []
        ends = ask_and_score(
            benchmark,
            [made],
            kept,
            benchmark.traits.metrics,
            judges=judges,
            selection=selection,
            rate_limits=limits,
            refused=refused,
        )
        if refused and not ends and not all_models:
            raise refused[0]
        for error in refused:
            say(f"audiocapbench: {error}")
            some_failed = True
        for end in ends:
            explain_end(end, kept)
            if end.stop is not None:
                # Half a result would be taken for a whole one.
                say("No result was written.")
                raise typer.Exit(INTERRUPTED)
            left_out = _score_extra(kept, end.run, extra)
            metrics = [*benchmark.traits.metrics, *(name for name in extra if name not in left_out)]
            answered = any(end.statuses[status] for status in SCORED)
            judged = [one.name for one in judges] if answered else []
            summary = summarise(kept, end.run, metrics, judged)
            some_failed |= _write_result(kept, summary, one, left_out, path)
            print_tables([summary], benchmark.traits.columns, benchmark.traits.headline)
            keep_estimates(kept, [summary.table])
            if benchmark.missing:
                say(f"{benchmark.presence}; manifest.json says why.")
    if some_failed:
        raise typer.Exit(SOME_FAILED)


class _Named(NamedTuple):
    """A model by the names of the published tool, and by ours."""

    provider: str
    model_id: str
    name: str


def _named(provider: str | None, model: str | None) -> _Named:
    if not provider:
        raise AudioCapBenchError("give --provider openai, gemini or qwen; or --all-models")
    model = model or _DEFAULT_MODELS.get(provider)
    if model is None:
        raise AudioCapBenchError(f"--provider {provider} has no default; give --model too")
    ours = _OURS.get(provider, provider)
    if provider == "openai" and "realtime" in model:
        ours = "openai-realtime"
    return _Named(provider, model, f"{ours}/{model}")


def _with_keys() -> list[_Named]:
    from audiocapbench.models import published_models
    from audiocapbench.models.registry import built_in_providers

    records = [one for one in built_in_providers().values() if one.key_names and one.models]
    keys = {one.name: (*one.key_names, *one.other_access) for one in records}
    able = [one for one in keys if any(os.environ.get(key, "").strip() for key in keys[one])]
    if not able:
        wanted = ", ".join(dict.fromkeys(key for names in keys.values() for key in names))
        raise AudioCapBenchError(f"--all-models needs a key, and none is set: {wanted}")
    for provider in [one for one in keys if one not in able]:
        say(f"Without {provider}/…: {' or '.join(keys[provider])} is not set.")
    return [
        _Named(_THEIRS.get(one.provider, one.provider), one.model_id, one.name)
        for one in published_models()
        if one.provider in able
    ]


def _judge(name: str) -> "Judge":
    from audiocapbench.judges import create_judge, list_judges

    ours = "/" in name or name in {entry.name for entry in list_judges()}
    try:
        return create_judge(name if ours else f"openai/{name}")
    except AudioCapBenchError as error:
        raise AudioCapBenchError(f"the judge: {error}; or use --no-llm-judge") from None


def _check_metadata(benchmark: "Benchmark", metadata: Path | None) -> None:
    """Refuse a metadata file that says something else than what the folder is read by."""
    from audiocapbench.data.folder import METADATA, SEED_METADATA

    if metadata is None:
        return
    if not metadata.is_file():
        raise DatasetError(f"{metadata}: no such file")
    lines, seed = (benchmark.root / name for name in (METADATA, SEED_METADATA))
    read = lines if lines.is_file() else seed
    if metadata.resolve() == read.resolve():
        return
    if metadata.resolve() != seed.resolve():
        raise DatasetError(
            f"{metadata}: only the metadata in --data-dir is read ({read}); put the file there"
        )
    said = _captions(metadata)
    missing = {one.id for one in benchmark.missing}
    known = {one.id: list(one.references) for one in benchmark.samples}
    differing = [key for key in said.keys() | known.keys() if said.get(key) != known.get(key)]
    if set(differing) - missing:
        raise DatasetError(
            f"{metadata} differs from {METADATA} beside it at {min(set(differing) - missing)!r}; "
            "remove the one that is out of date"
        )


def _captions(path: Path) -> dict[str, Any]:
    try:
        samples = json.loads(path.read_bytes())["samples"]
        return {str(one["id"]): one["reference_captions"] for one in samples}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise DatasetError(f"{path}: is not the published tool's metadata.json") from None


def _output(path: Path | None, model: _Named, *, several: bool) -> Path:
    """Where a model's result goes; made sure of before anything is spent."""
    label = re.sub(r"[^\w-]+", "_", f"{model.provider}_{model.model_id}")
    if path is None:
        path = Path("results", f"{label}_{datetime.now():%Y%m%d_%H%M%S}.json")
    elif several:
        path = path.with_name(f"{path.stem}_{label}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AudioCapBenchError(f"--output {path}: {error.strerror}") from None
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise AudioCapBenchError(f"--output {path}: cannot be written; name another file")
    return path


def _score_extra(store: "Store", run: "Run", metrics: Sequence[str]) -> dict[str, str]:
    """Score with what may not be installed; returns what could not be had, and why."""
    from audiocapbench.engine import score_run

    left_out = {}
    for name in metrics:
        try:
            score_run(store, run, [name])
        except MetricError as error:
            left_out[name] = str(error)
            say(f"Without {name}: {error}")
    return left_out


def _write_result(
    store: "Store", summary: "RunSummary", model: _Named, left_out: dict[str, str], path: Path
) -> bool:
    """Write the published tool's result; returns whether some answers failed."""
    from audiocapbench.files import write_file
    from audiocapbench.report.published_result import published_result

    document = published_result(
        store, summary, provider=model.provider, model_id=model.model_id
    ) | {"left_out": left_out}
    write_file(path, f"{json_text(document)}\n")
    unjudged = sum("llm_judge_error" in one for one in document["results"])
    if unjudged:
        say(f"{unjudged} answers could not be judged; the same command asks again.")
    say(f"Results saved to {path}")
    return bool(document["failed"] or unjudged)


if __name__ == "__main__":
    app(prog_name="python -m audiocapbench.evaluate")
