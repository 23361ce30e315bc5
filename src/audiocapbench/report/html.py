"""The report page: one self-contained file that makes no request and runs no script."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Status
from audiocapbench.errors import ReportError
from audiocapbench.report.chart import interval_chart
from audiocapbench.report.failures import failure_lines
from audiocapbench.report.summary import RunSummary
from audiocapbench.report.tables import (
    answered,
    judge_interval,
    judge_shown,
    ranked,
    shown,
    shown_interval,
)
from audiocapbench.report.waveform import HEIGHT, WIDTH, waveform_path
from audiocapbench.stats import FEWEST_FOR_INTERVAL, ROUNDS, SEED
from audiocapbench.store import Store
from audiocapbench.version import VERSION

_MEDIA_TYPES = {
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".mp3": "audio/mpeg",
}


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """What one judge made of one caption."""

    judge: str
    scores: Mapping[str, float]
    words: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One model's caption of one clip."""

    model: str
    text: str
    status: str
    error: str
    withheld: int | None
    scores: dict[str, float]
    verdicts: tuple[JudgeVerdict, ...]

    @property
    def ok(self) -> bool:
        """Whether there is a caption to show."""
        return self.status == Status.OK


@dataclass(frozen=True, slots=True)
class Card:
    """All that is shown of one clip."""

    sample: Sample
    audio: str
    waveform: str
    answers: tuple[Answer, ...]


def write_report(
    store: Store,
    summaries: Sequence[RunSummary],
    metrics: Sequence[str],
    headline: str,
    path: Path,
    *,
    title: str,
) -> None:
    """Write runs of one dataset as a page with tables, a chart, and every clip with its audio.

    Raises:
        AudioError: A clip cannot be decoded.
        ReportError: The page cannot be written.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("audiocapbench.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    best_first = ranked(summaries, headline)
    cards = _cards(store, best_first, metrics)
    page = environment.get_template("report.html").render(
        title=title,
        version=VERSION,
        summaries=best_first,
        metrics=metrics,
        headline=headline,
        chart=interval_chart(best_first, headline),
        cards=cards,
        categories=list(dict.fromkeys(card.sample.category for card in cards)),
        wave={"width": WIDTH, "height": HEIGHT},
        rounds=ROUNDS,
        seed=SEED,
        fewest=FEWEST_FOR_INTERVAL,
        shown=shown,
        shown_interval=shown_interval,
        answered=answered,
        judges=list(dict.fromkeys(name for one in summaries for name in one.judges)),
        judge_shown=judge_shown,
        judge_interval=judge_interval,
        warnings=_warnings(store, summaries),
        failures=failure_lines(best_first, headline),
    )
    partial = Path(f"{path}.part")
    try:
        partial.write_text(page, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ReportError(f"{path}: cannot be written ({error.strerror})") from None


def _cards(store: Store, summaries: Sequence[RunSummary], metrics: Sequence[str]) -> list[Card]:
    outcomes = {one.run.id: store.outcomes(one.run.id) for one in summaries}
    scores = {one.run.id: _by_sample(store, one, metrics) for one in summaries}
    verdicts = {one.run.id: _verdicts(store, one) for one in summaries}
    asked = {key for one in summaries for key in one.run.sample_ids}
    cards = []
    for sample in store.dataset(summaries[0].run.dataset).samples:
        if sample.id not in asked:
            continue
        answers = []
        for one in summaries:
            outcome = outcomes[one.run.id].get(sample.id)
            if outcome is None:
                continue
            reply = outcome.reply
            answers.append(
                Answer(
                    one.run.model,
                    reply.text,
                    str(reply.status),
                    reply.error or "",
                    reply.withheld,
                    scores[one.run.id].get(sample.id, {}),
                    tuple(verdicts[one.run.id].get(sample.id, [])),
                )
            )
        cards.append(
            Card(sample, _data_uri(sample), waveform_path(sample.clip.path), tuple(answers))
        )
    return cards


def _warnings(store: Store, summaries: Sequence[RunSummary]) -> list[str]:
    """What checks of the judges found wanting."""
    checks = [store.judge_check(name) for one in summaries for name in one.judges]
    found = [check["warning"] for check in checks if check and check.get("warning")]
    return list(dict.fromkeys(found))


def _by_sample(
    store: Store, summary: RunSummary, metrics: Sequence[str]
) -> dict[str, dict[str, float]]:
    stored = store.scores(summary.run.id)
    by_sample: dict[str, dict[str, float]] = {}
    for metric in metrics:
        for score in stored.get(metric, []):
            by_sample.setdefault(score.sample_id, {})[metric] = score.value
    return by_sample


def _verdicts(store: Store, summary: RunSummary) -> dict[str, list[JudgeVerdict]]:
    by_sample: dict[str, list[JudgeVerdict]] = {}
    for judge in summary.judges:
        for one in store.judgements(summary.run.id, judge):
            if one.repeat == 0:
                words = one.reasoning or one.error or str(one.status)
                verdict = JudgeVerdict(judge, one.scores, words)
                by_sample.setdefault(one.sample_id, []).append(verdict)
    return by_sample


def _data_uri(sample: Sample) -> str:
    kind = _MEDIA_TYPES.get(sample.clip.path.suffix.lower(), "application/octet-stream")
    content = base64.b64encode(sample.clip.path.read_bytes()).decode("ascii")
    return f"data:{kind};base64,{content}"
