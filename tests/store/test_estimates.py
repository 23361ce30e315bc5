"""Estimates: kept once, gone as soon as what they stand on changes, never of a run as it was."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.signature import sign
from audiocapbench.store import RunSpec, Store, records
from audiocapbench.store.records import Judgement, StoredEstimate
from audiocapbench.store.unsaved import AnswerRecord
from made_store import MadeRun, StoredScore, columns, made_samples, put_run, stored_scores

SAMPLES = made_samples(3)
IDS = [one.id for one in SAMPLES]
ROWS = [
    StoredEstimate(
        "meteor", "all", 0.5, 0.4, 0.6, 0.3, 0.2, 0.7, {"total": 3}, None, sign("meteor")
    ),
    StoredEstimate(
        "gpt: overall", "domain=S00", None, None, None, None, None, None, {}, ("a",), sign("gpt")
    ),
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    kept = Store.open(str(tmp_path / "made.db"))
    for model in ("one", "two"):
        put_run(kept, MadeRun(model, {"meteor": dict.fromkeys(IDS, 0.5)}), SAMPLES)
    return kept


def test_estimates_come_back_as_they_went_in(store: Store) -> None:
    assert store.estimates(1) == []
    assert store.put_estimates(1, store.state(1), ROWS)
    assert store.put_estimates(1, store.state(1), ROWS[:1])
    assert sorted(store.estimates(1), key=lambda one: one.scorer) == ROWS[::-1]
    assert store.estimates(2) == []


def add_outcome(store: Store) -> None:
    store.add_records(1, [AnswerRecord(Outcome(IDS[0], Reply("", Status.FAILED), None, 1.0, 1.0))])


def put_scores(store: Store) -> None:
    score = StoredScore(IDS[0], "meteor", sign("meteor"), 0.5, (0.5,))
    store.put_scores(1, {"meteor": columns([score])})


def add_judgements(store: Store) -> None:
    store.add_judgements(1, [Judgement("gpt", IDS[0], 0, sign("gpt"), Status.OK, {"a": 1.0})])


CHANGES = (add_outcome, put_scores, add_judgements)


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_a_run_takes_its_estimates_away(
    store: Store, change: Callable[[Store], None]
) -> None:
    for run_id in (1, 2):
        assert store.put_estimates(run_id, store.state(run_id), ROWS)
    before = store.state(1)
    change(store)
    assert store.state(1) != before
    assert store.estimates(1) == []
    assert len(store.estimates(2)) == 2


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_made_of_a_run_as_it_was_is_not_kept(
    store: Store, change: Callable[[Store], None]
) -> None:
    state = store.state(1)
    change(store)
    assert not store.put_estimates(1, state, ROWS)
    assert store.estimates(1) == []


def test_what_took_a_search_stays_where_others_score(store: Store) -> None:
    names = ("rouge_l", "meteor", "gpt: overall")
    searched = [replace(ROWS[0], scorer=name, group="over blind") for name in names]
    assert store.put_estimates(1, store.state(1), [*ROWS, *searched])
    put_scores(store)
    assert [one.scorer for one in store.estimates(1)] == ["gpt: overall", "rouge_l"]
    add_judgements(store)
    assert [one.scorer for one in store.estimates(1)] == ["rouge_l"]
    add_outcome(store)
    assert store.estimates(1) == []


def test_another_version_makes_them_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.put_estimates(1, store.state(1), ROWS)
    monkeypatch.setattr("audiocapbench.store.records.MADE_BY", f"{records.MADE_BY}.dev1")
    assert store.estimates(1) == []


def test_another_run_on_the_same_samples_leaves_them(store: Store) -> None:
    assert store.put_estimates(1, store.state(1), ROWS)
    put_run(store, MadeRun("three"), SAMPLES)
    assert len(store.estimates(1)) == 2


def test_a_benchmark_of_other_traits_takes_them_away(store: Store) -> None:
    run = store.run(1)
    assert store.put_estimates(1, store.state(1), ROWS)
    dataset = store.dataset(run.dataset, run.benchmark)
    spec = RunSpec(run.benchmark, run.dataset, "one", {}, "wav", run.sample_ids)
    store.begin_run(spec, dataset)
    assert store.estimates(1)
    store.begin_run(replace(spec, benchmark="other"), replace(dataset, benchmark="other"))
    assert store.estimates(1)
    store.begin_run(spec, replace(dataset, traits={**dataset.traits, "headline": "rouge_l"}))
    assert store.estimates(1) == []
    assert store.dataset(run.dataset, "other").traits["headline"] == "meteor"
    assert store.dataset(run.dataset, "made").traits["headline"] == "rouge_l"


def test_a_racing_writer_never_leaves_a_stale_estimate(store: Store) -> None:
    """Each estimate says which score it was made of; when all is quiet, it is the last one."""
    done = threading.Event()

    def write() -> None:
        for place in range(150):
            score = StoredScore(IDS[0], "meteor", sign("meteor"), float(place), (1.0,))
            store.put_scores(1, {"meteor": columns([score])})
        done.set()

    def estimate() -> None:
        while not done.is_set():
            state = store.state(1)
            value = stored_scores(store, 1)["meteor"][0].value
            one = replace(ROWS[0], value=value)
            store.put_estimates(1, state, [one])

    threads = [threading.Thread(target=work) for work in (write, estimate, estimate)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = stored_scores(store, 1)["meteor"][0].value
    assert [one.value for one in store.estimates(1)] in ([], [last])
