"""The store: nothing is lost, nothing is doubled, and every process may write."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

import audiocapbench as acb
from audiocapbench.benchmarks import open_benchmark
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.errors import StoreAwayError, StoreError
from audiocapbench.signature import sign
from audiocapbench.store import Dataset, RunSpec, Store, cache_key
from audiocapbench.store.connect import patience, reading
from audiocapbench.store.unsaved import AnswerRecord
from folders import write_folder
from forks import begin_at_once, run_at_once
from made_store import MadeRun, StoredScore, columns, made_samples, put_run, stored_scores
from needs import needs


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    folder = tmp_path / "tones"
    folder.mkdir()
    benchmark = open_benchmark(str(write_folder(folder)))
    return Dataset(benchmark.fingerprint, benchmark.name, str(folder), benchmark.samples, ())


def spec(dataset: Dataset, model: str = "listener", **parameters: str | int) -> RunSpec:
    ids = tuple(sample.id for sample in dataset.samples)
    return RunSpec(dataset.benchmark, dataset.fingerprint, model, parameters, "wav", ids)


def outcome(sample_id: str, text: str = "A tone.", status: Status = Status.OK) -> Outcome:
    return Outcome(sample_id, Reply(text, status, cost_usd=0.25), "ab" * 32, 1.5, 0.2)


def test_the_same_command_finds_its_run_again(store: Store, dataset: Dataset) -> None:
    first = store.begin_run(spec(dataset, a=1), dataset)
    assert store.begin_run(spec(dataset, a=1), dataset) == first
    assert store.begin_run(spec(dataset, a=2), dataset).id != first.id
    assert store.begin_run(spec(dataset, "control/safe", a=1), dataset).id != first.id
    fresh = store.begin_run(spec(dataset, a=1), dataset, fresh=True)
    assert fresh.id != first.id
    assert store.begin_run(spec(dataset, a=1), dataset) == fresh
    assert store.run(first.id) == first


def test_samples_come_back_as_they_went_in(store: Store, dataset: Dataset) -> None:
    store.begin_run(spec(dataset), dataset)
    assert store.dataset(dataset.fingerprint) == dataset


def test_a_moved_folder_is_found_at_its_new_place(store: Store, dataset: Dataset) -> None:
    store.begin_run(spec(dataset), dataset)
    moved = Dataset(dataset.fingerprint, dataset.benchmark, "/elsewhere", dataset.samples, ())
    store.begin_run(spec(dataset), moved)
    clip = store.dataset(dataset.fingerprint).samples[0].clip
    assert clip.path == Path("/elsewhere/clips/0.wav")


def test_a_renamed_clip_is_followed(store: Store, dataset: Dataset) -> None:
    run = store.begin_run(spec(dataset), dataset)
    first, *rest = dataset.samples
    renamed = replace(
        first, clip=replace(first.clip, file_name="clips/new.wav"), details={"transcript": "hm"}
    )
    other = replace(dataset, samples=(renamed, *rest))
    assert store.begin_run(spec(dataset), other) == run
    found = store.dataset(dataset.fingerprint).samples[0]
    assert found.clip.file_name == "clips/new.wav"
    assert found.details == {"transcript": "hm"}


def test_reading_makes_nothing_and_waits_for_nobody(tmp_path: Path, store: Store) -> None:
    with pytest.raises(StoreError, match="no such store"):
        Store.open(str(tmp_path / "typo.db"), create=False)
    assert not (tmp_path / "typo.db").exists()
    with sqlite3.connect(tmp_path / "runs.db") as other:
        other.execute("BEGIN IMMEDIATE")
        assert Store.open(str(tmp_path / "runs.db"), create=False).runs() == []
        other.rollback()
    assert store.runs() == []


def test_an_outcome_survives_reopening(tmp_path: Path, store: Store, dataset: Dataset) -> None:
    run = store.begin_run(spec(dataset), dataset)
    kept = outcome("tone_0", "🎧 \u05e9\u05dc\u05d5\u05dd 中文 'quoted'; DROP TABLE runs;")
    store.add_records(run.id, [AnswerRecord(kept)])
    store.close()
    assert Store.open(str(tmp_path / "runs.db")).outcomes(run.id) == {"tone_0": kept}


def test_an_answer_is_never_overwritten_but_a_failure_is(store: Store, dataset: Dataset) -> None:
    run = store.begin_run(spec(dataset), dataset)
    store.add_records(run.id, [AnswerRecord(outcome("tone_0", "", Status.FAILED))])
    store.add_records(run.id, [AnswerRecord(outcome("tone_0", "first"))])
    store.add_records(run.id, [AnswerRecord(outcome("tone_0", "second"))])
    store.add_records(run.id, [AnswerRecord(outcome("tone_0", "", Status.FAILED))])
    assert store.outcomes(run.id)["tone_0"].reply.text == "first"


def test_a_failure_that_is_stored_twice_costs_once(store: Store, dataset: Dataset) -> None:
    run = store.begin_run(spec(dataset), dataset)
    sample = dataset.samples[0].id
    failed = AnswerRecord(outcome(sample, "", Status.FAILED))
    for _ in range(2):  # as after a call that was given up and went through all the same
        store.add_records(run.id, [failed])
    assert store.outcomes(run.id)[sample].reply.cost_usd == 0.25
    another = AnswerRecord(replace(failed.outcome, latency_s=0.3))
    for _ in range(2):
        store.add_records(run.id, [another])
    assert store.outcomes(run.id)[sample].reply.cost_usd == 0.5


def test_replies_are_cached_once_under_their_key(store: Store, dataset: Dataset) -> None:
    run = store.begin_run(spec(dataset), dataset)
    key = cache_key("m", {"temperature": 0}, "What?", "ab" * 32)
    assert store.cache.replies([key]).get(key) is None
    store.add_records(run.id, [AnswerRecord(outcome("tone_0", "first"), key)])
    store.add_records(run.id, [AnswerRecord(outcome("tone_1", "second"), key)])
    cached = store.cache.replies([key]).get(key)
    assert cached is not None
    assert (cached.text, cached.cost_usd) == ("first", 0.0)


def test_every_part_of_a_question_is_part_of_its_key() -> None:
    keys = {
        cache_key("m", {"t": 0}, "What?", "a"),
        cache_key("n", {"t": 0}, "What?", "a"),
        cache_key("m", {"t": 1}, "What?", "a"),
        cache_key("m", {"t": 0}, "Who?", "a"),
        cache_key("m", {"t": 0}, "What?", "b"),
        cache_key("m", {"t": 0}, "What?", None),
    }
    assert len(keys) == 6
    assert cache_key("m", {"a": 1, "b": 2}, "?", "x") == cache_key("m", {"b": 2, "a": 1}, "?", "x")


def test_scores_of_a_metric_are_replaced_whole(store: Store, dataset: Dataset) -> None:
    run = store.begin_run(spec(dataset), dataset)
    first = [StoredScore(f"tone_{i}", "m", sign("m"), i / 7, (i / 7, 1.0)) for i in range(4)]
    other = [StoredScore("tone_0", "other", sign("other"), 0.5, (0.5,))]
    store.put_scores(run.id, {"m": columns(first), "other": columns(other)})
    assert stored_scores(store, run.id) == {"m": first, "other": other}
    second = [StoredScore("tone_3", "m", sign("m", protocol=2), 0.1, (0.1, 1.0))]
    store.put_scores(run.id, {"m": columns(second)})
    assert stored_scores(store, run.id) == {"m": second, "other": other}


def test_the_listing_counts_statuses_and_cost(store: Store, dataset: Dataset) -> None:
    run = store.begin_run(spec(dataset), dataset)
    store.begin_run(spec(dataset, "control/empty"), dataset)
    store.add_records(run.id, [AnswerRecord(outcome("tone_0"))])
    store.add_records(run.id, [AnswerRecord(outcome("tone_1", "", Status.REFUSED))])
    first, second = store.runs()
    assert first.statuses == {"ok": 1, "refused": 1}
    assert (first.asked, first.sample_count, first.cost_usd) == (2, 4, 0.5)
    assert (second.asked, second.cost_usd) == (0, None)


def test_what_was_committed_survives_a_power_cut(store: Store) -> None:
    with reading(store._engine) as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        full = 2
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == full


def test_an_unknown_run_is_a_clear_error(store: Store) -> None:
    for number in (12, 0, -1, 10**20):
        with pytest.raises(StoreError, match=rf"has no run {number}; 'audiocapbench runs --store "):
            store.run(number)


WRITER = """
import sys
from audiocapbench.data.outcome import Outcome, Reply
from audiocapbench.store import Store
from audiocapbench.store.unsaved import AnswerRecord
store = Store.open(sys.argv[1])
for index in range(15):
    outcome = Outcome(f"{sys.argv[2]}-{index}", Reply("x"), None, 0.0, 0.0)
    store.add_records(1, [AnswerRecord(outcome, "k" * 8)])
