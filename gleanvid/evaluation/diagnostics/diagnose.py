"""The paper's diagnostics on any clips: geometry and positions of the tokens that are kept.

Every clip is encoded once, and the direction that its tokens share is removed once ("debiased").
Then every compressor is measured on it at every ratio. The paper's complementarity analysis is part
of this: it compares ways to select tokens in a frame, all with GleanVID's token budget per frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from gleanvid import metrics
from gleanvid.compressors import Compressor, method_from
from gleanvid.compressors.ablation import Ablation
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.provenance import describe_model
from gleanvid.evaluation.run.clips import read_clip
from gleanvid.models.encoded import Encoded
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.token_model import TokenModel
from gleanvid.ops.records import whole_record
from gleanvid.types import Compression, ModelError, Video, VideoError
from gleanvid.video.reader import Backend

# ways to select tokens within a frame, compared at equal numbers of tokens per frame
SELECTIONS = ("random", "lrs", "scs", "pairwise", "lrs+scs")
SELECTION_RATIO = 0.15  # retention ratio of the complementarity analysis
POSITION_RATIO = 0.25  # retention ratio at which kept positions are compared with random ones
_QUESTION = "What happens in the video?"  # asked when a method needs a question or runs the model


@dataclass(frozen=True, eq=False)
class Row:
    """Metrics of one compressor on one clip.

    ``name``: one of :data:`SELECTIONS` if ``part`` is "selection", else the compressor's name.
    """

    clip: str
    part: str
    name: str
    retention_ratio: float
    kept: float  # fraction of the visual tokens that reaches the last layer
    # exp of the entropy of the kept tokens' singular values; of their squares (energies); of the
    # squares after subtracting the mean token
    effective_rank: float
    energy_rank: float
    centred_energy_rank: float
    residual_energy: float
    later_residual_energy: float
    coverage_error: float
    energy_outside_span: float
    # mean fraction of a kept token's energy outside the span of the tokens picked before it;
    # NaN if the method does not pick tokens one after another
    energy_outside_picked: float
    raw_effective_rank: float  # effective rank of the tokens before debiasing
    raw_coverage_error: float
    budget_gini: float
    # IoU of the positions kept in two temporal units that are 1, 2 ... 20 units apart; NaN if the
    # clip is too short for that distance
    spatial_iou: tuple[float, ...]
    random_iou: tuple[float, ...]  # expected IoU if each unit kept random positions


@dataclass(frozen=True)
class Skipped:
    """A clip, or a compressor on a clip, that could not be measured."""

    clip: str
    reason: str
    name: str = ""
    retention_ratio: float = 0.0  # ratio that failed; 0 if every ratio failed


def diagnose_clips(
    clips: Sequence[Path],
    model: TokenModel,
    names: Sequence[str],
    ratios: Sequence[float],
    num_frames: int = 32,
    *,
    backend: Backend = "pyav",
    on_clip: Callable[[int, Path], None] | None = None,
) -> Iterator[Row | Skipped]:
    """Measure every compressor at every ratio on each clip, and yield the metrics.

    A clip that cannot be read or encoded gives one :class:`Skipped`. ``names`` are compressors,
    which may have settings in brackets; "full" is measured once, not at every ratio. ``on_clip`` is
    called with the number and path of each clip before it is read. Raises ``ValueError`` if a name
    is unknown or a ratio is outside (0, 1].
    """
    methods = _methods(names, ratios)
    needs = frozenset[str]().union(*(method.needs for *_, method in methods)) - {"text"}
    for number, path in enumerate(clips):
        if on_clip:
            on_clip(number, path)
        try:
            video = read_clip(path, num_frames, backend)
            encoded, missing = _encoded(model, video, needs)
        except (VideoError, ModelError, ValueError, OSError) as error:
            yield Skipped(path.name, str(error))
            continue
        debiased = metrics.debiased(encoded.tokens.features)
        refused = {name: method.needs & missing.keys() for _, name, method in methods}
        for name, signals in refused.items():
            if signals:
                yield Skipped(path.name, missing[min(signals)], name)
        for part, name, method in methods:
            if refused[name]:
                continue
            try:
                record = _record_of(model, encoded, method)
            except (ValueError, ModelError) as error:
                yield Skipped(path.name, str(error), name, method.retention_ratio)
                continue
            raw = encoded.tokens.features.float()
            yield _measured(path.name, part, name, method, debiased, raw, record)


def _encoded(
    model: TokenModel, video: Video, needs: frozenset[str]
) -> tuple[Encoded, dict[str, str]]:
    """Encode a clip with the signals that compressors need, such as saliency.

    Return the encoded clip, and the error message for each signal that the model cannot provide.
    """
    missing: dict[str, str] = {}
    try:
        return model.encode(video, needs), missing
    except ModelError:
        for signal in needs:
            try:
                model.encode(video, frozenset({signal}))
            except ModelError as error:
                missing[signal] = str(error)
        return model.encode(video, needs - missing.keys()), missing


def _methods(names: Sequence[str], ratios: Sequence[float]) -> list[tuple[str, str, Compressor]]:
    asked = sorted({*ratios, POSITION_RATIO}, reverse=True)
    methods: list[tuple[str, str, Compressor]] = []
    for name in dict.fromkeys(names):
        own = [1.0] if isinstance(method_from(name), FullTokens) else asked
        methods += [("compressor", name, method_from(name, ratio)) for ratio in own]
    for selection in SELECTIONS:
        methods.append(("selection", selection, Ablation(SELECTION_RATIO, selection=selection)))
    return methods


def _record_of(model: TokenModel, encoded: Encoded, method: Compressor) -> Compression:
    """Compress a clip and return the compression record after all stages of the method.

    If the method has stages inside the language model or needs a question, the model is run on a
    fixed question.
    """
    fitted = method.at_depth(model.num_layers) if model.num_layers else method
    ahead_alone = [layer for layer, _ in fitted.stages] == [0]
    if ahead_alone and "text" not in method.needs:
        return method.compress(encoded.tokens)
    answer = model.generate(encoded, _QUESTION, method, Sampling(max_new_tokens=1))
    return whole_record(answer.by_layer).to(encoded.tokens.features.device)


def _measured(
    clip: str,
    part: str,
    name: str,
    method: Compressor,
    debiased: Tensor,
    raw: Tensor,
    record: Compression,
) -> Row:
    span = metrics.kept_span(debiased, record)
    by_values, by_energy, by_centred_energy = metrics.effective_dimensions(debiased, record)
    return Row(
        clip=clip,
        part=part,
        name=name,
        retention_ratio=method.retention_ratio,
        kept=record.num_kept / record.num_tokens,
        effective_rank=by_values,
        energy_rank=by_energy,
        centred_energy_rank=by_centred_energy,
        residual_energy=metrics.residual_energy(debiased, record, span),
        later_residual_energy=metrics.later_residual_energy(debiased, record, span),
        coverage_error=metrics.coverage_error(debiased, record, span),
        energy_outside_span=metrics.energy_outside_span(debiased, record, span),
        energy_outside_picked=metrics.energy_outside_picked(debiased, record),
        raw_effective_rank=metrics.effective_dimension(raw, record),
        raw_coverage_error=metrics.coverage_error(raw, record),
        budget_gini=metrics.budget_gini(record),
        spatial_iou=tuple(metrics.spatial_iou_curve(record).tolist()),
        random_iou=tuple(metrics.random_iou_curve(record).tolist()),
    )


def facts(model: TokenModel, clips: Sequence[Path], num_frames: int) -> dict[str, Any]:
    """Return the description of model, frames and clips for the result file."""
    return describe_model(model) | {
        "num_frames": num_frames,
        "clips": [path.name for path in clips],
    }
