"""A model whose answers come from servers of vLLM.

The same weights are also loaded in this process, to compute a clip's visual tokens and to apply any
method at any ratio to them. Only the servers generate answers. A server runs one method at one
ratio, so answers at several ratios, or with all tokens, need several servers of the same model.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch

from gleanvid.compressors import COMPRESSORS, declared_settings, from_settings
from gleanvid.compressors.base import Compressor
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.cost import Answer
from gleanvid.errors import refusing
from gleanvid.models import load_model
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded, History
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.models.generation.text import literal
from gleanvid.serving.vllm import send_key_to
from gleanvid.serving.vllm.client import Reply, Server, servers_of
from gleanvid.serving.vllm.parts import frames_part
from gleanvid.types import Compression, ModelError, StoppedError


def load_served(name: str, **loading: Any) -> ModelAdapter:
    """Load the model that ``vllm:http://host:port`` serves; its answers come from that server.

    Args:
        name: address of the server, then after commas the addresses of further servers that run
            the same model with other settings.
        loading: keywords of ``load_model``.

    Raises:
        ModelError: a server does not answer, the servers run different models, or ``load_model``
            raises it.
    """
    servers = servers_of(name)
    loaded = load_model(checkpoint_of(servers), **loading)
    family = type(f"Served{type(loaded).__name__}", (ServedAdapter, type(loaded)), {})
    return family(name, loaded, servers)


def load_own(name: str, **loading: Any) -> ModelAdapter:
    """Load a model like :func:`load_served`; its servers get the key in ``VLLM_API_KEY``."""
    send_key_to(name)
    return load_served(name, **loading)


def checkpoint_of(servers: Sequence[Server], stop: threading.Event | None = None) -> str:
    """Return the hub id or folder of the model that all servers run.

    Raises ``ModelError`` if they run different models or one does not answer, and ``StoppedError``
    once ``stop`` is set.
    """
    checkpoints = list(dict.fromkeys(server.checkpoint(stop) for server in servers))
    if len(checkpoints) > 1:
        raise ModelError(f"the vLLM servers run different models: {', '.join(checkpoints)}")
    return checkpoints[0]


def settings_served(name: str) -> dict[str, Any] | None:
    """Return the compressor settings of the first server in ``name`` that reports them.

    ``name`` is ``vllm:http://host:port``, or several addresses with commas between. Return None if
    no server reports a known method. No model is loaded. Raises ``ModelError`` if a server does
    not answer or reports invalid settings.
    """
    for server in servers_of(name):
        served = server.records()
        if served is not None and served["method"]["name"] in COMPRESSORS:
            ratio = round(1.0 - served["pruning_rate"], 6)
            with refusing(
                ModelError,
                f"{server.url}: the server's settings describe no compressor",
                because=True,
            ):
                return from_settings({**served["method"], "retention_ratio": ratio}).settings()
    return None


class ServedAdapter(ModelAdapter):
    """Mixin for a loaded model whose answers come from vLLM servers."""

    def __init__(self, name: str, loaded: ModelAdapter, servers: Sequence[Server]) -> None:
        vars(self).update(vars(loaded))  # shares the loaded model's settings, lock and cached clips
        self.name, self.servers = name, servers
        self._records: WeakKeyDictionary[Encoded, dict[Server, Compression]] = WeakKeyDictionary()

    def generate(
        self,
        encoded: Encoded,
        question: str,
        compressor: Compressor | None,
        sampling: Sampling = GREEDY,
        *,
        history: History = (),
        on_text: Callable[[str], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Answer:
        """Answer ``question`` on the server that runs ``compressor``.

        The times of the answer are measured by this client. Raises ``ModelError`` if no server runs
        this compressor at its ratio.
        """
        method = FullTokens() if compressor is None else compressor
        with self.lock:
            server, reports = self._server_for(method.settings(), stop)
            whole = self.prompt(encoded, question, history)["input_ids"].shape[1]
            part, more = frames_part(encoded.video)
            reply = self._ask(server, part, more, question, sampling, history, on_text, stop)
            record = self._record(server, encoded, part["uuid"]) if reports else None
            if record is None:
                record = method.stages[0][1].compress(encoded.tokens).to("cpu")
            dropped = record.num_tokens - record.num_kept
            if not reports:
                _check_count(server, reply.prompt_tokens, whole - dropped)
        return Answer(
            text=reply.text.strip(),
            by_layer={0: record},
            prompt_tokens=reply.prompt_tokens + dropped,
            prompt_tokens_kept=reply.prompt_tokens,
            compress_s=0.0,  # the server's time to compress is part of prefill_s
            prefill_s=reply.first_token_s,
            generate_s=reply.total_s - reply.first_token_s,
            new_tokens=reply.new_tokens,
            peak_memory_mib=math.nan,
        )

    def _server_for(
        self, asked: Mapping[str, Any], stop: threading.Event | None
    ) -> tuple[Server, bool]:
        """Return the server with these settings, and whether it reports kept tokens.

        A server that does not report them is used for "full", or for any method if it is the only
        server. Raises ``ModelError`` if no server fits.
        """
        served = {server: server.records(stop=stop) for server in self.servers}
        for server, settings in served.items():
            if settings is not None and _serves(settings, asked):
                return server, True
        silent = [server for server, settings in served.items() if settings is None]
        if silent and (len(served) == 1 or asked["name"] == "full"):
            return silent[0], False
        known = " and ".join(_describe(settings) for settings in served.values())
        plural = len(served) > 1
        rate = 1.0 - asked["retention_ratio"]
        every = asked["name"] == "full"
        wanted = _describe(None if every else {"method": asked, "pruning_rate": rate})
        raise ModelError(
            f"{'These servers keep' if plural else 'This server keeps'} {known} for every "
            f"request, and not {wanted}: choose {'one of these settings' if plural else known}, "
            "or add the address of another server after a comma."
        )

    def _ask(
        self,
        server: Server,
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
        first, *rest = (literal(words, self.processor.tokenizer) for words in turns)
        later = [
            {"role": ("assistant", "user")[place % 2], "content": words}
            for place, words in enumerate(rest)
        ]
        content = [part, {"type": "text", "text": first}]
        drawn: dict[str, Any] = {"temperature": sampling.temperature, "top_p": sampling.top_p}
        if sampling.seed is not None:
            drawn["seed"] = sampling.seed
        return server.ask(
            content, sampling.max_new_tokens, later, on_text=show, stop=stop, **more, **drawn
        )

    def _record(self, server: Server, encoded: Encoded, uuid: str) -> Compression | None:
        """Return the server's compression record of the video with this uuid; None if missing.

        The server remembers only the latest records, for all clients together. So this client also
        remembers the records of its own videos.
        """
        grid, served = encoded.tokens.grid, server.records(uuid=uuid)
        if served is None:
            return None
        known = self._records.setdefault(encoded, {})
        with refusing(ModelError, f"{server.url} reports records that are not GleanVID's"):
            for one in served["records"]:
                if one.get("uuid") == uuid and tuple(one["grid"]) == grid:
                    known[server] = Compression.pruned(torch.tensor(one["keep"]), grid)
        return known.get(server)


def _check_count(server: Server, read: int, expected: int) -> None:
    """Raise ``ModelError`` if the server's prompt has ``read`` tokens instead of ``expected``."""
    if abs(read - expected) > 1:  # vLLM may round the number of kept tokens differently
        raise ModelError(
            f"{server.url} read a prompt of {read:,} tokens, but these settings give {expected:,}: "
            "the server keeps another fraction of the tokens. Start it with VLLM_PLUGINS=gleanvid "
            "so that it reports which."
        )


def _serves(served: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Return whether a server, by its :meth:`Server.records`, runs the settings ``asked``."""
    ratio = asked["retention_ratio"]
    same = {**served["method"], "retention_ratio": ratio} == asked
    return same and abs(ratio - (1.0 - served["pruning_rate"])) <= 1e-6


def _describe(served: Mapping[str, Any] | None) -> str:
    """Describe in words which tokens a vLLM server keeps, such as "25% by gleanvid"."""
    if served is None:
        return "all tokens"
    name = served["method"]["name"]
    declared = declared_settings(COMPRESSORS[name]) if name in COMPRESSORS else {}
    own = [
        f"{setting}={served['method'][setting]}"
        for setting, (default, _, _) in declared.items()
        if setting != "retention_ratio" and served["method"].get(setting) != default
    ]
    with_own = f" with {', '.join(own)}" if own else ""
    return f"{1.0 - served['pruning_rate']:.0%} by {name}{with_own}"
