"""The report page at full size: how large it is, how long it takes to make and to open.

Makes a store of 1,000 clips and 13 models with made-up texts and scores, writes the page without
audio, and opens it in a real browser (Playwright and an installed chromium). Making it takes
processor time, whatever else runs here (with ``OPENBLAS_NUM_THREADS=1``: threads of NumPy that wait
for each other count, too); the time to the first row of the explorer is the browser's own, from the
start of navigation.
"""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.models import list_models
from audiocapbench.report.page.html import write_report
from audiocapbench.report.page.report_data import gather, stored_tables
from audiocapbench.signature import sign
from audiocapbench.store import Dataset, RunSpec, Store
from audiocapbench.store.records import Judgement, ScoreColumns
from audiocapbench.store.unsaved import AnswerRecord

METRICS = ("meteor", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l")
DIMENSIONS = ("accuracy", "completeness", "hallucination")
JUDGE = "openai/gpt-4.1"
PARTS = (("sound", 0.4, 5, 60), ("music", 0.3, 2, 250), ("speech", 0.3, 2, 190))
FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--no-first-run"
).split()


class Opened(NamedTuple):
    """What the browser says, in milliseconds: the first row, and a search through everything."""

    first_row: float
    search: float
    rows: int


class Texts:
    """Made-up sentences whose words are about as frequent as in real captions."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        letters = list("etaoinshrdlucmfwypvbgk")
        self._words = [
            "".join(self._random.choice(letters, size=size))
            for size in self._random.integers(2, 10, size=4000)
        ]
        weights = 1 / np.arange(2, 4002)
        self._weights = weights / weights.sum()

    def sentence(self, words: int) -> str:
        """A sentence of about so many words."""
        count = max(3, int(self._random.normal(words, words / 4)))
        chosen = self._random.choice(len(self._words), size=count, p=self._weights)
        return " ".join(self._words[index] for index in chosen).capitalize() + "."


def make_samples(count: int, texts: Texts, root: Path) -> tuple[Sample, ...]:
    """Clips with references, in the shares of the benchmark; their audio does not exist."""
    random = np.random.default_rng(1)
    samples: list[Sample] = []
    for category, share, references, characters in PARTS:
        for _ in range(round(count * share)):
            number = len(samples)
            name = f"{category}/{number}.wav"
            clip = Clip(root / name, name, f"{number:064x}", float(random.gamma(6, 2.5)), 44_100, 2)
            captions = tuple(texts.sentence(characters // 6) for _ in range(references))
            samples.append(
                Sample(
                    f"{category}_{number}",
                    clip,
                    "Describe what you hear in this audio.",
                    captions,
                    category,
                    number,
                    {"source": "made up"},
                )
            )
    return tuple(samples)


def fill_store(store: Store, models: list[str], clips: int, root: Path) -> list[int]:
    """Runs with answers, scores and judgements; about 1 in 50 answers failed."""
    texts = Texts(7)
    samples = make_samples(clips, texts, root)
    dataset = Dataset("f" * 64, "audiocapbench", str(root), samples, ())
    ids = tuple(sample.id for sample in samples)
    runs = []
    for number, model in enumerate(models):
        spec = RunSpec(
            "audiocapbench", dataset.fingerprint, model, {"temperature": 0.0}, "wav", ids
        )
        run = store.begin_run(spec, dataset)
        fill_run(store, run.id, samples, texts, number)
        runs.append(run.id)
    return runs


def fill_run(
    store: Store, run_id: int, samples: tuple[Sample, ...], texts: Texts, number: int
) -> None:
    """One model's answers, better or worse by its number."""
    random = np.random.default_rng(100 + number)
    level = random.uniform(0.35, 0.65)
    answered = []
    for sample in samples:
        failed = random.random() < 0.02
        status = Status.FAILED if failed else Status.OK
        reply = Reply(
            "" if failed else texts.sentence(45),
            status,
            "the provider did not answer" if failed else None,
            cost_usd=float(random.uniform(0.001, 0.01)),
        )
        store.add_records(
            run_id,
            [
                AnswerRecord(
                    Outcome(sample.id, reply, None, sample.clip.duration_s, random.gamma(4, 0.5))
                )
            ],
        )
        if not failed:
            answered.append(sample.id)
    for metric in METRICS:
        values = random.beta(2, 6, size=len(answered))
        signature = sign(metric, made="up")
        made = ScoreColumns.of(
            (key, value, (value,), signature)
            for key, value in zip(answered, values.tolist(), strict=True)
        )
        store.put_scores(run_id, {metric: made})
    scores = random.binomial(10, np.clip(random.normal(level, 0.15, (len(answered), 3)), 0, 1))
    store.add_judgements(
        run_id,
        [
            Judgement(
                JUDGE,
                key,
                0,
                sign("judge-audiocapbench", made="up"),
                Status.OK,
                dict(zip(DIMENSIONS, map(float, row), strict=True)),
                texts.sentence(40),
                cost_usd=0.001,
            )
            for key, row in zip(answered, scores.tolist(), strict=True)
        ],
    )


def open_page(page: Path) -> Opened:
    """Open the page in a fresh browser."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        tab = browser.new_page()
        tab.goto(f"{page.as_uri()}#explore")
        tab.wait_for_selector("[role=option]")
        ready = tab.evaluate("performance.getEntriesByName('explorer-ready')[0].startTime")
        search = tab.evaluate(
            """() => {
                const start = performance.now();
                const input = document.getElementById("search");
                const counted = document.getElementById("count");
                input.value = "no such words";
                input.dispatchEvent(new Event("input", {bubbles: true}));
                return new Promise((done) => new MutationObserver(() => {
                    done(performance.now() - start);
                }).observe(counted, {childList: true}));
            }"""
        )
        tab.click("button[type=reset]")
        tab.wait_for_selector("[role=option]")
        rows = tab.locator("[role=option]").count()
        browser.close()
    return Opened(ready, search, rows)


def main() -> None:
    """Make, write, open, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=1000)
    parser.add_argument("--models", type=int, default=13)
    parser.add_argument("--times", type=int, default=5, help="how often the page is opened")
    parser.add_argument("--keep", type=Path, help="folder that keeps the store and the page")
    arguments = parser.parse_args()
    models = [one.name for one in list_models()][: arguments.models]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        store = Store.open(str(folder / "made-up.db"))
        start = time.perf_counter()
        runs = fill_store(store, models, arguments.clips, folder)
        print(f"store of {arguments.clips} x {len(models)}: {time.perf_counter() - start:.1f} s")
        start = time.process_time()
        gathered = gather(stored_tables(store, runs))
        read = time.process_time()
        page = folder / "report.html"
        written = write_report(store, gathered, page, title="Made up")
        took = time.process_time()
        print(f"processor time: {took - start:.1f} s, of which reading {read - start:.1f} s")
        print(f"page: {written.size / 1e6:.2f} MB")
        opened = [open_page(page) for _ in range(arguments.times)]
    rows = [one.first_row for one in opened]
    print(f"first row: median {median(rows):.0f} ms, slowest {max(rows):.0f} ms of {len(rows)}")
    print(f"rows in the page: {opened[0].rows}")
    print(f"a search through every text, first time: {median(o.search for o in opened):.0f} ms")


if __name__ == "__main__":
    main()
