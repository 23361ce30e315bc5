"""``view`` at full size: how fast a store of 13 models and 20,000 clips opens, and scrolls.

Makes a store with made-up texts, scores, judgements and kept estimates, serves it, and opens it in
a real browser (Playwright and an installed chromium). Times are the browser's own, from the start
of navigation to the leaderboard, the matrix and an open sample beside the list (the slowest is the
first of all), and from a search's last letter to its count; while scrolling, the longest time for
which a row in sight had not been filled.
"""

import argparse
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sqlalchemy import insert, literal, select

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.models import list_models
from audiocapbench.signature import sign
from audiocapbench.store import Dataset, RunSpec, Store, schema
from audiocapbench.store.connect import writing
from audiocapbench.store.records import Judgement, ScoreColumns, StoredEstimate
from audiocapbench.store.unsaved import AnswerRecord, JudgementRecord
from report import DIMENSIONS, FLAGS, JUDGE, METRICS, PARTS, Texts, make_samples

SCROLL = """() => new Promise((done) => {
    const box = document.getElementById("list");
    let longest = 0, since = null, steps = 0;
    const look = () => {
        const frame = box.getBoundingClientRect();
        const blank = [...box.querySelectorAll(".row")].some((row) => {
            const own = row.getBoundingClientRect();
            return own.bottom > frame.top && own.top < frame.bottom && !row.querySelector(".name");
        });
        const now = performance.now();
        if (blank) since ??= now;
        else {
            if (since !== null) longest = Math.max(longest, now - since);
            since = null;
        }
        if (steps++ < 400) {
            box.scrollTop += steps % 50 === 0 ? 60000 : 300;
            requestAnimationFrame(look);
        } else if (since !== null && now - since < 5000) requestAnimationFrame(look);
        else done(longest);
    };
    look();
})"""


def fill(store: Store, models: Sequence[str], clips: int, root: Path) -> None:
    """Runs of all models; about 1 in 50 answers failed."""
    texts = Texts(7)
    samples = make_samples(clips, texts, root)
    sentences = [texts.sentence(40) for _ in range(5000)]
    dataset = Dataset("f" * 64, "audiocapbench", str(root), samples, ())
    ids = tuple(sample.id for sample in samples)
    runs = []
    for model in models:
        spec = RunSpec("audiocapbench", dataset.fingerprint, model, {}, "wav", ids)
        runs.append(store.begin_run(spec, dataset).id)
    fill_run(store, runs[0], samples, sentences)
    for run in runs[1:]:
        copy_run(store, runs[0], run)


def copy_run(store: Store, source: int, run: int) -> None:
    """Give a run what another has, with slightly other scores, by the database itself."""
    with writing(store._engine) as connection:
        for table in (schema.outcomes, schema.scores, schema.judgements, schema.scorings):
            columns = [literal(run) if column.name == "run" else column for column in table.columns]
            rows = select(*columns).where(table.c.run == source)
            connection.execute(insert(table).from_select(list(table.columns.keys()), rows))
        scale = 1 - 0.01 * run
        own = schema.scores
        connection.execute(own.update().where(own.c.run == run).values(value=own.c.value * scale))
    put_estimates(store, run, len(store.run(run).sample_ids), np.random.default_rng(run))


def fill_run(store: Store, run: int, samples: Sequence[Sample], sentences: Sequence[str]) -> None:
    """One model's answers, scores, judgements and estimates, in few transactions."""
    random = np.random.default_rng(1)
    chosen = random.integers(0, len(sentences), (2, len(samples)))
    records: list[Any] = []
    for place, sample in enumerate(samples):
        failed = place % 50 == 0
        text = "" if failed else sentences[chosen[0, place]]
        status = Status.FAILED if failed else Status.OK
        records.append(
            AnswerRecord(Outcome(sample.id, Reply(text, status, cost_usd=0.002), None, 9.0, 1.0))
        )
    store.add_records(run, records)
    answered = [one.id for place, one in enumerate(samples) if place % 50 != 0]
    for metric in METRICS:
        values = random.beta(2, 6, len(answered)).tolist()
        signature = sign(metric, made="up")
        made = ScoreColumns.of(
            (key, value, (value,), signature) for key, value in zip(answered, values, strict=True)
        )
        store.put_scores(run, {metric: made})
    signature = sign("judge-audiocapbench", made="up")
    grades = random.integers(0, 11, (len(answered), 3)).astype(float).tolist()
    store.add_records(
        run,
        [
            JudgementRecord(
                Judgement(
                    JUDGE,
                    key,
                    0,
                    signature,
                    Status.OK,
                    dict(zip(DIMENSIONS, row, strict=True)),
                    text,
                ),
                None,
            )
            for key, row, text in zip(
                answered, grades, (sentences[one] for one in chosen[1]), strict=False
            )
        ],
    )
    put_estimates(store, run, len(samples), random)


