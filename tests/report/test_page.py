"""The page's views in a real browser, each clicked through in both themes."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import soundfile

import audiocapbench as acb
from audiocapbench.report.page.html import write_report
from audiocapbench.store import Store
from browser import Opener, Visit, launched, visits
from folders import write_lines
from four_models import JUDGE, put_models
from needs import needs, needs_program
from report_pages import gathered_runs, write_page

needs("playwright")
needs_program("chromium")

TABS = ("leaderboard", "matrix", "compare", "explore", "trials", "made")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page over four models."""
    folder = tmp_path_factory.mktemp("page")
    with Store.open(str(folder / "runs.db")) as store:
        data = gathered_runs(store, put_models(store))
        write_report(store, data, folder / "page.html", title="Four", audio="none")
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def files_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page over captions and references alone."""
    place = tmp_path_factory.mktemp("files")
    (place / "refs.csv").write_text("id,reference\na,A dog barks.\nb,It rains.\n")
    (place / "mine.csv").write_text("id,prediction\na,A dog.\nb,Rain.\n")
    with Store.open(str(place / "runs.db")) as store:
        run = acb.import_run(
            place / "mine.csv",
            references=place / "refs.csv",
            model="mine",
            metrics="rouge_l",
            store=store,
        ).run
        write_report(store, gathered_runs(store, [run]), place / "page.html", title="Files")
    return (place / "page.html").as_uri()


@pytest.fixture(scope="module")
def silent_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page over one clip of digital silence."""
    place = tmp_path_factory.mktemp("silent")
    soundfile.write(place / "a.wav", np.zeros(16_000), 16_000)
    write_lines(place, [{"file_name": "a.wav", "id": "a", "references": ["Silence."]}])
    return write_page(place, "control/safe").as_uri()


@pytest.fixture(scope="module")
def browser(page: str, files_page: str, silent_page: str) -> Iterator[Any]:
    yield from launched()


@pytest.fixture
def visit(browser: Any) -> Iterator[Opener]:
    yield from visits(browser)


def shown(seen: Visit, tab: str) -> None:
    seen.until(f"document.body.dataset.shown === '{tab}'")


def models(seen: Visit) -> list[str]:
    heads = seen.page.locator("#leaderboard .card >> nth=0 >> tbody th.model .link")
    found: list[str] = heads.all_text_contents()
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(visit: Opener, page: str, scheme: str) -> None:
    needs_program("axe-core")
    seen = visit(f"{page}#leaderboard", color_scheme=scheme, bypass_csp=True)
    for tab in TABS:
        seen.page.click(f"#tab-{tab}")
        shown(seen, tab)
        assert seen.violations() == [], tab


def test_the_header_says_what_the_page_is_about(visit: Opener, page: str) -> None:
    seen = visit(page)
    chips = seen.page.locator("#chips li").all_inner_texts()
    assert {"made", "40 samples", "4 runs", f"judge {JUDGE}"} <= set(chips)
    assert any(one.startswith("asked 20") for one in chips)
    assert any(one.startswith("data ") and len(one) == 17 for one in chips)
    assert seen.page.inner_text("h1") == "Four"


def test_tabs_lead_to_views_and_back(visit: Opener, page: str) -> None:
    seen = visit(page)
    for tab in TABS[1:]:
        seen.page.click(f"#tab-{tab}")
        shown(seen, tab)
        seen.page.wait_for_selector(f"#tab-{tab}[aria-current=page]")
        assert seen.page.locator("[aria-current=page]").count() == 1
        assert seen.page.evaluate("location.hash").startswith(f"#{tab}")
    seen.page.evaluate("scrollTo(0, 1e6)")
    seen.until("document.getElementById('tabs').getBoundingClientRect().top >= 0")
    seen.page.go_back()
    shown(seen, "trials")


