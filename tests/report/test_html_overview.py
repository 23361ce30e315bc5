"""The report's tables: who may be ranked, what is in bold, and what the page says about it."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiocapbench.data.outcome import Status
from audiocapbench.errors import ReportError
from audiocapbench.report.compare.compute import compare_runs
from audiocapbench.report.page import board as page_board
from audiocapbench.report.page.board import board_document
from audiocapbench.report.page.html import write_report
from audiocapbench.report.page.plots import lengths_of
from audiocapbench.stats import FEWEST_FOR_INTERVAL
from audiocapbench.store import Run, Store
from made_store import MadeRun, made_samples, put_run
from mecat_runs import items, stored_run
from report_pages import gathered_runs, shown_first

SAMPLES = made_samples(40, categories=("sound", "music"))
IDS = [one.id for one in SAMPLES]


def scored(store: Store, model: str, scores: Sequence[float | None], **more: Any) -> Run:
    """A run with a score for each sample; None for one that failed."""
    given = {key: score for key, score in zip(IDS, scores, strict=False) if score is not None}
    failed = {key: Status.FAILED for key in IDS if key not in given}
    made = MadeRun(model, scores={"rouge_l": given}, statuses=failed, **more)
    return put_run(store, made, SAMPLES)


def page_of(store: Store, runs: list[Run], folder: Path) -> str:
    path = folder / "page.html"
    write_report(store, gathered_runs(store, runs), path, title="T", audio="none")
    return path.read_text(encoding="utf-8").split('<script type="application/octet-stream"')[0]


def board_of(store: Store, runs: list[Run]) -> dict[str, Any]:
    document = board_document(store, gathered_runs(store, runs), "T").to_dict()
    return document | shown_first(document)


def bold(board: dict[str, Any]) -> list[list[bool]]:
    """For each model, which of its scores are marked."""
    models = range(len(board["models"]))
    return [[one == place for one in board["views"][""]["winners"]] for place in models]


def test_a_score_over_easier_samples_is_not_marked(store: Store, tmp_path: Path) -> None:
    easy = [0.8 + 0.001 * place for place in range(24)]
    choosy = scored(store, "made/choosy", [*easy, *[None] * 16])
    whole = scored(store, "made/whole", [*(score + 0.1 for score in easy), *[0.1] * 16])
    board = board_of(store, [choosy, whole])
    assert [one["label"] for one in board["models"]] == ["made/whole", "made/choosy"]
    assert [(one["rank"], one["open"]) for one in board["ranking"]["places"]] == [
        (1, "1"),
        (2, "2"),
    ]
    assert [f"{one['zero']:.3f}" for one in board["estimates"][0]] == ["0.587", "0.487"]
    assert bold(board) == [[True], [False]]
    page = page_of(store, [choosy, whole], tmp_path)
    assert "The models did not fail on the same samples." in page
    assert "made/choosy: 16 failed." in page
    assert '<th scope="col">as zero</th>' in page
    assert page.count('class="best"') == 1


def test_who_beats_all_others_heads_the_page_and_is_marked(store: Store, tmp_path: Path) -> None:
    low = scored(store, "made/low", [0.2 + 0.01 * place for place in range(40)])
    high = scored(store, "made/high", [0.4 + 0.01 * place for place in range(40)])
    board = board_of(store, [low, high])
    assert bold(board) == [[True], [False]]
    assert [one["rank"] for one in board["ranking"]["places"]] == [1, 2]
    assert board["verdict"] == "made/high beats made/low in rouge_l on 40 samples."
    page = page_of(store, [low, high], tmp_path)
    assert '<th scope="col">rank (ranks)</th>' in page
    assert '<th scope="col">as zero</th>' not in page
    assert f'<p class="verdict" dir="auto">{board["verdict"]}</p>' in page


def test_a_score_that_is_only_higher_is_not_marked(store: Store) -> None:
    def made(model: str, gap: float, tied: float) -> Run:
        scores = {
            "rouge_l": {key: 0.3 + 0.01 * place for place, key in enumerate(IDS)},
            "meteor": {
                key: gap + 0.01 * place + tied * (place % 3 - 1) for place, key in enumerate(IDS)
            },
            "bleu_1": {key: 0.3 + tied * (place % 5 - 2) for place, key in enumerate(IDS)},
        }
        return put_run(store, MadeRun(model, scores=scores), SAMPLES)

    runs = [made(f"made/{number}", 0.3 - 0.1 * number, 0.04 * number) for number in range(3)]
    board = board_of(store, runs)
    marks = dict(
        zip((one["label"] for one in board["scorers"]), board["views"][""]["winners"], strict=True)
    )
    (place,) = (at for at, one in enumerate(board["models"]) if one["label"] == "made/0")
    assert marks == {"rouge_l": None, "meteor": place, "bleu_1": None}


def test_a_run_that_was_stopped_is_ranked_on_what_all_have(store: Store, tmp_path: Path) -> None:
    steps = {key: 0.2 + 0.01 * place for place, key in enumerate(IDS)}
    whole = put_run(store, MadeRun("made/whole", {"rouge_l": steps}), SAMPLES)
    better = {key: score + 0.08 + 0.02 * (at % 3) for at, (key, score) in enumerate(steps.items())}
    part = put_run(store, MadeRun("made/part", {"rouge_l": better}), SAMPLES, asked=IDS[:30])
    board = board_of(store, [whole, part])
    assert (board["ranking"]["uneven"], board["ranking"]["ground"]) == (True, 30)
    page = page_of(store, [whole, part], tmp_path)
    assert '<th scope="col">on 30</th>' in page
    assert '<td class="best">0.445</td>' in page
    assert page.count('class="best"') == 1
    assert "<td>0.345</td>" in page
    assert board["verdict"] == "made/part beats made/whole in rouge_l on 30 samples."


def test_what_a_race_says_heads_the_page_of_its_runs(store: Store, tmp_path: Path) -> None:
    scores = {"rouge_l": dict.fromkeys(IDS, 0.5)}
    run = put_run(store, MadeRun("made/raced", scores), SAMPLES, asked=IDS[:30])
    said = "made/raced is best on these clips <b>."
    store.catalog.note_race([run.id], "rouge_l", {"statement": said})
    page = page_of(store, [store.run(run.id)], tmp_path)
    assert '<p class="verdict" dir="auto">made/raced is best on these clips &lt;b&gt;.</p>' in page


def test_a_report_compares_near_ranks_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [
        scored(store, f"made/{place}", [0.5 - 0.1 * place + 0.001 * at for at in range(40)])
        for place in range(4)
    ]
    data = gathered_runs(store, runs)
    order = [one.run.id for one in data.runs]
    pairs = [one.runs for one in page_board.compared_pairs(data)]
    assert len(pairs) == 6
    monkeypatch.setattr(page_board, "_FEWEST_SAMPLES", 300_000)
    few = page_board.compared_pairs(data)
    assert [one.runs for one in few] == list(itertools.pairwise(order)) == pairs[:3]
    assert few[0].verdict.startswith("made/0 beats made/1 by 0.100 (")
    assert [(one.scorer, one.n) for one in few[0].rows] == [("rouge_l", 40)]


def test_every_row_of_every_pair_of_a_report_is_what_compare_says(store: Store) -> None:
    draw, runs = np.random.default_rng(4), []
    for place in range(5):
        level = 0.1 * place
        lost = dict.fromkeys(draw.choice(IDS, 2 * (place % 3), replace=False), Status.FAILED)
        left = [key for key in IDS if key not in lost]
        values = {
            "rouge_l": np.clip(draw.normal(0.3 + level, 0.2, len(left)), 0, 1),
            "bleu_4": np.rint(draw.random(len(left)) * 2) / 2,
            "meteor": (draw.random(len(left)) < 0.4 + level).astype(float),
        }
        scores = {name: dict(zip(left, own.tolist(), strict=True)) for name, own in values.items()}
        # What a judge has not looked at is another set of samples for each pair.
        judged = left[: -place or None] if place < 4 else []
        grades = {key: {"accuracy": float(draw.integers(0, 11))} for key in judged}
        made = MadeRun(f"made/{place}", scores, {"judge/j": grades} if grades else {}, lost)
        runs.append(put_run(store, made, SAMPLES))
    found = page_board.compared_pairs(gathered_runs(store, runs))
    assert len(found) == 10
    for pair in found:
        said = compare_runs(store, *pair.runs)
        assert pair.verdict == said.verdict.words
        whole = [one for one in said.differences if one.category == "all"]
        assert len(pair.rows) == len(whole) >= 3
        for row, wanted in zip(pair.rows, whole, strict=True):
            assert (row.scorer, row.n) == (wanted.scorer.label, wanted.n)
            numbers = row.difference, row.p, *(row.interval or ())
            assert numbers == pytest.approx(
                (wanted.difference, wanted.p_adjusted, *(wanted.ci or ())), abs=1e-12
            )


def test_models_that_no_test_tells_apart_share_their_ranks(store: Store) -> None:
    runs = [
        scored(store, f"made/{start}", [(0.2 + 0.1 * ((place + start) % 5)) for place in range(40)])
        for start in range(2)
    ]
    places = board_of(store, runs)["ranking"]["places"]
    told = [(one["rank"], one["open"], one["tied"]) for one in places]
    assert told == [(1, "1–2", "a"), (2, "1–2", "a")]


def test_runs_of_different_selections_are_not_ranked(store: Store, tmp_path: Path) -> None:
    steps = [0.2 + 0.01 * place for place in range(40)]
    whole = scored(store, "made/whole", steps)
    part = scored(store, "made/part", steps[:20], only=IDS[:20])
    board = board_of(store, [whole, part])
    assert not board["ranking"]["ranked"]
    assert not any(map(any, bold(board)))
    page = page_of(store, [whole, part], tmp_path)
    note = "The runs were not asked about the same samples, none is ranked: "
    assert f"{note}made/whole 40, made/part 20." in page
    assert '<th scope="col">rank (ranks)</th>' not in page
    assert "Sorted by rouge_l" in page


def test_a_score_made_in_another_way_is_not_marked_as_the_best(store: Store) -> None:
    runs = [
        scored(store, model, [level] * 40, signatures={"rouge_l": f"rouge_l|level:{level}"})
        for model, level in (("made/one", 0.3), ("made/two", 0.4))
    ]
    board = board_of(store, runs)
    assert not board["ranking"]["ranked"]
    assert not any(map(any, bold(board)))
    assert "rouge_l was computed in 2 ways; see the signatures" in board["warnings"]


def test_samples_are_not_called_clips(store: Store, tmp_path: Path) -> None:
    samples = made_samples(72, questions=6)
    made = MadeRun("made/asked", scores={"rouge_l": {one.id: 0.5 for one in samples}})
    run = put_run(store, made, samples)
    page = page_of(store, [run], tmp_path)
    assert "72 samples of 12 clips" in page
    board = board_of(store, [run])
    assert [one["samples"] for name, one in board["views"].items() if name] == [72]
    [(seconds, _)] = lengths_of(gathered_runs(store, [run])).values()
    assert len(seconds) == 12
    assert "72 clips" not in page


def test_many_questions_about_few_clips_have_no_interval(store: Store) -> None:
    samples = made_samples(42, questions=6)
    made = MadeRun("made/asked", scores={"rouge_l": {one.id: 0.5 for one in samples}})
    _, part = board_of(store, [put_run(store, made, samples)])["views"].values()
    assert (part["samples"], part["estimates"][0][0]["interval"]) == (42, None)


def test_too_few_samples_for_an_interval_are_said(store: Store, tmp_path: Path) -> None:
    samples = made_samples(FEWEST_FOR_INTERVAL - 1)
    made = MadeRun("made/few", scores={"rouge_l": {one.id: 0.5 for one in samples}})
    run = put_run(store, made, samples)
    page = page_of(store, [run], tmp_path)
    assert f"left out for fewer than {FEWEST_FOR_INTERVAL} samples" in page
    board = board_of(store, [run])
    assert board["estimates"][0][0]["interval"] is None
    assert list(board["views"].values())[1]["estimates"][board["headline"]][0]["interval"] is None
    enough = made_samples(FEWEST_FOR_INTERVAL)
    made = MadeRun("made/more", scores={"rouge_l": {one.id: 0.5 for one in enough}})
    page = page_of(store, [put_run(store, made, enough)], tmp_path)
    assert "too few" not in page


def test_a_run_of_mecat_is_ranked_by_its_own_headline(store: Store, tmp_path: Path) -> None:
    run = stored_run(store, asked=items(2), metrics=("bleu_1", "date"))
    assert any(name.endswith("[null=out]") for name in store.score_columns(run.id))
    gathered = gathered_runs(store, [run])
    assert gathered.headline.name == "date"
    page = page_of(store, [run], tmp_path)
    assert "[null=out]</th>" not in page
    assert f"{len(gathered.samples)} samples of {gathered.clips} clips" in page
    assert len(gathered.samples) == 6 * gathered.clips


def test_answers_to_comparisons_are_no_report(store: Store) -> None:
    scores = {"rouge_l": dict.fromkeys(IDS, 1.0)}
    made = MadeRun("made/chooser", scores=scores, kind="trial")
    run = put_run(store, made, SAMPLES, benchmark="trial/pairs")
    with pytest.raises(ReportError, match=f"run {run.id} holds answers to comparisons"):
        gathered_runs(store, [run])
