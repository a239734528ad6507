"""A run: one question with its answer, compression records and cost.

Plots, metrics and the app take what they show from runs.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import torch

from gleanvid.cost import Cost
from gleanvid.errors import refusing
from gleanvid.types import Compression, Video

if TYPE_CHECKING:
    from torch import Tensor

_VIDEO_FACTS = ("fps", "duration", "total_frames", "source_size", "name", "backend", "notes")


@dataclass(frozen=True, eq=False)
class Run:
    """One question with its answer, compression records and cost.

    Args:
        video: the frames that the model saw.
        question: the question as it was asked.
        model: name of the model.
        compressor: settings of the compressor, with its "name".
        by_layer: maps a layer of the language model to the record of the compression stage that
            acts before this layer. Layer 0: before the language model.
        answer: the model's answer, without special tokens.
        cost: tokens, seconds, memory and multiply-accumulates.
        seconds: [T, 2], start and end of every temporal unit in seconds.
        rectangles: [N, 4], the part of the frame that each token of a temporal unit shows, in
            pixels of the source (left, top, right, bottom).
        made_with: what is needed to repeat the run, ready for JSON: versions, device, seed,
            sampling.

    >>> run = ask("assets/clips/glimpse_1.mp4", "What is there?", max_new_tokens=4, num_frames=4)
    >>> run.compression.num_kept, list(run.seconds.shape), list(run.rectangles.shape)
    (50, [2, 2], [100, 4])
    """

    video: Video
    question: str
    model: str
    compressor: Mapping[str, object]
    by_layer: Mapping[int, Compression]
    answer: str
    cost: Cost
    seconds: Tensor
    rectangles: Tensor
    made_with: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        words = f"{_short(self.question)!r} -> {_short(self.answer)!r}"
        counts = f"{self.cost.visual_tokens_kept} of {self.cost.visual_tokens} tokens kept"
        setup = f"{self.compressor['name']}, {counts}, {_short(self.model)}"
        return f"Run({_short(self.video.name)!r}, {words}, {setup})"

    @property
    def compression(self) -> Compression:
        """Compression record of the first stage; of most methods, before the language model."""
        return self.by_layer[min(self.by_layer)]

    @property
    def device_memory_mib(self) -> float:
        """Peak GPU memory in MiB; NaN without CUDA: ``cost`` then has the memory of the process."""
        is_own = str(self.made_with.get("device", "")).startswith("cuda")
        return self.cost.peak_memory_mib if is_own else math.nan

    def with_decode_s(self, seconds: float) -> Run:
        """Return the run with the ``seconds`` of decoding the video file in its cost."""
        return replace(self, cost=replace(self.cost, decode_s=seconds))

    def summary(self) -> dict[str, Any]:
        """Return all fields except the arrays, ready for JSON."""
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

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of ``run.npz`` by name: frames, records, geometry. No copies."""
        own = {
            "frames": self.video.frames,
            "timestamps": self.video.timestamps,
            "indices": self.video.indices,
            "seconds": self.seconds.numpy(),
            "rectangles": self.rectangles.numpy(),
        }
        for layer, record in self.by_layer.items():
            own |= {f"{layer}/{name}": value for name, value in record.arrays().items()}
        return own

    def save(self, directory: str | Path) -> Path:
        """Write run.json and run.npz (frames, records, geometry); returns the directory."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(folder / "run.npz", **self.arrays())  # type: ignore[arg-type]
        text = json.dumps(self.summary(), indent=2, ensure_ascii=False)
        (folder / "run.json").write_text(text + "\n", encoding="utf-8")
        return folder

    @classmethod
    def load(cls, directory: str | Path) -> Run:
        """Load a run that :meth:`save` wrote. Raises ``ValueError`` for any other folder."""
        folder = Path(directory)
        text, damaged = f"{folder} does not hold a whole saved run", (EOFError, BadZipFile)
        with refusing(ValueError, text, OSError, zlib.error, *damaged, because=True):
            facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            return cls.of(facts, dict(np.load(folder / "run.npz", allow_pickle=False)))

    @classmethod
    def of(cls, facts: Mapping[str, Any], arrays: Mapping[str, Any]) -> Run:
        """Build a run from the contents of ``run.json`` and ``run.npz``, see :meth:`save`.

        Raises ``KeyError``, ``TypeError`` or ``ValueError`` if the contents are not those of a run.
        """
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


@cache
def versions(*names: str) -> dict[str, str]:
    """Return the versions of packages; of those that an answer depends on, if none is named."""
    found = {}
    for name in names or ("gleanvid", "torch", "transformers"):
        with suppress(PackageNotFoundError):  # a source tree that was not installed
            found[name] = version(name)
    return found


def made_with(
    hf_model: Any, sampling: Mapping[str, Any], max_pixels: int | None, earlier_turns: int = 0
) -> dict[str, Any]:
    """Return what is needed to repeat a run, ready for JSON.

    ``max_pixels``: limit on the pixels of all frames together. ``earlier_turns``: their number.
    """
    return {
        "versions": versions(),
        "device": str(hf_model.device),
        "dtype": str(hf_model.dtype),
        **sampling,
        "max_pixels": max_pixels,
        "earlier_turns": earlier_turns,
    }


def _record(arrays: Mapping[str, np.ndarray], layer: str, grid: Sequence[int]) -> Compression:
    before = f"{layer}/"
    own = {name.removeprefix(before): a for name, a in arrays.items() if name.startswith(before)}
    return Compression.of(own, grid)


def _short(text: str, most: int = 50) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def mask_arrays(record: Compression) -> dict[str, np.ndarray]:
    """Return the arrays of a compression record for other programs, by name.

    "keep" [K], "group" [L] and "weight" [L] are those of :class:`Compression`. "budgets" [T] is
    the number of output tokens of each temporal unit. "score/NAME" [L] is a score of each token.
    "mask", bool [T, rows, columns], is True for kept tokens; it is left out if an earlier
    compression stage has dropped tokens of the grid.
    """
    arrays = {name: getattr(record, name).cpu().numpy() for name in ("keep", "group", "weight")}
    arrays["budgets"] = record.budgets.cpu().numpy()
    if record.num_tokens == int(np.prod(record.grid)):
        arrays["mask"] = record.mask.cpu().numpy().reshape(record.grid)
    scores = {name: score.float().cpu().numpy() for name, score in record.scores.items()}
    return arrays | {f"score/{name}": score for name, score in scores.items()}
