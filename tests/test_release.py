"""The wheel and a Hugging Face Space start without the files of this repository.

The files, extras and options that the Dockerfile names exist."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
import venv
import zipfile
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.deploy.nginx import free_port

pytestmark = pytest.mark.slow  # `make release` runs it, too
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
MIB = 2**20
LIMIT_S = 120
# folder in the checkout -> name of the installed package
FOLDERS = {"gleanvid": "gleanvid", "components": "gleanvid_app"}


def modules():
    """Yield the files of the library and the app under their installed names."""
    for folder, package in FOLDERS.items():
        for path in (ROOT / folder).rglob("*.py"):
            yield f"{package}/{path.relative_to(ROOT / folder).as_posix()}"


def run(*words, cwd, **how):
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Path of the wheel, built from a copy because a build leaves folders in the source."""
    folder = tmp_path_factory.mktemp("source")
    left_out = shutil.ignore_patterns("__pycache__", "docs")
    for name in ("gleanvid", "components", "assets"):
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    (folder / "assets" / "docs").mkdir()  # a minimal copy of the output of `make docs`
    (folder / "assets" / "docs" / "index.html").write_text("<h1>Documentation</h1>")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    build = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"
    out = run(sys.executable, "-c", build, cwd=folder)
    return folder / "dist" / out.splitlines()[-1]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A new virtual environment with the wheel and the packages of the running environment."""
    # in a hidden folder, as most virtual environments are
    folder = tmp_path_factory.mktemp("empty") / ".venv"
    venv.create(folder, with_pip=False, symlinks=True)
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)}, scheme="venv")
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    run(*pip, "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel), cwd=folder)
    # A .pth file puts the running environment's packages on the import path. Python reads no .pth
    # files in a folder added this way, so none of them can put the checkout on the import path.
    beside = Path(paths["purelib"]) / "packages_of_others.pth"
    beside.write_text(sysconfig.get_paths()["purelib"], encoding="utf-8")
    return folder


@contextmanager
def started(words, cwd, **env):
    """Run a program that serves the app, which cannot import from this repository.

    Yield the program and its port.
    """
    names = {"PYTHONPATH", "GRADIO_TEMP_DIR"}
    kept = {name: value for name, value in os.environ.items() if name not in names}
    port = free_port()
    given = [*words, "--port", str(port), "--device", "cpu"]
    ends = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    program = subprocess.Popen(given, cwd=cwd, env=kept | env, text=True, **ends)
    try:
        yield program, port
    finally:
        program.terminate()
        program.communicate()


def page_of(program, port, **headers):
    """Wait until ``program`` serves the page, and return it; fail if the program ends before."""
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until and program.poll() is None:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/", headers=headers, timeout=30)
        except httpx.TransportError:
            time.sleep(0.1)
    program.kill()
    raise AssertionError(program.communicate()[0][-3000:])


def test_wheel_contains_every_module_and_no_images_or_training_curves(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert set(modules()) == {name for name in names if name.endswith(".py")}
    assert not [name for name in names if name.endswith((".png", ".webp", ".csv", ".pyi"))]
    for folder in ("viewer", "results", "clips", "first"):
        wanted = {p.name for p in (ROOT / "assets" / folder).rglob("*") if p.is_file()}
        there = {Path(name).name for name in names if f"/assets/{folder}/" in name}
        assert there == wanted - {"tsconfig.json"}
    assert wheel.stat().st_size < 26 * MIB


@pytest.fixture
def served(installed, tmp_path):
    """The installed app and its port."""
    words = json.loads(re.search(r"ENTRYPOINT (.*)", DOCKERFILE)[1])
    with started([str(installed / "bin" / "gleanvid"), *words[1:]], tmp_path) as program:
        yield program


@pytest.fixture
def served_space(installed, tmp_path):
    """The folder of a Space that the installed app wrote, the Space's program and its port."""
    space, command = tmp_path / "space", str(installed / "bin" / "gleanvid")
    run(command, "space", "--out", str(space), cwd=tmp_path, env=os.environ | {"PYTHONPATH": ""})
    hub = {"SPACE_ID": "someone/gleanvid", "SPACE_HOST": "someone-gleanvid.hf.space"}
    with started([str(installed / "bin" / "python"), "app.py"], space, **hub) as program:
        yield space, *program


