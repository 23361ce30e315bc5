"""How runs beside published rows depart from the paper, and what each departure changes."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from audiocapbench.benchmarks.captioning import instruction_for
from audiocapbench.benchmarks.registry import subject
from audiocapbench.benchmarks.traits import Traits
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Reply
from audiocapbench.engine.importing import import_run, model_name, read_files
from audiocapbench.judges import create_judge
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.judges.published import audiocapbench_contract
from audiocapbench.models import create_models
from audiocapbench.report.leaderboard.board import Board
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.report.page.board import board_document
from audiocapbench.report.page.report_data import gather, stored_tables
from audiocapbench.report.runs import export_result
from audiocapbench.scores.departures import (
    TABLE,
    Departure,
    as_objects,
    departures,
    in_full,
    in_short,
)
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.table import RunTable, TableReader
from audiocapbench.signature import sign
from audiocapbench.store import Store
from audiocapbench.store.unsaved import AnswerRecord
from cells import cells, headings
from made_store import MadeRun, emptied, put_run

JUDGE = "openai/gpt-4.1"
LISTS = {"clotho": ("sound", 200), "audiocaps": ("sound", 200)}
LISTS |= {"musiccaps": ("music", 300), "speech": ("speech", 300)}
TOOL: dict[str, Any] = {"protocol": "published", "host": "api.openai.com", "temperature": 0.0}
TOOL |= {"max_completion_tokens": 256}
OURS = {"host": "api.openai.com", "temperature": 0.0, "max_completion_tokens": 1_024}


def papers(*, left_out: int = 0, seconds: float = 30.0) -> list[Sample]:
    """The paper's samples by their ids, without some; music lasts so long."""
    named = [(f"{name}_{at}", kind) for name, (kind, n) in LISTS.items() for at in range(n)]
    kept = [one for at, one in enumerate(named) if not 1 <= at <= left_out]
    found = []
    for at, (key, kind) in enumerate(kept):
        clip = Clip(
            Path(key),
            f"{key}.wav",
            f"{key} {seconds}",
            seconds if kind == "music" else 9.0,
            16_000,
            1,
        )
        asked, said = instruction_for(kind, at), (f"reference {key}",)
        found.append(Sample(key, clip, asked, said, kind, at, {}))
    return found


def signature(*, published: bool, schema: bool = False) -> str:
    made = audiocapbench_contract(protocol="published" if published else "ours")
    more = "".join(f"|{key}:{value}" for key, value in made.made_with)
    held = "|model.schema:abc" if schema else ""
    return f"judge-audiocapbench{held}|prompt:{made.prompt_hash}|hears:no{more}|protocol:1"


def put(store: Store, samples: list[Sample], judge: str = JUDGE, **how: Any) -> int:
    grades = {
        one.id: {"accuracy": 5.0, "completeness": 4.0, "hallucination": 6.0} for one in samples
    }
    told: dict[str, Any] = {"parameters": TOOL, "signatures": {judge: signature(published=True)}}
    told |= how
    benchmark, asked = told.pop("benchmark", "audiocapbench"), told.pop("asked", None)
    run = MadeRun(told.pop("model", "openai/gpt-audio"), grades={judge: grades}, **told)
    return put_run(store, run, samples, benchmark, asked=asked).id


def found(store: Store, run: int, judge: str | None = JUDGE) -> list[Departure]:
    return departures(store, {"x": TableReader(store).read(store.run(run))}, judge)["x"]


def names(store: Store, run: int, judge: str | None = JUDGE) -> dict[str, str]:
    return {one.name: one.short for one in found(store, run, judge)}


class Kept(NamedTuple):
    """A store that tests only read: runs to the letter, by our protocol, and without 3 clips."""

    store: Store
    exact: int
    ours: int
    few: int

    def table(self, **changes: Any) -> RunTable:
        found = TableReader(self.store).read(self.store.run(self.exact))
        found.run = replace(found.run, **changes)
        return found


@pytest.fixture(scope="module")
def kept() -> Iterator[Kept]:
    with Store.open("sqlite:///:memory:") as made:
        judged = {JUDGE: signature(published=False, schema=True)}
        exact = put(made, papers())
        ours = put(made, papers(seconds=10.0), parameters=OURS, signatures=judged)
        few = put(made, papers(left_out=3, seconds=10.0), parameters=OURS)
        lower = {"accuracy": 2.0, "completeness": 4.0, "hallucination": 6.0}
        said, other = made.judgements(ours, JUDGE)[:60], f"{JUDGE}[prompt=tool]"
        made.add_judgements(ours, [replace(one, judge=other, scores=lower) for one in said])
        yield Kept(made, exact, ours, few)


