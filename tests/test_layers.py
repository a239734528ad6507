"""Every import statement obeys the architecture's table of allowed imports."""

import ast
import graphlib
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TYPES = {"errors", "plugins", "devices", "compression", "types", "cost", "run"}
CORE = TYPES | {"video", "compressors", "models"}
ALLOWED = {
    "errors": set(),
    "plugins": {"errors"},
    "devices": set(),
    "compression": {"devices"},
    "types": {"errors", "compression"},
    "cost": {"errors", "compression", "types"},
    "run": {"errors", "compression", "types", "cost"},
    "ops": TYPES | {"ops"},
    "video": TYPES | {"video"},
    "compressors": TYPES | {"ops", "compressors"},
    "models": TYPES | {"models", "compressors.base", "compressors.full_tokens"},
    "pipeline": CORE,
    "arguments": CORE | {"pipeline"},
    "attribution": CORE | {"attribution"},
    "api": CORE | {"api", "arguments", "attribution", "metrics.least", "pipeline"},
    "glimpse": CORE | {"glimpse"},
    "serving": TYPES | {"compressors", "models", "serving"},
    "metrics": TYPES | {"ops", "metrics"},
    "plots": TYPES | {"compressors", "ops", "metrics", "plots"},
}
# Package -> its layers of modules, highest first. A module may import modules of its own layer and
# of lower layers.
ROOMS = {
    "models": (
        ("__init__",),
        ("loading",),
        ("families",),
        ("base",),
        ("generation",),
        ("boundary",),
        ("cost",),
        ("token_model",),
        ("encoded", "frames", "geometry"),
    ),
    "evaluation": (
        ("__init__", "check", "diagnostics", "lmms_eval"),
        ("bench", "catalogue", "tables"),
        ("paper",),
        ("run",),
        ("benchmarks", "recording"),
        ("files", "latex", "markdown", "provenance"),
    ),
    "glimpse": (("__init__", "training"), ("questions",), ("world",)),
}
LIGHT = {"gradio", "plotly", "av", "cv2", "decord", "matplotlib", "PIL"}


@cache
def imports(path, top_level_only=False):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return found


def modules():
    for path in sorted((ROOT / "gleanvid").rglob("*.py")):
        room = path.relative_to(ROOT / "gleanvid").parts[0].removesuffix(".py")
        if room in ALLOWED:
            yield room, path


def targets(path, known):
    """Yield the library's modules that a file imports outside functions, TYPE_CHECKING included."""
    nodes = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from inner & known or {node.module}
        # imports inside functions run later and cause no cycle
        if not isinstance(node, ast.FunctionDef):
            nodes.extend(ast.iter_child_nodes(node))


@cache
def library():
    return graph(ROOT / "gleanvid")


def graph(folder):
    paths = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {name: {*targets(path, paths.keys())} for name, path in paths.items()}


def circle(modules):
    try:
        graphlib.TopologicalSorter(modules).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def test_library_has_no_import_cycles():
    assert circle(library()) is None


@pytest.mark.parametrize("package", ROOMS)
def test_modules_of_a_package_import_only_from_their_layer_and_those_below(package):
    home = f"gleanvid.{package}"
    rank = {room: number for number, rooms in enumerate(ROOMS[package]) for room in rooms}

    def room_of(module):
        return [*module.removeprefix(home).split("."), "__init__"][1]

    inside = {n: found for n, found in library().items() if f"{n}.".startswith(f"{home}.")}
    for module, imported in inside.items():
        room = room_of(module)
        for other in {room_of(name) for name in imported & inside.keys()} - {room}:
            assert rank[room] < rank[other], f"{module} may not import from {other}"


def may_import(room, target):
    return any(target == allowed or target.startswith(allowed + ".") for allowed in ALLOWED[room])


def test_module_imports_only_packages_that_its_layer_allows():
    wrong = [
        f"{path} of {room} may not import {name}"
        for room, path in modules()
        for name in imports(path)
        if name.startswith("gleanvid.") and not may_import(room, name.removeprefix("gleanvid."))
    ]
    assert not wrong and len(list(modules())) > 100


def test_only_the_models_package_imports_transformers():
    others = [path for room, path in modules() if room not in ("models", "glimpse")]
    know = [
        path
        for path in others
        for name in imports(path)
        if name.partition(".")[0] == "transformers"
    ]
    assert not know


def test_library_imports_no_gradio():
    for path in (ROOT / "gleanvid").rglob("*.py"):
        found = {name.split(".")[0] for name in imports(path)}
        assert not found & {"gradio", "components"}, path


@pytest.mark.parametrize(
    "room", ["types", "run", "ops", "compressors", "models", "pipeline", "api"]
)
def test_core_library_needs_only_torch_transformers_and_numpy(room):
    home = ROOT / "gleanvid" / room
    for path in home.rglob("*.py") if home.is_dir() else [home.with_suffix(".py")]:
        heavy = {name.split(".")[0] for name in imports(path, top_level_only=True)} & LIGHT
        assert not heavy, f"{path} imports {heavy}"


@pytest.mark.slow
def test_library_imports_without_the_app_s_packages():
    names = sorted(LIGHT | {"torchvision", "accelerate"})
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({names!r}))\n"
        "import gleanvid, torch\n"
        "tokens = gleanvid.VideoTokens(torch.randn(8, 4), grid=(2, 2, 2))\n"
        "assert gleanvid.GleanVID(0.5).compress(tokens).num_kept == 4\n"
        "assert callable(gleanvid.compressing) and gleanvid.MODELS\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def private(name):
    return name.startswith("_") and not name.startswith("__")


def private_names_of_others(path):
    """Yield the names with a leading underscore that a file uses from our other modules."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    from_ours = [
        node
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        and (node.level or str(node.module).split(".")[0] in ("gleanvid", "components"))
    ]
    aliases = [alias for node in from_ours for alias in node.names]
    yield from (alias.name for alias in aliases if private(alias.name))
    names = {alias.asname or alias.name for alias in aliases}
    attributes = [node for node in nodes if isinstance(node, ast.Attribute) and private(node.attr)]
    for node in attributes:
        if isinstance(node.value, ast.Name) and node.value.id in names:
            yield f"{node.value.id}.{node.attr}"


@pytest.mark.parametrize("folder", ["gleanvid", "components"])
def test_no_module_uses_a_private_name_of_another_module(folder):
    paths = sorted((ROOT / folder).rglob("*.py"))
    names = [f"{path}: {name}" for path in paths for name in private_names_of_others(path)]
    assert not names
