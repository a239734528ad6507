"""Measure the viewer's frame times during a drag: ``python -m tools.bench_viewer --units 384``.

By default the viewer shows 64 units of 27 x 27 tokens under 12 compressors, in headless Chromium
without a GPU. A frame time is the gap between two animation frames; 16.7 ms means 60 a second.
``at rest`` is the same page while nothing moves: the best that this machine can reach.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from components.viewer.payload import Packed, pack
from gleanvid.types import Compression, Video, VideoTokens
from tests.browser.alone import open_alone
from tests.components.made_up import made_up_run

UNITS, SIDE, METHODS, KEPT = 64, 27, 12, 0.25
WATCH = """() => {
  window.gaps = [];
  let before = performance.now();
  window.watching = true;
  requestAnimationFrame(function next(now) {
    gaps.push(now - before);
    before = now;
    if (watching) requestAnimationFrame(next);
  });
}"""
LOADED = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const value = structuredClone(props.value);
  for (const file of [value.sheet, value.data])  // the network is not what is measured
    file.url = URL.createObjectURL(await (await fetch(file.url)).blob());
  show(null);
  await frame();
  const begun = performance.now();
  show(value);
  while (!document.querySelector(".gv-viewer[data-state=ready]")) await frame();
  await frame();
  return performance.now() - begun;
}"""
CHOOSE = """(a) => document.dispatchEvent(
  new CustomEvent("gleanvid:pair", { detail: { a, b: 2 } }))"""
TAKEN = "() => { watching = false; return gaps.slice(2); }"


def stress(units: int = UNITS, side: int = SIDE, methods: int = METHODS) -> Packed:
    """Pack the content of a viewer for a stress test.

    The frames are noise, which makes the largest JPEG files. A third of the methods merge tokens; a
    third have four scores per token instead of one.
    """
    draw, noise = np.random.default_rng(0), torch.Generator().manual_seed(0)
    video = Video.from_frames(draw.integers(0, 255, (units, 432, 576, 3), np.uint8))
    grid, total = (units, side, side), units * side * side
    tokens = VideoTokens(torch.randn(total, 64, generator=noise), grid)
    runs = []
    for index in range(methods):
        keep = torch.randperm(total, generator=noise)[: int(KEPT * total)].sort().values
        names = ("joint", "lrs", "scs", "novelty")[: 4 if index % 3 == 0 else 1]
        scores = {name: torch.rand(total, generator=noise) for name in names}
        record = Compression.pruned(keep, grid, scores)
        if index % 3 == 1:
            group = torch.randint(0, len(keep), (total,), generator=noise)
            group[keep] = torch.arange(len(keep))
            weight = 1 / torch.bincount(group)[group].float()
            record = Compression(keep, grid, group, weight, scores)
        runs.append(made_up_run(video, record, f"method{index}"))
    return pack(runs, 0, 1, tokens)


def measured(page: Any, act: Callable[[], None]) -> np.ndarray:
    """Return the gaps between animation frames, in ms, while ``act`` runs."""
    page.evaluate(WATCH)
    act()
    return np.array(page.evaluate(TAKEN))


def drag(page: Any, selector: str, moves: int) -> Callable[[], None]:
    """Drag a slider from one end to the other and back."""

    def act() -> None:
        box = page.locator(selector).bounding_box()
        middle, left, right = (
            box["y"] + box["height"] / 2,
            box["x"] + 3,
            box["x"] + box["width"] - 3,
        )
        page.mouse.move(left, middle)
        page.mouse.down()
        page.mouse.move(right, middle, steps=moves // 2)
        page.mouse.move(left, middle, steps=moves // 2)
        page.mouse.up()

    return act


def main() -> None:
    from tools.bench_page import browsing  # here: the tests import this module, but not Gradio

    parser = argparse.ArgumentParser(description="Frame times of the viewer.")
    parser.add_argument(
        "--units", type=int, default=UNITS, help="units of the clip, one frame each"
    )
    parser.add_argument("--side", type=int, default=SIDE, help="rows and columns of tokens")
    parser.add_argument("--methods", type=int, default=METHODS, help="compressors")
    parser.add_argument("--moves", type=int, default=240, help="pointer moves per measurement")
    options = parser.parse_args()
    moves, packed = options.moves, stress(options.units, options.side, options.methods)
    print(
        f"{options.units} units, {options.side} x {options.side} tokens, {options.methods} methods"
    )
    size = packed.value["bytes"]
    print(f"frames {size['frames'] / 1e6:.1f} MB, masks and scores {size['tokens'] / 1e6:.1f} MB")
    print(f"cores {os.cpu_count()}, load before {os.getloadavg()[0]:.1f}")
    with browsing() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        page = open_alone(page, packed)
        print(f"ready {page.evaluate(LOADED):.0f} ms after the files of a result are there")
        report("at rest", measured(page, lambda: page.wait_for_timeout(2000)))
        for kind in ("kept", "heat", "ab", "groups", "original"):
            page.evaluate(CHOOSE, 1 if kind == "groups" else 0)
            page.check(f"input[value={kind}]", force=True)
            report(f"{kind}: scrubber", measured(page, drag(page, ".gv-scrub", moves)))
        page.check("input[value=kept]", force=True)
        overlay = ".gv-strength input"
        report("kept: overlay", measured(page, drag(page, overlay, moves)))
        strip = ".gv-strip[data-strip=budget] canvas"
        report("kept: strip", measured(page, drag(page, strip, moves)))


def report(name: str, gaps: np.ndarray) -> None:
    median, most, worst = np.percentile(gaps, [50, 95, 100])
    rate = 1000 / gaps.mean()
    print(
        f"{name:18} median {median:4.1f} ms, 95th percentile {most:4.1f}, worst {worst:5.1f}, "
        f"{rate:4.0f} frames/s over {len(gaps)}"
    )


if __name__ == "__main__":
    main()
