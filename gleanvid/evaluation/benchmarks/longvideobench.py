"""LongVideoBench: referring questions about videos of 8 seconds to one hour.

Wu et al., NeurIPS 2024, https://arxiv.org/abs/2407.15754, data longvideobench/LongVideoBench.
Prompt and verdict are those of the task ``longvideobench_val_v`` of LMMs-Eval 0.7.3 (frames without
subtitles, 1,337 questions). The task ``longvideobench_val_i``, with subtitles between frames, is
not implemented: models here read a video's frames without text between them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gleanvid.evaluation.benchmarks.annotations import Row, letter, read_rows, texts
from gleanvid.evaluation.benchmarks.base import BenchmarkError, Item
from gleanvid.evaluation.benchmarks.letters import first_letter
from gleanvid.evaluation.benchmarks.published import Published, find, first_file, lettered

# Value of the annotation field duration_group -> name of the group in the table.
LENGTHS = {15: "8-15 s", 60: "15-60 s", 600: "3-10 min", 3600: "15-60 min"}
_FILES = ("lvb_val.json", "validation*.parquet", "data/validation*.parquet")


@dataclass(frozen=True)
class LongVideoBench(Published):
    """LongVideoBench's validation split, read from its JSON or Parquet file and ``videos/``."""

    name: ClassVar[str] = "longvideobench"
    repository: ClassVar[str] = "longvideobench/LongVideoBench"
    columns: ClassVar[tuple[str, ...]] = tuple(LENGTHS.values())
    max_new_tokens: ClassVar[int] = 32

    def annotations(self, root: Path) -> list[Path]:
        return [first_file(root, _FILES, self.name)]

    def rows(self, root: Path) -> Iterator[Item]:
        columns = ("id", "video_path", "question", "correct_choice", "duration_group")
        for place, row in read_rows(self.annotations(root)[0], columns):
            length = row["duration_group"]
            options, answer = _options(row, place), row["correct_choice"]
            if type(answer) is not int or not 0 <= answer < len(options):
                raise BenchmarkError(
                    f"{place}: correct_choice={answer!r} must be the index of one of its "
                    f"{len(options)} options, from 0"
                )
            video = row["video_path"]
            yield Item(
                id=str(row["id"]),
                clip=find(root, [f"videos/{video}", video], place),
                question=row["question"],
                options=options,
                answer=answer,
                groups=(LENGTHS.get(length, str(length)),),
            )

    def prompt(self, item: Item) -> str:
        options = lettered(item.options, "{letter}. {text}")
        ask = "Answer with the option's letter from the given choices directly."
        return f"{item.question}\n{options}\n{ask}\n"

    def right(self, item: Item, response: str) -> bool:
        """Return whether the letter in a response is that of the right option.

        If the response has no letter, a random one is taken, always the same for the same question.
        """
        choices = [letter(number) for number in range(len(item.options))]
        guess = random.Random(item.id).choice(choices)
        return (first_letter(response) or guess) == letter(item.answer)


def _options(row: Row, place: str) -> tuple[str, ...]:
    """Return the options of a question.

    In the JSON file, they are in the column ``candidates``. In the Parquet file, they are in the
    columns ``option0`` to ``option4``, up to the first "N/A".
    """
    if row.get("candidates") is not None:
        return texts(row, "candidates", place)
    found: list[str] = []
    for number in range(5):
        text = row.get(f"option{number}")
        if text is None or text == "N/A":
            break
        found.append(text)
    return texts({"candidates": found}, "candidates", place)
