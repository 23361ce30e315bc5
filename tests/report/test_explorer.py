"""The explorer in a real browser: loads, filters, sorts, plays, and stays quiet and harmless."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from browser import Visit, launched, visits
from needs import needs, needs_program
from report_pages import EVIL, write_hostile_page, write_plain_page

needs("playwright")
needs_program("chromium")


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
    yield from launched()


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """Opens the explorer of pages; every page must have been quiet in the end."""
    opening = visits(browser)
    open_page = next(opening)

    def explore(path: Path, anchor: str = "#explore", **settings: Any) -> Visit:
        seen = open_page(path.as_uri() + anchor, **settings)
        if settings.get("java_script_enabled", True):
            seen.page.wait_for_selector("#list [role=option]", state="attached")
        return seen

    yield explore
    next(opening, None)


def test_it_loads_and_only_the_rows_in_sight_exist(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    seen.counted("40 of 40 samples")
    assert seen.ids()[:3] == ["tone_0", "tone_1", "tone_2"]
    assert len(seen.ids()) < 30
    assert {one.partition("#")[0] for one in seen.requests if "blob:" not in one} == {
        plain_page.as_uri()
    }
    seen.page.locator("#list").evaluate("box => { box.scrollTop = box.scrollHeight; }")
    seen.page.wait_for_selector("text=tone_39")
    assert len(seen.ids()) < 30


def test_filters_narrow_the_list_together(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    seen.page.select_option("#category", label="music")
    seen.counted("20 of 40 samples")
    seen.page.fill("#search", "NUMBER 13 sounds")
    seen.counted("1 of 40 samples")
    assert seen.ids() == ["tone_13"]
    seen.page.click("button[type=reset]")
    seen.counted("40 of 40 samples")
    seen.page.select_option("#model", label="control/right")
    seen.page.select_option("#status", label="empty")
    seen.counted("0 of 40 samples")
    seen.page.select_option("#model", label="control/empty")
    seen.counted("40 of 40 samples")
    seen.page.fill("#low", "0.5")
    seen.counted("0 of 40 samples")
    seen.page.fill("#low", "")
    seen.page.fill("#high", "0")
    seen.counted("40 of 40 samples")


def test_any_score_sorts_either_way(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    for label in ("rouge_l", "elements: accuracy"):
        seen.page.select_option("#measure", label=label)
        for order, down in (("score, lowest first", False), ("score, highest first", True)):
            seen.page.select_option("#sort", label=order)
            seen.until(partial(is_sorted, seen, down, label == "rouge_l"))


def is_sorted(seen: Visit, down: bool, differ: bool) -> bool:
    shown = seen.scores()
    apart = len(set(shown)) > 1 or not differ
    return len(shown) > 5 and apart and shown == sorted(shown, reverse=down)


def test_a_clip_shows_its_models_side_by_side(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    seen.page.click("[role=option] >> nth=1")
    seen.opened("tone_1")
    clip = seen.page.locator("#clip")
    assert clip.locator("h2").inner_text() == "tone_1"
    assert clip.locator(".refs li").all_inner_texts() == [
        "A steady tone number 1 sounds.",
        "Tone 1 hums and on.",
    ]
    assert clip.locator(".answer").count() == 3
    assert "not scored against itself" in clip.inner_text()
    assert clip.locator(".badge", has_text="empty").count() == 1
    assert clip.locator(".said").count() == 3
    seen.page.click("#shown summary")
    seen.page.get_by_label("control/wrong", exact=True).uncheck()
    seen.says("#shown-count", "2 of 3")
    seen.until("document.querySelectorAll('#clip .answer').length === 2")


def wait_until_it_plays(seen: Visit) -> None:
    seen.until("document.querySelector('#clip audio').readyState >= 2")
    seen.until("document.querySelector('#clip audio').currentTime > 0")


def test_embedded_audio_plays(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page, "#clip=tone_5")
    seen.page.wait_for_selector(".sound[data-drawn=yes]")
    seen.page.locator("#clip h2").focus()
    seen.page.keyboard.press("p")
    wait_until_it_plays(seen)
    seen.until(lambda: any(one.startswith("blob:") for one in seen.requests))
    seen.until("parseFloat(document.querySelector('.playhead').style.left) > 0")


def test_a_link_to_a_clip_opens_it(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page, "#clip=tone_33")
    seen.opened("tone_33")
    seen.page.wait_for_selector("[aria-selected=true] .name:text-is('tone_33')")
    link = seen.page.locator("#clip a").get_attribute("href")
    assert link == "#clip=tone_33"
    seen.page.evaluate("location.hash = '#clip=tone_2'")
    seen.opened("tone_2")


def test_a_link_to_nowhere_is_said_where_the_sample_would_be(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page, "#clip=nowhere&category=music")
    seen.says("#clip", "There is no sample nowhere here")
    seen.page.click("[role=option] >> nth=1")
    seen.opened("tone_3")
    seen.page.evaluate("location.hash = '#clip=nowhere'")
    seen.says("#clip", "There is no sample nowhere here")
    seen.page.click("text=Show the first sample")
    seen.opened("tone_0")


def test_the_keyboard_reaches_everything(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    press = seen.page.keyboard.press
    press("/")
    seen.becomes("document.activeElement.id", "search")
    press("Escape")
    seen.becomes("document.activeElement.id", "list")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        press(key)
    active = "document.getElementById('list').getAttribute('aria-activedescendant')"
    seen.becomes(f"document.getElementById({active}).querySelector('.name').innerText", "tone_2")
    press("End")
    press("Enter")
    seen.opened("tone_39")
    seen.becomes("document.activeElement.tagName", "H2")
    press("Escape")
    seen.becomes("document.activeElement.id", "list")
    press("/")
    seen.becomes("document.activeElement.id", "search")
    seen.page.keyboard.type("number 13 sounds")
    seen.counted("1 of 40 samples")
    press("Escape")
    seen.becomes("document.activeElement.id", "list")
    assert seen.page.input_value("#search") == "number 13 sounds"
    press("Enter")
    seen.opened("tone_13")
    seen.becomes("document.activeElement.tagName", "H2")
    press("Escape")
    seen.becomes("document.activeElement.id", "list")
    press("/")
    seen.becomes("document.activeElement.id", "search")
    seen.page.fill("#search", "")
    seen.counted("40 of 40 samples")
    press("ArrowDown")
    seen.becomes("document.activeElement.id", "list")
    press("Home")
    press("Enter")
    seen.opened("tone_0")
    press("j")
    seen.opened("tone_1")


def test_screen_readers_are_told_what_is_what(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    row = seen.page.get_by_role("listbox", name="Samples").get_by_role("option").nth(3)
    assert (row.get_attribute("aria-posinset"), row.get_attribute("aria-setsize")) == ("4", "40")
    for name in ("Search", "Category", "Status", "Score", "Sort", "Lowest score", "Highest score"):
        assert seen.page.get_by_label(name, exact=True).count() == 1, name
    assert seen.page.get_by_role("status").inner_text() == "40 of 40 samples"


@pytest.mark.parametrize("width", [320, 375, 1200])
def test_the_page_never_scrolls_sideways(visit: Any, hostile_page: Path, width: int) -> None:
    seen = visit(hostile_page, viewport={"width": width, "height": 700})
    seen.page.click("[role=option] >> nth=0")
    seen.page.wait_for_selector("#clip .answer")
    seen.until(f"document.documentElement.scrollWidth <= {width}")
    for tab in ("leaderboard", "compare", "trials", "made"):
        seen.page.evaluate("tab => { location.hash = tab; }", tab)
        seen.until(f"document.body.dataset.shown === '{tab}'")
        seen.until(f"document.documentElement.scrollWidth <= {width}")


def test_on_a_narrow_screen_a_clip_takes_the_place_of_the_list(
    visit: Any, plain_page: Path
) -> None:
    seen = visit(plain_page, viewport={"width": 375, "height": 700}, color_scheme="dark")
    seen.page.click("[role=option] >> nth=0")
    seen.opened("tone_0")
    seen.page.wait_for_selector("#list", state="hidden")
    seen.page.click("text=Back to the list")
    seen.page.wait_for_selector("#list")


def test_hostile_text_is_only_text(visit: Any, hostile_page: Path) -> None:
    seen = visit(hostile_page)
    seen.page.fill("#search", "onerror")
    seen.page.wait_for_selector("#list mark.hit")
    seen.counted("2 of 2 samples")
    seen.page.click("[role=option] >> nth=0")
    seen.until("document.querySelector('#clip h2').textContent.startsWith('a ')")
    assert seen.page.inner_text("#clip h2") == f"a {EVIL}"
    link = seen.page.locator("#clip a").get_attribute("href")
    texts = seen.page.locator("#clip .answer .text").all_text_contents()
    assert any(len(text) > 100_000 for text in texts)
    seen.page.click("[role=option] >> nth=1")
    seen.until("document.querySelector('#clip h2').textContent.startsWith('b ')")
    seen.page.evaluate("link => { location.hash = link; }", link)
    seen.until("document.querySelector('#clip h2').textContent.startsWith('a ')")
    assert seen.page.evaluate("window.hit") is None
    assert seen.page.locator("img").count() == 0


def test_linked_audio_with_an_odd_name_plays(visit: Any, hostile_page: Path) -> None:
    seen = visit(hostile_page)
    seen.page.click("[role=option] >> nth=0")
    seen.until("document.activeElement.tagName === 'H2'")
    seen.page.keyboard.press("p")
    wait_until_it_plays(seen)


def test_audio_that_is_not_there_is_said_beside_the_clip(
    visit: Any, hostile_page: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved.html"
    moved.write_bytes(hostile_page.read_bytes())
    seen = visit(moved)
    seen.page.click("[role=option] >> nth=0")
    seen.until("document.activeElement.tagName === 'H2'")
    assert seen.page.locator("#clip .sound .warning").count() == 0
    seen.page.keyboard.press("p")
    seen.page.wait_for_selector("#clip .sound .warning")
    seen.page.keyboard.press("p")
    words = seen.page.locator("#clip .sound .warning").all_inner_texts()
    assert len(words) == 1
    assert words[0].startswith("The file is not at a%20%231%2520.wav; was the page moved?")
    # The browser names the missing file; nothing else may have gone wrong.
    seen.excused.append("ERR_FILE_NOT_FOUND")


def test_single_keys_can_be_switched_off(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page, "#clip=tone_5")
    seen.page.get_by_label("Use single letters").uncheck()
    seen.page.locator("#clip h2").focus()
    seen.page.keyboard.press("/")
    assert seen.page.evaluate("document.activeElement.tagName") == "H2"
    seen.page.keyboard.press("p")
    assert seen.page.evaluate("document.querySelector('#clip audio').paused")
    seen.page.reload()
    # The sample that the address names takes the focus last of all.
    seen.page.wait_for_selector("body[data-shown=explore]")
    assert not seen.page.is_checked("#letters")
    seen.page.get_by_label("Use single letters").check()
    seen.page.locator("#clip h2").focus()
    seen.page.keyboard.press("/")
    seen.becomes("document.activeElement.id", "search")


def test_without_javascript_the_numbers_are_there(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page, java_script_enabled=False)
    assert "control/right" in seen.page.inner_text("main")
    assert "need JavaScript" in seen.page.inner_text("main")
    assert not seen.page.is_visible("#controls")


def test_words_that_are_found_and_left_out_are_marked(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page, "#clip=tone_1")
    seen.opened("tone_1")
    right = seen.page.locator(".answer", has_text="control/right")
    assert right.locator("mark.match").count() >= 2
    wrong = seen.page.locator(".answer", has_text="control/wrong")
    assert "1" not in wrong.locator("mark.match").all_inner_texts()
    assert wrong.locator(".miss").count() >= 1
    assert right.locator(".dim").count() >= 3
    assert not right.locator("details .dim").first.is_visible()
    seen.page.fill("#search", "steady TONE")
    seen.page.wait_for_selector("#list mark.hit")
    seen.page.wait_for_selector(".refs mark.hit")
    assert set(seen.page.locator(".refs mark.hit").all_inner_texts()) <= {"steady", "tone", "Tone"}


def test_a_sample_is_open_from_the_start(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    seen.opened("tone_0")
    assert seen.page.evaluate("location.hash") == "#explore"


def test_the_address_says_what_is_shown(visit: Any, plain_page: Path) -> None:
    seen = visit(plain_page)
    seen.page.fill("#search", "hums & 1%")
    seen.page.select_option("#category", label="music")
    seen.page.fill("#search", "hums")
    seen.counted("20 of 40 samples")
    seen.page.select_option("#sort", label="score, highest first")
    seen.page.click("[role=option] >> nth=2")
    seen.until("location.hash.includes('clip=')")
    name = seen.page.evaluate("decodeURIComponent(location.hash.match(/clip=([^&]*)/)[1])")
    seen.opened(name)
    again = visit(plain_page, seen.page.evaluate("location.hash"))
    again.opened(name)
    again.counted("20 of 40 samples")
    assert again.page.input_value("#search") == "hums"
    assert again.page.input_value("#sort") == "highest"
