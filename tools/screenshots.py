"""Pictures of the page's views from the demo, for the README and docs/view.md: docs/images/*.png.

Needs Playwright, chromium and Pillow. Run it after a change of looks: tools/screenshots.py
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from audiocapbench.cli import main as command

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
LARGEST = 150_000
VIEWS = {
    "leaderboard": "#leaderboard",
    "compare": "#compare&a=listener&b=control%2Fright",
    "explore": "#explore&clip=sound_03&q=dog",
    "trials": "#trials",
    "made": "#made",
}
SIZE = {"width": 1280, "height": 800}


def write_demo(folder: Path) -> str:
    """The demo's report; its address."""
    os.chdir(folder)
    sys.argv = ["audiocapbench", "demo", "--out", "demo.html"]
    try:
        command()
    except SystemExit as end:
        if end.code:
            raise
    return (folder / "demo.html").as_uri()


def take(page: Any, address: str, name: str, folder: Path) -> Path:
    """One view as it first meets the eye."""
    page.goto("about:blank")
    page.goto(address + VIEWS[name])
    page.wait_for_selector(f"body[data-shown={name}]", state="attached")
    if name in ("compare", "explore"):
        page.wait_for_selector(".sound[data-drawn=yes]")
    page.wait_for_timeout(300)
    path = folder / f"{name}.png"
    page.screenshot(path=path)
    return path


def shrink(path: Path, target: Path) -> int:
    """Write a picture with as many colours as its size allows; how many bytes it has."""
    from PIL import Image

    picture = Image.open(path).convert("RGB")
    for colours in (256, 128, 64):
        few = picture.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.save(target, optimize=True)
        if target.stat().st_size < LARGEST:
            break
    return target.stat().st_size


def main() -> None:
    """All views."""
    from playwright.sync_api import sync_playwright

    IMAGES.mkdir(exist_ok=True)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        address = write_demo(folder)  # before the browser, which occupies the event loop
        playwright = sync_playwright().start()
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        for name in VIEWS:
            size = shrink(take(page, address, name, folder), IMAGES / f"{name}.png")
            print(f"{name}.png: {size / 1000:.0f} kB")
        browser.close()
        playwright.stop()
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
