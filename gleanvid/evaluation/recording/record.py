"""Writes recordings: files with a clip's tokens and answers, to study without the model."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor

from gleanvid.api.pipeline import answer, encode, score
from gleanvid.compressors.base import Compressor
from gleanvid.evaluation.files import whole_file
from gleanvid.evaluation.provenance import describe_machine, describe_model, public_name
from gleanvid.evaluation.recording.file_format import (
    KEY,
    STORED,
    SUFFIX,
    VERSION,
    read_features,
    stored_features,
)
from gleanvid.evaluation.recording.recorded_relevance import measure_each, named
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import ClipKey, Encoded
from gleanvid.models.generation.sampling import Sampling
from gleanvid.run import Run
from gleanvid.types import Video, VideoTokens

_QUALITY = 90  # JPEG quality of the frames, which are for display only


@dataclass(frozen=True)
class Wanted:
    """What to record of a clip, and how.

    Every question is answered under every one of ``methods``. ``signals``: further inputs of
    compressors, such as "saliency". ``features``: the precision of the features, one of ``STORED``.
    Raises ``ValueError`` if a question is empty or ``features`` is not one of ``STORED``.
    """

    questions: tuple[str, ...] = ()
    methods: tuple[Compressor, ...] = ()
    signals: frozenset[str] = frozenset()
    features: str = "exact"
    max_new_tokens: int = 64
    clip_licence: str = ""
    weights_licence: str = ""
    relevance: bool = False  # whether to record a relevance map for every question

    def __post_init__(self) -> None:
        if self.features not in STORED:
            raise ValueError(f"features={self.features!r} must be one of {', '.join(STORED)}")
        if not all(question.strip() for question in self.questions):
            raise ValueError("question must not be empty")

    @property
    def all_signals(self) -> frozenset[str]:
        """The signals to record: those in ``signals`` and those that the methods need.

        A question's text, which some methods need, is not recorded.
        """
        return self.signals.union(*(method.needs for method in self.methods)) - {"text"}


def record(
    model: ModelAdapter,
    video: Video,
    wanted: Wanted,
    path: Path,
    on_size: Callable[[int], None] | None = None,
) -> dict[str, float]:
    """Write the recording of one clip.

    ``on_size`` is called with the size of the tensors in bytes, before the questions are asked.
    Returns the result of :func:`changed_shares`. Raises ``ModelError`` if the model cannot do what
    is ``wanted``, and ``ValueError`` if the file's name does not end in ``SUFFIX`` or the file
    cannot be written.
    """
    if not path.name.endswith(SUFFIX):
        raise ValueError(f"a recording's name ends in {SUFFIX}, not {path.name}")
    clip = ClipKey(video, model.name, None, wanted.all_signals)
    encoded, _ = encode(clip, model)
    tensors = _clip_tensors(encoded, wanted.features)
    if on_size:
        on_size(sum(tensor.nbytes for tensor in tensors.values()))
    changed = changed_shares(encoded.tokens, tensors, wanted.methods)
    asked = [(question, method) for question in wanted.questions for method in wanted.methods]
    runs: list[dict[str, Any]] = []
    refused: list[str] = []
    for question, method in asked:
        try:
            run = answer(clip, question, model, method, Sampling(wanted.max_new_tokens))
            likely = score(clip, question, [run.answer], model, method)[0]
        except ValueError as error:  # the method cannot reach this ratio
            refused.append(f"{method.name} at {method.retention_ratio:g}: {error}")
            continue
        tensors |= _record_tensors(run, len(runs))
        told = {"model": public_name(run.model), "log_probability": likely}
        runs.append(run.summary() | told)
    questions = wanted.questions if wanted.relevance else ()
    maps = measure_each(model, encoded, questions, wanted.max_new_tokens)
    tensors |= {named(number): found.tokens for number, found in enumerate(maps)}
    facts = _facts(model, encoded, wanted) | {"runs": runs, "refused": refused}
    facts |= {"relevance": [found.summary() for found in maps]} if maps else {}
    facts["features"] = {"stored": wanted.features, "changed": changed}
    _save(path, tensors, facts)
    return changed


def changed_shares(
    tokens: VideoTokens, tensors: dict[str, Tensor], methods: Sequence[Compressor]
) -> dict[str, float]:
    """Return the fraction of kept tokens that change with the precision of stored features.

    Each method chooses tokens from the exact and from the stored features. The keys name method
    and retention ratio. Methods that need a question or act inside the language model are left out.
    """
    stored = read_features(tensors, tokens.features.dtype)
    given = {name: getattr(tokens, name) for name in ("saliency", "keys")}
    given = {name: None if rows is None else rows.cpu() for name, rows in given.items()}
    shares = {}
    for method in methods:
        if [layer for layer, _ in method.stages] != [0] or "text" in method.needs:
            continue
        with suppress(ValueError):  # the method cannot reach this ratio
            kept = [
                set(method.compress(VideoTokens(rows, tokens.grid, **given)).keep.tolist())
                for rows in (tokens.features.cpu(), stored)
            ]
            label = f"{method.name} at {method.retention_ratio:g}"
            shares[label] = 1 - len(kept[0] & kept[1]) / len(kept[0])
    return shares


def _clip_tensors(encoded: Encoded, how: str) -> dict[str, Tensor]:
    tokens, video = encoded.tokens, encoded.video
    files = [_jpeg(frame) for frame in video.frames]
    tensors = stored_features(tokens.features.cpu(), how)
    tensors |= {name: rows.cpu() for name, rows in encoded.signals.items()}
    tensors["seconds"], tensors["rectangles"] = tokens.placed()
    tensors["frames"] = torch.frombuffer(bytearray(b"".join(files)), dtype=torch.uint8)
    tensors["frame_ends"] = torch.tensor([len(file) for file in files]).cumsum(0)
    tensors["timestamps"] = torch.from_numpy(np.asarray(video.timestamps, np.float64))
    tensors["indices"] = torch.from_numpy(np.asarray(video.indices, np.int64))
    return tensors


def _jpeg(frame: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(frame).save(file, "JPEG", quality=_QUALITY)
    return file.getvalue()


def _record_tensors(run: Run, number: int) -> dict[str, Tensor]:
    return {
        f"run/{number}/{layer}/{name}": torch.from_numpy(value)
        for layer, made in run.by_layer.items()
        for name, value in made.arrays().items()
    }


def _facts(model: ModelAdapter, encoded: Encoded, wanted: Wanted) -> dict[str, Any]:
    named = describe_model(model)
    config: Any = model.hf_model.config
    about = named | {
        "model": public_name(model.name),
        "family": config.model_type,
        "class": type(model.hf_model).__name__,
        "dtype": str(encoded.tokens.features.dtype).removeprefix("torch."),
        "layers": model.num_layers,
        "max_pixels": model.max_pixels,
    }
    names = ("fps", "duration", "total_frames", "source_size", "name", "backend", "notes")
    return {
        "version": VERSION,
        "grid": list(encoded.tokens.grid),
        "model": about,
        "machine": describe_machine(model.device),
        "video": {name: getattr(encoded.video, name) for name in names}
        | {"frame_size": list(encoded.video.frames.shape[1:3])},
        "encode_s": encoded.encode_s,
        "licence": {"clip": wanted.clip_licence, "weights": wanted.weights_licence},
    }


def _save(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    whole = {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
    try:
        with whole_file(path) as part:
            save_file(whole, part, metadata={KEY: json.dumps(facts, ensure_ascii=False)})
            part.chmod(0o644)  # safetensors makes files that only their owner can read
    except OSError as error:
        raise ValueError(f"cannot write {path.name}: {error}") from error
