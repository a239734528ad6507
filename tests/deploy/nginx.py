"""Run the nginx of this machine with the configuration of ``deploy/``."""

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.components.server.running import wait_until

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


@contextmanager
def nginx(
    url: str, folder: Path, config: pytest.Config, changes: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Start nginx before the server at ``url``, and yield nginx's address.

    ``changes``: regular expression -> replacement, in the text of the configuration.
    Where there is no nginx, the test is skipped; it fails if all tests are to run.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        is_whole = config.getoption("families") == "all"  # make test-all
        (pytest.fail if is_whole else pytest.skip)("needs nginx (Debian: apt install nginx-light)")
    port = free_port()
    text = (DEPLOY / "nginx.conf").read_text()
    for pattern, new in {
        "listen 8080": f"listen 127.0.0.1:{port}",
        "http://app:7860": url,
        " /tmp/": f" {folder}/",
        "worker_processes auto": "daemon off; worker_processes 1",
        **(changes or {}),
    }.items():
        text, count = re.subn(pattern, new, text)
        assert count, pattern
    (folder / "nginx.conf").write_text(text)
    command = [program, "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]
    process = subprocess.Popen(command)
    try:
        assert wait_until(lambda: process.poll() is not None or is_listening(port))
        assert process.poll() is None
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_listening(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0
