"""How the models that one server offers are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gleanvid.errors import ModelError
from gleanvid.models.loading.precision import PRECISIONS, split_precision
from gleanvid.serving.vllm import SCHEME

BUILT_IN = "builtin"  # name of the model that comes with the library


def is_here(name: str) -> bool:
    """Whether the files of a model are on this machine: nothing has to be downloaded."""
    from gleanvid.models.loading.hub import cached

    plain, _ = split_precision(name)
    if plain == BUILT_IN or name.startswith(SCHEME) or Path(plain).expanduser().is_dir():
        return True
    return cached(plain) is not None


def served(name: str) -> dict[str, Any] | None:
    """Method and ratio that the server of a model has for every request; None: it has none."""
    if not name.startswith(SCHEME):
        return None
    from gleanvid.serving.vllm.remote import settings_served

    try:
        return settings_served(name)
    except (ModelError, ValueError, TypeError, KeyError):  # loading will say it
        return None


class Library:
    """``gleanvid.pipeline`` whose ``load_model`` takes a name alone; imported on first use.

    ``models``: its other keywords, by name; ``others``: those of names that are not there. A name
    may say a precision (``OWNER/NAME@4bit``).
    """

    def __init__(
        self, models: Mapping[str, Mapping[str, Any]], others: Mapping[str, Any] | None = None
    ) -> None:
        self._models, self._others = models, others or {}

    def load_model(self, name: str) -> Any:
        """The named model, from this machine alone once it is all there. Raises ``ModelError``.

        ``vllm:http://...`` is the model of a server.
        """
        from gleanvid import pipeline
        from gleanvid.models.loading.hub import cached

        if name.startswith(SCHEME):
            from gleanvid.serving.vllm.remote import load_served

            return load_served(name, **self._models.get(name, {}))
        plain, precision = split_precision(name)
        how = dict(self._models.get(name, {**self._others, **PRECISIONS[precision]}))
        if cached(plain) is not None:
            how["local_files_only"] = True
        model = pipeline.load_model(plain, **how)
        if name != plain:
            model.name = name
        return model

    def __getattr__(self, name: str) -> Any:
        from gleanvid import pipeline  # transformers with it, which takes seconds

        return getattr(pipeline, name)
