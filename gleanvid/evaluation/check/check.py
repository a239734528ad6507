"""Checks a model on the machine at hand: invariants of compression, then time and memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.check import times
from gleanvid.evaluation.check.laws import LAWS, examine
from gleanvid.evaluation.check.report import Report
from gleanvid.evaluation.provenance import caution, describe_machine, public_name
from gleanvid.models.base import ModelAdapter
from gleanvid.types import StoppedError, Video
from gleanvid.video.plan import uniform_indices

TESTED_FRAMES = 8  # few frames, as the attention mask of the reference grows with tokens squared


def check(
    model: ModelAdapter,
    video: Video,
    *,
    quick: bool = False,
    on_progress: Callable[[str], None] | None = None,
) -> Report:
    """Test GleanVID at retention ratio 0.25 on a video, and time it unless ``quick``.

    ``on_progress`` is called with a few words about each step. If it raises ``StoppedError`` after
    the clip was encoded, the findings so far are returned. Any other error ends the check. Raises
    ``ModelError`` if the model cannot run.
    """
    model.check_can_answer()
    tell = on_progress or (lambda text: None)
    machine = describe_machine(model.device)
    tell("encoding")
    rows = uniform_indices(len(video), TESTED_FRAMES)
    few = video if len(rows) == len(video) else Video.from_frames(video.frames[rows], fps=1.0)
    encoded = model.encode(few)
    findings = examine(model, encoded, GleanVID(0.25), tell)
    clip = {
        "frames": len(video),
        "frame_size": list(video.frames.shape[1:3]),
        "decoder": video.backend,
        "frames_tested": len(few),
        "tokens_tested": len(encoded.tokens),
    }
    facts = {"machine": machine, "model": _model_facts(model), "clip": clip}
    missing = tuple(LAWS)[len(findings) :]
    if quick or missing:
        more = () if quick else ("times",)
        return Report(facts, findings, not_tested=missing and missing + more)
    del encoded
    try:
        encode_s, timed = times.timings(model, video, tell)
        said = times.advice(timed, times.pays_from(model, video, tell), len(video))
    except StoppedError:
        return Report(facts, findings, not_tested=("times",))
    said += caution(machine)
    return Report(facts, findings, timed, encode_s, said)


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
