"""MobileNetV2 as an encoder of filmed clips: gives tokens, answers no questions.

Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", CVPR 2018,
arXiv:1801.04381, with published weights. A token is one cell of the last feature map: 1280 values
for 32 x 32 px.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import torch
from torch import Tensor
from torch.nn import Identity, functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

from gleanvid.models.encoded import Encoded
from gleanvid.models.generation.context import checked_max_pixels
from gleanvid.models.geometry import cells
from gleanvid.models.hooks.interrupt import interruptible
from gleanvid.models.measure import explaining_out_of_memory, now
from gleanvid.models.token_model import TokenModel
from gleanvid.types import ModelError, Video, VideoTokens

STRIDE = 32  # pixels along a side of a token
FRAME_PIXELS = 448 * 448  # limit on the pixels of a resized frame: about 14 x 14 tokens
# mean and standard deviation of the colours (RGB) in ImageNet
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class MobileNetV2(TokenModel):
    """MobileNetV2 as an encoder: each frame is one temporal unit, at about its aspect ratio."""

    cannot_answer = (
        "MobileNetV2 has no language model: it gives tokens, and answers no question. "
        'Load a Video LLM to ask, or "builtin" for clips of the Glimpse world.'
    )

    def __init__(self, name: str, hf_model: Any, max_pixels: int | None = None) -> None:
        super().__init__(name, checked_max_pixels(max_pixels))
        # On a CPU, folding and channels_last each make encoding about a fifth faster.
        self.hf_model = _folded(hf_model).to(memory_format=torch.channels_last)

    @property
    def device(self) -> torch.device:
        return self.hf_model.device

    @torch.no_grad()
    def encode(
        self,
        video: Video,
        needs: frozenset[str] = frozenset(),
        *,
        max_pixels: int | None = None,
        stop: threading.Event | None = None,
    ) -> Encoded:
        """Return the tokens of a clip, frame by frame.

        Args:
            video: the frames; any size and shape.
            needs: signals that a compressor needs; this model has no "saliency" and no "keys".
            max_pixels: bound on the pixels of all frames together; None: the bound that the model
                was loaded with. A frame has at most 448 x 448 px in any case.
            stop: once set, ends the work.

        Raises:
            ModelError: a signal that this model does not have, ``max_pixels`` is too small, or
                memory runs out.
            StoppedError: ``stop`` was set.
            ValueError: ``max_pixels`` is not a positive whole number.
        """
        if missing := needs - {"text"}:
            raise ModelError(
                f"MobileNetV2 has no attention, hence no {' and no '.join(sorted(missing))}: "
                "choose a compressor that needs the tokens alone."
            )
        limit = self.max_pixels if max_pixels is None else checked_max_pixels(max_pixels)
        rows, columns = self._grid(video, limit)
        advice = "Use fewer frames or a lower max_pixels."
        with self.lock, explaining_out_of_memory(advice), interruptible(self.hf_model, stop):
            start = now(self.device)
            features = torch.cat([self._encode_frame(f, rows, columns) for f in video.frames])
            encode_s = now(self.device) - start
        seconds = torch.as_tensor(video.timestamps)[:, None].expand(-1, 2)
        boxes = cells(rows, columns, video.source_size)
        tokens = VideoTokens(features, (len(video), rows, columns), seconds, boxes)
        return Encoded(video, tokens, encode_s, "", {}, None)

    def _grid(self, video: Video, max_pixels: int | None) -> tuple[int, int]:
        """Return (rows, columns) of a frame's tokens, in about its aspect ratio.

        Raises ``ModelError`` if one token per frame already exceeds ``max_pixels``.
        """
        pixels = min(FRAME_PIXELS, (max_pixels or math.inf) / len(video))
        count, shape = pixels / STRIDE**2, video.source_size[0] / video.source_size[1]
        if count < 1:
            raise ModelError(
                f"max_pixels={max_pixels} is too small for {len(video)} frames, which take at "
                f"least {len(video) * STRIDE**2} pixels: use fewer frames or a higher max_pixels."
            )
        rows = min(max(1, round(math.sqrt(count * shape))), int(count))
        return rows, max(1, min(round(rows / shape), int(count / rows)))

    def _encode_frame(self, frame: Any, rows: int, columns: int) -> Tensor:
        """Encode one frame uint8 [H, W, 3]; return its tokens [rows * columns, 1280]."""
        pixels = torch.as_tensor(frame, device=self.device).permute(2, 0, 1)[None].float() / 255
        size = (rows * STRIDE, columns * STRIDE)
        pixels = functional.interpolate(pixels, size, mode="bilinear", antialias=True)
        mean, deviation = (
            pixels.new_tensor(values)[:, None, None] for values in (_MEAN, _DEVIATION)
        )
        pixels = ((pixels - mean) / deviation).to(self.hf_model.dtype)
        pixels = pixels.contiguous(memory_format=torch.channels_last)
        return self.hf_model.mobilenet_v2(pixels).last_hidden_state[0].flatten(1).T


def _folded(hf_model: Any) -> Any:
    """Fuse every batch normalisation of ``hf_model`` into the convolution before it."""
    for layer in hf_model.modules():
        if getattr(layer, "normalization", None) is not None:
            dtype = layer.convolution.weight.dtype
            # Fuse in float64, so that the weights are rounded only once.
            both = layer.convolution.double(), layer.normalization.double()
            layer.convolution = fuse_conv_bn_eval(*both).to(dtype)
            layer.normalization = Identity()
    return hf_model
