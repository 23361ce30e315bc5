"""A run as a dataset folder that ``datasets`` loads: answers, scores and a card."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from audiocapbench.data.build.hub import hub_library
from audiocapbench.data.problems import os_errors
from audiocapbench.errors import AudioError, ReportError
from audiocapbench.files import encodable, write_file
from audiocapbench.report.runs import sample_rows
from audiocapbench.scores.table import RunTable, estimate_records
from audiocapbench.table import Column, Table
from audiocapbench.table.forms import markdown, markdown_rows, parquet_content
from audiocapbench.version import VERSION

FILES = _ANSWERS, _SCORES, _CARD = "data/test-00000-of-00001.parquet", "scores.parquet", "README.md"
_AT_A_TIME = 50


def write_dataset(table: RunTable, out: Path) -> int:
    """Write a run's clips, answers, scores and a card; returns how many clips are not here."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())) and not (out / _SCORES).is_file():
        raise ReportError(f"{out}: holds something else; choose another folder")
    with os_errors(out, "written"):
        (out / _ANSWERS).parent.mkdir(parents=True, exist_ok=True)
        lost = _write_answers(table, out / _ANSWERS)
    judged = [one for judge in table.judgements for one in table.dimensions(judge)]
    records = estimate_records(table, [*table.scorers, *judged])
    write_file(out / _SCORES, parquet_content(records))
    write_file(out / _CARD, _card(table, records, lost))
    return lost


def _write_answers(table: RunTable, path: Path) -> int:
    """Write a row a sample, some at a time; returns how many have no clip."""
    datasets, pyarrow = hub_library("datasets"), hub_library("pyarrow")
    rows = []
    for sample, row in zip(table.samples, sample_rows(table), strict=True):
        outcome = table.outcomes.get(sample.id)
        spent = ("input_tokens", "output_tokens", "cost_usd")
        more = {name: outcome and getattr(outcome.reply, name) for name in spent}
        asked = {"instruction": sample.instruction, "latency_s": outcome and outcome.latency_s}
        rows.append({"file_name": sample.clip.file_name, **row, **asked, **more})
    names = list(dict.fromkeys(name for row in rows for name in row))
    kinds = {}
    for name in names:
        known = next((row[name] for row in rows if row.get(name) is not None), "")
        text = datasets.Value("string")
        number = datasets.Value("float64") if isinstance(known, int | float) else text
        kinds[name] = [text] if isinstance(known, list) else number
    heard = any(not one.clip.is_absent for one in table.samples)
    features = datasets.Features(({"audio": datasets.Audio()} if heard else {}) | kinds)
    lost = 0
    with hub_library("pyarrow.parquet").ParquetWriter(path, features.arrow_schema) as writer:
        for start in range(0, len(rows), _AT_A_TIME):
            part = []
            for place in range(start, min(start + _AT_A_TIME, len(rows))):
                sample, row = table.samples[place], rows[place]
                sound = None
                with suppress(AudioError):
                    sound = {"bytes": sample.clip.read(), "path": Path(row["file_name"]).name}
                lost += sound is None
                part.append(row | {"audio": sound})
            writer.write_table(pyarrow.Table.from_pylist(part, features.arrow_schema))
    return lost


def _card(table: RunTable, records: Sequence[Any], lost: int) -> str:
    run, title = table.run, f"{table.run.model} on {table.run.benchmark}"
    configs = [
        {"config_name": name, "data_files": [{"split": "test", "path": path}], "default": first}
        for name, path, first in (("answers", _ANSWERS, True), ("scores", _SCORES, False))
        if records or first  # datasets opens no table without rows
    ]
    # JSON is YAML, too, and nothing in a name can break out of it.
    head = {"pretty_name": title, "tags": ["audiocapbench", "audio-captioning"], "configs": configs}
    statuses = Counter(str(one.reply.status) for one in table.outcomes.values())
    made = {
        "Model": run.model,
        "Parameters": json.dumps(dict(run.parameters), sort_keys=True),
        "Benchmark": f"{run.benchmark}, {len(table.samples):,} samples, SHA-256 {run.dataset}",
        "Answers": ", ".join(f"{count:,} {name}" for name, count in statuses.most_common()),
        "Clips not included": f"{lost:,}",
        "Made": f"{run.created_at} by AudioCapBench {run.made_by}, written by {VERSION}",
        "Licence": "that of the benchmark's clips",
    }
    names = ("scorer", "score", "low", "high", "n", "samples", "signature")
    columns = [Column(one, form=".3f" if one in ("score", "low", "high") else "") for one in names]
    whole = Table("", [one for one in records if one["group"] == "all"], columns)
    about = [f"- {name}: {markdown(value)}" for name, value in made.items()]
    text = [f"# {markdown(title)}", "\n".join(about), "\n".join(markdown_rows(whole))]
    front = json.dumps(head, indent=1, ensure_ascii=False)
    return encodable(f"---\n{front}\n---\n\n" + "\n\n".join(text) + "\n")
