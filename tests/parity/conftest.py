"""Run a test for each case in a golden file if one of its arguments has the file's name."""

import json


def pytest_generate_tests(metafunc):
    folder = metafunc.config.getoption("--golden-dir")
    for name in metafunc.fixturenames:
        path = folder / f"{name}.json"
        if path.exists():
            cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
            metafunc.parametrize(name, cases, ids=map(_label, cases))


def _label(case):
    shape = "x".join(str(case[key]) for key in ("frames", "height", "width", "dim"))
    return f"seed{case['seed']}-{shape}-{case.get('retention', '')}"
