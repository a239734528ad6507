"""The report of a check, for the command and a file. It contains no path and no user name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gleanvid.evaluation.files import write_whole
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import in_words

HEADS = ["check", "", "found", "allowed", "with a deliberate error", ""]


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


@dataclass(frozen=True)
class Report:
    """Findings of a check. ``failed`` names the checks that did not pass."""

    facts: Mapping[str, Any]  # facts on machine, model and clip
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.findings if not one.passed)

    def as_dict(self) -> dict[str, Any]:
        rows = [asdict(one) | {"passed": one.passed} for one in self.findings]
        for row in rows:
            row["figure"] = None if row["figure"] != row["figure"] else row["figure"]
        return {"passed": not self.failed, **self.facts, "findings": rows}

    def text(self) -> str:
        model, clip = self.facts["model"], self.facts["clip"]
        size = "x".join(map(str, clip["frame_size"]))
        result = f"FAILED: {', '.join(self.failed)}" if self.failed else "all checks passed"
        parts = [
            f"# GleanVID on this machine: {result}",
            f"{model['name']} ({model['class']}), {model['dtype']}, {model['attention']}; "
            f"{in_words(self.facts['machine'])}",
            f"{clip['frames']} frames of {size} pixels, {clip['tokens']:,} visual tokens, decoder "
            f"{clip['decoder']}, processor {model['processor']}",
            markdown_table(HEADS, [_cells(one) for one in self.findings], numbers=False).strip(),
        ]
        return "\n\n".join(parts) + "\n"

    def write(self, folder: Path) -> None:
        """Write ``check.md`` and ``check.json``. Raises ``ValueError`` if writing fails."""
        try:
            write_whole(folder / "check.json", json.dumps(self.as_dict(), indent=1) + "\n")
            write_whole(folder / "check.md", self.text())
        except OSError as error:
            raise ValueError(f"cannot write to {folder}: {error}") from error


def _cells(one: Finding) -> list[str]:
    counts = one.unit not in ("of the spread", "logits")
    found, allowed = (
        f"{value:.0f}" if counts or not value else f"{value:.1e}"
        for value in (one.figure, one.bound)
    )
    control = "" if one.control is None else f"{one.control:.1e}"
    title = one.title + (f" ({one.note})" if one.note else "")
    verdict = "ok" if one.passed else "FAILED"
    return [f"`{one.name}`", title, f"{found} {one.unit}", allowed, control, verdict]
