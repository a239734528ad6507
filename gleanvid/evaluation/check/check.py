"""Checks the invariants of compression with a model on the machine at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.check.laws import examine
from gleanvid.evaluation.check.report import Report
from gleanvid.evaluation.provenance import describe_machine, public_name
from gleanvid.models.base import ModelAdapter
from gleanvid.types import Video
from gleanvid.video.plan import uniform_indices

TESTED_FRAMES = 8  # few frames, as the attention mask of the reference grows with tokens squared


def check(
    model: ModelAdapter, video: Video, on_progress: Callable[[str], None] | None = None
) -> Report:
    """Test GleanVID at retention ratio 0.25 on evenly spaced frames of a video.

    ``on_progress`` is called with a few words before each step. Raises ``ModelError`` if the model
    cannot run.
    """
    model.check_can_answer()
    tell = on_progress or (lambda text: None)
    machine = describe_machine(model.device)
    tell("encoding")
    rows = uniform_indices(len(video), TESTED_FRAMES)
    few = video
    if len(rows) < len(video):
        few = Video.from_frames(video.frames[rows], timestamps=video.timestamps[rows])
    encoded = model.encode(few)
    clip = {
        "frames": len(few),
        "frame_size": list(video.frames.shape[1:3]),
        "decoder": video.backend,
        "tokens": len(encoded.tokens),
    }
    facts = {"machine": machine, "model": _model_facts(model), "clip": clip}
    return Report(facts, examine(model, encoded, GleanVID(0.25), tell))


def _model_facts(model: ModelAdapter) -> dict[str, Any]:
    config: Any = model.hf_model.config
    name = model.name
    processor = getattr(model.processor, "video_processor", model.processor)
    return {
        "name": name if public_name(name) == name else "a local folder",
        "family": config.model_type,
        "class": type(model.hf_model).__name__,
        "processor": type(processor).__name__,
        "parameters": sum(weight.numel() for weight in model.hf_model.parameters()),
        "dtype": str(model.hf_model.dtype).removeprefix("torch."),
        "attention": config._attn_implementation,
    }