def put_estimates(store: Store, run: int, total: int, random: Any) -> None:
    """Estimates as an earlier command would have kept them."""
    answered = total - total // 50
    counts = {"n": answered, "total": total, "answered": answered, "empty": 0, "not_asked": 0}
    labels = [(name, 1.0, sign(name, made="up")) for name in METRICS]
    judged = sign("judge-audiocapbench", made="up")
    labels += [(f"{JUDGE}: {name}", 10.0, judged) for name in (*DIMENSIONS, "overall")]
    made = []
    for group in ("all", *(f"category={name}" for name, *_ in PARTS)):
        for label, top, signature in labels:
            value = float(random.uniform(0.3, 0.6)) * top
            ends = (value - 0.01 * top, value + 0.01 * top)
            made.append(
                StoredEstimate(label, group, value, *ends, value, *ends, counts, None, signature)
            )
    store.put_estimates(run, store.state(run), made)


def measure(boards: Any, address: str, times: int) -> None:
    """Open, filter, sort and scroll; the browser is there before the server has read anything."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        browser.new_page().close()
        start = time.perf_counter()
        boards.document()  # as the command does before it says where
        print(f"before it says where: {1000 * (time.perf_counter() - start):.0f} ms")
        ready: dict[str, list[float]] = {"leaderboard": [], "matrix": [], "explore": []}
        for _ in range(times):
            for tab, found in ready.items():
                page = browser.new_page()
                page.goto(f"{address}/#{tab}")
                page.wait_for_selector(f"body[data-shown={tab}]", state="attached")
                mark = "performance.getEntriesByName('page-ready')[0]?.startTime"
                while (at := page.evaluate(mark)) is None:
                    page.wait_for_timeout(10)
                found.append(at)
                page.close()
        for tab, found in ready.items():
            print(f"{tab}: median {median(found):.0f} ms, slowest {max(found):.0f} ms")
        page = browser.new_page()
        page.goto(f"{address}/#explore")
        page.wait_for_selector("[role=option] .name")
        shown = "document.getElementById('count').textContent"
        began = time.perf_counter()
        while boards.document().partial and time.perf_counter() - began < 60:
            page.wait_for_timeout(100)
        print(f"ranked another {time.perf_counter() - began:.1f} s after the pages were opened")
        for name, change in (
            ("a search, first time", "search.value = 'no such'"),
            ("a search for letters that are everywhere", "search.value = 'in a'"),
        ):
            before = page.evaluate(shown)
            start = time.perf_counter()
            page.evaluate(
                f"search = document.getElementById('search'); {change};"
                "search.dispatchEvent(new Event('input', {bubbles: true}))"
            )
            while page.evaluate(shown) in (before, ""):
                page.wait_for_timeout(10)
            print(f"{name}: {1000 * (time.perf_counter() - start):.0f} ms")
        print(f"scrolling: a row in sight was blank for {page.evaluate(SCROLL):.0f} ms at most")
        for name, anchor in (
            ("sorted by score, first time", "#explore&sort=lowest"),
            ("sorted by score, again", "#explore&sort=highest"),
            ("a page with a search, opened", "#explore&q=never%20so"),
        ):
            page.goto("about:blank")
            start = time.perf_counter()
            page.goto(f"{address}/{anchor}")
            while not page.evaluate(shown):
                page.wait_for_timeout(10)
            print(f"{name}: {1000 * (time.perf_counter() - start):.0f} ms")
        browser.close()


def main() -> None:
    """Make, serve, open, print."""
    import uvicorn

    from audiocapbench.web.app import Boards, LiveFeed, make_app
    from audiocapbench.web.server import GuardedApp, address_of, hosts_of, listen, settings

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=20_000)
    parser.add_argument("--models", type=int, default=13)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="folder that keeps the store")
    arguments = parser.parse_args()
    models = [one.name for one in list_models()][: arguments.models]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        there = (folder / "made-up.db").exists()
        store = Store.open(str(folder / "made-up.db"))
        if not there:
            start = time.perf_counter()
            fill(store, models, arguments.clips, folder)
            print(
                f"store of {arguments.clips} x {len(models)}: {time.perf_counter() - start:.0f} s"
            )
        with listen("127.0.0.1", 0) as taken:
            boards = Boards(store)
            app = GuardedApp(make_app(boards, LiveFeed(store)), hosts_of("127.0.0.1"))
            server = uvicorn.Server(uvicorn.Config(app, **settings()))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
            thread.start()
            try:
                measure(boards, address_of(taken), arguments.times)
            finally:
                server.should_exit = True
                thread.join(20)
                store.close()


if __name__ == "__main__":
    main()
