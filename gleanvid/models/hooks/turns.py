"""Later turns of a chat: the key/value cache remembers the compressed prompt that filled it.

A cache holds fewer tokens than the conversation has. transformers counts tokens by the length of
the cache, so a later turn would read tokens again, at wrong positions. The prompt's plan is stored
with the cache itself, so that a copy of the cache and a cache that is used after another one are
continued correctly too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from gleanvid.models.hooks.decoding import Prefilled
from gleanvid.models.hooks.sequence import Plan
from gleanvid.types import ModelError

_PROMPT = "gleanvid_prompt"  # attribute of a cache that was filled by a compressed prompt
_PER_COLUMN = ("attention_mask", "mm_token_type_ids", "token_type_ids", "inputs_embeds")


@dataclass(eq=False)
class CachedPrompt:
    """A compressed prompt in a key/value cache: B rows of L tokens, of which P are left.

    Args:
        prefilled: what decoding needs; None if all tokens entered the language model.
        columns: int64 [B, P], place of each token left; None if all entered.
        mask: bool [B, P], False on padding.
        length: L.
        plans: layer of a stage inside the language model -> the tokens left after it.
        entered: int64 [B, P], place of each token among those that entered layer 0.
        ids: int64 [B, L]; None if the prompt came as embeddings.
    """

    prefilled: Prefilled | None
    columns: Tensor | None
    mask: Tensor
    length: int
    plans: dict[int, Plan]
    entered: Tensor
    ids: Tensor | None = None

    def of_rows(self, inputs: Mapping[str, Any], ids: Tensor | None) -> CachedPrompt:
        """Return this with one row for each conversation: that of the prompt it begins with.

        So a cache may be reordered, or some of its rows selected. ``inputs`` and ``ids``: see
        :meth:`shortened`. Raises ``ValueError`` if a conversation begins with another prompt.
        """
        if ids is None or self.ids is None or not self._are_whole(inputs, ids):
            return self
        first, known = ids[:, : self.length], self.ids.to(ids.device)
        if torch.equal(first, known):
            return self
        same = (first[:, None] == known).all(-1)
        if not bool(same.any(1).all()) or self.plans:
            raise ValueError(
                "the ids do not begin with the prompts in the cache, row by row: pass those of the "
                "turns before, with the same padding, and the new ones"
            )
        rows = same.int().argmax(1)
        return replace(
            self,
            prefilled=None if self.prefilled is None else self.prefilled.of_rows(rows),
            columns=None if self.columns is None else self.columns[rows.to(self.columns.device)],
            mask=self.mask[rows.to(self.mask.device)],
            entered=self.entered[rows.to(self.entered.device)],
            ids=known[rows],
        )

    def _are_whole(self, inputs: Mapping[str, Any], whole: Tensor) -> bool:
        """Whether ``whole`` [B, n, ...] is the conversation, not only its new tokens."""
        seen = inputs.get("attention_mask")
        return whole.shape[1] >= self.length and (seen is None or seen.shape[1] == whole.shape[1])

    def shortened(self, inputs: Mapping[str, Any], ids: Tensor | None) -> dict[str, Any]:
        """Return arguments of ``generate()`` that hold a whole conversation, as the cache counts.

        ``ids`` int64 [B, n]: the ids of the conversation; None with ``inputs_embeds``. Raises
        ``ValueError`` if they are fewer than those of the prompt in the cache.
        """
        whole = inputs.get("inputs_embeds") if ids is None else ids
        if self.columns is None or whole is None:
            return dict(inputs)
        seen, count = inputs.get("attention_mask"), whole.shape[1]
        if seen is not None and seen.shape[1] != count:
            return dict(inputs)  # only the new tokens, and the mask of the whole conversation
        if count < self.length:
            raise ValueError(
                f"the cache holds a prompt of {self.length} tokens, and {count} ids came: pass the "
                "ids of the whole conversation, or only new ones with the mask of the whole"
            )
        shorter = {
            name: self._select(value)
            if name in _PER_COLUMN and isinstance(value, Tensor) and value.shape[1] == count
            else value
            for name, value in inputs.items()
        }
        if seen is None and not bool(self.mask.all()):
            new = self.mask.new_ones(len(self.mask), count - self.length)
            shorter["attention_mask"] = torch.cat([self.mask, new], 1).long()
        for name in ("max_length", "min_length"):
            if shorter.get(name) is not None:
                shorter[name] -= self.length - self.columns.shape[1]
        if ids is not None:
            shorter["input_ids"] = self._select(ids)
        return shorter

    def _select(self, stream: Tensor) -> Tensor:
        """Drop the prompt's dropped tokens from ``stream`` [B, n, ...]."""
        assert self.columns is not None
        rows = torch.arange(len(stream), device=stream.device)[:, None]
        kept = stream[rows, self.columns.to(stream.device)]
        if stream.dtype == torch.bool or stream.ndim == 2:
            kept = kept * self.mask.to(kept.device, kept.dtype)
        return torch.cat([kept, stream[:, self.length :]], 1)


class _OutsideBlock:
    """Takes the place of ``cache.update`` of a compressed cache outside ``compressing()``."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ModelError(
            "this cache holds a compressed prompt, so positions would be wrong here: continue it "
            "inside `with gleanvid.compressing(...)` with a compressor"
        )


def remember(cache: Any, prompt: CachedPrompt | None) -> None:
    """Store with ``cache`` which compressed prompt fills it; None: no compressed prompt."""
    if prompt is not None:
        setattr(cache, _PROMPT, prompt)
    elif hasattr(cache, _PROMPT):
        delattr(cache, _PROMPT)


def prompt_in(cache: Any) -> CachedPrompt | None:
    """Return the compressed prompt that fills ``cache``, if any; the cache can then be used."""
    if isinstance(vars(cache).get("update") if hasattr(cache, "__dict__") else None, _OutsideBlock):
        del cache.update
    return getattr(cache, _PROMPT, None)


def refuse_outside(cache: Any) -> None:
    """Make ``cache`` raise ``ModelError`` when it is used without hooks."""
    cache.update = _OutsideBlock()


def restored(output: Any, ids: Tensor, read: int) -> Any:
    """Put the whole conversation back into the output of ``generate()``.

    ``ids`` int64 [B, n]: the conversation; ``read``: how many of the output's first ids stand for
    it.
    """
    sequences = output if isinstance(output, Tensor) else output.sequences
    whole = ids.to(sequences.device).repeat_interleave(len(sequences) // len(ids), 0)
    sequences = torch.cat([whole, sequences[:, read:]], 1)
    if isinstance(output, Tensor):
        return sequences
    output.sequences = sequences
    return output


def cache_of(output: Any) -> Any:
    """Return the key/value cache in the output of a language model."""
    if not isinstance(output, Mapping):
        return None
    # transformers 5.24 warns where the old name is read
    return output.get("cache") if "cache" in output else output.get("past_key_values")
