"""Open a saved run that a visitor uploaded.

The sandboxed process that decodes videos also unpacks the file. Then the run is checked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from gleanvid.errors import BusyError, refusing
from gleanvid.evaluation.recording.run_format import check_run
from gleanvid.run import Run
from gleanvid.types import VideoError
from gleanvid.video.isolation import sandbox
from gleanvid.video.isolation.bounds import NO_RUN, TOO_LARGE
from gleanvid.video.plan import UnreadableVideoError

from ..jobs.engine import Engine

OPEN_S = 30.0  # maximum time to unpack a run, in seconds
MAX_FRAMES = 128  # maximum number of frames: exports draw every frame, which takes time
MAX_TOKENS = 2**20
LONGEST = 10_000  # maximum length of a question in characters, as on the page
LONGEST_SIDE = 8192  # maximum width and height of a frame in pixels
LONGEST_ANSWER = 20 * LONGEST
LONGEST_SETTINGS = 10_000  # maximum length of ``compressor`` or ``made_with`` as JSON
LONGEST_NAME = 1_000


def opened(path: str) -> Run:
    """Read and check a saved run. An invalid run raises ``ValueError`` with a message for users."""
    try:
        facts, arrays = sandbox.unpacked(path, OPEN_S)
    except UnreadableVideoError as error:
        raise ValueError(str(error)) from error
    with refusing(ValueError, NO_RUN):
        # encode() refuses lone surrogates, which a browser cannot show.
        json.dumps(facts, ensure_ascii=False).encode()
        run = Run.of(facts, arrays)
        check_run(run)
    if math.prod(run.compression.grid) > MAX_TOKENS or len(run.video) > MAX_FRAMES or _is_long(run):
        raise ValueError(TOO_LARGE)
    return run


def _is_long(run: Run) -> bool:
    """Return whether a text or a frame exceeds the limits of the page.

    Exports draw every text and every frame, so a long one would take too much time and memory.
    """
    video = run.video
    settings = (run.compressor, run.made_with)
    return (
        len(run.question) > LONGEST
        or len(run.answer) > LONGEST_ANSWER
        or any(len(name) > LONGEST_NAME for name in (run.model, video.name, *video.notes))
        or any(len(json.dumps(mapping)) > LONGEST_SETTINGS for mapping in settings)
        or max(video.frames.shape[1:3]) > LONGEST_SIDE
    )


def at_home(engine: Engine, run: Run, paths: Iterable[str]) -> tuple[Run, str | None]:
    """Find the clip of a run from a file among the clips ``paths`` on this server.

    The clip must have the same file name and the same frames. Returns the run with the frames of
    this clip, and its path. If no clip fits, returns the unchanged run and None.
    """
    for path in paths:
        if Path(path).name != run.video.name:
            continue
        with suppress(VideoError, BusyError):  # the file may have been deleted
            video = engine.clip(path, len(run.video))
            if np.array_equal(video.frames, run.video.frames):
                return replace(run, video=video), path
    return run, None