"""


def test_processes_and_threads_write_at_once(
    tmp_path: Path, store: Store, dataset: Dataset
) -> None:
    # Each waits half a minute for the others at most, which a slow disk makes of a few hundred.
    ids = tuple(f"{who}-{index}" for who in ("here", 0, 1, 2) for index in range(15))
    store.begin_run(replace(spec(dataset), sample_ids=ids), dataset)
    database = str(tmp_path / "runs.db")
    writers = begin_at_once(WRITER, *([database, str(number)] for number in range(3)))
    with ThreadPoolExecutor(4) as threads:
        list(
            threads.map(
                lambda n: store.add_records(1, [AnswerRecord(outcome(f"here-{n}"))]), range(15)
            )
        )
    assert [one.wait(120) for one in writers] == [0, 0, 0]
    assert len(store.outcomes(1)) == 60


def test_processes_may_make_the_store_at_once(tmp_path: Path) -> None:
    opening = "import sys; from audiocapbench.store import Store; Store.open(sys.argv[1])"
    assert run_at_once(opening, *[[str(tmp_path / "new.db")]] * 4) == [0] * 4
    assert Store.open(str(tmp_path / "new.db")).runs() == []


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    Store.open(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE schema_version SET version = 99")
    with pytest.raises(StoreError, match="schema 99, this program knows"):
        Store.open(str(path))


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, not a database, and they are long enough to tell " * 9)
    with pytest.raises(StoreError, match="is not a store"):
        Store.open(str(path))
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE runs (distance REAL)")
    with pytest.raises(StoreError, match="is not a store"):
        Store.open(str(tmp_path / "other.db"))
    with pytest.raises(StoreError, match="does not exist"):
        Store.open(str(tmp_path / "nowhere" / "runs.db"))


def test_a_store_url_is_checked_and_its_password_never_shown(tmp_path: Path) -> None:
    needs("psycopg")
    for odd in ("", "  ", "a\0b", ":memory:", "postgresql://h:port/x"):
        with pytest.raises(StoreError, match="`store` is "):
            Store.open(odd)
    with pytest.raises(StoreError, match="mysql is not supported"):
        Store.open("mysql://root:hunter2@127.0.0.1/x")
    for secret in (
        "postgresql+psycopg://me:hunter2@127.0.0.1:9/x?connect_timeout=2",
        "postgresql+psycopg://me@127.0.0.1:9/x?connect_timeout=2&password=hunter2",
        "postgresql+psycopg://me@127.0.0.1:9/x?connect_timeout=2&sslpassword=hunter2&sslkey=k",
    ):
        with patience(0), pytest.raises(StoreAwayError) as error:
            Store.open(secret)
        assert "hunter2" not in str(error.value)
    for secret in (
        "postgresql+psycopg://me@127.0.0.1:9/x?connect_timeout=hunter2",
        "postgresql+psycopg://me@127.0.0.1:9/x?connect_timeout=2&secret=hunter2",
        "postgresql+psycopg:/me:hunter2@127.0.0.1:9/x",
    ):
        with patience(0), pytest.raises(StoreError) as refused:
            Store.open(secret)
        assert "hunter2" not in str(refused.value)
    assert Store.open(f"sqlite:///{tmp_path / 'a.db'}").name == str(tmp_path / "a.db")


def test_a_full_disk_says_so(tmp_path: Path, dataset: Dataset) -> None:
    path = str(tmp_path / "small.db")
    run = Store.open(path).begin_run(spec(dataset), dataset)

    def allow_no_growth(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # SQLite keeps at least what is there

    event.listen(Engine, "connect", allow_no_growth)
    try:
        full = Store.open(path)
        with pytest.raises(StoreError, match="disk is full; make room and run the same command"):
            full.add_records(run.id, [AnswerRecord(outcome("tone_0", "x" * 1_000_000))])
    finally:
        event.remove(Engine, "connect", allow_no_growth)
    assert Store.open(path).outcomes(run.id) == {}


def test_a_check_on_one_benchmark_leaves_that_on_another(store: Store) -> None:
    samples = made_samples(2)
    grades = {"gpt": {one.id: {"accuracy": 4.0} for one in samples}}
    for benchmark, contract in (("demo", "judge-a"), ("mecat-qa", "judge-b"), ("mine", "judge-a")):
        made = MadeRun("model", grades=grades, signatures={"gpt": contract})
        put_run(store, made, samples, benchmark)
    store.put_judge_check("gpt", "mecat-qa", "judge-b", {"warning": "unsure"})
    store.put_judge_check("gpt", "demo", "judge-a", {"warning": "lax"})
    store.put_judge_check("gpt", "demo", "judge-a", {"warning": "lenient"})
    store.put_judge_check("gpt", "demo", "judge-b", {"warning": None})
    found = {one.benchmark: one for one in store.judge_checks([1, 2, 3], ["gpt", "other"])}
    assert found["demo"].warning == "lenient"
    assert found["mecat-qa"].warning == "unsure"
    assert found["mine"].document is None
    assert found["mine"].warning == "lenient (checked on demo)"
    assert store.judge_checks([1], ["other"]) == []


def test_answers_of_a_deleted_run_are_refused(store: Store, dataset: Dataset) -> None:
    run = store.begin_run(spec(dataset), dataset)
    store.catalog.delete([run.id])
    with pytest.raises(StoreError, match="the run is no longer there"):
        store.add_records(run.id, [AnswerRecord(outcome("tone_0"))])


def test_a_store_closes_itself(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        assert store.runs() == []
    assert store._engine.pool.checkedin() == 0  # type: ignore[attr-defined]


def test_a_name_or_tag_that_is_no_text_is_one_sentence(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "names.db")) as store:
        run_id = acb.run(
            write_folder(tmp_path / "tones", 2), "control/empty", metrics="rouge_l", store=store
        ).run.id
        with pytest.raises(StoreError, match="no text"):
            store.catalog.rename(run_id, "\udcff")
        with pytest.raises(StoreError, match="no text"):
            store.catalog.tag(run_id, ["fine", "a\0b"])


def test_stored_traits_that_are_no_object_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    acb.run(
        write_folder(tmp_path / "tones", 2), "control/empty", metrics="rouge_l", store=str(path)
    )
    for damaged in ("[]", "null", '"x"'):
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE datasets SET traits = ?", (damaged,))
        with pytest.raises(StoreError, match=r"traits of .* are damaged"):
            acb.leaderboard(store=str(path))
