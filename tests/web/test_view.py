"""What ``view`` answers: the report's numbers, filtered and sorted as a report does."""

import http.client
import json
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from needs import needs

needs("uvicorn")

from audiocapbench.data.outcome import Outcome, Reply
from audiocapbench.engine import score_run
from audiocapbench.report.compare.compute import compare_runs
from audiocapbench.report.page.board import board_document
from audiocapbench.report.page.report_data import ReportData
from audiocapbench.scores.estimate import Scorer
from audiocapbench.store import Store
from audiocapbench.store.unsaved import AnswerRecord
from audiocapbench.web import app as web_app
from command import COMMAND, run_command
from folders import write_folder
from four_models import IDS, JUDGE, SAMPLES, put_models, put_unscored
from made_store import MadeRun, made_samples, put_run
from report_pages import gathered_runs, scored_runs, shown_first
from showing import Shown, showing

JUDGED = f"{JUDGE}\toverall"
NUMBERS = [("list", name) for name in ("runs", "run", "first", "last", "low", "high")]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(str(tmp_path_factory.mktemp("kept") / "runs.db")) as store:
        put_models(store)
        yield store


@pytest.fixture(scope="module")
def data(kept: Store) -> ReportData:
    return gathered_runs(kept, [kept.run(one.id) for one in kept.runs()])


@pytest.fixture(scope="module")
def shown(kept: Store) -> Iterator[Shown]:
    with showing(kept) as found:
        yield found


def test_the_board_is_the_reports(kept: Store, data: ReportData, shown: Shown) -> None:
    board = shown.board()["board"]
    expected = json.loads(json.dumps(board_document(kept, data, data.benchmark).to_dict()))
    assert board == expected


def test_what_is_kept_is_shown_before_anything_is_computed(
    kept: Store, data: ReportData, shown: Shown
) -> None:
    shown.board()
    expected = board_document(kept, data, data.benchmark).to_dict()
    with showing(kept) as fresh:
        told = fresh.ask("board")[1]
    assert told["partial"]
    quick = told["board"]
    runs = [one["run"] for one in expected["models"]]
    order = [[one["run"] for one in quick["models"]].index(run) for run in runs]
    for number, cells in enumerate(expected["views"][""]["estimates"]):
        column = quick["views"][""]["estimates"][number]
        assert quick["scorers"][number]["label"] == expected["scorers"][number]["label"]
        for row, cell in zip(order, cells, strict=True):
            assert column[row]["value"] == cell["value"]
            assert tuple(column[row]["interval"]) == cell["interval"]
    assert quick["headline"] == expected["headline"]
    assert [one["samples"] for name, one in quick["views"].items() if name] == [20, 20]


def test_a_board_too_large_for_memory_ranks_alike(
    kept: Store, data: ReportData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_app, "MOST_AT_ONCE", 10)
    with showing(kept) as fresh:
        told = fresh.board()
        assert told["error"] == ""
        board = told["board"]
    expected = json.loads(json.dumps(board_document(kept, data, data.benchmark).to_dict()))
    found, wanted = shown_first(board), shown_first(expected)
    assert found["ranking"] == wanted["ranking"]
    assert [one["run"] for one in board["models"]] == [one["run"] for one in expected["models"]]
    for number, cells in enumerate(wanted["estimates"]):
        assert [one and one["value"] for one in found["estimates"][number]] == [
            one and one["value"] for one in cells
        ]


def listed(shown: Shown, **query: Any) -> list[str]:
    asked = {"score": JUDGED, "runs": "1,2,3,4", "first": 0, "last": 100} | query
    status, told = shown.ask("list", **asked)
    assert status == 200, told
    assert told["total"] == len(told["rows"])
    assert told["all"] == len(SAMPLES)
    return [one["id"] for one in told["rows"]]


def table(data: ReportData, scorer: Scorer, *runs: int) -> Any:
    """Scores of runs by sample."""
    own = [place for run in runs for place, one in enumerate(data.runs) if one.run.id == run]
    return data.scores[scorer][own]


def test_any_score_sorts_either_way(data: ReportData, shown: Shown) -> None:
    for name, scorer in ((JUDGED, Scorer(JUDGE, "overall")), ("rouge_l", Scorer("rouge_l"))):
        means = np.nanmean(table(data, scorer, 1, 2, 3, 4), axis=0)
        spread = np.ptp(np.nan_to_num(table(data, scorer, 1, 2, 4)), axis=0)
        low = [IDS[place] for place in np.argsort(means, kind="stable")]
        assert listed(shown, score=name, sort="lowest") == low
        high = [IDS[place] for place in np.argsort(-means, kind="stable")]
        assert listed(shown, score=name, sort="highest") == high
        far = [IDS[place] for place in np.argsort(-spread, kind="stable")]
        assert listed(shown, score=name, sort="differ", runs="1,2,4") == far
    # Who has no score comes last, whichever way.
    for sort in ("lowest", "highest"):
        assert listed(shown, run=3, sort=sort)[-3:] == IDS[:3]