def test_columns_sort_and_ties_are_drawn(visit: Opener, page: str) -> None:
    seen = visit(page)
    ranked = ["acme/alpha", "acme/beta", "zeta/gamma", "control/safe"]
    assert models(seen) == ranked
    ties = seen.page.locator("#leaderboard .ranked td.tie")
    assert [ties.nth(row).locator("i:not(.none)").count() for row in range(4)] == [1, 1, 0, 0]
    card = seen.page.locator("#leaderboard .card >> nth=0")
    card.get_by_role("button", name="accuracy").click()
    card.get_by_role("button", name="accuracy").click()
    seen.becomes(lambda: models(seen)[:1], ["control/safe"])
    assert card.locator("th[aria-sort=ascending]").count() == 1
    card.get_by_role("button", name="model").click()
    seen.becomes(lambda: models(seen), sorted(ranked))
    assert card.locator("tr.control th").text_content().startswith("control/safe")


def test_bars_are_in_proportion(visit: Opener, page: str) -> None:
    seen = visit(page)
    fills = seen.page.locator("#leaderboard td.axis .fill")
    widths = [float(one[:-1]) for one in fills.evaluate_all("all => all.map(e => e.style.width)")]
    scores = seen.page.locator("#leaderboard td.lead").evaluate_all(
        "all => all.map(e => parseFloat(e.textContent))"
    )
    assert widths == pytest.approx([10 * one for one in scores], abs=0.1)


def test_no_name_covers_an_interval_or_leaves_the_chart(visit: Opener, page: str) -> None:
    seen = visit(page)
    boxes = seen.page.evaluate(
        """() => {
            const box = (node) => node.getBoundingClientRect().toJSON();
            const frame = document.querySelector('#leaderboard svg.figure').closest('.card');
            const all = (name) => [...frame.querySelectorAll(name)].map(box);
            return {frame: box(frame), names: all('.point .name'), lines: all('.point .spread')};
        }"""
    )
    names = boxes["names"]
    assert len(names) == 4
    for place, one in enumerate(names):
        assert boxes["frame"]["left"] <= one["left"] < one["right"] <= boxes["frame"]["right"]
        for other in [*boxes["lines"], *names[place + 1 :]]:
            apart = (
                one["right"] <= other["left"] + 1
                or other["right"] <= one["left"] + 1
                or one["bottom"] <= other["top"] + 3
                or other["bottom"] <= one["top"] + 3
            )
            assert apart, (one, other)


@pytest.mark.parametrize(
    ("selector", "model"),
    [
        ("#leaderboard th.model .link >> nth=2", "zeta/gamma"),
        ("#leaderboard td.axis .bar >> nth=1", "acme/beta"),
        ("#leaderboard .point .mark >> nth=2", "zeta/gamma"),
    ],
)
def test_a_model_its_bar_and_its_point_lead_to_its_samples(
    visit: Opener, page: str, selector: str, model: str
) -> None:
    seen = visit(page)
    seen.page.click(selector)
    shown(seen, "explore")
    assert seen.page.input_value("#model") == model
    assert seen.page.input_value("#sort") == "lowest"


def test_a_bar_of_a_category_leads_to_that_category(visit: Opener, page: str) -> None:
    seen = visit(page)
    seen.page.click("#leaderboard .spark >> nth=0 >> i >> nth=1")
    shown(seen, "explore")
    assert seen.page.input_value("#category") == "music"
    seen.counted("20 of 40 samples")