def only(store: Store, judge: str = JUDGE) -> Board:
    (board,) = build_leaderboard(store, published=True, scorer=Scorer(judge, OVERALL)).boards
    return board


def test_a_run_that_is_exactly_the_papers_departs_in_nothing(kept: Kept) -> None:
    own = found(kept.store, kept.exact)
    assert (own, in_short(own)) == ([], "none")
    assert in_full({"a": own}) == ["Departs from the paper: none."]


def test_our_own_protocol_says_each_of_its_departures(kept: Kept) -> None:
    assert names(kept.store, kept.ours) == {
        "music": "10 s music",
        "tokens": "1,024 tokens",
        "answers": "strict answers",
        "prompt": "paper layout",
        "schema": "schema",
        "reading": "strict verdicts",
    }
    # Beside a metric nobody judged.
    assert set(names(kept.store, kept.ours, None)) == {"music", "tokens", "answers"}


def test_what_the_store_has_judged_both_ways_is_what_a_departure_changes(kept: Kept) -> None:
    told = {one.name: one.measured for one in found(kept.store, kept.ours)}
    moved = "+1.00 ± 0.56 on overall, +3.00 ± 0.56 on accuracy, +0.00 ± 0.56 on completeness"
    assert told.pop("prompt").startswith(f"measured: {moved}")
    assert set(told.values()) == {"not measured"}


def test_settings_that_the_tool_has_not_are_departures(kept: Kept) -> None:
    realtime = {"protocol": "published", "temperature": "default", "max_output_tokens": "inf"}
    cases: list[tuple[str, dict[str, Any], str, dict[str, str]]] = [
        ("openai/a", TOOL | {"temperature": 0.7}, "wav", {"temperature": "temperature 0.7"}),
        ("openai/a", TOOL | {"system": "Hi."}, "wav", {"system": "system prompt"}),
        ("openai/a", TOOL | {"audio": False}, "none", {"audio": "no audio"}),
        ("gemini/gemini-2.5-pro", TOOL, "wav", {"tokens": "256 tokens"}),
        ("gemini/gemini-2.5-pro", {**TOOL, "max_completion_tokens": 8_192}, "wav", {}),
        ("dashscope/qwen-audio-turbo", {"protocol": "published", "host": "h"}, "wav", {}),
        (
            "openai-realtime/a",
            realtime,
            "pcm16, 24000 Hz, mono",
            {"audio": "raw PCM", "temperature": "temperature not set"},
        ),
        ("listener", {}, "wav", {"tokens": "no token limit", "answers": "strict answers"}),
    ]
    table = kept.table()
    for model, parameters, contract, expected in cases:
        table.run = replace(table.run, model=model, parameters=parameters, contract=contract)
        own = departures(kept.store, {"x": table}, JUDGE)["x"]
        assert {one.name: one.short for one in own} == expected, (model, parameters)


def test_instructions_and_other_mix_downs_are_counted(store: Store) -> None:
    samples = papers()
    samples[7] = replace(samples[7], instruction="What is this?")
    run = put(store, samples, asked=[one.id for one in samples if one.id != "clotho_3"])
    said = Reply("x", error="the mean of its 2 channels loses 60.0 dB; heard by channel 1")
    store.add_records(run, [AnswerRecord(Outcome("clotho_3", said, None, 5.0, 0.5))])
    assert names(store, run) == {
        "clips": "999 of 1,000 judged",
        "instructions": "1 other instruction",
        "mix-down": "1 other mix-down",
    }


def test_empty_captions_that_no_judge_was_asked_about_are_counted(kept: Kept) -> None:
    table = kept.table()
    table.coverage = table.coverage._replace(empty=2)
    (one,) = departures(kept.store, {"x": table}, JUDGE)["x"]
    assert (one.name, one.short) == ("reading", "2 empty captions")


def test_another_judge_is_a_departure_and_its_rows_stand_apart_with_a_note(store: Store) -> None:
    run = put(store, papers(), "openai/gpt-5")
    assert names(store, run, "openai/gpt-5") == {"judge": "judge openai/gpt-5"}
    made = build_leaderboard(store, published=True, scorer=Scorer("openai/gpt-5", OVERALL))
    assert [len(one.published) for one in made.boards] == [0, 13]
    assert any("have no openai/gpt-5: overall" in one for one in made.notes)


