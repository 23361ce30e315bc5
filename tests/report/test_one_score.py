"""A score is the same number wherever it is shown: all read one table, and draw for it once."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mecat_runs
from audiocapbench.data.outcome import Status
from audiocapbench.data.predictions import Predictions
from audiocapbench.library.captions import samples_of
from audiocapbench.metrics import compute
from audiocapbench.report.compare.compute import compare_runs
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.report.page.board import board_document
from audiocapbench.report.page.plots import overall_bars
from audiocapbench.report.page.report_data import gather, stored_tables, summaries_of
from audiocapbench.report.runs import published_result
from audiocapbench.scores.compute import ALL, category
from audiocapbench.scores.estimate import Estimate, Missing, Scorer
from audiocapbench.scores.summary import RunSummary, score_files, summarise
from audiocapbench.scores.table import ScoreTable
from audiocapbench.store import Run, Store
from audiocapbench.store.records import Judgement
from made_store import MadeRun, begin_run, columns, made_samples, put_run, stored_scores

JUDGE, METRIC = Scorer("gpt", "overall"), Scorer("rouge_l")
CATEGORIES = ("sound", "music", "speech")


def graded(keys: list[str], level: float) -> dict[str, dict[str, float]]:
    return {
        key: {"accuracy": (level + place) % 10, "completeness": (2 * level + place) % 9}
        for place, key in enumerate(keys)
    }


@pytest.fixture(scope="module")
def categories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store with runs on categories; a test takes a copy."""
    path = tmp_path_factory.mktemp("categories") / "runs.db"
    with Store.open(str(path)) as store:
        put_categories(store)
    return path


@pytest.fixture
def store(categories: Path, tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(shutil.copy(categories, tmp_path))) as opened:
        yield opened


def both_runs(store: Store) -> list[Run]:
    return [store.run(number) for number in (1, 2)]


def put_categories(store: Store) -> None:
    """Two runs on three categories, of clips with two samples each; one of them fails at times."""
    samples = made_samples(72, categories=CATEGORIES, questions=2)
    for number, model in enumerate(("made/one", "made/two")):
        failed = [one.id for one in samples[:: 7 + number]] if number else []
        keys = [one.id for one in samples if one.id not in failed]
        scores = {key: ((3 * place + number) % 11) / 11 for place, key in enumerate(keys)}
        made = MadeRun(
            model,
            scores={METRIC.name: scores},
            grades={JUDGE.name: graded(keys, 3.0 + number)},
            statuses=dict.fromkeys(failed, Status.REFUSED),
        )
        put_run(store, made, samples)


def runs_of_mecat(store: Store) -> None:
    """Two runs on corpora that add up; one fails at times."""
    for number, model in enumerate(("made/one", "made/two")):
        seen = iter(range(100_000))

        def answer(item: Any, number: int = number, seen: Iterator[int] = seen) -> str | None:
            place = next(seen)
            if number and place % 13 == 0:
                return None
            return mecat_runs.sentence(item.id) if place % 3 else mecat_runs.right(item)

        run = mecat_runs.stored_run(
            store, answer, mecat_runs.few_items(12), model, metrics=(METRIC.name,)
        )
        keys = [key for key, one in store.outcomes(run.id).items() if one.reply.status == "ok"]
        grades = graded(keys, 4.0 + number)
        signature = stored_scores(store, run.id)[METRIC.name][0].signature
        store.add_judgements(
            run.id,
            [Judgement("gpt", key, 0, signature, Status.OK, grades[key]) for key in keys],
        )


