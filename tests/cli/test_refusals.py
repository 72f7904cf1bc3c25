"""Lines and files that are refused: one line, exit code 2, no traceback."""

import gzip
import os
import shlex

import numpy as np
import pytest

from bayesduel.simulation import driver
from tests.cli.conftest import VOTES

FILES = {
    "latin-1": (VOTES.replace("tea", "thé").encode("latin-1"), "is not in UTF-8"),
    "cut off": (gzip.compress(VOTES.encode() * 99)[:-30], "cut off or damaged"),
    "ties and draws": (
        b"a,b,wins_a,wins_b,ties,draws\nx,y,1,2,3,3\n",
        "--tie-columns ties,draws",
    ),
}
"""Other refusals are tested in ``tests/votes/test_files.py`` and ``tests/files``."""


@pytest.mark.parametrize("case", FILES)
def test_files_of_votes(refused, tmp_path, case):
    content, words = FILES[case]
    path = tmp_path / "votes.csv"
    path.write_bytes(content)
    refused("fit", path, words=words)


@pytest.mark.parametrize("command", [("bounds",), ("compare", "-p", "rucb", "-i")])
def test_files_of_matrices(refused, tmp_path, command):
    path = tmp_path / "matrix.csv"
    path.write_bytes(FILES["cut off"][0])
    refused(*command, path, words="matrix.csv")


