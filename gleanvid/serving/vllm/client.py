"""Client of a running vLLM server: ask about a video, and read which tokens were kept.

The server is not trusted: redirects are not followed, and answers are bounded in bytes and seconds.
"""

from __future__ import annotations

import base64
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from http.client import HTTPException
from io import BytesIO
from time import perf_counter
from typing import Any
from urllib.parse import urlencode

from gleanvid.errors import refusing
from gleanvid.models.loading.background import in_background, result_of
from gleanvid.serving.vllm.answers import (
    checked_records,
    event_text,
    lines,
    message,
    sentence,
    token_count,
)
from gleanvid.types import ModelError, Video

METADATA_S, MOST_METADATA = 30.0, 32 * 2**20  # limits for models and records: seconds, bytes
ANSWER_S, MOST_ANSWER = 600.0, 16 * 2**20  # limits for an answer: seconds, bytes
ODD = "{url} answers something else than a server of vLLM"


@dataclass(frozen=True)
class Reply:
    """An answer and its cost as the client saw it; seconds since the request was sent."""

    text: str
    prompt_tokens: int
    new_tokens: int
    first_token_s: float
    total_s: float


@dataclass(frozen=True)
class Server:
    """A server of vLLM by its address, e.g. ``http://127.0.0.1:8000``."""

    url: str
    key: str = field(default="", repr=False)

    def model(self) -> str:
        """Return the name of the served model. Raises ``ModelError`` if nothing answers."""
        return str(self._served()["id"])

    def checkpoint(self) -> str:
        """Return the hub id or directory of the model's weights, as the server knows it."""
        return str(self._served().get("root") or self.model())

    def _served(self) -> dict[str, Any]:
        with refusing(ModelError, f"{self.url} is no server of vLLM: it names no model"):
            served = dict(self._json("/v1/models")["data"][0])
            return served | {"id": str(served["id"])}

    def records(self, since: int = 0, uuid: str | None = None) -> dict[str, Any] | None:
        """Return the method, the rate, and the records after number ``since``.

        ``uuid``: only the records of this video. None if the server runs no method of GleanVID or
        does not report records (``VLLM_PLUGINS=gleanvid``).
        """
        query = {"since": since} | ({} if uuid is None else {"uuid": uuid})
        try:
            with refusing(ModelError, f"{self.url} reports records that are none of GleanVID"):
                return checked_records(self._json(f"/gleanvid/records?{urlencode(query)}"))
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
            content: parts of the first message.
            max_new_tokens: bound on the answer.
            later: messages after the first one.
            model: name of the model; that of the server if None.
            on_text: gets each piece of the answer.
            stop: ends the request once set.
            more: further fields of the request.

        Raises:
            ModelError: the server refuses, and the error holds its message; or it answers
                something else than vLLM.
            StoppedError: ``stop`` was set.
        """
        request = {
            "model": model or self.model(),
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
                    raise ModelError(f"{self.url}: {refusal}")
                yield event

    def _json(self, path: str) -> Any:
        with refusing(ModelError, f"{self.url} is no server of vLLM: it answers no JSON"):
            return json.loads(b"".join(self._pieces(path, METADATA_S, MOST_METADATA)))

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
        try:
            opened = in_background(self._open, path, body, within_s)
            answer = result_of(opened, stop, within_s)
            while piece := result_of(
                in_background(answer.read1, 2**16), stop, end - perf_counter()
            ):
                count += len(piece)
                if count > most:
                    raise ModelError(f"{self.url} answers with more than {most / 2**20:.0f} MiB")
                yield piece
        except TimeoutError as error:
            text = f"{self.url} did not answer whole within {within_s:.0f} seconds"
            raise ModelError(text) from error
        except (OSError, HTTPException, ValueError) as error:
            raise ModelError(f"{self.url} broke off its answer ({error!r})") from error

    def _open(self, path: str, body: bytes | None, within_s: float) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            request = urllib.request.Request(self.url.rstrip("/") + path, body, headers)
            return _OPENER.open(request, timeout=within_s)
        except urllib.error.HTTPError as error:
            raise ModelError(f"{self.url}: {sentence(error)}") from error
        except TimeoutError:
            raise
        except (OSError, HTTPException, ValueError) as error:
            raise ModelError(f"no server of vLLM answers at {self.url} ({error})") from error


def _opener() -> urllib.request.OpenerDirector:
    """Return an opener for HTTP alone: no redirects, no files."""
    opener = urllib.request.OpenerDirector()
    for kind in (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPErrorProcessor,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.UnknownHandler,
    ):
        opener.add_handler(kind())
    return opener


_OPENER = _opener()


def frames_part(video: Video) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return decoded frames as a part of a message, and the request field with their times.

    The part's ``uuid`` is a digest of both, by which the server's record of it can be found.
    Frames are PNG, without loss: the server accepts any image format in the list that it calls
    JPEG. It must have been started with ``--trust-request-mm-kwargs``.
    """
    from PIL import Image

    encoded = []
    for frame in video.frames:
        file = BytesIO()
        Image.fromarray(frame).save(file, "PNG", compress_level=1)
        encoded.append(base64.b64encode(file.getvalue()).decode())
    times = {
        "num_frames": -1,
        "fps": float(video.fps or 1.0),
        "frames_indices": [int(index) for index in video.indices],
        "total_num_frames": max(int(video.total_frames), len(video)),
        "duration": float(video.duration),
    }
    part: dict[str, Any] = {
        "type": "video_url",
        "video_url": {"url": "data:video/jpeg;base64," + ",".join(encoded)},
    }
    part["uuid"] = "gleanvid-" + sha256(json.dumps([encoded, times]).encode()).hexdigest()
    return part, {"media_io_kwargs": {"video": times}}


def file_part(data: bytes, uuid: str | None = None) -> dict[str, Any]:
    """Return a video file as a part of a message; the server samples its frames.

    ``uuid`` identifies it in the server's caches in place of its content.
    """
    url = "data:video/mp4;base64," + base64.b64encode(data).decode()
    return {"type": "video_url", "video_url": {"url": url}} | ({"uuid": uuid} if uuid else {})
