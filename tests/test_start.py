import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gleanvid.later import import_later

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
    "gleanvid --help": (CLI.format(words=["--help"]), set()),
    "gleanvid models": (CLI.format(words=["models"]), set()),
    "gleanvid tables": (CLI.format(words=["tables"]), set()),
    "gleanvid ask --help": (CLI.format(words=["ask", "--help"]), set()),
    "app.py --help": ("import app\napp.main(['--help'])", set()),
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


LATE = """
import sys, threading
from gleanvid.later import import_later
import_later("slow_one")
import slow_one as module
assert not hasattr(sys, "slow_ran")
seen = []
threads = [threading.Thread(target=lambda: seen.append(module.LAST)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert seen == ["last"] * 8 and sys.slow_ran == 1, (seen, sys.slow_ran)
assert type(module) is type(sys)
"""


def test_package_imported_lazily_is_imported_once_and_completely_for_all_threads(tmp_path):
    slow = "import sys, time\nsys.slow_ran = getattr(sys, 'slow_ran', 0) + 1\ntime.sleep(0.2)\n"
    (tmp_path / "slow_one.py").write_text(slow + "LAST = 'last'\n")
    imported(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + LATE, tmp_path)


def test_packages_already_imported_or_missing_are_not_imported_lazily():
    import_later("json")
    assert sys.modules["json"] is json
    import_later("no_such_package")
    assert "no_such_package" not in sys.modules