def test_filters_narrow_the_list_together(data: ReportData, shown: Shown) -> None:
    assert listed(shown) == IDS
    assert listed(shown, category="music") == IDS[1::2]
    assert listed(shown, status="refused") == IDS[:3]
    assert listed(shown, status="refused", run=1) == []
    assert listed(shown, status="refused", category="music") == [IDS[1]]
    values = table(data, Scorer(JUDGE, "overall"), 1)[0]
    inside = [key for key, value in zip(IDS, values, strict=True) if 6 <= value <= 7]
    assert listed(shown, run=1, low=6, high=7) == inside
    assert listed(shown, search="BARKS 2 times S0007") == ["s0007"]
    assert listed(shown, search="reference nowhere") == []
    assert listed(shown, search="100%_") == []
    assert listed(shown, runs="", low=1) == []


def test_a_search_finds_letters_of_any_alphabet_and_case(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        samples = made_samples(4)
        said = {"heard as": ['ÉLAN \\ und "Straße"', 1.5]}
        samples = (*samples[:3], replace(samples[3], references=("Ein Hörnchen",), details=said))
        texts = {"s0000": "СоБаКа лает, ÉLan!", "s0001": "狗在叫 100%_", "s0002": "plain dog"}
        put_run(store, MadeRun("made/one", texts=texts), samples)
        words = {"собака": [0], "éLAN": [0, 3], "狗在": [1], "0%_": [1], "DOG": [2], "0_%": []}
        words |= {"HÖRNCHEN": [3], "élan straße": [3], "1.5": [3], "сОБАКА élan": [0]}
        with showing(store) as fresh:
            for word, places in words.items():
                rows = fresh.ask("list", runs="1", search=word, first=0, last=9)[1]["rows"]
                assert [row["id"] for row in rows] == [f"s{place:04}" for place in places], word


def test_a_page_is_a_part_of_the_list_and_says_where_a_sample_stands(shown: Shown) -> None:
    query = {"score": JUDGED, "runs": "1,2", "sort": "lowest"}
    whole = shown.ask("list", **query, first=0, last=40)[1]["rows"]
    part = shown.ask("list", **query, first=10, last=14)[1]
    assert (part["total"], part["rows"]) == (40, whole[10:14])
    assert shown.ask("find", **query, id=whole[12]["id"])[1] == {"place": 12}
    assert shown.ask("find", **query, id="nowhere")[1] == {"place": -1}
    assert shown.ask("find", **query, category="music", id=IDS[0])[1] == {"place": -1}


def test_a_sample_has_every_answer_and_score(data: ReportData, shown: Shown) -> None:
    names = [one.label.replace(f"{JUDGE}: ", f"{JUDGE}\t") for one in data.scorers]
    told = shown.ask("clip", id="s0007", scorers="\n".join(names))[1]
    assert told["references"] == ["reference 7"]
    for row, run in enumerate(data.runs):
        answer = told["answers"][str(run.run.id)]
        assert answer["text"] == run.table.outcomes["s0007"].reply.text
        expected = [data.scores[one][row][7] for one in data.scorers]
        assert answer["scores"] == pytest.approx(expected)
    refused = shown.ask("clip", id="s0000", scorers="\n".join(names))[1]["answers"]["3"]
    assert (refused["status"], refused["scores"]) == ("refused", [None] * len(names))
    assert shown.ask("clip", id="../../etc/passwd")[1] is None


def test_two_runs_are_compared_as_on_the_terminal(kept: Store, shown: Shown) -> None:
    told = shown.ask("compared", a=1, b=3)[1]
    found = compare_runs(kept, 1, 3).to_dict()
    assert told["verdict"] == found["verdict"]
    rows = [one for one in found["differences"] if one["category"] == "all"]
    for one in rows:
        zero = [one["a"], one["b"]] if one["as_zero"] else None
        one |= {"p": one["p_adjusted"], "interval": one["ci"], "zero": zero}
    names = ("scorer", "n", "zero", "difference", "interval", "p")
    assert told["rows"] == [{name: one[name] for name in names} for one in rows]


def test_the_verdict_follows_the_runs_that_come(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        steps = {key: 0.3 + 0.005 * place for place, key in enumerate(IDS)}

        def put(model: str, more: float) -> None:
            scores = {"rouge_l": {key: score + more for key, score in steps.items()}}
            put_run(store, MadeRun(model, scores), SAMPLES)

        put("made/one", 0.0)
        put("made/two", 0.1)
        with showing(store) as fresh:
            first = shown_first(fresh.board()["board"])["verdict"]
            put("made/three", 0.2)
            second = shown_first(fresh.board()["board"])["verdict"]
    assert first == "made/two beats made/one in rouge_l on 40 samples."
    assert second == "made/three beats the other 2 in rouge_l on 40 samples (Holm, 3 tests)."


@pytest.mark.parametrize(
    ("what", "query"),
    [
        ("list", {"first": "0", "last": "9999"}),
        ("list", {"first": "-5", "last": "10"}),
        ("list", {"first": "x", "last": "10"}),
        ("list", {"runs": "1;drop table runs", "first": 0, "last": 5}),
        ("list", {"sort": "sideways", "first": 0, "last": 5}),
        ("list", {"low": "nan", "first": 0, "last": 5}),
        ("list", {"run": "9" * 40, "first": 0, "last": 5}),
        *(
            (what, {name: "9" * 5_000})
            for what, name in (*NUMBERS, ("compared", "a"), ("compared", "b"))
        ),
        ("list", {"runs": ",".join("1" * 2_000), "first": 0, "last": 5}),
        ("list", {"benchmark": "other", "first": 0, "last": 5}),
        ("compared", {"a": "one", "b": 2}),
        ("compared", {"a": 1, "b": 99}),
    ],
)
def test_a_strange_request_is_refused(shown: Shown, what: str, query: Any) -> None:
    status, told = shown.ask(what, **query)
    assert status == 422
    assert set(told) == {"error"}


def test_a_benchmark_that_is_not_there_is_said_calmly(shown: Shown) -> None:
    status, told = shown.ask("board", benchmark="other<b>")
    assert (status, told["board"], told["benchmarks"]) == (200, None, ["made"])
    assert "there is no benchmark other<b> in the store" in told["error"]


def test_samples_that_a_run_was_not_asked_about_yet_are_found(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        put_models(store)
        run = put_unscored(store, "new/model")
        for one in IDS[:30]:
            store.add_records(run.id, [AnswerRecord(Outcome(one, Reply("A dog."), None, 5.0, 0.5))])
        score_run(store, run, ["rouge_l"])
        with showing(store) as shown:
            assert "not asked" in shown.ask("board")[1]["present"]
            query = {"score": "rouge_l", "status": "not asked"}
            assert listed(shown, runs=f"1,{run.id}", **query) == IDS[30:]
            assert listed(shown, runs="1,2", **query) == []


def test_sound_is_what_was_asked_about_or_none(tmp_path: Path) -> None:
    write_folder(tmp_path, 3)
    store, _ = scored_runs(tmp_path, "control/right")
    (tmp_path / "clips" / "0.wav").write_bytes(b"something else")
    (tmp_path / "clips" / "1.wav").unlink()
    with store, showing(store) as shown:
        ids = [one["id"] for one in shown.ask("list", first=0, last=9, runs=1)[1]["rows"]]
        why = "the file has changed since the run began"
        assert shown.ask("audio", id=ids[0])[1] == {"missing": why}
        gone = "the file cannot be read (No such file or directory)"
        assert shown.ask("audio", id=ids[1])[1] == {"missing": gone}
        assert shown.ask("audio", id=ids[2])[1] == (tmp_path / "clips" / "2.wav").read_bytes()
        for name in ("clips/2.wav", "/etc/passwd", "..", ""):
            assert set(shown.ask("audio", id=name)[1]) == {"missing"}


def test_a_stranger_needs_the_token(kept: Store) -> None:
    with showing(kept, token="abcdef1234567890") as shown:
        assert shown.ask("board")[0] == 401
        assert shown.ask("list", first=0, last=5, token="wrong")[0] == 401


def test_the_command_shows_where_and_ends_when_told(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "audiocapbench.db")) as store:
        put_models(store)
    words = [*COMMAND, "view", "--port", "0", "--no-open"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    with urllib.request.urlopen(address, timeout=120) as reply:
        assert "script-src 'self'" in reply.headers["content-security-policy"]
        assert b'src="page.js"' in reply.read()
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)) as open_page:
        open_page.request("GET", "/api/live")
        live = json.loads(open_page.getresponse().read())
        assert live["tasks"] == []
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=120)
    _, said, end = told.partition("Ctrl-C ends it.\n")
    assert said
    assert end == "audiocapbench: interrupted\n"


def test_what_cannot_be_shown_is_said_plainly(tmp_path: Path) -> None:
    done = run_command("view", "--no-open", "--port", "0", cwd=tmp_path)
    assert done.returncode == 2
    assert "no such store" in done.stderr
    with Store.open(str(tmp_path / "audiocapbench.db")) as store:
        put_models(store)
    done = run_command("view", "--no-open", "--port", "0", "--token", "short", cwd=tmp_path)
    assert done.returncode == 2
    assert "--token: give 20 letters and digits at least" in done.stderr
    done = run_command("view", "99", "--no-open", "--port", "0", cwd=tmp_path)
    assert "has no run 99" in done.stderr
