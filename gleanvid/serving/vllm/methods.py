"""Which methods vLLM's engine can serve, and the method that a server was started with.

The engine sizes the prompt from token grid and pruning rate before the vision tower runs, and it
reuses a video's tokens for every question. So a method must choose tokens from their features
alone, before the language model; it must only drop tokens, and keep exactly as many as the prompt
has room for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from gleanvid.compressors import (
    COMPRESSORS,
    Compressor,
    declared_settings,
    from_settings,
    settings_in,
)
from gleanvid.types import VideoTokens

if TYPE_CHECKING:
    from torch import Tensor


def refusal(method: Compressor) -> str | None:
    """Return why an engine cannot serve this method; None if it can."""
    if method.merges:
        return "it merges tokens, and the engine accepts only unchanged tokens"
    if method.stages != ((0, method),):
        return "it acts inside the language model, where the engine runs its own kernels"
    if "text" in method.needs:
        return "it looks at the question, and the engine chooses before there is one"
    if method.needs:
        return (
            f"it needs the vision tower's {' and '.join(sorted(method.needs))}, "
            "which vLLM does not pass on"
        )
    if method.keeps_whole:
        return f"it keeps {method.keeps_whole} whatever the ratio, and vLLM needs an exact count"
    if not getattr(method, "exact", True):
        return "exact=False may keep more or fewer tokens than the prompt has room for"
    if declared_settings(type(method))["retention_ratio"][2].low == 1:
        return "it drops nothing: leave out --video-pruning-rate"
    return None


def servable() -> list[str]:
    """Return the names of the methods that an engine can serve with default settings."""
    return [name for name, method in COMPRESSORS.items() if refusal(method()) is None]


def chosen_method(given: Any, pruning_rate: float | None) -> Compressor:
    """Return the method given in ``--additional-config '{"gleanvid": ...}'``.

    ``given`` is the method as text, e.g. ``"gleanvid(tau=2)"``, or a mapping of its settings.
    Raises ``ValueError`` if the method cannot be served.

    >>> chosen_method({"name": "gleanvid", "tau": 2.0}, pruning_rate=0.75).tau
    2.0
    """
    settings = settings_in(given) if isinstance(given, str) else given
    if not isinstance(settings, Mapping) or "name" not in settings:
        raise ValueError(
            f"gleanvid={given!r} in --additional-config must be the name of a method, or its "
            'settings with a "name"'
        )
    if "retention_ratio" in settings:
        raise ValueError(
            "retention_ratio cannot be set in --additional-config: --video-pruning-rate is the "
            "fraction of tokens to drop, so 0.75 keeps 0.25"
        )
    method = from_settings(settings)
    if reason := refusal(method):
        raise ValueError(
            f"{method.name} cannot be served by vLLM: {reason}. These can: {', '.join(servable())}"
        )
    if not pruning_rate:
        raise ValueError(
            f"{method.name} needs the fraction of tokens to drop: start the server with "
            "--video-pruning-rate, e.g. 0.75"
        )
    return method


def kept_count(grid: tuple[int, int, int], pruning_rate: float, *, whole_unit: bool) -> int:
    """Return how many tokens of a video are kept, as vLLM counts them for the prompt.

    ``grid`` is (units, rows, columns) of the tokens. The count is rounded down. It is at least one
    token per temporal unit, as with vLLM's option ``--video-pruning-method vidcom2``. With
    ``whole_unit`` it is at least the number of tokens in one temporal unit. vLLM requires that
    with ``--video-pruning-method evs``, and always with Qwen2.5-VL.

    >>> kept_count((8, 10, 10), 0.75, whole_unit=False)
    200
    """
    units, rows, columns = grid
    total = units * rows * columns
    least = rows * columns if whole_unit else units
    return max(least, min(int(total * (1.0 - pruning_rate)), total))


def choose(method: Compressor, features: Tensor, grid: tuple[int, int, int], count: int) -> Tensor:
    """Return the indices of the tokens that ``method`` keeps, int64 [count], ascending.

    ``features`` [L, D]: the tokens of one video. NaN and infinite values (from an overflow in the
    vision tower) count as zeros: an exception would end the engine and with it all other requests.
    """
    rows = torch.nan_to_num(features, posinf=0.0, neginf=0.0)
    exact = replace(method, retention_ratio=count / len(rows))
    return exact.compress(VideoTokens(rows, grid)).keep
