"""What a choice of a model does: looked at, downloaded, loaded, and asked once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gleanvid.compressors import COMPRESSORS
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import ModelError, StoppedError, Video

from ..work.backend import Question
from ..work.engine import Engine
from ..work.queue import Work

if TYPE_CHECKING:
    from gleanvid.models.loading.outlook import Outlook

TOO_LARGE = (
    "{name} takes about {needed:.1f} GB and {free:.1f} are free. Choose {smaller}a smaller model "
    "or fewer frames, or close what else uses the memory."
)
TOO_SLOW = "Loading took longer than {limit:g} seconds while others waited: it was ended."


class Bringing:
    """One model on its way into the engine.

    ``tell`` gets stage, sentence, done and total; ``in_place_s``: how long loading may keep the
    others waiting, None: as long as it takes.
    """

    def __init__(
        self, engine: Engine, work: Work, tell: Callable[..., None], in_place_s: float | None
    ) -> None:
        self.engine, self.work, self.tell, self.in_place_s = engine, work, tell, in_place_s

    def bring(self, key: str, outlook: Outlook, anyway: bool) -> None:
        """The model is the engine's then. Raises ``ModelError``, ``StoppedError``."""
        beside = self._room(outlook, anyway)
        self._download(outlook)
        if beside:
            self.engine.put(key, self._loaded(key))
        else:
            self._in_place(key)

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

    def _download(self, outlook: Outlook) -> None:
        if outlook.download is None:
            return
        from gleanvid.models.loading.fetching import fetched
        from gleanvid.models.loading.hub import cached

        total = outlook.download.size
        for done in fetched(outlook.download, self.work.stop):
            if self.work.stop.is_set():
                raise StoppedError
            text = f"Downloading {outlook.name}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            self.tell("downloading", text, done, total)
        if cached(outlook.name) is None:  # transformers would ask the hub for files not announced
            raise ModelError(f"{outlook.name} is incomplete: the hub did not list all its weights.")

    def _in_place(self, key: str) -> None:
        """Load where the old model was, in a turn at the line: nobody is at work then."""
        line, limit_s = self.engine.line, self.in_place_s
        self.tell("waiting", "There is no room beside the model in use: waiting for its turn.")
        for ahead in line.wait(self.work):
            self.tell("waiting", f"Waiting for the model: {ahead} before this.")
        line.take_time(self.work, limit_s, TOO_SLOW.format(limit=limit_s or math.inf))
        self.engine.empty()
        self.engine.put(key, self._loaded(key))

    def _loaded(self, key: str) -> Any:
        """The model, loaded and asked once."""
        from gleanvid.models.loading.progress import weights_counted

        def on_share(share: float) -> None:
            self.tell("loading", f"Loading {key}: {share:.0%}", share, 1.0)

        on_share(0.0)
        stop = self.work.stop
        with weights_counted(on_share, stop):
            model = self.engine.backend.load_model(key)
        if stop.is_set():
            raise StoppedError
        self.tell("warming", f"Trying {key} on four frames …")
        frames = np.zeros((4, 64, 64, 3), np.uint8)
        clip = ClipKey(Video.from_frames(frames, fps=1.0, name="nothing"), key)
        method, short = COMPRESSORS["gleanvid"](), Sampling(max_new_tokens=1)
        question = Question(clip, "What?", method, short)
        for _ in self.engine.backend.stream_answer(question, model, stop):
            pass
        if stop.is_set():
            raise StoppedError
        return model
