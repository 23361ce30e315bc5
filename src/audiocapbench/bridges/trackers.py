"""Trackers: wandb, mlflow and TensorBoard get what ``--json`` prints, and some answers with audio.

No prompt, no key and no store's address. A failure to log is said, and takes no result away.
"""

import json
import logging
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from time import time
from typing import Any, NamedTuple

from audiocapbench.audio import decode, wav
from audiocapbench.credentials import redacted
from audiocapbench.data import Sample
from audiocapbench.errors import AudioCapBenchError, AudioError, did_you_mean
from audiocapbench.files import digest, write_file
from audiocapbench.plugins import require_packages
from audiocapbench.report.runs import sample_rows
from audiocapbench.scores.table import RunTable, ScoreTable

MOST_ANSWERS, MOST_CLIPS, MOST_BYTES = 1_000, 40, 40_000_000
_PROJECT = "audiocapbench"
_ENDS = {"ci": ("ci_low", "ci_high"), "bounds": ("worst", "best")}


class RunLog(NamedTuple):
    """A run as it is logged, under the same ``id`` each time; ``limits`` says what was left out."""

    id: str
    name: str
    config: dict[str, str]
    numbers: dict[str, float]
    columns: list[str]
    answers: list[tuple[list[Any], Path | None]]
    limits: str


def check_trackers(names: Sequence[str]) -> None:
    """Refuse trackers that are unknown or not installed, before anybody is asked."""
    for name in names:
        kind, equals, place = name.partition("=")
        if kind not in _TRACKERS or (equals and not place):
            near = did_you_mean(kind, _TRACKERS, "there are")
            raise AudioCapBenchError(f"there is no tracker {name!r}{near}")
        require_packages(AudioCapBenchError, "--track", kind, kind)


def track(
    names: Sequence[str], results: Sequence[tuple[Mapping[str, Any], ScoreTable]]
) -> Iterator[str]:
    """Log results with every tracker named, and say where they are, or why they are not."""
    logs: list[RunLog] = []
    for name in names:
        kind, _, place = name.partition("=")
        try:
            logs = logs or [run_log(*one) for one in results]
            with _quiet():
                where = [f"{_TRACKERS[kind](one, place)}{one.limits}" for one in logs]
            yield f"Logged with {kind}: {', '.join(where)}."
        except Exception as error:
            words = redacted(" ".join(str(error).split()))[:300] or type(error).__name__
            yield f"Warning: {kind} has not got all of this ({words}). The results stand."


def run_log(document: Mapping[str, Any], table: ScoreTable) -> RunLog:
    """What there is to say of a run, or of texts that were scored without one."""
    found: dict[str, Any] = {}
    for name, value in _leaves(document):
        # Two may be written alike once they are written plainly.
        alike = sum(one.rstrip("_") == name.rstrip("_") for one in found) if name in found else 0
        found[name + "_" * alike] = value
    numbers = {name: one for name, one in found.items() if not isinstance(one, str)}
    config = {name: redacted(one) for name, one in found.items() if isinstance(one, str)}
    key: Any = [table.texts, [(one.id, one.references) for one in table.samples]]
    if isinstance(table, RunTable):
        run = table.run
        key = [run.id, run.created_at, run.dataset, run.model]
        settings = {name: one for name, one in run.parameters.items() if name != "system"}
        config |= {"dataset": run.dataset, "settings": redacted(json.dumps(settings))}
    rows, clips = list(sample_rows(table)), _clips(table)
    shown = f"{min(len(rows), MOST_ANSWERS):,} of {len(rows):,} answers"
    return RunLog(
        digest(json.dumps(key, sort_keys=True))[:16],
        " on ".join(config[one] for one in ("model", "benchmark") if one in config),
        config,
        numbers,
        list(rows[0]),
        [(list(map(_cell, one.values())), clips.get(one["id"])) for one in rows[:MOST_ANSWERS]],
        f" ({shown}, {len(clips)} with audio)" if len(clips) < len(rows) else "",
    )


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers and texts of a document under names that every tracker takes."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key in _ENDS:
                ends = zip(_ENDS[key], one or (), strict=False)
                yield from ((f"{name}/{end}", number) for end, number in ends)
            else:
                part = re.sub(r"[^\w.-]+", "_", str(key)).strip("_.")
                yield from _leaves(one, f"{name}/{part}" if name else part)
    elif isinstance(value, int | float) or (isinstance(value, str) and name[:3] != "by_"):
        yield name, value


def _cell(value: Any) -> Any:
    text = "\n".join(value) if isinstance(value, list) else value
    return redacted(text) if isinstance(text, str) else text


