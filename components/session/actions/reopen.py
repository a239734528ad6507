"""Which clip of the page a saved run is of."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from gleanvid.run import Run
from gleanvid.types import VideoError

from ..work.engine import Engine
from ..work.queue import BusyError


def at_home(engine: Engine, run: Run, paths: Iterable[str]) -> tuple[Run, str | None]:
    """The run on the clip it is of, and which of ``paths`` that is: of its name and frames.

    As it was, and None, where none is.
    """
    for path in paths:
        if Path(path).name != run.video.name:
            continue
        with suppress(VideoError, BusyError):  # one that is gone is not the clip
            video = engine.clip(path, len(run.video))
            if np.array_equal(video.frames, run.video.frames):
                return replace(run, video=video), path
    return run, None
