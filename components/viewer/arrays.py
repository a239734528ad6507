"""Masks, scores and merge groups of each run, as arrays in one binary file for the viewer.

Masks are bits, the other arrays are small little-endian integers. Every array starts at an offset
that is a multiple of four bytes; the viewer's JSON gives the offset. In shapes, L is the number of
tokens in the whole grid, T the number of units, K the number of kept rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gleanvid.attribution.relevance import Relevance
from gleanvid.metrics import diagnostics_of
from gleanvid.ops.apportion import budget_quotas, largest_remainder
from gleanvid.run import Run
from gleanvid.types import Compression, VideoTokens

from .features import effective_ranks, ranks_so_far
from .values import Map, Mattered, Method, Record, Score, Split, Stage

if TYPE_CHECKING:
    from torch import Tensor

SCORE_LABELS = {  # scores shown first, in this order; other scores keep their own names
    "joint": "joint score",
    "lrs": "LRS",
    "scs": "SCS",
}
# Limit of the file's size. Above it, only the first score of every stage is sent.
DATA_BYTES = 12 * 2**20
_STEPS = 65534  # highest level of a score that is rounded to 16 bits
_ABSENT = 65535  # level of a token that has no score


class Arena:
    """Binary file to which arrays are appended."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def add(self, array: np.ndarray) -> int:
        """Append an array; return the byte offset at which it starts."""
        content = array.tobytes()
        start = self.size
        self._parts += [content, bytes(-len(content) % 4)]
        self.size += len(content) + len(self._parts[-1])
        return start

    def content(self) -> bytes:
        return b"".join(self._parts)


def stages(run: Run) -> Iterator[tuple[int, Compression, Mapping[str, Tensor]]]:
    """Yield (layer, record, scores) for every stage that drops, merges or scores tokens.

    Every record covers the whole grid. Scores have the shape [L], NaN for tokens dropped earlier.
    A method that first acts inside the language model begins with all tokens at layer 0.
    """
    units, rows, columns = run.compression.grid
    everything = torch.arange(units * rows * columns)
    whole: Compression | None = None
    if min(run.by_layer) > 0:
        whole = Compression.pruned(everything, run.compression.grid)
        yield 0, whole, {}
    for layer, record in sorted(run.by_layer.items()):
        if whole is None or record.num_tokens == len(everything) == whole.num_kept:
            places, after = everything, record
        else:
            places, after = whole.keep, whole.then(record)
        scores = {key: _placed(score, places, len(everything)) for key, score in _own(record)}
        if whole is None or scores or after.num_kept != whole.num_kept or record.merges:
            yield layer, after, scores
        whole = after


def _own(record: Compression) -> Iterator[tuple[str, Tensor]]:
    """Yield (name, score) for scores with a value per token; ``SCORE_LABELS`` first."""
    known = [key for key in SCORE_LABELS if key in record.scores]
    for key in dict.fromkeys([*known, *record.scores]):
        if record.scores[key].shape == (record.num_tokens,):
            yield key, record.scores[key]


def _placed(score: Tensor, places: Tensor, total: int) -> Tensor:
    spread = torch.full((total,), math.nan, dtype=torch.float64)
    spread[places] = score.detach().double().cpu()
    return spread


def pack_run(
    run: Run,
    label: str,
    arena: Arena,
    left_out: list[str],
    tokens: VideoTokens | None = None,
    relevance: Relevance | None = None,
) -> Method:
    """Return one run for the viewer: stages, effective ranks, novelty if known.

    ``left_out`` gets the names of scores that are not sent.
    """
    novelty = run.compression.trace.get("novelty")
    packed: list[Stage] = []
    for layer, record, scores in stages(run):
        of_grid = tokens if tokens is not None and tokens.grid == record.grid else None
        packed.append(
            {
                "layer": layer,
                **_pack_record(record, arena),
                "scores": _pack_scores(scores, arena, label, left_out),
                "rank": _ranks(run, record, of_grid),
                "span": None if of_grid is None else ranks_so_far(of_grid, record),
            }
        )
    return {
        "name": str(run.compressor.get("name", "")),
        "label": label,
        "stages": packed,
        "mattered": _mattered(run, relevance),
        "first": next((s["layer"] for s in packed if s["kept"] < s["tokens"]), 0),
        "novelty": None if novelty is None else rounded(novelty),
        "split": _split(run),
    }


