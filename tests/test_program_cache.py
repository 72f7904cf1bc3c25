"""Compiled programs are kept on disk, where the user wants that."""

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

import bayesduel
from bayesduel.ops import program_cache
from bayesduel.simulation import model_rounds
from tests.processes import PATIENCE

SCRIPT = """
import json, sys
import jax
import jax.numpy as jnp

from bayesduel.ops.program_cache import enable_program_cache

found = []
jax.monitoring.register_event_listener(lambda name, **_: found.append(name))
folder = enable_program_cache()
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.jit(lambda x: jnp.sin(x) + 3)(1.0)
names = [each.rsplit("/", 1)[-1] for each in found]
print(json.dumps({
    "folder": folder and str(folder),
    "hits": names.count("cache_hits"),
    "configured": jax.config.jax_compilation_cache_dir,
}))
"""


def environment(**variables):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    return inherited | variables


def compiled(**variables):
    return said_by(SCRIPT, **variables)


def said_by(script, **variables):
    """Run a script in a process of its own; return what it says."""
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(**variables), check=True,
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    return json.loads(done.stdout)


def programs(folder):
    return sorted(Path(folder).glob("*-cache"))


@pytest.mark.slow
def test_other_processes_at_once_compile_nothing(tmp_path):
    first = compiled(BAYESDUEL_CACHE=str(tmp_path))
    kept = programs(first["folder"])
    assert kept and first["hits"] == 0
    assert Path(first["folder"]).is_relative_to(tmp_path / "programs")
    command = [sys.executable, "-c", SCRIPT]
    own = environment(BAYESDUEL_CACHE=str(tmp_path))
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    others = [subprocess.Popen(command, env=own, text=True, **pipes) for _ in range(2)]
    for each in others:
        out, err = each.communicate(timeout=PATIENCE)
        assert each.returncode == 0 and "Error" not in err, err
        assert json.loads(out)["hits"] == len(kept)
        assert programs(json.loads(out)["folder"]) == kept


class _Told(Exception):
    """Something asked for the programs on disk."""


def test_a_simulation_over_a_model_keeps_its_programs(monkeypatch):
    def tell():
        raise _Told

    monkeypatch.setattr(model_rounds, "enable_program_cache", tell)
    with pytest.raises(_Told):
        bayesduel.simulate("cyclic", "bt-ts", num_runs=2, horizon=50)


UNTOUCHED = """
import json, os
os.environ.pop("BAYESDUEL_CACHE", None)
import jax

before = dict(jax.config.values)
import bayesduel
bayesduel.simulate("cyclic", "bt-ts", num_runs=2, horizon=50)
votes = bayesduel.votes.Comparisons.from_wins([[0, 3], [1, 0]])
bayesduel.inference.fit(
    bayesduel.models.BradleyTerry(), votes, method="svi", num_steps=20, num_draws=20
)
after = jax.config.values
print(json.dumps(sorted(name for name in before if before[name] != after[name])))
"""


@pytest.mark.slow
def test_no_setting_of_jax_changes_in_a_process_of_the_user(tmp_path):
    home = str(tmp_path)
    assert said_by(UNTOUCHED, XDG_CACHE_HOME=home, HOME=home) == []


def test_in_processes_of_ours_programs_are_kept_unasked(monkeypatch):
    told = []
    monkeypatch.delenv("BAYESDUEL_CACHE", raising=False)
    monkeypatch.setattr(program_cache, "_keep_programs", told.append)
    monkeypatch.setattr(program_cache, "_process_is_ours", False)
    program_cache.enable_program_cache()
    assert told == []
    program_cache.own_process()
    program_cache.enable_program_cache()
    assert told == [""]


@pytest.fixture
def kept(monkeypatch):
    """Keep programs as a process told this would; return folder and setting of JAX."""

    def keep(wanted, told=None, **variables):
        for name in ("JAX_COMPILATION_CACHE_DIR", *variables):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, str(value))
        config = SimpleNamespace(jax_compilation_cache_dir=told)
        config.update = partial(setattr, config)
        monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(config=config))
        found = program_cache._keep_programs.__wrapped__(str(wanted))
        return found, config.jax_compilation_cache_dir

    return keep


def test_by_default_in_the_folder_for_caches_of_the_user(kept, tmp_path):
    found, configured = kept("", XDG_CACHE_HOME=tmp_path, HOME=tmp_path)
    assert found.is_relative_to(tmp_path) and configured == str(found)


def test_nothing_is_kept_where_it_is_off_told_otherwise_or_cannot_be(kept, tmp_path):
    assert kept("off", XDG_CACHE_HOME=tmp_path, HOME=tmp_path) == (None, None)
    assert kept(tmp_path / "ours", told="own") == (None, "own")
    assert not list(tmp_path.iterdir())
    taken = tmp_path / "taken"
    taken.write_text("of the user")
    assert kept(taken) == (None, None)
    assert taken.read_text() == "of the user"


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "programs" / program_cache._machine()
    found.mkdir(parents=True)
    return found


def test_what_was_not_finished_is_removed(folder):
    for name in ("whole-cache", "whole-atime", "half-cache", "notes.txt"):
        (folder / name).write_bytes(b"x")
    program_cache._remove_unfinished(folder)
    left = {each.name for each in folder.iterdir()} - {".lockfile"}
    assert left == {"whole-cache", "whole-atime", "notes.txt"}


def test_programs_of_others_are_removed_when_forgotten(folder):
    long_ago = time.time() - 100 * 86_400
    old = {"jaxlib-0.1-0123456789ab", "numba-0.2-0123456789ab", "photographs"}
    for name in old | {folder.name, "numba-0.3-0123456789ab"}:
        inner = folder.parent / name / "d-ts"
        inner.mkdir(parents=True)
        (inner / "one-cache").write_bytes(b"x")
        if name in old | {folder.name}:
            os.utime(inner.parent, (long_ago, long_ago))
    program_cache._forget_others(folder)
    kept = {each.parent.parent.name for each in folder.parent.glob("*/*/one-cache")}
    assert kept == {"photographs", folder.name, "numba-0.3-0123456789ab"}


def test_another_processor_has_another_folder(monkeypatch):
    here = program_cache._machine()
    monkeypatch.setattr(program_cache.platform, "machine", lambda: "of another kind")
    assert program_cache._machine() != here
    assert program_cache._OURS.fullmatch(here)


PLAYED = """
import hashlib, json, sys
import numpy as np
import bayesduel
from bayesduel.policies.registry import entries

plays = {}
for name, entry in entries().items():
    if "scalar_kernel" in vars(entry.kind) and name != "bt-ts":
        result = bayesduel.simulate("cyclic", name, num_runs=2, horizon=2000, seed=7)
        counts = np.ascontiguousarray(result["plays"].values)
        plays[name] = hashlib.sha256(counts).hexdigest()
# Numba imports this before it compiles anything.
print(json.dumps([plays, "numba.np.linalg" in sys.modules]))
"""


@pytest.mark.slow
def test_every_kernel_is_read_from_disk_by_a_process_that_compiles_nothing():
    """Reading a program needs none of the modules that compiling one imports."""
    # The folder of the tests, so that most are compiled already.
    compiled_plays, _ = said_by(PLAYED)
    plays, could_compile = said_by(PLAYED)
    assert len(plays) >= 15 and plays == compiled_plays
    assert not could_compile
