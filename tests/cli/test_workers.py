"""``--num-workers``: commands on a Ray cluster give the same results as in one process."""

import builtins
import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gleanvid.cli import main

EVAL = ["eval", "--benchmark", "glimpse", "--compressor", "gleanvid,fastv", "--num-frames", "4"]
EVAL += ["--limit", "6", "--out"]


def rows(folder):
    lines = (folder / "journal.jsonl").read_text("utf-8").splitlines()[1:]
    told = [{n: v for n, v in json.loads(line).items() if n != "seconds"} for line in lines]
    return sorted(told, key=lambda row: (row["item"], row["setup"]))


def table(folder):
    """Return the rows of a folder's results.json without the columns of seconds."""
    whole = json.loads((folder / "results.json").read_text("utf-8"))
    return [{n: v for n, v in line.items() if "second" not in n} for line in whole["results"]]


def test_two_workers_give_the_results_of_one_process(tmp_path, ray_workers):
    assert main([*EVAL, str(tmp_path / "alone")]) == 0
    assert main([*EVAL, str(tmp_path / "together"), "--num-workers", "2"]) == 0
    assert rows(tmp_path / "together") == rows(tmp_path / "alone")
    assert len(rows(tmp_path / "alone")) == 18 and table(tmp_path / "together")
    assert table(tmp_path / "together") == table(tmp_path / "alone")


@pytest.fixture
def running_cluster():
    """Yield the address of a Ray cluster in separate processes, like that of ``ray start``."""
    pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ray = shutil.which("ray", path=Path(sys.executable).parent)
    start = [ray, "start", "--head", "--block", f"--port={port}", "--num-cpus=3"]
    head = subprocess.Popen([*start, "--include-dashboard=false"], stdout=subprocess.DEVNULL)
    yield f"127.0.0.1:{port}", head
    head.terminate()
    head.wait(60)


def test_a_running_cluster_is_joined_and_left_running(tmp_path, running_cluster):
    address, head = running_cluster
    assert main([*EVAL, str(tmp_path / "alone")]) == 0
    command = [sys.executable, "-m", "gleanvid.cli", *EVAL, str(tmp_path / "there")]
    command += ["--num-workers", "1", "--address", address]
    for _ in range(20):  # retry until the cluster has started
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if "has no cluster" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "there") == rows(tmp_path / "alone")
    assert head.poll() is None


def test_option_num_workers_without_ray_names_the_extra_to_install(tmp_path, capsys, monkeypatch):
    real = builtins.__import__

    def none(name, *rest):
        if name.split(".")[0] == "ray":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", none)
    assert main([*EVAL, str(tmp_path), "--num-workers", "2"]) == 2
    assert "Install it with the extra ray: pip install '.[ray]'" in capsys.readouterr().err


@pytest.mark.parametrize("count", ["0", "-1"])
def test_zero_or_fewer_workers_are_refused(tmp_path, capsys, count):
    pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")
    assert main([*EVAL, str(tmp_path), "--num-workers", count]) == 2
    assert f"num_workers={count} must be at least 1" in capsys.readouterr().err
