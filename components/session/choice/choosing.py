"""Choosing a model: looked at, downloaded, loaded and warmed beside the one that is in use."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gleanvid.models.loading.precision import AUTO, check_precision, keyed, parted, precision_of
from gleanvid.models.loading.registry import CHECKPOINTS
from gleanvid.types import StoppedError

from ..display import explain
from ..work.engine import Engine
from ..work.local import BUILT_IN
from ..work.queue import BusyError, Work
from ..work.rates import Pause, RateLimit, in_words
from .bringing import Bringing
from .facts import Facts
from .offers import Offer, offers
from .progress import Progress

if TYPE_CHECKING:
    from gleanvid.models.loading.outlook import Outlook

LOOKING = "Looking at {name} …"
NOT_OFFERED = "This server offers {names} alone."
UNDER_WAY = "{name} is being loaded. Wait for it, or cancel it."
RESTING = "A model was loaded a moment ago. Another can be chosen in {time}."
CHOSEN = "From your address {count} models were chosen already. Another can be chosen in {time}."
LOOKED = "From your address much was looked at already. Wait {time}."
PACE_S = 0.1
PAUSE_S = 60.0  # between two choices on a public server, whoever makes them
CHOICES, HOUR_S = 6, 3600.0  # of one address on a public server
LOOKS, MINUTE_S = 20, 60.0  # of one address
FRAMES = 32  # that memory is looked at for where nobody said how many
IN_PLACE_S = 180.0  # for which loading may keep the visitors of a public server waiting


class Choosing:
    """The one choice of a server that is under way, if any; every page may watch it.

    A page calls :meth:`offers` for its menu, :meth:`look` for the sentence below it,
    :meth:`begin` on a click, and shows what :meth:`progress` yields until it ends; a page that is
    left cancels its own. ``names`` come first in the menu; where ``strict``, for a server that
    strangers reach, nothing else may be chosen, and not too often; else also the registry's, any at
    the hub and any folder. ``visitor``: the address that a page is reached from. ``first``: what
    the server was started with and has to download; :meth:`start` brings it.
    """

    def __init__(
        self,
        engine: Engine,
        names: Sequence[str] = (BUILT_IN,),
        strict: bool = False,
        device: str | None = None,
        first: str = "",
    ) -> None:
        self.engine, self.names, self.strict, self.device = engine, list(names), strict, device
        self.first, self._changed = first, threading.Condition()
        looking = Progress("looking", first, LOOKING.format(name=first))
        self._state = looking if first else Progress()
        self._work, self._page = Work(), ""
        self._pause = Pause(PAUSE_S)
        self._choices, self._looks = RateLimit(CHOICES, HOUR_S), RateLimit(LOOKS, MINUTE_S)
        self._facts = Facts()

    def start(self) -> None:
        """Bring :attr:`first`, also where memory seems too small; returns at once.

        To be called once the page is served; until then a page sees it as looked at.
        """
        name, precision = parted(self.first)[0], precision_of(self.first)
        self._begin(self.first, name, precision, FRAMES, anyway=True)

    def offers(self, precision: str = AUTO, frames: int = FRAMES) -> list[Offer]:
        """Rows of the menu. Raises ``ValueError`` for a precision that is none."""
        check_precision(precision)
        more = () if self.strict else (row.name for row in CHECKPOINTS)
        names = dict.fromkeys([*self.names, *more])
        return list(offers(names, precision, frames, self.device))

    def look(
        self, name: str, precision: str = AUTO, frames: int = FRAMES, visitor: str = ""
    ) -> Outlook:
        """What choosing would do; asks the hub for what is not here, once in a while.

        Raises ``ModelError``, and ``BusyError`` where an address looks too often.
        """
        self._check(name, precision)
        if not self._looks.allows(visitor):
            raise BusyError(LOOKED.format(time=in_words(self._looks.wait_s(visitor))))
        return self._look(name, precision, frames)

    def begin(
        self,
        name: str,
        precision: str = AUTO,
        frames: int = FRAMES,
        page: str = "",
        anyway: bool = False,
        visitor: str = "",
    ) -> None:
        """Start; returns at once. ``anyway``: also where memory seems too small.

        Raises ``BusyError`` while another choice is under way or too soon after it, and
        ``ValueError`` for a name that is not offered or a precision that is none.
        """
        self._check(name, precision)
        with self._changed:
            if not self._state.over:
                raise BusyError(UNDER_WAY.format(name=self._state.name))
            if self.strict and not self.engine.holds(keyed(name, precision)):
                self._check_pace(visitor)
            self._work, self._page = Work(), page
            key = keyed(name, precision)
            self._state = Progress("looking", key, LOOKING.format(name=name))
        self._begin(key, name, precision, frames, anyway)

    def _begin(self, key: str, name: str, precision: str, frames: int, anyway: bool) -> None:
        job = (self._work, key, name, precision, frames, anyway)
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

    def is_of(self, page: str) -> bool:
        """Whether the choice is under way, or this page began it, or the server's start did."""
        own = page if self._page or not self.first else ""
        return not self._state.over or self._page == own

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

    def _check_pace(self, visitor: str) -> None:
        """Raises ``BusyError`` where everybody has to wait, or this address."""
        if left_s := self._pause.left_s:
            raise BusyError(RESTING.format(time=in_words(left_s)))
        if not self._choices.allows(visitor):
            left = in_words(self._choices.wait_s(visitor))
            raise BusyError(CHOSEN.format(count=CHOICES, time=left))

    def _look(
        self, name: str, precision: str, frames: int, stop: threading.Event | None = None
    ) -> Outlook:
        from gleanvid.models.loading.outlook import outlook

        return outlook(name, precision, frames, self.device, self._facts, stop)

    def _is_past(self, stage: str) -> bool:
        return self._state.stage != stage

    def _tell(self, stage: str, text: str, done: float = 0.0, total: float = 0.0) -> None:
        with self._changed:
            self._state = Progress(stage, self._state.name, text, done, total)
            self._changed.notify_all()

    def _run(
        self, work: Work, key: str, name: str, precision: str, frames: int, anyway: bool
    ) -> None:
        before = self.engine.name
        try:
            if self.engine.holds(key):
                self.engine.model(key)  # the one in use from now on
            else:
                self._bring(key, name, precision, frames, anyway, work)
            end = "ready", f"{key} is ready."
        except StoppedError:
            cancelled = "cancelled", f"Cancelled. What was downloaded of {name} is kept."
            end = cancelled if work.why == Work.BY_HAND else ("failed", work.why)
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
        outlook = self._look(name, precision, frames, work.stop)
        bringing = Bringing(self.engine, work, self._tell, IN_PLACE_S if self.strict else None)
        try:
            bringing.bring(key, outlook, anyway)
        finally:
            self._pause.begin()
