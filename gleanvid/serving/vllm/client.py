"""Client of a running vLLM server: ask about a video, and read which tokens the server kept.

The server is not trusted: redirects are not followed, and answers are bounded in bytes and seconds.
"""

from __future__ import annotations

import json
import threading
import urllib.error
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from time import perf_counter
from typing import Any
from urllib.parse import urlencode

from gleanvid.errors import refusing
from gleanvid.models.loading.background import in_background, result_of
from gleanvid.serving.vllm import checked_addresses, key_for
from gleanvid.serving.vllm.answers import (
    LONGEST_SENTENCE,
    checked_records,
    event_text,
    lines,
    message,
    sentence,
    token_count,
)
from gleanvid.serving.vllm.opener import OPENER, Connections, Request
from gleanvid.types import ModelError

METADATA_S, MOST_METADATA = 30.0, 32 * 2**20  # maximum seconds and bytes of a JSON response
ANSWER_S, MOST_ANSWER = 600.0, 16 * 2**20  # maximum seconds and bytes of a streamed answer
LONGEST_NAME = 1_000  # maximum length of a served model's name
ODD = "{url} does not answer like a vLLM server"


@dataclass(frozen=True)
class Reply:
    """An answer and its cost as the client saw it; times count from sending the request."""

    text: str
    prompt_tokens: int
    new_tokens: int
    first_token_s: float
    total_s: float


