"""What works here and now, and the one command that brings what does not.

Each thing is tried as far as its use would refuse it; no download, no question, no key is shown.
"""

import re
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from typing import Any, NamedTuple

from audiocapbench.annotate.experts import ADDS, set_up
from audiocapbench.audio import EXTENSIONS
from audiocapbench.credentials import credential
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.grouping import grouped
from audiocapbench.judges.registry import create_judge
from audiocapbench.metrics.encoders import ENCODERS, check_encoder
from audiocapbench.metrics.registry import METRICS, refusal
from audiocapbench.models.registry import built_in_providers, provider_of_plugin
from audiocapbench.plugins import plugins, require_packages
from audiocapbench.table import Column, Findings, Table


class Extra(NamedTuple):
    """What an extra of this package is for, and the modules that it brings."""

    brings: str
    modules: str


EXTRAS = {
    "openai": Extra("OpenAI's Realtime API", "websockets"),
    "gemini": Extra("Gemini through Vertex AI", "google.auth"),
    "dashscope": Extra("nothing more: its models need a key alone", ""),
    "hub": Extra("building from the Hugging Face hub, Parquet", "huggingface_hub pyarrow"),
    "sbert": Extra("published sentence encoders, FENSE, BERTScore", "sentence_transformers"),
    "onnx": Extra("sentence encoders in ONNX, without torch", "onnxruntime tokenizers"),
    "wordllama": Extra("the encoder of older signatures", "safetensors tokenizers wordllama"),
    "local": Extra("models and CLAP on this machine", "accelerate torch transformers"),
    "vllm": Extra("models on this machine by vLLM", "vllm"),
    "ray": Extra("work spread over a Ray cluster", "ray"),
    "web": Extra("pages that are served: view, rating", "fastapi uvicorn"),
    "experts": Extra("who hears for annotate", "faster_whisper librosa silero_vad speechmos"),
    "coco": Extra("METEOR 1.5 and SPICE, which also need Java", "pycocoevalcap"),
    "formats": Extra("audio in MP4, WebM, WMA and others", "av"),
    "xlsx": Extra("captions in Excel files", "python_calamine"),
    "postgres": Extra("stores on a PostgreSQL server", "psycopg"),
    "plots": Extra("figures as PNG, SVG and PDF, maps of benchmarks", "sklearn vl_convert"),
    "hf": Extra("datasets of Hugging Face as benchmarks", "datasets huggingface_hub"),
    "inspect": Extra("tasks, scorers and logs of inspect_ai", "inspect_ai"),
    "wandb": Extra("logging with Weights & Biases", "wandb"),
    "mlflow": Extra("logging with MLflow", "mlflow"),
    "tensorboard": Extra("logging with TensorBoard", "tensorboard"),
}
"""Those that users install; others are for who works on this package."""

_FORMATS = {
    f"audio: {' '.join(sorted(one[1:] for one in EXTENSIONS))}": None,
    "audio: mp4 m4a aac webm wma and others": "formats",
    "captions: csv tsv json jsonl": None,
    "captions: parquet": "hub",
    "captions: xlsx": "xlsx",
    "captions: eval (logs of inspect_ai)": "inspect",
    "tables: csv json md latex": None,
    "tables: parquet": "hub",
    "figures: png svg pdf": "plots",
}
_FENSE = "github.com/blmoistawinde/fense/releases/download/V0.1/echecker_clotho_audiocaps_base.ckpt"
_STANFORD = "from pycocoevalcap.spice.get_stanford_models import get_stanford_models as get; get()"
_ENCODER = "from audiocapbench.metrics.encoders import load; load('{}', download=True)"
_INSTALL = re.compile(r"pip install (?:--\S+ )*(?:'[^']+'|[\w.-]+\w)")
_DOWNLOADS = {
    "metrics": "audiocapbench score RUN --metrics '{}[download=yes]'",
    "experts": "audiocapbench annotate hear FOLDER --expert '{}[download=yes]'",
    "encoders": 'python -c "from audiocapbench.metrics.encoders import load; '
    "load('{}', download=True)\"",
}
_BRINGS = {
    "stanford-corenlp": f'python -c "{_STANFORD}"',
    "error detector": f"curl -LO https://{_FENSE}",
    "no Java was found": "apt-get install default-jre-headless",
}
_NOTE = (
    "Keys are looked for, and not tried; no server is asked. Any model that works is a judge, too."
)


