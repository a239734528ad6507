"""The setups that ``gleanvid eval`` runs.

A setup is a compressor, its retention ratio and the number of frames. The options ``--compressor``,
``--ablation`` and ``--preset`` choose the setups.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from gleanvid.cli import options as shared


def setups_of(options: argparse.Namespace, benchmark: Any) -> tuple[list[Any], list[Any]]:
    """Return a list of (preset, setups of the preset) pairs, and a list of all setups to run.

    The first list is empty if neither ``--ablation`` nor ``--preset`` is given. It is also empty if
    ``--preset`` names a table of the paper (a key of ``GRIDS``).
    """
    from gleanvid.evaluation.paper import numbers
    from gleanvid.evaluation.paper.numbers import GRIDS
    from gleanvid.evaluation.paper.presets import ABLATIONS, OWN_PRESETS, PRESETS
    from gleanvid.evaluation.run.setups import grid

    given = [
        name for name in ("compressor", "ablation", "preset") if getattr(options, name) is not None
    ]
    if len(given) > 1:
        raise ValueError(f"--{given[0]} and --{given[1]} do not go together: choose one")
    ratios = shared.ratios(options.retention_ratio) if options.retention_ratio else []
    if options.ablation is None and options.preset is None:
        frames = benchmark.num_frames if options.num_frames is None else options.num_frames
        return [], grid(shared.names_of(options.compressor or "gleanvid"), ratios or [0.25], frames)
    if options.preset in GRIDS:
        if ratios or options.num_frames is not None:
            raise ValueError(
                f"--preset {options.preset} has its own ratios and frames: leave out "
                "--retention-ratio and --num-frames"
            )
        return [], numbers.setups_of(options.preset)
    if len(ratios) > 1:
        raise ValueError("--ablation and --preset take a single --retention-ratio")
    own = {} if options.preset == "all" else OWN_PRESETS
    chosen = (
        _named("ablation", options.ablation, ABLATIONS)
        if options.ablation is not None
        else _named("preset", options.preset, PRESETS | own, GRIDS)
    )
    ratio = ratios[0] if ratios else None
    presets = [(preset, preset.setups(options.num_frames, ratio)) for preset in chosen]
    setups = {setup.key: setup for _, own in presets for setup in own}
    return presets, list(setups.values())


def _named(option: str, names: str, known: dict[str, Any], others: Sequence[str] = ()) -> list[Any]:
    chosen = list(known) if names == "all" else names.split(",")
    for name in chosen:
        if name not in known:
            allowed = ", ".join([*known, *others])
            raise ValueError(f"{option}={name!r} must be one of {allowed} or all")
    return [known[name] for name in chosen]