def test_what_an_old_run_does_not_record_is_unknown_and_never_none(kept: Kept) -> None:
    table = kept.table(parameters={}, kind="imported")
    samples = [replace(one, clip=Clip.absent(one.id), instruction="") for one in table.samples]
    table.samples, table.judge_signatures = tuple(samples), {JUDGE: sign("judge-of-old")}
    own = departures(kept.store, {"x": table}, JUDGE)["x"]
    assert {one.name for one in own} == set(TABLE) - {"clips", "judge"}
    assert in_short(own).startswith("unknown: music, instructions")


def test_nobody_departs_from_a_paper_that_there_is_not(kept: Kept) -> None:
    table = kept.table(benchmark="audiocapbench-custom")
    assert departures(kept.store, {"x": table}, JUDGE) == {}
    assert as_objects(None) is None, "and not that nothing departs"
    assert departures(kept.store, {"x": kept.table(benchmark="folder/own")}, JUDGE) == {"x": []}


def test_997_of_the_papers_clips_stand_with_the_13_and_say_so(kept: Kept) -> None:
    how: dict[str, Any] = {"published": True, "scorer": Scorer(JUDGE, OVERALL)}
    (board,) = build_leaderboard(kept.store, runs=[kept.few], **how).boards
    assert names(kept.store, kept.few)["clips"] == "997 of 1,000 clips"
    assert (len(board.entries), len(board.published), board.missing_clips) == (1, 13, 3)
    low, high = board.bounds(board.entries[0]) or (0.0, 0.0)
    assert (low, high) == pytest.approx((5 * 0.997, 5 * 0.997 + 0.03))


def test_some_of_the_papers_clips_or_other_ids_stand_apart_with_a_note(store: Store) -> None:
    few = [one for one in papers() if one.category != "speech"]
    put(store, few)
    made = build_leaderboard(store, published=True, scorer=Scorer(JUDGE, OVERALL))
    assert [len(one.published) for one in made.boards] == [0, 13]
    assert any("the runs about 700" in one for one in made.notes)
    other = [replace(one, id=f"{one.id}x") for one in papers(left_out=3)]
    put(emptied(store), other)
    made = build_leaderboard(store, published=True, scorer=Scorer(JUDGE, OVERALL))
    assert [len(one.published) for one in made.boards] == [0, 13]


def result_file(path: Path, samples: list[Sample], **head: Any) -> Path:
    """A result as the published tool writes it."""
    judged = {"accuracy": 5.0, "completeness": 4.0, "hallucination": 6.0, "overall": 5.0}
    rows = [
        {"id": one.id, "category": one.category, "audio_file": one.clip.file_name}
        | {"instruction": one.instruction, "prediction": "A tone.", "inference_time": 1.0}
        | {"reference_captions": list(one.references), "llm_judge": judged | {"reasoning": ""}}
        for one in samples
    ]
    about = {"provider": "openai", "model_id": "gpt-audio", "total_samples": len(rows)}
    path.write_text(json.dumps(about | head | {"results": rows}), encoding="utf-8")
    return path


def imported(store: Store, path: Path) -> int:
    about = subject([str(path)], None)
    told = read_files([str(path)], about)
    return import_run(store, about, told, model_name(None, told), judge="gpt-4.1").run.id


def test_a_result_file_of_the_tool_with_997_results_stands_with_the_13(
    store: Store, tmp_path: Path
) -> None:
    run = imported(store, result_file(tmp_path / "r.json", papers(left_out=3)))
    told = in_short(found(store, run, "gpt-4.1"))
    assert told == "997 of 1,000 clips, unknown: music, temperature, tokens"
    assert len(only(store, "gpt-4.1").published) == 13


def test_verdicts_that_are_missing_or_contradict_themselves_are_said(
    store: Store, tmp_path: Path
) -> None:
    path = result_file(tmp_path / "r.json", papers())
    document = json.loads(path.read_text())
    for at, row in enumerate(document["results"]):
        if at % 3:
            del row["llm_judge"]
    document["results"][0]["llm_judge"]["overall"] = 9.9
    path.write_text(json.dumps(document))
    told = read_files([str(path)], subject([str(path)], None))
    end = import_run(store, subject([str(path)], None), told, "other", judge="gpt-4.1")
    assert in_short(found(store, end.run.id, "gpt-4.1")).startswith("334 of 1,000 judged, ")
    assert "the file says 'gpt-audio'; kept as 'other'" in end.note
    assert "the mean of its scores in 1 of 1,000 results; the scores count" in end.note


