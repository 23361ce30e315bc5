"""Findings and stages in the store: kept once, replaced whole, and gone with what they stood on."""

import sqlite3
from pathlib import Path

from audiocapbench.store import Store
from audiocapbench.store.cache import Finding, StageRecord

CLIP = "a" * 64


def test_a_store_of_the_version_before_gains_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    Store.open(str(path)).close()
    with sqlite3.connect(path) as plain:
        for table in ("findings", "annotations", "batch_lines", "batches"):
            plain.execute(f"DROP TABLE {table}")
        plain.execute("UPDATE schema_version SET version = 4")
    with Store.open(str(path)) as store:
        store.annotations.add_findings([Finding(CLIP, "signal", "signal|1", "ok", {"rms": -3.5})])
        assert (
            store.annotations.findings({"signal": "signal|1"}, [CLIP])[CLIP]["signal"].document[
                "rms"
            ]
            == -3.5
        )


def test_a_finding_is_kept_by_clip_and_by_how_the_expert_was_set_up(store: Store) -> None:
    store.annotations.add_findings(
        [Finding(CLIP, "asr", "asr|tiny", "failed", {}, "out of memory")]
    )
    store.annotations.add_findings([Finding(CLIP, "asr", "asr|tiny", "ok", {"text": "hello"})])
    store.annotations.add_findings([Finding(CLIP, "asr", "asr|large", "ok", {"text": "Hello!"})])
    assert store.annotations.findings({"asr": "asr|tiny"}, [CLIP])[CLIP]["asr"].document == {
        "text": "hello"
    }
    assert store.annotations.findings({"asr": "asr|large"}, [CLIP])[CLIP]["asr"].document == {
        "text": "Hello!"
    }
    assert store.annotations.findings({"asr": "asr|other"}, [CLIP]) == {}


def record(clip: str, stage: str, word: str) -> StageRecord:
    return StageRecord(clip, stage, "ok", {"word": word})


def test_what_stood_on_another_word_goes_with_it(store: Store) -> None:
    store.annotations.put_stage("p", "hear", [record("a", "hear", "x"), record("b", "hear", "x")])
    store.annotations.put_stage(
        "p", "merge", [record("a", "merge", "y"), record("b", "merge", "y")]
    )
    store.annotations.put_stage("other", "merge", [record("a", "merge", "z")])
    store.annotations.put_stage("p", "hear", [record("a", "hear", "x"), record("b", "hear", "new")])
    assert set(store.annotations.records("p", "merge")) == {"a"}
    store.annotations.put_stage("p", "hear", [record("b", "hear", "new")])
    assert store.annotations.records("p", "merge") == {}
    assert set(store.annotations.records("p", "hear")) == {"b"}
    assert set(store.annotations.records("other", "merge")) == {"a"}


def test_what_a_stage_was_told_is_kept_under_its_name(store: Store) -> None:
    store.annotations.put_settings("p", "hear", {"experts": {}})
    store.annotations.put_settings("p", "merge", {"llm": "a"})
    store.annotations.put_settings("p", "merge", {"llm": "b"})
    assert store.annotations.settings("p") == {"hear": {"experts": {}}, "merge": {"llm": "b"}}
