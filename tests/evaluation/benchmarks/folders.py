"""Write small benchmark folders in exactly their published formats, with made-up content."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from PIL import Image
from pyarrow import parquet

from tests.video.clips import picture, write_clip

# task -> (path of its clip on the dataset's branch "video", name of the clip in the annotations)
MVBENCH = {
    "action_sequence": ("star/Charades_segment/ABCDE_1.0_2.5.mp4", "ABCDE_1.0_2.5.mp4"),
    "moving_count": ("clevrer/video_validation/video_10009.mp4", "video_10009.mp4"),
    "unexpected_action": ("FunQA_test/test/test_humor/H_1.mp4", "test_humor/H_1.mp4"),
}


def write_rows(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def clip(path: Path, **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_clip(path, **({"num_frames": 20} | options))


def mvbench_rows(task: str, video: str, count: int = 2, **columns) -> list[dict]:
    return [
        {
            "video": video,
            "question": f"What happened in {task} {number}?",
            "candidates": ["a door opened", "nothing", "a cup fell"],
            "answer": ("nothing", "a cup fell")[number % 2],
            **columns,
        }
        for number in range(count)
    ]


def mvbench(root: Path) -> Path:
    """Write MVBench as on the dataset's branch "video", where clips are already cut."""
    for task, (path, video) in MVBENCH.items():
        clip(root / path)
        write_rows(root / "json" / f"{task}.json", mvbench_rows(task, video))
    return root


def mvbench_main(root: Path) -> Path:
    """Write MVBench as on the dataset's branch "main": uncut clips, annotated segments."""
    clip(root / "video/star/Charades_v1_480/ABCDE.mp4", num_frames=90)
    rows = mvbench_rows("action_sequence", "ABCDE.mp4", start=1.0, end=2.0)
    write_rows(root / "json/action_sequence.json", rows)
    folder = root / "video/tvqa/frames_fps3_hq/castle_s01e01_seg02_clip_00"
    folder.mkdir(parents=True)
    for number in range(1, 31):
        Image.fromarray(picture(number)).save(folder / f"{number:05d}.png")
    rows = mvbench_rows("episodic_reasoning", folder.name, start=2.0, end=6.0)
    write_rows(root / "json/episodic_reasoning.json", rows)
    return root


def longvideobench_rows() -> list[dict]:
    return [
        {
            "video_id": "86CxyhFV9MI",
            "question": "When the subtitle says 'hello', what is shown?",
            "question_wo_referring_query": "What is shown?",
            "candidates": ["a cat", "a dog", "a tree", "a bird", "a fish"],
            "correct_choice": 3,
            "position": [1, 2],
            "topic_category": "NP-News-Programs",
            "question_category": "T2O",
            "level": "L1-Perception",
            "id": "86CxyhFV9MI_0",
            "video_path": "86CxyhFV9MI.mp4",
            "subtitle_path": "86CxyhFV9MI_en.json",
            "duration_group": 600,
            "starting_timestamp_for_subtitles": 0,
            "duration": 190.16,
            "view_count": 259852,
        },
        {
            "video_id": "x_Y2",
            "question": "Who came first?",
            "candidates": ["Ann", "Bob"],
            "correct_choice": 0,
            "question_category": "E3E",
            "id": "x_Y2_1",
            "video_path": "x_Y2.mp4",
            "duration_group": 15,
            "duration": 12.0,
        },
    ]


def longvideobench(root: Path) -> Path:
    for row in longvideobench_rows():
        clip(root / "videos" / row["video_path"])
    write_rows(root / "lvb_val.json", longvideobench_rows())
    return root


def longvideobench_parquet_rows() -> list[dict]:
    rows = longvideobench_rows()
    for row in rows:
        found = row.pop("candidates")
        row |= {f"option{n}": found[n] if n < len(found) else "N/A" for n in range(5)}
    return rows


def mlvu_rows() -> list[dict]:
    tasks = ("plotQA", "needle", "plotQA", "count")
    return [
        {
            "video_name": f"{task}_{number}.mp4",
            "duration": 480.0,
            "question": f"What colour is it {number}?\n(A) Yellow\n(B) Red\n(C) Green\n(D) Blue",
            "candidates": ["Yellow", "Red", "Green", "Blue"],
            "answer": "ABCD"[number],
            "task_type": task,
        }
        for number, task in enumerate(tasks)
    ]


def mlvu(root: Path) -> Path:
    for row in mlvu_rows():
        clip(root / row["video_name"])
    write_rows(root / "mlvu" / "test-00000-of-00001.parquet", mlvu_rows())
    return root


def mlvu_test(root: Path) -> Path:
    tasks = ("sportsQA", "needleQA", "plotQA", "tutorialQA")
    rows = [row | {"task_type": task} for row, task in zip(mlvu_rows(), tasks, strict=True)]
    for row in rows:
        clip(root / row["video_name"])
    write_rows(root / "mlvu_test" / "test-00000-of-00001.parquet", rows)
    return root


def mlvu_authors(root: Path) -> Path:
    stems = {
        "1_plotQA": "plotQA",
        "2_needle": "findNeedle",
        "3_ego": "ego",
        "4_count": "count",
        "5_order": "order",
        "6_anomaly_reco": "anomaly_reco",
        "7_topic_reasoning": "topic_reasoning",
    }
    for stem, kind in stems.items():
        clip(root / "MLVU" / "video" / stem / f"{kind}_1.mp4")
        row = {
            "video": f"{kind}_1.mp4",
            "duration": 480.0,
            "question": "What colour is it?",
            "candidates": ["Yellow", "Red", "Green", "Blue"],
            "answer": "Red",
            "question_type": kind,
        }
        write_rows(root / "MLVU" / "json" / f"{stem}.json", [row])
    return root


def videomme_rows() -> list[dict]:
    return [
        {
            "video_id": f"{1 + number // 2:03d}",
            "duration": ("short", "short", "medium", "long")[number],
            "domain": "Knowledge",
            "sub_category": "Humanity & History",
            "url": f"https://www.youtube.com/watch?v=vid{number // 2}",
            "videoID": f"vid{number // 2}",
            "question_id": f"{1 + number // 2:03d}-{1 + number % 2}",
            "task_type": "Counting Problem",
            "question": f"How many apples are there {number}?",
            "options": ["A. One.", "B. Two.", "C. Three.", "D. Four."],
            "answer": "BADC"[number],
        }
        for number in range(4)
    ]


def videomme(root: Path) -> Path:
    for row in videomme_rows():
        clip(root / "data" / f"{row['videoID']}.mp4")
    write_rows(root / "videomme" / "test-00000-of-00001.parquet", videomme_rows())
    return root
