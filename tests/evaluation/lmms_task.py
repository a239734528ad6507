"""A tiny local task for LMMs-Eval, and the same questions as a benchmark of our own runner."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gleanvid.api.pipeline import MAX_SIDE
from gleanvid.evaluation.benchmarks.base import Benchmark, Item, chosen
from gleanvid.video import read_video
from tests.video.clips import write_clip

_TASK = """\
task: tiny_videos
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_visual: !function tiny.visual
doc_to_text: !function tiny.text
doc_to_target: answer
generation_kwargs: {{max_new_tokens: 8, do_sample: false}}
process_results: !function tiny.verdict
metric_list:
  - {{metric: right, aggregation: mean, higher_is_better: true}}
"""
_FUNCTIONS = """\
def visual(doc):
    return [doc["video"]]


def text(doc, lmms_eval_specific_kwargs=None):
    return doc["question"]


def verdict(doc, results):
    return {"right": float(results[0] == doc["answer"])}
"""
QUESTIONS = ("What happens first?", "What colour is it?", "How many things are there?")


@dataclass(frozen=True)
class Tiny(Benchmark):
    """Benchmark from ``rows.jsonl`` in a folder; an answer must equal the expected text."""

    name: ClassVar[str] = "tiny"
    how: ClassVar[str] = "text"
    ways: ClassVar[tuple[str, ...]] = ("text",)
    max_new_tokens: ClassVar[int] = 8

    data: str = ""

    def items(self, limit=None, seed=0):
        return chosen(
            [
                Item(str(number), row["video"], row["question"], (row["answer"], "-"), 0)
                for number, row in enumerate(rows(Path(self.data)))
            ],
            limit,
            seed,
        )

    def video(self, clip, num_frames):
        return read_video(clip, num_frames, max_side=MAX_SIDE)

    def right(self, item, response):
        return response == item.right_option


def rows(root: Path) -> list[dict]:
    text = (root / "rows.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def make(root: Path) -> Path:
    """Write three clips with three questions each; the second clip is unreadable."""
    found = []
    for number in range(3):
        clip = root / f"clip{number}.mp4"
        write_clip(clip, num_frames=12 + 6 * number)
        if number == 1:
            clip.write_bytes(b"no video")
        found += [{"video": str(clip), "question": asked, "answer": "?"} for asked in QUESTIONS]
    save(root, found)
    (root / "tiny.yaml").write_text(_TASK.format(rows=root / "rows.jsonl"), encoding="utf-8")
    (root / "tiny.py").write_text(_FUNCTIONS, encoding="utf-8")
    return root


def save(root: Path, found: list[dict]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in found)
    (root / "rows.jsonl").write_text(text, encoding="utf-8")
