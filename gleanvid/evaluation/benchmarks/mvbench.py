"""MVBench: 20 tasks of temporal understanding in short clips, 200 questions each.

Li et al., CVPR 2024, https://arxiv.org/abs/2311.17005, data OpenGVLab/MVBench. Prompt and verdict
are those of the tasks ``mvbench_*`` of LMMs-Eval 0.7.3; the score is the mean over the tasks.
LMMs-Eval leaves empty answers out of the count; here they count as wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from gleanvid.evaluation.benchmarks.annotations import Row, letter, position, read_rows, texts
from gleanvid.evaluation.benchmarks.base import BenchmarkError, Item
from gleanvid.evaluation.benchmarks.letters import lone_letter
from gleanvid.evaluation.benchmarks.published import Published, find, lettered

# task -> the folder of its clips on the dataset's branch "video" (cut to the question's time span,
# if any) and on the branch "main" (whole)
TASKS = {
    "action_sequence": ("star/Charades_segment", "star/Charades_v1_480"),
    "moving_count": ("clevrer/video_validation", "clevrer/video_validation"),
    "action_prediction": ("star/Charades_segment", "star/Charades_v1_480"),
    "episodic_reasoning": ("tvqa/video_fps3_hq_segment", "tvqa/frames_fps3_hq"),
    "action_antonym": ("ssv2_video_mp4", "ssv2_video"),
    "action_count": ("perception/videos", "perception/videos"),
    "scene_transition": ("scene_qa/video", "scene_qa/video"),
    "object_shuffle": ("perception/videos", "perception/videos"),
    "object_existence": ("clevrer/video_validation", "clevrer/video_validation"),
    "fine_grained_pose": ("nturgbd_convert", "nturgbd"),
    "unexpected_action": ("FunQA_test/test", "FunQA_test/test"),
    "moving_direction": ("clevrer/video_validation", "clevrer/video_validation"),
    "state_change": ("perception/videos", "perception/videos"),
    "object_interaction": ("star/Charades_segment", "star/Charades_v1_480"),
    "character_order": ("perception/videos", "perception/videos"),
    "action_localization": ("sta/sta_video_segment", "sta/sta_video"),
    "counterfactual_inference": ("clevrer/video_validation", "clevrer/video_validation"),
    "fine_grained_action": ("Moments_in_Time_Raw/videos", "Moments_in_Time_Raw/videos"),
    "moving_attribute": ("clevrer/video_validation", "clevrer/video_validation"),
    "egocentric_navigation": ("vlnqa", "vlnqa"),
}
CUT = {  # tasks whose questions are about a time span within a clip
    *("action_sequence", "action_prediction", "object_interaction"),
    *("action_localization", "episodic_reasoning"),
}


@dataclass(frozen=True)
class MVBench(Published):
    """MVBench, read from ``json/<task>.json`` and the clips.

    Clips of the dataset's branch "main" are whole. If a question is about a time span, only that
    span of its clip is read. ``tasks``: comma-separated names of the tasks to ask (empty: all 20).
    """

    name: ClassVar[str] = "mvbench"
    repository: ClassVar[str] = "OpenGVLab/MVBench"
    revision: ClassVar[str | None] = "video"
    average: ClassVar[str] = "groups"
    columns: ClassVar[tuple[str, ...]] = tuple(TASKS)
    picture_fps: ClassVar[float] = 3.0

    tasks: str = ""

    @property
    def chosen_tasks(self) -> list[str]:
        """Names of the chosen tasks. Raises :class:`BenchmarkError` for an unknown one."""
        names = self.tasks.split(",") if self.tasks else list(TASKS)
        if unknown := [name for name in names if name not in TASKS]:
            raise BenchmarkError(f"task {unknown[0]!r} must be one of {', '.join(TASKS)}")
        return names

    def annotations(self, root: Path) -> list[Path]:
        home = root / "json" if (root / "json").is_dir() else root
        return [home / f"{task}.json" for task in self.chosen_tasks]

    def rows(self, root: Path) -> Iterator[Item]:
        for task, path in zip(self.chosen_tasks, self.annotations(root), strict=True):
            columns = ("video", "question", "candidates", "answer")
            for number, (place, row) in enumerate(read_rows(path, columns)):
                options = texts(row, "candidates", place)
                yield Item(
                    id=f"{task}/{number}",
                    clip=_clip(root, task, row, place),
                    question=row["question"],
                    options=options,
                    answer=position(row["answer"], options, place),
                    groups=(task,),
                )

    def prompt(self, item: Item) -> str:
        options = lettered(item.options, "({letter}) {text}")
        return f"Question:{item.question}\nOption:\n{options}\nOnly give the best option.\n"

    def right(self, item: Item, response: str) -> bool:
        return lone_letter(response) == letter(item.answer)


def _clip(root: Path, task: str, row: Row, place: str) -> str:
    cut_folder, folder = TASKS[task]
    video = PurePosixPath(row["video"])
    names = [f"{home}{cut_folder}/{video}" for home in ("", "data0613/", "video/")]
    if task not in CUT:
        return find(root, [*names, f"{folder}/{video}", f"video/{folder}/{video}"], place)
    part = row.get("start"), row.get("end")
    if None not in part:
        segment = video.with_name(f"{video.stem}_{part[0]}_{part[1]}").as_posix()
        names += [f"{cut_folder}/{segment}{suffix}" for suffix in (video.suffix, ".mp4")]
    clip = find(root, names, place)
    if (root / clip).exists() or None in part:
        return clip
    whole = find(root, [f"{folder}/{video}", f"video/{folder}/{video}"], place)
    start, end = (_seconds(value, place) for value in part)
    return f"{whole}#t={start:g},{end:g}"


def _seconds(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BenchmarkError(f"{place}: start and end must be seconds, not {value!r}")
    return float(value)
