"""MobileNetV2 as an encoder of filmed clips: gives tokens and labels, answers no questions.

Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", CVPR 2018,
arXiv:1801.04381, with published weights. A token is one cell of the last feature map: 1280 values
for 32 x 32 px.
"""

from __future__ import annotations

import math
import threading
from dataclasses import asdict, dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.nn import Identity, functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

from gleanvid.models.boundary.interrupt import interruptible
from gleanvid.models.cost.measure import explaining_out_of_memory, now
from gleanvid.models.encoded import Encoded
from gleanvid.models.generation.context import checked_max_pixels
from gleanvid.models.geometry import cells
from gleanvid.models.token_model import TokenModel
from gleanvid.types import Compression, ModelError, Video, VideoTokens

STRIDE = 32  # pixels along a side of a token
FRAME_PIXELS = 448 * 448  # limit on the pixels of a resized frame: about 14 x 14 tokens
WINDOW = 6  # tokens along a side of the windows to classify; smaller ones give mostly wrong labels
LIKELY = 0.5  # labels with a lower probability are left out
# mean and standard deviation of the colours (RGB) in ImageNet
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Seen:
    """A class of ImageNet that was recognised, and when and where its probability is highest.

    ``unit``: index of the temporal unit; ``rectangle``: left, top, right, bottom in source pixels.
    """

    label: str
    probability: float
    unit: int
    rectangle: tuple[float, float, float, float]


class MobileNetV2(TokenModel):
    """MobileNetV2 as an encoder: each frame is one temporal unit, at about its aspect ratio."""

    cannot_answer = (
        "MobileNetV2 has no language model: it gives tokens and labels, and answers no question. "
        'Load a Video LLM to ask, or "builtin" for clips of the Glimpse world.'
    )

    def __init__(self, name: str, hf_model: Any, max_pixels: int | None = None) -> None:
        super().__init__(name, checked_max_pixels(max_pixels))
        # On a CPU, folding and channels_last each make encoding about a fifth faster.
        self.hf_model = _folded(hf_model).to(memory_format=torch.channels_last)
        self.words: dict[int, str] = hf_model.config.id2label
        self._likely: WeakKeyDictionary[VideoTokens, Tensor] = WeakKeyDictionary()

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

    @torch.no_grad()
    def see(self, tokens: VideoTokens, record: Compression | None = None) -> list[Seen]:
        """Return ImageNet's labels for the tokens of a clip, the most probable first.

        The classifier reads the mean of every window of 6 x 6 tokens of a temporal unit. An object
        of none of ImageNet's 1000 classes often gets the label of a similar one.

        Args:
            tokens: tokens that this model encoded.
            record: compression record that says which tokens were kept; None: all tokens. A label
                is returned if the same window of the same unit has it both with all tokens and
                with the kept tokens.
        """
        places = self._places(tokens)
        if not len(places):
            return []
        unit, row, column, label = places.T
        if record is None:
            kept, present = tokens.features, torch.ones(len(tokens), device=self.device)
        else:
            kept, present = torch.zeros_like(tokens.features), record.mask.float()
            kept[record.keep] = record.apply(tokens.features)
        means = _window_means(kept, present.to(kept.device), tokens.grid)[unit, row, column]
        likely = self.hf_model.classifier(means).float().softmax(-1)
        likely = likely.gather(1, label[:, None])[:, 0]
        found: dict[int, Seen] = {}
        for place in likely.argsort(descending=True).tolist():
            if likely[place] < LIKELY:
                break
            number, corner = int(label[place]), (int(row[place]), int(column[place]))
            if number not in found:
                box = _window_box(tokens, *corner)
                found[number] = Seen(
                    self.words[number], float(likely[place]), int(unit[place]), box
                )
        return list(found.values())

    def labels(self, tokens: VideoTokens, record: Compression) -> list[dict[str, Any]]:
        """Return the labels of the uncompressed clip: dictionaries of the fields of ``Seen``.

        Each also has ``kept``: whether :meth:`see` finds the label in the kept tokens of
        ``record``, too. If it does, probability, unit and rectangle are those of the kept tokens.
        """
        kept = {seen.label: seen for seen in self.see(tokens, record)}
        return [
            asdict(kept.get(seen.label, seen)) | {"kept": seen.label in kept}
            for seen in self.see(tokens)
        ]

    def _places(self, tokens: VideoTokens) -> Tensor:
        """Return int64 [P, 4]: unit, row, column and class of every likely label of a window.

        All tokens are used. The result is stored for the next call.
        """
        if tokens not in self._likely:
            every = torch.ones(len(tokens), device=tokens.features.device)
            means = _window_means(tokens.features, every, tokens.grid)
            likely = [self.hf_model.classifier(unit).float().softmax(-1) > LIKELY for unit in means]
            self._likely[tokens] = torch.stack(likely).nonzero()
        return self._likely[tokens]

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


def _window_means(features: Tensor, present: Tensor, grid: tuple[int, int, int]) -> Tensor:
    """Return [T, rows, columns, D], the mean over the present tokens of each window; 0 if none.

    ``features`` [L, D]; ``present`` [L]: 1 for a present token, 0 for a dropped one. Rows and
    columns count the windows.
    """
    window = min(WINDOW, grid[1]), min(WINDOW, grid[2])
    planes = (features * present[:, None]).view(*grid, -1).permute(0, 3, 1, 2)
    sums = functional.avg_pool2d(planes, window, 1)
    counts = functional.avg_pool2d(present.view(grid[0], 1, *grid[1:]).to(sums.dtype), window, 1)
    return (sums / counts.clamp(min=1e-6)).permute(0, 2, 3, 1).to(features.dtype)


def _window_box(tokens: VideoTokens, row: int, column: int) -> tuple[float, float, float, float]:
    rows, columns = tokens.grid[1:]
    assert tokens.rectangles is not None
    boxes = tokens.rectangles.view(rows, columns, 4)
    left, top = boxes[row, column, :2].tolist()
    right, bottom = boxes[
        min(row + WINDOW, rows) - 1, min(column + WINDOW, columns) - 1, 2:
    ].tolist()
    return left, top, right, bottom
