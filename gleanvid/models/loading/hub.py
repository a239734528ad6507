"""A quick check whether the model hub answers, instead of its own five retries."""

from __future__ import annotations

import threading

from huggingface_hub import constants, get_session, is_offline_mode

SECONDS = 2.0  # longer than any hub that is worth downloading gigabytes from needs


def is_reachable() -> bool:
    """False where ``HF_HUB_OFFLINE=1`` says so or nothing answers at the hub's address in time.

    Proxies and ``HF_ENDPOINT`` are those of huggingface_hub. Name resolution knows no time limit,
    so the request runs in a thread of its own.
    """
    if is_offline_mode():
        return False
    answered = threading.Event()

    def knock() -> None:
        try:
            get_session().head(constants.ENDPOINT, timeout=SECONDS)
        except Exception:  # whatever kind of failure: nobody is there
            return
        answered.set()

    thread = threading.Thread(target=knock, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return answered.is_set()
