"""Runs shown and written: tables of scores, rows of single samples, the published tool's file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks.corpora import without_null
from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Reply, Status
from audiocapbench.data.records import table_text
from audiocapbench.errors import MetricError, ReportError, check_known
from audiocapbench.files import write_file
from audiocapbench.grouping import grouped
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.metrics import find_metric
from audiocapbench.models.registry import PUBLISHED_NAMES
from audiocapbench.scores.compute import ALL, GroupKey, category
from audiocapbench.scores.departures import as_objects, departures
from audiocapbench.scores.estimate import (
    Estimate,
    Scorer,
    default_scorer,
    interval_words,
    metrics_in_order,
    missing_words,
)
from audiocapbench.scores.summary import RunSummary
from audiocapbench.scores.table import RunTable, ScoreTable, TableReader, labels
from audiocapbench.stats.correlation import Coefficient
from audiocapbench.store import Run, Store
from audiocapbench.store.records import Judgement
from audiocapbench.table import Column, Row, Table, shown, signature_notes
from audiocapbench.table.forms import ALWAYS

_JUDGE_DIGITS = 2


def run_tables(
    summaries: Sequence[RunSummary], metrics: Sequence[str], headline: str
) -> list[Table]:
    tables, runs = [], [one.run for one in summaries]
    called = dict(zip((one.id for one in runs), labels(runs), strict=True))
    grouped = len({name for one in summaries for name in one.table.categories}) > 1
    for judge in dict.fromkeys(name for one in summaries for name in one.judges):
        judged, overall = [one for one in summaries if judge in one.judges], Scorer(judge, OVERALL)
        names = dict.fromkeys(name for one in judged for name in one.judges[judge].overall)
        figures = [Scorer(judge, name) for name in names]
        tables.append(_side_by_side(called, judged, figures, overall))
        scored = [one for one in judged if one.judges[judge].overall]
        if grouped and scored:
            tables.append(_by_category(called, scored, overall))
    scorers = [Scorer(name) for name in metrics_in_order(metrics)]
    first = default_scorer(dict.fromkeys(scorers, 1), 1, headline) or Scorer(headline)
    ranked_by = first.name
    if metrics:
        tables.append(_side_by_side(called, summaries, [*map(Scorer, metrics)], first))
        if grouped:
            tables.append(_by_category(called, summaries, first))
        for one in summaries:
            if one.table.aggregation is not None:
                title = f"{called[one.run.id]}: the groups of {one.table.aggregation.total}"
                tables += group_tables(one.table, metrics, [ranked_by], title)
    notes = []
    for one in summaries:
        # How far the judges of a run agree, where there are several.
        if one.panel is not None:
            alpha = Coefficient(*(one.panel[name][OVERALL] for name in ("alpha", "alpha_ci")))
            agreed = "" if alpha.value is None else f", Krippendorff's alpha {alpha}"
            mean = shown(one.panel["figures"][OVERALL]["score"], f".{_JUDGE_DIGITS}f")
            notes.append(f"{called[one.run.id]}: the panel's mean is {mean}{agreed}")
    for one in summaries:
        notes += [f"{called[one.run.id]}: {line}" for line in _failures(one, ranked_by)]
    signatures = [judge.signature for one in summaries for judge in one.judges.values()]
    signatures += [one.table.point(Scorer(name)).signature for name in metrics for one in summaries]
    notes += signature_notes(signatures)
    return [*tables[:-1], *(replace(one, notes=[*one.notes, *notes]) for one in tables[-1:])]


def estimate_table(
    title: str, table: ScoreTable, scorers: Sequence[Scorer], notes: Sequence[str] = ()
) -> Table:
    groups = [name for name in table.categories if len(table.categories) > 1]
    columns = [
        Column("scorer"),
        Column("score", form="{score:.{digits}f}"),
        Column("interval", "95 %", "{low:.{digits}f}–{high:.{digits}f}", folds=True),
        Column("scored", form="{n:,}/{samples:,}"),
        Column("as_zero", form="{as_zero:.{digits}f}", importance=5),
    ]
    rows: list[Row] = []
    for scorer in scorers:
        one = table.estimate(scorer)
        row = {"scorer": scorer.label, "digits": scorer.digits, **one.flat(), "n": one.n}
        parts = {f"in {name}": table.estimate(scorer, category(name)) for name in groups}
        rows.append({**row, "samples": one.coverage.total, **parts})
    if all(row["n"] == row["samples"] for row in rows):
        columns.pop()
    columns += [Column(f"in {name}", name) for name in groups]
    words = interval_words(table.estimate(one) for one in scorers)
    return Table(f"{title}{words}", rows, columns, notes)


def _side_by_side(
    called: Mapping[int, str],
    summaries: Sequence[RunSummary],
    scorers: Sequence[Scorer],
    ranked_by: Scorer,
) -> Table:
    judge = ranked_by.judge
    counts, title = "scored", "Leaderboard" if judge is None else f"Judge {judge}, 0 to 10"
    rows: list[Row] = []
    for one in sorted(summaries, key=lambda one: ranked_by.sort_key(one.table.point(ranked_by))):
        row: Row = dict.fromkeys(("model", counts, *(s.column for s in scorers)))
        row["model"] = called[one.run.id]
        whole = one.table.point(ranked_by)
        row[counts] = f"{whole.n}/{whole.coverage.total}"
        if judge is None or one.judges[judge].overall:
            row |= {scorer.column: one.table.estimate(scorer) for scorer in scorers}
        rows.append(row)
    words = interval_words(row[one.column] for row in rows for one in scorers if row[one.column])
    columns = _columns("model", counts, (one.column for one in scorers), ranked_by.digits)
    columns = [
        replace(one, importance=ALWAYS if one.name == ranked_by.column else 5) for one in columns
    ]
    return Table(f"{title}{words}", rows, columns)


def _columns(key: str, counts: str, names: Iterable[str], digits: int = 3) -> list[Column]:
    estimates = (Column(one, one, f".{digits}f") for one in names)
    return [Column(key), Column(counts, align="right"), *estimates]


def _by_category(
    called: Mapping[int, str], summaries: Sequence[RunSummary], scorer: Scorer
) -> Table:
    counts = {
        name: len(one.table.group(scorer, category(name)).samples)
        for one in summaries
        for name in one.table.categories
    }
    rows: list[Row] = []
    for one in sorted(summaries, key=lambda one: scorer.sort_key(one.table.point(scorer))):
        rows.append({"model": called[one.run.id]} | {f"in {name}": None for name in counts})
        for name in one.table.categories:
            rows[-1][f"in {name}"] = one.table.point(scorer, category(name)).value
    form = f".{scorer.digits}f"
    columns = [Column(f"in {name}", f"{name} ({count})", form) for name, count in counts.items()]
    title = f"{scorer.label} by category (number of clips)"
    return Table(title, rows, [Column("model"), *columns])


def group_tables(
    scores: ScoreTable, metrics: Sequence[str], in_facets: Sequence[str], title: str
) -> list[Table]:
    """What makes up a total: its groups, with what is lacking, and other views of them.

    A group with null references says how many; where most are null, the line below it is the same
    group without them. Two-part places of a facet make a grid of the first metric.
    """
    rows: list[Row] = []
    null_references = scores.null_references(metrics)
    for name in scores.categories:
        samples, null, without = null_references.get(name, (0, 0, {}))
        rows.append(_group(scores, category(name), metrics) | ({"null": null} if null else {}))
        if null > samples / 2:
            left: Row = {"group": "  without null", "scored": f"{samples - null} left"}
            rows.append(left | {one: without.get(without_null(one)) for one in metrics})
    total = scores.aggregation.total if scores.aggregation is not None else ""
    rows.append(_group(scores, ALL, metrics) | {"group": total})
    words = interval_words(row[name] for row in rows for name in metrics if row[name])
    whole = scores.of_metrics(metrics)
    if next(iter(whole.values())).coverage.failed:
        zeros = {name: one.as_zero for name, one in whole.items()}
        rows.append({"group": "  missing as zero"} | zeros)
    notes = []
    for lacks in dict.fromkeys(one.lacks for one in whole.values() if one.lacks):
        names = ", ".join(name for name, one in whole.items() if one.lacks == lacks)
        notes.append(f"No {total} of {names}: there is no score of {', '.join(lacks)}.")
    columns = _columns("group", "scored", metrics)
    columns.insert(2, Column("null"))
    tables = [Table(f"{title}{words}", rows, columns, notes)]
    for facet, keys in scores.facets.items():
        if not all(" " in key.place for key in keys):
            columns = _columns("group", "scored", in_facets)
            columns[0] = Column("group", facet)
            rows = [_group(scores, key, in_facets) for key in keys]
            tables.append(Table(f"by {facet}", rows, columns))
            continue
        places = {key: key.place.partition(" ") for key in keys}
        across = dict.fromkeys(f"in {column}" for _, _, column in places.values())
        grid: dict[str, Row] = {}
        for key, (row, _, column) in places.items():
            value = scores.point(Scorer(in_facets[0]), key).value
            grid.setdefault(row, {"group": row} | across)[f"in {column}"] = value
        columns = [Column("group", facet), *(Column(one, one[3:], ".3f") for one in across)]
        tables.append(Table(f"{in_facets[0]} by {facet}", list(grid.values()), columns))
    return tables


def _group(scores: ScoreTable, key: GroupKey, metrics: Sequence[str]) -> Row:
    estimates = scores.of_metrics(metrics, key)
    first = next(iter(estimates.values()))
    return {"group": key.place, "scored": f"{first.n}/{first.coverage.total}"} | estimates


def _failures(one: RunSummary, metric: str) -> list[str]:
    lines, coverage = [], one.table.coverage
    if coverage.failed and metric in one.metrics:
        estimate = one.table.point(Scorer(metric))
        why = missing_words(one.table.unanswered)
        missing = f"{coverage.failed} of {coverage.total} clips have no answer ({why})"
        lines.append(f"{missing}{'.' if estimate.lacks else _bounds(metric, estimate, 3)}")
    for name, judge in one.judges.items():
        if judge.judged < judge.total and OVERALL in judge.overall:
            estimate = judge.overall[OVERALL]
            missing = f"{judge.total - judge.judged} of {judge.total} have no verdict of {name}"
            missing += f" ({missing_words(estimate.missing)})"
            lines.append(missing + _bounds(OVERALL, estimate, _JUDGE_DIGITS))
        if judge.failure is not None:
            lines.append(judge.failure)
    return lines


def _bounds(name: str, estimate: Estimate, digits: int) -> str:
    if estimate.value is None or estimate.as_zero is None or estimate.bounds is None:
        return "; there is nothing to score."
    left_out, zero, low, high = (
        f"{value:.{digits}f}" for value in (estimate.value, estimate.as_zero, *estimate.bounds)
    )
    if zero == low == high == left_out:  # nobody was asked for them
        return f". {name}: {left_out} without them."
    return f". {name}: {left_out} without them, {zero} as zero, {low}–{high} at worst and best."


_DETAILS = ("clip", "subtask", "domain", "difficulty")


def write_samples(path: Path, tables: Iterable[ScoreTable]) -> None:
    """Write one row a sample, at full precision, as JSON lines if the name ends so, or else CSV.

    Where samples make corpora, a row also says which, what tells the sample from others, and
    whether its references are null. ``import`` and ``score --predictions`` read it.
    """
    rows = [row for one in tables for row in sample_rows(one)]
    write_file(path, table_text(rows, path.suffix.lower(), ["id"]))


def sample_rows(table: ScoreTable) -> Iterable[Row]:
    run: Row = {}
    reasons: dict[str, dict[str, str]] = {}
    if isinstance(table, RunTable):
        run = {"run": table.run.id, "model": table.run.model}
        reasons = {judge: judge_words(table, judge) for judge in table.judgements}
    details = [name for name in _DETAILS if any(name in one.details for one in table.samples)]
    metrics = {scorer: one for scorer, one in table.scores.items() if scorer.judge is None}
    why = {scorer.name: _explanations(table, scorer.name) for scorer in metrics}
    for sample in table.samples:
        about: Row = {"category": sample.category}
        if table.aggregation is not None:
            about = {"group": sample.category}
            about |= {name: sample.details.get(name) for name in details}
            about["null_reference"] = "yes" if table.aggregation.null(sample) else "no"
        row = {"id": sample.id, **run, **about, **_answer(table, sample)}
        row["references"] = list(sample.references)
        row |= {scorer.name: one.values.get(sample.id) for scorer, one in metrics.items()}
        row |= {f"{name}: reasoning": own.get(sample.id) for name, own in why.items() if own}
        for judge, said in reasons.items():
            own = ((scorer, one) for scorer, one in table.scores.items() if scorer.judge == judge)
            row |= {scorer.label: one.values.get(sample.id) for scorer, one in own}
            row[f"{judge}: reasoning"] = said.get(sample.id) or None
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


def judge_words(table: RunTable, judge: str) -> dict[str, str]:
    said = grouped((one.sample_id, one) for one in table.current_judgements(judge))
    return {key: words_of(rounds) for key, rounds in said.items()}


def words_of(rounds: Sequence[Judgement]) -> str:
    lines = []
    for one in rounds:
        words = f"{one.status}: {one.error}" if one.error else str(one.status)
        words = (one.reasoning or "") if one.status is Status.OK else words
        lines.append(f"Round {one.repeat + 1}: {words}" if len(rounds) > 1 else words)
    return "\n".join(lines)


def export_result(
    store: Store, run: Run, metrics: Sequence[str] | None = None, judge: str | None = None
) -> dict[str, Any]:
    """Any run as the published tool's result; an imported one as the file that it came from."""
    if run.kind == "imported" and run.source and metrics is None and judge is None:
        outcomes = store.outcomes(run.id)
        raw = [outcomes[key].reply.raw for key in run.sample_ids if key in outcomes]
        return {**run.source, "results": [json.loads(one) for one in raw if one is not None]}
    table = TableReader(store).read(run)
    judges = list(table.judgements) if judge is None else [judge]
    if len(judges) > 1:
        several = f"there are {', '.join(judges)}"
        raise ReportError(f"a result has one judge; choose it with `judge`: {several}")
    for name in judges:
        check_known(f"judge of run {run.id}", name, table.judgements, ReportError)
    known = [one.name for one in table.scorers if one.dimension is None]
    for name in metrics or ():
        check_known(f"metric of run {run.id}", name, known, ReportError)
    summary = RunSummary(table, tuple(known if metrics is None else metrics), tuple(judges))
    provider, slash, model_id = run.model.partition("/")
    names = {"provider": "", "model_id": run.model}
    if slash:
        names = {"provider": PUBLISHED_NAMES.get(provider, provider), "model_id": model_id}
    source = run.source or {}
    names |= {name: str(source[name]) for name in names if name in source}
    return published_result(store, summary, **names)


