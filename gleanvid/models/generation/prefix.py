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

from gleanvid.models import hooks


@dataclass(frozen=True, eq=False)
class Prefix:
    """A compressed and prefilled prompt, or its part up to the end of the video."""

    hook: Any  # PromptHook that compressed this prompt and knows its positions
    cache: DynamicCache
    hidden: Tensor  # [1, D]: hidden state of the last token, from which logits are computed
    text_position: float = 0  # position of the prompt token after this prefix; 0 if there is none

    @contextmanager
    def going_on(self, hf_model: Any, lead: int) -> Iterator[None]:
        """While the block runs, place new tokens: ``lead`` more of the prompt, then an answer's."""
        state = self.hook.prefilled
        first = self.text_position + lead
        next_position = state.next_position.clamp(min=first) if lead else state.next_position
        self.hook.prefilled = replace(
            state, lead=lead, lead_position=self.text_position, next_position=next_position
        )
        try:
            with hooks.installed(hf_model, self.hook):
                yield
        finally:
            self.hook.prefilled = state

    def fork(self) -> DynamicCache:
        """Return a cache to which tokens can be added without changing that of this prefix.

        Both share the tensors of keys and values, as attention layers make new tensors when they
        append. States of recurrent layers are copied, because these layers change them in place.
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
