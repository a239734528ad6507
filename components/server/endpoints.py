"""Named endpoints with documented types, for gradio_client, curl and MCP.

Calls wait in the same queue as the pages, under the same limits. Videos must be uploaded first.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gradio as gr
from gradio.data_classes import FileData
from gradio.utils import get_function_description

from gleanvid.compressors import COMPRESSORS, METHODS, key_of
from gleanvid.compressors.base import Compressor
from gleanvid.metrics import budget_gini

from ..compare import comparing as comparing
from ..compare import plans, rows
from ..jobs.engine import Engine, decides_early
from ..jobs.queue import Work
from ..jobs.request import Request
from .access import ended_with_caller, model_access
from .uploads import uploaded

COMING = "{name} is not loaded yet. The page of this server shows the progress."


def publish(engine: Engine, models: Sequence[str], max_frames: int, coming: str = "") -> None:
    """Add the endpoints to the Gradio page being built; arguments: see :class:`Calls`."""
    calls = Calls(engine, models, max_frames, coming)
    for function in (calls.ask, calls.compress, calls.compare):
        gr.api(
            function,
            api_name=function.__name__,
            api_description=described(function),
            concurrency_limit=None,
        )


def described(function: Callable[..., Any]) -> str:
    """Return an endpoint's description, from its docstring, in one line without the arguments."""
    text, _, returns = get_function_description(function)
    return f"{text} Returns: {' '.join(returns)}"


