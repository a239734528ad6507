"""Import slow packages on first use.

The command line and the app build options and menus from the compressor modules. These say
``import torch``, but the start must not wait for it. So they must not import names from torch
(``from torch import Tensor``) at module level, as that would load it.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any

_LOCK = RLock()
# Attributes that ``import`` reads from a module; reading them does not load a delayed module.
_KNOWN = ("__class__", "__dict__", "__spec__")


class _Later(ModuleType):
    """A module that is imported when one of its names is first read; other threads wait for it."""

    def __getattribute__(self, name: str) -> Any:
        attribute = super().__getattribute__
        if name not in _KNOWN:
            # ``importlib.util.LazyLoader`` would show other threads a half-imported module
            with _LOCK:
                spec = attribute("__spec__")
                if spec.loader_state is None:
                    spec.loader_state = "running"
                    spec.loader.exec_module(self)
                    plain: Any = ModuleType
                    self.__class__ = plain
        return attribute(name)


def import_later(name: str) -> None:
    """Make ``import name`` delay the import until the package is used; no effect once imported."""
    spec = find_spec(name) if name not in sys.modules else None
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        module.__class__ = _Later
        sys.modules[name] = module
