"""Check compression with a model on the machine at hand, and report what was found.

The report contains no path and no user name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.check.laws import LAWS, LOGITS, SPREAD, Finding, examine
from gleanvid.evaluation.files import write_whole
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import describe_machine, in_words, public_name
from gleanvid.models.base import ModelAdapter
from gleanvid.types import Video
from gleanvid.video.plan import uniform_indices

TESTED_FRAMES = 8  # few frames, as the attention mask of the reference grows with tokens squared
HEADS = ["check", "", "found", "allowed", "with a deliberate error", ""]


@dataclass(frozen=True)
class Report:
    """Facts on machine, model and clip, and what each check found."""

    facts: Mapping[str, Any]
    findings: Mapping[str, Finding]

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the checks that did not pass."""
        return tuple(name for name, one in self.findings.items() if not one.passed)

    def as_dict(self) -> dict[str, Any]:
        rows = {name: asdict(one) | {"passed": one.passed} for name, one in self.findings.items()}
        for row in rows.values():
            row["figure"] = None if row["figure"] != row["figure"] else row["figure"]
        return {"passed": not self.failed, **self.facts, "findings": rows}

    def text(self) -> str:
        model, clip = self.facts["model"], self.facts["clip"]
        size = "x".join(map(str, clip["frame_size"]))
        result = f"FAILED: {', '.join(self.failed)}" if self.failed else "all checks passed"
        rows = [_cells(name, one) for name, one in self.findings.items()]
        parts = [
            f"# GleanVID on this machine: {result}",
            f"{model['name']} ({model['class']}), {model['dtype']}, {model['attention']}; "
            f"{in_words(self.facts['machine'])}",
            f"{clip['frames']} frames of {size} pixels, {clip['tokens']:,} visual tokens, decoder "
            f"{clip['decoder']}, processor {model['processor']}",
            markdown_table(HEADS, rows, numbers=False).strip(),
        ]
        return "\n\n".join(parts) + "\n"

    def write(self, folder: Path) -> None:
        """Write ``check.md`` and ``check.json``. Raises ``ValueError`` if writing fails."""
        try:
            write_whole(folder / "check.json", json.dumps(self.as_dict(), indent=1) + "\n")
            write_whole(folder / "check.md", self.text())
        except OSError as error:
            raise ValueError(f"cannot write to {folder}: {error}") from error


def _cells(name: str, one: Finding) -> list[str]:
    counts = one.unit not in (SPREAD, LOGITS)
    found, allowed = (
        f"{value:.0f}" if counts or not value else f"{value:.1e}"
        for value in (one.figure, one.bound)
    )
    control = "" if one.control is None else f"{one.control:.1e}"
    title = (LAWS[name].__doc__ or "") + (f" ({one.note})" if one.note else "")
    verdict = "ok" if one.passed else "FAILED"
    return [f"`{name}`", title, f"{found} {one.unit}", allowed, control, verdict]


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
    processor = getattr(model.processor, "video_processor", model.processor)
    return {
        "name": model.name if public_name(model.name) == model.name else "a local folder",
        "family": config.model_type,
        "class": type(model.hf_model).__name__,
        "processor": type(processor).__name__,
        "parameters": sum(weight.numel() for weight in model.hf_model.parameters()),
        "dtype": str(model.hf_model.dtype).removeprefix("torch."),
        "attention": config._attn_implementation,
    }
