"""Invariants of every method that acts before the language model, checked on synthetic clips.

A broken one raises ``ContractError``. The docstring of each check is its line in the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import torch
from torch import Tensor

from gleanvid.compressors.base import Compressor, declared_settings
from gleanvid.compressors.record_check import ContractError, check_record, require
from gleanvid.types import VideoTokens

Check = Callable[[Compressor, VideoTokens], None]
LARGEST = (8, 5, 7)
GRIDS = ((6, 4, 5), LARGEST, (1, 4, 4), (3, 1, 1), (1, 1, 1))
RATIOS = (0.05, 0.25, 0.6, 1.0)
DEPTH = 28  # number of layers of the language model that methods are set up for
_SIGNALS = ("saliency", "keys", "text")


def made_up(grid: tuple[int, int, int], needs: frozenset[str], seed: int = 0) -> VideoTokens:
    """Return random tokens of a scene that changes a little from unit to unit.

    They have the signals named in ``needs``, also random.
    """
    generator = torch.Generator().manual_seed(seed)
    units, count = grid[0], grid[1] * grid[2]
    scene = torch.randn(1, count, 24, generator=generator)
    features = (scene + 0.3 * torch.randn(units, count, 24, generator=generator)).flatten(0, 1)
    signals: dict[str, Any] = {
        "saliency": torch.rand(units * count, generator=generator),
        "keys": torch.randn(units * count, 8, generator=generator),
        "text": torch.randn(5, 24, generator=generator),
    }
    return VideoTokens(features, grid, **{name: signals[name] for name in needs & {*_SIGNALS}})


def keeps_its_budget(method: Compressor, tokens: VideoTokens) -> None:
    """Keeps as many tokens as its retention ratio says."""
    kept, asked = method.compress(tokens).num_kept, method.budget(tokens)
    require(kept == asked, f"keeps {kept} of {len(tokens)} tokens instead of {asked}")


def says_where_tokens_went(method: Compressor, tokens: VideoTokens) -> None:
    """Returns a valid record of where every token went."""
    record = method.compress(tokens)
    check_record(record, tokens, method.merges)
    finite = bool(torch.isfinite(record.apply(tokens.features)).all())
    require(finite, "returns features that are NaN or infinite")


def is_the_identity_at_ratio_one(method: Compressor, tokens: VideoTokens) -> None:
    """Is the identity at retention_ratio=1.0."""
    record = replace(method, retention_ratio=1.0).compress(tokens)
    same = not record.merges and torch.equal(record.apply(tokens.features), tokens.features)
    require(same, "changes tokens at retention_ratio=1.0")


def repeats_itself_and_spares_its_input(method: Compressor, tokens: VideoTokens) -> None:
    """Makes the same choice twice and never changes its input."""
    before = {name: part.clone() for name, part in _tensors(tokens)}
    first = method.compress(tokens)
    for name, part in _tensors(tokens):
        require(torch.equal(part, before[name]), f"changes tokens.{name} in place")
    again = method.compress(tokens)
    same = torch.equal(first.keep, again.keep) and torch.equal(first.weight, again.weight)
    require(same, "chooses differently when called again")


def computes_in_float32(method: Compressor, tokens: VideoTokens) -> None:
    """Makes the same choice for half-precision features as for their float32 copies."""
    for dtype in (torch.bfloat16, torch.float16):
        half = replace(tokens, features=tokens.features.to(dtype))
        copy = replace(half, features=half.features.float())
        one, two = method.compress(half), method.compress(copy)
        same = torch.equal(one.keep, two.keep) and torch.equal(one.weight, two.weight)
        require(same, f"chooses differently in {dtype} than for the same numbers in float32")


def takes_a_blank_clip(method: Compressor, tokens: VideoTokens) -> None:
    """Meets its budget on a blank clip."""
    blank = {name: torch.zeros_like(part) for name, part in _tensors(tokens)}
    record = method.compress(replace(tokens, **blank))  # type: ignore[arg-type]
    kept, asked = record.num_kept, method.budget(tokens)
    require(kept == asked, f"keeps {kept} tokens of a blank clip instead of {asked}")
    require(not record.apply(blank["features"]).any(), "makes non-zero values of a blank clip")


def works_at_the_ends_of_its_settings(method: Compressor, tokens: VideoTokens) -> None:
    """Works with every choice of a setting, and at both ends of a setting's range."""
    for name, value in _ends(method) if tokens.grid == LARGEST else ():
        try:
            changed = replace(method, **{name: value})  # type: ignore[arg-type]
        except ValueError:  # contradicts another setting: nothing to check
            continue
        try:
            says_where_tokens_went(changed, made_up(tokens.grid, changed.needs))
        except Exception as error:
            if not _is_refusal(error):
                raise ContractError(f"with {name}={value!r}: {_reason(error)}") from error


RUNS = "Compresses without an exception and returns a valid record."

CHECKS: tuple[Check, ...] = (
    keeps_its_budget,
    says_where_tokens_went,
    is_the_identity_at_ratio_one,
    repeats_itself_and_spares_its_input,
    computes_in_float32,
    takes_a_blank_clip,
    works_at_the_ends_of_its_settings,
)


def first_error(check: Check, make: Callable[[float], Compressor]) -> tuple[Exception | None, str]:
    """Run a check on every synthetic clip; return its first error and the error's message.

    None and "" if the check passes. ``make`` returns the method for a retention ratio. Ratios that
    the method refuses are skipped.
    """
    for grid, ratio in product(GRIDS, RATIOS):
        try:
            method = make(ratio)
        except ValueError:
            continue
        try:
            check(method, made_up(grid, method.needs))
        except Exception as error:
            if not (method.keeps_whole and _is_refusal(error)):
                return error, f"{_reason(error)} (grid {grid}, retention_ratio={ratio})"
    return None, ""


def findings(method: type[Compressor]) -> dict[str, str]:
    """Run all checks; return the error message of each by its description, "" if it passed.

    Only the stage before the language model is checked; without one the result is empty. After an
    exception other than ``ContractError`` no more checks are run: most would meet it, too.
    """
    if 0 not in dict(method().at_depth(DEPTH).stages):
        return {}

    def first_stage(ratio: float) -> Compressor:
        return dict(method(ratio).at_depth(DEPTH).stages)[0]

    found: dict[str, str] = {}
    for check in CHECKS:
        error, message = first_error(check, first_stage)
        if error and not isinstance(error, ContractError):
            return found | {RUNS: f"{message}, while checking: {check.__doc__}"}
        found[check.__doc__ or ""] = message
    return found


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, ValueError) and "out of reach" in str(error)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ContractError) else f"{type(error).__name__}: {error}"


def _tensors(tokens: VideoTokens) -> Iterator[tuple[str, Tensor]]:
    for name in ("features", *_SIGNALS):
        if (part := getattr(tokens, name)) is not None:
            yield name, part


def _ends(method: Compressor) -> Iterator[tuple[str, object]]:
    """Yield (name, value) for the choices or ends of every setting but ``retention_ratio``."""
    for name, (_, kind, about) in declared_settings(type(method)).items():
        ends = (True, False) if kind is bool else about.choices or (about.low, about.high)
        for value in ends if name != "retention_ratio" else ():
            if value is not None and about.accepts(value, kind):
                yield name, value if about.choices else kind(value)
