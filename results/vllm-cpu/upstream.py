"""Show faults of vLLM 0.32.0 in the positions of pruned videos: ``python upstream.py``.

Every case calls a function of vLLM, without an engine, on a prompt of three frames of 2 x 2 tokens.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch
from vllm.model_executor.models.qwen3_5 import Qwen3_5ForConditionalGeneration
from vllm.model_executor.models.qwen3_vl import Qwen3VLForConditionalGeneration
from vllm.multimodal.video_prune.evs import compute_mrope_for_media, recompute_mrope_positions

START, END, IMAGE, VIDEO, TEXT = 3, 4, 5, 6, 9
IDS = {"vision_start_token_id": START, "image_token_id": IMAGE, "video_token_id": VIDEO}
STAMP = 2  # number of text tokens in a time stamp
KEPT = (4, 2, 2)  # number of tokens kept of each frame


def video_rows() -> torch.Tensor:
    """Return Qwen3-VL's [5, video's prompt tokens]: t, h, w, is vision start, is video token."""
    rows, at = [], 0
    for kept in KEPT:
        rows += [(at + step, at + step, at + step, 0, 0) for step in range(STAMP)]
        at += STAMP
        rows.append((at, at, at, 1, 0))
        at += 1
        rows += [(at, at + place // 2, at + place % 2, 0, 1) for place in range(kept)]
        at += 2
        rows.append((at, at, at, 0, 0))
        at += 1
    return torch.tensor(rows).T


def placeholders() -> list[int]:
    """Return the video's token ids in the prompt; all kept tokens are listed in frame 1."""
    counts = (sum(KEPT), 0, 0)
    frames = [[TEXT] * STAMP + [START] + [VIDEO] * count + [END] for count in counts]
    return [token for frame in frames for token in frame]


def outer_marks() -> str:
    """Return vLLM's error if START and END also enclose the whole video (transformers 5.10)."""
    prompt = torch.tensor([TEXT, START, *placeholders(), END, TEXT])
    try:
        recompute_mrope_positions(prompt, [video_rows()], _counted(prompt), 0, **IDS)
    except RuntimeError as error:
        return f"RuntimeError: {error}"
    return "no error"


def chunked_prefill() -> str:
    """Compare the positions of a prompt computed at once and in chunks of 9 and 14 tokens."""
    prompt, rows = torch.tensor([TEXT, *placeholders(), TEXT, TEXT]), video_rows()
    whole, _ = recompute_mrope_positions(prompt, [rows], _counted(prompt), 0, **IDS)
    first, _ = recompute_mrope_positions(prompt, [rows[:, :8]], _counted(prompt), 0, **IDS)
    second, _ = recompute_mrope_positions(prompt, [rows[:, 8:]], first, 9, **IDS)
    wrong = int((whole != second).any(0).sum())
    return f"{whole[0].tolist()}\n  {second[0].tolist()}\n  {wrong} of {len(prompt)} differ"


def cached_prefix() -> str:
    """Compare the last two tokens' positions: video computed, or found in the prefix cache."""
    prompt, rows = [TEXT, *placeholders(), TEXT, TEXT], video_rows()
    config = SimpleNamespace(
        video_token_id=VIDEO,
        vision_start_token_id=START,
        vision_end_token_id=END,
        vision_config=SimpleNamespace(spatial_merge_size=2),
    )
    grid = SimpleNamespace(data=torch.tensor([3, 4, 4]))
    feature = SimpleNamespace(
        modality="video", mm_position=SimpleNamespace(offset=1), data={"video_grid_thw": grid}
    )
    initial, _ = Qwen3VLForConditionalGeneration._get_mrope_input_positions(
        prompt, [feature], config
    )
    ids, cached = torch.tensor(prompt), len(prompt) - 2
    read, _ = recompute_mrope_positions(ids, [rows], initial, 0, **IDS)
    hit, _ = recompute_mrope_positions(ids, [], initial, cached, **IDS)
    return f"last two columns read {read[0, -2:].tolist()}, after a hit {hit[0, -2:].tolist()}"


def half_precision() -> str:
    """Round positions as vLLM does: it appends them to the embeddings, in bfloat16."""
    positions = torch.tensor([[255], [257], [1001]])
    columns = torch.cat([torch.zeros(3, 1, dtype=torch.bfloat16), positions], 1)[:, 1]
    return f"{positions[:, 0].tolist()} -> {columns.dtype} {columns.long().tolist()}"


def fractions_of_a_second() -> str:
    """Compare Qwen2.5-VL's time positions of 0.5 s units; vLLM's pruning truncates 0.5 s to 0."""
    pruned = int(torch.tensor([0.5]).long())  # as _postprocess_video_embeds_evs does
    times = [
        compute_mrope_for_media([3, 4, 4], 2, 2, second)[:, 0].unique().tolist()
        for second in (0.5, pruned)
    ]
    return f"times of the units {times[0]}, pruned {times[1]}"


def qwen35_method() -> str:
    """Return whether Qwen3.5's constructor sets ``video_pruning_method``."""
    names = Qwen3_5ForConditionalGeneration.__init__.__code__.co_names
    called = "_init_video_pruning" in names or "video_pruning_method" in names
    return f"Qwen3_5ForConditionalGeneration.__init__ sets video_pruning_method: {called}"


def _counted(prompt: torch.Tensor) -> torch.Tensor:
    return torch.arange(len(prompt)).expand(3, -1)


if __name__ == "__main__":
    for case in (
        outer_marks,
        chunked_prefill,
        cached_prefix,
        half_precision,
        fractions_of_a_second,
        qwen35_method,
    ):
        print(f"{case.__name__}\n  {case()}")
