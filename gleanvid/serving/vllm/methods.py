"""Which methods an engine can serve, and the one that a server was started with.

An engine sizes the prompt from the grid and the rate, before the vision tower runs, and reuses the
tokens for any question. So a method must choose from the features alone, before the language model,
only drop tokens, and keep an exact number of them. Its class says whether it does.
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
        return "it merges tokens, and the engine takes only tokens that are as they were"
    if method.stages != ((0, method),):
        return "it acts inside the language model, where the engine runs its own kernels"
    if "text" in method.needs:
        return "it looks at the question, and the engine chooses before there is one"
    if method.needs:
        return f"it needs the vision tower's {' and '.join(sorted(method.needs))}, never given out"
    if method.keeps_whole:
        return f"it keeps {method.keeps_whole} whatever the ratio, and the count is fixed before"
    if not getattr(method, "exact", True):
        return "exact=False drifts from the count that the engine has fixed"
    if declared_settings(type(method))["retention_ratio"][2].low == 1:
        return "it drops nothing: leave out --video-pruning-rate"
    return None


def servable() -> list[str]:
    """Return the names of the methods that an engine can serve with default settings."""
    return [name for name, method in COMPRESSORS.items() if refusal(method()) is None]


def chosen_method(given: Any, pruning_rate: float | None) -> Compressor | None:
    """Return the method of ``--additional-config '{"gleanvid": ...}'``; None if ``given`` is None.

    ``given`` is a method as on the command line, or its settings. Raises ``ValueError`` for a
    method that cannot be served.

    >>> chosen_method({"name": "gleanvid", "tau": 2.0}, pruning_rate=0.75).tau
    2.0
    """
    if given is None:
        return None
    settings = settings_in(given) if isinstance(given, str) else given
    if not isinstance(settings, Mapping) or "name" not in settings:
        raise ValueError(
            f"gleanvid={given!r} in --additional-config must be the name of a method, or its "
            'settings with a "name"'
        )
    if "retention_ratio" in settings:
        raise ValueError(
            "retention_ratio is not set in --additional-config: --video-pruning-rate says which "
            "share goes, so that 0.75 keeps 0.25"
        )
    method = from_settings(settings)
    if reason := refusal(method):
        raise ValueError(
            f"{method.name} cannot be served by vLLM: {reason}. These can: {', '.join(servable())}"
        )
    if not pruning_rate:
        raise ValueError(
            f"{method.name} needs a share of tokens to drop: start with --video-pruning-rate, "
            "e.g. 0.75"
        )
    return method


def kept_count(grid: tuple[int, int, int], pruning_rate: float, *, whole_unit: bool) -> int:
    """Return how many tokens of a video stay, as vLLM counts them for the prompt.

    ``grid`` (units, rows, columns). The count is rounded down, but at least one token per unit
    (``--video-pruning-method vidcom2``), or with ``whole_unit`` the tokens of one unit (``evs``,
    and Qwen2.5-VL always).

    >>> kept_count((8, 10, 10), 0.75, whole_unit=False)
    200
    """
    units, rows, columns = grid
    total = units * rows * columns
    least = rows * columns if whole_unit else units
    return max(least, min(int(total * (1.0 - pruning_rate)), total))


def choose(method: Compressor, features: Tensor, grid: tuple[int, int, int], count: int) -> Tensor:
    """Return what ``method`` keeps of one video's rows [L, D]: int64 [count], ascending.

    Values that are not finite (after an overflow in the tower) count as zeros: an exception would
    end the engine and every other request.
    """
    rows = torch.nan_to_num(features, posinf=0.0, neginf=0.0)
    exact = replace(method, retention_ratio=count / len(rows))
    return exact.compress(VideoTokens(rows, grid)).keep
