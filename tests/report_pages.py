"""Small reports for tests: real folders, real runs, and answers as odd as a model may give them."""

from pathlib import Path
from typing import Any, Literal

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.engine import run_benchmark, score_run
from audiocapbench.judges import create_judge, judge_run
from audiocapbench.models import create_model
from audiocapbench.report.page.html import write_report
from audiocapbench.report.page.report_data import ReportData, gather, stored_tables
from audiocapbench.store import Run, RunSpec, Store
from audiocapbench.store.unsaved import AnswerRecord
from folders import write_lines, write_tone

EVIL = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>\"'{{ 7*7 }}"
RTL = "\u202eمرحبا بالعالم 🎻 \u2067x"
LONG = "drone " * 17_000


def scored_runs(root: Path, *models: str, judged: bool = False) -> tuple[Store, list[Run]]:
    """Ask models about a folder and score them."""
    benchmark = open_benchmark(str(root))
    store = Store.open(str(root / "runs.db"))
    runs = []
    for name in models:
        run = run_benchmark(benchmark, create_model(name), store).run
        score_run(store, run, ["rouge_l", "bleu_1"])
        if judged:
            judge_run(store, run, [create_judge("elements")])
        runs.append(run)
    return store, runs


def gathered_runs(store: Store, runs: list[Run]) -> ReportData:
    """What a page shows of them."""
    return gather(stored_tables(store, [run.id for run in runs]))


def shown_first(board: dict[str, Any]) -> dict[str, Any]:
    """Of a board document what a page shows first: scores, ranks and verdict by the headline."""
    whole, at = board["views"][""], board["headline"]
    found = {"ranking": whole["rankings"][at], "verdict": whole["verdicts"][at]}
    return found | {"estimates": whole["estimates"]}


def write_page(
    root: Path,
    *models: str,
    judged: bool = False,
    audio: Literal["none", "link", "embed"] = "embed",
) -> Path:
    """A page over the tones of a folder, with whatever it holds."""
    store, runs = scored_runs(root, *models, judged=judged)
    page = root / "report.html"
    write_report(store, gathered_runs(store, runs), page, title="A test", audio=audio)
    store.close()
    return page


def write_hostile_page(root: Path) -> Path:
    """A page on which every text that can come from outside is hostile."""
    rows = []
    for name in ("a", "b"):
        write_tone(root / f"{name} #1%20.wav", 300.0 if name == "a" else 400.0)
        rows.append(
            {
                "file_name": f"{name} #1%20.wav",
                "id": f"{name} {EVIL}",
                "category": EVIL,
                "instruction": EVIL,
                "references": [f"{EVIL} {name} one", f"{RTL} {name} two"],
                "remark": EVIL,
            }
        )
    write_lines(root, rows)
    store, runs = scored_runs(root, "control/right", judged=True)
    dataset = store.dataset(runs[0].dataset)
    ids = tuple(sample.id for sample in dataset.samples)
    spec = RunSpec(runs[0].benchmark, runs[0].dataset, f"evil/{EVIL}", {"note": EVIL}, EVIL, ids)
    run = store.begin_run(spec, dataset)
    store.add_records(
        run.id, [AnswerRecord(Outcome(ids[0], Reply(f"{EVIL}\0{RTL} {LONG}"), None, 1.0, 0.1))]
    )
    failed = Reply("", Status.FAILED, error=EVIL)
    store.add_records(run.id, [AnswerRecord(Outcome(ids[1], failed, None, 1.0, 0.1))])
    score_run(store, run, ["rouge_l", "bleu_1"])
    page = root / "report.html"
    write_report(store, gathered_runs(store, [*runs, run]), page, title=EVIL, audio="link")
    store.close()
    return page


def write_plain_page(root: Path, **settings: Literal["none", "link", "embed"]) -> Path:
    """A page over 40 tones with three controls and a judge; no two clips score alike."""
    rows = []
    for index in range(40):
        write_tone(root / "clips" / f"{index}.wav", 200.0 + 10 * index)
        words = " and on" * index
        rows.append(
            {
                "file_name": f"clips/{index}.wav",
                "id": f"tone_{index}",
                "category": "music" if index % 2 else "sound",
                "references": [
                    f"A steady tone number {index} sounds.",
                    f"Tone {index} hums{words}.",
                ],
            }
        )
    write_lines(root, rows)
    models = ("control/right", "control/wrong", "control/empty")
    return write_page(root, *models, judged=True, **settings)