@pytest.fixture(scope="module")
def mecat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store with runs of MECAT; a test takes a copy, in which estimates are kept."""
    path = tmp_path_factory.mktemp("mecat") / "runs.db"
    with Store.open(str(path)) as store:
        runs_of_mecat(store)
    return path


def numbers(estimate: Estimate) -> dict[str, Any]:
    """What JSON says of an estimate."""
    read: dict[str, Any] = json.loads(json.dumps(estimate.scores()))
    return read


def part(document: dict[str, Any]) -> dict[str, Any]:
    return {name: document[name] for name in ("score", "ci", "as_zero", "bounds")}


def check_everywhere(store: Store, runs: list[Run], scorer: Scorer) -> None:
    summaries = [summarise(store, run, [METRIC.name], [JUDGE.name]) for run in runs]
    names = summaries[0].table.categories
    for summary in summaries:
        check_document(summary, scorer, names)
    stored = stored_tables(store, [run.id for run in runs])
    data = gather(stored, scorer.label)
    for run in summaries_of(stored):
        check_document(run, scorer, names)
    check_leaderboard(store, summaries, scorer)
    board = board_document(store, data, "T")
    bars = {bar.label: bar.cell for bar in overall_bars(board)}
    column = board.estimates[[one.label for one in board.scorers].index(scorer.label)]
    cells = {one.label: cell for one, cell in zip(board.models, column, strict=True)}
    for summary in summaries:
        estimate = summary.table.estimate(scorer)
        cell = cells[summary.run.model]
        assert cell is not None
        assert bars[summary.run.model] == cell
        assert (cell.value, cell.interval) == (estimate.value, estimate.interval)
        assert (cell.zero, cell.bounds) == (estimate.as_zero, estimate.bounds)
        result = published_result(store, summary, provider="made", model_id="one")
        name = f"llm_{scorer.column}" if scorer.judge else scorer.name
        assert result["corpus_scores"][name] == estimate.value


def check_document(summary: RunSummary, scorer: Scorer, names: list[str]) -> None:
    """What ``run``, ``score`` and ``report`` print as JSON."""
    told = summary.to_dict()
    if scorer.judge is not None:
        judge = told["judges"][scorer.judge]
        whole, parts = judge["scores"], judge["by_group"]
    else:
        whole, parts = told["metrics"], told["by_group"]
    assert part(whole[scorer.column]) == numbers(summary.table.estimate(scorer))
    for name in names:
        estimate = summary.table.estimate(scorer, category(name))
        assert part(parts[name][scorer.column]) == numbers(estimate)


def check_leaderboard(store: Store, summaries: list[RunSummary], scorer: Scorer) -> None:
    built = build_leaderboard(store, scorer=scorer, by_category=True)
    (board,) = built.to_dict()["boards"]
    rows = [row for row in built.records() if row["source"] == "run"]
    for summary in summaries:
        (entry,) = [one for one in board["runs"] if one["run"] == summary.run.id]
        own = {row["category"]: row for row in rows if row["run"] == summary.run.id}
        for name in ("all", *summary.table.categories):
            key = ALL if name == "all" else category(name)
            estimate = summary.table.estimate(scorer, key)
            shown = entry if name == "all" else entry["by_category"][name]
            assert part(shown) == numbers(estimate)
            assert (shown["scored"], shown["n"]) == (estimate.n, estimate.coverage.total)
            assert own[name]["score"] == estimate.value
            assert own[name]["as_zero"] == estimate.as_zero
            low = estimate.interval.low if estimate.interval else None
            assert own[name]["low"] == low


@pytest.mark.parametrize("scorer", [METRIC, JUDGE, Scorer("gpt", "accuracy")], ids=str)
def test_a_score_of_categories_is_one_number_everywhere(store: Store, scorer: Scorer) -> None:
    check_everywhere(store, both_runs(store), scorer)


@pytest.mark.parametrize("scorer", [METRIC, JUDGE], ids=str)
def test_a_total_is_one_number_everywhere(mecat: Path, scorer: Scorer, tmp_path: Path) -> None:
    with Store.open(str(shutil.copy(mecat, tmp_path))) as store:
        check_everywhere(store, both_runs(store), scorer)


def test_runs_on_common_samples_are_compared_by_the_scores_that_they_have(store: Store) -> None:
    first, _ = both_runs(store)
    samples = store.dataset(first.dataset).samples
    scores = {one.id: place / 72 for place, one in enumerate(samples)}
    second = put_run(store, MadeRun("made/three", scores={METRIC.name: scores}), samples)
    told = compare_runs(store, first.id, second.id).to_dict()
    for side, run in (("a", first), ("b", second)):
        table = summarise(store, run, [METRIC.name]).table
        for one in told["differences"]:
            key = ALL if one["category"] == "all" else category(one["category"])
            assert one[side] == table.estimate(METRIC, key).value


def test_answers_score_the_same_from_files_and_in_a_run(store: Store) -> None:
    samples = made_samples(24, categories=("sound", "music"))
    texts = {
        one.id: f"{one.references[0]} {'and more' * (place % 3)}"
        for place, one in enumerate(samples)
    }
    (result,) = compute(["rouge_l"], list(texts.values()), [one.references for one in samples])
    given = dict(zip(texts, result.statistics.tolist(), strict=True))
    made = MadeRun("made/one", {"rouge_l": given}, signatures={"rouge_l": str(result.signature)})
    table = summarise(store, put_run(store, made, samples), ["rouge_l"]).table
    files = score_files(Predictions.of_texts(texts), samples, ["rouge_l"]).table
    for key in (ALL, category("sound"), category("music")):
        assert files.estimate(METRIC, key) == table.estimate(METRIC, key)


def test_an_interval_is_drawn_for_once(store: Store) -> None:
    runs = both_runs(store)
    table = summarise(store, runs[0], [METRIC.name]).table
    assert table.estimate(METRIC) is table.estimate(METRIC)
    check_everywhere(store, runs, METRIC)
    again = summarise(store, runs[0], [METRIC.name]).table
    assert again.estimate(METRIC) == table.estimate(METRIC)
    assert again.computed == {}


def test_an_estimate_that_was_kept_is_read_and_is_the_same(store: Store) -> None:
    runs = both_runs(store)
    build_leaderboard(store, scorer=METRIC, by_category=True)
    assert {one.scorer for one in store.estimates(runs[0].id)} == {METRIC.name}
    kept = summarise(store, runs[0], [METRIC.name]).table
    for key in (ALL, *map(category, CATEGORIES)):
        read = kept.estimate(METRIC, key)
        fresh = ScoreTable(kept.samples, kept.aggregation, kept.scores, kept.replies)
        assert read == fresh.estimate(METRIC, key)
    assert kept.computed == {}
    check_everywhere(store, runs, METRIC)
    check_everywhere(store, runs, JUDGE)


def test_what_has_no_score_has_its_reason_and_no_other(tmp_path: Path) -> None:
    samples = made_samples(8)
    ids = [one.id for one in samples]
    statuses = {
        ids[0]: Status.FAILED,
        ids[1]: Status.FILTERED,
        ids[2]: Status.EMPTY,
        ids[3]: Status.TRUNCATED,
    }
    judged = {key: {"accuracy": 5.0} for key in ids[6:]}
    made = MadeRun("m", {"rouge_l": {ids[2]: 0.0, ids[6]: 0.5}}, {"gpt": judged}, statuses)
    with Store.open(str(tmp_path / "r.db")) as store:
        run = put_run(store, made, samples)
        signature = store.judgements(run.id, "gpt")[0].signature
        unread = Judgement("gpt", ids[4], 0, signature, Status.UNPARSED, error="no JSON")
        failed = replace(unread, sample_id=ids[5], status=Status.FAILED)
        store.add_judgements(run.id, [unread, failed])
        for _ in range(2):  # computed, then read from what was kept
            board = build_leaderboard(store, scorer=JUDGE).boards[0]
            told = build_leaderboard(store, scorer=JUDGE).to_dict()
            estimate = board.entries[0].estimate()
            assert estimate.missing == {
                Missing.FAILED: 2,
                Missing.REFUSED: 1,
                Missing.EMPTY: 1,
                Missing.UNREADABLE: 1,
                Missing.NOT_JUDGED: 1,
            }
            assert '"unscored": {"failed": 2, "refused": 1, "empty": 1,' in json.dumps(told)
        table = summarise(store, run, ["rouge_l"]).table
        assert table.estimate(METRIC).missing == {
            Missing.FAILED: 2,
            Missing.REFUSED: 1,
            Missing.NOT_JUDGED: 3,
        }
        part = put_run(store, replace(made, model="other", only=ids[4:]), samples)
        few = summarise(store, part, ["rouge_l"]).table
        assert few.unanswered == {}
        assert set(few.estimate(METRIC).missing) == {Missing.NOT_JUDGED}
        unasked = begin_run(store, MadeRun("new"), samples)
        assert summarise(store, unasked, []).table.unanswered == {Missing.NOT_ASKED: 8}
    predictions = Predictions.of_texts({"a": "A dog.", "b": ""})
    references = samples_of({key: ["A dog."] for key in "abc"})
    scores = score_files(predictions, references, ["rouge_l"])
    assert scores.table.estimate(METRIC).missing == {Missing.SKIPPED: 1}


def test_a_new_score_is_not_hidden_by_one_that_was_kept(store: Store) -> None:
    run, _ = both_runs(store)
    build_leaderboard(store, scorer=METRIC)
    before = summarise(store, run, [METRIC.name]).table.estimate(METRIC)
    halved = [
        replace(one, value=one.value / 2, statistics=(one.value / 2,))
        for one in stored_scores(store, run.id)[METRIC.name]
    ]
    store.put_scores(run.id, {METRIC.name: columns(halved)})
    after = summarise(store, run, [METRIC.name]).table.estimate(METRIC)
    assert after.value == pytest.approx((before.value or 0) / 2)


def test_a_store_that_can_only_be_read_is_shown_all_the_same(
    categories: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(categories, tmp_path))
    before = path.read_bytes()
    path.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        with closing(Store.open(str(path), create=False)) as store:
            (board,) = build_leaderboard(store, scorer=METRIC).boards
            assert len(board.entries) == 2
    finally:
        tmp_path.chmod(0o700)
    if os.geteuid():
        assert path.read_bytes() == before
