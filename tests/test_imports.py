"""Importing the packages loads, changes and writes next to nothing.

Each check runs in a fresh interpreter, because this one has already loaded the lot.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"jax", "jaxlib", "numpyro", "cvxpy", "arviz", "matplotlib", "xarray"}


def run(code: str, cwd: Path, *arguments: str) -> str:
    """Run code in a fresh interpreter, outside the checkout, and return its output."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JAX_", "PYTEST_", "PYTHON"))
        or name == "PYTHONPYCACHEPREFIX"  # Read, not written to.
    }
    root = Path(__file__).resolve().parent.parent
    environment |= {
        "HOME": str(cwd), "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "80",
    }  # fmt: skip
    command = [sys.executable, "-c", code, *arguments]
    result = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def modules_after(code: str, cwd: Path, *arguments: str) -> set[str]:
    """Return the modules in memory after running the code."""
    report = "\nimport json as _json, sys as _sys\nprint()\nprint(_json.dumps(sorted("
    report += "name for name, each in _sys.modules.items() if each is not None)))"
    return set(json.loads(run(code + report, cwd, *arguments).splitlines()[-1]))


def loaded_by(code: str, cwd: Path, *arguments: str) -> set[str]:
    """Return the top-level modules in memory after running the code."""
    return {name.partition(".")[0] for name in modules_after(code, cwd, *arguments)}


def test_theory_loads_neither_jax_nor_bayesduel_nor_cvxpy(tmp_path: Path) -> None:
    loaded = loaded_by("import theory", tmp_path)
    assert "theory" in loaded
    assert not loaded & (HEAVY | {"bayesduel", "jaxtyping", "highspy", "scipy"})


def test_no_module_of_theory_loads_jax_or_bayesduel(tmp_path: Path) -> None:
    code = """
import importlib, pkgutil, theory
for module in pkgutil.walk_packages(theory.__path__, "theory."):
    importlib.import_module(module.name)
matrix = [[0.5, 0.6, 0.6], [0.4, 0.5, 0.9], [0.4, 0.1, 0.5]]
assert theory.copeland_lower_bound(matrix).value > 0
theory.ecw_rmed_constant(matrix), theory.theorems.rmed1_bound(matrix)
"""
    loaded = loaded_by(code, tmp_path)
    above = {"bayesduel", "jax", "jaxlib", "jaxtyping", "numpyro", "arviz", "xarray"}
    assert not loaded & above


