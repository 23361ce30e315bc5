"""The board in a real browser: 13 and 60 models, any column, any score, on a laptop and a phone."""

import csv
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from audiocapbench.report.page import html
from audiocapbench.store import Store
from browser import Opener, Visit, launched, visits
from folders import write_lines
from made_store import MadeRun, made_samples, put_run
from many_models import JUDGE, NAMES, put_many
from needs import needs, needs_program
from report_pages import gathered_runs, write_page

needs("playwright")
needs_program("chromium")

LAPTOP, TABLET, PHONE = ({"width": wide, "height": 900} for wide in (1440, 1024, 390))


def written(folder: Path, models: int, clips: int) -> str:
    with Store.open(str(folder / "runs.db")) as store:
        data = gathered_runs(store, put_many(store, models, clips))
        html.write_report(store, data, folder / "page.html", title="Many")
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def thirteen(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("thirteen"), 13, 30)


@pytest.fixture(scope="module")
def sixty(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("sixty"), 60, 12)


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page whose clips were too large for it as they are."""
    place = tmp_path_factory.mktemp("heard")
    rows = []
    for number in range(2):
        times = np.arange(2 * 44_100) / 44_100
        tone = 0.3 * np.sin(2 * np.pi * 300 * (number + 1) * times)
        soundfile.write(place / f"{number}.wav", np.stack([tone, tone], axis=1), 44_100)
        rows.append({"file_name": f"{number}.wav", "id": str(number), "references": ["A tone."]})
    write_lines(place, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html, "MOST_EMBEDDED", 400_000)
        return write_page(place, "control/safe", audio="embed").as_uri()


@pytest.fixture(scope="module")
def browser(thirteen: str, sixty: str, heard: str) -> Iterator[Any]:
    yield from launched()


@pytest.fixture
def visit(browser: Any) -> Iterator[Opener]:
    yield from visits(browser)


def boxes(seen: Visit, selector: str) -> list[dict[str, float]]:
    every = "all => all.map(one => one.getBoundingClientRect().toJSON())"
    found: list[dict[str, float]] = seen.page.locator(selector).evaluate_all(every)
    return found


def names(seen: Visit) -> list[str]:
    found: list[str] = seen.page.locator("#leaderboard .board tbody .full").all_text_contents()
    return found


def marks(seen: Visit) -> list[tuple[str, str]]:
    read = "all => all.map(one => [one.getAttribute('class'), one.firstChild.getAttribute('d')])"
    return [tuple(one) for one in seen.page.locator("#leaderboard .board .key").evaluate_all(read)]


def test_thirteen_models_and_who_is_best_are_seen_at_once(visit: Opener, thirteen: str) -> None:
    seen = visit(thirteen, viewport=LAPTOP)
    said = seen.page.inner_text(".verdict")
    assert said.startswith(f"{NAMES[0]} leads in {JUDGE}: overall on 30 samples; {NAMES[1]}, ")
    assert said.endswith("may be as good (Holm, 78 tests).")
    assert re.search(r"\(p = 0\.\d+, corrected\)", seen.page.inner_text(".lead .soft"))
    rows = boxes(seen, "#leaderboard .board tbody tr")
    assert len(rows) == 13
    assert all(one["height"] <= 42 and one["bottom"] <= 900 for one in rows)
    assert all(one["height"] < 30 for one in boxes(seen, "#leaderboard .board tbody .full"))
    fits = "one => one.scrollWidth <= one.clientWidth"
    assert seen.page.locator("#leaderboard .scroll").first.evaluate(fits)
    assert len(set(marks(seen))) == 13
    long = seen.page.locator("#leaderboard .board tbody .link", has_text="endpoint/")
    assert long.get_attribute("title").startswith(max(NAMES, key=len))
    width = "one => one.querySelector('.full').getBoundingClientRect().width"
    short = long.evaluate(width)
    # Who offers it gives way to what it is called.
    start, middle, end = boxes(seen, "#leaderboard .link[title^=endpoint] .full span")
    assert start["width"] < 40
    assert middle["width"] > 60
    shown = boxes(seen, "#leaderboard .link[title^=endpoint] .full")[0]
    assert end["right"] <= shown["right"] + 1
    long.focus()
    seen.page.keyboard.press("Shift+Tab")
    seen.page.keyboard.press("Tab")
    assert long.evaluate(width) > short + 100
    assert seen.page.locator(".board td.best").count() == 0
    for size, wide in ((TABLET, 1024), (PHONE, 390)):
        seen.page.set_viewport_size(size)
        seen.page.reload()
        seen.page.wait_for_selector("body[data-shown]", state="attached")
        for tab in ("matrix", "compare", "leaderboard"):
            seen.page.click(f"#tab-{tab}")
            seen.until(f"document.body.dataset.shown === '{tab}'")
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= wide, tab
        assert all(one["height"] <= 42 for one in boxes(seen, "#leaderboard .board tbody tr"))


def test_models_that_are_level_or_not_ranked_are_called_so(visit: Opener, tmp_path: Path) -> None:
    for clips, said in ((20, "a/one is level with b/one (p = 1.000)"), (6, "None is ranked")):
        samples = made_samples(clips)
        alike = {"rouge_l": {one.id: number / 40 for number, one in enumerate(samples)}}
        with Store.open(str(tmp_path / f"{clips}.db")) as store:
            runs = [put_run(store, MadeRun(name, alike), samples) for name in ("a/one", "b/one")]
            page = tmp_path / f"{clips}.html"
            html.write_report(store, gathered_runs(store, runs), page, title="Alike")
        seen = visit(page.as_uri())
        assert said in seen.page.inner_text(".lead .soft")
        assert "audiocapbench leaderboard" not in seen.page.inner_text(".lead")


def test_models_that_differ_have_no_line_and_no_letter(visit: Opener, tmp_path: Path) -> None:
    samples = made_samples(20)
    with Store.open(str(tmp_path / "runs.db")) as store:
        drawn = {
            name: {one.id: place / 4 + number / 40 for number, one in enumerate(samples)}
            for place, name in enumerate(("a/one", "b/one"))
        }
        runs = [
            put_run(store, MadeRun(key, {"rouge_l": own}), samples) for key, own in drawn.items()
        ]
        page = tmp_path / "page.html"
        html.write_report(store, gathered_runs(store, runs), page, title="Apart")
    seen = visit(page.as_uri())
    assert "b/one beats a/one" in seen.page.inner_text(".verdict")
    assert not "".join(seen.page.locator("tbody .tie > :not(.hidden)").all_inner_texts()).strip()
    assert "a line joins" not in seen.page.inner_text("#leaderboard .legend")


def test_what_ranks_and_which_columns_are_shown_is_in_the_address(
    visit: Opener, thirteen: str
) -> None:
    seen = visit(thirteen, viewport=LAPTOP)
    shown = seen.page
    assert "rank=openai" in shown.evaluate("location.hash")
    shown.select_option("#rank", "rouge_l")
    seen.says(".lead", "Ranked by rouge_l, from 0 to 1")
    assert "rouge_l on 30 samples" in shown.inner_text(".verdict")
    shown.click(".columns summary")
    shown.uncheck(".columns label:has-text('categories') input")
    shown.check(".columns label:has-text('music') input")
    shown.click("h1")
    assert shown.locator(".columns[open]").count() == 0
    head = shown.locator("#leaderboard .board thead th")
    seen.until(lambda: any(one.startswith("music") for one in head.all_inner_texts()))
    assert shown.locator(".spark").count() == 0
    for column in range(1, shown.locator("#leaderboard .board .sort").count() - 1):
        button = shown.locator("#leaderboard .board .sort").nth(column)
        button.click()
        assert shown.locator("#leaderboard th[aria-sort]").count() == 1
        order = names(seen)
        button.click()
        assert names(seen) != order
    again = visit(shown.evaluate("location.href"), viewport=LAPTOP)
    assert again.page.input_value("#rank") == "rouge_l"
    assert again.page.locator("#leaderboard .board thead").inner_text().count("music") == 1
    again.page.fill("#find", "qwen")
    again.becomes(lambda: len(names(again)), 2)
    again.page.fill("#find", "nobody")
    again.page.click("button:has-text('Show all')")
    again.becomes(lambda: len(names(again)), 13)


def test_escape_leaves_the_search_for_a_model(visit: Opener, thirteen: str) -> None:
    seen = visit(f"{thirteen}#leaderboard", viewport=LAPTOP)
    seen.page.fill("#find", "qwen")
    seen.until(lambda: len(names(seen)) == 2)
    assert seen.page.evaluate("document.activeElement.id") == "find"
    seen.page.keyboard.press("Escape")
    assert seen.page.evaluate("document.activeElement.id") != "find"
    assert len(names(seen)) == 2  # what was typed stays, as in Explore


def test_any_two_scores_are_drawn_against_each_other(visit: Opener, thirteen: str) -> None:
    seen = visit(f"{thirteen}#leaderboard&x=cost&y=rouge_l&part=constructor", viewport=LAPTOP)
    assert seen.page.locator("svg.figure .point").count() == 13
    axes = "svg.figure .axis-name"
    assert seen.page.locator(axes).all_text_contents()[0] == "dollars per 1,000 samples →"
    seen.page.select_option("#axis-x", f"{JUDGE}: accuracy")
    seen.says(axes, f"{JUDGE}: accuracy →")
    assert "control/safe" in seen.page.inner_text("#leaderboard .legend")
    assert seen.page.locator("td.axis .reference").count() == 13


def test_what_is_scored_is_told_of_the_score_that_ranks(visit: Opener, tmp_path: Path) -> None:
    samples = made_samples(20)
    steps = {one.id: number / 40 for number, one in enumerate(samples)}
    part = dict(list(steps.items())[:12])
    with Store.open(str(tmp_path / "runs.db")) as store:
        names = ("a/one", "b/one")
        runs = [
            put_run(store, MadeRun(name, {"rouge_l": steps, "bleu_1": part}), samples)
            for name in names
        ]
        html.write_report(store, gathered_runs(store, runs), tmp_path / "page.html", title="Two")
    seen = visit((tmp_path / "page.html").as_uri())
    for score, said in (("rouge_l", "20/20"), ("bleu_1", "12/20")):
        seen.page.select_option("#rank", score)
        seen.says(".lead", f"Ranked by {score}")
        scored = seen.page.locator("#leaderboard .board tbody tr td:last-child").all_inner_texts()
        assert scored == [said, said]


def test_the_matrix_shows_where_models_fail_together(visit: Opener, thirteen: str) -> None:
    seen = visit(f"{thirteen}#matrix", viewport=LAPTOP)
    lines = seen.page.locator("#matrix [role=option]")
    means = [float(one) for one in lines.locator(".num >> nth=0").all_inner_texts()]
    assert means == sorted(means)
    assert lines.first.locator(".cell").count() == 13
    # By its end a model is told from others of its family.
    heads = seen.page.locator("#matrix .upright").all_inner_texts()
    assert [len(one) for one in heads if one.endswith("…me-of-80")] == [16]
    seen.page.select_option("#matrix-sort", "differ")
    spread = "#matrix [role=option] .num.soft"
    seen.until(lambda: is_falling(seen.page.locator(spread).all_inner_texts()))
    seen.page.locator("#matrix [role=option] >> nth=2 >> .cell >> nth=1").click()
    seen.until("document.body.dataset.shown === 'explore'")
    assert seen.page.input_value("#model") == "gemini/gemini-2.5-pro"
    assert "clip=s00" in seen.page.evaluate("location.hash")


def is_falling(texts: list[str]) -> bool:
    values = list(map(float, texts))
    return len(values) > 5 and all(one >= other for one, other in itertools.pairwise(values))


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_sixty_models_are_legible_to_everybody(
    visit: Opener, sixty: str, size: dict[str, int]
) -> None:
    needs_program("axe-core")
    seen = visit(sixty, viewport=size, color_scheme="dark", bypass_csp=True)
    assert len(set(marks(seen))) == 60
    for tab in ("matrix", "leaderboard"):
        seen.page.click(f"#tab-{tab}")
        seen.until(f"document.body.dataset.shown === '{tab}'")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        if (tab == "matrix") == (size is LAPTOP):
            assert seen.violations() == [], tab


def test_the_list_shows_each_score_beside_the_bars_of_sixty_models(
    visit: Opener, sixty: str
) -> None:
    seen = visit(f"{sixty}#explore", viewport=PHONE)
    seen.counted("12 of 12 samples")
    value = seen.page.locator("[role=option] div:last-child .fact >> nth=0")
    assert value.inner_text().startswith("mean ")
    assert value.evaluate("one => one.getBoundingClientRect().right <= innerWidth")


def test_every_pair_of_a_report_has_intervals_and_p(visit: Opener, thirteen: str) -> None:
    seen = visit(f"{thirteen}#compare&a=a%2Fb-1&b=control%2Fsafe", viewport=LAPTOP)
    seen.says("#compare .verdict", "a/b-1 beats control/safe by")
    lines = seen.page.locator("#compare .card >> nth=1 >> tbody tr")
    for cells in (lines.nth(row).locator("td.num") for row in range(lines.count())):
        difference, p = cells.all_inner_texts()[-2:]
        assert " to " in difference
        assert p.startswith("< ") or 0 <= float(p) <= 1


def test_a_link_to_what_is_not_here_says_so(visit: Opener, thirteen: str) -> None:
    gone = "gone%2Fmodel%3Cb%3E"
    seen = visit(f"{thirteen}#leaderboard&rank=nothing&part=nowhere", viewport=LAPTOP)
    says = "The link names what is not here: score nothing, category nowhere."
    assert seen.page.inner_text("#strange") == says
    for place, what in (
        (f"compare&a={gone}&b=a%2Fb-1", "model gone/model<b>"),
        (f"explore&model={gone}&score=x&status=odd", "score x, model gone/model<b>, status odd"),
    ):
        seen.go(f"{thirteen}#{place}")
        assert seen.page.inner_text("#strange") == f"The link names what is not here: {what}."
    seen.go(f"{thirteen}#compare&a=a%2Fb-1")
    assert seen.page.locator("#strange").is_hidden()


def test_no_run_is_compared_with_itself(visit: Opener, thirteen: str) -> None:
    seen = visit(f"{thirteen}#compare&a=a%2Fb-1&b=a%2Fb-1", viewport=LAPTOP)
    seen.page.wait_for_selector("#compare .verdict")
    sides = [seen.page.locator(f"#compare .side-{side} select") for side in "ab"]
    first, second = (side.input_value() for side in sides)
    assert (first, second == first) == ("a/b-1", False)
    offered = [side.locator("option").all_inner_texts() for side in sides]
    assert (second in offered[0], first in offered[1]) == (False, False)
    assert {len(one) for one in offered} == {12}


def test_a_phone_shows_differences_and_p_beside_both_scores(visit: Opener, thirteen: str) -> None:
    seen = visit(f"{thirteen}#compare&a=a%2Fb-1&b=control%2Fsafe", viewport=PHONE)
    seen.says("#compare .verdict", "a/b-1 beats control/safe by")
    cells = boxes(seen, "#compare .card >> nth=1 >> tbody td.num")
    assert cells
    assert all(one["left"] >= 0 and one["right"] <= 390 for one in cells)


def test_a_page_whose_clips_were_too_large_plays_them_made_smaller(
    visit: Opener, heard: str
) -> None:
    seen = visit(f"{heard}#clip=1")
    seen.page.wait_for_selector(".sound[data-drawn=yes]")
    seen.page.evaluate("document.querySelector('audio').play()")
    seen.until("document.querySelector('audio').currentTime > 0.1")
    seconds = seen.page.evaluate("document.querySelector('audio').duration")
    assert seconds == pytest.approx(2.0, abs=0.1)


def test_what_is_not_ranked_is_sorted_and_no_bands_are_spoken_of(visit: Opener, heard: str) -> None:
    seen = visit(heard)
    assert "Sorted by" in seen.page.inner_text("#leaderboard .lead")
    assert "Bands" not in seen.page.inner_text("#leaderboard .legend")


def test_every_table_and_chart_has_a_menu_that_copies_it(visit: Opener, thirteen: str) -> None:
    seen = visit(f"{thirteen}#leaderboard&rank=rouge_l", viewport=LAPTOP)
    shown = seen.page
    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])

    def copied(menu: str, form: str) -> str:
        shown.focus(f"{menu} summary")
        shown.keyboard.press("Enter")
        shown.click(f"{menu} button:has-text('{form}')")
        seen.says(f"{menu} [role=status]", f"{form}: copied")
        shown.keyboard.press("Escape")
        assert shown.locator(".menu[open]").count() == 0
        found: str = shown.evaluate("navigator.clipboard.readText()")
        return found

    head, rule, first, *rest = copied(".tools .share", "Markdown").splitlines()
    assert head.startswith("| rank | tied | model | rouge\\_l | ")
    assert rule.startswith("|---|---|---|---:|")
    assert (NAMES[0] in first) + len(rest) == 13
    assert re.search(r"\| 0\.\d{3} \(0\.\d{3}–0\.\d{3}\) \|", first)
    assert "\\midrule\n{}1" in copied(".tools .share", "LaTeX")
    rows = list(csv.reader(io.StringIO(copied(".tools .share", "CSV"))))
    assert rows[0][:6] == ["rank", "rank, more", "tied", "model", "rouge_l", "rouge_l, more"]
    assert 0 < float(rows[1][4]) < 1
    chart = ".card:has(svg.figure) .share"
    assert copied(chart, "CSV").count("\r\n") == 14
    assert copied(chart, "SVG").count("<path") == 13
    shown.click(f"{chart} summary")
    shown.click(f"{chart} button:has-text('PNG')")
    seen.says(f"{chart} [role=status]", "PNG: copied")
    kinds = "navigator.clipboard.read().then(all => all.flatMap(one => one.types))"
    assert "image/png" in shown.evaluate(kinds)
    shown.click("#tab-matrix")
    assert copied("#matrix .share", "CSV").count("\r\n") == 31


def test_a_copied_table_runs_in_no_spreadsheet(visit: Opener, tmp_path: Path) -> None:
    model = "=HYPERLINK(1,2)|x\\y_z"
    with Store.open("sqlite:///:memory:") as store:
        scores = {"rouge_l": {f"s{place:04}": 0.5 for place in range(12)}}
        runs = [put_run(store, MadeRun(model, scores), made_samples(12))]
        data = gathered_runs(store, runs)
        html.write_report(store, data, tmp_path / "page.html", title="Formula")
    seen = visit((tmp_path / "page.html").as_uri(), viewport=LAPTOP)
    seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    wanted = {"CSV": f'"\'{model}"', "Markdown": r"| =HYPERLINK(1,2)\|x\\y\_z |"}
    wanted["LaTeX"] = r"{}=HYPERLINK(1,2)\textbar{}x\textbackslash{}y\_z &"
    seen.page.click(".tools .share summary")
    for form, words in wanted.items():
        seen.page.click(f".tools .share button:has-text('{form}')")
        seen.says(".tools .share [role=status]", f"{form}: copied")
        assert words in seen.page.evaluate("navigator.clipboard.readText()")


def test_a_question_shows_its_options_and_no_words_as_right(visit: Opener, tmp_path: Path) -> None:
    options = ("B. a dog | A. a cat | C. rain",)
    samples = tuple(replace(one, references=options) for one in made_samples(12))
    scores = {"choice": {one.id: 0.0 for one in samples}}
    texts = {one.id: "A. a cat" for one in samples}
    with Store.open("sqlite:///:memory:") as store:
        runs = [put_run(store, MadeRun("made/one", scores, texts=texts), samples)]
        data = gathered_runs(store, runs)
        html.write_report(store, data, tmp_path / "page.html", title="Questions")
    seen = visit(f"{(tmp_path / 'page.html').as_uri()}#clip=s0000")
    assert seen.page.inner_text(".refs h3") == "Options"
    shown = seen.page.locator(".refs li").all_inner_texts()
    assert [one.split() for one in shown] == [
        ["A.", "a", "cat"],
        ["B.", "a", "dog", "right"],
        ["C.", "rain"],
    ]
    assert seen.page.locator("#clip mark").count() == 0
