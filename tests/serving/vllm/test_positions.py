from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import Qwen2_5_VLModel
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLModel

from gleanvid.serving.vllm import positions as mrope
from gleanvid.serving.vllm.positions import Medium

TEXT, START, END, IMAGE, VIDEO = range(5)
MERGE = 2


@dataclass
class Prompt:
    """A made-up prompt with images and videos, before and after pruning."""

    whole: list[int]
    stays: list[bool]  # for each token of ``whole``: whether it is kept
    # the prompt in vLLM: all kept tokens of a video are in its first frame's place
    pruned: list[int]
    media: list[Medium]
    rows: list[torch.Tensor]  # per image or video: its positions, encoded by ``to_columns``
    grids: dict[str, list[tuple[int, int, int]]]
    seconds: list[float]


def drawn(generator, low, high):
    return int(torch.randint(low, high, (), generator=generator))


def chosen(generator, total):
    mask = torch.rand(total, generator=generator) < 0.3
    mask[drawn(generator, 0, total)] = True
    return mask


def random_prompt(seed, add_video):
    generator = torch.Generator().manual_seed(seed)
    draw = partial(drawn, generator)
    prompt = Prompt([], [], [], [], [], {"image": [], "video": []}, [])
    for _ in range(draw(1, 4)):
        add_text(prompt, draw(1, 6))
        if draw(0, 3):
            add_video(prompt, generator)
        else:
            add_image(prompt, draw(1, 5), draw(1, 5))
    add_text(prompt, draw(1, 6))
    return prompt


def add_text(prompt, count):
    prompt.whole += [TEXT] * count
    prompt.stays += [True] * count
    prompt.pruned += [TEXT] * count


def add_image(prompt, rows, columns):
    count, grid = rows * columns, (1, rows, columns)
    prompt.media.append(Medium(len(prompt.pruned), count, mrope.grid_extent(grid)))
    prompt.rows.append(mrope.to_columns(mrope.grid_rows(torch.arange(count), grid)))
    prompt.grids["image"].append(grid)
    prompt.whole += [IMAGE] * count
    prompt.stays += [True] * count
    prompt.pruned += [IMAGE] * count


def add_framed_video(prompt, generator):
    """Add a Qwen3-VL video: per frame, a timestamp of 1 to 4 tokens, a start and an end mark."""
    draw = partial(drawn, generator)
    grid = units, rows, columns = draw(1, 5), draw(1, 5), draw(1, 5)
    stamps = [draw(1, 5) for _ in range(units)]
    mask = chosen(generator, units * rows * columns).view(units, -1)
    kept, lump = [], []
    for unit, stamp in enumerate(stamps):
        prompt.whole += [TEXT] * stamp + [START] + [VIDEO] * (rows * columns) + [END]
        prompt.stays += [True] * (stamp + 1) + mask[unit].tolist() + [True]
        kept += [TEXT] * stamp + [START] + [VIDEO] * int(mask[unit].sum()) + [END]
        lump += [TEXT] * stamp + [START] + [VIDEO] * (0 if unit else int(mask.sum())) + [END]
    kept = torch.tensor(kept)
    keep = mask.flatten().nonzero().squeeze(1)
    positions = mrope.frame_rows(kept == VIDEO, kept == START, keep, grid)
    extent = mrope.frame_extent(int((kept != VIDEO).sum()), grid)
    prompt.media.append(Medium(len(prompt.pruned), len(lump), extent))
    prompt.rows.append(mrope.to_columns(positions, lead=stamps[0] + 1))
    prompt.grids["video"].append(grid)
    prompt.pruned += lump


