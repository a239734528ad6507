"""Video language models behind one interface, and compression of your own model.

Each name is imported on first use, so importing this package loads no model class.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {"MODELS": "families", "ModelAdapter": "base", "load_model": "loading.load"}

if TYPE_CHECKING:
    from gleanvid.compressors.base import Compressor
    from gleanvid.models.base import ModelAdapter as ModelAdapter
    from gleanvid.models.families import MODELS as MODELS
    from gleanvid.models.hooks import Layout, Prefill
    from gleanvid.models.loading.load import load_model as load_model
else:

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'gleanvid.models' has no attribute {name!r}")
        return getattr(import_module(f"gleanvid.models.{_HOME[name]}"), name)


@contextmanager
def compressing(
    hf_model: Any, compressor: Compressor | None, strict: bool = True, processor: Any = None
) -> Iterator[Prefill]:
    """Compress the prompts of a transformers model of yours while the block runs.

    ``hf_model``: the model; ``compressor``: None changes nothing; ``strict``: whether a block that
    compressed nothing is an error; ``processor``: see :func:`with_layout`. Yields the
    compression records.
    """
    from gleanvid.models import hooks
    from gleanvid.models.families.announced import tokenizer_near
    from gleanvid.models.untimed import warning_of_assumed_times

    hf_model, layout = with_layout(hf_model, processor)
    if compressor is None:
        yield hooks.Prefill()
        return
    tokenizer = tokenizer_near(hf_model, processor)
    with (
        warning_of_assumed_times(layout, tokenizer),
        hooks.compressing(hf_model, layout, compressor, strict=strict) as record,
    ):
        yield record


def with_layout(hf_model: Any, processor: Any = None) -> tuple[Any, Layout]:
    """Return the model on which hooks are installed, and its layout.

    ``processor``: the model's processor or tokenizer, for families that read frames as images;
    None: the one beside the weights on this machine. Raises ``ModelError`` if the model's family is
    not supported.
    """
    from gleanvid.errors import ModelError
    from gleanvid.models.families import family_of

    if hasattr(hf_model, "get_base_model"):  # a wrapper of the package peft
        hf_model = hf_model.get_base_model()
    if not hasattr(hf_model, "config"):
        own = (
            "; for a model from load_model, pass its hf_model"
            if hasattr(hf_model, "hf_model")
            else "; pass its module"
            if hasattr(hf_model, "module")
            else ""
        )
        raise ModelError(f"{type(hf_model).__name__} is not a transformers model{own}")
    family = family_of(hf_model.config, type(hf_model).__name__)
    if not (hasattr(hf_model, "can_generate") and hf_model.can_generate()):
        raise ModelError(
            f"{type(hf_model).__name__} has no generate(): pass the whole model that writes the "
            "answers, not a part of it or a wrapper around it"
        )
    return hf_model, family.layout_with(hf_model, processor)
