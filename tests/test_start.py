import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "torch": "torch._C",
    "transformers": "transformers",
    "gradio": "gradio",
    "plotly": "plotly",
    "pyplot": "matplotlib.pyplot",
}
CLI = "from gleanvid.cli import main\nmain({words})"
SERVING = """
import app
from gleanvid.video.isolation.spare import Spare

def stop(*_):  # called once the page is served, before the model is loaded
    from gradio.utils import MatplotlibBackendMananger
    with MatplotlibBackendMananger(): pass  # Gradio does so at every event
    raise SystemExit

Spare.keep = stop
app.main(["--device", "cpu"])
"""
INSTALLED = "import sys, components\nsys.modules['gleanvid_app'] = components\n" + CLI
# name -> (Python program, slow packages such as torch that it may import)
ENTRIES = {
    "import gleanvid": ("import gleanvid", set()),
    "gleanvid ask --help": (CLI.format(words=["ask", "--help"]), set()),
    "gleanvid app --help": (INSTALLED.format(words=["app", "--help"]), set()),
    "the page, served": (SERVING, {"gradio"}),
}


def imported(program, folder):
    """Run a program in a new interpreter; return the modules that it has imported."""
    out = folder / "modules.json"
    report = (
        "import atexit, json, pathlib, sys\n"
        f"atexit.register(lambda: pathlib.Path({str(out)!r}).write_text("
        "json.dumps(list(sys.modules))))\n"
    )
    root = Path(__file__).parents[1]
    given = os.environ | {"PYTHONPATH": str(root), "GRADIO_TEMP_DIR": str(folder)}
    command = [sys.executable, "-c", report + program]
    done = subprocess.run(command, capture_output=True, text=True, env=given, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(out.read_text()))


@pytest.mark.parametrize("entry", ENTRIES)
def test_program_imports_only_the_heavy_packages_it_needs(entry, tmp_path):
    program, needed = ENTRIES[entry]
    if "gradio" in needed:
        pytest.importorskip("gradio", reason="needs the app extra")
    found = imported(program, tmp_path)
    assert {name for name, module in HEAVY.items() if module in found} == needed


def test_library_imports_without_the_app_s_packages(tmp_path):
    names = ["gradio", "plotly", "av", "cv2", "decord", "matplotlib", "PIL", "torchvision"]
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({names!r}))\n"
        "import gleanvid, torch\n"
        "tokens = gleanvid.VideoTokens(torch.randn(8, 4), grid=(2, 2, 2))\n"
        "assert gleanvid.GleanVID(0.5).compress(tokens).num_kept == 4\n"
        "assert callable(gleanvid.compressing) and gleanvid.MODELS\n"
    )
    imported(program, tmp_path)
