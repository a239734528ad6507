"""A prompt followed by its answer, and the log-probability of that answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gleanvid.models import hooks
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded, History
from gleanvid.models.generation.context import check_context
from gleanvid.models.generation.text import with_text_behind
from gleanvid.models.hooks.layout import Grid
from gleanvid.models.hooks.sequence import find_videos
from gleanvid.types import ModelError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class AnsweredPrompt:
    """One prompt with one video, followed by an answer.

    ``inputs``: the model's keyword arguments for the prompt with the answer appended. ``answer``
    int64 [S]: token ids of the answer and the end token. ``columns`` int64 [L]: sequence positions
    of the visual tokens. ``grid``: (T, rows, columns) of the visual tokens. ``vision``: output of
    the vision encoder, reused in every forward pass.
    """

    hf_model: Any
    layout: hooks.Layout
    inputs: Mapping[str, Any]
    answer: Tensor
    columns: Tensor
    grid: Grid
    vision: Any

    @classmethod
    def of(
        cls,
        model: ModelAdapter,
        encoded: Encoded,
        question: str,
        answer: str,
        history: History = (),
    ) -> AnsweredPrompt:
        """Build the prompt with its answer. Raises ``ModelError`` if the context is too short."""
        ids = model.answer_ids(encoded, question, answer, history)
        inputs = model.prompt(encoded, question, history)
        columns = inputs["input_ids"].shape[1] + len(ids)
        check_context(model.context, columns, len(encoded.tokens), None)
        return cls.extending(model.hf_model, model.layout, inputs, ids, encoded.vision)

    @classmethod
    def extending(
        cls,
        hf_model: Any,
        layout: hooks.Layout,
        inputs: Mapping[str, Any],
        ids: Tensor,
        vision: Any,
    ) -> AnsweredPrompt:
        """Append the answer int64 [S] to the inputs of a prompt.

        ``vision``: output of the vision encoder from :func:`hooks.capture_vision`. Raises
        ``ModelError`` if the prompt does not have exactly one video.
        """
        columns, grid = find_single_video(layout, inputs)
        longer = with_text_behind(inputs, ids[None])
        return cls(hf_model, layout, longer, ids, columns, grid, vision)

    def log_probabilities(self) -> Tensor:
        """Return the natural log-probability of each token of the answer, float32 [S]."""
        with (
            hooks.remembered_vision(self.layout, self.vision),
            hooks.last_logits_only(self.hf_model, len(self.answer) + 1),
        ):
            logits = self.hf_model(**self.inputs, use_cache=False).logits[0, :-1].float()
        targets = self.answer.to(logits.device)
        return logits.log_softmax(-1).gather(1, targets[:, None]).squeeze(1)


def find_single_video(layout: hooks.Layout, inputs: Mapping[str, Any]) -> tuple[Tensor, Grid]:
    """Return the sequence positions of the visual tokens in a prompt, int64 [L], and their grid.

    The grid is (T, rows, columns). Raises ``ModelError`` for a batch of prompts, and for a prompt
    with several videos or none.
    """
    visual, grids = layout.visual_columns(inputs["input_ids"], None), layout.grids(inputs)
    if len(visual) != 1 or len(grids) != 1:
        raise ModelError(
            "Relevance needs one prompt with one video, this input has "
            f"{len(visual)} prompts and {len(grids)} videos."
        )
    (span,) = find_videos(visual, grids, layout.sides)[0]
    return span.columns, grids[0]
