"""``gleanvid diagnose CLIPS``: the paper's diagnostics on any folder of videos."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from gleanvid.cli import options as shared
from gleanvid.cli.running import report, writable

_NAMES = "gleanvid,vidcom2,vcast,uniform,random"
_RATIOS = "0.4,0.3,0.25,0.2,0.15,0.1,0.05"


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "paths",
        metavar="clips",
        nargs="+",
        help="video files, recordings of gleanvid record, or folders of either",
    )
    parser.add_argument("--compressor", default=_NAMES, help=shared.NAMES)
    parser.add_argument("--retention-ratio", default=_RATIOS, help=shared.RATIOS)
    shared.add_frames(parser, "each video")
    parser.add_argument(
        "--out", default="diagnosis", metavar="DIR", help="output folder for tables and figures"
    )
    shared.add_model(parser)
    parser.set_defaults(run=_diagnose, command=shlex.join(["gleanvid", *words]))


def _diagnose(options: argparse.Namespace) -> int:
    """Run the command and return its exit code: 130 if the user interrupted it.

    The code is 1 if a clip failed or nothing could be measured. A retention ratio that a
    compressor cannot reach is not a failure.
    """
    from gleanvid.evaluation.diagnostics import diagnose, diagnosis
    from gleanvid.evaluation.recording.recorded_model import recorded_model
    from gleanvid.evaluation.run.clips import find_clips

    clips = find_clips(options.paths)
    shares = shared.ratios(options.retention_ratio)
    out = writable(options.out)
    model: Any = recorded_model(clips) or shared.load(options)
    rows: list[Any] = []
    skipped: list[Any] = []
    found = diagnose.diagnose_clips(
        clips,
        model,
        shared.names_of(options.compressor),
        shares,
        options.num_frames,
        backend=options.backend,
        on_clip=lambda number, path: report(f"{number + 1}/{len(clips)} {path.name}"),
    )
    stopped = _collect(found, rows, skipped)
    if not any(row.part == "compressor" for row in rows):
        report(f"gleanvid: no {'compressor' if rows else 'clip'} could be measured")
        return 1
    facts = {"command": options.command} | diagnose.facts(model, clips, options.num_frames)
    print(diagnosis.text(facts | diagnosis.summary(rows, skipped)))
    try:
        diagnosis.write(out, facts, rows, skipped)
    except OSError as error:
        raise ValueError(f"cannot write to {out}: {error}") from error
    report(f"{'stopped; what was measured is ' if stopped else ''}written to {out}")
    return 130 if stopped else int(any(not item.name for item in skipped))


def _collect(found: Iterable[Any], rows: list[Any], skipped: list[Any]) -> bool:
    """Fill ``rows`` with measurements and ``skipped`` with what failed; return True on Ctrl-C."""
    refused: set[tuple[str, str]] = set()  # (method, reason) pairs that were reported already
    try:
        for item in found:
            if not hasattr(item, "reason"):
                rows.append(item)
                continue
            skipped.append(item)
            if item.retention_ratio:
                report(
                    f"skipped: {item.clip} ({item.name} at {item.retention_ratio:g}): {item.reason}"
                )
            elif not item.name:
                report(f"skipped: {item.clip}: {item.reason}")
            elif (item.name, item.reason) not in refused:
                refused.add((item.name, item.reason))
                report(f"skipped: {item.name}: {item.reason}")
    except KeyboardInterrupt:
        return True
    return False
