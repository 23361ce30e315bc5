"""Much at once, each in processor seconds against its goal: ``import``, ``site``, and ``view``.

    python perf/bulk.py --captions 20000 --models 60 --clips 100 --store made-up.db

Captions are made up. The store is one that ``perf/view.py --keep`` made; without it nothing is said
of ``view``. Goals are of 60,000 captions, 200 models and 20,000 clips: fewer have their share.

Of 200 judged runs on 200 clips whose scores are a judge's, as ``perf/view.py`` makes them, ``site``
took 14.3 s, and 20 to 22 s on busier cores, where it had taken 36 and 56 s: each run is read once,
nothing of it is put into a second store, and what was computed of it is not computed again to be
checked. Metrics that are made anew, as here, and the tests between models come on top of that: 60
models on 100 clips take 4.8 s, and took 9.0 s before, when there was no judge.

The command ``import`` of 20,000 captions takes 8.8 to 9.8 s and 265 MB beside 12.8 to 14.5 s
before, when SQLAlchemy handled each row and cycles were looked for all the time.
Of 13 runs of 20,000 clips the first search takes .7 s, and .9 s in letters that are not ASCII's.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.data.outcome import Status
from audiocapbench.library.running import import_run
from audiocapbench.signature import sign
from audiocapbench.store import Store
from audiocapbench.store.records import Judgement
from report import DIMENSIONS, JUDGE, Texts

METRICS = "meteor,bleu_1,rouge_l"
IMPORT_S, SITE_S, ANSWER_S = 20.0, 15.0, 1.0


def measured(name: str, goal_s: float, work: Callable[[], Any]) -> None:
    """Do it, and print how many times its goal it took."""
    began = time.process_time()
    work()
    took = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name}: {took:.2f} s of {goal_s:.2f} ({took / goal_s:.2f}×), peak {peak:,.0f} MB")


def write_lines(path: Path, role: str, texts: list[Any]) -> Path:
    """A file of captions or references."""
    lines = (json.dumps({"id": f"clip {at}", role: one}) for at, one in enumerate(texts))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def measure_import(folder: Path, count: int) -> None:
    """Captions of one model, read, kept and scored."""
    texts = Texts(1)
    references = [[texts.sentence(12) for _ in range(3)] for _ in range(count)]
    given = write_lines(folder / "captions.jsonl", "prediction", [one[0] for one in references])
    held_to = write_lines(folder / "references.jsonl", "references", references)
    how: Any = {"references": held_to, "model": "made-up", "metrics": METRICS}
    at = str(folder / "import.db")
    goal = IMPORT_S * count / 60_000
    measured(f"import of {count:,} captions", goal, lambda: import_run(given, store=at, **how))


def judgement(sample: str, grades: Any) -> Judgement:
    """What a made-up judge says of an answer."""
    scores = dict(zip(DIMENSIONS, map(float, grades), strict=True))
    return Judgement(JUDGE, sample, 0, sign("judge-made-up"), Status.OK, scores, "so it is")


def measure_site(folder: Path, models: int, clips: int) -> None:
    """A site of judged runs whose captions are a reference with other words here and there."""
    from audiocapbench.report.site.pages import write_site
    from audiocapbench.report.site.submission import check_submissions, make_submissions

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

    def work() -> None:
        with Store.open(at) as store, Store.open(str(folder / "checked.db")) as checking:
            made = make_submissions(store, [one.id for one in store.runs()])
            given = [(f"run {number}", one) for number, one in enumerate(made, 1)]
            write_site(checking, check_submissions(checking, given), folder / "site", "Made up")

    measured(f"site of {models} models on {clips} clips", SITE_S * models / 200, work)


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
    parser.add_argument("--captions", type=int, default=20_000)
    parser.add_argument("--models", type=int, default=60)
    parser.add_argument("--clips", type=int, default=100)
    parser.add_argument("--store", help="made by perf/view.py --keep")
    arguments = parser.parse_args()
    for measure, sizes in (
        (measure_import, (arguments.captions,)),
        (measure_site, (arguments.models, arguments.clips)),
    ):
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), *sizes)
    if arguments.store:
        measure_view(arguments.store)


if __name__ == "__main__":
    main()