def test_installed_gleanvid_command_serves_the_page_and_its_scripts(served, installed):
    program, port = served
    page = page_of(program, port)
    assert page.status_code == 200 and "GleanVID" in page.text
    script = re.search(r"modules/\w+\.js", page.text)[0]
    found = httpx.get(f"http://127.0.0.1:{port}/{script}", timeout=30)
    assert found.status_code == 200 and "export" in found.text
    docs = httpx.get(f"http://127.0.0.1:{port}/docs/index.html", timeout=30)
    assert docs.status_code == 200 and docs.text == "<h1>Documentation</h1>"
    (code,) = installed.rglob("gleanvid_app/launch.py")
    assert httpx.get(f"http://127.0.0.1:{port}/gradio_api/file={code}").status_code in (403, 404)


def test_app_starts_from_the_generated_hugging_face_space_folder(served_space):
    space, program, port = served_space
    page = page_of(program, port, Host="someone-gleanvid.hf.space")
    assert page.status_code == 200 and "GleanVID" in page.text
    facts = (space / "README.md").read_text(encoding="utf-8").split("---\n")[1]
    named = dict(line.split(": ", 1) for line in facts.splitlines())
    assert named["sdk"] == "gradio" and (space / named["app_file"]).is_file()
    needs = (space / "requirements.txt").read_text(encoding="utf-8")
    assert all(
        f"\n{name}" in f"\n{needs}" for name in ("torch", "transformers", "gradio", "spaces")
    )
    kinds = re.findall(r"^\*\.(\w+) filter=lfs", (space / ".gitattributes").read_text(), re.M)
    large = {p.suffix[1:] for p in space.rglob("*") if p.is_file() and _is_binary(p)}
    assert large == set(kinds)


def test_type_checkers_read_the_installed_package(installed, tmp_path):
    code = "import gleanvid\nfrom gleanvid import plots\n"
    code += "reveal_type(gleanvid.ask('a', 'b').compression.keep)\n"
    code += "reveal_type(plots.contact_sheet)\ngleanvid.GleanVId\n"
    (tmp_path / "own.py").write_text(code)
    words = [sys.executable, "-m", "mypy", "--python-executable", installed / "bin" / "python"]
    told = subprocess.run([*words, "own.py"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert 'own.py:3: note: Revealed type is "torch._tensor.Tensor"' in told, told
    assert 'own.py:4: note: Revealed type is "def (run: gleanvid.run.Run' in told, told
    assert 'own.py:5: error: Module has no attribute "GleanVId"' in told, told


def _is_binary(path):
    return b"\0" in path.read_bytes()[:8000] and "__pycache__" not in path.parts


def test_files_extras_and_options_named_in_the_dockerfile_exist():
    """Docker itself is not run: the tests above run its commands."""
    from components import launch

    stages = re.findall(r"^FROM \S+ AS (\w+)$", DOCKERFILE, re.M)
    assert stages == ["source", "cpu", "cuda"]
    copied = re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.M)
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8")
    for name in " ".join(copied).split():
        assert (ROOT / name).exists() and f"!{name}\n" in ignored
    extras = PROJECT["project"]["optional-dependencies"]
    for names in re.findall(r"'\.\[(.*)\]'", DOCKERFILE):
        assert set(names.split(",")) <= set(extras)
    for line in re.findall(r"^ENTRYPOINT (.*)$", DOCKERFILE, re.M):
        command, app, *words = json.loads(line)
        assert PROJECT["project"]["scripts"][command] and app == "app"
        assert launch.parse(words).host == "0.0.0.0"
