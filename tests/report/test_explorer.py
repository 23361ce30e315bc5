"""The explorer in a real browser: loads, filters, sorts, plays, and stays quiet and harmless."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from report_pages import EVIL, write_hostile_page, write_plain_page

pytest.importorskip("playwright", reason="playwright drives the browser; see CONTRIBUTING.md")

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--no-first-run"
).split()


class Visit(NamedTuple):
    """An open page, with everything that it complained about or asked for."""

    page: Any
    complaints: list[str]
    requests: list[str]

    def ids(self) -> list[str]:
        found: list[str] = self.page.locator("[role=option] .name").all_inner_texts()
        return found

    def until(self, condition: str) -> None:
        """Wait for a condition; the page's own policy forbids Playwright's way of waiting."""
        deadline = time.monotonic() + 20
        while not self.page.evaluate(condition):
            assert time.monotonic() < deadline, condition
            self.page.wait_for_timeout(20)

    def counted(self) -> str:
        text: str = self.page.inner_text("#count")
        return text

    def scores(self) -> list[float]:
        facts = self.page.locator("[role=option] div:last-child .fact").all_inner_texts()
        return [float(fact.removeprefix("mean ")) for fact in facts]


@pytest.fixture(scope="module")
def plain_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 tones, three controls, one judge, audio embedded."""
    return write_plain_page(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hostile text wherever text can come from, audio linked."""
    return write_hostile_page(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def browser(plain_page: Path, hostile_page: Path) -> Iterator[Any]:
    """One browser for all tests; pages are made before, since it occupies the event loop."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """Opens pages; every page must have been quiet in the end."""
    contexts = []
    visits: list[Visit] = []

    def open_page(path: Path, anchor: str = "", **settings: Any) -> Visit:
        context = browser.new_context(**({"viewport": {"width": 1200, "height": 900}} | settings))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        one = Visit(page, [], [])
        visits.append(one)
        page.on("console", lambda message: one.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: one.complaints.append(str(error)))
        page.on("request", lambda request: one.requests.append(request.url))
        page.goto(path.as_uri() + anchor)
        if settings.get("java_script_enabled", True):
            page.wait_for_selector("[role=option]")
        return one

    yield open_page
    for context in contexts:
        context.close()
    for one in visits:
        assert one.complaints == []
        assert all(url.startswith(("file:", "blob:")) for url in one.requests)


def test_it_loads_and_only_the_rows_in_sight_exist(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    assert seen.counted() == "40 of 40 samples"
    assert seen.ids()[:3] == ["tone_0", "tone_1", "tone_2"]
    assert len(seen.ids()) < 30
    assert seen.requests == [plain_page.as_uri()]
    seen.page.locator("#list").evaluate("box => { box.scrollTop = box.scrollHeight; }")
    seen.page.wait_for_selector("text=tone_39")
    assert len(seen.ids()) < 30


def test_filters_narrow_the_list_together(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    seen.page.select_option("#category", label="music")
    assert seen.counted() == "20 of 40 samples"
    seen.page.fill("#search", "NUMBER 13 sounds")
    assert (seen.counted(), seen.ids()) == ("1 of 40 samples", ["tone_13"])
    seen.page.click("button[type=reset]")
    seen.until("document.querySelector('#count').textContent.startsWith('40 of')")
    seen.page.select_option("#model", label="control/right")
    seen.page.select_option("#status", label="empty")
    assert seen.counted() == "0 of 40 samples"
    seen.page.select_option("#model", label="control/empty")
    assert seen.counted() == "40 of 40 samples"
    seen.page.fill("#low", "0.5")
    assert seen.counted() == "0 of 40 samples"
    seen.page.fill("#low", "")
    seen.page.fill("#high", "0")
    assert seen.counted() == "40 of 40 samples"


def test_any_score_sorts_either_way(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    for label in ("rouge_l", "elements: accuracy"):
        seen.page.select_option("#measure", label=label)
        for order, down in (("score, lowest first", False), ("score, highest first", True)):
            seen.page.select_option("#sort", label=order)
            shown = seen.scores()
            assert len(shown) > 5
            assert shown == sorted(shown, reverse=down)
            if label == "rouge_l":
                assert shown[0] != shown[-1]


def test_a_clip_shows_its_models_side_by_side(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    seen.page.click("[role=option] >> nth=1")
    clip = seen.page.locator("#clip")
    assert clip.locator("h3").inner_text() == "tone_1"
    assert clip.locator("li").all_inner_texts() == [
        "A steady tone number 1 sounds.",
        "Tone 1 hums and on.",
    ]
    assert clip.locator(".card").count() == 3
    assert "not scored against itself" in clip.inner_text()
    assert clip.locator(".badge", has_text="empty").count() == 1
    assert clip.locator(".said").count() == 3
    seen.page.click("#shown summary")
    seen.page.get_by_label("control/wrong", exact=True).uncheck()
    assert clip.locator(".card").count() == 2
    assert seen.page.inner_text("#shown-count") == "2 of 3"


def wait_until_it_plays(seen: Visit) -> None:
    seen.until("document.querySelector('#clip audio').readyState >= 2")
    seen.until("document.querySelector('#clip audio').currentTime > 0")


def test_embedded_audio_plays(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page, "#clip=tone_5")
    assert len(seen.page.locator(".wave path").get_attribute("d") or "") > 500
    seen.page.locator("#clip h3").focus()
    seen.page.keyboard.press("p")
    wait_until_it_plays(seen)
    assert seen.requests[1].startswith("blob:")


def test_a_link_to_a_clip_opens_it(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page, "#clip=tone_33")
    assert seen.page.inner_text("#clip h3") == "tone_33"
    assert seen.page.locator("[aria-selected=true] .name").inner_text() == "tone_33"
    link = seen.page.locator("#clip a").get_attribute("href")
    assert link == "#clip=tone_33"
    seen.page.evaluate("location.hash = '#clip=tone_2'")
    seen.page.wait_for_selector("#clip h3:text-is('tone_2')")


def test_a_link_to_nowhere_is_said_in_sight_until_something_opens(
    visit: Any, plain_page: Path
) -> None:
    seen = visit(plain_page, "#clip=nowhere")
    seen.page.wait_for_selector("#trouble:text-is('This report has no sample nowhere.')")
    frame = seen.page.locator("#trouble").bounding_box()
    assert frame is not None
    assert 0 <= frame["y"] <= 900 - frame["height"]
    seen.page.click("[role=option] >> nth=1")
    assert not seen.page.is_visible("#trouble")
    seen.page.evaluate("location.hash = '#clip=nowhere'")
    seen.page.wait_for_selector("#trouble:text-is('This report has no sample nowhere.')")


def test_the_keyboard_reaches_everything(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    press = seen.page.keyboard.press
    press("/")
    assert seen.page.evaluate("document.activeElement.id") == "search"
    press("Escape")
    assert seen.page.evaluate("document.activeElement.id") == "list"
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        press(key)
    active = seen.page.locator("#list").get_attribute("aria-activedescendant")
    assert seen.page.locator(f"#{active} .name").inner_text() == "tone_2"
    press("End")
    press("Enter")
    assert seen.page.inner_text("#clip h3") == "tone_39"
    assert seen.page.evaluate("document.activeElement.tagName") == "H3"
    press("Escape")
    assert seen.page.evaluate("document.activeElement.id") == "list"
    assert seen.page.locator("#clip h3").count() == 0


def test_screen_readers_are_told_what_is_what(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    row = seen.page.get_by_role("listbox", name="Samples").get_by_role("option").nth(3)
    assert (row.get_attribute("aria-posinset"), row.get_attribute("aria-setsize")) == ("4", "40")
    for name in ("Search", "Category", "Status", "Score", "Sort", "Lowest score", "Highest score"):
        assert seen.page.get_by_label(name, exact=True).count() == 1, name
    assert seen.page.get_by_role("status").inner_text() == "40 of 40 samples"
    for image in seen.page.locator("svg.figure").all():
        assert image.get_attribute("aria-label")


@pytest.mark.parametrize("width", [320, 375, 1200])
def test_the_page_never_scrolls_sideways(visit: Any, hostile_page: Path, width: int) -> None:
    seen = visit(hostile_page, viewport={"width": width, "height": 700})
    seen.page.click("[role=option] >> nth=0")
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_narrow_screen_a_clip_takes_the_place_of_the_list(
    visit: Any, plain_page: Path
) -> None:
    seen = visit(plain_page, viewport={"width": 375, "height": 700}, color_scheme="dark")
    size = "node => parseFloat(getComputedStyle(node).fontSize)"
    assert seen.page.locator("svg.figure text.name").first.evaluate(size) >= 12
    seen.page.click("[role=option] >> nth=0")
    assert not seen.page.is_visible("#list")
    seen.page.click("text=Back to the list")
    assert seen.page.is_visible("#list")


def test_hostile_text_is_only_text(visit: Any, hostile_page: Path) -> None:
    seen = visit(hostile_page)
    seen.page.fill("#search", "onerror")
    assert seen.counted() == "2 of 2 samples"
    seen.page.click("[role=option] >> nth=0")
    assert seen.page.inner_text("#clip h3") == f"a {EVIL}"
    link = seen.page.locator("#clip a").get_attribute("href")
    texts = seen.page.locator("#clip .card .text").all_text_contents()
    assert any(len(text) > 100_000 for text in texts)
    seen.page.click("[role=option] >> nth=1")
    seen.page.evaluate("link => { location.hash = link; }", link)
    seen.until("document.querySelector('#clip h3').textContent.startsWith('a ')")
    assert seen.page.evaluate("window.hit") is None
    assert seen.page.locator("img").count() == 0


def test_linked_audio_with_an_odd_name_plays(visit: Any, hostile_page: Path) -> None:
    seen = visit(hostile_page)
    seen.page.click("[role=option] >> nth=0")
    seen.page.keyboard.press("p")
    wait_until_it_plays(seen)


def test_audio_that_is_not_there_is_said_beside_the_clip(
    visit: Any, hostile_page: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved.html"
    moved.write_bytes(hostile_page.read_bytes())
    seen = visit(moved)
    seen.page.click("[role=option] >> nth=0")
    assert seen.page.locator("#clip .sound .warning").count() == 0
    seen.page.keyboard.press("p")
    seen.page.wait_for_selector("#clip .sound .warning")
    seen.page.keyboard.press("p")
    words = seen.page.locator("#clip .sound .warning").all_inner_texts()
    assert len(words) == 1
    assert words[0].startswith("The file is not at a%20%231%2520.wav; was the page moved?")
    # The browser names the missing file; nothing else may have gone wrong.
    assert all("ERR_FILE_NOT_FOUND" in one for one in seen.complaints)
    seen.complaints.clear()


def test_single_keys_can_be_switched_off(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page, "#clip=tone_5")
    seen.page.get_by_label("Use / and p").uncheck()
    seen.page.locator("#clip h3").focus()
    seen.page.keyboard.press("/")
    assert seen.page.evaluate("document.activeElement.tagName") == "H3"
    seen.page.keyboard.press("p")
    assert seen.page.evaluate("document.querySelector('#clip audio').paused")
    seen.page.reload()
    seen.page.wait_for_selector("#clip h3")
    assert not seen.page.is_checked("#letters")
    seen.page.get_by_label("Use / and p").check()
    seen.page.locator("#clip h3").focus()
    seen.page.keyboard.press("/")
    assert seen.page.evaluate("document.activeElement.id") == "search"


def test_without_javascript_the_overview_is_there(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page, java_script_enabled=False)
    assert "control/right" in seen.page.inner_text("#leaderboard")
    assert "needs JavaScript" in seen.page.inner_text("#explorer")
    assert not seen.page.is_visible("#controls")