def published_result(
    store: Store, summary: RunSummary, *, provider: str, model_id: str
) -> dict[str, Any]:
    """One run as the published tool writes it, with what it leaves out: signatures and statuses."""
    run, table, coverage = summary.run, summary.table, summary.table.coverage
    scores = _scores(summary, ALL)
    signatures = {
        name: str(table.signature(Scorer(name))) for name in summary.metrics if name in scores
    }
    judge = next(iter(summary.judges), None)
    if judge is not None:
        signatures["llm"] = str(summary.judges[judge].signature)
    samples = {one.id: one for one in table.samples}
    # Of several rounds the published tool would have kept the last.
    said = {one.sample_id: one for one in table.judgements.get(judge or "", ())}
    return {
        "provider": provider,
        "model_id": model_id,
        "total_samples": coverage.total,
        "successful": coverage.replied,
        "failed": coverage.failed,
        "missing_clips": len(table.missing),
        "corpus_scores": scores,
        "per_category_scores": {one: _scores(summary, category(one)) for one in table.categories},
        "benchmark": run.benchmark,
        "judge": judge,
        "protocol": run.parameters.get("protocol", "ours") if run.kind == "asked" else None,
        "departures": as_objects(departures(store, {"": table}, judge).get("")),
        "signatures": signatures,
        "store": store.name,
        "run": run.id,
        "results": [_result(summary, samples[key], said.get(key)) for key in run.sample_ids],
    }