@dataclass(frozen=True)
class Server:
    """A vLLM server at the address ``url``, e.g. ``http://127.0.0.1:8000``, and its API key.

    Raises ``ValueError`` if no HTTP header can hold the key; the message does not quote it.
    """

    url: str
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not (self.key.isascii() and self.key.isprintable()):
            raise ValueError("the API key of a vLLM server must be printable ASCII characters")

    def model(self) -> str:
        """Return the name of the served model. Raises ``ModelError`` if no server answers."""
        return self._served()["id"]

    def checkpoint(self, stop: threading.Event | None = None) -> str:
        """Return the hub id or directory of the model's weights, as the server knows it.

        Raises ``ModelError`` if no server answers, and ``StoppedError`` once ``stop`` is set.
        """
        served = self._served(stop)
        return served["root"] or served["id"]

    def _served(self, stop: threading.Event | None = None) -> dict[str, str]:
        with refusing(ModelError, f"{self.url} is not a vLLM server: it names no model"):
            served = dict(self._json("/v1/models", stop)["data"][0])
            names = {name: str(served.get(name) or "") for name in ("id", "root")}
            if not names["id"] or max(map(len, names.values())) > LONGEST_NAME:
                raise ValueError
            return names

    def records(
        self, since: int = 0, uuid: str | None = None, stop: threading.Event | None = None
    ) -> dict[str, Any] | None:
        """Return the server's method, its pruning rate, and its compression records.

        Only records numbered above ``since`` are returned; with ``uuid``, only those of the video
        or image with this uuid. Return None if the server runs no method of GleanVID, or was
        started without ``VLLM_PLUGINS=gleanvid`` or with another ``--worker-extension-cls``.
        """
        query = {"since": since} | ({} if uuid is None else {"uuid": uuid})
        try:
            with refusing(ModelError, f"{self.url} reports records that are not GleanVID's"):
                return checked_records(self._json(f"/gleanvid/records?{urlencode(query)}", stop))
        except ModelError as error:
            if isinstance(error.__cause__, urllib.error.HTTPError) and error.__cause__.code == 404:
                return None
            raise

    def ask(
        self,
        content: list[dict[str, Any]],
        max_new_tokens: int = 64,
        later: Sequence[dict[str, Any]] = (),
        *,
        model: str | None = None,
        on_text: Callable[[str], None] | None = None,
        stop: threading.Event | None = None,
        **more: Any,
    ) -> Reply:
        """Ask a question and stream the answer, with greedy decoding by default.

        Args:
            content: parts of the first message, such as ``parts.file_part(...)`` and a text part.
            max_new_tokens: longest answer in tokens.
            later: messages after the first one.
            model: name of the model; None takes the model that the server serves.
            on_text: receives each piece of the answer.
            stop: ends the request once set.
            more: further fields of the request.

        Raises:
            ModelError: the server refuses (the error holds the server's message), or it does not
                answer as a vLLM server does.
            StoppedError: ``stop`` was set.
        """
        request = {
            "model": model or self._served(stop)["id"],
            "messages": [{"role": "user", "content": content}, *later],
            "max_tokens": max_new_tokens,
            "temperature": 0.0,
            "stream": True,
            "stream_options": {"include_usage": True},
        } | more
        pieces: list[str] = []
        tokens = [0, 0]
        started = perf_counter()
        first_s = 0.0
        for event in self._events("/v1/chat/completions", request, stop):
            with refusing(ModelError, ODD.format(url=self.url)):
                text = event_text(event)
                if usage := event.get("usage"):
                    names = ("prompt_tokens", "completion_tokens")
                    tokens = [token_count(usage, name) for name in names]
            if not text:
                continue
            first_s = first_s or perf_counter() - started
            pieces.append(text)
            if on_text:
                on_text(text)
        return Reply("".join(pieces), tokens[0], tokens[1], first_s, perf_counter() - started)

    def _events(self, path: str, body: dict[str, Any], stop: threading.Event | None) -> Any:
        data = json.dumps(body).encode()
        for line in lines(self._pieces(path, ANSWER_S, MOST_ANSWER, data, stop)):
            if line.startswith(b"data: {"):
                with refusing(ModelError, ODD.format(url=self.url)):
                    event = json.loads(line.removeprefix(b"data: "))
                    refusal = message(event) if "error" in event else ""
                if refusal:
                    raise self._error(f"{self.url}: {refusal}")
                yield event

    def _json(self, path: str, stop: threading.Event | None = None) -> Any:
        with refusing(ModelError, f"{self.url} is not a vLLM server: it does not answer with JSON"):
            return json.loads(b"".join(self._pieces(path, METADATA_S, MOST_METADATA, stop=stop)))

    def _pieces(
        self,
        path: str,
        within_s: float,
        most: int,
        body: bytes | None = None,
        stop: threading.Event | None = None,
    ) -> Iterator[bytes]:
        end = perf_counter() + within_s
        count = 0
        connections = Connections()
        try:
            opened = in_background(self._open, path, body, within_s, connections)
            answer = result_of(opened, stop, within_s)
            while piece := result_of(
                in_background(answer.read1, 2**16), stop, end - perf_counter()
            ):
                count += len(piece)
                if count > most:
                    raise ModelError(f"{self.url} answered with more than {most / 2**20:.0f} MiB")
                yield piece
        except TimeoutError as error:
            text = f"{self.url} did not finish its answer within {within_s:.0f} seconds"
            raise ModelError(text) from error
        except (OSError, HTTPException, ValueError) as error:
            raise self._error(f"{self.url} broke off its answer ({error!r})") from error
        finally:  # a background thread may still read, perhaps for ever
            connections.shut()

    def _open(
        self, path: str, body: bytes | None, within_s: float, connections: Connections
    ) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            request = Request(connections, self.url.rstrip("/") + path, body, headers)
            return OPENER.open(request, timeout=within_s)
        except urllib.error.HTTPError as error:
            asked = self.url.rstrip("/") + path.partition("?")[0]
            raise self._error(f"{asked}: {sentence(error)}") from error
        except TimeoutError:
            raise
        except (OSError, HTTPException, ValueError) as error:
            raise self._error(f"no vLLM server answers at {self.url} ({error})") from error

    def _error(self, text: str) -> ModelError:
        """Return an error without the API key, which a server may quote."""
        whole = text.replace(self.key, "[key]") if self.key else text
        return ModelError(whole[:LONGEST_SENTENCE])


def servers_of(name: str) -> list[Server]:
    """Return the servers in a model name, ``vllm:http://host:port,http://...``; sends no request.

    Servers that the command line named get the API key in the environment variable
    ``VLLM_API_KEY``.
    """
    return [Server(address, key_for(address)) for address in checked_addresses(name)]
