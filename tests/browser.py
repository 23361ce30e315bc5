"""A real browser for tests of pages: one a module; every page must have been quiet in the end."""

import json
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from needs import AXE, CHROMIUM, needs, needs_program

FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--no-first-run"
).split()
WIDE = {"width": 1200, "height": 900}
PATIENCE_S = 60.0
"""How long anything may take on a machine that others use too; nothing waits longer than needed."""


class Visit(NamedTuple):
    """An open page, with everything that it complained about or asked for.

    A page changes after an action and not with it: what is looked at then is waited for, with
    ``until``, ``becomes`` and ``says``. What the browser says of a page may come late as well: a
    complaint that a test wants is ``excused`` and never taken back.
    """

    page: Any
    complaints: list[str]
    requests: list[str]
    excused: list[str]

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
        browser.close()


def visits(browser: Any, allowed: tuple[str, ...] = ("file:", "blob:")) -> Iterator[Opener]:
    """Opens addresses; none may complain, or ask for anything else than what is allowed."""
    contexts = []
    seen: list[Visit] = []

    def open_page(address: str, **settings: Any) -> Visit:
        context = browser.new_context(**({"viewport": WIDE, "bypass_csp": False} | settings))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE_S)
        one = Visit(page, [], [], [])
        seen.append(one)
        page.on("console", lambda message: one.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: one.complaints.append(str(error)))
        page.on("request", lambda request: one.requests.append(request.url))
        page.goto(address)
        if settings.get("java_script_enabled", True):
            page.wait_for_selector("body[data-shown]", state="attached")
        return one

    yield open_page
    for context in contexts:
        context.close()
    for one in seen:
        inexcusable = [said for said in one.complaints if not any(x in said for x in one.excused)]
        assert not inexcusable, one.complaints
        assert all(url.startswith(allowed) for url in one.requests), one.requests


def complaints_of_axe(page: Any) -> list[str]:
    """What axe-core has against a page as it stands; nothing where axe-core is missing."""
    if not AXE.is_file():
        return []
    page.evaluate(_axe_core())
    found = page.evaluate("axe.run().then(found => found.violations)")
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found
        for node in one["nodes"]
    ]


@cache
def _axe_core() -> str:
    return AXE.read_text(encoding="utf-8")
