"""Compressors, model families and benchmarks from outside the package.

A plug-in is a Python file, or an entry point of an installed distribution in the group
``gleanvid.compressors``, ``gleanvid.models`` or ``gleanvid.benchmarks``: a class, or a module with
classes. Entry points are imported when their registry is first read, never when ``gleanvid`` is
imported. Plug-ins run with the rights of the process, like any package.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, TypeVar

from gleanvid.errors import OUT_OF_MEMORY, ModelError, StoppedError, printable, refusing, sentence

_HOMES = {  # base class -> module and name of the registry of its subclasses
    "Compressor": ("gleanvid.compressors", "COMPRESSORS"),
    "ModelAdapter": ("gleanvid.models.families", "MODELS"),
    "Benchmark": ("gleanvid.evaluation.benchmarks", "BENCHMARKS"),
}
_GROUPS = ("gleanvid.compressors", "gleanvid.models", "gleanvid.benchmarks")
_KINDS = "Compressor, ModelAdapter or Benchmark"
_LOCK = RLock()  # one thread loads the entry points of a registry; others wait
_LOG = logging.getLogger(__name__)
_loaded: list[str] = []  # arguments of ``load``: absolute paths of files and names of distributions
_sources: dict[str, str] = {}  # top-level module of loaded classes -> file or distribution
_ignored: set[str] = set()  # groups of entry points to ignore
Thing = TypeVar("Thing")


class PluginError(ValueError):
    """Raised for a plug-in that cannot be used; the message names its file or distribution."""


class Registry(MutableMapping[str, Thing]):
    """Registered classes by name: those of the package, then those of plug-ins.

    Args:
        group: The group of entry points.
        own: The entries of the package.
        names: Returns the names of a class, given the entries so far, or raises ``ValueError``.
    """

    def __init__(
        self,
        group: str,
        own: Mapping[str, Thing],
        names: Callable[[Any, Mapping[str, Thing]], Iterable[str]],
    ) -> None:
        self._group, self._own, self._names = group, dict(own), names
        self._is_complete = False

    @property
    def _entries(self) -> dict[str, Thing]:
        with _LOCK:
            if not self._is_complete:
                # set before loading: a plug-in may read the registry while it is imported
                self._is_complete = True
                points = () if self._group in _ignored else _installed(self._group)
                _load_each(_load_point, points)
            return self._own

    def add(self, thing: Any) -> None:
        """Add a class under its names.

        Raises ``ValueError`` if the class has abstract methods or one of its names is taken.
        """
        if missing := ", ".join(sorted(thing.__abstractmethods__)):
            raise ValueError(f"{thing.__name__} does not implement {missing}")
        # Not self._entries, which would import the installed plug-ins.
        names = list(self._names(thing, self._own))
        for name in names:
            known: Any = self._own.get(name)
            if known is not None and _path_of(known) != _path_of(thing):
                raise ValueError(f"{thing.__name__}: the name {name!r} is taken already")
        self._own.update(dict.fromkeys(names, thing))

    def __getitem__(self, name: str) -> Thing:
        return self._entries[name]

    def __setitem__(self, name: str, thing: Thing) -> None:
        self._entries[name] = thing

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Registry({', '.join(self)})"


def register(plugin: Any) -> Any:
    """Register a compressor, a model family or a benchmark of your own under its name.

    A class of the same name and module replaces the one before, so a notebook cell can run again.

    Args:
        plugin: A class, the path of a Python file, or the name of an installed distribution or
            of one of its entry points.

    Returns:
        The class itself, so that it can be used as a decorator, or the list of classes.

    Raises:
        TypeError: The class is no subclass of Compressor, ModelAdapter or Benchmark.
        ValueError: A class has abstract methods or a name that is taken, or a file or distribution
            has no plug-ins or cannot be imported. The message says which.

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


