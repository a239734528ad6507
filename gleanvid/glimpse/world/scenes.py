"""The scene of a clip, in the version of the world that its settings name."""

from __future__ import annotations

from gleanvid.glimpse.world.casting import first_scene
from gleanvid.glimpse.world.casting2 import second_scene
from gleanvid.glimpse.world.world import ClipSettings, Scene


def sample_scene(seed: int, split: str, index: int, settings: ClipSettings | None = None) -> Scene:
    """The scene of (seed, split, index). Raises ``ValueError`` on an unknown split."""
    settings = settings or ClipSettings()
    draw = first_scene if settings.version == 1 else second_scene
    return draw(seed, split, index, settings)
