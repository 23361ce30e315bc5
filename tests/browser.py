"""A real browser for tests of pages: one a module; every page must have been quiet in the end."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--no-first-run"
).split()
# Where `make test-all` puts axe-core, if there is npm.
_FETCHED = Path(sys.prefix) / "node_modules" / "axe-core" / "axe.min.js"
AXE = Path(os.environ.get("AXE_CORE") or _FETCHED)
needs_axe = pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is missing: make test-all fetches it where there is npm"
)
WIDE = {"width": 1200, "height": 900}


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


Opener = Callable[..., Visit]


def launched() -> Iterator[Any]:
    """One browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
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
        page.set_default_timeout(20_000)
        one = Visit(page, [], [])
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
        assert not one.complaints, one.complaints
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
