"""The rating pages in a real browser: by keyboard alone, quiet, harmless, and they lose nothing."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from needs import needs, needs_program

needs("uvicorn", "playwright")
needs_program("chromium")

from audiocapbench.store import Store
from browser import PATIENCE_S, complaints_of_axe, forget, launched, waited_for
from rating_project import (
    RatingServer,
    process_serving,
    serving,
    start,
    stop,
    write_arena,
    write_project,
)

pytestmark = pytest.mark.slow

# Colours that fade in are none to measure contrasts by.
STILL: dict[str, Any] = {"reduced_motion": "reduce"}
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script> \u202eesrever"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched("--autoplay-policy=no-user-gesture-required")


class Context:
    """What tabs of one person's browser share; tabs are used again, for a new one is dear."""

    def __init__(self, browser: Any, **settings: Any) -> None:
        self._made = browser.new_context(**settings, **STILL)
        self._tabs: list[Any] = []
        self._open: list[Page] = []

    def tab(self, page: "Page") -> Any:
        """An empty tab for a page."""
        self._open.append(page)
        if self._tabs:
            return self._tabs.pop()
        made = self._made.new_page()
        made.set_default_timeout(1000 * PATIENCE_S)
        return made

    def leave(self) -> None:
        """Empty all tabs, and forget what their pages kept."""
        for page in self._open:
            if not page.page.is_closed():
                forget(page.page)
                page.listen(page.page.remove_listener)
                self._tabs.append(page.page)
        self._open.clear()


class Page:
    """A page of one person, and what it complained about or asked for."""

    def __init__(
        self, context: Context, server: RatingServer, person: str, place: str = ""
    ) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page = context.tab(self)
        self.listen(self.page.on)
        self.page.goto(f"{server.address}/rate/{place}#{server.tokens[person]}")

    def listen(self, turn: Callable[[str, Callable[[Any], None]], object]) -> None:
        """Turn on, or off, what notes the tab's events."""
        turn("console", self._said)
        turn("pageerror", self._failed)
        turn("dialog", self._asked)
        turn("request", self._fetched)

    def _said(self, message: Any) -> None:
        self.complaints.append(message.text)

    def _failed(self, error: Any) -> None:
        self.complaints.append(str(error))

    def _asked(self, dialog: Any) -> None:
        self.complaints.append(f"dialog {dialog.message}")

    def _fetched(self, request: Any) -> None:
        self.requests.append(request.url)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def count(self, text: str) -> None:
        self.page.get_by_text(text, exact=True).wait_for()

    def hear(self) -> None:
        """Play the clip to its end."""
        self.page.wait_for_selector("#play:not([disabled])")
        self.press("p")
        self.until("document.getElementById('audio').ended")
        self.count("Heard")

    def until(self, condition: str) -> None:
        waited_for(self.page, lambda: bool(self.page.evaluate(condition)), True, condition)

    def check_access(self) -> None:
        assert complaints_of_axe(self.page) == []


@pytest.fixture(scope="module")
def desk(browser: Any) -> Context:
    return Context(browser, viewport={"width": 1200, "height": 900})


@pytest.fixture(scope="module")
def phones(browser: Any) -> dict[str, Context]:
    """A phone for each scheme of colours."""
    size = {"width": 390, "height": 844}
    return {one: Context(browser, viewport=size, color_scheme=one) for one in ("light", "dark")}


@pytest.fixture
def context(desk: Context) -> Iterator[Context]:
    """A browser without a page."""
    yield desk
    desk.leave()


def said(place: Path) -> dict[str, Any]:
    with Store.open(str(place / "audiocapbench.db")) as store:
        return {f"{one.person} {one.item}": one.answer for one in store.ratings.of("trial")}


KEYS = {
    "pairs": ["1", "w"],
    "judge": ["8", "0", "x"],
    "rel": ["4"],
    "pick": ["3", "e"],
}


@pytest.mark.parametrize("kind", KEYS)
def test_a_project_is_rated_by_keyboard_alone(tmp_path: Path, context: Context, kind: str) -> None:
    project = write_project(tmp_path, kind, count=2, gold=1, listen=1.0, seconds=0.4)
    with serving(project) as server:
        one = Page(context, server, "ana")
        for done in range(3):
            one.count(f"{done} done, {3 - done} to go")
            if not done:
                one.check_access()
            one.hear()
            one.press(*KEYS[kind], "Enter")
        one.page.get_by_text("All done. Thank you!").wait_for()
        one.check_access()
        assert one.complaints == []
        own = (server.address, f"blob:{server.address}", "data:")
        assert all(url.startswith(own) for url in one.requests)
    answers = list(said(tmp_path).values())
    assert len(answers) == 3
    if kind == "judge":
        assert answers[0] == {"accuracy": 8, "completeness": 0, "hallucination": 10}
    if kind == "pairs":
        assert {answer["confidence"] for answer in answers} == {2}


