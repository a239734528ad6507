"""A viewer with a lot to show, and drags of its sliders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from components.viewer.payload import Packed, pack
from gleanvid.types import Compression, Video, VideoTokens
from tests.components.made_up import made_up_run


def stress(units: int, side: int = 27, methods: int = 12) -> Packed:
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
        keep = torch.randperm(total, generator=noise)[: total // 4].sort().values
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