def test_pipes_and_devices(refused, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, command in ((pipe, "fit"), ("/dev/zero", "bounds")):
        refused(command, path, words="is not a regular file")


def test_archives_that_unpack_to_more_than_they_hold(refused, tmp_path):
    path = tmp_path / "matrix.npz"
    np.savez_compressed(path, x=np.zeros((6000, 6000), dtype=np.int8))
    assert path.stat().st_size < 50_000
    refused("bounds", path, words="must have at most 5000 arms, got 6000")
    header = np.lib.format.magic(1, 0)
    text = repr({"descr": "<f8", "fortran_order": False, "shape": (4000, 4000)})
    header += (len(text) + 1).to_bytes(2, "little") + text.encode() + b"\n"
    path.write_bytes(header + bytes(80))
    stated, held = len(header) + 8 * 4000 * 4000, len(header) + 80
    refused("bounds", path, words=f"states {stated} bytes, {held} are there")


COMPARE = "compare -i cyclic -p d-ts --horizon 1e4"
CAMERA = "compare -i camera -p cucb --horizon 1e4"
SETS_OR_DUELS = (
    "--policy: D-TS asks for duels, but camera is a world of subset choice; policies "
    "that offer sets: choice-bandits, cucb, "
)
TWO_NOTIONS = "camera (expected_reward), mnl (mnl_no_choice); compare them separately"
LINES = [
    ("audit-stopping -q", "give one of --instance, --from-votes and --from-study"),
    ("audit-stopping --from-votes x.csv", "x.csv does not exist"),
    ("audit-stopping -i gap --budget 0", "budget: must be"),
    ("audit-stopping -i gap -p bt-ts", "policy: must be one that a kernel plays"),
    ("audit-stopping -i gap --stopping x", "must be one of anytime"),
    ("bounds cyclic --project", "--project: needs --model; name one of bradley-terry"),
    ("bounds cyclic --model thurstone --out x", "--out: does not go with --model; --j"),
    ("bounds cyclic --model thurstone --solver cvxpy", "--solver: does not go with --"),
    ("bounds cyclic --model thurstone --verify", "--verify: does not go with --model"),
    ("bounds cyclic --model thurstone --size 3", "--size: needs --submatrices N"),
    ("bounds cyclic --model thurstone", "misses that by 0."),
    ("bounds cyclic --prices p.csv", "--prices: needs --identify"),
    ("bounds cyclic --identify --submatrices 3", "--submatrices: does not go with --i"),
    ("bounds cyclic --identify --solver cvxpy", "--solver: does not go with --identif"),
    ("bounds cyclic --identify --prices none.csv", "none.csv does not exist"),
    ("bounds gap --solver simplex", "simplex"),
    ("bounds camera", "'camera' is a world of subset choice"),
    ("bounds sushi --json --submatrices 0", "--submatrices: must be an integer of at"),
    ("bounds sushi --json --submatrices 2 --size 17", "--size: must be at most 16"),
    ("bounds sushi --submatrices 2 --min-gap 0.45 --out x", "--min-gap: 0.45 leaves n"),
    ("bounds sushi --submatrices 2 --resume", "--resume: needs a folder; give --out"),
    ("bounds sushi --size 4", "--size: needs --submatrices"),
    ("bounds sushi --min-gap 0", "--min-gap: needs --submatrices"),
    ("bounds sushi --seed 0", "--seed: needs --submatrices"),
    ("bounds sushi --resume", "--resume: needs --submatrices"),
    ("calibrate {votes} --model beta --order-effect", "--order-effect: a Beta per pai"),
    ("calibrate {votes} --contest-scale 1", "--contest-scale: is that of a --contest-"),
    ("calibrate {votes} --prior-scale -1", "--prior-scale: must be a number from 1e-6"),
    ("calibrate {votes} --model thurstone --method exact", "--method: must be one of"),
    ("calibrate no.csv", "does not exist"),
    (f"{COMPARE} --horizon abc", "--horizon: must be a whole number of rounds"),
    (f"{COMPARE} --runs 0", "--runs: must be an integer of at least 1, got 0"),
    (f"{COMPARE} --checkpoints 5,3", "--checkpoints: must be above the one before it,"),
    (f"{COMPARE} --regret copland", "did you mean copeland"),
    (f"{COMPARE} --record all", "--record: must be one of plays, regret"),
    (f"{COMPARE} --dask somewhere", "--dask: must be 'local' or the address"),
    (f"{COMPARE} -i cyclik", "did you mean cyclic"),
    (f"{COMPARE} -i cyclic", "'cyclic' is given twice"),
    (f"{COMPARE} -p d-tss", "did you mean d-ts"),
    (f"{COMPARE} -p d-ts:alpha=0.4", "--policy 'D-TS:alpha=0.4': alpha must be"),
    (f"{COMPARE} -i nowhere.csv", "nowhere.csv does not exist"),
    (f"{COMPARE} --part 3", "error: --part: must be a number of a number"),
    (f"{COMPARE} --part 1/3", "--out"),
    ("compare -i cyclic", "--policy"),
    ("compare -i cyclic -p d-ts --hroizon 5", "--horizon"),
    (f"{CAMERA} -p d-ts", SETS_OR_DUELS),
    (f"{CAMERA} -i cyclic", "--instance: camera is a world of subset choice and cyclic "
     "a preference matrix; compare duels and sets separately"),
    (f"{CAMERA} -i camra", "did you mean camera"),
    (f"{CAMERA} -i camera:k=2", "--instance 'camera:k=2': 'camera' has no parameter"),
    (f"{CAMERA} -i random-table", "'random-table' needs seed"),
    (f"{CAMERA} -p cucbb", "did you mean cucb"),
    (f"{CAMERA} --regret topk", "--regret: 'topk' does not exist here; camera has"),
    (f"{CAMERA} -i mnl --regret no_choice", TWO_NOTIONS),
    ("config -p d-ts", "error: --instance: name at least one, or give"),
    ("demo --out x --horizon 10", "--horizon: must be at least 1000 here"),
    ("demo --out x --runs 0", "--runs: must be an integer of at least 1"),
    ("demo --out x --jobs 0", "--jobs: must be an integer of at least 1"),
    ("demo --out x --far 5e18", "--far: must be at most 2^62"),
    ("demo --out x --far 1e5", "--far: must not be below the horizon"),
    ("fit drink.csv", "did you mean drinks.csv?"),
    ("fit {votes} --arms left", "--arms: must name two columns"),
    ("fit {votes} --arms left,nobody", "there is no column 'nobody'"),
    ("fit {votes} --words left,left,tie", "--words: must be three different ones"),
    ("fit {votes} --words A,B", "--words: must be 3 names"),
    ("fit {votes} --words 'A*3|A,B,C'", "--words: must be different, got 'A'"),
    ("fit {votes} --scores times", "--scores: must be 2 names"),
    ("fit {votes} --where 'tim == 1'", "--where: must be COLUMN=VALUE"),
    ("fit {votes} --tie-columns winner", "ties are columns of counts"),
    ("fit {votes} --interval 1.5", "--interval: must be in (0, 1)"),
    ("fit {votes} --prior-scale -1", "--prior-scale: must be a number from 1e-6 to 1e"),
    ("fit {votes} --seed 99999999999999999999", "--seed: must be an integer from 0 to"),
    ("fit {votes} --draws 100000000", "at most 10000000 in all chains"),
    ("fit {votes} --model beta --order-effect", "--order-effect: a Beta per pair"),
    ("fit {votes} --residual", "--residual: is what --covariates"),
    ("fit {votes} --winner winner --wins a,b", "not both"),
    ("fit {votes} --method exact", "no closed form"),
    ("fit {votes} --equivalent 1", "--equivalent: needs an arm"),
    ("fit {votes} --contest-scale 1", "--contest-scale: is that of a --contest-covari"),
    ("fit {votes} --soft share", "--soft: must be a column, and the values"),
    ("fit {votes} --worst winner", "--worst: is for sets, and drinks.csv holds none"),
    ("fit {votes} --mirrored once", "--mirrored: is 'once', but some rows"),
    ("fit {votes} --winner x,y,z", "--winner: must name two columns"),
    ("fit {votes} --order left,right --words a,b,c", "--words: is for votes on p"),
    ("fit {votes} --reference mil", "--reference: names the unknown arm 'mil'; did yo"),
    ("fit {votes} --anchor mil=1000", "--anchor: names the unknown arm 'mil'; did you"),
    ("fit {votes} --model beta --scale elo", "--scale elo: a Beta per pair has"),
    ("fit {votes} --model beta --anchor tea=1", "--anchor: a Beta per pair has"),
    ("fit {votes} --method mode --scale elo", "--scale elo: is for a fit with draws"),
    ("fit {votes} --method mode --anchor tea=1", "--anchor: is for a fit with draws"),
    ("fit {votes} --method mode --check", "--check: is for a fit with draws"),
    ("show sushy", "NAME: must be one"),
    ("show sushy", "did you mean sushi?"),
    ("next {votes} -p d-tz", "did you mean d-ts"),
    ("next {votes} -p pcomp", "--horizon: must be given for PCOMP"),
    ("next {votes} -p d-ts:every=5", "--policy: must ask for pairs"),
    ("next {votes} -n 0", "--number"),
    ("next {votes} --exclude tea", "--exclude"),
    ("next {votes} --exclude tea,coffee", "coffee"),
    ("next {votes} --exclude tea,milk --exclude milk,water --exclude water,tea",
     "--exclude: must leave a pair"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "words"), LINES)
def test_wrong_lines(refused, votes, tmp_path, monkeypatch, line, words):
    """Before anything is simulated or written."""
    monkeypatch.setattr(driver, "run_chunk", None)
    monkeypatch.chdir(tmp_path)
    refused(*shlex.split(line.format(votes=votes)), words=words)
    assert [*tmp_path.iterdir()] == [votes]
