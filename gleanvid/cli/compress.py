"""``gleanvid compress CLIPS``: write the kept tokens of every video to files; resumable."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gleanvid.cli import model_options
from gleanvid.cli import options as shared
from gleanvid.cli.running import drawer, report, resumable, writable
from gleanvid.errors import printable

if TYPE_CHECKING:
    from gleanvid.evaluation.run.journal import ClipRow


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    parser.add_argument(
        "paths",
        metavar="clips",
        nargs="+",
        help="video files, recordings of gleanvid record, or folders of either",
    )
    shared.add_compressor(parser, words)
    shared.add_frames(parser, "each video")
    parser.add_argument(
        "--out", required=True, metavar="DIR", help="output folder for one NPZ file per video"
    )
    model_options.add_model(parser)
    parser.set_defaults(run=_compress)


def _compress(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.provenance import describe_model
    from gleanvid.evaluation.recording.recorded_model import recorded_model
    from gleanvid.evaluation.run.clips import named_clips
    from gleanvid.evaluation.run.journal import Journal
    from gleanvid.evaluation.run.kept_tokens import Job, compress_clips

    method = options.method(**{name: getattr(options, name) for name in options.settings})
    job = Job(method, options.num_frames, options.backend, options.max_pixels)
    clips = named_clips(options.paths)
    folder = writable(options.out)
    model = recorded_model(clips.values()) or model_options.load(options)
    settings = {"model_weights": describe_model(model)["model_weights"]} | job.settings()
    settings |= {"model_settings": model_options.model_settings(options)}
    with Journal(folder / "journal.jsonl", settings) as journal, resumable(folder):
        compress_clips(model, clips, job, folder, journal, drawer())
        rows = [journal.rows[name, job.key] for name in clips]
    return _report(rows, options.out)


def _report(rows: Sequence[ClipRow], place: str) -> int:
    """Print the results and return the exit code: 1 if a clip failed."""
    from gleanvid.metrics import Saturation

    failed = [row for row in rows if "error" in row]
    for row in failed:
        report(f"gleanvid: {row['item']}: {row['error']}")
    done = [row for row in rows if "error" not in row]
    tokens, kept = (sum(row[name] for row in done) for name in ("tokens", "kept"))
    if done:
        share = f"{kept:,} of {tokens:,} visual tokens kept ({kept / tokens:.1%})"
        print(f"{len(done)} of {len(rows)} clips, {share}, in {printable(place)}")
        saturated = [row["saturated"] for row in done if "saturated" in row]
        if text := str(Saturation(*map(sum, zip(*saturated, strict=True)))) if saturated else "":
            print(text)
    return 1 if failed else 0
