"""``gleanvid bench model``: cost per item of a whole model under each compressor."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gleanvid.cli import model_options
from gleanvid.cli import options as shared
from gleanvid.cli.running import report_long, writable

_NAMES = "gleanvid,vidcom2,vcast,visionzip,holitom,fastvid,flashvid"


def add(commands: Any, words: Sequence[str]) -> None:
    """Add the parser of ``bench model`` to ``commands``; ``words``: the whole command line."""
    parser = commands.add_parser("model", help="latency, memory and throughput of a whole model")
    parser.add_argument(
        "--config",
        help="build a model with the layer sizes of this one instead of loading --model: "
        "qwen3-vl-8b, llava-onevision-7b or llava-video-7b",
    )
    parser.add_argument(
        "--random-weights",
        action="store_true",
        help="use random weights, which --config requires; nothing is downloaded",
    )
    parser.add_argument("--frames", default="32", help="numbers of frames, comma-separated")
    parser.add_argument("--retention-ratio", help=shared.RATIOS)
    parser.add_argument("--compressor", default=_NAMES, help=shared.NAMES)
    parser.add_argument("--video", help="video file to measure with (default: synthetic frames)")
    parser.add_argument(
        "--frame-size", default="720x1280", help="height x width of the synthetic frames in pixels"
    )
    parser.add_argument(
        "--new-tokens", type=int, default=16, help="maximum answer length in tokens"
    )
    parser.add_argument("--repeats", type=int, default=5, help="number of timed repetitions")
    parser.add_argument("--warmup", type=int, default=2, help="number of untimed repetitions")
    parser.add_argument(
        "--out", metavar="DIR", help="output folder for the report (JSON and Markdown)"
    )
    shared.add_json(parser, "the measurements as JSON instead of a table")
    model_options.add_model(parser)
    parser.set_defaults(run=_bench_model, command=shlex.join(["gleanvid", *words]))


def _bench_model(options: argparse.Namespace) -> int:
    """Run the command and return its exit code: 1 if a measurement failed.

    A retention ratio that a method cannot reach is not a failure.
    """
    from gleanvid.evaluation.bench.bench_model import failed, measure
    from gleanvid.evaluation.bench.bench_model_table import table

    frames = shared.whole_numbers("frames", options.frames)
    if options.repeats < 1 or options.warmup < 0:
        raise ValueError("--repeats must be at least 1 and --warmup at least 0")
    ratios = shared.ratios(options.retention_ratio)
    methods = [one for ratio in ratios for one in shared.methods(options.compressor, ratio)]
    videos = [_video(options, count) for count in frames]
    out = writable(options.out) if options.out else None
    model = _model(options)
    report: dict[str, Any] = {}
    tell = report_long()
    times = {name: getattr(options, name) for name in ("new_tokens", "repeats", "warmup")}
    for count, so_far in zip(frames, measure(model, videos, methods, **times), strict=True):
        report = {"command": options.command, **so_far}
        tell(f"{count} frames measured")
        if out:
            _save(report, table(report), out, options.config or options.model)
    print(json.dumps(report, indent=1) if options.json else table(report))
    return int(any(failed(row) for row in report["rows"]))


def _model(options: argparse.Namespace) -> Any:
    if bool(options.config) != options.random_weights:
        raise ValueError("--config and --random-weights go together; --model has its own weights")
    if not options.config:
        return model_options.load(options)
    from gleanvid.models.loading.random_weights import random_model

    for name in ("model", "device_map", "quantization", "max_pixels", "model_setting"):
        if getattr(options, name) not in ("builtin", None, []):
            raise ValueError(f"--{name.replace('_', '-')} does not go with --config")
    names = ("device", "dtype", "attn_implementation")
    return random_model(options.config, **{name: getattr(options, name) for name in names})


def _video(options: argparse.Namespace, num_frames: int) -> Any:
    from gleanvid.api.pipeline import MAX_SIDE
    from gleanvid.evaluation.bench.bench_model import made_up_video
    from gleanvid.video import read_video

    if options.video:
        return read_video(options.video, num_frames, max_side=MAX_SIDE)
    size = [int(part) for part in options.frame_size.split("x")]
    if len(size) != 2 or min(size) < 16:
        raise ValueError(f"frame_size={options.frame_size!r} must be height x width, from 16x16 on")
    return made_up_video(num_frames, *size)


def _save(report: Mapping[str, Any], text: str, folder: Path, name: str) -> None:
    from gleanvid.evaluation.files import write_whole

    stem = f"model_{name.rstrip('/').rsplit('/', 1)[-1].lower()}"
    try:
        write_whole(folder / f"{stem}.json", json.dumps(report, indent=1) + "\n")
        write_whole(folder / f"{stem}.md", text)
    except OSError as error:
        raise ValueError(f"cannot write to {folder}: {error}") from error
