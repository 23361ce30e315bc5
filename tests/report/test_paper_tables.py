"""The paper's tables from one's own runs, and the published models beside them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from audiocapbench.errors import ReportError
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.report.leaderboard.tables import LeaderboardResult
from audiocapbench.report.page.board import board_document
from audiocapbench.report.page.html import write_report
from audiocapbench.report.page.plots import overall_bars, tradeoff_points
from audiocapbench.report.page.report_data import gather, stored_tables
from audiocapbench.scores.estimate import Scorer
from audiocapbench.store import Store
from audiocapbench.table.forms import latex_text, markdown_text
from audiocapbench.table.terminal import fitted
from cells import cells, headings
from command import run_command
from made_store import MadeRun, made_samples, put_run

JUDGE = "openai/gpt-4.1"
SAMPLES = made_samples(997, categories=("sound", "music", "speech"))

PAPER = """
gemini-3-pro-preview 6.18 6.39 5.42 6.00 0.234 0.037 0.152
gemini-2.5-pro 6.00 6.27 5.37 5.88 0.220 0.021 0.127
gemini-2.5-flash 5.78 5.78 5.66 5.74 0.225 0.031 0.141
gpt-4o-audio-preview 5.52 5.12 6.30 5.65 0.211 0.018 0.162
gemini-3-flash-preview 5.68 5.81 5.11 5.53 0.240 0.041 0.172
gemini-2.0-flash 5.01 4.43 6.47 5.30 0.174 0.025 0.188
gpt-audio 4.83 4.53 6.37 5.24 0.196 0.013 0.136
gpt-4o-realtime-preview 4.65 4.29 5.25 4.73 0.204 0.022 0.185
gpt-realtime 4.67 4.46 4.90 4.68 0.209 0.021 0.165
gemini-2.5-flash-lite 4.28 4.03 4.91 4.41 0.184 0.014 0.124
gpt-realtime-mini 4.29 3.89 5.01 4.40 0.188 0.020 0.168
gpt-audio-mini 2.59 2.37 6.84 3.93 0.143 0.011 0.102
gpt-4o-mini-audio-preview 1.63 1.41 7.90 3.65 0.107 0.010 0.103
"""


def put_mine(store: Store, score: float = 5.8, *, missing: int = 3) -> int:
    grades = {
        one.id: {"accuracy": score, "completeness": score - 1, "hallucination": score + 1}
        for one in SAMPLES
    }
    meteor = {one.id: 0.2345 for one in SAMPLES}
    run = MadeRun("own/mine", {"meteor": meteor}, {JUDGE: grades})
    return put_run(store, run, SAMPLES, "audiocapbench", missing=missing).id


@pytest.fixture(scope="module")
def mine() -> Iterator[Store]:
    """A store with a run that lacks three clips; tests only read it."""
    with Store.open("sqlite:///:memory:") as opened:
        put_mine(opened)
        yield opened


def board(store: Store, **wanted: object) -> LeaderboardResult:
    return build_leaderboard(store, published=True, **wanted)  # type: ignore[arg-type]


def test_the_published_rows_are_the_papers_digits(store: Store) -> None:
    (table,) = board(store).table(1).tables()
    shown = "\n".join(" ".join([row[1].partition("/")[2], *row[2:]]) for row in cells(table))
    assert shown == PAPER.strip()
    assert [row[0] for row in cells(table)] == [str(place) for place in range(1, 14)]


def test_printed_numbers_are_part_of_no_test_and_have_no_mark(store: Store) -> None:
    (table,) = board(store).table(1).tables()
    assert not any(any(column.marks) for column in table.text_columns())
    assert "**" not in markdown_text([table])


def test_tables_two_and_three_are_the_papers(store: Store) -> None:
    (table,) = board(store, by_category=True).table(2).tables()
    assert cells(table)[0] == ("gemini/gemini-3-pro-preview", "6.40", "5.68", "5.79")
    (table,) = board(store).table(3).tables()
    assert [row[2:] for row in cells(table)] == [
        ("200", "90"),
        ("200", "104"),
        ("300", "264"),
        ("300", "182"),
        ("1,000", "–"),
    ]


def test_a_run_without_three_clips_stands_among_the_published_with_bounds(mine: Store) -> None:
    (only,) = board(mine, scorer=Scorer(JUDGE, OVERALL)).boards
    assert (len(only.entries), len(only.published)) == (1, 13)
    low, high = only.bounds(only.entries[0]) or (0.0, 0.0)
    assert low == pytest.approx(5.8 * 997 / 1000)
    assert high == pytest.approx((5.8 * 997 + 30) / 1000)
    (page,) = LeaderboardResult((only,), ()).tables()
    assert "worst–best" in headings(page)
    (table,) = LeaderboardResult((only,), ()).table(1).tables()
    own = next(one for one in table.rows if one["model"] == "own/mine")
    assert [own["accuracy"], own["meteor"]] == pytest.approx([5.8, 0.2345])
    assert (own["scored"], own["bleu_4"]) == (997, None)
    assert [own["worst"], own["best"]] == pytest.approx([low, high])
    assert own["rank"] is None, "no test gives it a place among printed ones"
    ranks = [one["rank"] for one in table.rows if one is not own]
    assert ranks == list(range(1, 14))
    assert not any("letter" in note for note in table.notes)
    assert any("3 of them were not there" in note for note in table.notes)


def test_columns_are_chosen_and_an_unknown_one_is_refused(mine: Store) -> None:
    made = board(mine)
    (table,) = made.table(1, ["model", "meteor"]).tables()
    assert headings(table) == ["model", "meteor"]
    with pytest.raises(ReportError, match="there is no column 'melody'; there are rank, model"):
        made.table(1, ["melody"])


def test_rows_for_programs_have_every_dimension_and_tests_are_apart(store: Store) -> None:
    put_mine(store)
    put_mine(store, 4.0)
    found = board(store, all_runs=True, scorer=Scorer(JUDGE, OVERALL))
    rows = found.records()
    assert {row["source"] for row in rows} == {"run", "published, not run here"}
    own = [row["completeness"] for row in rows if row["source"] == "run"]
    assert own == pytest.approx([4.8, 3.0])
    (pair,) = found.tests()
    assert [pair["scored"], pair["difference"]] == pytest.approx([997, 1.8])


def test_figures_and_the_page_show_published_models_beside_runs(store: Store) -> None:
    number = put_mine(store, missing=0)
    data = gather(stored_tables(store, [number]), published=True)
    shown = board_document(store, data, "T")
    bars = overall_bars(shown)
    cells = list(shown.views.values())[1].estimates[shown.headline]
    assert [len(bars), len(tradeoff_points(shown)), len(cells)] == [14, 14, 14]
    assert all(cells)
    labels = [bar.label for bar in bars]
    assert labels[:3] == [
        "gemini/gemini-3-pro-preview (published)",
        "gemini/gemini-2.5-pro (published)",
        "own/mine",
    ]
    assert [one.label for one in shown.models][:2] == ["own/mine", labels[0]]
    assert any("997 not the paper's" in note for note in shown.notes)
    assert gather(stored_tables(store, [number])).published == ()


def test_published_models_stand_below_ranked_runs_also_without_scripts(
    store: Store, tmp_path: Path
) -> None:
    numbers = [put_mine(store), put_mine(store, 4.0)]
    data = gather(stored_tables(store, numbers), published=True)
    write_report(store, data, tmp_path / "page.html", title="T")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<td>printed 1</td><td>–</td>" in page


def test_published_models_without_the_score_are_not_drawn_and_that_is_said(store: Store) -> None:
    run = MadeRun("own/mine", {"cider_d": {one.id: 0.2 for one in SAMPLES}})
    number = put_run(store, run, SAMPLES, "audiocapbench").id
    data = gather(stored_tables(store, [number]), published=True)
    assert data.published == ()
    assert "The published models are not shown: they have no score of cider_d." in data.notes


def test_published_tables_need_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_command("leaderboard", "--published", "--table", "1")
    assert (done.returncode, done.stdout.count("gemini-3-pro-preview")) == (0, 1)
    assert list(tmp_path.iterdir()) == [], "nothing is made"
    wrong = run_command("leaderboard", "--published", "--store", "nowhere.db")
    assert wrong.returncode == 2
    assert "no such store" in wrong.stderr


def test_a_narrow_table_keeps_its_marks(store: Store) -> None:
    (table,) = board(store).table(1).tables()
    table = replace(table, winners={"accuracy": 2, "overall": 0})
    assert r"\textbf{" in latex_text([table])
    columns, left_out = fitted(table, 80)
    assert [one for column in columns for one in column.marks if one]
    whole = {one.look.name: one.marks for one in table.text_columns()}
    assert all(one.marks == whole[one.look.name] for one in columns)
    assert {" ".join(one.heading) for one in columns} | {*left_out} == set(headings(table))
