"""The report of a check, as plain values for the command, the app and a file.

It contains no path and no user name: clips are described by their size, a model in a local
folder by its class.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gleanvid.evaluation.files import write_whole
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import in_words


@dataclass(frozen=True)
class Finding:
    """Result of one check. It passes if the measured ``figure`` is at most ``bound``; NaN fails."""

    name: str
    title: str
    figure: float
    bound: float
    unit: str
    control: float | None = None  # figure measured with a deliberate fault, for comparison
    note: str = ""  # such as why the check could not run or does not apply

    @property
    def passed(self) -> bool:
        return self.figure <= self.bound

    @property
    def verdict(self) -> str:
        return "ok" if self.passed else "FAILED"


@dataclass(frozen=True)
class Timing:
    """Cost of one answer about the whole clip at one retention ratio.

    Seconds and memory are medians over repeated measurements.
    """

    retention_ratio: float
    visual_tokens_kept: int
    compress_s: float
    prefill_s: float  # prompt to first token, without ``compress_s``
    decode_s: float  # seconds per generated token after the first
    peak_memory_mib: float


@dataclass(frozen=True)
class Report:
    """Findings and times of a check. ``failed`` names the checks that did not pass."""

    facts: Mapping[str, Any]  # facts on machine, model and clip
    findings: tuple[Finding, ...]
    timings: tuple[Timing, ...] = ()  # the first timing is with all visual tokens kept
    encode_s: float | None = None
    advice: tuple[str, ...] = ()  # sentences that interpret the times
    not_tested: tuple[str, ...] = ()  # checks (or "times") that did not run, as the user stopped

    @property
    def failed(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.findings if not one.passed)

    def as_dict(self) -> dict[str, Any]:
        rows = [asdict(one) | {"passed": one.passed} for one in self.findings]
        for row in rows:
            row["figure"] = None if row["figure"] != row["figure"] else row["figure"]
        return {
            "passed": not (self.failed or self.not_tested),
            **self.facts,
            "findings": rows,
            "not_tested": list(self.not_tested),
            "encode_s": self.encode_s,
            "timings": [asdict(one) for one in self.timings],
            "advice": list(self.advice),
        }

    def text(self) -> str:
        model, clip = self.facts["model"], self.facts["clip"]
        size = "x".join(map(str, clip["frame_size"]))
        parts = [
            f"# GleanVID on this machine: {self._result()}",
            f"{model['name']} ({model['class']}), {model['dtype']}, {model['attention']}; "
            f"{in_words(self.facts['machine'])}",
            f"{clip['frames']} frames of {size} pixels, decoder {clip['decoder']}, processor "
            f"{model['processor']}; checked on {clip['frames_tested']} of them, "
            f"{clip['tokens_tested']:,} visual tokens",
            markdown_table(
                ["check", "", "found", "allowed", "with a deliberate error", ""],
                [_cells(one) for one in self.findings],
                numbers=False,
            ),
        ]
        if self.timings:
            parts += [f"## Time and memory\n\nEncoding: {self.encode_s:.3f} s.", self._times()]
        parts.append("\n".join(f"- {sentence}" for sentence in self.advice))
        if self.not_tested:
            parts.append(f"Stopped before the end. Not tested: {', '.join(self.not_tested)}.")
        return "\n\n".join(part.strip() for part in parts) + "\n"

    def _result(self) -> str:
        if self.failed:
            return f"FAILED: {', '.join(self.failed)}"
        return "stopped; the finished checks passed" if self.not_tested else "all checks passed"

    def _times(self) -> str:
        heads = ["kept", "tokens", "compress ms", "prefill ms", "ms a token", "peak MiB"]
        rows = [
            [
                f"{one.retention_ratio:.0%}",
                f"{one.visual_tokens_kept:,}",
                f"{one.compress_s * 1e3:.1f}",
                f"{one.prefill_s * 1e3:.1f}",
                f"{one.decode_s * 1e3:.1f}",
                f"{one.peak_memory_mib:.0f}",
            ]
            for one in self.timings
        ]
        return markdown_table(heads, rows)

    def write(self, folder: Path, stem: str = "check") -> None:
        """Write ``check.md`` and ``check.json``. Raises ``ValueError`` if writing fails."""
        try:
            write_whole(folder / f"{stem}.json", json.dumps(self.as_dict(), indent=1) + "\n")
            write_whole(folder / f"{stem}.md", self.text())
        except OSError as error:
            raise ValueError(f"cannot write to {folder}: {error}") from error


def _cells(one: Finding) -> list[str]:
    whole = one.unit != "of the spread"
    shown = [f"{value:.0f}" if whole else f"{value:.1e}" for value in (one.figure, one.bound)]
    if one.unit == "logits":
        shown = [f"{value:.1e}" if value else "0" for value in (one.figure, one.bound)]
    control = "" if one.control is None else f"{one.control:.1e}"
    told = one.title + (f" ({one.note})" if one.note else "")
    return [f"`{one.name}`", told, f"{shown[0]} {one.unit}", shown[1], control, one.verdict]
