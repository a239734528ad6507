"""Compressors, model families and benchmarks in a Python file of the user.

A plug-in file runs with the rights of the process, like any package.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from gleanvid.errors import OUT_OF_MEMORY, ModelError, StoppedError, printable, refusing, sentence

_HOMES = {  # base class -> module and name of the registry of its subclasses
    "Compressor": ("gleanvid.compressors", "COMPRESSORS"),
    "ModelAdapter": ("gleanvid.models.families", "MODELS"),
    "Benchmark": ("gleanvid.evaluation.benchmarks", "BENCHMARKS"),
}
_KINDS = "Compressor, ModelAdapter or Benchmark"
_LOG = logging.getLogger(__name__)
_files: dict[str, str] = {}  # module of each loaded plug-in -> absolute path of its file
Thing = TypeVar("Thing")


class PluginError(ValueError):
    """Raised for a plug-in that cannot be used; the message names its file."""


class Registry(dict[str, Thing]):
    """Registered classes by name: those of the package, then those of plug-ins.

    Args:
        own: The entries of the package.
        names: Returns the names of a class, given the entries so far, or raises ``ValueError``.
    """

    def __init__(
        self, own: Mapping[str, Thing], names: Callable[[Any, Mapping[str, Thing]], Iterable[str]]
    ) -> None:
        super().__init__(own)
        self._names = names

    def add(self, thing: Any) -> None:
        """Add a class under its names.

        Raises ``ValueError`` if the class has abstract methods or one of its names is taken.
        """
        if missing := ", ".join(sorted(thing.__abstractmethods__)):
            raise ValueError(f"{thing.__name__} does not implement {missing}")
        names = list(self._names(thing, self))
        for name in names:
            if name in self and _path_of(self[name]) != _path_of(thing):
                raise ValueError(f"{thing.__name__}: the name {name!r} is taken already")
        self.update(dict.fromkeys(names, thing))


def register(plugin: Any) -> Any:
    """Register a compressor, a model family or a benchmark of your own under its name.

    A class of the same name and module replaces the one before, so a notebook cell can run again.

    Args:
        plugin: A class, or the path of a Python file.

    Returns:
        The class itself, so that it can be used as a decorator, or the list of a file's classes.

    Raises:
        TypeError: The class is no subclass of Compressor, ModelAdapter or Benchmark.
        ValueError: A class has abstract methods or a name that is taken, or a file has no plug-ins
            or cannot be imported. The message says which.

    >>> register(dict)
    Traceback (most recent call last):
    TypeError: dict is no Compressor, ModelAdapter or Benchmark
    """
    if not isinstance(plugin, type):
        return load(str(plugin))
    registry = _registry_of(plugin)
    if registry is None:
        raise TypeError(f"{plugin.__name__} is no {_KINDS}")
    registry.add(plugin)
    return plugin


def load(file: str) -> list[type]:
    """Register the public classes of a Python file, and return them.

    Raises :class:`PluginError` if they cannot be imported or registered.
    """
    path = Path(file).expanduser().absolute()
    text = f"plug-in {printable(path.name)} cannot be used"
    with _logged(), refusing(PluginError, text, Exception, because=True):
        try:
            module = _run(path)
        except SystemExit as error:
            raise ValueError("importing it ends the program") from error
        kinds = _public_classes(module)
        if not kinds:
            raise ValueError(f"it has no {_KINDS}")
        for kind in kinds:
            register(kind)
        _files[module.__name__] = str(path)
        return kinds


def loaded() -> tuple[str, ...]:
    """Return the absolute paths of all loaded files, to load them in another process."""
    return tuple(_files.values())


def origin(kind: type) -> str:
    """Return the absolute path of the plug-in file that defines a class; "" for other classes."""
    return _files.get(kind.__module__, "")


@contextmanager
def naming_failures(kind: type, title: str) -> Iterator[None]:
    """Convert an exception in a plug-in's code to a ``PluginError`` with its file and line.

    The traceback is logged (level INFO). Exceptions of classes that are not from a plug-in,
    ``ModelError``, ``StoppedError`` and out-of-memory errors pass unchanged.

    Args:
        kind: the class whose code runs in the block.
        title: the name of the class in the error message.
    """
    with _logged():
        try:
            yield
        except (PluginError, ModelError, StoppedError):
            raise
        except Exception as error:
            file = origin(kind)
            if not file or sentence(error) == OUT_OF_MEMORY:
                raise
            frames = traceback.extract_tb(error.__traceback__)
            name = Path(file).name
            lines = [f" ({name}:{frame.lineno})" for frame in frames if frame.filename == file]
            reason = f"{type(error).__name__}: {error}" + (lines[-1] if lines else "")
            raise PluginError(printable(f"plug-in {name}: {title} failed: {reason}")) from error


@contextmanager
def _logged() -> Iterator[None]:
    """Log the traceback of a :class:`PluginError` (level INFO)."""
    try:
        yield
    except PluginError as error:
        _LOG.info("%s", error, exc_info=error)
        raise


def _run(path: Path) -> ModuleType:
    """Run a file as a module, whose name is the same in every process."""
    name = "gleanvid_plugin_" + re.sub(r"\W", "_", path.stem)
    if _files.get(name, str(path)) != str(path):
        raise ValueError(f"another plug-in is called {path.name}, too: rename one of them")
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError("there is no such Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look the module up
    spec.loader.exec_module(module)
    return module


def _public_classes(module: ModuleType) -> list[type]:
    """Return the public compressors, model families and benchmarks that a module itself defines."""
    return [
        kind
        for name, kind in vars(module).items()
        if isinstance(kind, type) and kind.__module__ == module.__name__ and name[0] != "_"
        if _registry_of(kind) is not None
    ]


def _registry_of(kind: type) -> Registry[Any] | None:
    for base in kind.__mro__[1:]:
        if base.__module__.startswith("gleanvid.") and base.__name__ in _HOMES:
            module, name = _HOMES[base.__name__]
            registry: Registry[Any] = getattr(import_module(module), name)
            return registry
    return None


def _path_of(kind: Any) -> tuple[str, str]:
    return getattr(kind, "__module__", ""), getattr(kind, "__qualname__", "")