@pytest.mark.slow
def test_all_that_is_named_in_texts_is_there_after_one_import(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parent.parent
    pages = [root / "README.md", *(root / "docs").rglob("*.md")]
    assert len(pages) > 40
    dotted = re.compile(r"\b(?:bayesduel|theory)(?:\.[A-Za-z_]\w*)+")
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    names = {name for name in dotted.findall(text) if not name.endswith(".py")}
    assert {"bayesduel.posteriors", "bayesduel.results.load"} < names
    code = """
import sys, bayesduel, theory
for name in sys.argv[1:]:
    found = sys.modules[name.partition(".")[0]]
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    if found is None:
        print(name)
from bayesduel.results import load
"""
    assert run(code, tmp_path, *sorted(names)).split() == []


def test_bayesduel_loads_nothing_heavy(tmp_path: Path) -> None:
    assert not loaded_by("import bayesduel", tmp_path) & HEAVY


def test_help_of_a_command_loads_nothing_heavy(tmp_path: Path) -> None:
    code = """
import sys
from bayesduel.cli import main
sys.argv = ["bayesduel", "compare", "--help"]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""
    assert not loaded_by(code, tmp_path) & (HEAVY | {"numpy", "scipy"})


def test_the_list_of_names_loads_nothing_heavy(tmp_path: Path) -> None:
    """Also of policies whose posterior is a program of JAX."""
    code = """
import sys
from bayesduel.cli import main
sys.argv = ["bayesduel", "list"]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""
    assert not loaded_by(code, tmp_path) & (HEAVY | {"numba", "pandas"})


def test_a_comparison_loads_only_what_it_runs_on(tmp_path: Path) -> None:
    """JAX and NumPyro are for posteriors of models, CVXPY for none of its bounds.

    Sets, models, other theorems, rules for stopping and formats of files are for those
    who ask for them.
    """
    code = """
import os, sys
os.environ["NUMBA_DISABLE_JIT"] = "1"  # Compiling takes long, and loads no more.
from bayesduel.cli import main
sys.argv = ["bayesduel", "compare", "-i", "cyclic", "-p", "rucb", "--runs", "2",
    "--horizon", "50", "--jobs", "1", "-q", "--out", "out"]
from matplotlib.figure import Figure
Figure.savefig = lambda figure, file, **options: None
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
assert "dask.array" not in sys.modules
# A user's world can import Dask.
assert sys.modules.get("dask", sys) is not None
"""
    loaded = modules_after(code, tmp_path)
    assert loaded & HEAVY == {"matplotlib", "xarray"}
    ours = {name for name in loaded if name.split(".")[0] in ("bayesduel", "theory")}
    assert {"theory.theorems.ucb", "bayesduel.simulation.rounds"} < ours
    rest = (
        ".set_", "subset_env", "choice.", "structured", "statement", "theorems.rmed",
        "theorems.model", "identification.evidence", "stopping.rules", "toml_files",
        "zarr_files",
    )  # fmt: skip
    found = {name for name in ours if any(each in name for each in rest)}
    assert found == {"bayesduel.instances.choice.catalog"}  # Names of worlds.


def test_a_policy_by_name_loads_no_other_policy(tmp_path: Path) -> None:
    code = """
import sys
from bayesduel import policies
policies.parse_policy("rucb"), policies.names(), policies.subset_names()
above = {"sup_kl_ucb", "double_thompson", "relative_ucb", "ucb_without_order"}
print(above & {name.rpartition(".")[2] for name in sys.modules})
"""
    assert run(code, tmp_path).strip() == "{'relative_ucb'}"


def test_stubs_offer_what_is_there(tmp_path: Path) -> None:
    """Names that a stub takes from elsewhere are not those of a module beside it."""
    root = Path(__file__).resolve().parent.parent
    stubs = [*root.glob("bayesduel/**/*.pyi"), *root.glob("theory/**/*.pyi")]
    assert len(stubs) > 20
    for stub in stubs:
        beside = {path.stem for path in stub.parent.glob("*.py")}
        taken = re.findall(
            r"^from \.\w[\w.]* import .*?(\w+)[,)\s]*$", stub.read_text(), re.M
        )
        assert not beside & set(taken), stub


def test_questions_and_answers_of_the_command_need_no_compiler(tmp_path: Path) -> None:
    """Numba takes a second to load, and its first program several."""
    code = """
import sys
from bayesduel.cli import main
for words in (
    ["new", "a.study", "--arms", "x,y,z,w"],
    ["ask", "a.study"],
    ["tell", "a.study", "1", "left"],
    ["ask", "a.study", "-n", "3"],
):
    sys.argv = ["bayesduel", "study", *words]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, (words, stop.code)
"""
    loaded = loaded_by(code, tmp_path)
    assert "numpy" in loaded
    assert not loaded & (HEAVY | {"numba", "llvmlite", "scipy"})


def test_fits_in_closed_form_load_neither_jax_nor_numpyro(tmp_path: Path) -> None:
    code = """
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, MultinomialLogit
from bayesduel.votes import Choices, Comparisons
votes = Comparisons.from_wins([[0, 3], [1, 0]])
choices = Choices.from_subsets([["a", "b"], ["a", "b"]], ["a", "b"])
for model, data in ((BradleyTerry(), votes), (MultinomialLogit(), choices)):
    assert fit(model, data, method="laplace", num_draws=50).converged
"""
    assert not loaded_by(code, tmp_path) & {"jax", "jaxlib", "numpyro"}


def test_import_writes_nothing_and_opens_no_connection(tmp_path: Path) -> None:
    code = """
import os, sys
import numpy  # what it does on import is its own affair
seen = []
def watch(event, args):
    if event == "open":
        path, mode, flags = args
        # os.open passes flags only, open() passes both.
        if flags is not None and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            seen.append(f"open {path} {mode}")
    elif event in {"os.mkdir", "os.rename", "os.remove", "socket.connect",
                   "subprocess.Popen", "os.fork", "os.putenv"}:
        seen.append(f"{event} {args}")
sys.addaudithook(watch)
import bayesduel, theory
found = list(seen)
seen.clear()
open(os.devnull, "w").close()
assert seen, "the watch is blind"
print(found)
"""
    assert run(code, tmp_path).strip() == "[]"
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_no_module_starts_a_device_or_changes_jax(tmp_path: Path) -> None:
    """Every module of bayesduel, once JAX and NumPyro are there."""
    code = """
import importlib, pkgutil
import jax, numpyro
from jax._src import xla_bridge
before = dict(jax.config.values)
import bayesduel
names = ["bayesduel"]
for module in pkgutil.walk_packages(bayesduel.__path__, "bayesduel."):
    if not module.name.endswith("__main__"):
        names.append(module.name)
        importlib.import_module(module.name)
after = dict(jax.config.values)
changed = {key for key in after if after[key] != before.get(key, after[key])}
assert not changed, changed
assert not xla_bridge.backends_are_initialized(), "a computation ran"
jax.numpy.zeros(1).block_until_ready()
assert xla_bridge.backends_are_initialized(), "the probe is blind"
print(len(names))
"""
    assert int(run(code, tmp_path)) >= 1
