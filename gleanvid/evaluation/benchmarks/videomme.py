"""Video-MME: 2,700 questions about 900 videos, short, medium and long.

Fu et al., CVPR 2025, https://arxiv.org/abs/2405.21075, data lmms-eval/Video-MME. Prompt and verdict
are those of the tasks ``videomme`` and ``videomme_w_subtitle`` of LMMs-Eval 0.7.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from gleanvid.evaluation.benchmarks.annotations import letter, letter_position, read_rows, texts
from gleanvid.evaluation.benchmarks.base import BenchmarkError, Item
from gleanvid.evaluation.benchmarks.letters import sure_letter
from gleanvid.evaluation.benchmarks.published import Published, find, first_file
from gleanvid.evaluation.benchmarks.subtitles import lines_on_screen
from gleanvid.video import read_video

_FILES = ("videomme/test*.parquet", "test*.parquet", "*/test*.parquet", "test*.json*")
_TASK = (
    "Select the best answer to the following multiple-choice question based on the video and the "
    "subtitles. Respond with only the letter (A, B, C, or D) of the correct option."
)


@dataclass(frozen=True)
class VideoMME(Published):
    """Video-MME, read from ``videomme/test-*.parquet`` and ``data/<videoID>.mp4``.

    ``style``: wording of the prompt. "qwen3_vl" is that of LMMs-Eval for Qwen3-VL. "default" is its
    wording for most other models, which mentions subtitles even if there are none. ``subtitles``:
    whether to put subtitles from ``subtitle/<videoID>.srt`` before the question.
    """

    name: ClassVar[str] = "videomme"
    repository: ClassVar[str] = "lmms-eval/Video-MME"
    columns: ClassVar[tuple[str, ...]] = ("short", "medium", "long")

    style: str = "default"
    subtitles: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.style not in ("default", "qwen3_vl"):
            raise BenchmarkError(f"style={self.style!r} must be one of default, qwen3_vl")

    def _subtitles(self, item: Item) -> str:
        """Return the subtitles to put before the question.

        As in LMMs-Eval, those at 768 evenly spaced frames with ``style="qwen3_vl"``, else at 32.
        """
        path = (self.root / item.clip).parents[1] / "subtitle" / f"{Path(item.clip).stem}.srt"
        text = "No subtitles available"
        if path.exists():
            fps, total_frames = _length(self.root / item.clip)
            frames = 768 if self.style == "qwen3_vl" else 32
            text = lines_on_screen(path, fps, total_frames, frames)
        return f"This video's subtitles are listed below: \n{text}\n"

    def annotations(self, root: Path) -> list[Path]:
        return [first_file(root, _FILES, self.name)]

    def rows(self, root: Path) -> Iterator[Item]:
        columns = ("question_id", "videoID", "duration", "question", "options", "answer")
        for place, row in read_rows(self.annotations(root)[0], columns):
            if row["duration"] not in self.columns:
                raise BenchmarkError(
                    f"{place}: duration={row['duration']!r} must be one of {list(self.columns)}"
                )
            options = texts(row, "options", place)
            names = [f"data/{row['videoID']}{suffix}" for suffix in (".mp4", ".MP4", ".mkv")]
            yield Item(
                id=row["question_id"],
                clip=find(root, names, place),
                question=row["question"],
                options=options,
                answer=letter_position(row["answer"], options, place),
                groups=(row["duration"],),
            )

    def prompt(self, item: Item) -> str:
        options = "\n".join(item.options)
        subtitles = self._subtitles(item) if self.subtitles else ""
        if self.style == "qwen3_vl":
            ask = "Answer with the option letter only."
            return f"{subtitles}Question: {item.question}\nOptions:\n{options}\n{ask}"
        if subtitles:
            return f"{subtitles}{_TASK}\n{item.question}\n{options}\nThe best answer is:"
        ask = "Answer with the option's letter from the given choices directly."
        return f"{_TASK}\n{item.question}\n{options}\n\n{ask}"

    def right(self, item: Item, response: str) -> bool:
        return sure_letter(response) == letter(item.answer)


@lru_cache(maxsize=16)
def _length(path: Path) -> tuple[float, int]:
    """Read the frame rate and number of frames of a video."""
    video = read_video(path, 1)
    return video.fps, video.total_frames
