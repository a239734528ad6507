"""Run the core tests on another Python: ``python tools/versions.py python3.13 [--oldest]``.

Builds an environment with the newest packages that ``pyproject.toml`` allows, or with the oldest,
runs the core tests in it and writes a row of ``results/versions.md``. A Python that this machine
lacks gets a row of the packages that would be installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
UV = str(ROOT / ".venv/bin/uv")
PACKAGES = ("torch", "transformers", "numpy", "av")
CORE = (
    "test_types.py",
    "test_run.py",
    "ops",
    "metrics",
    "compressors",
    "parity",
    "models",
    "video",
)
FAMILIES = "qwen3_vl,llava_onevision"
CANNOT = 75  # exit code EX_TEMPFAIL: this machine lacks the Python
HEAD = f"""# Versions

`make test-python PYTHON=python3.13` writes a row, with `OLDEST=1` for the oldest packages that
`pyproject.toml` allows. Each row is a run of the core tests on a CPU, without slow ones and on the
families `{FAMILIES.replace(",", "`, `")}`:
{", ".join(f"`tests/{name}`" for name in CORE)}.
What a row says of failures is in [Limits and evidence](../docs/limits.md#what-was-tested).

| Python | packages | {" | ".join(PACKAGES)} | core tests |
|---|---|{"---|" * (len(PACKAGES) + 1)}
"""


def build(python: str, oldest: bool, folder: Path) -> bool:
    """Build the environment; return False if this machine does not have the Python."""
    made = [UV, "venv", "--quiet", "--clear", "--no-python-downloads", "--python", python]
    if subprocess.run([*made, str(folder)]).returncode:
        return False
    order = "lowest-direct" if oldest else "highest"
    install = [UV, "pip", "install", "--quiet", "--resolution", order, "--python", str(folder)]
    subprocess.run([*install, "-e", f"{ROOT}[dev]"], check=True)
    return True


def run_tests(folder: Path) -> str:
    """Run the core tests in an environment and return how many passed, failed and were skipped."""
    report = folder / "report.xml"
    tests = [str(ROOT / "tests" / name) for name in CORE]
    options = ["-m", "not slow", "--families", FAMILIES, "--junitxml", str(report)]
    command = [str(folder / "bin/python"), "-m", "pytest", *options, *tests]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return counts(report.read_text(encoding="utf-8"))


def counts(report: str) -> str:
    """Return the numbers of passed, failed and skipped tests in a JUnit report, as text."""
    suite = ElementTree.fromstring(report).find("testsuite")
    assert suite is not None
    total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    return f"{total - skipped - failed:,} passed, {failed:,} failed, {skipped:,} skipped"


def installed(folder: Path) -> tuple[str, dict[str, str]]:
    """Return the Python of an environment and the versions of its packages."""
    ask = (
        "import json, platform, importlib.metadata as m\n"
        f"print(json.dumps([platform.python_version(), {{n: m.version(n) for n in {PACKAGES}}}]))"
    )
    command = [str(folder / "bin/python"), "-c", ask]
    version, found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return version, found


def resolved(version: str, oldest: bool) -> dict[str, str]:
    """Return the packages that pip would install on a Python from wheels; empty if impossible."""
    order = "lowest-direct" if oldest else "highest"
    command = [UV, "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    command += ["--resolution", order, "--python-version", version, "--extra", "dev"]
    command += ["--only-binary", ":all:", "--no-binary", "docopt", str(ROOT / "pyproject.toml")]
    found = subprocess.run(command, capture_output=True, text=True).stdout
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)$", found, re.MULTILINE))


def with_row(text: str, python: str, oldest: bool, versions: dict[str, str], result: str) -> str:
    """Return the test results with one row new: this Python 3.x, oldest or newest packages."""
    ends = "oldest" if oldest else "newest"
    start = f"| {'.'.join(python.split('.')[:2])}"
    cells = [python, ends, *(versions.get(name, "none") for name in PACKAGES), result]
    rows = [line for line in text.splitlines() if re.match(r"\| \d", line)]
    kept = [row for row in rows if not (row.startswith(start) and f" | {ends} | " in row)]
    return HEAD + "\n".join(sorted([*kept, f"| {' | '.join(cells)} |"])) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", help="name or path of a Python interpreter, such as python3.13")
    parser.add_argument(
        "--oldest", action="store_true", help="install the oldest package versions allowed"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv-python")
    parser.add_argument("--out", type=Path, default=ROOT / "results/versions.md")
    options = parser.parse_args()
    if build(options.python, options.oldest, options.folder):
        version, versions = installed(options.folder)
        result = run_tests(options.folder)
    else:
        version = options.python.removeprefix("python")
        versions = resolved(version, options.oldest)
        result = "not run: this Python was not available"
        if not versions:
            result += "; some package has no wheel for it"
        print(f"there is no {options.python} on this machine")
    before = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
    options.out.write_text(with_row(before, version, options.oldest, versions, result))
    print(f"{version}: {result}; see {options.out}")
    return CANNOT if "not run" in result else int(" 0 failed" not in result)


if __name__ == "__main__":
    sys.exit(main())
