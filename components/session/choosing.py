"""Choosing a model: looked at, downloaded, loaded and warmed beside the one that is in use."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gleanvid.compressors import COMPRESSORS
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.loading.precision import AUTO, check_precision, keyed
from gleanvid.models.loading.registry import CHECKPOINTS
from gleanvid.types import ModelError, StoppedError, Video

from .engine import Engine
from .line import BusyError, Work
from .loading import BUILT_IN
from .offers import Offer, offers
from .progress import Progress
from .updates import explain

if TYPE_CHECKING:
    from gleanvid.models.loading.outlook import Outlook

TOO_LARGE = (
    "{name} takes about {needed:.1f} GB and {free:.1f} are free. Choose {smaller}a smaller model "
    "or fewer frames, or close what else uses the memory."
)
NOT_OFFERED = "This server offers {names} alone."
UNDER_WAY = "{name} is being loaded. Wait for it, or cancel it."
PACE_S = 0.1


class Choosing:
    """The one choice of a server that is under way, if any; every page may watch it.

    A page calls :meth:`offers` for its menu, :meth:`look` for the sentence below it,
    :meth:`begin` on a click, and shows what :meth:`progress` yields until it ends. The choice goes
    on when the page is left. ``names`` come first in the menu; where ``strict``, nothing else may
    be chosen, else also the registry's, any at the hub and any folder.
    """

    def __init__(
        self,
        engine: Engine,
        names: Sequence[str] = (BUILT_IN,),
        strict: bool = False,
        device: str | None = None,
    ) -> None:
        self.engine, self.names, self.strict, self.device = engine, list(names), strict, device
        self._state, self._changed = Progress(), threading.Condition()
        self._work, self._page = Work(), ""

    def offers(self, precision: str = AUTO, frames: int = 32) -> list[Offer]:
        """Rows of the menu. Raises ``ValueError`` for a precision that is none."""
        check_precision(precision)
        more = () if self.strict else (row.name for row in CHECKPOINTS)
        names = dict.fromkeys([*self.names, *more])
        return list(offers(names, precision, frames, self.device))

    def look(self, name: str, precision: str = AUTO, frames: int = 32) -> Outlook:
        """What choosing would do; asks the hub for what is not here. Raises ``ModelError``."""
        self._check(name, precision)
        from gleanvid.models.loading.outlook import outlook

        return outlook(name, precision, frames, self.device)

    def begin(
        self,
        name: str,
        precision: str = AUTO,
        frames: int = 32,
        page: str = "",
        anyway: bool = False,
    ) -> None:
        """Start; returns at once. ``anyway``: also where memory seems too small.

        Raises ``BusyError`` while another choice is under way, and ``ValueError`` for a name that
        is not offered or a precision that is none.
        """
        self._check(name, precision)
        with self._changed:
            if not self._state.over:
                raise BusyError(UNDER_WAY.format(name=self._state.name))
            self._work, self._page = Work(), page
            text = f"Looking at {name} …"
            self._state = Progress("looking", keyed(name, precision), text)
        job = (self._work, name, precision, frames, anyway)
        threading.Thread(target=self._run, args=job, daemon=True).start()

    def cancel(self, page: str | None = None) -> bool:
        """End the choice; what was downloaded stays. ``page``: only if that page began it."""
        with self._changed:
            if self._state.over or page not in (None, self._page):
                return False
        self._work.end()
        return True

    @property
    def now(self) -> Progress:
        """Where the choice stands."""
        return replace(self._state, usable=self.engine.name or "")

    def progress(self) -> Iterator[Progress]:
        """Where the choice stands, now and as that changes, until it is over.

        New stages come at once, steps of one as often as a person can follow.
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

    def _check(self, name: str, precision: str) -> None:
        check_precision(precision)
        if self.strict and name not in self.names:
            raise ValueError(NOT_OFFERED.format(names=", ".join(self.names)))

    def _is_past(self, stage: str) -> bool:
        return self._state.stage != stage

    def _tell(self, stage: str, text: str, done: float = 0.0, total: float = 0.0) -> None:
        with self._changed:
            self._state = Progress(stage, self._state.name, text, done, total)
            self._changed.notify_all()

    def _run(self, work: Work, name: str, precision: str, frames: int, anyway: bool) -> None:
        key, before = keyed(name, precision), self.engine.name
        try:
            if key != before:
                self._bring(key, name, precision, frames, anyway, work)
            end = "ready", f"{key} is ready."
        except StoppedError:
            end = "cancelled", f"Cancelled. What was downloaded of {name} is kept."
        except Exception as error:  # whatever it is, the page has to hear of it
            end = "failed", explain(error)
        if before and not self.engine.name:  # the memory of what failed is free by now
            with suppress(Exception):  # the next who asks is told
                self.engine.model(before)
        self.engine.line.leave(work)
        self._tell(*end)

    def _bring(
        self, key: str, name: str, precision: str, frames: int, anyway: bool, work: Work
    ) -> None:
        outlook = self.look(name, precision, frames)
        beside = self._room(outlook, anyway)
        self._download(outlook, work)
        if beside:
            self.engine.put(key, self._loaded(key, work))
        else:
            self._in_place(key, work)

    def _room(self, outlook: Outlook, anyway: bool) -> bool:
        """Whether the new model has room beside the old one. Raises ``ModelError`` for no room."""
        fit = outlook.fit
        if fit.ok is not False:
            return True
        freed = self.engine.weights_gb()
        if fit.needed_gb > (fit.free_gb or 0.0) + freed and not anyway:
            smaller = "4-bit, " if fit.text.endswith("4-bit") else ""
            facts = {"name": outlook.name, "needed": fit.needed_gb, "free": fit.free_gb}
            raise ModelError(TOO_LARGE.format(smaller=smaller, **facts))
        return self.engine.name is None

    def _download(self, outlook: Outlook, work: Work) -> None:
        if outlook.download is None:
            return
        from gleanvid.models.loading.fetching import fetched
        from gleanvid.models.loading.hub import cached

        total = outlook.download.size
        for done in fetched(outlook.download, work.stop):
            if work.stop.is_set():
                raise StoppedError
            text = f"Downloading {outlook.name}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            self._tell("downloading", text, done, total)
        if cached(outlook.name) is None:  # transformers would ask the hub for files not announced
            raise ModelError(f"{outlook.name} is incomplete: the hub did not list all its weights.")

    def _in_place(self, key: str, work: Work) -> None:
        """Load where the old model was, in a turn at the line: nobody is at work then."""
        self._tell("waiting", "There is no room beside the model in use: waiting for its turn.")
        for ahead in self.engine.line.wait(work):
            self._tell("waiting", f"Waiting for the model: {ahead} before this.")
        self.engine.line.take_time(work)
        self.engine.empty()
        self.engine.put(key, self._loaded(key, work))

    def _loaded(self, key: str, work: Work) -> Any:
        """The model, loaded and asked once."""
        from gleanvid.models.loading.progress import weights_counted

        def on_share(share: float) -> None:
            self._tell("loading", f"Loading {key}: {share:.0%}", share, 1.0)

        on_share(0.0)
        with weights_counted(on_share, work.stop):
            model = self.engine.library.load_model(key)
        if work.stop.is_set():
            raise StoppedError
        self._tell("warming", f"Trying {key} on four frames …")
        frames = np.zeros((4, 64, 64, 3), np.uint8)
        clip = ClipKey(Video.from_frames(frames, fps=1.0, name="nothing"), key)
        method, short = COMPRESSORS["gleanvid"](), Sampling(max_new_tokens=1)
        stream = self.engine.library.stream_answer
        for _ in stream(clip, "What?", model, method, short, stop=work.stop):
            pass
        if work.stop.is_set():
            raise StoppedError
        return model
