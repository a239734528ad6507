"""The app's packages are layers: no module imports from a higher layer or in a cycle."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("launch", "options", "panels", "server", "session", "viewer", "files", "places")
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "components").rglob("*.py"))
}


@cache
def imports(path):
    """Return the names of all modules that a file imports, also inside functions."""
    return list(imported(path))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level or node.module.partition(".")[0] != "components", (
                f"{path} imports {node.module} by its name, which is gleanvid_app once installed"
            )
            module = resolved(path, node)
            submodules = [f"{module}.{alias.name}" for alias in node.names]
            found = [name for name in submodules if name in MODULES]
            yield from found or [module]


def resolved(path, node):
    """Return the absolute name of the module in a from-import, which may be relative."""
    if not node.level:
        return node.module
    folder = path.relative_to(ROOT).parts[: -node.level]
    return ".".join((*folder, node.module) if node.module else folder)


def room(module):
    return module.partition(".")[2].partition(".")[0]


def test_app_module_imports_nothing_from_a_higher_layer():
    wrong = [
        f"{module} imports {name}"
        for module, path in MODULES.items()
        for name in imports(path)
        if room(module)
        and name.startswith("components.")
        and room(name) in ROOMS[: ROOMS.index(room(module))]
    ]
    assert not wrong


def test_app_has_no_import_cycles():
    graph = {name: set(imports(path)) & MODULES.keys() for name, path in MODULES.items()}
    TopologicalSorter(graph).prepare()


def test_session_imports_no_gradio():
    for name, path in MODULES.items():
        if room(name) == "session":
            assert not [other for other in imports(path) if other.split(".")[0] == "gradio"], name
