"""A real browser for tests of pages: one a module; every page must have been quiet in the end."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from needs import AXE, CHROMIUM, needs, needs_program

FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--no-first-run"
).split()
WIDE = {"width": 1200, "height": 900}
PATIENCE_S = 180.0
"""How long anything may take on a machine that others use too; nothing waits longer than needed."""


@dataclass(eq=False)
class Visit:
    """An open page, with everything that it complained about or asked for.

    A page changes after an action and not with it: what is looked at then is waited for, with
    ``until``, ``becomes`` and ``says``. What the browser says of a page may come late as well: a
    complaint that a test wants is ``excused`` and never taken back.
    """

    page: Any
    complaints: list[str]
    requests: list[str]
    excused: list[str]

    def listen(self, on: bool = True) -> None:
        """Note what the page says and asks for from now on, or no longer."""
        turn = self.page.on if on else self.page.remove_listener
        turn("console", self._said)
        turn("pageerror", self._failed)
        turn("request", self._asked)

    def _said(self, message: Any) -> None:
        self.complaints.append(f"{message.type}: {message.text}")

    def _failed(self, error: Any) -> None:
        self.complaints.append(str(error))

    def _asked(self, request: Any) -> None:
        self.requests.append(request.url)

    def go(self, address: str) -> None:
        """Open another address in the same tab, from the start."""
        self.page.goto("about:blank")
        self.page.goto(address)
        self.page.wait_for_selector("body[data-shown]", state="attached")

    def ids(self) -> list[str]:
        found: list[str] = self.page.locator("[role=option] .name").all_inner_texts()
        return found

    def until(self, condition: str | Callable[[], object]) -> None:
        """Wait until a condition, of the page or of the test, is true."""
        look = condition if callable(condition) else lambda: self.page.evaluate(condition)
        waited_for(self.page, lambda: bool(look()), True, str(condition))

    def becomes(self, look: str | Callable[[], object], wanted: object) -> None:
        """Wait until a look at the page shows what is wanted."""
        looking = look if callable(look) else lambda: self.page.evaluate(look)
        waited_for(self.page, looking, wanted, str(look))

    def says(self, selector: str, words: str) -> None:
        """Wait until an element says something."""
        self.page.wait_for_selector(f"{selector}:has-text({words!r})")

    def counted(self, words: str) -> None:
        """Wait until so many samples are listed."""
        self.says("#count", words)

    def opened(self, sample: str) -> None:
        """Wait until a sample is shown."""
        self.until(f"document.querySelector('#clip h2')?.textContent === {json.dumps(sample)}")

    def scores(self) -> list[float]:
        facts = self.page.locator("[role=option] div:last-child .fact").all_inner_texts()
        return [float(fact.removeprefix("mean ")) for fact in facts]

    def violations(self) -> list[str]:
        """What axe-core has against the page as it stands; see ``complaints_of_axe``."""
        return complaints_of_axe(self.page)


def waited_for(page: Any, look: Callable[[], object], wanted: object, name: str) -> None:
    """Look until it is so; a page's own policy forbids Playwright's way of waiting."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := look()) != wanted:
        assert time.monotonic() < deadline, f"{name}: {found!r} is not {wanted!r}"
        page.wait_for_timeout(20)


Opener = Callable[..., Visit]
_SPARE: dict[tuple[Any, str], list[Any]] = {}


def launched(*flags: str) -> Iterator[Any]:
    """One browser."""
    needs("playwright")
    needs_program("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*FLAGS, *flags], timeout=1000 * PATIENCE_S
        )
        yield browser
        for key in [key for key in _SPARE if key[0] is browser]:
            del _SPARE[key]
        browser.close()


def take_page(browser: Any, **settings: Any) -> Any:
    """A page with such settings that no test uses any more, or a new one.

    To make one takes two seconds of computing, to open an address in it a fifth of that.
    """
    spare = _SPARE.setdefault((browser, json.dumps(settings, sort_keys=True)), [])
    if spare:
        return spare.pop()
    page = browser.new_context(**settings).new_page()
    page.set_default_timeout(1000 * PATIENCE_S)
    return page


def give_back(browser: Any, page: Any, **settings: Any) -> None:
    """Leave a page, and all that it kept, for another test."""
    if page.is_closed():
        page.context.close()
        return
    forget(page)
    _SPARE[browser, json.dumps(settings, sort_keys=True)].append(page)


def forget(page: Any) -> None:
    """Make a page as empty as a new one."""
    page.evaluate("() => { try { localStorage.clear(); sessionStorage.clear(); } catch { } }")
    page.context.clear_cookies()
    page.goto("about:blank")


def visits(browser: Any, allowed: tuple[str, ...] = ("file:", "blob:")) -> Iterator[Opener]:
    """Opens addresses; none may complain, or ask for anything else than what is allowed."""
    seen: list[tuple[Visit, dict[str, Any]]] = []

    def open_page(address: str, **given: Any) -> Visit:
        settings = {"viewport": WIDE, "bypass_csp": False} | given
        page = take_page(browser, **settings)
        one = Visit(page, [], [], [])
        seen.append((one, settings))
        one.listen()
        page.goto(address)
        if settings.get("java_script_enabled", True):
            page.wait_for_selector("body[data-shown]", state="attached")
        return one

    yield open_page
    for one, settings in seen:
        give_back(browser, one.page, **settings)
        one.listen(False)
    for one, _ in seen:
        inexcusable = [said for said in one.complaints if not any(x in said for x in one.excused)]
        assert not inexcusable, one.complaints
        assert all(url.startswith(allowed) for url in one.requests), one.requests


def complaints_of_axe(page: Any) -> list[str]:
    """What axe-core has against a page as it stands; nothing where axe-core is missing."""
    if not AXE.is_file():
        return []
    if page.evaluate("typeof axe") == "undefined":  # it stays until the page goes
        page.evaluate(_axe_core())
    # All rules are applied; only what they have nothing against is not described.
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found
        for node in one["nodes"]
    ]


@cache
def _axe_core() -> str:
    return AXE.read_text(encoding="utf-8")
