"""A run: one question, its answer, records and cost. Plots, metrics and the app read runs only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gleanvid.types import Compression, Video

if TYPE_CHECKING:
    from torch import Tensor

_VIDEO_FACTS = ("fps", "duration", "total_frames", "source_size", "name", "backend", "notes")


@dataclass(frozen=True)
class Cost:
    """What a run took. Seconds are wall clock, synchronised with the device.

    >>> run = ask("assets/clips/glimpse_1.mp4", "What moves?", max_new_tokens=4, num_frames=4)
    >>> run.cost.average_retention, run.cost.flops_reduction > 0.5
    (0.25, True)
    """

    visual_tokens: int  # entering the language model without compression
    visual_tokens_kept: int  # entering layer 0
    prompt_tokens: int  # whole prompt, before compression
    prompt_tokens_kept: int
    decode_s: float  # reading the video file
    encode_s: float  # vision tower and projector; 0.0 where the clip was cached
    compress_s: float
    prefill_s: float  # language model, prompt to first token
    generate_s: float  # first token to last
    new_tokens: int
    peak_memory_mib: float
    prefill_flops: float  # multiply-accumulates (two operations each), Eq. llm_flops
    prefill_flops_full: float  # the same for the whole prompt
    visual_tokens_by_layer: tuple[int, ...] = ()  # entering each layer, at prefill

    @property
    def average_retention(self) -> float:
        """Share of the visual tokens that a layer of the language model sees, on average."""
        seen = self.visual_tokens_by_layer or (self.visual_tokens_kept,)
        return sum(seen) / len(seen) / self.visual_tokens

    @property
    def flops_reduction(self) -> float:
        """Share of prefill FLOPs saved (Eq. flops_reduction)."""
        return 1.0 - self.prefill_flops / self.prefill_flops_full

    @property
    def ttft_s(self) -> float:
        """Time to first token: encode, compress and prefill."""
        return self.encode_s + self.compress_s + self.prefill_s

    @property
    def tokens_per_s(self) -> float:
        return (self.new_tokens - 1) / self.generate_s if self.generate_s > 0 else 0.0


def visual_tokens_by_layer(
    by_layer: Mapping[int, Compression], total: int, num_layers: int
) -> tuple[int, ...]:
    """Visual tokens entering every layer: a stage's record counts from its layer on."""
    counts, entering = [], total
    for layer in range(num_layers):
        entering = by_layer[layer].num_kept if layer in by_layer else entering
        counts.append(entering)
    return tuple(counts)


