"""Find the two clips with which the app opens: ``python -m tools.opening FOLDER``.

On the first, all tokens and GleanVID are right, evenly spaced tokens and fewer frames wrong with
as many tokens, and GleanVID keeps the object asked about in the unit that the page shows first. On
the second, all tokens are right and GleanVID is wrong. Each is the first such clip from number 2000
on, of at most 500. They lie in ``assets/clips`` and are named in ``clips.json``; ``python -m
components.page.first`` then computes the saved result.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from components.jobs.request import FIRST_RATIO
from components.page.story import busiest
from gleanvid import api
from gleanvid.api import pipeline
from gleanvid.compressors import COMPRESSORS
from gleanvid.glimpse.questions.clips import ask_about, evidence_by_thing
from gleanvid.glimpse.questions.make import write_example
from gleanvid.glimpse.questions.questions import Question
from gleanvid.glimpse.world.world import ClipSettings
from gleanvid.metrics import same_answer
from gleanvid.run import Run
from gleanvid.types import Video

CLIPS = range(2000, 2500)  # of the validation split
METHODS = ("full", "gleanvid", "uniform", "frames")
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
        video, questions = pipeline.read_video(str(path), 32), ask_about(0, "validation", index)
        for question, runs in zip(questions, answered(model, video, questions), strict=True):
            right = {name: same_answer(run.answer, question.answer) for name, run in runs.items()}
            for name, wanted in list(missing.items()):
                fits = right.items() >= wanted.items()
                if fits and (name == "lost" or is_shown(runs["gleanvid"], question, index)):
                    yield f"{name}: {path.name}, {question.text!r}"
                    del missing[name]
        if not missing:
            return


def answered(model: Any, video: Video, questions: Sequence[Question]) -> list[dict[str, Run]]:
    """Return each question's run by method, at the app's first retention ratio."""
    texts, found = [question.text for question in questions], []
    for name in METHODS:
        ratio = {} if name == "full" else {"retention_ratio": FIRST_RATIO}
        found.append(api.ask_many(video, texts, model, COMPRESSORS[name](**ratio)))
    return [dict(zip(METHODS, runs, strict=True)) for runs in zip(*found, strict=True)]


def is_shown(run: Run, question: Question, index: int) -> bool:
    """Whether tokens of the answer are kept in the unit with most of them after the first."""
    record = run.compression
    seen = evidence_by_thing(0, "validation", index, ClipSettings(), question, record.grid)
    kept = (seen.any(0) & record.mask).view(record.grid[0], -1).any(1)
    return bool(kept[busiest(run)])


if __name__ == "__main__":
    for line in search(Path(sys.argv[1])):
        print(line, flush=True)