def _split(run: Run) -> Split | None:
    """Return alpha and the novelty Gini; None if they do not explain the run's budgets."""
    record, trace = run.compression, run.compression.trace
    units, rows, columns = record.grid
    if not {"share", "alpha", "gini"} <= trace.keys() or len(trace["share"]) != units:
        return None
    quotas = budget_quotas(trace["share"], trace["alpha"])
    budgets = largest_remainder(quotas, record.num_kept, rows * columns)
    if not torch.equal(budgets, record.budgets.cpu()):
        return None
    settings: Mapping[str, Any] = run.compressor
    bounds = [float(settings[name]) for name in ("alpha_min", "alpha_max") if name in settings]
    alpha, gini = (float(f"{trace[name]:.4g}") for name in ("alpha", "gini"))
    return {"alpha": alpha, "bounds": bounds, "gini": gini}


def _ranks(run: Run, record: Compression, tokens: VideoTokens | None) -> list[float] | None:
    """Return the effective rank of every unit, saved with the run or computed now."""
    diagnostics = diagnostics_of(run) if record is run.compression else None
    if diagnostics is not None:
        return rounded(diagnostics.effective_rank_by_unit)
    return None if tokens is None else effective_ranks(tokens, record)


def _mattered(run: Run, relevance: Relevance | None) -> list[float] | None:
    """Return the relevance of the kept tokens, of the most relevant and of random tokens.

    All three sets have the same number of tokens. Each value is a fraction of the relevance of all
    tokens, averaged over layers.
    """
    depth = len(run.cost.visual_tokens_by_layer)
    if relevance is None or relevance.grid != run.compression.grid:
        return None
    # The run has a stage at a layer beyond the known layers, so the mean over layers is unknown.
    if max(run.by_layer) >= max(depth, 1):
        return None
    return [round(value, 4) for value in relevance.kept_over_layers(run.by_layer, depth).values()]


def pack_relevance(found: Relevance, arena: Arena) -> Mattered:
    """Return relevance maps of the whole answer, then of each word; each map has its own scale."""
    return {
        "question": found.question,
        "answer": found.answer,
        "grid": list(found.grid),
        "maps": [_pack_map(*one, arena) for one in (("", found.tokens), *found.words)],
    }


def _pack_map(word: str, values: Tensor, arena: Arena) -> Map:
    high = float(values.max())
    levels = np.rint(values.double().numpy() / high * 65535).astype("<u2")
    return {"word": word, "high": high, "place": arena.add(levels)}


def _pack_record(record: Compression, arena: Arena) -> Record:
    """Return the mask; after merging, also the kept token that each token became."""
    entry: Record = {
        "kept": record.num_kept,
        "tokens": record.num_tokens,
        "budgets": record.budgets.tolist(),
        "mask": arena.add(np.packbits(record.mask.cpu().numpy())),
    }
    if record.merges:
        group = record.group.cpu()
        home = torch.where(group >= 0, record.keep.cpu()[group.clamp(min=0)], -1).numpy()
        weight = np.nan_to_num(record.weight.detach().cpu().double().numpy())
        entry |= {
            "home": arena.add(home.astype("<i4")),
            "weight": arena.add(np.rint(weight.clip(0, 1) * 65535).astype("<u2")),
            "mixed": record.mixing is not None,
        }
    return entry


def _pack_scores(
    scores: Mapping[str, Tensor], arena: Arena, label: str, left_out: list[str]
) -> list[Score]:
    packed: list[Score] = []
    for key, score in scores.items():
        values = score.numpy()
        known = np.isfinite(values)
        if not known.any():
            continue
        name = SCORE_LABELS.get(key, key)
        if packed and arena.size + 2 * len(values) > DATA_BYTES:
            left_out.append(f"{name} of {label}")
            continue
        low, high = float(values[known].min()), float(values[known].max())
        levels = np.full(len(values), _ABSENT)
        levels[known] = np.rint((values[known] - low) / ((high - low) or 1.0) * _STEPS)
        place = arena.add(levels.astype("<u2"))
        packed.append({"name": key, "label": name, "low": low, "high": high, "place": place})
    return packed


def rounded(values: Tensor) -> list[float]:
    return [float(f"{float(value):.6g}") for value in values]
