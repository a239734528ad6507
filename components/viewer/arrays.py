"""Pack the masks, scores and merge groups of all runs into one binary file for the viewer.

Masks are bits, the other arrays are small little-endian integers. Every array starts at an offset
that is a multiple of four bytes; the viewer's JSON gives the offset. In shapes, L is the number of
visual tokens of the clip.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gleanvid.attribution.relevance import Relevance
from gleanvid.compressors.shared.apportion import budget_quotas, largest_remainder
from gleanvid.metrics import diagnostics_of
from gleanvid.run import Run
from gleanvid.types import Compression, VideoTokens

from .features import effective_ranks, new_energies, ranks_so_far
from .values import Map, Mattered, Measures, Method, Record, Score, Split, Stage

if TYPE_CHECKING:
    from torch import Tensor

SCORE_LABELS = {  # scores shown first, in this order; other scores keep their own names
    "joint": "joint score",
    "lrs": "LRS",
    "scs": "SCS",
}
# Maximum size of the file. Above it, only the first score of every compression stage is sent.
DATA_BYTES = 12 * 2**20
# Scores are sent as 16-bit integers.
_STEPS = 65534  # integer of the highest score
_ABSENT = 65535  # integer of a token without a score


class Arena:
    """The content of the binary file, to which arrays are appended."""

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

    ``layer``: the layer from which on the language model reads the result. ``record``: what became
    of all L tokens of the clip by then. ``scores``: by name, [L], NaN for tokens dropped earlier.
    If a compressor first acts inside the language model, a layer-0 stage of all tokens is first.
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
    """Yield (name, score) for each score with a value per token; ``SCORE_LABELS`` come first."""
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
    tokens: VideoTokens | None = None,
    relevance: Relevance | None = None,
) -> Method:
    """Return the JSON of one run for the viewer, and append its arrays to ``arena``.

    Args:
        run: the run.
        label: its name in the viewer.
        arena: content of the binary file.
        tokens: all encoded tokens of the clip, which give the effective ranks.
        relevance: how relevant each token is for the answer.
    """
    novelty = run.compression.trace.get("novelty")
    packed: list[Stage] = []
    for layer, record, scores in stages(run):
        of_grid = tokens if tokens is not None and tokens.grid == record.grid else None
        packed.append(
            {
                "layer": layer,
                **_pack_record(record, arena),
                "scores": _pack_scores(scores, arena),
                **_measures(run, record, of_grid),
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
    """Return how GleanVID split the tokens over the units: alpha and the novelty Gini.

    Returns None if alpha is unknown, or if the budgets computed from alpha are not the run's.
    """
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


def _measures(run: Run, record: Compression, tokens: VideoTokens | None) -> Measures:
    """Return ranks and residual energy of each unit, saved or computed; None if unknown."""
    found = diagnostics_of(run) if record is run.compression else None
    if found is not None:
        energy = rounded(found.residual_energy_by_unit)
        return {
            "rank": rounded(found.effective_rank_by_unit),
            "span": rounded(found.effective_rank_so_far),
            "energy": [None if value != value else value for value in energy],
        }
    if tokens is None:
        return {"rank": None, "span": None, "energy": None}
    return {
        "rank": effective_ranks(tokens, record),
        "span": ranks_so_far(tokens, record),
        "energy": new_energies(tokens, record),
    }


def _mattered(run: Run, relevance: Relevance | None) -> list[float] | None:
    """Return the fractions of relevance on the kept, the most relevant, and random tokens.

    All three count the same number of tokens, and are averaged over the language model's layers.
    """
    depth = len(run.cost.visual_tokens_by_layer)
    if relevance is None or relevance.grid != run.compression.grid:
        return None
    # A stage acts at a layer that ``cost`` has no token count for: the mean is unknown.
    if max(run.by_layer) >= max(depth, 1):
        return None
    return [round(value, 4) for value in relevance.kept_over_layers(run.by_layer, depth).values()]


def pack_relevance(found: Relevance, arena: Arena) -> Mattered:
    """Return the JSON of the relevance maps: one for the whole answer, then one for each word.

    Each map is scaled to its own maximum.
    """
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
    """Return the JSON of a compression record, with the merge groups if tokens were merged."""
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


def _pack_scores(scores: Mapping[str, Tensor], arena: Arena) -> list[Score]:
    packed: list[Score] = []
    for key, score in scores.items():
        values = score.numpy()
        known = np.isfinite(values)
        if not known.any():
            continue
        name = SCORE_LABELS.get(key, key)
        if packed and arena.size + 2 * len(values) > DATA_BYTES:
            continue
        low, high = float(values[known].min()), float(values[known].max())
        levels = np.full(len(values), _ABSENT)
        levels[known] = np.rint((values[known] - low) / ((high - low) or 1.0) * _STEPS)
        place = arena.add(levels.astype("<u2"))
        packed.append({"name": key, "label": name, "low": low, "high": high, "place": place})
    return packed


def rounded(values: Tensor) -> list[float]:
    return [float(f"{float(value):.6g}") for value in values]