def _clips(table: ScoreTable) -> dict[str, Path]:
    """The first clips that are still where they were, up to a number and a size."""
    found: dict[str, Path] = {}
    left = MOST_BYTES
    for sample in table.samples[:MOST_ANSWERS]:
        path = sample.clip.path if isinstance(sample, Sample) else None
        if path is None or not path.is_file() or len(found) == MOST_CLIPS:
            continue
        if (size := path.stat().st_size) <= left:
            with suppress(AudioError):
                sample.clip.check()
                found[sample.id], left = path, left - size
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what the packages log off the terminal, telemetry at home, and waiting short."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "3")
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _wandb(log: RunLog, project: str) -> str:
    import wandb

    # Neither what the terminal shows nor the command line, the machine and the code, where secrets
    # may stand; and an end, should the network be down.
    off = ("disable_git", "x_disable_meta", "x_disable_machine_info", "x_disable_stats")
    how: dict[str, Any] = {**dict.fromkeys(off, True), "silent": True, "console": "off"}
    how |= {"save_code": False, "x_save_requirements": False, "finish_timeout_raises": True}
    settings = wandb.Settings(init_timeout=30, finish_timeout=300, **how)
    mode = wandb.setup().settings
    online = not mode._offline
    if mode._noop:
        raise AudioCapBenchError("it is disabled by WANDB_MODE")
    if online and not wandb.login(prompt=False, verify=False):
        raise AudioCapBenchError("there is no login; run 'wandb login', or set WANDB_MODE=offline")
    with wandb.init(
        project=project or os.environ.get("WANDB_PROJECT") or _PROJECT,
        id=log.id,
        resume="allow",
        allow_val_change=True,
        name=log.name,
        config=log.config,
        settings=settings,
    ) as run:
        answers = wandb.Table(columns=[*log.columns, "audio"], allow_mixed_types=True)
        for row, path in log.answers:
            answers.add_data(*row, path and wandb.Audio(str(path)))
        run.log({**log.numbers, "answers": answers})
        return str(run.url if online else Path(run.dir).parent)


def _mlflow(log: RunLog, experiment: str) -> str:
    import mlflow
    from mlflow.entities import Metric, Param

    client = mlflow.MlflowClient()
    name = experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME") or _PROJECT
    found = client.get_experiment_by_name(name)
    place = found.experiment_id if found is not None else client.create_experiment(name)
    tag = f"{_PROJECT}.id"
    known = client.search_runs([place], f"tags.`{tag}` = '{log.id}'", max_results=1)
    run = known[0] if known else client.create_run(place, run_name=log.name, tags={tag: log.id})
    key = run.info.run_id
    # What was said of a run cannot be said otherwise later; config.json always has it as it is.
    new = [(one, text[:6_000]) for one, text in log.config.items() if one not in run.data.params]
    client.log_batch(key, params=[Param(*one) for one in new[:100]])
    numbers = [Metric(one, value, int(time() * 1000), 0) for one, value in log.numbers.items()]
    for start in range(0, len(numbers), 500):
        client.log_batch(key, metrics=numbers[start : start + 500])
    client.log_dict(key, log.config, "config.json")
    # As log_table writes it, which would add the rows to those of the last time.
    table: dict[str, list[Any]] = {"columns": [*log.columns, "audio"], "data": []}
    for number, (row, path) in enumerate(log.answers):
        table["data"].append([*row, path and f"audio/{number}/{path.name}"])
        if path is not None:
            client.log_artifact(key, str(path), f"audio/{number}")
    client.log_dict(key, table, "answers.json")
    listed = json.dumps([{"path": "answers.json", "type": "table"}])
    client.set_tag(key, "mlflow.loggedArtifacts", listed)
    client.set_terminated(key)
    return f"run {key} of experiment {name}"


def _tensorboard(log: RunLog, folder: str) -> str:
    import numpy as np
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.text.metadata import create_summary_metadata
    from tensorboard.summary.writer.record_writer import RecordWriter
    from tensorboard.util.tensor_util import make_tensor_proto

    place = Path(folder or "runs") / "-".join([*re.findall(r"[\w.-]+", log.name), log.id])
    old = list(place.glob("events.out.tfevents.*"))
    events = BytesIO()  # whole, and without a thread that fails by itself
    writer = RecordWriter(events)
    writer.write(Event(wall_time=time(), file_version="brain.Event:2").SerializeToString())

    def write(tag: str, **value: Any) -> None:
        summary = Summary(value=[Summary.Value(tag=tag, **value)])
        writer.write(Event(wall_time=time(), step=0, summary=summary).SerializeToString())

    for tag, number in log.numbers.items():
        write(tag, simple_value=number)
    rows: list[Sequence[Any]] = [log.columns, *(row for row, _ in log.answers)]
    settings: list[Sequence[Any]] = list(log.config.items())
    for tag, cells in (("config", settings), ("answers", rows)):
        texts = [["" if one is None else str(one) for one in row] for row in cells]
        tensor = make_tensor_proto(np.array(texts, dtype=object))
        write(tag, tensor=tensor, metadata=create_summary_metadata(tag, ""))
    for row, path in log.answers:
        with suppress(AudioCapBenchError):  # what cannot be decoded, nobody could play
            if path is None:
                continue
            sound = decode(path, mono=True, rate=16_000).first(30.0)
            about = {"length_frames": len(sound.samples), "content_type": "audio/wav"}
            about |= {"sample_rate": sound.rate, "num_channels": 1}
            audio = Summary.Audio(encoded_audio_string=wav(sound), **about)
            write(f"audio/{row[0]}", audio=audio)
    place.mkdir(parents=True, exist_ok=True)
    write_file(place / f"events.out.tfevents.{time():.6f}", events.getvalue())
    for one in old:
        one.unlink()
    return str(place)


_TRACKERS = {one.__name__[1:]: one for one in (_wandb, _mlflow, _tensorboard)}
