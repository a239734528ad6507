"""The scripts of viewer and results pass TypeScript's checks, if it is installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from components.places import ASSETS
from components.viewer import modules

FOLDERS = [ASSETS / folder for folder in modules.FOLDERS]


def test_every_module_enables_type_checking():
    first = {name: text.partition(b"\n")[0] for name, text in modules.TEXTS.items()}
    assert set(first.values()) == {b"// @ts-check"}, first


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_types_agree_across_the_scripts(folder):
    """``npm install --global typescript`` brings ``tsc``."""
    tsc = shutil.which("tsc") or pytest.skip("needs TypeScript")
    command = [tsc, "--project", str(folder)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