def add_plain_video(prompt, generator):
    """Add a Qwen2.5-VL video with no position in time above the largest in space.

    Otherwise, transformers would give the text after it positions that the video already has.
    """
    draw = partial(drawn, generator)
    grid = units, rows, columns = draw(1, 5), draw(1, 5), draw(1, 5)
    second = (max(rows, columns) - 1) / max(units - 1, 1) / 2
    mask = chosen(generator, units * rows * columns)
    keep = mask.nonzero().squeeze(1)
    prompt.media.append(Medium(len(prompt.pruned), len(keep), mrope.grid_extent(grid, 2 * second)))
    prompt.rows.append(mrope.to_columns(mrope.grid_rows(keep, grid, 2 * second)))
    prompt.grids["video"].append(grid)
    prompt.seconds.append(second)
    prompt.whole += [VIDEO] * len(mask)
    prompt.stays += mask.tolist()
    prompt.pruned += [VIDEO] * len(keep)


def by_transformers(model, prompt):
    """Return positions [3, N] of the kept tokens, as transformers computes them without pruning."""
    vision = SimpleNamespace(spatial_merge_size=MERGE, tokens_per_second=2)
    core = SimpleNamespace(
        config=SimpleNamespace(vision_config=vision),
        get_vision_position_ids=partial(model.get_vision_position_ids, None),
    )
    whole = torch.tensor([prompt.whole])
    kinds = (whole == IMAGE) + 2 * (whole == VIDEO)
    patches = {
        f"{name}_grid_thw": torch.tensor([(t, h * MERGE, w * MERGE) for t, h, w in grids])
        for name, grids in prompt.grids.items()
        if grids
    }
    if prompt.seconds:
        patches["second_per_grid_ts"] = torch.tensor(prompt.seconds, dtype=torch.float64)
    positions, _ = model.get_rope_index(core, whole, mm_token_type_ids=kinds, **patches)
    return positions[:, 0, torch.tensor(prompt.stays)]


def in_chunks(prompt, size, cached):
    """Return the positions if vLLM computes the prompt in chunks of ``size`` tokens.

    The first ``cached`` tokens are in its prefix cache, so it computes only those after them.
    """
    length = len(prompt.pruned)
    positions, following = mrope.around(length, prompt.media)
    pruned = torch.tensor(prompt.pruned)
    placeholders = (pruned == IMAGE) | (pruned == VIDEO)
    for computed in range(cached, length, size):
        chunk = []
        for medium, rows in zip(prompt.media, prompt.rows, strict=True):
            first = max(computed - medium.start, 0)
            last = min(computed + size - medium.start, medium.length)
            if first < last:
                chunk.append(mrope.from_columns(rows[first:last].to(torch.bfloat16)))
        positions = mrope.place(positions, placeholders, chunk, computed)
    return positions, following


FAMILIES = [(Qwen3VLModel, add_framed_video), (Qwen2_5_VLModel, add_plain_video)]


@pytest.mark.parametrize(("model", "add_video"), FAMILIES, ids=["qwen3_vl", "qwen2_5_vl"])
@pytest.mark.parametrize("seed", range(12))
def test_kept_tokens_have_their_positions_in_the_full_prompt(model, add_video, seed):
    prompt = random_prompt(seed, add_video)
    expected, length = by_transformers(model, prompt), len(prompt.pruned)
    for size in (1, 3, 7, length):
        for cached in {0, 1, length // 3, length // 2, length - 1}:
            positions, following = in_chunks(prompt, size, cached)
            assert torch.equal(positions[:, cached:], expected[:, cached:])
            assert following == expected.max() + 1


def test_text_after_a_long_video_is_positioned_after_the_last_video_position():
    """As in vLLM and Qwen's code; in transformers 5, positions of text and video overlap."""
    positions, following = mrope.around(5, [Medium(1, 2, mrope.grid_extent((9, 2, 2), 2.0))])
    assert positions[0].tolist() == [0, 17, 17, 18, 19] and following == 20


def test_positions_stored_as_half_precision_numbers_are_decoded_exactly():
    positions = torch.tensor([[70_000, 255, 256], [300, 1, 0]])
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        rows = mrope.from_columns(mrope.to_columns(positions, lead=9).to(dtype))
        assert rows.tolist() == [[70_000, 255, 256, 0, 9], [300, 1, 0, 1, 9]]
