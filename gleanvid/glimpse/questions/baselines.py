"""Reads, writes and prints the accuracy of ideal observers on Glimpse 2, by question type.

An ideal observer answers from what is in the scene, not from pixels. :mod:`.observers` trains the
observers and measures their accuracy. A question type is called ``family`` in the code.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

# A question type needs time if the accuracy from the best single frame is at most 1 - TEMPORAL.
TEMPORAL = 0.25
VIEWS = ("blind", "still", "shuffled")
KEPT = Path(__file__).with_name("baselines.json")


@dataclass(frozen=True)
class Baseline:
    """Accuracy of three ideal observers on ``count`` questions of one type (``family``).

    ``blind`` sees no frame, ``still`` only the best single frame, ``shuffled`` all frames
    without their order.
    """

    family: str
    count: int
    blind: float
    still: float
    shuffled: float

    @property
    def temporal(self) -> bool:
        """Whether the question type needs more than one frame, see ``TEMPORAL``."""
        return round(1 - self.still - TEMPORAL, 9) >= 0


def write(path: Path, found: Sequence[Baseline], num_frames: int, learnt: int) -> None:
    """Write baselines as JSON.

    ``num_frames``: frames of a clip; ``learnt``: number of training questions of each type.
    """
    facts = {"num_frames": num_frames, "learnt": learnt, "families": [asdict(one) for one in found]}
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def read(path: Path = KEPT) -> tuple[dict[str, int], list[Baseline]]:
    facts = json.loads(path.read_text(encoding="utf-8"))
    return facts, [Baseline(**one) for one in facts.pop("families")]


def table(found: Sequence[Baseline]) -> str:
    """Format baselines as a Markdown table of accuracies in %, with a row per question type."""
    lines = ["| family | questions | blind | best still | shuffled | needs time |"]
    lines.append("|---|---|---|---|---|---|")
    for one in found:
        shares = " | ".join(f"{100 * getattr(one, view):.1f}" for view in VIEWS)
        lines.append(f"| {one.family} | {one.count} | {shares} | {'yes' if one.temporal else ''} |")
    return "\n".join(lines)
