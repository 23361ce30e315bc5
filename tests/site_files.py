"""Submissions of four models: with authors, with claims of a judge alone, and a control."""

import json
from pathlib import Path
from typing import Any

from audiocapbench.engine import score_run
from audiocapbench.report.site.submission import make_submissions
from audiocapbench.store import Store
from four_models import put_models

ABOUT: dict[str, dict[str, str]] = {
    "alpha": {"by": "Team A", "link": "https://example.org/a", "licence": "MIT", "weights": "open"},
    "beta": {"by": "Team B", "weights": "closed"},
    "gamma": {"by": "Team C", "weights": "open"},
    "safe": {},
}


def write_submissions(folder: Path) -> list[Path]:
    """The files; ``folder`` also has the store, runs.db."""
    files = []
    with Store.open(str(folder / "runs.db")) as store:
        for run, (name, about) in zip(put_models(store), ABOUT.items(), strict=True):
            score_run(store, run, ["rouge_l", "bleu_1"])
            [made] = make_submissions(store, run.id, judgements=name != "gamma", **about)
            files.append(folder / "submissions" / f"{name}.json")
            files[-1].parent.mkdir(exist_ok=True)
            files[-1].write_text(made.model_dump_json(), encoding="utf-8")
    return files


def changed(source: Path, target: Path, **fields: Any) -> Path:
    """A copy with other fields."""
    document = json.loads(source.read_text(encoding="utf-8"))
    target.write_text(json.dumps(document | fields), encoding="utf-8")
    return target
