"""Reads, writes and prints the accuracy of ideal observers on Glimpse 2, by question family.

:mod:`.observers` measures it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

# A question family is temporal if the best single frame's accuracy is at least this far below 1.
TEMPORAL = 0.25
VIEWS = ("blind", "still", "shuffled")
KEPT = Path(__file__).with_name("baselines.json")


@dataclass(frozen=True)
class Baseline:
    """Accuracy of three ideal observers on ``count`` questions of a family."""

    family: str
    count: int
    blind: float
    still: float
    shuffled: float

    @property
    def temporal(self) -> bool:
        """Whether the best single frame gives at most 75 % accuracy (all frames give 100 %)."""
        return round(1 - self.still - TEMPORAL, 9) >= 0


def write(path: Path, found: Sequence[Baseline], num_frames: int, learnt: int) -> None:
    """Write baselines as JSON, with ``num_frames`` per clip and ``learnt`` training questions."""
    facts = {"num_frames": num_frames, "learnt": learnt, "families": [asdict(one) for one in found]}
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def read(path: Path = KEPT) -> tuple[dict[str, int], list[Baseline]]:
    facts = json.loads(path.read_text(encoding="utf-8"))
    return facts, [Baseline(**one) for one in facts.pop("families")]


def table(found: Sequence[Baseline]) -> str:
    """Format baselines as Markdown, a row per family, in %."""
    lines = ["| family | questions | blind | best still | shuffled | needs time |"]
    lines.append("|---|---|---|---|---|---|")
    for one in found:
        shares = " | ".join(f"{100 * getattr(one, view):.1f}" for view in VIEWS)
        lines.append(f"| {one.family} | {one.count} | {shares} | {'yes' if one.temporal else ''} |")
    return "\n".join(lines)