def test_a_result_records_its_departures_and_an_import_of_it_has_them(
    kept: Kept, store: Store, tmp_path: Path
) -> None:
    document = export_result(kept.store, kept.store.run(kept.ours), judge=JUDGE)
    assert document["protocol"] == "ours"
    recorded = {one["name"]: one["short"] for one in document["departures"]}
    assert recorded == names(kept.store, kept.ours)
    (tmp_path / "r.json").write_text(json.dumps(document), encoding="utf-8")
    again = imported(store, tmp_path / "r.json")
    assert names(store, again) == recorded


def test_every_table_and_page_has_the_departures(kept: Kept) -> None:
    store, run = kept.store, kept.few
    wanted = "997 of 1,000 clips, 10 s music, 1,024 tokens, strict answers"
    how: dict[str, Any] = {"by_category": True, "scorer": Scorer(JUDGE, OVERALL), "runs": [run]}
    made = build_leaderboard(store, published=True, **how)
    for table in (made.tables()[0], *(made.table(number).tables()[0] for number in (1, 2))):
        at = headings(table).index("departs")
        assert sorted({row[at] for row in cells(table)}) == sorted({"", wanted}), table.title
        assert any("10 s music; published: whole clips of 30 s" in note for note in table.notes)
    assert any("10 s music; " in note for note in made.table(3).tables()[0].notes)
    rows = {row["departures"] for row in made.records() if row["source"] == "run"}
    assert rows == {wanted}
    (entry,) = made.to_dict()["boards"][0]["runs"]
    assert [one["name"] for one in entry["departures"]] == ["clips", "music", "tokens", "answers"]
    shown = board_document(store, gather(stored_tables(store, [run]), published=True), "T")
    assert shown.models[0].departures == wanted
    assert any("10 s music; published" in note for note in shown.notes)


DOCS = Path(__file__).parents[2] / "docs"


def test_the_documentation_has_the_one_table() -> None:
    page = (DOCS / "benchmarks" / "audiocapbench.md").read_text("utf-8")
    table = page.partition("| departure |")[2].partition("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table]
    assert {name: theirs for name, theirs, *_ in rows} == TABLE


def test_the_page_on_table_1_says_how_its_own_commands_depart(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    name, limit = "openai/gpt-4o-audio-preview", Traits().max_tokens
    [model] = create_models([name], max_tokens=limit)
    how: dict[str, Any] = {"parameters": model.parameters, "model": name}
    run = put(
        store, papers(seconds=10.0), signatures={JUDGE: str(create_judge(JUDGE).signature)}, **how
    )
    page = " ".join((DOCS / "table1.md").read_text("utf-8").split())
    assert f"`{in_short(found(store, run))}`" in page
    assert "10 s of music, which the captions describe, are not the 30 s" in page


def test_what_a_stranger_writes_into_a_result_is_read_or_unknown(
    store: Store, tmp_path: Path
) -> None:
    judge = "my [judge"
    made = {"signatures": {"llm": "x||:|protocol:z"}, "judge": judge, "departures": []}
    run = imported(store, result_file(tmp_path / "odd.json", papers(), **made))
    table = TableReader(store).read(store.run(run))
    odd: Any
    for odd in ([], ["x", None, 3], [{"name": ["tokens"], "short": {}}], [{"name": "tokens"}], {}):
        table.run = replace(table.run, source={**made, "departures": odd})
        told = {one.name for one in departures(store, {"x": table}, judge)["x"]}
        assert "judge" in told, odd
        assert ("tokens" in told) == (odd in ([{"name": "tokens"}], {})), "unknown, not none"
    assert build_leaderboard(store, published=True).boards


def test_an_import_does_not_claim_to_have_heard_the_clips_that_are_here(kept: Kept) -> None:
    """The file's model may have heard others than the folder that it is held against."""
    table = kept.table(kind="imported", source={"provider": "openai", "model_id": "gpt-audio"})
    told = in_short(departures(kept.store, {"x": table}, None)["x"])
    assert told == "unknown: music, instructions, temperature, tokens"
