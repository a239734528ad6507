"""Runs made without a model, from a video and compression records, for code that reads runs."""

import math
from collections.abc import Mapping

import torch

from gleanvid.cost import Cost
from gleanvid.run import Run
from gleanvid.types import Compression, Video


def made_up_run(
    video: Video, record: Compression | Mapping[int, Compression], name: str, **settings: object
) -> Run:
    """Return a run without question and answer, whose token grid covers the whole frame."""
    by_layer = {0: record} if isinstance(record, Compression) else dict(record)
    units, rows, columns = next(iter(by_layer.values())).grid
    height, width = video.source_size
    row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    edges = [column * width / columns, row * height / rows]
    edges += [(column + 1) * width / columns, (row + 1) * height / rows]
    starts = torch.arange(units, dtype=torch.float64)
    cost = Cost(units * rows * columns, 0, 0, 0, *[math.nan] * 5, 0, *[math.nan] * 3)
    return Run(
        video,
        "",
        "made up",
        {"name": name} | settings,
        by_layer,
        "",
        cost,
        torch.stack([starts, starts + 1], 1),
        torch.stack([edge.flatten() for edge in edges], 1),
    )
