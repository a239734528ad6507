"""A model that a server of vLLM runs, in the place of one that was loaded.

The weights are loaded here too, for looking: tokens, where they stand in the clip, and the choice
where the server does not tell its own. Answers come from the server alone.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import torch

from gleanvid.compressors import COMPRESSORS, declared_settings
from gleanvid.compressors.base import Chain, Compressor
from gleanvid.models import load_model
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Answer, Encoded, History
from gleanvid.models.generation.prompt import literal
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.serving.vllm import SCHEME
from gleanvid.serving.vllm.client import Reply, Server, frames_part
from gleanvid.types import Compression, ModelError, StoppedError


def load_served(name: str, **loading: Any) -> ModelAdapter:
    """The model of ``vllm:http://host:port``; ``loading`` are keywords of ``load_model``.

    Raises ``ModelError`` where nothing answers there, and what ``load_model`` raises.
    """
    server = Server(name.removeprefix(SCHEME))
    adapter = load_model(server.checkpoint(), **loading)
    adapter.name = name
    adapter.generate = _Served(server, adapter).generate  # type: ignore[method-assign]
    return adapter


class _Served:
    def __init__(self, server: Server, adapter: ModelAdapter) -> None:
        self.server, self.adapter = server, adapter
        self._records: WeakKeyDictionary[Encoded, Compression] = WeakKeyDictionary()

    def generate(
        self,
        encoded: Encoded,
        question: str,
        compressor: Compressor | Chain | None,
        sampling: Sampling = GREEDY,
        *,
        history: History = (),
        on_text: Callable[[str], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Answer:
        """As ``ModelAdapter.generate``; seconds are those that the client waited.

        Raises ``ModelError`` where the server keeps other tokens than ``compressor`` would.
        """
        with self.adapter.lock:
            told = self.server.records()
            if told is not None:
                _check(told, compressor)
            part, more = frames_part(encoded.video)
            reply = self._ask(part, more, question, sampling, history, on_text, stop)
            uuid = None if told is None else part["uuid"]
            record = self._record(encoded, compressor, uuid)
        dropped = record.num_tokens - record.num_kept
        return Answer(
            text=reply.text.strip(),
            by_layer={0: record},
            prompt_tokens=reply.prompt_tokens + dropped,
            prompt_tokens_kept=reply.prompt_tokens,
            compress_s=0.0,  # within the seconds to the first token
            prefill_s=reply.first_token_s,
            generate_s=reply.total_s - reply.first_token_s,
            new_tokens=reply.new_tokens,
            peak_memory_mib=math.nan,
        )

    def _ask(
        self,
        part: dict[str, Any],
        more: dict[str, Any],
        question: str,
        sampling: Sampling,
        history: History,
        on_text: Callable[[str], None] | None,
        stop: threading.Event | None,
    ) -> Reply:
        def show(text: str) -> None:
            if stop is not None and stop.is_set():
                raise StoppedError("stopped")
            if on_text:
                on_text(text)

        turns = [*(words for turn in history for words in turn), question]
        first, *rest = (literal(words, self.adapter.processor.tokenizer) for words in turns)
        later = [
            {"role": ("assistant", "user")[place % 2], "content": words}
            for place, words in enumerate(rest)
        ]
        content = [part, {"type": "text", "text": first}]
        drawn: dict[str, Any] = {"temperature": sampling.temperature, "top_p": sampling.top_p}
        if sampling.seed is not None:
            drawn["seed"] = sampling.seed
        return self.server.ask(
            content, sampling.max_new_tokens, later, on_text=show, stop=stop, **more, **drawn
        )

    def _record(
        self, encoded: Encoded, compressor: Compressor | Chain | None, uuid: str | None
    ) -> Compression:
        """What the server kept of the video of this uuid; what the method keeps here without one.

        The server remembers the latest videos of all its clients, and this object its own.
        """
        tokens = encoded.tokens
        told = None if uuid is None else self.server.records(uuid=uuid)
        for one in told["records"] if told else ():
            if one.get("uuid") == uuid and tuple(one["grid"]) == tokens.grid:
                self._records[encoded] = Compression.pruned(torch.tensor(one["keep"]), tokens.grid)
        if told and encoded in self._records:
            return self._records[encoded]
        if compressor is None:
            return Compression.pruned(torch.arange(len(tokens)), tokens.grid)
        return compressor.stages[0][1].compress(tokens).to("cpu")


def _check(told: dict[str, Any], compressor: Compressor | Chain | None) -> None:
    """Raises ``ModelError`` unless the server runs this very method at this share."""
    kept = 1.0 - told["pruning_rate"]
    asked = {} if compressor is None else compressor.settings()
    ratio = asked.get("retention_ratio", 1.0)
    same = {**told["method"], "retention_ratio": ratio} == asked
    if not same or abs(ratio - kept) > 1e-6:
        name = told["method"]["name"]
        declared = declared_settings(COMPRESSORS[name]) if name in COMPRESSORS else {}
        own = [
            f"{setting}={told['method'][setting]}"
            for setting, (default, _, _) in declared.items()
            if setting != "retention_ratio" and told["method"].get(setting) != default
        ]
        raise ModelError(
            f"This server keeps {kept:.0%} by {name}"
            + (f" with {', '.join(own)}" if own else "")
            + ", for every request: choose that, or start another server."
        )
