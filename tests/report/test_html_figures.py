"""The four figures: drawn from the board, in proportion, with labels that do not collide."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from audiocapbench.benchmarks import Selection, open_benchmark
from audiocapbench.engine import run_benchmark, score_run
from audiocapbench.judges import create_judge, judge_run
from audiocapbench.models import create_model
from audiocapbench.report.leaderboard.board import Board
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.report.page.board import board_document, correlations
from audiocapbench.report.page.document import Cell
from audiocapbench.report.page.drawing import (
    BINS,
    Bar,
    Point,
    bins_of,
    draw_bars,
    draw_histogram,
    draw_scatter,
    nice_step,
    place_numbers,
)
from audiocapbench.report.page.plots import draw_card, lengths_of, overall_bars, tradeoff_points
from audiocapbench.report.page.rendering import cut
from audiocapbench.report.page.report_data import (
    gather,
    kept_data,
    provider_of,
    stored_tables,
    summaries_of,
)
from audiocapbench.scores.estimate import Scorer
from audiocapbench.stats.correlation import kendall
from audiocapbench.store import Run, Store
from folders import write_folder
from many_models import NAMES, put_many
from report_pages import gathered_runs, scored_runs

OVERALL = Scorer("judge", "overall")


def span(value: float, low: float, high: float) -> Cell:
    return Cell(value=value, interval=(low, high))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 12 tones."""
    return write_folder(tmp_path_factory.mktemp("tones"), 12)


def test_every_clip_and_its_first_caption_is_counted_once(runs: Path) -> None:
    store, made = scored_runs(runs, "control/right", "control/wrong", judged=True)
    gathered = gathered_runs(store, made)
    known = lengths_of(gathered)
    assert {name: (len(one), len(other)) for name, (one, other) in known.items()} == {
        "sound": (6, 6),
        "music": (6, 6),
    }
    seconds = [one for one, _ in known.values()]
    drawn = draw_histogram(seconds[0], bins_of(seconds), "s").parts
    bars = re.findall(r" s: (\d+)</title>", drawn)
    assert (len(bars), sum(map(int, bars))) == (BINS, 6)
    lengths = [len(one.references[0]) for one in gathered.samples]
    assert np.mean([one.mean() for _, one in known.values()]) == pytest.approx(np.mean(lengths))


def test_figures_show_the_numbers_of_the_summaries(runs: Path) -> None:
    store, made = scored_runs(runs, "control/right", "control/wrong", judged=True)
    gathered = gathered_runs(store, made)
    data = board_document(store, gathered, "T")
    assert data.scorers[data.headline].label == "elements: overall"
    summaries = summaries_of([one.table for one in gathered.runs])
    drawn = zip(summaries, overall_bars(data), tradeoff_points(data), strict=True)
    for run, bar, point in drawn:
        judged = run.judges["elements"].overall
        assert bar.cell is not None
        assert bar.cell.value == judged["overall"].value
        assert bar.cell.interval == judged["overall"].interval
        assert point.accuracy.value == judged["accuracy"].value
    sound = data.views["sound"]
    assert sound.samples == 6
    expected = summaries[0].judges["elements"].by_category["sound"]["overall"]
    cell = sound.estimates[data.headline][0]
    assert cell is not None
    assert cell.value == expected.value


def test_without_a_judge_there_is_no_fourth_figure_and_a_metric_ranks(runs: Path) -> None:
    store, made = scored_runs(runs, "control/safe")
    data = board_document(store, gathered_runs(store, made), "T")
    assert tradeoff_points(data) == []
    assert data.scorers[data.headline].judge is None


def test_a_chosen_score_ranks(runs: Path) -> None:
    store, made = scored_runs(runs, "control/right", judged=True)
    tables = stored_tables(store, [one.id for one in made])
    assert gather(tables, "rouge_l").headline.name == "rouge_l"
    assert gather(tables, "elements").headline.label == "elements: overall"
    assert gather(tables, "elements: accuracy").headline.column == "accuracy"


def test_the_page_ranks_by_what_the_leaderboard_ranks_by(tmp_path: Path) -> None:
    root = write_folder(tmp_path, 12)
    store, made = scored_runs(root, "control/right", "control/safe", "control/wrong")
    judge_run(store, made[0], [create_judge("elements")])
    for count in (1, 2):
        data = gathered_runs(store, made)
        lines = [store.runs(only=[one.id])[0] for one in made]
        kept = kept_data(store, lines, store.catalog.sample_heads([one.id for one in made]))
        (board,) = build_leaderboard(store, runs=tuple(o.id for o in made)).boards
        assert kept is not None
        assert {data.headline, kept.headline} == {board.scorer}
        assert (data.headline.judge is not None) == (count > 1), "most runs were judged"
        judge_run(store, made[1], [create_judge("elements")])


