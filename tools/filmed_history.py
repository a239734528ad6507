"""Compare novelty over a bounded history with the whole history, on long filmed clips.

python -m tools.filmed_clips --out CLIPS
python -m tools.filmed_history CLIPS --out results/filmed

Writes ``history.csv``: for each clip with more than 64 units, how many units get another budget
with ``novelty_history=64``, and the fraction of kept tokens that stays the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from gleanvid.compressors import GleanVID
from gleanvid.evaluation.run.clips import find_clips
from gleanvid.models import load_model
from gleanvid.video import read_video
from tools.filmed_evidence import ENCODER, PIXELS, SIDE
from tools.result_tables import RESULTS
from tools.rows_and_table import read_rows, write_rows

# The encoder makes one temporal unit of each frame.
HISTORY, FRAMES, RATIOS = 64, 256, (0.25, 0.10)


@torch.no_grad()
def measure(clips: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Yield one row for each clip of more than 64 units and each ratio."""
    model = load_model(ENCODER, device="cpu")
    for path in clips:
        video = read_video(path, num_frames=FRAMES, max_side=SIDE)
        tokens = model.encode(video, max_pixels=len(video) * PIXELS).tokens
        units = tokens.grid[0]
        for ratio in RATIOS if units > HISTORY else ():
            whole, bounded = (
                GleanVID(ratio, novelty_history=history).compress(tokens)
                for history in (None, HISTORY)
            )
            same = int((whole.mask & bounded.mask).sum()) / whole.num_kept
            changed = int((whole.budgets != bounded.budgets).sum())
            row = {"clip": path.stem, "units": units, "ratio": ratio, "changed": changed}
            print(row | {"same": round(same, 4)}, flush=True)
            yield row | {"same": round(same, 4)}


def sentence() -> str:
    """Return a sentence on the range of the values in ``results/filmed/history.csv``."""
    rows = read_rows(RESULTS / "filmed" / "history.csv")
    least, most = (pick(rows, key=lambda row: row["changed"] / row["units"]) for pick in (min, max))
    same = [row["same"] for row in rows]
    clips = {row["clip"]: row["units"] for row in rows}
    return (
        f"On {len(clips)} filmed clips of {min(clips.values()):.0f} to {max(clips.values()):.0f} "
        f"units, `novelty_history={HISTORY}` changes the budgets of\n{least['changed']:.0f} of "
        f"{least['units']:.0f} to {most['changed']:.0f} of {most['units']:.0f} units, and "
        f"{100 * min(same):.0f} to {100 * max(same):.0f} % of the kept tokens are the same, at 25 "
        "and 10 % kept."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", type=Path, help="folder that tools.filmed_clips wrote")
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    try:
        clips = find_clips([options.clips])
    except ValueError as error:
        sys.exit(str(error))
    write_rows(options.out / "history.csv", list(measure(clips)))


if __name__ == "__main__":
    main()
