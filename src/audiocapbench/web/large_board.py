"""The ranks of a board that is too large to be computed beside requests: a process of its own.

``python -m audiocapbench.web.large_board`` reads what is wanted from its input, writes the
document to its output, and ends when its input does, as whoever asked is gone then.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

from audiocapbench.errors import AudioCapBenchError, ReportError
from audiocapbench.report.page.board import Document, by_rank, headline_ranks, ranking_document
from audiocapbench.report.page.report_data import gather, stored_summaries
from audiocapbench.scores.run_table import TableReader, keep_estimates
from audiocapbench.store import Store
from audiocapbench.web.board_quick import quick_document


def ranked_elsewhere(url: str, runs: Sequence[int], by: str | None) -> Document | None:
    """What ``ranked_document`` makes, by another process: whoever clicks meanwhile is not held up.

    Raises:
        ReportError: It could not be made.
    """
    words = [sys.executable, "-P", "-m", "audiocapbench.web.large_board"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    made: Any
    with subprocess.Popen(words, **pipes) as made:  # noqa: S603  (our own words)
        made.stdin.write(f"{json.dumps([url, list(runs), by])}\n")
        made.stdin.flush()
        text = made.stdout.read()
    told: dict[str, Any] = json.loads(text or '{"error": "ranks could not be computed"}')
    if "error" in told:
        raise ReportError(told["error"])
    return told["document"]  # type: ignore[no-any-return]


def ranked_document(store: Store, runs: Sequence[int], by: str | None) -> Document | None:
    """Estimates of one run after the other, then ranks by the headline alone."""
    lines, heads = store.runs(only=runs), store.browse.sample_heads(runs)
    first = quick_document(store, lines, heads, by)
    if first is None:
        return None
    headline = first["scorers"][first["headline"]]
    for run in runs:
        kept = {(one.scorer, one.group) for one in store.estimates(run)}
        if not all((one["label"], "all") in kept for one in first["scorers"]):
            table = TableReader(store).read(store.run(run))
            for scorer in table.scores:
                table.estimate(scorer)
                for key in table.groups if scorer.label == headline["label"] else ():
                    table.estimate(scorer, key)
            keep_estimates(store, [table])
    only = headline["judge"] or headline["label"]
    data = gather(stored_summaries(store, runs, only), headline["label"])
    ranking, notes = headline_ranks(data)
    rows = by_rank(ranking)
    by_id = {one.id: one for one in lines}
    ordered = [by_id[data.runs[row].run.id] for row in rows]
    document = quick_document(store, ordered, heads, by, ranked=True)
    told = {"ranking": ranking_document(ranking.reordered(rows)), "notes": notes}
    return None if document is None else document | told


def main() -> None:
    """Answer one wish."""
    url, runs, by = json.loads(sys.stdin.readline())
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(1)), daemon=True).start()
    os.nice(5)
    told: Document
    try:
        with Store.open(url, create=False) as store:
            told = {"document": ranked_document(store, runs, by)}
    except AudioCapBenchError as error:
        told = {"error": str(error)}
    sys.stdout.write(json.dumps(told))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
