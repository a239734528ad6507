"""Take screenshots of every tab: ``python -m tools.screenshots --out FOLDER``.

The page shows the built-in model, an example and a finished comparison. Each tab is one PNG on
desktop and on phone, light and dark. ``--readme`` makes the images of the README and the
documentation instead: three screenshots, one of them also with numbered parts, and an animation of
the retention slider.
"""

import argparse
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from tests.browser.steps import answered, notice, settle, tab
from tools.bench_page import SEEN, page_served, release

ASSETS = Path(__file__).resolve().parents[1] / "assets"
DOCS = ASSETS.parent / "docs" / "static"
PLACES = {"desk": (1400, 900), "phone": (390, 844)}
README = {"Tokens": "screenshot.webp", "Compare": "compare.webp"}
FIRST = "Tokens"
NUMBERED = (  # parts of the page, in the order of docs/read_the_page.md
    ".gv-examples",
    "#gv-ask",
    ".gv-pane[data-side=a] .gv-head",
    ".gv-pane[data-side=b] .gv-head",
    ".gv-pane[data-side=b] .gv-answered",
    "input[aria-label^='range slider for Retention']",
    ".gv-views",
    "[data-strip=budget] canvas",
    "[data-strip=novelty] canvas",
    "[data-strip=rank] canvas",
)
SETTLED = """() => {  // the title and the answer of B belong to the ratio of the slider
  const slider = document.querySelector("input[aria-label^='range slider for Retention']");
  const title = document.querySelector("[data-pick=b] select").selectedOptions[0]?.textContent;
  const answer = document.querySelector("[data-side=b] .gv-answered");
  return title === `GleanVID ${Number((100 * slider.value).toPrecision(3))} %`
    && !["hidden", "data-stale", "data-running"].some((name) => answer.hasAttribute(name));
}"""
# Ratios to drag the slider to; the mouse reaches them approximately.
RATIOS = (0.5, 0.42, 0.35, 0.3, 0.25, 0.21, 0.18, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05)
TABS = (*README, "Export and API", "About")


@contextmanager
def visiting(browser: Any, url: str, size: tuple[int, int], mode: str) -> Iterator[Any]:
    """Open the page in a window of ``size`` (width, height), in light or dark mode."""
    width, height = size
    phone = width < 500
    window = {"width": width, "height": height}
    context = browser.new_context(
        viewport=window, color_scheme=mode, is_mobile=phone, has_touch=phone
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_function(SEEN)
    page.wait_for_function("[...document.images].every((image) => image.complete)")
    yield page
    context.close()


def show(page: Any, name: str) -> None:
    """Open a tab and wait until it is stable; in Compare, run the comparison."""
    tab(page, name)
    if name == "Compare":
        page.click("#gv-compare-start")
        page.wait_for_selector("#gv-compare-stop:not([disabled])")
        page.wait_for_selector("#gv-compare-start:not([disabled])", timeout=120_000)
        page.wait_for_selector(".gv-tools-row button")
    page.mouse.move(0, 0)
    page.wait_for_timeout(1000)  # wait: figures and lists are animated when they appear
    settle(page)


def every_tab(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with page_served() as (browser, _, url):
        for place, size in PLACES.items():
            for mode in ("light", "dark"):
                with visiting(browser, url, size, mode) as page:
                    for name in TABS:
                        show(page, name)
                        path = folder / f"{name.split()[0].lower()}-{place}-{mode}.png"
                        page.screenshot(path=path, full_page=True)


def readme(size: tuple[int, int] = (1400, 1000)) -> None:
    """Take screenshots of the first screen and of the other tabs for the documentation."""
    with page_served() as (browser, _, url), visiting(browser, url, size, "light") as page:
        for name, file in README.items():
            show(page, name)
            if name == FIRST:
                taken = page.screenshot()
                numbered(page, DOCS / "page.webp")
            else:
                taken = page.locator("[role=tabpanel]:visible").screenshot()
            with Image.open(io.BytesIO(taken)) as picture:
                picture.convert("RGB").save(ASSETS / file, quality=88, method=6)


def numbered(page: Any, path: Path) -> None:
    """Take a screenshot with a number at the top left of every part of ``NUMBERED``."""
    with Image.open(io.BytesIO(page.screenshot())) as taken:
        picture = taken.convert("RGB")
    pen, radius = ImageDraw.Draw(picture), 14
    for number, selector in enumerate(NUMBERED, 1):
        box = page.locator(selector).first.bounding_box()
        x, y = max(radius, box["x"] - 10), max(radius, box["y"])
        disc = (x - radius, y - radius, x + radius, y + radius)
        pen.ellipse(disc, fill="#d55e00", outline="white", width=2)
        pen.text((x, y), str(number), "white", ImageFont.load_default(16), anchor="mm")
    picture.save(path, quality=88, method=6)


def animation(size: tuple[int, int] = (1400, 800), width: int = 900) -> None:
    """Record the kept tokens while the retention slider goes down and up again."""
    with page_served() as (browser, engine, url), visiting(browser, url, size, "light") as page:
        engine.warm_up("builtin")
        page.locator(".gv-examples button").first.click()
        notice(page, "Used")
        answered(page)
        frames = []
        for ratio in RATIOS:
            release(page, ratio)
            page.wait_for_function(SETTLED)
            page.evaluate("document.activeElement.blur()")
            page.mouse.move(0, 0)
            settle(page)
            with Image.open(io.BytesIO(page.screenshot())) as taken:
                height = taken.height * width // taken.width
                frames.append(
                    taken.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
                )
    first, *others = [*frames, *frames[-2:0:-1]]
    first.save(
        ASSETS / "slider.webp",
        save_all=True,
        append_images=others,
        duration=[1500 if frame in (frames[0], frames[-1]) else 350 for frame in (first, *others)],
        loop=0,
        quality=75,
        method=6,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Take screenshots of every tab of the app.")
    parser.add_argument("--out", type=Path, help="output folder for screenshots of every tab")
    parser.add_argument(
        "--readme", action="store_true", help="take the screenshots of the README and of docs/"
    )
    options = parser.parse_args()
    if options.out:
        every_tab(options.out)
    if options.readme:
        readme()
        animation()


if __name__ == "__main__":
    main()
