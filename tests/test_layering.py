"""The layers import one way, modules stay small, and `import phijax` is quick and touches no flag."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "phijax"
LAYERS = (
    "series",
    "symbolic",
    "geometry",
    "formulation",
    "lowering",
    "sampling",
    "networks",
    "balancing",
    "optimizers",
    "training",
    "evaluation",
)
DSL = set(LAYERS[1:5])
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
HEAVY = (
    "matplotlib",
    "orbax",
    "typer",
    "rich",
    "pandas",
    "shapely",
    "scipy.optimize",
    "scipy.interpolate",
    "scipy.stats",
)


def layer_of(path):
    """The folder of a module, None for one at the top."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else None


def imported(path):
    """Names of the layers that a module imports, wherever in it; those under TYPE_CHECKING left out."""
    found = set()

    def visit(node):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            return
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            # `from .mlp import MLP` is by place: so many parents up, and the module itself is the first.
            parents = path.relative_to(PACKAGE.parent).parts[: -node.level] if node.level else ()
            module = ".".join([*parents, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        found.update(name.split(".")[1] for name in names if name.startswith("phijax."))
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text()))
    return found


def named(path):
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", [path for path in MODULES if layer_of(path) in LAYERS], ids=named)
def test_a_module_imports_only_layers_above_its_own(path):
    layer = layer_of(path)
    below = set(LAYERS[LAYERS.index(layer) + 1 :]) | {"choice", "solve", "cli", "bench"}
    assert imported(path) & below == set()
    if layer in {"networks", "balancing", "optimizers"}:
        assert imported(path) & DSL == set(), "it knows nothing of the DSL"


@pytest.mark.parametrize("path", [path for path in MODULES if path.parent.name == "problems"], ids=named)
def test_problems_do_not_know_the_command_line(path):
    assert imported(path) & {"cli"} == set()


@pytest.mark.parametrize("path", [path for path in MODULES if layer_of(path) == "symbolic"], ids=named)
def test_symbols_never_import_jax(path):
    names = {
        alias.name.split(".")[0] if isinstance(node, ast.Import) else (node.module or "").split(".")[0]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert names & {"jax", "jaxlib", "equinox", "optax"} == set()


def test_no_module_is_longer_than_500_lines():
    assert {named(path): lines for path in MODULES if (lines := len(path.read_text().splitlines())) > 500} == {}


def test_every_folder_is_a_layer_or_known():
    folders = {path.parent.relative_to(PACKAGE).parts[0] for path in MODULES if path.parent != PACKAGE}
    assert folders - set(LAYERS) - {"choice", "cli", "problems", "bench"} == set()


def test_nothing_is_evaluated_from_strings_but_the_file_that_the_command_line_is_given():
    calls = {
        f"{named(path)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"eval", "exec"}
        if layer_of(path) != "cli"
    }
    assert calls == set()


def test_import_loads_nothing_heavy_and_leaves_the_flags_alone():
    code = (
        "import sys, jax; before = jax.config.jax_enable_x64, jax.config.jax_numpy_rank_promotion; import phijax; "
        "assert before == (jax.config.jax_enable_x64, jax.config.jax_numpy_rank_promotion); "
        f"print(sorted(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    # equinox and optax bring what they bring; the package adds nothing to it
    alone = "import sys, equinox, optax, sympy; " + code.split("; ")[-1]
    theirs = subprocess.run([sys.executable, "-c", alone], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == theirs.stdout
