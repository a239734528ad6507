"""Arguments of the language model's call, for the compressed prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from gleanvid.models.hooks.sequence import Plan, Span, reduce_packed, reduce_rows
from gleanvid.types import Compression

Kwargs = dict[str, Any]


def have_pixels(inputs: Mapping[str, Any]) -> bool:
    """Return whether a model's arguments hold images or frames."""
    return any("pixel" in name and value is not None for name, value in inputs.items())


def images_alone(*sources: Mapping[str, Any]) -> bool:
    """Return whether arguments hold images and no video: some families mark both alike."""
    given = {name for source in sources for name, value in source.items() if value is not None}
    images, videos = (any(kind in name for name in given) for kind in ("image_grid", "video_grid"))
    return images and not videos


def check_prompts(core: Any, positions: Tensor, present: Tensor, spans: list[list[Span]]) -> None:
    """Check a call: one prompt a row, a video with positions of its own, no visual token hidden.

    transformers gives a video the positions of text, without a word, if it lacks the ids or the
    kinds of tokens. ``positions`` [(3,) B, L]; ``present`` bool [B, L]: False on padding. Raises
    ``ValueError``.
    """
    sections = positions.expand(3, *positions.shape[-2:])
    furthest = sections.amax(0)
    first = furthest.gather(1, present.int().argmax(1, keepdim=True))
    if bool((((furthest == first) & present).sum(1) > 1).any()):
        raise ValueError(
            "the positions of a row start again, as in packed sequences: compressing() takes one "
            "prompt a row"
        )
    multimodal = hasattr(core, "get_rope_index")
    for row, span in ((row, span) for row, videos in enumerate(spans) for span in videos):
        if not bool(present[row, span.columns].all()):
            raise ValueError(
                "attention_mask hides tokens of a video: leave its frames out instead, as hidden "
                "tokens could be kept"
            )
        height, width = sections[1:, row, span.columns]
        if multimodal and max(span.grid[1:]) > 1 and torch.equal(height, width):
            raise ValueError(
                "the tokens of a video have the positions of text: pass input_ids and "
                "mm_token_type_ids, as the processor returns them, and no inputs_embeds"
            )


def expand_positions(
    positions: Tensor | None, rows: int, length: int, device: torch.device
) -> Tensor:
    """Return positions as [B, L], or as [3, B, L] if they are multimodal.

    ``rows`` is B and ``length`` is L. If ``positions`` is None, they are 0 to L - 1. Of [4, B, L],
    the first row is dropped: it has token indices that serve to find packed sequences.
    """
    if positions is None:
        return torch.arange(length, device=device).expand(rows, length)
    if positions.ndim == 3:
        return positions[-3:].expand(3, rows, length)
    return positions.expand(rows, length)


def shortened(
    kwargs: Kwargs,
    positions: Tensor,
    plan: Plan,
    spans: list[list[Span]],
    records: list[list[Compression]],
) -> Kwargs:
    """Return the language model's arguments for the shorter prompt.

    Kept tokens keep their ``positions`` [(3,) B, P] in the uncompressed prompt. A mask [B, P] is
    passed even if it is all ones: without one, transformers reads gaps in positions as borders of
    packed sequences when it makes masks. FlashAttention reads the positions in every layer, see
    ``hooks.positions_stay_out``.
    """
    shorter = dict(kwargs)
    shorter["inputs_embeds"] = reduce_rows(kwargs["inputs_embeds"], plan, spans, records)
    shorter["attention_mask"] = plan.mask.long()
    shorter["position_ids"] = positions
    if kwargs.get("per_layer_inputs") is not None:
        shorter["per_layer_inputs"] = plan.gather(kwargs["per_layer_inputs"])
    levels, visual = kwargs.get("deepstack_visual_embeds"), kwargs.get("visual_pos_masks")
    if visual is not None:
        visual = visual.to(plan.index.device)
        shorter["visual_pos_masks"] = plan.gather(visual) & plan.mask
        if levels is not None:
            reduced, _ = reduce_packed(levels, visual, plan, spans, records)
            shorter["deepstack_visual_embeds"] = reduced
    return shorter
