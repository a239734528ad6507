"""``gleanvid check``: check on this machine, with this model, that compression is exact."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from gleanvid.cli import model_options
from gleanvid.cli import options as shared
from gleanvid.cli.running import report_long


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    parser.add_argument(
        "video", nargs="?", help="path of the video file to check with (default: synthetic frames)"
    )
    shared.add_frames(parser)
    parser.add_argument(
        "--out", metavar="DIR", help="output folder for the report (Markdown and JSON)"
    )
    shared.add_json(parser, "the report as JSON instead of Markdown")
    model_options.add_model(parser)
    parser.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> int:
    """Run the command and return its exit code: 1 if a check fails."""
    from pathlib import Path

    from gleanvid.evaluation.check.check import check

    found = check(model_options.load(options), _video(options), report_long())
    print(json.dumps(found.as_dict(), indent=1) if options.json else found.text())
    if options.out:
        found.write(Path(options.out))
    return int(bool(found.failed))


def _video(options: argparse.Namespace) -> Any:
    from gleanvid.api.pipeline import MAX_SIDE
    from gleanvid.evaluation.bench.bench_model import made_up_video
    from gleanvid.video import read_video

    if options.num_frames < 1:
        raise ValueError(f"num_frames={options.num_frames} must be at least 1")
    if options.video is None:
        return made_up_video(options.num_frames, 360, 640)
    return read_video(options.video, options.num_frames, backend=options.backend, max_side=MAX_SIDE)
