"""The model hub (Hugging Face): is it reachable, what is in its local cache, and its errors."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
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
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,
    RepositoryNotFoundError,
)

from gleanvid.errors import MALFORMED, ModelError

SECONDS = 2.0  # time limit for the hub's answer, in seconds


def is_reachable() -> bool:
    """Return whether the hub answers in time; False if ``HF_HUB_OFFLINE=1`` is set.

    The request uses the proxies and ``HF_ENDPOINT`` of huggingface_hub. It runs in a thread because
    name resolution has no time limit.
    """
    if is_offline_mode():
        return False
    answered = threading.Event()

    def request() -> None:
        with suppress(HTTPError, OSError, ValueError):
            get_session().head(constants.ENDPOINT, timeout=SECONDS)
            answered.set()

    thread = threading.Thread(target=request, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return answered.is_set()


def cached(name: str) -> Path | None:
    """Return a checkpoint's folder in huggingface_hub's cache if it is complete, else None."""
    with suppress(OSError, *MALFORMED):  # no valid name, or a malformed index
        folder = Path(str(try_to_load_from_cache(name, "config.json"))).parent
        if (folder / "config.json").is_file() and all(
            (folder / shard).is_file() for shard in _shards(folder)
        ):
            return folder
    return None


def _shards(folder: Path) -> set[str]:
    """Return the names of a checkpoint's weight files."""
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return {"model.safetensors"}
    return set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())


@contextmanager
def explaining(name: str) -> Iterator[None]:
    """Turn errors of hub, network and disk into a ``ModelError`` about the model ``name``."""
    try:
        yield
    except HFValidationError as error:
        text = f"{name[:80]!r} is not the name of a model, which has the form OWNER/NAME."
        raise ModelError(text) from error
    except HfHubHTTPError as error:
        raise ModelError(_refusal(name, error)) from error
    except (HTTPError, EntryNotFoundError, ConnectionError) as error:
        raise ModelError(
            f"The connection to {constants.ENDPOINT} broke while {name} was downloaded. "
            "Complete files are kept: load the model again to continue."
        ) from error
    except OSError as error:
        raise ModelError(
            f"{name} could not be written to the folder for downloads "
            f"({error.strerror or error}). Make room, or set HF_HOME to another folder."
        ) from error


def unreachable(name: str) -> ModelError:
    """Return the error to raise if the hub cannot be used: it says why and what to do."""
    why = f"{constants.ENDPOINT} does not answer: check the network"
    if is_offline_mode():
        why = "HF_HUB_OFFLINE=1 forbids downloads: unset it"
    return ModelError(
        f"{name} is not on this machine, and {why}, set HF_ENDPOINT to a mirror or HF_HOME to a "
        f"cache that has the model, or run 'hf download {name}' where there is a network and pass "
        "the downloaded folder."
    )


def _refusal(name: str, error: HfHubHTTPError) -> str:
    """Return in one sentence why the hub refused a request, and what to do."""
    status, page = error.response.status_code, f"{constants.ENDPOINT}/{name}"
    if isinstance(error, GatedRepoError):
        login = "" if get_token() else ", then run 'hf auth login' or set HF_TOKEN on this machine"
        return f"{name} is gated: accept its terms at {page}{login}, and load the model again."
    if get_token() and status in (401, 403):
        return (
            f"The hub refused the token when asked for {name}: run 'hf auth login' with a valid "
            "token, or unset HF_TOKEN for models that need none."
        )
    if isinstance(error, RepositoryNotFoundError) or status == 404:
        return (
            f"There is no model {name} at {constants.ENDPOINT}, or it is private: check the name, "
            "or run 'hf auth login'."
        )
    return f"{constants.ENDPOINT} answered {status} when asked for {name}: try again in a minute."
