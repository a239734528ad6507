"""How the models that one server offers are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

BUILT_IN = "builtin"  # name of the model that comes with the library


def library(models: Mapping[str, Mapping[str, Any]]) -> Any:
    """``gleanvid.pipeline`` whose ``load_model`` takes a name alone.

    ``models``: its other keywords, by name; a name that is not there is loaded without any.
    """
    from gleanvid import pipeline

    def load_model(name: str) -> Any:
        return pipeline.load_model(name, **models.get(name, {}))

    return SimpleNamespace(**vars(pipeline) | {"load_model": load_model})
