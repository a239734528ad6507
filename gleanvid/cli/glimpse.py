"""``gleanvid glimpse``: write clips of the Glimpse world with questions and ground truth."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from gleanvid.cli.running import drawer


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    kinds = parser.add_subparsers(required=True, metavar="what")
    make = kinds.add_parser(
        "make", help="write clips (MP4) with questions and ground truth (JSON Lines)"
    )
    make.add_argument(
        "--split", default="test", help="split of the benchmark: train, validation or test"
    )
    make.add_argument("--n", type=int, default=100, help="number of clips to generate")
    make.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="output folder; must be empty or new"
    )
    make.add_argument("--seed", type=int, default=0, help="random seed of the clips")
    make.add_argument("--num-frames", type=int, default=32, help="number of frames per clip")
    for side in ("height", "width"):
        about = f"frame {side}: a multiple of 16 pixels; the MP4 shows each as 2 × 2 pixels"
        make.add_argument(f"--{side}", type=int, default=160, help=about)
    make.set_defaults(run=_make)
    example = kinds.add_parser("example", help="write one clip with thumbnail and questions")
    example.add_argument(
        "--split", default="validation", help="split of the benchmark: train, validation or test"
    )
    example.add_argument("--index", type=int, required=True, help="number of the clip in its split")
    example.add_argument("--seed", type=int, default=0, help="random seed of the clip")
    example.add_argument("--num-frames", type=int, default=32, help="number of frames")
    example.add_argument(
        "--out", type=Path, required=True, metavar="CLIP.mp4", help="file to write the clip to"
    )
    example.set_defaults(run=_example)


def _example(options: argparse.Namespace) -> int:
    from gleanvid.glimpse.questions.make import write_example
    from gleanvid.glimpse.world.world import ClipSettings

    settings = ClipSettings(num_frames=options.num_frames)
    write_example(options.seed, options.split, options.index, settings, options.out)
    return 0


def _make(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.run.progress import Progress
    from gleanvid.glimpse.questions.make import write_split
    from gleanvid.glimpse.world.world import ClipSettings

    draw, started = drawer(), time.perf_counter()

    def show(done: int) -> None:
        draw(Progress(done, options.n, 0, time.perf_counter() - started, None))

    settings = ClipSettings(options.height, options.width, options.num_frames)
    write_split(
        options.split, options.n, options.out, seed=options.seed, settings=settings, progress=show
    )
    sys.stderr.write(f"written to {options.out}\n")
    return 0
