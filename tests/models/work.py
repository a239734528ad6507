"""Count device operations up to an answer's first token: of model, selection and hooks."""

from __future__ import annotations

from contextlib import contextmanager

import torch

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.bench.work import count
from gleanvid.evaluation.check.times import answer
from gleanvid.types import Compression
from tests.compressors.chain import Chain
from tests.models.oracle import EveryNth
from tests.models.tiny import noise_video

COUNTED = ("kernels", "read_backs", "copies")


class Fourth(EveryNth):
    """Compressor that keeps every fourth token and computes the indices on the model's device."""

    def _compress(self, tokens):
        keep = torch.arange(1, len(tokens), 4, device=tokens.features.device)
        return Compression.pruned(keep, tokens.grid, num_tokens=len(tokens))


AHEAD = Fourth(0.25)
INSIDE = Chain("inside", ((2, Fourth(0.25)),))


@torch.no_grad()
def work(model, encoded, method):
    """Return counts of kernels, read-backs and copies until the first token, after a warm-up."""
    answer(model, encoded, method, 1)
    found = count(lambda: answer(model, encoded, method, 1))
    return [getattr(found, name) for name in COUNTED]


@torch.no_grad()
def by_stage(model, frames, inside):
    """Return operation counts: of the model alone, of GleanVID's selection, and of the hooks.

    The hooks remove the dropped tokens; their counts exclude the selection.
    """
    encoded = model.encode(noise_video(frames))
    plain = work(model, encoded, None)
    chosen = count(lambda: AHEAD.compress(encoded.tokens))
    choice = [getattr(chosen, name) for name in COUNTED]
    own = count(lambda: GleanVID(0.25).compress(encoded.tokens))
    found = {"model": plain, "GleanVID": [getattr(own, name) for name in COUNTED]}
    ahead = work(model, encoded, AHEAD)
    found["hooks before"] = [a - b - c for a, b, c in zip(ahead, plain, choice, strict=True)]
    if inside:
        stage = work(model, encoded, INSIDE)
        found["hooks inside"] = [a - b - c for a, b, c in zip(stage, plain, choice, strict=True)]
    return found


@contextmanager
def fewer_layers(model, count):
    """Limit the language model to its first ``count`` layers."""
    language_model, config = model.layout.language_model, model.text_config
    layers, depth = language_model.layers, config.num_hidden_layers
    language_model.layers, config.num_hidden_layers = layers[:count], count
    try:
        yield
    finally:
        language_model.layers, config.num_hidden_layers = layers, depth