def test_what_is_not_heard_or_not_answered_is_not_sent(tmp_path: Path, context: Context) -> None:
    with serving(write_project(tmp_path, count=1, listen=1.0, seconds=1.0)) as server:
        one = Page(context, server, "ana")
        one.page.wait_for_selector("#play:not([disabled])")
        one.press("Enter")
        one.count("Choose a caption first.")
        one.press("t", "Enter")
        one.count("Say how sure you are.")
        one.press("e", "Enter")
        one.count("Listen to the clip first.")
        one.page.locator("#seek").fill("990")
        one.press("Enter")
        one.count("Listen to the clip first.")
        assert said(tmp_path) == {}
        assert one.complaints == []


def test_answers_are_taken_back_and_a_page_that_was_closed_goes_on(
    tmp_path: Path, context: Context
) -> None:
    with serving(write_project(tmp_path, "rel", count=3)) as server:
        one = Page(context, server, "ana")
        one.count("0 done, 3 to go")
        one.press("1", "Enter")
        one.count("1 done, 2 to go")
        shown = one.page.inner_text(".single")
        one.page.reload()
        one.count("1 done, 2 to go")
        assert one.page.inner_text(".single") == shown, "the same item waits"
        one.press("u")
        one.count("You are changing an earlier answer.")
        assert one.page.is_checked("input[value='1']")
        one.press("5", "Enter")
        one.page.wait_for_selector("#changing", state="hidden")
        one.count("1 done, 2 to go")
        assert one.page.inner_text(".single") == shown
        one.press("u")
        one.count("You are changing an earlier answer.")
        assert one.page.is_checked("input[value='5']")
        one.page.click("text=Leave it as it was")
        one.page.wait_for_selector("#changing", state="hidden")
        assert one.complaints == []
    assert list(said(tmp_path).values()) == [{"rel": 5}]


def test_two_people_rate_in_two_tabs_of_one_browser(tmp_path: Path, context: Context) -> None:
    with serving(write_project(tmp_path, "rel", count=1)) as server:
        ana, ben = (Page(context, server, name) for name in ("ana", "ben"))
        for one, value in ((ana, "2"), (ben, "5")):
            one.count("0 done, 1 to go")
            one.page.bring_to_front()
            one.press(value, "Enter")
            one.page.get_by_text("All done. Thank you!").wait_for()
    assert said(tmp_path) == {"ana secret-0": {"rel": 2}, "ben secret-0": {"rel": 5}}


def test_a_second_tab_of_the_same_person_makes_no_second_rating(
    tmp_path: Path, context: Context
) -> None:
    with serving(write_project(tmp_path, "rel", count=2)) as server:
        first, second = (Page(context, server, "ana") for _ in range(2))
        for one in (first, second):
            one.count("0 done, 2 to go")
        first.page.bring_to_front()
        first.press("2", "Enter")
        first.count("1 done, 1 to go")
        second.page.bring_to_front()
        second.press("5", "Enter")
        second.count("You rated this clip already, perhaps in another tab.")
        second.count("1 done, 1 to go")
    assert list(said(tmp_path).values()) == [{"rel": 2}]


def test_an_answer_outlives_a_server_that_is_killed(tmp_path: Path, context: Context) -> None:
    project = write_project(tmp_path, "rel", count=2)
    server = start(project)
    one = Page(context, server, "ana")
    one.count("0 done, 2 to go")
    one.page.wait_for_selector("#play:not([disabled])")
    os.kill(server.pid, signal.SIGKILL)
    stop(server)
    one.press("3", "Enter")
    warning = "Not saved yet: the server cannot be reached"
    one.page.get_by_text(warning).wait_for()
    port = server.address.rpartition(":")[2]
    with process_serving(project, "--port", port):
        one.count("1 done, 1 to go")
        one.page.get_by_text(warning).wait_for(state="hidden")
        assert list(said(tmp_path).values()) == [{"rel": 3}]
        one.until("Object.values(localStorage).join() === '[]'")