def test_two_models_are_compared_word_by_word(visit: Opener, page: str) -> None:
    seen = visit(f"{page}#compare")
    shown(seen, "compare")
    seen.says("#compare .verdict", "acme/alpha and acme/beta cannot be told apart")
    words = seen.page.inner_text("#compare .verdict")
    assert re.search(r"\([+−]\d\.\d\d, −\d\.\d\d to \+\d\.\d\d, p = ", words), words
    picked = seen.page.locator("#compare select")
    picked.nth(1).select_option("zeta/gamma")
    seen.says("#compare .verdict", "acme/alpha beats zeta/gamma by")
    seen.says("#compare thead", "B − A")
    line = seen.page.locator("#compare tbody tr", has_text="overall")
    difference, p = line.locator("td.num").all_inner_texts()[-2:]
    assert re.fullmatch(r"−\d\.\d\d\s*−\d\.\d\d to −\d\.\d\d", difference)
    assert p == "< 0.001"
    seen.page.click("#compare .chooser button")
    seen.until(lambda: line.locator("td.num >> nth=2").inner_text().startswith("+"))
    turned = line.locator("td.num >> nth=2").inner_text()
    assert turned.split()[-3:] == difference.replace("−", "+").split()[-1:-4:-1]
    seen.page.click("#compare .chooser button")
    seen.until(lambda: line.locator("td.num >> nth=2").inner_text() == difference)
    assert seen.page.inner_text("#compare-list .row >> nth=0 >> .num >> nth=1").startswith("−")
    seen.page.click("#compare-list .row >> nth=1")
    seen.page.wait_for_selector("#compare-list-1[aria-selected=true]")
    sides = seen.page.locator("#compare .beside .answer")
    seen.becomes(sides.nth(0).locator("mark.only").all_inner_texts, ["0"])
    seen.becomes(sides.nth(1).locator("mark.only").all_inner_texts, ["2"])
    again = visit(seen.page.evaluate("location.href"))
    shown(again, "compare")
    assert again.page.locator("#compare select").nth(1).input_value() == "zeta/gamma"


def test_costs_and_failures_are_columns(visit: Opener, page: str) -> None:
    seen = visit(f"{page}#leaderboard&cols=statuses%0Aspent%20cost")
    line = seen.page.locator("#leaderboard .board tbody tr", has_text="zeta/gamma")
    assert "37 ok, 3 refused" in line.inner_text()
    assert line.locator("td.num").last.inner_text() == "~$0.08"
    assert line.locator(".stacked i").count() == 2


def test_what_captions_without_clips_took_and_cost_is_not_made_up(
    visit: Opener, files_page: str
) -> None:
    seen = visit(f"{files_page}#leaderboard&cols=spent%20cost")
    assert seen.page.inner_text("#leaderboard .board td:last-child") == "–"
    seen.page.click("#tab-explore")
    seen.says("#clip", "A dog.")
    assert "0.00 s" not in seen.page.inner_text("#clip")


def test_silence_is_dark(visit: Opener, silent_page: str) -> None:
    seen = visit(f"{silent_page}#clip=a")
    seen.page.wait_for_selector(".sound[data-drawn=yes]")
    pixel = "document.querySelector('.spectrum').getContext('2d').getImageData(9, 9, 1, 1).data"
    assert seen.page.evaluate(f"[...{pixel}].slice(0, 3)") == [13, 8, 50]


def test_how_it_was_made_names_signatures_and_data(visit: Opener, page: str) -> None:
    seen = visit(f"{page}#made")
    shown(seen, "made")
    assert "rouge_l|protocol:1" in seen.page.locator("#made code").all_inner_texts()
    seen.page.click("#tab-trials")
    seen.says("#trials h2", "Do the metrics agree with the judges?")
    assert "rouge_l" in seen.page.inner_text("#trials tbody")


def test_on_a_phone_scores_are_seen_beside_a_pinned_model(visit: Opener, page: str) -> None:
    seen = visit(page, viewport={"width": 390, "height": 800})
    score = seen.page.locator("#leaderboard td.lead >> nth=0").bounding_box()
    assert score is not None
    assert score["x"] + score["width"] <= 390
    seen.page.locator("#leaderboard .scroll >> nth=0").evaluate("box => { box.scrollLeft = 1e4; }")
    name = seen.page.locator("#leaderboard th.model .link >> nth=0")
    last = seen.page.locator("#leaderboard .scroll >> nth=0 >> tr >> nth=1 >> td:last-child")
    seen.until(lambda: last.evaluate("cell => cell.getBoundingClientRect().right <= 390"))
    assert 0 <= name.evaluate("link => link.getBoundingClientRect().left") < 200
