"""A compressed prompt up to the end of its video, prefilled once and continued many times."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, LinearAttentionCacheLayerMixin

from gleanvid.models import boundary


@dataclass(frozen=True, eq=False)
class Prefix:
    """A prefilled compressed prompt; never changed afterwards."""

    hook: Any  # the compressor's hook, which knows positions and masks of this prompt
    cache: DynamicCache
    hidden: Tensor  # [1, D]: hidden state of the last column, input of the output head
    text_position: float = (
        0  # position of the first text column after the prefix, 0 if the prefix is the whole prompt
    )

    @contextmanager
    def going_on(self, hf_model: Any, lead: int) -> Iterator[None]:
        """Install the hook to read ``lead`` prompt columns and an answer after the prefix."""
        state = self.hook.prefilled
        first = self.text_position + lead
        next_position = state.next_position.clamp(min=first) if lead else state.next_position
        self.hook.prefilled = replace(
            state,
            lead=lead,
            lead_position=self.text_position,
            next_position=next_position,
        )
        try:
            with boundary.installed(hf_model, self.hook):
                yield
        finally:
            self.hook.prefilled = state

    def fork(self) -> DynamicCache:
        """Return an independent cache that shares its key and value tensors with this prefix.

        Sharing is safe, as attention layers replace these tensors when they append. The states of
        recurrent layers are copied, because these layers change them in place.
        """
        fork = copy.copy(self.cache)
        fork.layers = [
            copy.copy(layer)
            if isinstance(layer, DynamicLayer)
            and not isinstance(layer, LinearAttentionCacheLayerMixin)
            else copy.deepcopy(layer)
            for layer in self.cache.layers
        ]
        return fork
