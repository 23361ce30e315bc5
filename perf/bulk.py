"""Much at once, in processor seconds: ``import``, ``site``, a board's ranks, ``view``, long texts.

    python perf/bulk.py --captions 20000 --models 60 --clips 100 --store made-up.db
    python perf/bulk.py --only import --megabytes 100
    python perf/bulk.py --only site,ranks --models 200 --clips 200

Each is told against its goal, and against a loop of twenty million additions in the same process,
before or after: processors differ, and what shares one makes it slower by half. Captions are made
up. The store is one that ``perf/view.py --keep`` made; without it nothing is said of ``view``.
Goals are of 100 MB of captions and references, 200 models and 20,000 clips: less has its share.

Of 200 judged runs on 200 clips whose scores are a judge's, as ``perf/view.py`` makes them, ``site``
took 14.3 s, and 20 to 22 s on busier cores, where it had taken 36 and 56 s: each run is read once,
nothing of it is put into a second store, and what was computed of it is not computed again to be
checked. Metrics that are made anew, as here, and the tests between models come on top of that: 60
models on 100 clips take 4.8 s, and took 9.0 s before, when there was no judge.

Beside others' work, where the loop took 1.0 to 1.3 s: ``import`` of 120 MB (312,500 captions with
three references each) 63 and 75 s and 1.1 GB beside ten other processes, 61 s alone, where it was
124 s and 2.3 GB before and 20 s and 1 GB are wanted; of 20,000 captions 6.0 s, and 4.3 alone, a
third of it the start of the program, where the code that the goal was set for took 16.3 s in the
same minutes; ``site`` of 200 models on 200 clips 24 and 31 s, and 19.7 to 21.9 s, or 17.3 to 18.8
loops, with synonyms and terms of words kept between runs; a board of 200 models 5.3 and 5.9 s, or
4.5 loops, with a range of ranks for each.

Of 13 runs of 20,000 clips the first search takes .7 to .8 s, and .9 to 1.1 s in letters that are
not ASCII's.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.data.outcome import Status
from audiocapbench.errors import MetricError
from audiocapbench.library.comparing import leaderboard
from audiocapbench.library.running import import_run
from audiocapbench.metrics.align import rouge_l
from audiocapbench.signature import sign
from audiocapbench.store import Store
from audiocapbench.store.records import Judgement
from installed import installed
from report import DIMENSIONS, JUDGE, Texts

METRICS = "meteor,bleu_1,rouge_l"
IMPORT_S, SITE_S, ANSWER_S = 20.0, 15.0, 1.0
IMPORT_MB, LOOP = 100.0, 20_000_000
# The longest two texts that ROUGE-L compares, which is bounded where it would take more.
LONG_S, LONG_WORDS = 5.0, 130_000


def processor_s(work: Callable[[], Any]) -> float:
    """Processor time of a piece of work, here and in processes that it has waited for."""

    def spent() -> float:
        others = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + others.ru_utime + others.ru_stime

    began = spent()
    work()
    return spent() - began


def loop_s() -> float:
    """What this processor takes for additions, shared as it is now."""

    def add() -> None:
        total = 0
        for number in range(LOOP):
            total += number

    return processor_s(add)


def measured(name: str, goal_s: float, work: Callable[[], Any]) -> None:
    """Do it, and print how many times its goal and the loop it took."""
    before = loop_s()
    took = processor_s(work)
    loop = (before + loop_s()) / 2
    peak = max(
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    told = f"{took / goal_s:.2f}×, {took / loop:.2f} loops of {loop:.2f} s"
    print(f"{name}: {took:.2f} s of {goal_s:.2f} ({told}), peak {peak:,.0f} MB", flush=True)


def write_lines(path: Path, role: str, texts: list[Any]) -> Path:
    """A file of captions or references."""
    lines = (json.dumps({"id": f"clip {at}", role: one}) for at, one in enumerate(texts))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def measure_import(folder: Path, count: int, megabytes: float) -> None:
    """Captions of one model, read, kept and scored by the command, in a process of its own."""
    texts, draw = Texts(1), np.random.default_rng(1)
    halves = [texts.sentence(6) for _ in range(5_000)]
    clip_mb = 4 * len(" ".join(halves[:2])) / 1e6
    count = round(megabytes / clip_mb) if megabytes else count
    # All captions differ: drawing each word of them would take minutes.
    chosen = draw.integers(0, len(halves), (count, 4, 2)).tolist()
    captions = [[f"{halves[one]} {halves[two]}" for one, two in own] for own in chosen]
    given = write_lines(folder / "captions.jsonl", "prediction", [one[0] for one in captions])
    held_to = write_lines(folder / "references.jsonl", "references", [one[1:] for one in captions])
    size = (given.stat().st_size + held_to.stat().st_size) / 1e6
    words = [sys.executable, "-m", "audiocapbench", "import", str(given), "--model", "made-up"]
    words += ["--references", str(held_to), "--metric", METRICS]
    words += ["--store", str(folder / "import.db")]
    measured(
        f"import of {count:,} captions, {size:.0f} MB",
        IMPORT_S * size / IMPORT_MB,
        lambda: subprocess.run(words, env=installed(), check=True, capture_output=True),
    )


def judgement(sample: str, grades: Any) -> Judgement:
    """What a made-up judge says of an answer."""
    scores = dict(zip(DIMENSIONS, map(float, grades), strict=True))
    return Judgement(JUDGE, sample, 0, sign("judge-made-up"), Status.OK, scores, "so it is")


def judged_store(folder: Path, models: int, clips: int) -> str:
    """Judged runs whose captions are a reference with other words here and there."""
    texts, draw = Texts(2), np.random.default_rng(2)
    references = [[texts.sentence(12) for _ in range(3)] for _ in range(clips)]
    held_to = write_lines(folder / "held.jsonl", "references", references)
    at = str(folder / "site.db")
    for model in range(models):
        kept = draw.random((clips, 60)) < 0.2 + 0.6 * model / models
        said = [
            " ".join(
                word if good else "hum" for word, good in zip(one[0].split(), own, strict=False)
            )
            for one, own in zip(references, kept, strict=True)
        ]
        given = write_lines(folder / "said.jsonl", "prediction", said)
        import_run(given, references=held_to, model=f"lab/{model}", metrics=METRICS, store=at)
    with Store.open(at) as store:
        for run in store.runs():
            graded = draw.binomial(10, 0.2 + 0.6 * run.id / models, (clips, len(DIMENSIONS)))
            store.add_judgements(run.id, list(map(judgement, store.run(run.id).sample_ids, graded)))
    return at


def measure_ranks(at: str, models: int) -> None:
    """The ranks that tests of all pairs leave open, and the letters of ties, on one board."""
    made: list[Any] = []
    measured(f"board of {models} models", ANSWER_S, lambda: made.append(leaderboard(store=at)))
    rows = made[0].boards[0].rows
    ranges = sum(one.overall.ranks is not None for one in rows)
    print(f"ranges of ranks: {ranges} of {len(rows)} models, first {rows[0].overall.open}")


def measure_site(folder: Path, at: str, models: int, clips: int) -> None:
    """A site of judged runs, each made into what its maker would hand in and checked."""
    from audiocapbench.report.site.pages import write_site
    from audiocapbench.report.site.submission import check_submissions, make_submissions

    def work() -> None:
        with Store.open(at) as store, Store.open(str(folder / "checked.db")) as checking:
            made = make_submissions(store, *(one.id for one in store.runs()))
            given = [(f"run {number}", one) for number, one in enumerate(made, 1)]
            write_site(checking, check_submissions(checking, given), folder / "site", "Made up")

    measured(f"site of {models} models on {clips} clips", SITE_S * models / 200, work)


def measure_long() -> None:
    """ROUGE-L of two texts as long as it takes them, and of two that it refuses."""
    draw = np.random.default_rng(3)
    first, second = (
        " ".join(f"w{one}" for one in draw.integers(0, 4000, LONG_WORDS)) for _ in range(2)
    )
    name = f"rouge_l of two texts of {LONG_WORDS:,} words"
    measured(name, LONG_S, lambda: rouge_l([first], [[second]]))
    with suppress(MetricError):
        rouge_l([f"{first} {first}"], [[second]])
        print("rouge_l compares two texts twice as long: not bounded")


def measure_view(at: str) -> None:
    """What each tab of ``view`` asks first, and a first search."""
    from audiocapbench.web.app import Boards
    from audiocapbench.web.board_list import ListQuery

    with Store.open(at) as store:
        samples = Boards(store).samples()
        runs = [one.id for one in store.runs()]
        shown = {"runs": ",".join(map(str, runs)), "score": "meteor"}

        def ask(name: str, **query: str) -> None:
            chosen = ListQuery.model_validate(shown | query)
            measured(f"view: {name}", ANSWER_S, lambda: samples.page(chosen, 0, 100))

        ask("the list")
        ask("first search", search="nowhere")
        ask("search in letters that are not ASCII's", search="élan")
        ask("sorted by a score", sort="lowest")
        ask("where models differ", sort="differ")
        ask("not asked", status="not asked")
        measured("view: two models", ANSWER_S, lambda: samples.compared(*runs[:2]))
        # Last: what it begins goes on beside.
        measured("view: the board", ANSWER_S, Boards(store).document)


def main() -> None:
    """Make, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="import,long,site,ranks,view")
    parser.add_argument("--captions", type=int, default=20_000)
    parser.add_argument("--megabytes", type=float, default=0.0, help="of captions, not so many")
    parser.add_argument("--models", type=int, default=60)
    parser.add_argument("--clips", type=int, default=100)
    parser.add_argument("--store", help="made by perf/view.py --keep")
    arguments = parser.parse_args()
    rows = set(arguments.only.split(","))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if "import" in rows:
            measure_import(folder, arguments.captions, arguments.megabytes)
        if "long" in rows:
            measure_long()
        if rows & {"site", "ranks"}:
            at = judged_store(folder, arguments.models, arguments.clips)
            if "site" in rows:
                measure_site(folder, at, arguments.models, arguments.clips)
            if "ranks" in rows:
                measure_ranks(at, arguments.models)
    if "view" in rows and arguments.store:
        measure_view(arguments.store)


if __name__ == "__main__":
    main()
