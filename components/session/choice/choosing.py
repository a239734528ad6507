"""Choose another model: inspect, download, load and test it while the current model answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from gleanvid.errors import BusyError
from gleanvid.models.loading.precision import AUTO, split_precision, with_precision
from gleanvid.models.loading.registry import CHECKPOINTS
from gleanvid.serving.vllm import SCHEME
from gleanvid.types import StoppedError

from ..display import explain, menu_name
from ..work.engine import Engine
from ..work.local import BUILT_IN
from ..work.queue import Work
from .loader import ModelLoader
from .offers import Offer, offers

if TYPE_CHECKING:
    from gleanvid.models.loading.outlook import Outlook

LOOKING = "Looking up {name} …"
UNDER_WAY = "{name} is being loaded. Wait for it, or cancel it."
PACE_S = 0.1
FRAMES = 32  # frames of the clip for which memory is estimated by default
OVER = ("nothing", "ready", "failed", "cancelled")  # stages in which no model is being loaded


@dataclass(frozen=True)
class Progress:
    """Progress of loading a model.

    Attributes:
        stage: "looking" (for its size), "downloading", "waiting" (for the model queue), "loading",
            "warming" (first answer), or one of :data:`OVER`.
        name: the model's name in requests once it is ready.
        text: sentence for the user.
        done: bytes downloaded, or fraction of the model loaded.
        total: bytes to download, or 1 while the model is loaded.
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

    A page calls :meth:`offers` for its list of models, :meth:`look` for the sentence below this
    list and :meth:`begin` on a click, then shows everything that :meth:`progress` yields.

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
        looking = Progress("looking", first, LOOKING.format(name=first))
        self.now = looking if first else Progress()
        self._changed = threading.Condition()  # guards ``now``; notified when it changes
        self._work = Work()

    def start(self) -> None:
        """Start loading :attr:`first`, even if it seems too large for memory; returns at once."""
        self._start(*split_precision(self.first), FRAMES, anyway=True)

    def offers(self, frames: int = FRAMES) -> list[Offer]:
        """Return the checkpoints to choose from."""
        names = dict.fromkeys([*self.names, *(row.name for row in CHECKPOINTS)])
        return list(offers(names, frames, self.device))

    def look(
        self,
        name: str,
        precision: str = AUTO,
        frames: int = FRAMES,
        stop: threading.Event | None = None,
    ) -> Outlook:
        """Return how large a model is and whether it fits. Raises ``ModelError``.

        Asks the hub if the model is not on this machine. For ``vllm:http://host:port`` the result
        is about the model that the vLLM server runs: its vision encoder is loaded here too.
        """
        from gleanvid.models.loading.outlook import outlook

        if name.startswith(SCHEME):
            from gleanvid.serving.vllm.client import servers_of
            from gleanvid.serving.vllm.remote import checkpoint_of

            name, precision = checkpoint_of(servers_of(name), stop), AUTO
        return outlook(name, precision, frames, self.device, stop)

    def begin(self, name: str, precision: str = AUTO, frames: int = FRAMES) -> None:
        """Start loading a model; returns at once.

        Raises ``BusyError`` while another model is being loaded, and ``ValueError`` for an unknown
        precision.
        """
        key = key_of(name, precision)
        with self._changed:
            if not self.now.over:
                raise BusyError(UNDER_WAY.format(name=self.now.name))
            self._work = Work()
            self.now = Progress("looking", key, LOOKING.format(name=name))
        self._start(name, precision, frames)

    def _start(self, name: str, precision: str, frames: int, anyway: bool = False) -> None:
        job = name, precision, frames, anyway
        threading.Thread(target=self._run, args=job, daemon=True).start()

    def cancel(self) -> bool:
        """Cancel the model being loaded, if any; files already downloaded stay."""
        with self._changed:
            if self.now.over:
                return False
        self._work.end()
        return True

    def progress(self) -> Iterator[Progress]:
        """Yield the progress now and at every change, until loading has ended.

        A new stage is yielded at once, progress within a stage at most every ``PACE_S`` seconds.
        """
        shown = self.now
        yield shown
        while not shown.over:
            before = shown
            with self._changed:
                self._changed.wait_for(partial(self._is_past, before.stage), PACE_S)
                shown = self.now
            if shown != before:
                yield shown

    def _is_past(self, stage: str) -> bool:
        return self.now.stage != stage

    def _report(self, stage: str, text: str, done: float = 0.0, total: float = 0.0) -> None:
        with self._changed:
            self.now = Progress(stage, self.now.name, text, done, total)
            self._changed.notify_all()

    def _run(self, name: str, precision: str, frames: int, anyway: bool) -> None:
        key, work, before = key_of(name, precision), self._work, self.engine.name
        try:
            if self.engine.holds(key):
                self.engine.model(key)  # already in memory: this only makes it the current model
            else:
                outlook = self.look(name, precision, frames, work.stop)
                ModelLoader(self.engine, work, self._report).install(key, outlook, anyway)
            self._add_choice(key)
            end = "ready", f"{key} is ready."
        except StoppedError:
            end = "cancelled", f"Cancelled. What was downloaded of {name} is kept."
        except Exception as error:  # an error of any kind is shown on the page
            end = "failed", explain(error)
        # If the new model failed after the previous one was unloaded, load the previous one again.
        if before and not self.engine.name:
            with suppress(Exception):  # the next request to the model shows the error
                self.engine.model(before)
        self.engine.queue.leave(work)
        self._report(*end)

    def _add_choice(self, name: str) -> None:
        if name not in [known for _, known in self.choices]:
            self.choices.append((menu_name(name), name))


def key_of(name: str, precision: str) -> str:
    """Return a model's name in requests, such as ``OWNER/NAME@4bit``; no precision for vLLM."""
    return name if name.startswith(SCHEME) else with_precision(name, precision)