def test_metrics_that_rank_as_the_judge_does_correlate_fully(runs: Path) -> None:
    gathered = gathered_runs(*scored_runs(runs, "control/right", "control/wrong", judged=True))
    judge = gathered.scores[gathered.headline]
    for measure, table in gathered.scores.items():
        if measure.judge is None:
            table[:] = judge**3
    found = correlations(gathered)
    assert {one["metric"] for one in found.rows} == {"rouge_l", "bleu_1"}
    for one in found.rows:
        ranks = [
            one[f"{group}_{name}"] for group in ("answers", "within") for name in ("rho", "tau")
        ]
        assert ranks == pytest.approx([1.0] * 4)
        assert (one["models_rho"], one["models_tau"], one["scored"]) == (None, None, 24)


def test_kendalls_tau_within_models_counts_only_pairs_of_one_model() -> None:
    rng = np.random.default_rng(7)
    first, second = rng.integers(0, 6, (2, 60)).astype(float)
    models = np.repeat([0.0, 1.0, 2.0], 20)
    # A model's level lifts both scores, which must not count.
    first, second = first + 10 * models, second + 10 * models
    signs = [
        (np.sign(first[i] - first[j]), np.sign(second[i] - second[j]))
        for i in range(60)
        for j in range(i)
        if models[i] == models[j]
    ]
    left, right = np.array(signs).T
    expected = (left * right).sum() / np.sqrt((left**2).sum() * (right**2).sum())
    assert kendall(first, second, models) == pytest.approx(expected)
    assert (kendall(first, second) or 0.0) > 0.5 > abs(expected)
    assert kendall(models, second, models) is None


def test_only_runs_on_the_same_samples_are_tested_for_ties(runs: Path) -> None:
    store, made = scored_runs(runs, "control/right", "control/empty", judged=True)

    def ranked(own: list[Run]) -> Board:
        return gathered_runs(store, own).board

    found = ranked(made).overall.places
    assert [one.rank for one in found] == [1, 2]
    assert not set(found[0].tied) & set(found[1].tied)
    benchmark = open_benchmark(str(runs))
    few = run_benchmark(
        benchmark, create_model("control/wrong"), store, selection=Selection(limit=8)
    ).run
    score_run(store, few, ["rouge_l"])
    apart = ranked([*made, few])
    assert not any(one.rank for one in apart.overall.places)
    assert "not asked about the same samples" in apart.notes[0]
    assert [one.rank for one in ranked(made[:1]).overall.places] == [None]


def test_bars_stand_in_proportion_to_their_scores() -> None:
    bars = [
        Bar("best", "a", span(4.0, 3.5, 4.5)),
        Bar("half", "b", span(2.0, 1.5, 2.5)),
        Bar("none", "b", None),
    ]
    drawn = draw_bars(bars, "{:.2f}".format, 4.5, ["a", "b"]).html("name")
    widths = [
        float(one) for one in re.findall(r'<rect class="c\d" x="0" y="\d+" width="(.+?)%"', drawn)
    ]
    assert len(widths) == 2
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.02)
    assert "no score" in drawn
    assert max(float(x) for x in re.findall(r'x2="([\d.]+)%"', drawn)) <= 82


def test_a_scatter_of_one_point_without_spread_can_be_drawn() -> None:
    point = Point("only <one>", "a", span(5.0, 5.0, 5.0), span(10.0, 10.0, 10.0))
    drawn = draw_scatter([point], ["a"], 880.0).html("name")
    assert "nan" not in drawn
    assert "only &lt;one&gt;" in drawn


def test_numbers_keep_clear_of_points_intervals_and_each_other() -> None:
    points = [(100.0, 100.0), (104.0, 103.0), (108.0, 98.0), (395.0, 100.0)]
    moves = place_numbers(points)
    numbers = [(x + dx, y + dy) for (x, y), (dx, dy) in zip(points, moves, strict=True)]
    for at, (x, y) in enumerate(numbers):
        for other, height in (*points, *numbers[at + 1 :]):
            assert abs(x - other) >= 12 or abs(y - height) >= 12
    # Nor on the point's own intervals, which lie straight across and straight up.
    assert all(abs(dx) >= 12 and abs(dy) >= 10 for dx, dy in moves)


