from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ASKED = [
    Requirement(line)
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
# regular expression of an entry of the lock file: NAME==VERSION, environment marker, hashes
HASH = r" \\\n    --hash=sha256:[0-9a-f]{64}"
PIN = re.compile(rf"^([\w.-]+)==([\w.+]+)([^\\\n]*?)((?:{HASH})*)$", re.MULTILINE)
PINS = PIN.findall((ROOT / "requirements.lock").read_text(encoding="utf-8"))


def requirements_with_extras(texts):
    """Yield requirements. An extra of this project is replaced by the requirements in it."""
    for text in texts:
        asked = Requirement(text)
        if asked.name != PROJECT["name"]:
            yield asked
        for extra in asked.extras if asked.name == PROJECT["name"] else ():
            yield from requirements_with_extras(PROJECT["optional-dependencies"][extra])


def versions(name):
    return [pin for found, pin, *_ in PINS if canonicalize_name(found) == canonicalize_name(name)]


def test_every_pinned_package_in_the_lock_file_has_a_hash():
    assert len(PINS) > 50
    assert [name for name, _, _, hashes in PINS if not hashes] == []


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.name)
def test_every_requirement_is_pinned_within_its_version_range(asked):
    pinned = versions(asked.name)
    assert pinned and all(asked.specifier.contains(version) for version in pinned)


def test_packages_have_the_same_version_range_in_pyproject_and_requirements():
    ranges = {canonicalize_name(asked.name): asked.specifier for asked in ASKED}
    own = [PROJECT["name"] + "[app]", *PROJECT["dependencies"]]
    wrong = [
        str(need)
        for need in requirements_with_extras(own)
        if ranges.get(need.name) != need.specifier
    ]
    assert wrong == []
    assert all("<" in str(specifier) for specifier in ranges.values())
