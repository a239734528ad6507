"""Signals of the vision tower (saliency, keys), computed only if the compressor needs them.

``saliency`` of a visual token: the attention that its patches receive in one of the last blocks of
the tower (``Layout.vision_attention``). It is a mean over heads, over the patches of the token, and
over all queries of the temporal unit. ``keys``: the attention keys of the patches in that block,
after rotary embedding if there is one, as a mean over heads and patches. Most vision towers have no
[CLS] token; if there is one, it is a query like the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from gleanvid.models.hooks.attention import attention_received, watching
from gleanvid.models.hooks.layout import Grid, Layout
from gleanvid.models.hooks.sequence import present_columns
from gleanvid.types import ModelError

VISION_SIGNALS = frozenset({"saliency", "keys"})
_CHUNK = 512  # number of queries whose attention is computed at a time


class VisionSignals:
    """Collects the signals in ``needs`` while the vision tower runs; see :meth:`take`."""

    def __init__(self, layout: Layout, needs: frozenset[str]) -> None:
        self.layout, self.needs = layout, needs & VISION_SIGNALS
        if self.needs and layout.vision_attention is None:
            raise ModelError(
                f"This model has no vision tower, hence no {' and no '.join(sorted(self.needs))}: "
                "choose a compressor that needs neither keys nor saliency."
            )
        self._patches: dict[str, list[Tensor]] = {name: [] for name in self.needs}

    @contextmanager
    def collecting(self) -> Iterator[None]:
        if not self.needs or self.layout.vision_attention is None:
            yield
            return
        with watching(self.layout.vision_attention, self._watch):
            yield

    def _watch(self, query: Tensor, key: Tensor, kwargs: dict[str, Any]) -> None:
        """Store the signals of one attention call of the vision tower.

        Every sequence of the batch is a temporal unit. With FlashAttention, one sequence holds all
        units, whose borders are in ``cu_seq_lens_q``. If there is a mask, patches that the first
        patch does not see are padding.
        """
        borders = kwargs.get("cu_seq_lens_q")
        queries, keys = query.unbind(), key.unbind()
        if borders is not None:
            lengths = borders.diff().tolist()
            queries, keys = query[0].split(lengths, 1), key[0].split(lengths, 1)
        mask = kwargs.get("attention_mask")
        if mask is not None:
            real = present_columns(mask[:, :, :1], len(query), mask.shape[-1], mask.device)
            queries = tuple(rows[:, own] for rows, own in zip(queries, real, strict=True))
            keys = tuple(rows[:, own] for rows, own in zip(keys, real, strict=True))
        for query_rows, key_rows in zip(queries, keys, strict=True):
            if "saliency" in self.needs:
                received = attention_received(query_rows, key_rows, kwargs.get("scaling"), _CHUNK)
                self._patches["saliency"].append(received[:, None])
            if "keys" in self.needs:
                self._patches["keys"].append(key_rows.float().mean(0))

    def take(self, grids: list[Grid], ids: Tensor | None = None) -> dict[str, Tensor]:
        """Return the collected signals by name, and forget them.

        ``ids`` int64 [B, L] are those of the prompts. A signal has one row per visual token, video
        after video. The dictionary is empty if the vision tower has not run since the last call.
        """
        taken = {}
        for name, parts in self._patches.items():
            if parts:
                own = self._of_frames(parts, ids)
                rows = self.layout.patches_to_tokens(torch.cat(own), grids)
                taken[name] = rows.squeeze(1) if name == "saliency" else rows
                parts.clear()
        return taken

    def forget(self) -> None:
        """Drop what was collected of a prompt without a video."""
        for parts in self._patches.values():
            parts.clear()

    def _of_frames(self, parts: list[Tensor], ids: Tensor | None) -> list[Tensor]:
        """Return the ``parts``, one for each image of the prompts, that belong to frames."""
        if self.layout.frames is None or ids is None:
            return parts
        images = chain.from_iterable(self.layout.frames(ids).images)
        return [part for part, is_frame in zip(parts, images, strict=True) if is_frame]
