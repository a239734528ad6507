"""Start and stop a vLLM server of the built-in model, for a test or a measurement."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODEL = Path(__file__).parents[3] / "gleanvid/models/builtin"
CLIPS = Path(__file__).parents[3] / "assets/clips"
QUIET = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
HERE = QUIET | {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
ENVIRONMENT = QUIET | {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_PLUGINS": "gleanvid"}


def command(method, rate: float | None, *more: str, image_rate: float = 0.0) -> list[str]:
    """Return the command that starts a server, without GleanVID if ``method`` is None."""
    given = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(MODEL)]
    given += ["--served-model-name", "builtin", "--dtype", "float32", "--enforce-eager"]
    given += ["--max-model-len", "4096", "--trust-request-mm-kwargs"]
    given += ["--allowed-local-media-path", str(CLIPS)]
    if method is not None:
        given += ["--video-pruning-method", "vidcom2", "--additional-config"]
        images = {"gleanvid_image_pruning_rate": image_rate} if image_rate else {}
        given += [json.dumps({"gleanvid": method} | images)]
    if rate is not None:
        given += ["--video-pruning-rate", str(rate)]
    return [*given, *more]


@contextmanager
def server(
    method, rate: float | None, *more: str, image_rate: float = 0.0, patience_s: float = 900
) -> Iterator[str]:
    """Yield the address of a healthy server. Raises ``RuntimeError`` with its log if it exits."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    given = command(method, rate, *more, image_rate=image_rate)
    given += ["--host", "127.0.0.1", "--port", str(port)]
    with tempfile.TemporaryFile() as log:
        env = os.environ | ENVIRONMENT
        process = subprocess.Popen(given, stdout=log, stderr=log, env=env, start_new_session=True)
        try:
            _wait(process, url, log, time.monotonic() + patience_s)
            yield url
        finally:
            _end(process)


def _end(process) -> None:
    """Stop a server. One that ignores SIGTERM, as during its start, is killed with its children."""
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(process, url, log, until) -> None:
    while time.monotonic() < until:
        if process.poll() is not None:
            log.seek(0)
            raise RuntimeError(log.read().decode(errors="replace"))
        try:
            urllib.request.urlopen(f"{url}/health", timeout=1).close()
            return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(f"no server at {url}")