@dataclass(frozen=True, eq=False)
class Run:
    """One question answered: everything shown or measured is a function of this.

    ``by_layer`` maps the language-model layer that a stage acts before (0 = ahead of the model) to
    its record. ``seconds`` [T, 2] and ``rectangles`` [N, 4] place the tokens in the source.
    ``made_with`` says what it takes to make the run again: versions, device, seed, sampling.

    >>> run = ask("assets/clips/glimpse_1.mp4", "What moves?", max_new_tokens=4, num_frames=4)
    >>> run.compression.num_kept, list(run.seconds.shape), list(run.rectangles.shape)
    (50, [2, 2], [100, 4])
    """

    video: Video
    question: str
    model: str
    compressor: Mapping[str, object]  # settings, with "name"
    by_layer: Mapping[int, Compression]
    answer: str
    cost: Cost
    seconds: Tensor
    rectangles: Tensor
    made_with: Mapping[str, Any] = field(default_factory=dict)  # ready for JSON

    def __repr__(self) -> str:
        said = f"{_short(self.question)!r} -> {_short(self.answer)!r}"
        kept = f"{self.cost.visual_tokens_kept} of {self.cost.visual_tokens} tokens kept"
        how = f"{self.compressor['name']}, {kept}, {_short(self.model)}"
        return f"Run({_short(self.video.name)!r}, {said}, {how})"

    @property
    def compression(self) -> Compression:
        """The record of the stage ahead of the language model."""
        return self.by_layer[min(self.by_layer)]

    def summary(self) -> dict[str, Any]:
        """Everything but the arrays, ready for JSON."""
        derived = ("average_retention", "flops_reduction", "ttft_s", "tokens_per_s")
        return {
            "question": self.question,
            "answer": self.answer,
            "model": self.model,
            "compressor": dict(self.compressor),
            "made_with": dict(self.made_with),
            "budgets": self.compression.budgets.tolist(),
            "trace": {name: value.tolist() for name, value in self.compression.trace.items()},
            "cost": asdict(self.cost) | {name: getattr(self.cost, name) for name in derived},
            "video": {name: getattr(self.video, name) for name in _VIDEO_FACTS}
            | {"num_frames": len(self.video)},
            "layers": {str(layer): list(item.grid) for layer, item in self.by_layer.items()},
        }

    def save(self, directory: str | Path) -> Path:
        """Write run.json and run.npz (frames, records, geometry); returns the directory."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {
            "frames": self.video.frames,
            "timestamps": self.video.timestamps,
            "indices": self.video.indices,
            "seconds": self.seconds.numpy(),
            "rectangles": self.rectangles.numpy(),
        }
        for layer, record in self.by_layer.items():
            arrays |= {f"{layer}/{name}": value for name, value in record_arrays(record).items()}
        np.savez_compressed(folder / "run.npz", **arrays)
        text = json.dumps(self.summary(), indent=2, ensure_ascii=False)
        (folder / "run.json").write_text(text + "\n", encoding="utf-8")
        return folder

    @classmethod
    def load(cls, directory: str | Path) -> Run:
        """Read what :meth:`save` wrote. Raises ``ValueError`` where it is not a saved run."""
        folder = Path(directory)
        try:
            facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            return cls.of(facts, dict(np.load(folder / "run.npz", allow_pickle=False)))
        except (OSError, KeyError, TypeError, AttributeError, RuntimeError) as error:
            raise ValueError(f"{folder} does not hold a whole saved run ({error!r})") from error

    @classmethod
    def of(cls, facts: Mapping[str, Any], arrays: Mapping[str, Any]) -> Run:
        """The run of which :meth:`save` wrote this. Raises ``KeyError`` and the like for others."""
        cost = Cost(**{name: facts["cost"][name] for name in Cost.__dataclass_fields__})
        cost = replace(cost, visual_tokens_by_layer=tuple(cost.visual_tokens_by_layer))
        video = dict(facts["video"], notes=tuple(facts["video"]["notes"]))
        video["source_size"] = tuple(video["source_size"])
        video.pop("num_frames")
        return cls(
            Video(*(arrays[name] for name in ("frames", "timestamps", "indices")), **video),
            facts["question"],
            facts["model"],
            facts["compressor"],
            {int(layer): _record(arrays, layer, g) for layer, g in facts["layers"].items()},
            facts["answer"],
            cost,
            torch.from_numpy(arrays["seconds"]),
            torch.from_numpy(arrays["rectangles"]),
            facts.get("made_with", {}),
        )


def _short(text: str, most: int = 50) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def mask_arrays(record: Compression) -> dict[str, np.ndarray]:
    """A record for other programs.

    "keep" [K], "group" and "weight" [L], "budgets" [T], "score/NAME" and, of a whole grid, "mask"
    [T, rows, columns].
    """
    arrays = {name: getattr(record, name).cpu().numpy() for name in ("keep", "group", "weight")}
    arrays["budgets"] = record.budgets.cpu().numpy()
    if record.num_tokens == int(np.prod(record.grid)):
        arrays["mask"] = record.mask.cpu().numpy().reshape(record.grid)
    scores = {name: score.float().cpu().numpy() for name, score in record.scores.items()}
    return arrays | {f"score/{name}": score for name, score in scores.items()}


def record_arrays(record: Compression) -> dict[str, np.ndarray]:
    """All of a record by name, as :meth:`Run.save` writes it."""
    arrays = {name: getattr(record, name).numpy() for name in ("keep", "group", "weight")}
    for part in ("scores", "trace", "state"):
        arrays |= {f"{part}/{name}": value.numpy() for name, value in getattr(record, part).items()}
    if record.mixing is not None:
        sparse = record.mixing.coalesce()
        arrays |= {
            "mixing/places": sparse.indices().numpy(),
            "mixing/values": sparse.values().numpy(),
        }
    return arrays


def _record(arrays: Mapping[str, np.ndarray], layer: str, grid: list[int]) -> Compression:
    own = {
        name.removeprefix(f"{layer}/"): torch.from_numpy(value)
        for name, value in arrays.items()
        if name.startswith(f"{layer}/")
    }

    def part(prefix: str) -> dict[str, Tensor]:
        return {n.removeprefix(prefix): v for n, v in own.items() if n.startswith(prefix)}

    mixing = None
    if "mixing/places" in own:
        size = (len(own["keep"]), len(own["group"]))
        mixing = torch.sparse_coo_tensor(
            own["mixing/places"], own["mixing/values"], size, check_invariants=True
        ).coalesce()
    kept = own["keep"], (grid[0], grid[1], grid[2]), own["group"], own["weight"]
    return Compression(*kept, part("scores/"), part("trace/"), mixing, part("state/"))