def test_names_stand_below_and_numbers_beside_the_points() -> None:
    middles = [6 + 0.13 * (one * 5 % 13) for one in range(13)]
    spans = [(span(x, x - 0.2, x + 0.2), span(14 - x, 13.8 - x, 14.2 - x)) for x in middles]
    names = [f"{one}{'-model' * 7}" for one in range(13)]
    points = [Point(name, "a", *own) for name, own in zip(names, spans, strict=True)]
    drawn = draw_scatter(points, ["a"], 624.0)
    for number, name in enumerate(names, 1):
        left, y = re.findall(rf'x="(\d+)%" y="(\d+)"[^>]*>{number}  {name}<', drawn.html("name"))[0]
        assert left in ("0", "50")
        assert 420 < int(y) < drawn.height
        assert f">{number}</text>" in drawn.html("name")


def test_a_printed_number_is_drawn_without_an_interval() -> None:
    bars = [Bar("p", "a", Cell(value=5.0, printed=True)), Bar("r", "a", span(5.0, 4.0, 6.0))]
    drawn = draw_bars(bars, "{:.2f}".format, 10.0, ["a"]).html("name")
    assert drawn.count('class="interval"') == 3
    assert "p: 5.00, as printed, without an interval" in drawn


@pytest.mark.parametrize(("span", "step"), [(10, 2), (1, 0.2), (0.05, 0.01), (0, 1), (450, 100)])
def test_ticks_are_round_numbers(span: float, step: float) -> None:
    assert nice_step(span) == pytest.approx(step)


def test_providers_are_known_by_the_names_of_their_models() -> None:
    assert provider_of("gemini/gemini-2.5-pro") == "Google Gemini"
    assert provider_of("mine/x") == "mine"
    assert provider_of("listener") == "Embedded listener"


@pytest.mark.parametrize("models", [3, 14])
def test_a_card_fits_whatever_models_are_called(store: Store, models: int) -> None:
    runs = put_many(store, models, 12)[-models:]
    data = gathered_runs(store, runs)
    drawn = ElementTree.fromstring(
        draw_card(board_document(store, data, "<b>" * 60), "judge-" * 60)
    )
    assert (drawn.get("width"), drawn.get("height")) == ("1200", "630")
    texts = [(one.text or "", one.get("class")) for one in drawn.iter() if one.tag.endswith("text")]
    assert all(
        len(words) <= {"said": 62, "name": 40, "small": 124}.get(kind or "", 70)
        for words, kind in texts
    )
    said = " ".join(words for words, kind in texts if kind == "said")
    assert said.endswith(f"(Holm, {91 if models == 14 else 3} tests).")
    assert next(words for words, kind in texts if kind == "name") in NAMES[:2]
    assert ("and 7 more" in [words for words, _ in texts]) == (models == 14)
    assert texts[-1][0].startswith("judge-")
    assert all(0 < float(one.get("y", 0)) < 620 for one in drawn.iter() if one.tag.endswith("text"))


def test_a_card_says_all_of_the_verdict_however_long_and_wide_names_are(store: Store) -> None:
    data = gathered_runs(store, put_many(store, 6, 30))
    labels = [f"lab/{name * 20}-{name}" for name in ("音", "👩\u200d👧", "{\\x}", "<b>", "a", "b")]
    drawn = draw_card(board_document(store, data, "T", labels), "")
    said = "".join(re.findall('class="said"[^>]*>([^<]*)<', drawn))
    assert said.endswith("may be as good (Holm, 15 tests).")


@pytest.mark.parametrize(("clips", "intervals"), [(9, False), (12, True)])
def test_a_card_speaks_of_intervals_where_it_shows_some(
    store: Store, clips: int, intervals: bool
) -> None:
    data = gathered_runs(store, put_many(store, 2, clips))
    drawn = draw_card(board_document(store, data, "T"), "rouge_l")
    assert ("95 % intervals" in drawn) == intervals
    assert f">scores 0 to {data.headline.max_value:g} · {clips} samples" in drawn
    widest = max(map(float, re.findall(r'class="fill" x="600" width="([\d.]+)"', drawn)))
    best = max(one.table.point(data.headline).value or 0 for one in data.runs)
    assert widest == pytest.approx(320 * best / data.headline.max_value, abs=0.1)


def test_a_long_name_in_a_figure_keeps_the_end_that_tells_it_from_others() -> None:
    names = [f"endpoint/organisation/{'long-' * 12}model-{size}" for size in ("small", "large")]
    shown = [cut(one) for one in names]
    assert [len(one) for one in shown] == [48, 48]
    assert shown[0].endswith("model-small")
    assert shown[1].endswith("model-large")
