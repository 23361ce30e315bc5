"""inspect_ai's logs as runs: its answers, failures, tokens, costs and times."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench import audio
from audiocapbench.benchmarks import Benchmark, open_benchmark
from audiocapbench.benchmarks.reference_files import FILE, subject
from audiocapbench.credentials import short
from audiocapbench.data import UNCATEGORISED, Clip, Sample
from audiocapbench.data.outcome import SCORED, Outcome, Reply, Status
from audiocapbench.data.problems import os_errors
from audiocapbench.data.records import check_storable
from audiocapbench.data.tables import PredictionFailure, Predictions
from audiocapbench.engine.importing import PredictionSet, model_name, read_files
from audiocapbench.errors import AudioCapBenchError, DatasetError

ABOUT = "audiocapbench"
"""Under what the metadata of a task says which benchmark it is."""

_STATUSES = {
    "content_filter": Status.FILTERED,
    **dict.fromkeys(("max_tokens", "model_length"), Status.TRUNCATED),
}
_HEAD = re.compile(rb'\s*\{\s*"version":\s*\d+,\s*"status":')
_HEAVY = {"attachments", "events", "messages", "store"}


class Import(NamedTuple):
    """Predictions that were made elsewhere, what they are about, and whose they are."""

    benchmark: Benchmark
    given: PredictionSet
    model: str


def read_imports(
    files: Sequence[str],
    benchmark: str | Benchmark | None = None,
    data: Path | None = None,
    references: Path | None = None,
    model: str | None = None,
    *,
    follow_links: bool = False,
) -> Import:
    """Read files of predictions, or a log of inspect_ai, which brings what it is about.

    Raises:
        AudioCapBenchError: A file cannot be read, or nothing in it is about the samples.
    """
    log = _Log(Path(files[0])) if len(files) == 1 and _is_log(Path(files[0])) else None
    if isinstance(benchmark, Benchmark):
        about = benchmark
    elif log is None or benchmark is not None or references is not None:
        about = subject(files, benchmark, data, references, follow_links=follow_links)
    else:
        about = log.benchmark()
    given = read_files(files, about, model) if log is None else log.predictions(about)
    said = model if log is None else model or log.model
    return Import(about, given, model_name(said, given.predictions))


def status_of(output: Any) -> Status:
    """How a question ended that inspect has an output of."""
    said = Status.OK if output.completion.strip() else Status.EMPTY
    return _STATUSES.get(str(output.stop_reason), said) if output.choices else Status.FAILED


def _is_log(path: Path) -> bool:
    if path.suffix.lower() != ".json" or not path.is_file():
        return path.suffix.lower() == ".eval"
    with os_errors(path, "read"), path.open("rb") as stream:
        return _HEAD.match(stream.read(200)) is not None


class _Log:
    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            from inspect_ai.log import read_eval_log, read_eval_log_samples
        except ImportError:
            words = "is a log of inspect_ai, which needs: pip install 'audiocapbench[inspect]'"
            raise DatasetError(f"{path}: {words}") from None
        try:
            head = read_eval_log(str(path), header_only=True).eval
            every = list(read_eval_log_samples(str(path), False, exclude_fields=_HEAVY))
        except Exception as error:  # a damaged log can fail in any way
            raise DatasetError(f"{path}: inspect_ai cannot read it ({error!s:.200})") from None
        self.model: str = head.model
        self._head = head
        self._samples = {str(one.id): one for one in sorted(every, key=lambda one: -one.epoch)}
        self._epochs = max((one.epoch for one in every), default=1)
        if not every:
            raise DatasetError(f"{path}: has no samples")

    def benchmark(self) -> Benchmark:
        """The benchmark of a task of ours, if it is here as it was; else the targets alone."""
        known = (self._head.metadata or {}).get(ABOUT)
        # What a log names is opened, but nothing is downloaded because a log says so.
        if isinstance(known, dict) and "[" not in str(known.get("benchmark")):
            data = known.get("data")
            try:
                made = open_benchmark(str(known.get("benchmark")), Path(data) if data else None)
            except AudioCapBenchError:
                made = None
            if made is not None and made.fingerprint == known.get("fingerprint"):
                return made
        samples = [self._sample(*one) for one in enumerate(self._samples.values())]
        return Benchmark(f"{FILE}{self._head.task.replace('/', '-')}", self._path.parent, samples)

    def _sample(self, position: int, one: Any) -> Sample:
        key, given = str(one.id), one.target if isinstance(one.target, list) else [one.target]
        about = {name: value for name, value in one.metadata.items() if isinstance(value, str)}
        category, asked = about.pop("category", UNCATEGORISED), about.pop("instruction", "")
        try:
            check_storable([key, given, category, asked, about])
            if not given or not all(text.strip() for text in given):
                raise ValueError("has no target; say what it is about: --benchmark or --references")
        except ValueError as error:
            raise DatasetError(f"{self._path}: sample {key!r:.80} {error}") from None
        return Sample(key, Clip.absent(key), asked, tuple(given), category, position, about)

    def predictions(self, about: Benchmark) -> PredictionSet:
        """What was answered, under the ids of a benchmark."""
        chosen = [str(one) for one in self._head.dataset.sample_ids or self._samples]
        outcomes = {key: self._outcome(key) for key in dict.fromkeys([*chosen, *self._samples])}
        known = {one.id for one in about.samples}
        if known.isdisjoint(outcomes):
            example = f"the log has ids such as {chosen[0]!r:.80}"
            raise DatasetError(
                f"{self._path}: none of its samples is one of {about.name}; {example}"
            )
        found = Predictions(fields={key: {} for key in outcomes})
        for key, one in outcomes.items():
            if one.reply.status in SCORED:
                found.texts[key] = one.reply.text
            else:
                found.failures[key] = PredictionFailure(one.reply.status, one.reply.error or "")
        several = f"of {self._epochs} epochs the first was taken" if self._epochs > 1 else ""
        surplus = tuple(key for key in outcomes if key not in known)
        return PredictionSet(found, audio.sha256(self._path), several, surplus, outcomes)

    def _outcome(self, key: str) -> Outcome:
        one = self._samples.get(key)
        if one is None:
            reply = Reply("", Status.SKIPPED, "inspect did not come to it")
            return Outcome(key, reply, None, 0.0, 0.0, attempts=0)
        status, output = status_of(one.output), one.output
        ended = f"inspect says {output.stop_reason}" if output.choices else "there is no output"
        error = None if status in SCORED else output.error or ended
        if one.error is not None:
            status, error = Status.FAILED, one.error.message
        kept = output.completion if status in (Status.OK, Status.TRUNCATED) else ""
        spent = one.model_usage.get(self.model) or output.usage
        reply = Reply(kept, status, None if error is None else short(str(error)))
        if spent is not None:
            cached = (spent.input_tokens_cache_read or 0) + (spent.input_tokens_cache_write or 0)
            tokens = {"input_tokens": spent.input_tokens + cached, "cost_usd": spent.total_cost}
            reply = replace(reply, output_tokens=spent.output_tokens, **tokens)
        return Outcome(key, reply, None, 0.0, output.time or one.working_time or 0.0)
