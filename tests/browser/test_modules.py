"""TypeScript finds no error in the scripts of viewer and results; skipped without ``tsc``."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from components.places import ASSETS
from components.viewer import modules

FOLDERS = [ASSETS / folder for folder in modules.FOLDERS]


def test_every_javascript_module_enables_type_checking():
    first = {name: text.partition(b"\n")[0] for name, text in modules.TEXTS.items()}
    assert set(first.values()) == {b"// @ts-check"}, first


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_javascript_types_agree_across_all_scripts(folder):
    tsc = shutil.which("tsc") or pytest.skip("needs TypeScript")
    command = [tsc, "--project", str(folder)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
