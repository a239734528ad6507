"""MLVU: seven multiple-choice tasks about videos of 3 minutes to 2 hours.

Zhou et al., CVPR 2025, https://arxiv.org/abs/2406.04264. Prompt, verdict and score (M-Avg, the mean
over the tasks) are those of the task ``mlvu_dev`` of LMMs-Eval 0.7.3, data sy1998/MLVU_dev.
LMMs-Eval always divides by seven. Here the mean is over the tasks that have questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gleanvid.evaluation.benchmarks.annotations import (
    Row,
    letter,
    letter_position,
    position,
    read_rows,
    texts,
)
from gleanvid.evaluation.benchmarks.base import BenchmarkError, Item
from gleanvid.evaluation.benchmarks.letters import sure_letter
from gleanvid.evaluation.benchmarks.published import Published, find, first_file, lettered

TASKS = {  # name in the table -> file and folder of the authors' own release (MLVU/MVLU)
    "topic_reasoning": "7_topic_reasoning",
    "anomaly_reco": "6_anomaly_reco",
    "needle": "2_needle",
    "ego": "3_ego",
    "plotQA": "1_plotQA",
    "order": "5_order",
    "count": "4_count",
}
TEST_TASKS = (
    *("topic_reasoning", "anomaly_reco", "needleQA", "ego", "plotQA", "order", "count"),
    *("sportsQA", "tutorialQA"),
)
_OPTION = re.compile(r"^\(([A-Z])\) (.*)$", re.MULTILINE)
_FILES = ("test*.parquet", "*/test*.parquet", "*.parquet", "test*.json*")


@dataclass(frozen=True)
class MLVU(Published):
    """MLVU's multiple-choice tasks, in either of two published formats.

    The dataset sy1998/MLVU_dev is one table, with letters as answers. The authors' own release has
    a part for each task in ``json/`` and ``video/``, with texts of options as answers.
    """

    name: ClassVar[str] = "mlvu"
    repository: ClassVar[str] = "sy1998/MLVU_dev"
    average: ClassVar[str] = "groups"
    columns: ClassVar[tuple[str, ...]] = tuple(TASKS)

    def annotations(self, root: Path) -> list[Path]:
        home = _authors_json(root)
        if home is None:
            return [first_file(root, _FILES, self.name)]
        return [home / f"{stem}.json" for stem in TASKS.values()]

    def rows(self, root: Path) -> Iterator[Item]:
        home = _authors_json(root)
        if home is not None:
            yield from _authors_rows(root, home)
            return
        columns = ("video_name", "question", "task_type", "answer")
        for number, (place, row) in enumerate(read_rows(self.annotations(root)[0], columns)):
            task, video = row["task_type"], row["video_name"]
            if task not in self.columns:
                tasks = list(self.columns)
                raise BenchmarkError(f"{place}: task_type={task!r} must be one of {tasks}")
            options = _options(row, place)
            yield Item(
                id=f"{task}/{number}",
                clip=find(root, [video, f"video/{video}", f"videos/{video}"], place),
                question=row["question"],
                options=options,
                answer=letter_position(row["answer"], options, place),
                groups=(task,),
            )

    def prompt(self, item: Item) -> str:
        return f"{item.question}\nOnly give the best option.\nBest option: ("

    def right(self, item: Item, response: str) -> bool:
        return sure_letter(response) == letter(item.answer)


@dataclass(frozen=True)
class MLVUTest(MLVU):
    """The test split of MLVU (``mlvu_test`` of LMMs-Eval); the prompt is the question alone."""

    name: ClassVar[str] = "mlvu_test"
    repository: ClassVar[str] = "sy1998/MLVU_Test"
    columns: ClassVar[tuple[str, ...]] = TEST_TASKS

    def prompt(self, item: Item) -> str:
        return item.question


def _options(row: Row, place: str) -> tuple[str, ...]:
    """Return the options: from the column ``candidates`` or lines "(A) ..." of the question."""
    if row.get("candidates") is not None:
        return texts(row, "candidates", place)
    lines = [text for _, text in _OPTION.findall(row["question"])]
    return texts({"question": lines}, "question", place)


def _authors_json(root: Path) -> Path | None:
    homes = (root / "json", root / "MLVU" / "json")
    return next((home for home in homes if home.is_dir()), None)


def _authors_rows(root: Path, home: Path) -> Iterator[Item]:
    for task, stem in TASKS.items():
        columns = ("video", "question", "candidates", "answer")
        for number, (place, row) in enumerate(read_rows(home / f"{stem}.json", columns)):
            options = texts(row, "candidates", place)
            folder = home.parent.relative_to(root) / "video" / stem
            yield Item(
                id=f"{task}/{number}",
                clip=find(root, [(folder / row["video"]).as_posix()], place),
                question=f"{row['question']}\n{lettered(options, '({letter}) {text}')}",
                options=options,
                answer=position(row["answer"], options, place),
                groups=(task,),
            )
