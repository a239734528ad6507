"""Client of a running vLLM server: ask about a video, and read which tokens the server kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from gleanvid.errors import MALFORMED, plain, refusing
from gleanvid.serving.vllm import checked_addresses, key_for
from gleanvid.types import ModelError, StoppedError

METADATA_S, ANSWER_S = 30.0, 600.0  # maximum seconds of a JSON response and of an answer
LONGEST_SENTENCE = 1000  # longer error messages are cut to this many characters
LOOPBACK = ("localhost", "127.0.0.1", "::1")
POLL_S = 0.1

T = TypeVar("T")


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
        return str(self._served()["id"])

    def checkpoint(self, stop: threading.Event | None = None) -> str:
        """Return the hub id or directory of the model's weights, as the server knows it.

        Raises ``ModelError`` if no server answers, and ``StoppedError`` once ``stop`` is set.
        """
        served = self._served(stop)
        return str(served.get("root") or served["id"])

    def _served(self, stop: threading.Event | None = None) -> dict[str, Any]:
        with refusing(ModelError, f"{self.url} is not a vLLM server: it names no model"):
            served = dict(self._json("/v1/models", stop)["data"][0])
            served["id"].strip()  # raises unless it is text
            return served

    def records(
        self, since: int = 0, uuid: str | None = None, stop: threading.Event | None = None
    ) -> dict[str, Any] | None:
        """Return the server's "method" (settings), "pruning_rate" and compression "records".

        Only records numbered above ``since`` are returned; with ``uuid``, only those of the video
        or image with this uuid. None if the server runs no method of GleanVID, or was started
        without ``VLLM_PLUGINS=gleanvid`` or with another ``--worker-extension-cls``. Raises
        ``ModelError`` if it does not answer, ``StoppedError`` once ``stop`` is set.
        """
        query = {"since": since} | ({} if uuid is None else {"uuid": uuid})
        try:
            found = self._json("/gleanvid/records", stop, query)
        except ModelError as error:
            cause = error.__cause__
            if isinstance(cause, httpx.HTTPStatusError) and cause.response.status_code == 404:
                return None
            raise
        with refusing(ModelError, f"{self.url} reports records that are not GleanVID's"):
            found["method"]["name"].strip()
            if not (0 <= found["pruning_rate"] <= 1 and isinstance(found["records"], list)):
                raise ValueError
            return dict(found)

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
            on_text: receives each piece of the answer, in a thread of this client.
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

        def read() -> Reply:
            pieces: list[str] = []
            usage: dict[str, int] = {}
            started = perf_counter()
            first_s = 0.0
            for event in self._events("/v1/chat/completions", request, stop):
                texts = (one["delta"].get("content") or "" for one in event["choices"])
                text = plain("".join(texts))
                usage = event.get("usage") or usage
                if text:
                    first_s = first_s or perf_counter() - started
                    pieces.append(text)
                    if on_text:
                        on_text(text)
            counts = int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))
            return Reply("".join(pieces), *counts, first_s, perf_counter() - started)

        with refusing(ModelError, f"{self.url} does not answer like a vLLM server"):
            return self._waiting(read, stop, ANSWER_S)

    def _events(
        self, path: str, body: dict[str, Any], stop: threading.Event | None
    ) -> Iterator[Any]:
        """Yield the events of a streamed response until ``stop`` is set, which closes it."""
        with self._client(ANSWER_S) as client, client.stream("POST", path, json=body) as response:
            self._check(response)
            for line in response.iter_lines():
                if stop is not None and stop.is_set():
                    raise StoppedError
                if line.startswith("data: {"):
                    event = json.loads(line.removeprefix("data: "))
                    if "error" in event:
                        raise self._error(f"{self.url}: {event['error']['message']}")
                    yield event

    def _json(
        self, path: str, stop: threading.Event | None, query: dict[str, Any] | None = None
    ) -> Any:
        def read() -> Any:
            with self._client(METADATA_S) as client:
                response = client.get(path, params=query)
                self._check(response)
                return response.json()

        with refusing(ModelError, f"{self.url} is not a vLLM server: it does not answer with JSON"):
            return self._waiting(read, stop, METADATA_S)

    def _client(self, within_s: float) -> httpx.Client:
        """Return a client that follows no redirects, and sends the key to this server alone."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        # Proxies of the environment are not for this machine: a proxy would get the API key.
        is_elsewhere = urlsplit(self.url).hostname not in LOOPBACK
        return httpx.Client(
            base_url=self.url, headers=headers, timeout=within_s, trust_env=is_elsewhere
        )

    def _check(self, response: httpx.Response) -> None:
        """Raise ``ModelError`` with the server's message unless the response is a success."""
        if response.is_success:
            return
        text = f"{response.status_code} {response.reason_phrase}"
        response.read()
        with suppress(*MALFORMED):
            text = str(response.json()["error"]["message"])
        cause = httpx.HTTPStatusError(text, request=response.request, response=response)
        raise self._error(f"{response.url.copy_with(query=None)}: {text}") from cause

    def _waiting(self, call: Callable[[], T], stop: threading.Event | None, within_s: float) -> T:
        """Return the result of a call in a daemon thread, which may wait for the server for ever.

        Raises ``ModelError`` after ``within_s`` seconds, and ``StoppedError`` once ``stop`` is set.
        """
        future: Future[T] = Future()

        def run() -> None:
            try:
                with self._explaining():
                    future.set_result(call())
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        end = perf_counter() + within_s
        while not wait([future], POLL_S).done:
            if stop is not None and stop.is_set():
                raise StoppedError
            if perf_counter() > end:
                raise ModelError(f"{self.url} did not finish its answer within {within_s:.0f} s")
        return future.result()

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
            raise self._error(f"no vLLM server answers at {self.url} ({error})") from error
        except httpx.TransportError as error:
            raise self._error(f"{self.url} broke off its answer ({error!r})") from error

    def _error(self, text: str) -> ModelError:
        """Return an error without the API key, which a server may quote."""
        whole = text.replace(self.key, "[key]") if self.key else text
        return ModelError(plain(whole)[:LONGEST_SENTENCE])


def servers_of(name: str) -> list[Server]:
    """Return the servers in a model name, ``vllm:http://host:port,http://...``; sends no request.

    Servers that the command line named get the API key in the environment variable
    ``VLLM_API_KEY``.
    """
    return [Server(address, key_for(address)) for address in checked_addresses(name)]
