"""The scripts of viewer and results: parsed by Node, checked by TypeScript, where installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from components.panels import modules
from components.viewer.component import MODULES

SCRIPTS = sorted([*MODULES.glob("*.js"), *modules.MODULES.glob("*.js")])


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_every_script_parses_as_a_module_and_asks_to_be_checked(path):
    assert path.read_text(encoding="utf-8").startswith("// @ts-check\n")
    node = shutil.which("node") or pytest.skip("needs node")
    command = [node, "--input-type=module", "--check"]
    found = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=False)
    assert found.returncode == 0, found.stderr.decode()


@pytest.mark.parametrize("folder", [MODULES, modules.MODULES], ids=lambda path: path.name)
def test_types_agree_across_the_scripts(folder):
    """``npm install --global typescript`` brings ``tsc``."""
    tsc = shutil.which("tsc") or pytest.skip("needs TypeScript")
    command = [tsc, "--project", str(folder)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
