"""The model hub (Hugging Face): is it reachable, what is in its local cache, and its errors."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from pathlib import Path

from huggingface_hub import (
    constants,
    get_session,
    get_token,
    is_offline_mode,
    try_to_load_from_cache,
)
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,
    RepositoryNotFoundError,
)

from gleanvid.errors import ModelError, UnreachableError
from gleanvid.models.loading.background import in_background

SECONDS = 2.0  # time limit for the hub's answer, in seconds
SILENCE_S = 15.0  # seconds without data after which a connection counts as broken


def is_reachable() -> bool:
    """Return whether the hub answers in time; False if ``HF_HUB_OFFLINE=1`` is set.

    The request uses the proxies and ``HF_ENDPOINT`` of huggingface_hub. It runs in a thread because
    name resolution has no time limit.
    """
    if is_offline_mode():
        return False
    call = in_background(get_session().head, constants.ENDPOINT, timeout=SECONDS)
    wait([call], SECONDS)
    return call.done() and call.exception() is None


def cached(name: str) -> Path | None:
    """Return a checkpoint's folder in huggingface_hub's cache if it is complete, else None."""
    with suppress(HFValidationError, OSError, ValueError):
        found = try_to_load_from_cache(name, "config.json")
        if isinstance(found, str) and _is_whole(Path(found).parent):
            return Path(found).parent
    return None


def _is_whole(folder: Path) -> bool:
    if (folder / "model.safetensors").is_file():
        return True
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return False
    try:
        shards = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        return all((folder / shard).is_file() for shard in shards)
    except (KeyError, TypeError, AttributeError, RecursionError):  # malformed index
        return False


@contextmanager
def explaining(name: str) -> Iterator[None]:
    """Turn failures of the hub, the connection or the disk into a ``ModelError``."""
    try:
        yield
    except GatedRepoError as error:
        raise ModelError(_gated(name)) from error
    except HfHubHTTPError as error:
        raise _refused(name, error) from error
    except HFValidationError as error:
        raise ModelError(
            f"{name[:80]!r} is not the name of a model, which has the form OWNER/NAME."
        ) from error
    except HTTPError as error:  # the connection broke
        raise ModelError(
            f"The connection to {constants.ENDPOINT} broke while {name} was downloaded. "
            "Received data are kept: choose the model again to continue."
        ) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ModelError(
                f"The disk is full: {name} could not be downloaded whole. Make room, or set "
                "HF_HOME to a folder on another disk; then choose the model again to continue."
            ) from error
        raise ModelError(
            f"{name} could not be written to the folder for downloads "
            f"({error.strerror or error}). Set HF_HOME to a folder that you may write to."
        ) from error


def unreachable(name: str) -> ModelError:
    """Return the error to raise if the hub cannot be used: it says why and what to do."""
    if is_offline_mode():
        why = "HF_HUB_OFFLINE=1 forbids downloads: unset it"
    else:
        why = f"{constants.ENDPOINT} does not answer: check the network"
    return UnreachableError(f"{name} is not on this machine, and {why}, {_otherwise(name)}.")


def _otherwise(name: str) -> str:
    """Return advice for working without the hub, as the end of a sentence."""
    return (
        "set HF_ENDPOINT to a mirror or HF_HOME to a cache that has the model, or run "
        f"'hf download {name}' where there is a network and pass the downloaded folder"
    )


def _gated(name: str) -> str:
    page = f"{constants.ENDPOINT}/{name}"
    if get_token() is None:
        return (
            f"{name} is gated: accept its terms at {page}, then run 'hf auth login' or set "
            "HF_TOKEN on the machine that serves this page, and choose the model again."
        )
    return f"{name} is gated and the token has no access to it: accept its terms at {page}."


def _refused(name: str, error: HfHubHTTPError) -> ModelError:
    status, given = error.response.status_code, get_token() is not None
    if given and status in (401, 403):
        return ModelError(
            f"The hub refused the token when asked for {name}: run 'hf auth login' with a valid "
            "token, or unset HF_TOKEN for models that need none."
        )
    if isinstance(error, RepositoryNotFoundError) or status == 404:
        return ModelError(
            f"There is no model {name} at {constants.ENDPOINT}, or it is private: check the name, "
            "or run 'hf auth login'."
        )
    text = f"{constants.ENDPOINT} answered {status} when asked for {name}: try again in a minute"
    return UnreachableError(f"{text}, {_otherwise(name)}.")