class Calls:
    """The endpoints ``ask``, ``compress`` and ``compare``, which share one engine.

    ``coming``: name of the first model, if the server starts before this model is loaded. Calls for
    it are refused until it is loaded.
    """

    def __init__(
        self, engine: Engine, models: Sequence[str], max_frames: int, coming: str = ""
    ) -> None:
        self.engine, self.models, self.max_frames = engine, list(models), max_frames
        self.coming, self.first = coming, coming or self.models[0]

    def ask(
        self,
        video: FileData,
        question: str,
        compressor: str = "gleanvid",
        retention_ratio: float = 0.25,
        model: str = "",
        frames: int = 32,
        settings: dict | None = None,
        seed: int = 0,
        temperature: float = 0.0,
        max_new_tokens: int = 64,
        top_p: float = 1.0,
        pixels: int = 0,
    ) -> dict:
        """Answer a question about a video; the model reads only a part of its visual tokens.

        Use it to ask what a video shows, and to see what the answer cost in tokens and seconds.

        Args:
            video: an uploaded video file.
            question: what to ask.
            compressor: a method's name, such as gleanvid, vidcom2, uniform or full.
            retention_ratio: share of the visual tokens that is kept, above 0 and at most 1.
            model: one of the models this server offers; empty for its first.
            frames: how many frames are sampled evenly over the clip.
            settings: further settings of the compressor by name.
            seed: random seed of sampling.
            temperature: sampling temperature; 0 is greedy decoding.
            max_new_tokens: maximum length of the answer in tokens.
            top_p: nucleus sampling, the cumulative probability kept.
            pixels: maximum pixels of a frame as the model sees it; 0 for the model's own limit.

        Returns:
            The answer, the settings, the tokens kept in each unit, and the cost.
        """
        sampling = {"seed": seed, "temperature": temperature, "top_p": top_p}
        sampling["max_new_tokens"] = max_new_tokens
        request = self._request(
            video, frames, model, compressor, retention_ratio, settings, sampling, pixels
        )
        if text := request.missing(question):
            raise gr.Error(text, print_exception=False)
        work = Work()
        with model_access(self.engine, request, work) as clip:
            method, sampled = request.make_compressor(), request.checked_sampling()
            return self.engine.run(request.clip(clip), question, method, sampled, work).summary()

    def compress(
        self,
        video: FileData,
        compressor: str = "gleanvid",
        retention_ratio: float = 0.25,
        model: str = "",
        frames: int = 32,
        settings: dict | None = None,
    ) -> dict:
        """Choose which visual tokens of a video a model would receive, without asking a question.

        Use it to see where in time and space a compressor spends its budget.

        Args:
            video: an uploaded video file.
            compressor: a method that needs no question, such as gleanvid, vidcom2 or uniform.
            retention_ratio: share of the visual tokens that is kept, above 0 and at most 1.
            model: one of the models this server offers; empty for its first.
            frames: how many frames are sampled evenly over the clip.
            settings: further settings of the compressor by name.

        Returns:
            The grid (units, rows, columns), the flat indices kept, the tokens kept in each unit,
            start and end of each unit in seconds, and the Gini coefficient of the budgets.
        """
        request = self._request(video, frames, model, compressor, retention_ratio, settings, {})
        work = Work()
        with model_access(self.engine, request, work) as clip:
            method = request.make_compressor()
            if not decides_early(method):
                raise ValueError(f"{compressor} chooses tokens during the answer: use /ask")
            key = request.clip(clip, method.needs)
            run = self.engine.compress(key, self.engine.encode(key, work), method)
            record = run.compression
            return {
                "compressor": method.settings(),
                "grid": list(record.grid),
                "keep": record.keep.tolist(),
                "budgets": record.budgets.tolist(),
                "unit_seconds": run.seconds.tolist(),
                "budget_gini": budget_gini(record),
            }

    def compare(
        self,
        video: FileData,
        question: str,
        compressors: list[str],
        retention_ratios: list[float],
        model: str = "",
        frames: int = 32,
    ) -> list[dict]:
        """Ask one question about a video under several compressors and ratios.

        Use it to compare what compressors save and what that costs in the answer. The first row is
        the run with all tokens. A call takes as long as asking once per compressor and ratio.

        Args:
            video: an uploaded video file.
            question: what to ask.
            compressors: names of methods.
            retention_ratios: shares of the visual tokens to keep.
            model: one of the models this server offers; empty for its first.
            frames: how many frames are sampled evenly over the clip.

        Returns:
            One row for each run: answer, tokens, times, memory, multiply-accumulates (MAC) of
            the prompt, agreement with the full-token answer, or the error.
        """
        request = self._request(video, frames, model, "full", 1.0, None, {})

        def make(name: str, ratio: float) -> Compressor:
            return COMPRESSORS[name](retention_ratio=ratio)

        def plan() -> list[plans.Plan]:
            lists = {"compressors": compressors, "retention_ratios": retention_ratios}
            for name, value in lists.items():
                if not isinstance(value, list):
                    raise ValueError(f"{name}={value!r} must be a list")
            if not all(isinstance(ratio, int | float) for ratio in retention_ratios):
                raise ValueError(f"retention_ratios={retention_ratios!r} must be numbers")
            names = [key_of(name) for name in compressors]
            return plans.plans(names, retention_ratios, make)

        session = f"api-{secrets.token_hex(8)}"
        self.engine.pages.start(session)
        done: list[rows.Row] = []
        problem = ""
        with ended_with_caller(partial(self.engine.pages.stop, session)):
            for update in comparing.compare(self.engine, session, request, question, plan):
                done = update.rows or done
                if update.notice and update.notice["kind"] == "problem":
                    problem = update.notice["text"]
        if problem and not any(row.run for row in done):
            raise gr.Error(problem, print_exception=False)
        return rows.table(done)

    def _request(
        self,
        video: Any,
        frames: int,
        model: str,
        compressor: str,
        ratio: float,
        settings: dict | None,
        sampling: dict[str, Any],
        pixels: int = 0,
    ) -> Request:
        """Return the arguments of a call as a request. Raises ``gr.Error`` for invalid ones."""
        try:
            path, method = uploaded(video), METHODS[key_of(compressor)]
            model = self._model(model)
            # type(): for isinstance, True and False are integers.
            if type(frames) is not int or not 1 <= frames <= self.max_frames:
                most = self.max_frames
                raise ValueError(f"frames={frames!r} must be a whole number in [1, {most}]")
            if settings is not None and not isinstance(settings, dict):
                raise ValueError(
                    f"settings={settings!r} must be a JSON object of setting names and values"
                )
            if settings and "name" in settings:  # "name" would replace ``compressor``
                raise ValueError("settings must not hold the name of a compressor")
            values = dict(settings or {})
            if method is not COMPRESSORS["full"]:
                values["retention_ratio"] = ratio
            request = Request(path, frames, model, method.name, values, pixels, sampling)
            request.check()
            return request
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from error

    def _model(self, name: Any) -> str:
        name = name or self.first
        if isinstance(name, str) and (self.engine.knows(name) or name in self.models):
            return name
        if name == self.coming:
            raise ValueError(COMING.format(name=name))
        raise ValueError(f"model={name!r} must be one of {', '.join(self.models)}")
