"""Setups: a setup is a compressor with its settings, and a number of frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from gleanvid.compressors import method_from
from gleanvid.compressors.base import Compressor
from gleanvid.compressors.full_tokens import FullTokens

SEEDS = (0, 1, 2, 3, 4)  # a method that chooses tokens at random is averaged over these seeds


@dataclass(frozen=True)
class Setup:
    """A compressor with its settings, on ``num_frames`` frames: one row of a results table."""

    method: Compressor
    num_frames: int

    @cached_property
    def key(self) -> str:
        """The setup's name in a journal."""
        return f"{described(self.method)}@{self.num_frames}"

    @property
    def title(self) -> str:
        """The method's title, with the settings that are not defaults."""
        own = changed_settings(self.method)
        settings = ", ".join(f"{name} {value}" for name, value in own.items())
        return self.method.title + (f" ({settings})" if settings else "")

    @property
    def retention_ratio(self) -> float:
        return self.method.retention_ratio

    @cached_property
    def draws(self) -> tuple[Setup, ...]:
        """The setups to run: one per seed if the method is random, else only this one."""
        if not self.method.is_random:
            return (self,)
        seeds: list[dict[str, Any]] = [{"seed": seed} for seed in SEEDS]
        return tuple(Setup(replace(self.method, **seed), self.num_frames) for seed in seeds)


def described(method: Compressor) -> str:
    """Return a method's name, ratio and non-default settings.

    For example: ``gleanvid(retention_ratio=0.25, tau=2.0)``.
    """
    settings = {"retention_ratio": method.retention_ratio} | changed_settings(method)
    return f"{method.name}({', '.join(f'{name}={value!r}' for name, value in settings.items())})"


def changed_settings(method: Compressor) -> dict[str, Any]:
    """Return the settings that differ from the defaults, without the retention ratio."""
    return {
        item.name: value
        for item in fields(method)
        if item.name != "retention_ratio" and (value := getattr(method, item.name)) != item.default
    }


def grid(names: Sequence[str], ratios: Sequence[float | None], num_frames: int) -> list[Setup]:
    """Return a setup with all tokens, then one for every method at every ratio below 1.

    ``names`` may have settings in brackets, see :func:`method_from`. The ratio None is that in
    brackets, else the method's default. Raises ``ValueError`` if a method is unknown, a ratio is
    outside (0, 1], a method has two ratios, or ``num_frames`` is below 1.
    """
    if num_frames < 1:
        raise ValueError(f"num_frames={num_frames} must be at least 1")
    for ratio in ratios:
        if ratio is not None and not 0 < ratio <= 1:
            raise ValueError(f"retention_ratio={ratio!r} must be in (0, 1]")
    methods: list[Compressor] = [FullTokens()]
    for name in dict.fromkeys(names):
        made = [method_from(name, ratio) for ratio in dict.fromkeys(ratios) if ratio != 1]
        methods += [method for method in made if not isinstance(method, FullTokens)]
    return [Setup(method, num_frames) for method in methods]
