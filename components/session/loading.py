"""How the models that one server offers are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gleanvid.serving.vllm import SCHEME

BUILT_IN = "builtin"  # name of the model that comes with the library


class Library:
    """``gleanvid.pipeline`` whose ``load_model`` takes a name alone; imported on first use.

    ``models``: its other keywords, by name; a name that is not there is loaded without any.
    """

    def __init__(self, models: Mapping[str, Mapping[str, Any]]) -> None:
        self._models = models

    def load_model(self, name: str) -> Any:
        """The named model, or that of a server (``vllm:http://...``). Raises ``ModelError``."""
        from gleanvid import pipeline

        options = self._models.get(name, {})
        if name.startswith(SCHEME):
            from gleanvid.serving.vllm.remote import load_served

            return load_served(name, **options)
        return pipeline.load_model(name, **options)

    def __getattr__(self, name: str) -> Any:
        from gleanvid import pipeline  # transformers with it, which takes seconds

        return getattr(pipeline, name)