class Check(NamedTuple):
    """Whether a thing works; else what is missing, and the command that brings it, if one does."""

    part: str
    name: str
    works: bool
    missing: str
    command: str


def examine() -> Findings:
    """Try everything that may be there, and say what is."""
    checks = [_check(part, name, why) for part, name, why in _tried_things()]
    shown = list[dict[str, str]]()
    for part, own in grouped((one.part, one) for one in checks).items():
        alike = grouped(((one.works, _how(one)), one) for one in own)
        for (works, how), some in sorted(alike.items(), key=lambda one: not one[0][0]):
            # What a command says by itself needs no reason.
            why = "" if how.startswith(("pip", "export")) else some[0].missing
            what = f"{part}: {', '.join(one.name for one in some)}"
            shown.append({"what": what, "description": "works" if works else why, "command": how})
    columns = [Column("what", align="left"), Column("description", "", align="left", wraps=True)]
    columns.append(Column("command", align="left"))
    rows = [one._asdict() for one in checks]
    table = Table("What works here and now", shown, columns, [_NOTE], stacks=True)
    return Findings([table], {"checks": rows}, rows)


def _how(check: Check) -> str:
    """The command that brings it, by which things are shown together."""
    if check.part in ("extras", "keys"):
        return check.command.replace(check.name, "NAME")
    return check.command


def _tried_things() -> Iterator[tuple[str, str, str]]:
    """Of each thing its part, its name, and why it cannot be used."""
    records, keys = built_in_providers(), dict[str, tuple[str, ...]]()
    for name in EXTRAS:
        yield "extras", name, _refusal(_require, name)
    for name, one in records.items():
        yield "models", f"{name}/…" if one.any_model else name, _refusal(one.check_access)
        keys |= dict.fromkeys(one.key_names[:1], one.key_names)
    for name, point in sorted(plugins("models").items()):
        yield "models", f"{name}/…", _refusal(_load_provider, point)
    for name in [*METRICS, *sorted(plugins("metrics").keys() - METRICS)]:
        yield "metrics", name, refusal(name)
    for name in ("elements", *sorted(plugins("judges"))):
        yield "judges", name, _refusal(create_judge, name)
    for name in [*ADDS, *sorted(plugins("experts"))]:
        yield "experts", name, _refusal(_set_up, name)
    for name in ENCODERS:
        yield "encoders", name, _refusal(check_encoder, name)
    for name, extra in _FORMATS.items():
        yield "formats", name, _refusal(_require, extra) if extra else ""
    for name, names in keys.items():
        yield "keys", name, _refusal(credential, *names)


def _refusal(use: Callable[..., object], *given: Any) -> str:
    try:
        use(*given)
    except AudioCapBenchError as error:
        return str(error)
    return ""


def _require(extra: str) -> None:
    require_packages(
        AudioCapBenchError, EXTRAS[extra].brings, extra, *EXTRAS[extra].modules.split()
    )


def _load_provider(point: EntryPoint) -> None:
    provider_of_plugin(point).check_access()


def _set_up(expert: str) -> None:
    for why in set_up([expert]).not_run.values():
        raise AudioCapBenchError(why)


def _check(part: str, name: str, why: str) -> Check:
    if (installs := _INSTALL.search(why)) is not None:
        command = installs[0]
    elif " is not set" in why:
        command = f"export {why.partition(' ')[0]}=…"
    elif "[download=yes]" in why or part == "encoders":
        command = _DOWNLOADS[part].format(name)
    else:
        command = next((own for words, own in _BRINGS.items() if words in why), "")
    return Check(part, name, not why, why, command if why else "")
