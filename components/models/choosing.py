"""Choose another model: download and load it while the current model answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gleanvid.errors import BusyError
from gleanvid.models.loading.precision import split_precision
from gleanvid.models.loading.registry import CHECKPOINTS
from gleanvid.serving.vllm import SCHEME
from gleanvid.types import ModelError, StoppedError

from ..jobs.display import explain, menu_name
from ..jobs.engine import Engine
from ..jobs.local import BUILT_IN, PHOTOS, is_here
from ..jobs.queue import Work
from .offers import offers

if TYPE_CHECKING:
    from gleanvid.models.loading.outlook import Outlook

UNDER_WAY = "{name} is being loaded. Wait for it, or cancel it."
TOO_LARGE = (
    "{name} takes about {needed:.1f} GB and {free:.1f} are free. Choose {smaller}a smaller model "
    "or fewer frames, or close what else uses the memory."
)
NO_ROOM = "Memory has no room for a second model: waiting until the current one is idle."
PACE_S = 0.1
FRAMES = 32  # frames of the clip for which memory is estimated by default
OVER = ("nothing", "ready", "failed", "cancelled")  # stages in which no model is being loaded


@dataclass(frozen=True)
class Progress:
    """Progress of loading a model.

    Attributes:
        stage: "looking" (for its size), "downloading", "waiting" (for the model queue),
            "loading", or one of :data:`OVER`.
        name: the model's name in requests once it is ready.
        text: sentence for the user.
        done: bytes downloaded so far.
        total: bytes to download; 0 in other stages.
    """

    stage: str = "nothing"
    name: str = ""
    text: str = ""
    done: float = 0.0
    total: float = 0.0

    @property
    def over(self) -> bool:
        return self.stage in OVER


class Choosing:
    """Loads models for the pages of a private server, one at a time; all pages see the progress.

    A page calls :meth:`begin` on a click, then shows everything that :meth:`progress` yields. The
    name of a model may include a precision (``OWNER/NAME@4bit``).

    Args:
        engine: engine into which the loaded model is put.
        names: models that come first in the list, before the library's known checkpoints.
        device: device on which models are loaded.
        first: model that the server was started with, if it has to be downloaded;
            :meth:`start` loads this model.
    """

    def __init__(
        self,
        engine: Engine,
        names: Sequence[str] = (BUILT_IN,),
        device: str | None = None,
        first: str = "",
    ) -> None:
        self.engine, self.names, self.device, self.first = engine, list(names), device, first
        self.choices: list[tuple[str, str]] = []  # label and name of the models in the menu
        self.now = Progress()
        self._work, self._lock = Work(), threading.Lock()
        if first:
            self._report("looking", f"Looking up {first} …", name=first)

    def start(self) -> None:
        """Start loading :attr:`first`, even if it seems too large for memory; returns at once."""
        threading.Thread(target=self._run, args=[FRAMES, True], daemon=True).start()

    def offers(self, frames: int = FRAMES) -> list[tuple[str, str]]:
        """Return label and name of the checkpoints to choose from."""
        names = dict.fromkeys([*self.names, *(row.name for row in CHECKPOINTS)])
        return offers(names, frames, self.device)

    def begin(self, name: str, frames: int = FRAMES) -> None:
        """Start loading a model; returns at once.

        Raises ``BusyError`` while another model is being loaded.
        """
        with self._lock:
            if not self.now.over:
                raise BusyError(UNDER_WAY.format(name=self.now.name))
            self._work = Work()
            self._report("looking", f"Looking up {name} …", name=name)
        threading.Thread(target=self._run, args=[frames], daemon=True).start()

    def cancel(self) -> None:
        """Cancel the model being loaded, if any; files already downloaded stay."""
        self._work.end()

    def progress(self) -> Iterator[Progress]:
        """Yield the progress now and whenever it has changed, until loading has ended."""
        shown = self.now
        yield shown
        while not shown.over:
            time.sleep(PACE_S)
            if self.now != shown:
                shown = self.now
                yield shown

    def _report(
        self, stage: str, text: str, done: float = 0.0, total: float = 0.0, name: str = ""
    ) -> None:
        self.now = Progress(stage, name or self.now.name, text, done, total)

    def _run(self, frames: int, anyway: bool = False) -> None:
        name, work, before = self.now.name, self._work, self.engine.name
        try:
            if self.engine.holds(name):
                self.engine.model(name)  # already in memory: this only makes it the current model
            else:
                self._install(name, frames, anyway)
            if name not in [known for _, known in self.choices]:
                self.choices.append((menu_name(name), name))
            end = "ready", f"{name} is ready."
        except StoppedError:
            end = "cancelled", f"Cancelled. The complete files of {name} are kept."
        except Exception as error:  # an error of any kind is shown on the page
            end = "failed", explain(error)
        # If the new model failed after the previous one was unloaded, load the previous one again.
        if before and not self.engine.name:
            with suppress(Exception):  # the next request to the model shows the error
                self.engine.model(before)
        self.engine.queue.leave(work)
        self._report(*end)

    def _install(self, name: str, frames: int, anyway: bool) -> None:
        """Load a model and make it the engine's model. Raises ``ModelError``, ``StoppedError``."""
        found = inspect(name, frames, self.device)
        has_room = self._has_room(found, anyway)
        download(found, self._work.stop, self._report)
        if not has_room:
            self._report("waiting", NO_ROOM)
            for ahead in self.engine.queue.wait(self._work):
                self._report("waiting", f"Waiting for the model: {ahead} ahead in the queue.")
            self.engine.queue.take_time(self._work)
            self.engine.empty()
        self._report("loading", f"Loading {name} …")
        model = self.engine.backend.load_model(name)
        if self._work.stop.is_set():
            raise StoppedError
        self.engine.put(name, model)

    def _has_room(self, found: Outlook, anyway: bool) -> bool:
        """Return whether the new model fits in memory without unloading the model in use.

        Raises ``ModelError`` if it does not even fit alone, unless ``anyway``.
        """
        fit = found.fit
        if fit.ok is not False:
            return True
        freed = self.engine.weights_gb()
        if fit.needed_gb > (fit.free_gb or 0.0) + freed and not anyway:
            smaller = "4-bit, " if fit.text.endswith("4-bit") else ""
            sizes = {"needed": fit.needed_gb, "free": fit.free_gb}
            raise ModelError(TOO_LARGE.format(name=found.name, smaller=smaller, **sizes))
        return self.engine.name is None


