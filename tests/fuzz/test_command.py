"""Whatever is typed, the command answers, or refuses in one line with exit code 2.

Subcommands, options and their values are drawn from what is right and from what is
wrong, with files that are no files. Nothing is simulated or fitted: what a valid
request would compute is replaced, so that only the border is tried.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayesduel.papers import reproducing
from tests.command_line import invoke
from tests.fuzz.fuzzing import MANY_EXAMPLES, StartedError, limited, started

WORDS = [
    *("", " ", "x", "-", "--", "-1", "0", "1", "2", "1.5", "1e300", "-1e300", "nan"),
    *("inf", "1_0", "\uff11\uff12", "\u0663", "1e3", "\uff15", "0x10", "1e400"),
    *("9" * 400, "9" * 5000, "yes", "None", "\0", "a\nb", "\x1b[31m", "\u202e"),
    *("é", ",", ",,", "a,b", "a,b,c", ":", "=", "./"),
    *("/", ".", "..", "/dev/null", "/dev/zero", "/proc/self/mem", "nowhere.csv"),
    *("os:getcwd", "tests:Nothing", "numpy:ndarray", "[red]x", "%s", "{}", "a" * 300),
]

MATRICES = [
    *("cyclic", "gap", "camera", "mnl", "cyclik", "zoghi500:num_arms=100000"),
    *("drifting:num_arms=3", "piecewise:segments=-1", "no_such_module:Drift"),
    *("zoghi500:num_arms=4", "zoghi500:num_arms=1_0", "mallows:num_arms=8,phi=0.5"),
    *("mallows:num_arms=4", "mallows:phi=nan,num_arms=3", "gap:x=1", "mallows:=,=,="),
    *("uniform-random:num_arms=4,seed=1", "uniform-random:num_arms=4,seed=-1"),
    *("uniform-random:num_arms=4,seed=1e300", "syn-btl:num_arms=\uff15,seed=1"),
    *("batched-one-winner:batch=1,winner=5,num_arms=1e9", "equal-gap:num_arms=4,gap=9"),
    *("linear-order:num_arms=4,step=0.1,clip=2", "mnl:num_arms=10000000,subset_size=3"),
    *("geometric-order:num_arms=3,link=x", "utilities:profile=1good,link=linear"),
]

POLICIES = [
    *("d-ts", "rucb", "rmed1", "cucb", "mnl-ts", "d-tx", "rucb:alpha=1_0", "RUCB"),
    *("rucb:alpha=\uff15", "rucb:alpha=nan", "rucb:alpha=-1", "rucb:alpha", "rucb:=1"),
    *("rucb:alpha=1,alpha=2", "d-ts:look_ahead=maybe", "rucb:every=0"),
    *("pcomp:num_batches=100000000000000000000", "pcomp:num_batches=0", "rucb:every=2"),
    *("savage:goal=inf", "cw-rmed:resolve_every=1e300", "d-ts:alpha=1e300", "bt-ts"),
]

FILES = {
    "good.csv": b"a,b\n0.5,0.6\n0.4,0.5\n",
    "ragged.csv": b"0.5,0.6\n0.4\n",
    "words.csv": b"0.5,x\ny,0.5\n",
    "empty.csv": b"",
    "nul.csv": b"\0\0\0\0",
    "latin.csv": b"\xe9,\xe8\n0.5,0.6\n",
    "outside.csv": b"0.5,1.6\n-0.6,0.5\n",
    "one.csv": b"0.5\n",
    "huge.csv": b"0.5," * 3000 + b"\n",
    "short.npy": b"\x93NUMPY\x01\x00v\x00{'descr'",
    "no.npz": b"PK\x03\x04nothing",
    "votes.csv": b"left,right,winner\na,b,left\nb,c,right\na,c,tie\n",
    "counts.csv": b"a,b,wins_a,wins_b\nx,y,3,4\nx,z,1,0\n",
    "bad_votes.csv": b"left,right,winner\na,a,left\nb,,nobody\n",
    "bad_counts.csv": b"a,b,wins_a,wins_b\nx,y,-3,1e30\nx,z,nan,inf\n",
    "results.nc": b"CDF\x01nothing at all",
    "results.json": b"{",
    "good.toml": b'instances = ["gap"]\npolicies = ["d-ts:alpha=1|2"]\nhorizon = 9\n',
    "keys.toml": b"runs = 3\n",
    "values.toml": b"instances = [{values = [[1]]}]\npolicies = {name = 1}\n",
    "policies.toml": b'policies = "d-ts:alpha=1|2&every=1"\nseed = -1\n',
}

FLAGS = "--json --quiet --repair --all --resume --overwrite --no-shuffle --log-y"
FLAGS += " --no-look-ahead --list --full-horizon --order-effect --check --linear-x"
FLAGS += " --version --help --nonsense -q -h"

VALUES: dict[str, list[str]] = {
    "-i": [*MATRICES, *FILES],
    "-p": POLICIES,
    "--alternatives": ["bus,car", "bus", "1,2,3"],
    "--arm-names": ["a,b,c", "a,b", "a", "a,a"],
    "--arms": ["left,right", "a,b"],
    "--attributes": ["price", "price,minutes", "left", "wait=a|b", "="],
    "--available": ["offered", "left"],
    "--band": ["standard-error", "quantiles"],
    "--bounds": ["none", "auto", "lower", "d-ts,lower", "all", "rmed1", "x", ","],
    "--budget": ["10", "1e2", "0", "10^99999"],
    "--at": ["10", "1e3", "1_0"],
    "--choice": ["choice", "winner"],
    "--contest-covariate": ["left", "price", "times", "x"],
    "--contest-scale": ["0.5", "0", "x"],
    "--cluster": ["judge", "left", "x"],
    "--context": ["left", "times", "x"],
    "--config": ["good.toml", "keys.toml", "values.toml", "policies.toml", *FILES],
    "--checkpoints": ["1", "5,10", "1,", "10,5", "101"],
    "--delta": ["0.1", "1", "1e-9"],
    "--draws": ["10", "1000000000", "9"],
    "--exclude": ["a,b", "a", "a,a", "a,none"],
    "--far": ["1e3", "1_0"],
    "--html": ["out.html", "good.csv", "good.csv/x", "nowhere/x"],
    "--instance": MATRICES,
    "--format": ["png", "svg", "exe"],
    "--from": ["10", "1e3"],
    "--from-study": ["votes.csv", "taken"],
    "--from-votes": [*FILES],
    "--horizon": ["10", "1e2", "10^2", "2^62", "1e19", "0.5", "10^99999"],
    "--interval": ["0.9", "1"],
    "--jobs": ["1", "1000000"],
    "--long": ["left,right,winner", "id,who", "a,b,wins_a"],
    "--look-every": ["1", "7", "0"],
    "--method": ["auto", "nuts", "exact"],
    "--min-gap": ["0.01", "0.5"],
    "--model": ["beta", "thurstone", "x"],
    "--mslr": [*FILES],
    "--none": ["none", "tie"],
    "--notion": ["copeland", "weak"],
    "--number": ["1", "3", "1000000000"],
    "--judge": ["ann", ""],
    "--lines": ["csv", "jsonl", "xml"],
    "--prices": ["good.csv", "nowhere.csv"],
    "--out": ["out", "good.csv", "good.csv/x", "taken"],
    "--level": ["0.05", "0", "1e-9"],
    "--kind": ["sweep", "survival", "x"],
    "--panel": ["a", "z"],
    "--parameter": ["alpha", "every"],
    "--person": ["left", "who"],
    "--policy": POLICIES,
    "--prior-scale": ["1", "1e308"],
    "--random": ["price", "x"],
    "--regret": ["weak", "borda", "revenue", "copeland"],
    "--runs": ["1", "2", "1000000000000"],
    "--scale": ["0.1", "1e-9"],
    "--seed": ["0", "18446744073709551616"],
    "--simulations": ["20", "1000000000", "19"],
    "--size": ["2", "3", "1000000"],
    "--stopping": ["p-value:alpha=0.05", "fixed:duels=0", "anytime", "budget:duels=5"],
    "--submatrices": ["1", "2", "1000000000"],
    "--tie-columns": ["ties", "wins_a"],
    "--time": ["left", "times", "x"],
    "--ties": ["model", "drop", "split"],
    "--weight": ["winner", "wins_a"],
    "--where": ["left=a", "1", "x="],
    "--width": ["full", "column", "3", "1e9", "0.1"],
    "--winner": ["winner", "left"],
    "--wins": ["wins_a,wins_b", "a,b"],
    "--words": ["left,right,tie", "1,1,1"],
}

OPTIONS: dict[str, tuple[list[str], str]] = {
    "audit": (
        [*FILES],
        "--arms --winner --words --wins --tie-columns --weight --where --judge "
        "--context --time --cluster --level --html --seed",
    ),
    "audit-stopping": (
        [],
        "-i -p --from-votes --from-study --delta --budget --look-every --stopping "
        "--runs --seed --model --arms --winner --words --wins --out",
    ),
    "compare": (
        [],
        "-i -p --instance --policy --runs --horizon --checkpoints --regret --seed "
        "--jobs --out --config",
    ),
    "config": (
        [],
        "-i -p --instance --policy --runs --horizon --checkpoints --regret --seed "
        "--stopping --config",
    ),
    "bounds": (MATRICES, "--submatrices --size --min-gap --seed --jobs --out"),
    "plot": (
        ["results.nc", "taken", "regret"],
        "--instance --notion --band --width --format --out --from --at --parameter "
        "--kind --bounds",
    ),
    "fit": (
        [*FILES],
        "--arms --winner --words --wins --tie-columns --weight --ties --model "
        "--contest-covariate --contest-scale "
        "--prior-scale --method --interval --draws --seed --out",
    ),
    "fit-choices": (
        [*FILES],
        "--attributes --choice --alternatives --long --available --person --none "
        "--where --model --random --prior-scale --method --interval --draws --seed "
        "--out",
    ),
    "calibrate": (
        [*FILES],
        "--arms --winner --words --wins --tie-columns --weight --ties --model "
        "--contest-covariate --contest-scale "
        "--prior-scale --method --simulations --seed",
    ),
    "next": (
        [*FILES],
        "--policy --number --exclude --horizon --judge --prices --lines --arms "
        "--winner --words --wins --tie-columns --weight --where --seed --out",
    ),
    "standing": (
        [*FILES],
        "--delta --model --width --arm-names --arms --winner --words --wins --where "
        "--interval --seed --out",
    ),
    "reproduce": (["dts-1", "subset-1", "x"], "--scale --panel --mslr --seed --jobs"),
    "list": (["policies", "worlds", "everything"], ""),
    "show": (["d-ts", "SUSHI", "camera", "thurstone", "D-TS, refined", "[x]"], ""),
    "demo": ([], "--seed --runs --horizon --far --jobs"),
}
"""By subcommand: arguments that stand alone, and options with a value."""


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """Draw what is typed after ``bayesduel``."""

    def value(right: list[str]) -> str:
        return draw(st.sampled_from(right if draw(st.integers(0, 3)) else WORDS))

    name = draw(st.sampled_from(sorted(OPTIONS)))
    alone, options = OPTIONS[name]
    line = [name]
    if name == "compare" and draw(st.integers(0, 9)):
        line += ["-i", value(VALUES["-i"]), "-p", value(POLICIES), "--horizon", "10"]
    elif alone and draw(st.integers(0, 9)):
        line.append(value([*alone, *FILES]))
    for _ in range(draw(st.integers(0, 3))):
        if options and draw(st.integers(0, 3)):
            option = draw(st.sampled_from(options.split()))
            line += [option, value(VALUES[option])]
        else:
            line.append(draw(st.sampled_from(FLAGS.split())))
    return line


@contextmanager
def nothing_runs() -> Iterator[None]:
    """Replace what simulates and fits."""
    with (
        mock.patch("bayesduel.experiments.execute.run_experiment", started),
        mock.patch("bayesduel.analysis.simulated.stopping_audits.decisions", started),
        mock.patch.object(reproducing, "reproduce", started),
        mock.patch("bayesduel.papers.submatrix_constants", started),
        mock.patch("bayesduel.models.fit.fitting.fit", started),
        mock.patch("bayesduel.inference.fit", started, create=True),
        mock.patch("bayesduel.audits.audit", started, create=True),
        mock.patch("bayesduel.diagnostics.calibrate", started, create=True),
        mock.patch("bayesduel.cli.commands.demo._run", started, create=True),
    ):
        yield


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Go to a folder of strange files, on a wide and simple terminal."""
    folder = tmp_path_factory.mktemp("here")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    np.save(folder / "three.npy", np.zeros((3, 3, 3)))
    (folder / "taken").mkdir()
    (folder / "taken" / "mine.txt").write_text("mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "100")
        patch.setenv("TERM", "dumb")
        yield folder


def check(line: list[str]) -> None:
    """Run the command line once."""
    text = "bayesduel " + " ".join(map(repr, line))[:400]
    with limited(text), nothing_runs(), warnings.catch_warnings():
        result = invoke(line)
    error = result.exception
    if isinstance(error, StartedError) or result.exit_code == 0:
        return
    if error is not None and not isinstance(error, SystemExit):
        trace = "".join(traceback.format_exception(error)[-3:])
        raise AssertionError(f"{text}\n{trace}") from error
    said = result.stderr.strip().splitlines()
    assert result.exit_code == 2, f"{text}: exit code {result.exit_code}: {said}"
    assert "Traceback" not in result.stderr, text
    errors = [each for each in said if each.startswith("error: ")]
    rest = [each for each in said if not each.startswith(("error: ", "warning: "))]
    assert len(errors) == 1 and said[-1] == errors[0] and not rest, f"{text}: {said}"


SAMPLE = settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@SAMPLE
@given(line=lines())
def test_a_sample_of_lines(here, line):
    check(line)


@pytest.mark.slow
@settings(SAMPLE, max_examples=MANY_EXAMPLES)
@given(line=lines())
def test_lines(here, line):
    check(line)
