"""LMMs-Eval tasks for the clips of ``glimpse make``.

The task ``glimpse``, for large models, asks for the letter of an option. The task ``glimpse_words``
suits the built-in model: it asks for words and compares them with the right answer.
"""

from __future__ import annotations

import json
from pathlib import Path

_TASK = """\
task: {task}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {questions}}}}}
test_split: test
output_type: generate_until
doc_to_visual: !function glimpse_task.visual
doc_to_text: !function glimpse_task.{ask}
doc_to_target: answer
generation_kwargs: {{max_new_tokens: 16, do_sample: false}}
process_results: !function glimpse_task.{judge}
metric_list:
  - {{metric: right, aggregation: mean, higher_is_better: true}}
"""
_FUNCTIONS = '''\
"""What LMMs-Eval asks about the clips of this folder, and which answers are right."""

import re
from pathlib import Path

LETTERS = "ABCD"
ASK = "Answer with the letter of one option."


def visual(row):
    return [str(Path(__file__).parent / row["clip"])]


def words(row, lmms_eval_specific_kwargs=None):
    return row["text"]


def letters(row, lmms_eval_specific_kwargs=None):
    options = [f"{letter}. {text}" for letter, text in zip(LETTERS, row["options"])]
    return "\\n".join([row["text"], *options, ASK])


def right_word(row, results):
    return {"right": float(results[0].strip().strip(".").lower() == row["answer"].lower())}


def right_letter(row, results):
    letter = re.match(r"\\W*([A-D])\\b", results[0])
    right = LETTERS[row["options"].index(row["answer"])]
    return {"right": float(letter is not None and letter.group(1) == right)}
'''


def write_tasks(folder: Path) -> None:
    """Write ``glimpse.yaml``, ``glimpse_words.yaml`` and their functions into ``folder``."""
    questions = json.dumps(str((folder / "questions.jsonl").resolve()))
    for task, ask, judge in (
        ("glimpse", "letters", "right_letter"),
        ("glimpse_words", "words", "right_word"),
    ):
        text = _TASK.format(task=task, questions=questions, ask=ask, judge=judge)
        (folder / f"{task}.yaml").write_text(text, encoding="utf-8")
    (folder / "glimpse_task.py").write_text(_FUNCTIONS, encoding="utf-8")
