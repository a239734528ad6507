"""Requests to the hub. Its answers have an end, in bytes and in time, and can be left at once."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

from huggingface_hub import constants, get_session
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

from gleanvid.errors import ModelError
from gleanvid.serving.vllm.background import aside

SILENCE_S = 15.0  # that counts as a broken connection
MOST_JSON = 4 * 2**20  # bytes; a page of a thousand files takes a tenth of it


class Head(NamedTuple):
    """``part``: whether only the rest of a file follows; ``later``: address of the next page."""

    part: bool
    later: str


def asked(
    url: str, stop: threading.Event, first_byte: int = 0, within_s: float = math.inf
) -> tuple[Head, Iterator[bytes]]:
    """The head of an answer, and its bytes from ``first_byte`` on as they lie on the hub.

    Both raise the ``HTTPError`` of huggingface_hub, ``StoppedError`` and ``TimeoutError``.
    """
    headers = build_hf_headers() | {"Accept-Encoding": "identity"}
    if first_byte:
        headers["Range"] = f"bytes={first_byte}-"

    def read() -> Generator[Any, None, None]:
        with get_session().stream("GET", url, headers=headers, timeout=SILENCE_S) as answer:
            _raise_for_status(answer)
            later = answer.links.get("next", {}).get("url", "")
            yield Head(answer.status_code == 206, str(later))
            yield from answer.iter_raw()

    came = aside(read, stop, within_s)
    return next(came), came


def told(url: str, stop: threading.Event, within_s: float) -> tuple[Any, str]:
    """The JSON at an address of the hub, and that of the next page. Raises also ``ModelError``."""
    body = bytearray()
    head, pieces = asked(url, stop, within_s=within_s)
    for piece in pieces:
        body += piece
        if len(body) > MOST_JSON:
            raise no_hub("it tells more than any checkpoint needs")
    try:
        return json.loads(body.decode()), head.later
    except (ValueError, RecursionError) as error:
        raise no_hub("its answer is no JSON") from error


def no_hub(why: str) -> ModelError:
    """The address is not that of a hub."""
    return ModelError(f"{constants.ENDPOINT} is no hub: {why}.")


def _raise_for_status(answer: Any) -> None:
    """As huggingface_hub does, without what follows the head: that may have no end."""
    if answer.status_code >= 400:
        named = {name: value for name, value in answer.headers.items() if name.startswith("x-")}
        hf_raise_for_status(
            type(answer)(answer.status_code, headers=named, content=b"", request=answer.request)
        )
