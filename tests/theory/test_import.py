"""What importing the package does, and does not do."""

import subprocess
import sys
from pathlib import Path

import theory
from tests.public_names import TOPICS, public

ROOT = Path(theory.__file__).resolve().parents[1]


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    ).stdout.split()


def test_import_is_light():
    heavy = "jax jaxlib bayesduel cvxpy highspy scipy xarray arviz numpyro".split()
    code = f"import sys, theory; print(*(m for m in {heavy} if m in sys.modules))"
    assert run(code) == []


def test_programs_load_neither_jax_nor_bayesduel():
    code = (
        "import sys, theory\n"
        "m = [[0.5, 0.6, 0.6], [0.4, 0.5, 0.9], [0.4, 0.1, 0.5]]\n"
        "print(theory.copeland_lower_bound(m).value > 0)\n"
        "theory.ecw_rmed_constant(m), theory.theorems.rmed1_bound(m)\n"
        "print(*(x for x in ('jax', 'bayesduel', 'cvxpy') if x in sys.modules))\n"
    )
    assert run(code) == ["True"]


def test_public_names_are_documented():
    every = public("theory", *TOPICS)
    names = [name.rpartition(".")[2] for name in every]
    assert len(theory.__all__) < 35
    assert sorted(names) == sorted(set(names))
    for name, part in every.items():
        if callable(part):
            assert part.__doc__, name
            assert not part.__doc__.startswith(f"{part.__name__}("), name
