"""Find the two clips with which the app opens: ``python -m tools.opening FOLDER``.

The first is one where all tokens and GleanVID are right, and evenly spaced tokens and fewer frames
are wrong with as many tokens. On the second, GleanVID is wrong and all tokens are right. Both are
the first such clips of 500. They lie in ``assets/clips`` and are named in ``clips.json``;
``python -m components.page.first`` then computes the saved result.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.jobs.request import FIRST_RATIO
from gleanvid import api
from gleanvid.api import pipeline
from gleanvid.compressors import COMPRESSORS
from gleanvid.glimpse.questions.clips import ask_about
from gleanvid.glimpse.questions.make import write_example
from gleanvid.glimpse.questions.questions import Question
from gleanvid.glimpse.world.world import ClipSettings
from gleanvid.metrics import same_answer
from gleanvid.types import Video

CLIPS = range(2000, 2500)  # of the validation split
WANTED = {  # name of a clip -> whether the answer of each method must be right
    "opening": {"full": True, "gleanvid": True, "uniform": False, "frames": False},
    "lost": {"full": True, "gleanvid": False},
}


def search(folder: Path) -> Iterator[str]:
    """Write clips into a folder until both are found; yield a line for each of the two."""
    model, missing = pipeline.load_model("builtin"), dict(WANTED)
    for index in CLIPS:
        path = folder / f"{index}.mp4"
        write_example(0, "validation", index, ClipSettings(), path)
        video = pipeline.read_video(str(path), 32)
        for question in ask_about(0, "validation", index):
            for name in list(missing):
                if is_right(model, video, question, missing[name]):
                    yield f"{name}: {path.name}, {question.text!r}"
                    del missing[name]
        if not missing:
            return


def is_right(model: Any, video: Video, question: Question, wanted: dict[str, bool]) -> bool:
    """Whether exactly the wanted methods answer right at the app's first retention ratio."""
    for name, right in wanted.items():
        ratio = {} if name == "full" else {"retention_ratio": FIRST_RATIO}
        run = api.ask(video, question.text, model, COMPRESSORS[name](**ratio))
        if same_answer(run.answer, question.answer) is not right:
            return False
    return True


if __name__ == "__main__":
    for line in search(Path(sys.argv[1])):
        print(line, flush=True)
