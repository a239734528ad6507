from functools import cache

import numpy as np
import torch

from gleanvid import metrics
from gleanvid.compressors import COMPRESSORS
from gleanvid.cost import Cost
from gleanvid.run import Run
from gleanvid.types import Video, VideoTokens

GRID = (6, 4, 5)


def clip():
    generator = torch.Generator().manual_seed(1)
    scenes = torch.randn(2, 20, 16, generator=generator)
    frames = [
        scenes[unit // 4] + 0.2 * torch.randn(20, 16, generator=generator) for unit in range(6)
    ]
    return VideoTokens(torch.cat(frames), GRID)


@cache
def run(name="gleanvid", ratio=0.25, diagnosed=True, **settings):
    tokens = clip()
    method = COMPRESSORS[name](ratio, **settings)
    record = method.compress(tokens)
    video = Video.from_frames(np.full((6, 40, 50, 3), 200, np.uint8), fps=2.0)
    cost = Cost(120, record.num_kept, 130, 40, 0.1, 0.1, 0.1, 0.1, 0.1, 3, 100.0, 1.0, 2.0)
    seconds = torch.arange(6)[:, None] * 0.5 + torch.tensor([0.0, 0.5])
    rows, columns = torch.meshgrid(torch.arange(4), torch.arange(5), indexing="ij")
    corner = torch.stack([columns, rows], -1).flatten(0, 1) * 10
    boxes = torch.cat([corner, corner + 10], 1).double()
    made = Run(video, "what?", "model", method.settings(), {0: record}, "it", cost, seconds, boxes)
    if not diagnosed:
        return made
    found = metrics.diagnose(metrics.debiased(tokens.features), record)
    return metrics.with_diagnostics(made, found)
