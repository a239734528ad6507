"""Download checkpoints by huggingface_hub, in a process that can be ended at any time.

A download that is ended keeps its complete files. The next one downloads the others.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.utils import filter_repo_objects
from tqdm import tqdm

from gleanvid.errors import ModelError, StoppedError
from gleanvid.models.loading.hub import explaining, is_reachable, unreachable

# Files that loading needs. Pickles are left out, because they can contain code.
NEEDED = ["*.safetensors", "*.json", "*.jinja", "*.txt", "*.model"]
OTHERS = ["*/*", "consolidated*"]  # other formats of the same weights
POLL_S = 0.1
SILENCE_S = 15.0  # seconds without an answer after which a request has failed


def list_files(repo: str) -> dict[str, int]:
    """Return name -> bytes of the files that loading ``repo`` needs, by one request to the hub.

    Raises ``ModelError`` if the hub does not answer or the checkpoint has no safetensors files.
    """
    if not is_reachable():
        raise unreachable(repo)
    with explaining(repo):
        found = HfApi().model_info(repo, files_metadata=True, timeout=SILENCE_S).siblings or []
    sizes = {file.rfilename: file.size or 0 for file in found}
    needed = set(filter_repo_objects(sizes, allow_patterns=NEEDED, ignore_patterns=OTHERS))
    if not any(name.endswith(".safetensors") for name in needed):
        raise ModelError(f"{repo} has no weights in safetensors format, the only one that is read.")
    return {name: size for name, size in sizes.items() if name in needed}


def fetch(repo: str, stop: threading.Event) -> Iterator[int]:
    """Download the missing files of a checkpoint; yield how many bytes were downloaded so far.

    Raises ``ModelError`` if the download fails, and ``StoppedError`` soon after ``stop`` is set.
    """
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_download, args=(repo, sender), daemon=True)
    child.start()
    sender.close()
    try:
        while not stop.is_set():
            if receiver.poll(POLL_S):
                message = receiver.recv()
                if message is None:
                    return
                if isinstance(message, ModelError):
                    raise message
                yield message
        raise StoppedError
    except EOFError as error:
        raise ModelError(f"The download of {repo} ended: load the model again.") from error
    finally:
        child.terminate()
        child.join()
        # huggingface_hub does not continue these files.
        store = Path(constants.HF_HUB_CACHE) / f"models--{repo.replace('/', '--')}"
        for part in store.glob("blobs/*.incomplete"):
            part.unlink(missing_ok=True)


def _download(repo: str, sender: Connection) -> None:
    """Download a checkpoint; send the bytes so far, at the end None or a ``ModelError``."""

    class Bar(tqdm):
        def display(self, *_: object, **__: object) -> None:
            if self.unit == "B" and self.n:
                sender.send(int(self.n))

    try:
        with explaining(repo):
            snapshot_download(repo, allow_patterns=NEEDED, ignore_patterns=OTHERS, tqdm_class=Bar)
        sender.send(None)
    except ModelError as error:
        sender.send(error)
