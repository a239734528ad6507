"""Find the videos of a batch of prompts, and plan which tokens are left after compression.

Letters: B prompts of the batch, L tokens of a prompt (columns of the batch), P tokens of a prompt
after compression, C channels, V visual tokens of one video, K kept tokens. Kept tokens keep their
ORIGINAL positions. Side tokens are placeholders that are not in the grid of their video, such as
newlines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from gleanvid.models.hooks.layout import Grid, no_sides
from gleanvid.types import Compression


@dataclass(frozen=True, eq=False)
class Span:
    """One video in one prompt of the batch.

    Args:
        columns: int64 [V], ascending: where the video's tokens are in the prompt.
        grid: (temporal units, rows, columns).
        positions: [V], flat grid index of each token; None: all tokens of the grid are there.
        offset: number of visual tokens of the videos before this one.
        sides: int64 [S, 3], (place in the prompt, first, stop) of each side token: a placeholder
            outside the grid, such as a newline. It belongs to grid tokens first to stop - 1.
    """

    columns: Tensor
    grid: Grid
    positions: Tensor | None = None
    offset: int = 0
    sides: Tensor = field(default_factory=lambda: torch.empty(0, 3, dtype=torch.long))

    def kept(self, record: Compression) -> Tensor:
        """Return int64 [K], ascending: flat grid indices of the tokens that ``record`` keeps."""
        keep = record.keep.to(self.columns.device)
        return keep if self.positions is None else self.positions[keep]

    def staying_sides(self, record: Compression) -> Tensor:
        """Return ``sides`` [S', 3] of the side tokens that stay; all if no token is dropped."""
        if record.num_kept == record.num_tokens or not len(self.sides):
            return self.sides
        kept = self.kept(record).contiguous()
        first, stop = torch.searchsorted(kept, self.sides[:, 1:].contiguous()).T
        return self.sides[first < stop]


@dataclass(frozen=True, eq=False)
class Plan:
    """The prompts of a batch after compression.

    Args:
        index: int64 [B, P], for each token that is left its place in the uncompressed prompt.
        mask: bool [B, P], False on padding.
        spans: the videos of every prompt, with their places after compression.
        lengths: number of tokens left of each prompt, without padding.
    """

    index: Tensor
    mask: Tensor
    spans: list[list[Span]]
    lengths: tuple[int, ...]

    @property
    def padded(self) -> bool:
        return min(self.lengths) < self.index.shape[1]

    def gather(self, stream: Tensor) -> Tensor:
        """Select from ``stream`` the tokens that are left: [B, L, ...] -> [B, P, ...]."""
        rows = torch.arange(len(self.index), device=stream.device)[:, None]
        return stream[rows, self.index.to(stream.device)]


def find_videos(
    visual: Tensor, grids: list[Grid], sides: Callable[[Grid], Tensor] = no_sides
) -> list[list[Span]]:
    """Find the videos of every prompt from their grids and the placeholders.

    ``visual`` bool [B, L]: True on placeholders. ``sides``: see ``Layout``. If prompts are repeated
    for beams or several answers, their grids are reused. Raises ``ValueError`` if the grids do not
    match the placeholders, for instance because the prompt arrives in chunks.
    """
    counts = visual.sum(1).tolist()
    tokens = [units * rows * columns for units, rows, columns in grids]
    side_tokens = [sides(grid).to(visual.device) for grid in grids]
    sizes = [count + len(rows) for count, rows in zip(tokens, side_tokens, strict=True)]
    repeats = sum(counts) // sum(sizes) if sum(sizes) else 0
    if not repeats or sum(counts) != repeats * sum(sizes):
        raise ValueError(
            f"the prompt holds {sum(counts)} video tokens, the video grids say {sum(sizes)}"
        )
    spans: list[list[Span]] = []
    start = stop = 0
    for row, count in enumerate(counts):
        if row % repeats == 0:
            start = stop
            while sum(sizes[start:stop]) < count and stop < len(sizes):
                stop += 1
        columns = torch.nonzero(visual[row]).squeeze(1)
        if sum(sizes[start:stop]) != count:
            raise ValueError(f"row {row} holds {count} video tokens, not a whole number of videos")
        parts = columns.split(sizes[start:stop])
        spans.append(
            [
                _span(part, grids[number], sum(tokens[:number]), side_tokens[number])
                for number, part in enumerate(parts, start)
            ]
        )
    return spans


def _span(columns: Tensor, grid: Grid, offset: int, side_tokens: Tensor) -> Span:
    if not len(side_tokens):
        return Span(columns, grid, offset=offset, sides=side_tokens)
    in_grid = torch.ones_like(columns, dtype=torch.bool)
    in_grid[side_tokens[:, 0]] = False
    sides = torch.cat([columns[side_tokens[:, :1]], side_tokens[:, 1:]], 1)
    return Span(columns[in_grid], grid, offset=offset, sides=sides)


def present_columns(attention_mask: Any, rows: int, length: int, device: torch.device) -> Tensor:
    """Return the padding mask of ``rows`` prompts, bool [B, L]: False on padding.

    ``attention_mask``: None, 2-D or 4-D, or a dictionary of masks by layer type.
    """
    if isinstance(attention_mask, dict):
        attention_mask = attention_mask.get("full_attention")
    if attention_mask is None:
        return torch.ones(rows, length, dtype=torch.bool, device=device)
    if attention_mask.ndim == 4:  # the last query sees every token but padding
        last = attention_mask[:, 0, -1, :length]
        return (last if last.dtype == torch.bool else last == 0).expand(rows, length)
    return attention_mask[:, :length].bool()


def text_columns(present: Tensor, videos: list[Span], span: Span) -> Tensor:
    """Return the columns of the Q text tokens after the video ``span`` in a prompt, int64 [Q].

    ``present`` bool [L]: False on padding; ``videos``: all videos of the prompt.
    """
    text = present.clone()
    text[: span.columns[-1] + 1] = False
    for video in videos:
        text[video.columns] = text[video.sides[:, 0]] = False
    return torch.nonzero(text).squeeze(1)


def plan_prompt(present: Tensor, spans: list[list[Span]], records: list[list[Compression]]) -> Plan:
    """Plan the shorter prompts: all text tokens, and the visual tokens that ``records`` keep.

    ``present`` bool [B, L]: False on padding. ``spans``, ``records``: by prompt and video. A side
    token (:class:`Span`) is kept if one of the grid tokens to which it belongs is kept. Shorter
    prompts are padded on the side on which the batch is padded, else on the left.
    """
    orders, owners = [], []
    for row, (videos, by_video) in enumerate(zip(spans, records, strict=True)):
        text = present[row].clone()
        columns: list[Tensor] = []
        owner: list[Tensor] = []
        for number, (span, record) in enumerate(zip(videos, by_video, strict=True)):
            text[span.columns] = text[span.sides[:, 0]] = False
            text[span.staying_sides(record)[:, 0]] = True
            columns.append(span.columns[record.keep.to(span.columns.device)])
            owner.append(torch.full_like(columns[-1], number))
        columns.append(torch.nonzero(text).squeeze(1))
        owner.append(torch.full_like(columns[-1], -1))
        order, by = torch.cat(columns).sort(stable=True)
        orders.append(order)
        owners.append(torch.cat(owner)[by])
    width = max(map(len, orders))
    at_the_end = not bool(present[:, -1].all())
    index = present.new_zeros(len(orders), width, dtype=torch.long)
    mask = present.new_zeros(len(orders), width)
    shorter: list[list[Span]] = []
    for row, (order, owned) in enumerate(zip(orders, owners, strict=True)):
        pad = 0 if at_the_end else width - len(order)
        index[row, pad : pad + len(order)], mask[row, pad : pad + len(order)] = order, True
        shorter.append([])
        for number, (span, record) in enumerate(zip(spans[row], records[row], strict=True)):
            sides = span.staying_sides(record).clone()
            sides[:, 0] = torch.searchsorted(order, sides[:, 0].contiguous()) + pad
            now_at = torch.nonzero(owned == number).squeeze(1) + pad
            shorter[-1].append(Span(now_at, span.grid, span.kept(record), sides=sides))
    return Plan(index, mask, shorter, tuple(map(len, orders)))


def reduce_rows(
    stream: Tensor, plan: Plan, spans: list[list[Span]], records: list[list[Compression]]
) -> Tensor:
    """Select the tokens of ``plan`` in ``stream`` [B, L, C]: [B, P, C]; merge as records do."""
    reduced = plan.gather(stream)
    for row, (old, new, by_video) in enumerate(zip(spans, plan.spans, records, strict=True)):
        for before, after, record in zip(old, new, by_video, strict=True):
            if record.merges:
                merged = record.apply(stream[row, before.columns.to(stream.device)])
                reduced[row, after.columns.to(stream.device)] = merged
    return reduced


def reduce_packed(
    levels: Sequence[Tensor],
    visual: Tensor,
    plan: Plan,
    spans: list[list[Span]],
    records: list[list[Compression]],
) -> tuple[list[Tensor], Tensor]:
    """Do the same as :func:`reduce_rows` for DeepStack levels, which have visual tokens only.

    ``levels``: tensors [n, C], one row per True in ``visual`` bool [B, L]. Returns the shorter
    levels and the shorter ``visual``. The host waits for the device once for all levels.
    """
    rank = (visual.flatten().cumsum(0) - 1).view_as(visual)
    shorter = plan.gather(visual) & plan.mask
    taken = plan.gather(rank)[shorter]
    reduced = [level[taken.to(level.device)] for level in levels]
    place = (shorter.flatten().cumsum(0) - 1).view_as(shorter)
    for row, (old, new, by_video) in enumerate(zip(spans, plan.spans, records, strict=True)):
        for before, after, record in zip(old, new, by_video, strict=True):
            if not record.merges:
                continue
            for level, shorter_level in zip(levels, reduced, strict=True):
                rows = record.apply(level[rank[row, before.columns].to(level.device)])
                shorter_level[place[row, after.columns].to(level.device)] = rows
    return reduced, shorter
