import atexit
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from components.server import uploads

BUSY = """
import os, time
from pathlib import Path
from components.server import uploads
import threading, torch
matrix = torch.ones(300, 300)
def multiply():
    while True: matrix @ matrix
threading.Thread(target=multiply, daemon=True).start()
with uploads.exit_on_signals(), uploads.own_folder() as folder:
    Path(folder, "clip.mp4").write_bytes(b"x")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("name", uploads.ENDING)
def test_every_ending_signal_exits_with_its_code_and_name(name, monkeypatch, capsys):
    """The process is not ended: its exit is recorded. The next test ends one."""
    codes, numbers = [], [getattr(signal, one) for one in uploads.ENDING]
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: None)
    before = [signal.signal(number, signal.SIG_DFL) for number in numbers]
    try:
        with pytest.raises(SystemExit), uploads.exit_on_signals():
            signal.raise_signal(getattr(signal, name))
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    assert codes == [128 + getattr(signal, name)] and name in capsys.readouterr().out


def test_server_ended_while_its_model_is_busy_deletes_its_folder_and_names_the_signal(tmp_path):
    (tmp_path / "of_another_server.mp4").write_bytes(b"x")
    command = [sys.executable, "-c", BUSY]
    given = os.environ | {"GRADIO_TEMP_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    ends = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=given, **ends) as process:
        folder = process.stdout.readline().strip()
        assert os.path.isfile(f"{folder}/clip.mp4") and Path(folder).parent == tmp_path
        for _ in range(3):  # a repeated signal does not interrupt the deletion
            process.terminate()
            time.sleep(0.01)
        out, errors = process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGTERM and "SIGTERM" in out and errors == ""
    assert os.listdir(tmp_path) == ["of_another_server.mp4"]
