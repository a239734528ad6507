"""``gleanvid count VIDEO``: count the visual tokens without decoding a frame."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from gleanvid.cli import options as shared


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "video", help="path of a video, or the width x height of its frames: 1920x1080"
    )
    shared.add_compressor(parser, words)
    shared.add_frames(parser)
    shared.add_model(parser)
    shared.add_json(parser, "the counts as JSON instead of a sentence")
    parser.set_defaults(run=_count)


def _count(options: argparse.Namespace) -> int:
    import re

    from gleanvid.api import count_tokens
    from gleanvid.arguments import Frames
    from gleanvid.models.loading.counting import load_without_weights

    compressor = options.method(**{name: getattr(options, name) for name in options.settings})
    frames = Frames(options.num_frames, options.max_pixels, options.backend)
    model = load_without_weights(options.model, options.max_pixels, shared.model_settings(options))
    size = re.fullmatch(r"(\d+)x(\d+)", options.video)
    video = (options.num_frames, int(size[2]), int(size[1])) if size else options.video
    found = count_tokens(video, model, compressor, frames=frames)
    if options.json:
        print(json.dumps({"grid": found.grid, "tokens": found.tokens, "kept": found.kept}))
    else:
        units, rows, columns = found.grid
        print(
            f"{found.tokens:,} visual tokens: {units} units of {rows} x {columns}; "
            f"{compressor.title} keeps {found.kept:,}"
        )
    return 0