def _scores(summary: RunSummary, key: GroupKey) -> dict[str, float]:
    """Means over what was answered, as published; nothing where there is nothing to average."""
    scorers = {name: Scorer(name) for name in summary.metrics}
    for judge in summary.judges.values():
        scorers |= {f"llm_{name}": Scorer(judge.judge, name) for name in judge.overall}
    values = {name: summary.table.point(one, key).value for name, one in scorers.items()}
    return {name: value for name, value in values.items() if value is not None}


def _result(summary: RunSummary, sample: Sample, judgement: Judgement | None) -> dict[str, Any]:
    """One sample; as published, ``error`` stands only where there is no answer."""
    outcome = summary.table.outcomes.get(sample.id)
    reply = outcome.reply if outcome else Reply("", Status.SKIPPED, "it was not asked yet")
    success = reply.status in SCORED
    result: dict[str, Any] = {
        "id": sample.id,
        "category": sample.category,
        "audio_file": sample.clip.file_name,
        "instruction": sample.instruction,
        "prediction": reply.text if success else "",
        "reference_captions": list(sample.references),
        "inference_time": outcome.latency_s if outcome else 0.0,
        "success": success,
        "status": str(reply.status),
    }
    if "transcript" in sample.details:
        result["transcript"] = sample.details["transcript"]
    if not success:
        return result | {"error": reply.error or f"the answer is {reply.status}"}
    columns = {name: summary.table.sample_scores(Scorer(name)).values for name in summary.metrics}
    result["metrics"] = {
        name: values[sample.id] for name, values in columns.items() if sample.id in values
    }
    if judgement is None:
        return result
    if judgement.overall is None:
        error = judgement.error or f"the judgement is {judgement.status}"
        return result | {"llm_judge_error": error}
    words = {"overall": judgement.overall, "reasoning": judgement.reasoning}
    return result | {"llm_judge": {**judgement.scores, **words}}