def test_an_answer_outlives_the_tab_where_the_server_is_gone(
    tmp_path: Path, context: Context
) -> None:
    project = write_project(tmp_path, "rel", count=2)
    server = start(project)
    one = Page(context, server, "ana")
    one.count("0 done, 2 to go")
    os.kill(server.pid, signal.SIGKILL)
    stop(server)
    one.press("3", "Enter")
    one.page.get_by_text("Not saved yet").wait_for()
    one.page.close()
    with process_serving(project, "--port", server.address.rpartition(":")[2]):
        again = Page(context, server, "ana")
        again.count("1 done, 1 to go")
    assert list(said(tmp_path).values()) == [{"rel": 3}]


def test_hostile_words_are_words(tmp_path: Path, context: Context) -> None:
    people = ["ana", "<b>ben</b>"]
    project = write_project(tmp_path, count=1, people=people, title=EVIL, instructions=EVIL)
    table = (tmp_path / "items.csv").read_text(encoding="utf-8")
    quoted = '"' + EVIL.replace('"', '""') + '"'
    table = table.replace("first of 0", quoted).replace("second of 0", quoted)
    (tmp_path / "items.csv").write_text(table, encoding="utf-8")
    with serving(project) as server:
        one = Page(context, server, "<b>ben</b>")
        one.page.wait_for_selector(".words")
        assert one.page.locator(".words").all_inner_texts() == [EVIL, EVIL]
        assert one.page.inner_text("#question") == EVIL
        assert one.page.inner_text("#who") == "· <b>ben</b>"
        assert one.page.locator("main img, main script").count() == 0
        admin = Page(context, server, "", "admin")
        admin.page.get_by_text("<b>ben</b>").wait_for()
        assert [*one.complaints, *admin.complaints] == []


def test_the_administrator_sees_how_far_it_is_and_fetches_it(
    tmp_path: Path, context: Context
) -> None:
    with serving(write_project(tmp_path, "rel", count=2)) as server:
        for name, value in (("ana", "4"), ("ben", "4")):
            one = Page(context, server, name)
            for done in range(2):
                one.count(f"{done} done, {2 - done} to go")
                one.press(str(int(value) - done), "Enter")
            one.page.get_by_text("All done. Thank you!").wait_for()
        admin = Page(context, server, "", "admin")
        admin.page.get_by_text("4 of 4 ratings").wait_for()
        row = admin.page.locator("[aria-label=Agreement] tbody tr").inner_text().split()
        assert row == ["rel", "1.00", "1.00", "2"]
        admin.check_access()
        with admin.page.expect_download() as waited:
            admin.page.click("[data-form=csv]")
        text = Path(waited.value.path()).read_text(encoding="utf-8")
        assert waited.value.suggested_filename == "trial-ratings.csv"
        assert len(text.splitlines()) == 5
        rater = Page(context, server, "ana", "admin")
        rater.page.get_by_text("this link is not for this page").wait_for()
        assert admin.complaints == []


@pytest.mark.parametrize("kind", KEYS)
def test_a_phone_shows_all_of_it_in_light_and_dark(
    tmp_path: Path, phones: dict[str, Context], kind: str
) -> None:
    with serving(write_project(tmp_path, kind, count=1)) as server:
        for phone in phones.values():
            one = Page(phone, server, "ana")
            one.count("0 done, 1 to go")
            one.until("document.documentElement.scrollWidth === 390")
            one.check_access()
            assert one.complaints == []
            phone.leave()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_arena_is_voted_in_on_a_phone_and_ranks_for_who_looks_on(
    tmp_path: Path, phones: dict[str, Context], scheme: str
) -> None:
    with serving(write_arena(tmp_path), arena=True) as server:
        one = Page(phones[scheme], server, "ana")
        for done, key in enumerate(("1", "2", "0", "b", "1", "2")):
            one.count(f"{done} done")
            one.press(key, "Enter")
        one.count("6 done")
        one.check_access()
        look = Page(phones[scheme], server, "", "admin")
        look.page.get_by_role("heading", name="How often scores prefer").wait_for()
        for page in (one, look):
            assert page.page.evaluate("document.documentElement.scrollWidth") <= 390
            assert page.complaints == []
        look.check_access()
    phones[scheme].leave()
    votes = [answer["vote"] for answer in said(tmp_path).values()]
    assert len(votes) == 6
    assert {"tie", "both_bad"} < {*votes}
