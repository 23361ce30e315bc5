"""Single samples as CSV or JSON lines: what was answered, and every score with its reason."""

import json
from collections.abc import Iterable
from pathlib import Path

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Status
from audiocapbench.data.records import DELIMITERS, JSON_LINES
from audiocapbench.errors import MetricError
from audiocapbench.files import csv_text, write_file
from audiocapbench.metrics import find_metric
from audiocapbench.scores.table import RunTable, ScoreTable
from audiocapbench.table import Row

_DETAILS = ("clip", "subtask", "domain", "difficulty")
_REFERENCES, _REFERENCE = "references", "reference"


def write_samples(path: Path, tables: Iterable[ScoreTable]) -> None:
    """Write one row a sample, at full precision, as JSON lines if the name ends so, or else CSV.

    Where samples make corpora, a row also says which, what tells the sample from others, and
    whether its references are null. ``import`` and ``score --predictions`` read it.
    """
    rows = [row for one in tables for row in sample_rows(one)]
    if path.suffix.lower() in JSON_LINES:
        lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
        write_file(path, "".join(f"{line}\n" for line in lines))
        return
    # References stand in columns of their own, as many as any sample has.
    most = max((len(one[_REFERENCES]) for one in rows), default=0)
    columns = [f"{_REFERENCE}_{n + 1}" for n in range(most)]
    found = dict.fromkeys(name for row in rows for name in row) or ["id"]
    names = [one for name in found for one in (columns if name == _REFERENCES else [name])]
    flat = [row | dict(zip(columns, row[_REFERENCES], strict=False)) for row in rows]
    cells = [[row.get(name) for name in names] for row in flat]
    write_file(path, csv_text([names, *cells], DELIMITERS.get(path.suffix.lower(), ",")))


def sample_rows(table: ScoreTable) -> Iterable[Row]:
    """What was answered to each sample, and every score."""
    run = {"run": table.run.id, "model": table.run.model} if isinstance(table, RunTable) else {}
    details = [name for name in _DETAILS if any(name in one.details for one in table.samples)]
    metrics = {scorer: one for scorer, one in table.scores.items() if scorer.judge is None}
    reasons = _reasons(table)
    why = {scorer.name: _explanations(table, scorer.name) for scorer in metrics}
    for sample in table.samples:
        about: Row = {"category": sample.category}
        if table.aggregation is not None:
            about = {"group": sample.category}
            about |= {name: sample.details.get(name) for name in details}
            about["null_reference"] = "yes" if table.aggregation.null(sample) else "no"
        row = {"id": sample.id, **run, **about, **_answer(table, sample)}
        row[_REFERENCES] = list(sample.references)
        row |= {scorer.name: one.values.get(sample.id) for scorer, one in metrics.items()}
        row |= {f"{name}: reasoning": own.get(sample.id) for name, own in why.items() if own}
        for judge, said in reasons.items():
            own = ((scorer, one) for scorer, one in table.scores.items() if scorer.judge == judge)
            row |= {scorer.label: one.values.get(sample.id) for scorer, one in own}
            row[f"{judge}: reasoning"] = said.get(sample.id)
        yield row


def _answer(table: ScoreTable, sample: Sample) -> Row:
    status: Status | None = None
    error: str | None = "it was not asked yet"
    text: str | None = None
    if isinstance(table, RunTable):
        if (outcome := table.outcomes.get(sample.id)) is not None:
            reply = outcome.reply
            status, error, text = reply.status, reply.error, reply.text
    elif (text := table.texts.get(sample.id)) is None:
        status, error = Status.SKIPPED, "there is no prediction for it in the file"
    else:
        status, error = Status.OK if text.strip() else Status.EMPTY, None
    return {"status": status and str(status), "error": error, "prediction": text}


def _explanations(table: ScoreTable, name: str) -> dict[str, str]:
    """Why each answer scores as it does, by sample, where the metric can tell."""
    try:
        metric, parsed = find_metric(name)
    except MetricError:  # it was a plug-in's, and that is gone
        return {}
    answers = {one.id: _answer(table, one)["prediction"] for one in table.samples}
    told = [one for one in table.samples if answers[one.id] is not None and one.references]
    if metric.explain is None or not told:
        return {}
    options = {key: value for key, value in parsed.options.items() if key in metric.options}
    words = metric.explain(
        [answers[one.id] for one in told], [one.references for one in told], **options
    )
    return {one.id: why for one, why in zip(told, words, strict=True)}


def _reasons(table: ScoreTable) -> dict[str, dict[str, str]]:
    """What each judge gave as its reasons, by sample; its rounds one below the other."""
    if not isinstance(table, RunTable):
        return {}
    found: dict[str, dict[str, str]] = {}
    for judge in table.judgements:
        own = found.setdefault(judge, {})
        for one in table.current_judgements(judge):
            words = one.reasoning
            if one.status is not Status.OK:
                words = f"{one.status}: {one.error or 'no reason given'}"
            if words:
                own[one.sample_id] = "\n".join(filter(None, [own.get(one.sample_id), words]))
    return found