def inspect(name: str, frames: int, device: str | None) -> Outlook:
    """Return what a model has to download and whether it fits. Raises ``ModelError``.

    For ``vllm:http://host:port`` this is about the model that the server runs: its vision encoder
    is loaded here too.
    """
    from gleanvid.models.loading.outlook import outlook

    if name.startswith(SCHEME):
        from gleanvid.serving.vllm.client import servers_of
        from gleanvid.serving.vllm.remote import checkpoint_of

        name = checkpoint_of(servers_of(name))
    return outlook(*split_precision(name), frames, device)


def download(found: Outlook, stop: threading.Event, report: Callable[..., None]) -> None:
    """Download the files missing here. Raises ``ModelError``, ``StoppedError``.

    ``report`` is called with the stage, a sentence, the bytes downloaded and those to download.
    """
    if not found.missing:
        return
    from gleanvid.models.loading.download import fetch
    from gleanvid.models.loading.hub import cached

    for done in fetch(found.name, stop):
        sizes = f"{done / 1e6:,.0f} of {found.missing / 1e6:,.0f} MB"
        report("downloading", f"Downloading {found.name}: {sizes}", done, found.missing)
    # Without this check, transformers would ask the hub for the missing files while loading.
    if cached(found.name) is None:
        raise ModelError(f"{found.name} is incomplete: the hub did not list all its weights.")


def load_all(
    engine: Engine, names: Sequence[str], device: str | None, report: Callable[..., None]
) -> None:
    """Download and load the models of a public server; the first one becomes the model in use.

    Built-in models are skipped: they load within a second when first used. Raises ``ModelError``
    for a model that cannot be loaded. ``report``: see :func:`download`.
    """
    for name in reversed([name for name in names if name not in (BUILT_IN, PHOTOS)]):
        if not is_here(name):
            download(inspect(name, FRAMES, device), threading.Event(), report)
        report("loading", f"Loading {name}")
        engine.model(name)
