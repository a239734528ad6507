"""``gleanvid record CLIPS``: store the tokens of clips, to study them without the model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gleanvid.cli import model_options
from gleanvid.cli import options as shared
from gleanvid.cli.running import report, writable
from gleanvid.errors import printable

if TYPE_CHECKING:
    from gleanvid.evaluation.recording.record import Wanted


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    parser.add_argument("paths", metavar="clips", nargs="+", help="video files, or folders of them")
    parser.add_argument(
        "--question",
        action="append",
        default=[],
        help="question whose answers are recorded for every clip and compressor; can be repeated",
    )
    parser.add_argument(
        "--compressor",
        default="full,gleanvid",
        help="compressors whose answers are recorded, comma-separated",
    )
    parser.add_argument("--retention-ratio", help=shared.RATIOS)
    parser.add_argument(
        "--max-new-tokens", type=int, default=64, help="maximum answer length in tokens"
    )
    parser.add_argument(
        "--features",
        default="exact",
        help="number format of stored features: exact (as the model computes), bfloat16 or int8",
    )
    parser.add_argument(
        "--signals",
        default="",
        help="attention signals to store for compressors that need them, comma-separated: "
        "saliency, keys",
    )
    parser.add_argument(
        "--relevance",
        action="store_true",
        help="also store how much the model's answer depends on each token, by gradient",
    )
    parser.add_argument("--clip-licence", default="", help="licence text to store with the clips")
    parser.add_argument(
        "--weights-licence",
        default="",
        help="licence text of the model weights (default: that of a known checkpoint)",
    )
    shared.add_frames(parser, "each video")
    parser.add_argument(
        "--out", required=True, metavar="DIR", help="output folder for one recording per clip"
    )
    model_options.add_model(parser)
    parser.set_defaults(run=_record)


def _record(options: argparse.Namespace) -> int:
    """Run the command and return its exit code: 1 if a clip failed."""
    from gleanvid.api.pipeline import MAX_SIDE
    from gleanvid.evaluation.recording.file_format import SUFFIX
    from gleanvid.evaluation.recording.record import record
    from gleanvid.evaluation.run.clips import named_clips
    from gleanvid.types import ModelError, VideoError
    from gleanvid.video import read_video

    clips, wanted, folder = named_clips(options.paths), _wanted(options), writable(options.out)
    model: Any = model_options.load(options)
    failed = 0
    for name, clip in clips.items():
        path = folder / (name + SUFFIX)

        def on_size(size: int, path: Path = path) -> None:
            report(f"{path.name}: {size / 1e6:.1f} MB of tokens; answering the questions")

        try:
            frames = options.num_frames
            video = read_video(clip, frames, backend=options.backend, max_side=MAX_SIDE)
            changed = record(model, video, wanted, path, on_size)
        except (VideoError, ModelError) as error:
            failed += 1
            report(f"gleanvid: {name}: {error}")
            continue
        print(f"{printable(path.name)}: {path.stat().st_size / 1e6:.1f} MB")
        for method, share in changed.items():
            print(f"  {method}: {share:.2%} of its kept tokens change with stored features")
        for line in _kept(path) if wanted.relevance else ():
            print(printable(line))
    return int(bool(failed))


def _kept(path: Path) -> Iterator[str]:
    """Yield a line per recorded run: the fraction of the relevance on the tokens that it kept."""
    from gleanvid.evaluation.recording.recording import open_recording
    from gleanvid.plots.labels import label_of

    recording = open_recording(path)
    for found in recording.relevance:
        for run in recording.runs:
            if run.question == found.question:
                depth = len(run.cost.visual_tokens_by_layer)
                kept = found.kept_over_layers(run.by_layer, depth)["kept"]
                yield f"  {label_of(run.compressor)}: {kept:.1%} of relevance kept ({run.question})"


def _wanted(options: argparse.Namespace) -> Wanted:
    from gleanvid.evaluation.recording.record import Wanted
    from gleanvid.models.loading.registry import CHECKPOINTS

    shares = shared.ratios(options.retention_ratio)
    every = [one for share in shares for one in shared.methods(options.compressor, share)]
    known = {one.name: one.licence for one in CHECKPOINTS}
    return Wanted(
        tuple(options.question),
        tuple(dict.fromkeys(every)),  # no duplicates: "full" is the same at every ratio
        frozenset(filter(None, options.signals.split(","))),
        options.features,
        options.max_new_tokens,
        options.clip_licence,
        options.weights_licence or known.get(options.model, ""),
        options.relevance,
    )
