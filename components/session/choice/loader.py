"""Download, load and test a model, then put it into the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gleanvid.compressors import COMPRESSORS
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.loading.precision import split_precision
from gleanvid.serving.vllm import SCHEME
from gleanvid.types import ModelError, StoppedError, Video

from ..work.backend import Question
from ..work.engine import Engine
from ..work.local import BUILT_IN, PHOTOS, is_here
from ..work.queue import Work

if TYPE_CHECKING:
    from gleanvid.models.loading.outlook import Outlook

TOO_LARGE = (
    "{name} takes about {needed:.1f} GB and {free:.1f} are free. Choose {smaller}a smaller model "
    "or fewer frames, or close what else uses the memory."
)


class ModelLoader:
    """Loads models into the engine.

    ``report`` is called with the progress: stage, sentence for the user, done and total.
    """

    def __init__(self, engine: Engine, work: Work, report: Callable[..., None]) -> None:
        self.engine, self.work, self.report = engine, work, report

    def install(self, key: str, outlook: Outlook, anyway: bool) -> None:
        """Load a model and make it the engine's model. Raises ``ModelError``, ``StoppedError``."""
        has_room = self._has_room(outlook, anyway)
        self.download(outlook)
        if has_room:
            self.engine.put(key, self._load(key))
        else:
            self._replace(key)

    def download(self, outlook: Outlook) -> None:
        """Download the files missing here. Raises ``ModelError``, ``StoppedError``."""
        if outlook.download is None:
            return
        from gleanvid.models.loading.download import fetch
        from gleanvid.models.loading.hub import cached

        total = outlook.download.size
        for done in fetch(outlook.download, self.work.stop):
            text = f"Downloading {outlook.name}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            self.report("downloading", text, done, total)
        # Without this check, transformers would ask the hub for the missing files while loading.
        if cached(outlook.name) is None:
            raise ModelError(f"{outlook.name} is incomplete: the hub did not list all its weights.")

    def _has_room(self, outlook: Outlook, anyway: bool) -> bool:
        """Return whether the new model fits in memory without unloading the model in use.

        Raises ``ModelError`` if it does not even fit alone, unless ``anyway``.
        """
        fit = outlook.fit
        if fit.ok is not False:
            return True
        freed = self.engine.weights_gb()
        if fit.needed_gb > (fit.free_gb or 0.0) + freed and not anyway:
            smaller = "4-bit, " if fit.text.endswith("4-bit") else ""
            sizes = {"needed": fit.needed_gb, "free": fit.free_gb}
            raise ModelError(TOO_LARGE.format(name=outlook.name, smaller=smaller, **sizes))
        return self.engine.name is None

    def _replace(self, key: str) -> None:
        """Unload the model in use, then load the new one; waits for the model queue."""
        self.report(
            "waiting",
            "Memory has no room for a second model: waiting until the current one is idle.",
        )
        for ahead in self.engine.queue.wait(self.work):
            self.report("waiting", f"Waiting for the model: {ahead} ahead in the queue.")
        self.engine.queue.take_time(self.work)
        self.engine.empty()
        self.engine.put(key, self._load(key))

    def _load(self, key: str) -> Any:
        """Load the model and let it answer once, as a test and warm-up."""
        from gleanvid.models.loading.weight_progress import weight_progress

        def report(fraction: float) -> None:
            self.report("loading", f"Loading {key}: {fraction:.0%}", fraction, 1.0)

        report(0.0)
        with weight_progress(report, self.work.stop):
            model = self.engine.backend.load_model(key)
        self._check_stop()
        if key.startswith(SCHEME):  # a vLLM server needs no warm-up, and may lack GleanVID
            return model
        self.report("warming", f"Trying {key} on four frames …")
        frames = np.zeros((4, 64, 64, 3), np.uint8)
        clip = ClipKey(Video.from_frames(frames, fps=1.0, name="nothing"), key)
        method, short = COMPRESSORS["gleanvid"](), Sampling(max_new_tokens=1)
        question = Question(clip, "What?", method, short)
        for _ in self.engine.backend.stream_answer(question, model, self.work.stop):
            continue
        self._check_stop()
        return model

    def _check_stop(self) -> None:
        if self.work.stop.is_set():
            raise StoppedError


def load_all(
    engine: Engine, names: Sequence[str], device: str | None, report: Callable[..., None]
) -> None:
    """Download and load the models of a public server; the first one becomes the model in use.

    Built-in models are skipped: they load within a second when first used. Raises ``ModelError``
    for a model that cannot be loaded.
    """
    from gleanvid.models.loading.outlook import outlook

    loader = ModelLoader(engine, Work(), report)
    for name in reversed([name for name in names if name not in (BUILT_IN, PHOTOS)]):
        if not is_here(name):
            plain, precision = split_precision(name)
            loader.download(outlook(plain, precision, device=device))
        report("loading", f"Loading {name}")
        engine.model(name)
