"""Sweeps on clusters of Dask: real processes, killed workers, a scheduler that dies."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import bayesduel
from bayesduel import results
from bayesduel.errors import ExecutorError, SimulationArgumentError
from bayesduel.experiments.execute import dask_executor
from tests.processes import PATIENCE, wait_for, wait_for_end

distributed = pytest.importorskip("distributed")

ROOT = Path(__file__).resolve().parent.parent.parent
REQUEST = {"num_runs": 800, "horizon": 10**6, "seed": 7, "record": "regret"}
POLICIES = ["d-ts", "rucb"]

# Threads of a cluster whose parts are killed leave warnings of their own.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


def compare(out, **options):
    bayesduel.compare("mslr5-condorcet", POLICIES, out=out, **REQUEST | options)
    return (out / results.FILE_NAME).read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return compare(tmp_path_factory.mktemp("whole") / "out")


def test_an_address_is_one():
    with (
        pytest.raises(SimulationArgumentError, match="tcp://host:8786"),
        dask_executor("host", 2),
    ):
        pytest.fail("there is no such scheduler")


@pytest.mark.slow
def test_workers_killed_at_random_change_nothing(whole, tmp_path):
    """In the middle of writing, too: they write what they have done themselves."""
    rng, killed, done = random.Random(4), [], threading.Event()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as cluster:  # fmt: skip

        def kill():
            stored = 0
            while len(killed) < 2 and not done.wait(rng.uniform(0, 0.5)):
                now = len([*tmp_path.glob("chunks/*.chunk")])
                if now >= stored + 4:  # A worker takes seconds to start.
                    stored = now
                    nanny = rng.choice(list(cluster.workers.values()))
                    with suppress(ProcessLookupError, TypeError):
                        os.kill(nanny.pid, signal.SIGKILL)
                        killed.append(nanny.pid)

        with distributed.Client(cluster) as client:
            killer = threading.Thread(target=kill)
            killer.start()
            try:
                executor = client.get_executor(pure=False)
                tree = compare(tmp_path, executor=executor, shared=True)
            finally:
                done.set()
                killer.join()
    assert tree == whole
    assert len(killed) > 1, "the sweep was too short"


@pytest.mark.slow
def test_clusters_of_this_machine_want_no_common_port():
    """Dask would warn that the port of its pages is taken, and take another one."""
    with socket.socket() as pages:
        with suppress(OSError):  # Somebody else has it: that will do.
            pages.bind(("127.0.0.1", 8787))
            pages.listen()
        with dask_executor("local", 1) as executor:
            assert executor.submit(int, "3").result() == 3


@contextmanager
def scheduler_and_workers(folder):
    """Start both as commands; give the address, and the process of the scheduler."""
    file = folder / "scheduler.json"
    commands = [
        f"scheduler --host 127.0.0.1 --port 0 --no-dashboard --scheduler-file {file}",
        f"worker --scheduler-file {file} --nworkers 2 --nthreads 1 --no-dashboard",
    ]

    def address():
        """Return None while the file is missing or only half written."""
        with suppress(FileNotFoundError, json.JSONDecodeError):
            return json.loads(file.read_text("utf-8"))["address"]

    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "dask", *command.split()],
            env=environment,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for command in commands
    ]
    try:
        yield wait_for(address, processes[0]), processes[0]
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.slow
def test_a_sweep_goes_on_after_the_scheduler_has_died(
    whole, tmp_path, tmp_path_factory
):
    def kill(process):
        wait_for(lambda: [*tmp_path.glob("chunks/*.chunk")])
        os.killpg(process.pid, signal.SIGKILL)

    given = tmp_path_factory.mktemp("cluster")
    with scheduler_and_workers(given) as (address, scheduler):
        killer = threading.Thread(target=kill, args=(scheduler,))
        killer.start()
        with (
            pytest.raises(
                ExecutorError, match="continue with a new executor"
            ) as raised,
            dask_executor(address, 2) as executor,
        ):
            compare(tmp_path, executor=executor)
        killer.join()
    assert not (tmp_path / results.FILE_NAME).exists()
    collected = [node for node in raised.value.partial.subtree if "run" in node.dims]
    assert collected
    assert compare(tmp_path, resume=True) == whole


@pytest.mark.slow
def test_the_command_on_a_cluster_of_its_own_is_interrupted(tmp_path):
    """Ctrl-C reaches the whole group of processes, and all of them end."""
    # Long enough that the sweep is at work when it is interrupted, on any machine.
    request = "compare -i cyclic -p d-ts --runs 3000 --horizon 1e6 --quiet --seed 3"
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", "from bayesduel.cli import main; main()"),
            *(*request.split(), "--dask", "local", "--jobs", "2", "--out", tmp_path),
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    wait_for(lambda: [*tmp_path.glob("chunks/*.chunk")], process)
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 130, errors
    assert "interrupted: kept " in errors
    assert "distributed" not in errors  # The cluster keeps its worries to itself.
    wait_for_end(process.pid)
    assert [*tmp_path.glob("chunks/*.chunk")]
    assert not (tmp_path / results.FILE_NAME).exists()
