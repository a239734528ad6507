"""Measure how long a user waits for the page: ``python -m tools.bench_page``.

The page has the built-in model and an example clip of 32 frames. Headless Chromium and the server
run on one machine.

- ``first screen``: from opening the page until both saved answers and the tokens are shown.
  ``new``: first visit of a new browser to a new server, which still loads the model;
  ``again``: three more visits by the same browser.
- ``one text box``: the same time for a Gradio page with a single text box, measured in turn with
  ours: the time that the machine and Gradio need for any page.
- ``slider``: from the release of the retention slider to the animation frame after the newly kept
  tokens of run B are drawn. The features of the clip are in memory, nothing is encoded.
- ``live answer``: from the release of the slider until the new answer of run B is complete.
- ``stop``: from the press of Stop until no request uses the model, at several points of an answer
  and of a comparison. ``page``: until the page shows that the work has stopped.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gradio as gr
import numpy as np

from components.jobs.engine import Engine
from components.jobs.examples import examples
from components.jobs.local import LocalBackend
from components.models.choosing import Choosing
from tests.browser.conftest import FLAGS, NAMES, listen, served
from tests.browser.steps import answered, notice, slider

ROUNDS = 30
STOP_AFTER_S = (0.05, 0.15, 0.3, 0.6, 1.0)
VISITS = 5  # visits, each by a new browser to a new server
SEEN = """() => {
  const answers = [...document.querySelectorAll(".gv-pane .gv-reply")];
  const shown = document.querySelector(".gv-viewer[data-state=ready]") && answers.length === 2;
  const read = (answer) => answer.textContent && answer.checkVisibility();
  return shown && answers.every(read) && performance.now();
}"""
BOX = "() => document.querySelector('textarea')?.checkVisibility() && performance.now()"
# The title of run B contains its retention ratio. It changes together with the shown tokens.
WATCH = """() => {
  const slider = document.querySelector("input[aria-label^='range slider for Retention']");
  const title = document.querySelector("[data-pick=b] select");
  const answer = document.querySelector("[data-side=b] .gv-answered");
  const frame = () => new Promise(requestAnimationFrame);
  const settled = (wanted) => new Promise((done) => {
    const seen = () => wanted() && (watcher.disconnect(), done());
    const watcher = new MutationObserver(seen);
    const panes = document.querySelector(".gv-panes");
    watcher.observe(panes, { childList: true, attributes: true, subtree: true });
    seen();
  });
  window.waited = new Promise((done, failed) => addEventListener("pointerup", async () => {
    setTimeout(() => failed(new Error(`after 20 s: ${title.selectedOptions[0]?.textContent}, `
      + `slider ${slider.value}, answer ${answer.outerHTML.slice(0, 200)}`)), 20_000);
    const begun = performance.now();
    const label = `GleanVID ${Number((100 * slider.value).toPrecision(3))} %`;
    const since = () => performance.now() - begun;
    const named = () => title.selectedOptions[0]?.textContent === label;
    const open = ["hidden", "data-stale", "data-running"];
    await settled(named);
    await frame();
    const masks = since();
    await settled(() => named() && !open.some((name) => answer.hasAttribute(name)));
    done([masks, since()]);
  }, { once: true, capture: true }));
}"""


@contextmanager
def page_served() -> Iterator[tuple[Any, Engine, str]]:
    """Yield a browser, the engine and the address of a page with the built-in model."""
    engine = Engine(LocalBackend({}))
    with served(engine, examples(), choosing=Choosing(engine)) as url, browsing() as browser:
        yield browser, engine, url


@contextmanager
def browsing() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


def first_screen(page: Any, url: str, seen: str) -> float:
    """Open the page; return the milliseconds until the script ``seen`` finds its content shown."""
    page.goto(url, wait_until="commit")
    return page.wait_for_function(seen).json_value()


def with_clip(browser: Any, url: str) -> Any:
    """Open a page on which an example is encoded, shown and answered."""
    page = listen(browser)
    page.goto(url)
    page.wait_for_selector(".gv-viewer[data-state=ready]")
    page.locator(".gv-examples button").first.click()
    notice(page, "Used")
    answered(page)
    return page


def release(page: Any, ratio: float) -> list[float]:
    """Release the slider at ``ratio``; return the waits for the kept tokens and for the answer.

    Both are in milliseconds from the release.
    """
    handle = slider(page, "Retention")
    low, high = (float(handle.get_attribute(name)) for name in ("min", "max"))
    box = handle.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.evaluate(WATCH)
    page.mouse.move(box["x"] + box["width"] * 0.05, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * (ratio - low) / (high - low), middle, steps=5)
    page.mouse.up()
    waited: list[float] = page.evaluate("waited")
    answered(page)
    return waited


def stop(page: Any, engine: Engine, start: str, button: str, after_s: float) -> tuple[float, float]:
    """Return milliseconds from pressing Stop until the model is free and the page shows it."""
    page.wait_for_selector(f"{start}:not([disabled])")
    page.click(start)
    while not len(engine.queue):
        page.wait_for_timeout(5)
    page.wait_for_timeout(1000 * after_s)
    if page.is_disabled(button):
        return float("nan"), float("nan")
    begun = time.perf_counter()
    page.evaluate("(button) => document.querySelector(button).click()", button)
    while len(engine.queue):
        time.sleep(0.001)
    free = time.perf_counter() - begun
    page.wait_for_selector(f"{button}[disabled]", state="attached")
    return 1000 * free, 1000 * (time.perf_counter() - begun)


def said(name: str, times: Sequence[float]) -> None:
    known = np.array(times)[np.isfinite(times)]
    if not len(known):
        print(f"{name:24} always finished before Stop was pressed")
        return
    median, worst = np.percentile(known, [50, 100])
    print(f"{name:24} median {median:5.0f} ms, worst {worst:5.0f} ms, {len(known)} times")


def stops(name: str, press: Callable[[float], tuple[float, float]]) -> None:
    pairs = [press(after) for after in STOP_AFTER_S for _ in range(3)]
    said(f"stop {name}: model free", [free for free, _ in pairs])
    said(f"stop {name}: page", [page for _, page in pairs])


def first_screens() -> None:
    ours: tuple[list[float], list[float]] = [], []
    empty: tuple[list[float], list[float]] = [], []
    for _ in range(VISITS):
        with page_served() as (browser, engine, url):
            engine.warm_up("builtin")
            visits(browser, url, SEEN, ours)
        with one_text_box() as (browser, url):
            visits(browser, url, BOX, empty)
    for name, (new, again) in (("first screen", ours), ("one text box", empty)):
        said(f"{name}: new", new)
        said(f"{name}: again", again)


def visits(browser: Any, url: str, seen: str, times: tuple[list[float], list[float]]) -> None:
    """Measure one first visit and three repeated visits; append the times to ``times``."""
    page = listen(browser)
    new, again = times
    new.append(first_screen(page, url, seen))
    again += [first_screen(page, url, seen) for _ in range(3)]


@contextmanager
def one_text_box() -> Iterator[tuple[Any, str]]:
    """Yield a browser and the address of a Gradio page with a single text box."""
    with gr.Blocks() as blocks:
        gr.Textbox(label="Text")
    blocks.launch(prevent_thread_lock=True, quiet=True)
    with browsing() as browser:
        yield browser, blocks.local_url
    blocks.close()


def main() -> None:
    print(f"cores {os.cpu_count()}, load before {os.getloadavg()[0]:.1f}")
    first_screens()
    with page_served() as (browser, engine, url):
        page = with_clip(browser, url)
        release(page, 0.8)
        ratios = np.random.default_rng(0).permutation(np.linspace(0.06, 0.7, ROUNDS))
        masks, answers = zip(*(release(page, ratio) for ratio in ratios), strict=True)
        said("slider to masks", masks)
        said("live answer", answers)
        page.get_by_label("Ask again on each change").uncheck()
        page.get_by_label("Question", exact=True).fill("Tell everything that moves in this clip.")
        stops("ask", lambda after: stop(page, engine, "#gv-ask", "#gv-stop", after))
        page.get_by_role("tab", name="Compare", exact=True).click()
        start, halt = "#gv-compare-start", "#gv-compare-stop"
        stops("compare", lambda after: stop(page, engine, start, halt, after))
        print("errors on the page:", page.errors or "none")


if __name__ == "__main__":
    main()