def load(name: str) -> list[type]:
    """Register the classes of a file or of an installed distribution, and return them.

    Raises :class:`PluginError` if they cannot be imported or registered.
    """
    with refusing(PluginError, f"plug-in {printable(name)} cannot be used", OSError, because=True):
        path = Path(name).expanduser()
        is_file = path.suffix == ".py" or path.is_file()
    if is_file:
        name = str(path.absolute())
        found = _classes(path.name, lambda: _run(path))
    else:
        points = [point for group in _GROUPS for point in _installed(group)]
        chosen = [point for point in points if name in (point.name, _source(point))]
        if not chosen:
            raise PluginError(
                f"plugin={name!r} must be a Python file or an installed distribution with plug-ins"
            )
        found = [kind for point in chosen for kind in _load_point(point)]
    if name not in _loaded:
        _loaded.append(name)
    return found


def load_all(names: Iterable[str]) -> None:
    """Call :func:`load` for each plug-in; log a warning for one that fails, and continue."""
    _load_each(load, names)


def loaded() -> tuple[str, ...]:
    """Return the arguments of all :func:`load` calls, to repeat them in another process."""
    return tuple(_loaded)


def ignore_installed() -> None:
    """Ignore installed entry points, for a public server; :func:`load` still works."""
    _ignored.update(_GROUPS)


def origin(kind: type) -> str:
    """Return the absolute path of the plug-in file that defines a class; "" for other classes."""
    path = str(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")
    return path if path in _loaded else ""


def is_plugin(kind: type) -> bool:
    """Return whether a class was loaded from a plug-in."""
    return _top(kind.__module__) in _sources


@contextmanager
def naming_failures(kind: type, title: str) -> Iterator[None]:
    """Convert an exception in a plug-in's code to a ``PluginError`` with its file and line.

    The traceback is logged (level INFO). Exceptions of classes that are not from a plug-in,
    ``ModelError``, ``StoppedError`` and out-of-memory errors pass unchanged.

    Args:
        kind: the class whose code runs in the block.
        title: the name of the class in the error message.
    """
    module = _top(kind.__module__)
    with _logged():
        try:
            yield
        except (PluginError, ModelError, StoppedError):
            raise
        except Exception as error:
            if not is_plugin(kind) or sentence(error) == OUT_OF_MEMORY:
                raise
            frames = [
                f" ({Path(frame.f_code.co_filename).name}:{line})"
                for frame, line in traceback.walk_tb(error.__traceback__)
                if _top(frame.f_globals.get("__name__", "")) == module
            ]
            reason = f"{type(error).__name__}: {error}" + (frames[-1] if frames else "")
            raise PluginError(
                printable(f"plug-in {_sources[module]}: {title} failed: {reason}")
            ) from error


def _top(module: str) -> str:
    return module.partition(".")[0]


def _load_each(load: Callable[[Any], Any], plugins: Iterable[Any]) -> None:
    for plugin in plugins:
        try:
            load(plugin)
        except PluginError as error:
            _LOG.warning("%s", error)


@cache
def _installed(group: str) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))


def _source(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value


def _load_point(point: EntryPoint) -> list[type]:
    return _classes(_source(point), point.load)


def _classes(source: str, get: Callable[[], Any]) -> list[type]:
    """Call ``get``, which returns a class or a module, and register the class or its classes."""
    text = f"plug-in {printable(source)} cannot be used"
    with _logged(), refusing(PluginError, text, Exception, because=True):
        try:
            found = get()
        except SystemExit as error:
            raise ValueError("importing it ends the program") from error
        kinds = _public_classes(found) if isinstance(found, ModuleType) else [found]
        if not kinds:
            raise ValueError(f"it has no {_KINDS}")
        for kind in kinds:
            if not isinstance(kind, type) or _registry_of(kind) is None:
                raise ValueError(f"{getattr(kind, '__name__', repr(kind))} is no {_KINDS}")
            register(kind)
            _sources[_top(kind.__module__)] = source
        return kinds


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
    place = str(path.absolute())
    if name in sys.modules and sys.modules[name].__file__ != place:
        raise ValueError(f"another plug-in is called {path.name}, too: rename one of them")
    spec = spec_from_file_location(name, place)
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError("there is no such Python file")
    known, module = sys.modules.get(name), module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look the module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        sys.modules.update({name: known} if known else {})
        raise
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
