"""Cancel a forward pass between two blocks of the model."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import nn

from gleanvid.types import StoppedError


@contextmanager
def interruptible(hf_model: nn.Module, stop: threading.Event | None) -> Iterator[None]:
    """Raise ``StoppedError`` before the next block of ``hf_model`` once ``stop`` is set.

    Blocks are the members of every module list, such as vision blocks and decoder layers. Hold the
    model's lock meanwhile: the hooks affect every thread. ``stop`` None: no hook is installed.
    """
    if stop is None:
        yield
        return

    def check(module: nn.Module, args: Any) -> None:
        if stop.is_set():
            raise StoppedError

    with ExitStack() as hooks:
        for block in {id(block): block for block in _blocks(hf_model)}.values():
            hooks.callback(block.register_forward_pre_hook(check).remove)
        yield


def _blocks(hf_model: nn.Module) -> Iterator[nn.Module]:
    for module in hf_model.modules():
        if isinstance(module, nn.ModuleList):
            yield from module
