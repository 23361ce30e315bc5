"""inspect_ai's logs as files of results, which are imported as any other."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from audiocapbench.benchmarks import Benchmark, open_benchmark
from audiocapbench.credentials import short
from audiocapbench.data.outcome import SCORED, Status
from audiocapbench.data.problems import os_errors
from audiocapbench.errors import AudioCapBenchError, DatasetError
from audiocapbench.files import write_file
from audiocapbench.plugins import require_packages

ABOUT, PLACE = "audiocapbench", ("benchmark", "data")
"""Under what the metadata of a task says which benchmark it is, and where."""

_STATUSES = {
    "content_filter": Status.FILTERED,
    **dict.fromkeys(("max_tokens", "model_length"), Status.TRUNCATED),
}
_HEAD = re.compile(rb'\s*\{\s*"version":\s*\d+,\s*"status":')
_ASKED = ("category", "instruction")
_HEAVY = {"attachments", "events", "messages", "store"}


@contextmanager
def as_results(files: Sequence[str]) -> Iterator[tuple[list[str], Benchmark | None]]:
    """Files of predictions; a log of inspect_ai as a result JSON, and its benchmark if here."""
    log = Path(files[0] if len(files) == 1 else "")
    is_log = log.suffix.lower() == ".eval"
    if log.suffix.lower() == ".json" and log.is_file():
        with os_errors(log, "read"), log.open("rb") as stream:
            is_log = _HEAD.match(stream.read(200)) is not None
    if not is_log:
        yield list(files), None
        return
    head, samples = _read(log)
    own = _benchmark(head)
    # Of what inspect did not come to a log has the id alone.
    chosen = [] if own is None else map(str, head.dataset.sample_ids or ())
    results = [
        _result(key, samples.get(key), head.model) for key in dict.fromkeys([*chosen, *samples])
    ]
    epochs = head.config.epochs or 1
    note = f"of {epochs} epochs the first was taken" if epochs > 1 else ""
    document = {"model_id": head.model, "task": head.task, "note": note, "results": results}
    with TemporaryDirectory() as place:
        path = Path(place) / f"{log.stem}.json"
        write_file(path, json.dumps(document, ensure_ascii=False))
        try:
            yield [str(path)], own
        except DatasetError as error:
            said = (str(one).replace(str(path), str(log)) for one in error.args)
            raise DatasetError(*(one.replace(path.name, log.name) for one in said)) from None


def status_of(output: Any) -> Status:
    said = Status.OK if output.completion.strip() else Status.EMPTY
    return _STATUSES.get(str(output.stop_reason), said) if output.choices else Status.FAILED


def _read(path: Path) -> tuple[Any, dict[str, Any]]:
    """What a log says of the whole, and the first epoch of each sample by id."""
    require_packages(DatasetError, f"{path}: a log of inspect_ai", "inspect", "inspect_ai")
    from inspect_ai.log import read_eval_log, read_eval_log_samples

    try:
        head = read_eval_log(str(path), header_only=True).eval
        if head.dataset.sample_ids is None:  # samples can only be read by these, or all at once
            every = read_eval_log(str(path)).samples or []
        else:
            every = list(read_eval_log_samples(str(path), False, exclude_fields=_HEAVY))
    except Exception as error:  # a damaged log can fail in any way
        raise DatasetError(f"{path}: inspect_ai cannot read it ({error!s:.200})") from None
    if not every:
        raise DatasetError(f"{path}: has no samples")
    return head, {str(one.id): one for one in sorted(every, key=lambda one: -one.epoch)}


def _benchmark(head: Any) -> Benchmark | None:
    known = (head.metadata or {}).get(ABOUT)
    name, data = map(known.get, PLACE) if isinstance(known, dict) else (None, None)
    # What a log names is opened, but nothing is downloaded because a log says so.
    with suppress(AudioCapBenchError):
        if known is not None and name and "[" not in str(name):
            made = open_benchmark(str(name), Path(str(data)) if data else None)
            return made if made.fingerprint == known.get("fingerprint") else None
    return None


def _result(key: str, one: Any, model: str) -> dict[str, Any]:
    """What the log has of a sample; nothing where inspect did not come to it."""
    if one is None:
        return {"id": key, "status": "skipped", "error": "inspect did not come to it"}
    status, output = status_of(one.output), one.output
    error = None if status in SCORED else output.error or f"inspect says that it is {status}"
    if one.error is not None:
        status, error = Status.FAILED, one.error.message
    result = {
        "id": key,
        **{name: text for name, text in one.metadata.items() if name in _ASKED},
        "reference_captions": one.target if isinstance(one.target, list) else [one.target],
        "prediction": output.completion,
        "status": str(status),
        "error": error and short(str(error)),
        "inference_time": output.time or one.working_time or 0.0,
    }
    spent = one.model_usage.get(model) or output.usage
    if spent is not None:
        cached = (spent.input_tokens_cache_read or 0) + (spent.input_tokens_cache_write or 0)
        result |= {"input_tokens": spent.input_tokens + cached, "cost_usd": spent.total_cost}
        result["output_tokens"] = spent.output_tokens
    return result
