"""What is known of each family of version 2 without order or time: kept figures and their table.

They are measured by ``observers`` and kept in ``baselines.json``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

TEMPORAL = 0.25  # least distance of the best still from all frames, for a family that needs time
VIEWS = ("blind", "still", "shuffled")
KEPT = Path(__file__).with_name("baselines.json")


@dataclass(frozen=True)
class Baseline:
    """Shares of ``count`` questions of a family that the three observers get right."""

    family: str
    count: int
    blind: float
    still: float
    shuffled: float

    @property
    def temporal(self) -> bool:
        """Whether the best still picture is at least 25 points below all frames."""
        return round(1 - self.still - TEMPORAL, 9) >= 0


def write(path: Path, found: Sequence[Baseline], num_frames: int, learnt: int) -> None:
    """JSON, with what was measured: clips of ``num_frames``, observers that ``learnt`` from so many
    questions a family."""
    facts = {"num_frames": num_frames, "learnt": learnt, "families": [asdict(one) for one in found]}
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def read(path: Path = KEPT) -> tuple[dict[str, int], list[Baseline]]:
    """The facts and the families of :func:`write`."""
    facts = json.loads(path.read_text(encoding="utf-8"))
    return facts, [Baseline(**one) for one in facts.pop("families")]


def table(found: Sequence[Baseline]) -> str:
    """Markdown: a row a family, in %."""
    lines = ["| family | questions | blind | best still | shuffled | needs time |"]
    lines.append("|---|---|---|---|---|---|")
    for one in found:
        shares = " | ".join(f"{100 * getattr(one, view):.1f}" for view in VIEWS)
        lines.append(f"| {one.family} | {one.count} | {shares} | {'yes' if one.temporal else ''} |")
    return "\n".join(lines)
